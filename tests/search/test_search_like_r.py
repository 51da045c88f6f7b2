"""Gains and tuples against outputs of the R original, which sums in float32."""

import numpy as np
import pytest

from interplay.ask.gains.call import max_information_gain

#: The original's float32 error on these data (N ≤ 2000) with few cells.
TOLERANCE = 7e-4


def assert_like_r(found, r, key="", *, n_cells=1, ties=False):
    """Compare all that is stored under a key: gains, tuples and discretisations unless there are ties, contrast.

    The original adds up the cells in float32, so that its error grows like a random walk over them.
    """
    tolerance = TOLERANCE * max(1.0, (n_cells / 16) ** 0.5)
    np.testing.assert_allclose(found.gain, r[f"ig{key}"], atol=tolerance, rtol=0)
    if f"contrast_ig{key}" in r:
        np.testing.assert_allclose(found.contrast_gain, r[f"contrast_ig{key}"], atol=tolerance, rtol=0)
    if f"tuple_1based{key}" in r and not ties:
        assert np.array_equal(found.tuples + 1, r[f"tuple_1based{key}"])
        if f"disc_nr_1based{key}" in r:
            assert np.array_equal(found.discretization + 1, r[f"disc_nr_1based{key}"])


@pytest.mark.parametrize(
    ("stem", "dimensions"),
    [("discrete20_div3", k) for k in (1, 2, 3, 4)]
    + [(stem, k) for stem in ("discrete30_div1", "discrete30_div2", "discrete30_div1_contrast") for k in range(1, 6)],
)
def test_discrete(r_output, madelon, stem, dimensions):
    r = r_output(stem)
    contrast = r.get("contrast_data")
    how = {"dimensions": dimensions, "discrete": "all", "n_jobs": -1}
    found = max_information_gain(r["data"], madelon[1], contrast=contrast, **how)
    assert_like_r(found, r, f"_{dimensions}d", n_cells=(int(r["data"].max()) + 1) ** dimensions)


@pytest.mark.parametrize("require", ["any", "all"])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_some_variables(r_output, madelon, dimensions, require):
    r = r_output("interesting_vars_max_ig")
    how = {"dimensions": dimensions, "discrete": "all", "require": require}
    found = max_information_gain(r["data"], madelon[1], variables=(r["interesting_1based"] - 1).tolist(), **how)
    assert_like_r(found, r, f"_{dimensions}d_{require}")


@pytest.mark.parametrize(
    ("stem", "settings"),
    [
        *((f"madelon_{k}d_div1_range0", {"dimensions": k}) for k in (1, 2, 3)),
        *((f"madelon_{k}d_div{d}_range0", {"dimensions": k, "divisions": d}) for k in (1, 2) for d in (2, 3)),
        *((f"madelon_{k}d_div1_range0_contrast500_seed0", {"dimensions": k}) for k in (1, 2)),
        ("madelon_2d_blind_seed118912", {"discretizations": 30, "random_state": 118912}),
        ("madelon_1d_disc30_seed0", {"dimensions": 1, "discretizations": 30, "random_state": 0}),
    ],
)
def test_madelon(r_output, madelon, stem, settings):
    r = r_output(stem)
    contrast = None
    if "contrast_ig" in r:
        contrast = (r if "contrast_data" in r else r_output(stem.replace("1d", "2d")))["contrast_data"]
    assert_like_r(max_information_gain(*madelon, contrast=contrast, discrete="none", n_jobs=-1, **settings), r)


@pytest.mark.parametrize("dimensions", [1, 2])
def test_madelon_several_discretisations(r_output, madelon, dimensions):
    how = {"discretizations": 5, "range_": 0.5, "random_state": 42, "discrete": "none", "n_jobs": -1}
    found = max_information_gain(*madelon, dimensions=dimensions, **how)
    assert_like_r(found, r_output("madelon_disc5_range05_seed42"), f"_{dimensions}d")


@pytest.mark.parametrize(
    ("what", "dimensions"),
    [("div1_range0", 4)]
    + [
        (what, k)
        for what in ("div1_range0", "div2_range0", "div3_range0", "div1_disc10_seed5", "contrast")
        for k in (1, 2, 3)
    ],
)
@pytest.mark.parametrize("stem", ["synth_s1", "synth_s2"])
def test_unbalanced_classes_ties_and_constants(r_output, stem, what, dimensions):
    data, r = r_output(stem), r_output(f"{stem}_{what}")
    settings = {"divisions": int(what[3])} if what.startswith("div") else {"contrast": r["contrast_data"]}
    if "disc10" in what:
        settings |= {"discretizations": 10, "range_": float(r["range"]), "random_state": 5}
    found = max_information_gain(data["x"], data["y"], dimensions=dimensions, discrete="none", n_jobs=-1, **settings)
    # s2 has a duplicated column: ties, which float32 breaks.
    assert_like_r(found, r, f"_{dimensions}d", ties=stem == "synth_s2")
