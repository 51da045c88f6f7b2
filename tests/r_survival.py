"""A small table of times with ties, entries and strata, and the numbers of R's package survival for it."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conftest import NO_SURVIVAL
from interplay.data.models.cox import fit_in_risk_sets
from interplay.data.models.risk_sets import RiskSets

SCRIPT = Path(__file__).parent / "data" / "survival_numbers.R"
NUMBERS = json.loads(SCRIPT.with_suffix(".json").read_text(encoding="utf-8"))

_i = np.arange(80)
entry = (_i * 13 % 7).astype(float)
time = entry + 1 + (_i * 29 + _i**2) % 17
event = _i * 11 % 5 < 3
columns = np.column_stack([_i * 17 % 31 / 10, (_i * 5 % 3 == 0) * 1.0])
stratum = _i // 3 % 3
offset = _i * 7 % 11 / 20
cell = _i * 5 % 3

#: The arguments of each model of the script beside its ties.
MODELS = {"plain": {}, "entry": {"entry": entry}, "all": {"entry": entry, "strata": stratum, "offset": offset}}


def nested(time, event, smaller, larger, **known):
    """Return twice the difference of log-likelihoods of two models, given by their columns, and of their ranks."""
    sets = RiskSets(time, event, **{name: known[name] for name in ("entry", "strata") if name in known})
    more, less = (fit_in_risk_sets(sets, columns, known.get("offset")) for columns in (larger, smaller))
    return max(2.0 * (more.log_likelihood - less.log_likelihood), 0.0), more.rank - less.rank


def computed_by_r():
    """Run the script anew; skip where there is no R with the package."""
    asked = ["Rscript", "-e", "library(survival)"]
    if shutil.which("Rscript") is None or subprocess.run(asked, capture_output=True, check=False).returncode:
        pytest.skip(NO_SURVIVAL)
    done = subprocess.run(["Rscript", str(SCRIPT)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
