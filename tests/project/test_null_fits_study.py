"""The study of the tails of null fits, on a small table, and the page that is written from its results."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.calibration.cells import Cell  # noqa: E402

import null_fits  # noqa: E402


@pytest.fixture(scope="module")
def rows():
    cell = Cell(n_samples=120, n_vars=12, n_contrast=40)
    return pd.DataFrame(null_fits.run_table(("gaussian", cell, 0)) + null_fits.run_table(("gaussian", cell, 1)))


def test_every_statistic_has_every_fit(rows):
    statistics = {"gain 2", "gain 3", "synergy 2", "synergy 3", "product 2", null_fits.COMBINED}
    assert set(zip(rows["statistic"], rows["fit"], strict=True)) == {(s, f) for s in statistics for f in null_fits.FITS}
    single = rows[rows["statistic"] != null_fits.COMBINED]
    assert (single["held_n"] == null_fits.N_HELD_OUT).all()  # contrast variables that no fit has seen
    assert (single["n"] == 12).all()
    assert (rows["below_0.05"] >= rows["below_0.005"]).all()


def test_ratios_and_their_errors():
    """Of tables with 100 p-values each, 5 below 0.05 on average: a ratio of 1, and the error of a mean of tables."""
    below = np.array([3, 7, 4, 6])
    counted = {f"{prefix}{name}": value for prefix in ("", "held_") for name, value in {
        "n": 100, "below_0.05": below, "below_0.005": 0, "below_0.0005": 0}.items()}  # fmt: skip
    rows = pd.DataFrame({"fit": "a", "cell": "c", "repetition": range(4), **counted})
    line = null_fits.ratios(rows, ["fit"]).iloc[0]
    assert line["held_0.05"] == pytest.approx(1)
    assert line["held_0.05_error"] == pytest.approx(np.sqrt(((below - 5) ** 2).sum()) / 400 / 0.05)
    assert line["0.005"] == 0


def test_the_page_is_what_the_results_say(rows):
    assert null_fits.in_markdown(rows).count("| gaussian |") == 2
    assert null_fits.PAGE.read_text() == null_fits.in_markdown(pd.read_csv(null_fits.RESULT))
