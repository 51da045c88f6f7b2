"""Gains and tuples against outputs of the R original, which sums in float32."""

import numpy as np
import pytest

from interplay.ask.gains.call import max_information_gain

#: The original's float32 error on these data (N ≤ 2000) with few cells.
TOLERANCE = 7e-4


def tolerance(n_cells):
    """The original adds up the cells in float32, so that its error grows like a random walk over them."""
    return TOLERANCE * max(1.0, (n_cells / 16) ** 0.5)


def assert_like_r(found, expected_gain, expected_tuples=None, *, n_cells=1):
    np.testing.assert_allclose(found.gain, expected_gain, atol=tolerance(n_cells), rtol=0)
    if expected_tuples is not None:
        assert np.array_equal(found.tuples + 1, expected_tuples)


@pytest.mark.parametrize(
    ("stem", "dimensions"),
    [("discrete30_div1", k) for k in (1, 2, 3, 4, 5)]
    + [("discrete30_div2", k) for k in (1, 2, 3, 4, 5)]
    + [("discrete20_div3", k) for k in (1, 2, 3, 4)],
)
def test_discrete(r_output, madelon, stem, dimensions):
    r = r_output(stem)
    found = max_information_gain(r["data"], madelon[1], dimensions=dimensions, discrete="all", n_jobs=-1)
    tuples = r[f"tuple_1based_{dimensions}d"] if dimensions > 1 else None
    assert_like_r(found, r[f"ig_{dimensions}d"], tuples, n_cells=(int(r["data"].max()) + 1) ** dimensions)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5])
def test_discrete_with_contrast(r_output, madelon, dimensions):
    r = r_output("discrete30_div1_contrast")
    found = max_information_gain(
        r["data"], madelon[1], dimensions=dimensions, discrete="all", contrast=r["contrast_data"], n_jobs=-1
    )
    assert_like_r(found, r[f"ig_{dimensions}d"], r[f"tuple_1based_{dimensions}d"] if dimensions > 1 else None)
    expected = r[f"contrast_ig_{dimensions}d"]
    np.testing.assert_allclose(found.contrast_gain, expected, atol=tolerance(2**dimensions), rtol=0)


@pytest.mark.parametrize("require", ["any", "all"])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_some_variables(r_output, madelon, dimensions, require):
    r = r_output("interesting_vars_max_ig")
    found = max_information_gain(
        r["data"],
        madelon[1],
        dimensions=dimensions,
        discrete="all",
        variables=(r["interesting_1based"] - 1).tolist(),
        require=require,
    )
    assert_like_r(found, r[f"ig_{dimensions}d_{require}"])


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_madelon(r_output, madelon, dimensions):
    r = r_output(f"madelon_{dimensions}d_div1_range0")
    found = max_information_gain(*madelon, dimensions=dimensions, discrete="none", n_jobs=-1)
    assert_like_r(found, r["ig"], r["tuple_1based"] if dimensions > 1 else None)


@pytest.mark.parametrize("divisions", [2, 3])
@pytest.mark.parametrize("dimensions", [1, 2])
def test_madelon_more_levels(r_output, madelon, dimensions, divisions):
    r = r_output(f"madelon_{dimensions}d_div{divisions}_range0")
    found = max_information_gain(*madelon, dimensions=dimensions, divisions=divisions, discrete="none", n_jobs=-1)
    assert_like_r(found, r["ig"], r["tuple_1based"] if dimensions > 1 else None)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_madelon_with_contrast(r_output, madelon, dimensions):
    r = r_output(f"madelon_{dimensions}d_div1_range0_contrast500_seed0")
    contrast = r_output("madelon_2d_div1_range0_contrast500_seed0")["contrast_data"]
    found = max_information_gain(*madelon, dimensions=dimensions, contrast=contrast, discrete="none", n_jobs=-1)
    assert_like_r(found, r["ig"])
    np.testing.assert_allclose(found.contrast_gain, r["contrast_ig"], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_madelon_several_discretisations(r_output, madelon, dimensions):
    r = r_output("madelon_disc5_range05_seed42")
    found = max_information_gain(
        *madelon, dimensions=dimensions, discretizations=5, range_=0.5, random_state=42, discrete="none", n_jobs=-1
    )
    assert_like_r(found, r[f"ig_{dimensions}d"], r["tuple_1based_2d"] if dimensions == 2 else None)
    if dimensions == 2:
        assert np.array_equal(found.discretization + 1, r["disc_nr_1based_2d"])


def test_madelon_30_discretisations_with_contrast(r_output, madelon):
    r = r_output("madelon_2d_blind_seed118912")
    found = max_information_gain(
        *madelon, discretizations=30, random_state=118912, contrast=r["contrast_data"], discrete="none", n_jobs=-1
    )
    assert_like_r(found, r["ig"], r["tuple_1based"])
    assert np.array_equal(found.discretization + 1, r["disc_nr_1based"])
    np.testing.assert_allclose(found.contrast_gain, r["contrast_ig"], atol=TOLERANCE, rtol=0)


def test_madelon_1d_30_discretisations(r_output, madelon):
    r = r_output("madelon_1d_disc30_seed0")
    found = max_information_gain(
        *madelon, dimensions=1, discretizations=30, random_state=0, contrast=r["contrast_data"], discrete="none"
    )
    assert_like_r(found, r["ig"])
    np.testing.assert_allclose(found.contrast_gain, r["contrast_ig"], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("divisions", [1, 2, 3])
@pytest.mark.parametrize("stem", ["synth_s1", "synth_s2"])
def test_unbalanced_classes_ties_and_constants(r_output, stem, divisions):
    data, r = r_output(stem), r_output(f"{stem}_div{divisions}_range0")
    for dimensions in (1, 2, 3, 4):
        if f"ig_{dimensions}d" not in r:
            continue
        found = max_information_gain(
            data["x"], data["y"], dimensions=dimensions, divisions=divisions, discrete="none", n_jobs=-1
        )
        np.testing.assert_allclose(found.gain, r[f"ig_{dimensions}d"], atol=TOLERANCE, rtol=0)
        if stem == "synth_s1" and dimensions > 1:  # s2 has a duplicated column: ties there, which float32 breaks
            assert np.array_equal(found.tuples + 1, r[f"tuple_1based_{dimensions}d"])


@pytest.mark.parametrize("stem", ["synth_s1", "synth_s2"])
def test_unbalanced_classes_10_discretisations(r_output, stem):
    data, r = r_output(stem), r_output(f"{stem}_div1_disc10_seed5")
    for dimensions in (1, 2, 3):
        found = max_information_gain(
            data["x"],
            data["y"],
            dimensions=dimensions,
            discretizations=10,
            range_=float(r["range"]),
            random_state=5,
            discrete="none",
            n_jobs=-1,
        )
        np.testing.assert_allclose(found.gain, r[f"ig_{dimensions}d"], atol=TOLERANCE, rtol=0)


@pytest.mark.parametrize("stem", ["synth_s1", "synth_s2"])
def test_unbalanced_classes_contrast(r_output, stem):
    data, r = r_output(stem), r_output(f"{stem}_contrast")
    for dimensions in (1, 2, 3):
        found = max_information_gain(
            data["x"], data["y"], dimensions=dimensions, contrast=r["contrast_data"], discrete="none", n_jobs=-1
        )
        np.testing.assert_allclose(found.gain, r[f"ig_{dimensions}d"], atol=TOLERANCE, rtol=0)
        np.testing.assert_allclose(found.contrast_gain, r[f"contrast_ig_{dimensions}d"], atol=TOLERANCE, rtol=0)
