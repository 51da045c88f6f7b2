"""`interesting_tuples` against the outputs of the R original: the same rows, values within its float32 error."""

from functools import partial

import numpy as np
import pytest

import interplay

#: In bits times samples, with a decision; the larger for VI, a sum of four float32 entropies.
GAIN_TOLERANCE = 1e-3
VI_TOLERANCE = 2e-3
#: In bits per sample, without one.
ENTROPY_TOLERANCE = 3e-6

# The original discretises every column.
interesting_tuples = partial(interplay.interesting_tuples, discrete="none")

SIX = list(range(40, 46))
TWENTY = list(range(40, 60))


def assert_same_rows(found, r, key, tolerance=GAIN_TOLERANCE):
    np.testing.assert_array_equal(found.tuples + 1, r[f"{key}_tuple_1based"])
    np.testing.assert_array_equal(found.variable + 1, r[f"{key}_var_1based"])
    np.testing.assert_allclose(found.value, r[f"{key}_ig"], rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("key", "settings"),
    [
        ("2d_thr20", {"min_gain": 20}),
        ("2d_thr20_iv_any", {"min_gain": 20, "variables": [0, 48, 153]}),
        ("2d_thr0_iv_any", {"variables": [153]}),
    ],
)
def test_madelon_pairs(r_output, madelon, key, settings):
    r = r_output("tuples_madelon_div1_range0")
    assert_same_rows(interesting_tuples(*madelon, **settings), r, key)


def test_madelon_pairs_inside_a_set(r_output, madelon):
    r = r_output("tuples_madelon_div1_range0")
    inside = np.unique(r["2d_thr0_iv_all_tuple_1based"]) - 1
    found = interesting_tuples(*madelon, variables=inside, require="all")
    assert_same_rows(found, r, "2d_thr0_iv_all")


def test_madelon_matrix(r_output, madelon):
    matrix = interesting_tuples(*madelon, as_matrix=True)
    expected = r_output("tuples_madelon_div1_range0")["2d_matrix_MI"]
    np.testing.assert_allclose(matrix, expected, rtol=0, atol=GAIN_TOLERANCE)


FIVE = {"discretizations": 5, "range_": 0.5, "random_state": 42}
ONE_FILE, FIVE_FILE = "tuples_sub60_div1_range0", "tuples_sub60_disc5_range05_seed42"


@pytest.mark.parametrize(
    ("stem", "key", "columns", "settings"),
    [
        (ONE_FILE, "3d_thr30", slice(None), {"dimensions": 3, "min_gain": 30}),
        (ONE_FILE, "3d_thr50", slice(None), {"dimensions": 3, "min_gain": 50}),
        (ONE_FILE, "3d_all_iv", slice(None), {"dimensions": 3, "variables": TWENTY, "require": "all"}),
        (ONE_FILE, "4d_thr100_rel", slice(40, 60), {"dimensions": 4, "min_gain": 100}),
        (ONE_FILE, "5d_thr100_rel10", slice(40, 50), {"dimensions": 5, "min_gain": 100}),
        (ONE_FILE, "3d_H_dec_iv", slice(None), {"dimensions": 3, "stat": "H", "variables": SIX, "require": "all"}),
        (ONE_FILE, "5d_H_dec_iv", slice(None), {"dimensions": 5, "stat": "H", "variables": SIX, "require": "all"}),
        (ONE_FILE, "3d_H_nodec_iv", slice(None), {"dimensions": 3, "stat": "H", "variables": SIX, "require": "all"}),
        (ONE_FILE, "4d_H_nodec_iv", slice(None), {"dimensions": 4, "stat": "H", "variables": SIX, "require": "all"}),
        (FIVE_FILE, "2d_thr20", slice(None), {"dimensions": 2, "min_gain": 20} | FIVE),
        (FIVE_FILE, "3d_thr30", slice(None), {"dimensions": 3, "min_gain": 30} | FIVE),
    ],
)
def test_rows(r_output, madelon, stem, key, columns, settings):
    y, tolerance = (None, ENTROPY_TOLERANCE) if "nodec" in key else (madelon[1], GAIN_TOLERANCE)
    found = interesting_tuples(r_output(ONE_FILE)["x"][:, columns], y, **settings)
    assert_same_rows(found, r_output(stem), key, tolerance)


@pytest.mark.parametrize(
    ("stem", "key", "settings"),
    [
        *((ONE_FILE, f"matrix2d_{f'div{d}_' * (d > 1)}{{}}_{{}}", {"divisions": d}) for d in (1, 2, 3)),
        *((FIVE_FILE, f"matrix2d_{{}}_{{}}_{how}", {"average": how == "avg"} | FIVE) for how in ("avg", "max")),
    ],
)
@pytest.mark.parametrize("stat", ["MI", "H", "VI"])
@pytest.mark.parametrize("with_decision", [True, False])
def test_matrices(r_output, madelon, stem, key, settings, stat, with_decision):
    y = madelon[1] if with_decision else None
    found = interesting_tuples(r_output(ONE_FILE)["x"], y, stat=stat, as_matrix=True, **settings)
    tolerance = ENTROPY_TOLERANCE if not with_decision else VI_TOLERANCE if stat == "VI" else GAIN_TOLERANCE
    expected = r_output(stem)[key.format(stat, "dec" if with_decision else "nodec")]
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def test_average_is_kept_outside_matrices_too(r_output, madelon):
    """The original ignores the flag for rows; the averages are those of its matrix."""
    x = r_output("tuples_sub60_div1_range0")["x"]
    matrix = r_output("tuples_sub60_disc5_range05_seed42")["matrix2d_MI_dec_avg"]
    found = interesting_tuples(x, madelon[1], average=True, min_gain=20, **FIVE)
    other = found.tuples.sum(axis=1) - found.variable
    np.testing.assert_allclose(found.value, matrix[found.variable, other], rtol=0, atol=GAIN_TOLERANCE)
    assert len(found) == (matrix > 20).sum()
