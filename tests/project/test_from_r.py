"""The example for those who come from R, run by R where it is at hand."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import interplay
from conftest import NO_R

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "r" / "from_r.R"

_THIS_PYTHON = os.environ | {"RETICULATE_PYTHON": sys.executable}


def has_r():
    """Say whether R can use this Python: an old reticulate imports a module that Python 3.12 no longer has."""
    if shutil.which("Rscript") is None:
        return False
    ask = ["Rscript", "-e", "invisible(reticulate::py_config())"]
    return subprocess.run(ask, env=_THIS_PYTHON, capture_output=True).returncode == 0


@pytest.mark.slow
def test_the_example_in_r_finds_both_variables(tmp_path):
    if not has_r():
        pytest.skip(NO_R)
    told = subprocess.run(
        ["Rscript", SCRIPT],
        cwd=tmp_path,
        env=_THIS_PYTHON,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    lines = told.stdout.splitlines()
    assert [line.split()[1] for line in lines[1:3]] == ["gene3", "gene8"]
    assert [line.split()[-1] for line in lines[1:3]] == ["gene8", "gene3"]
    assert lines[3].startswith("largest gain: ")
    selection = interplay.load(tmp_path / "patients.interplay")
    assert sorted(selection.relevant) == ["gene3", "gene8"]
    assert np.isfinite(selection.log_p).all()
    assert (tmp_path / "patients.html").stat().st_size > 10_000
