"""The reference against the outputs of the R original, on pieces small enough for plain loops.

The original sums in float32. Its gains are off by almost 5e-4 at these sample sizes; "VI", a difference of three
entropies, by up to twice that; without a decision everything is divided by the number of samples.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import reference
from shared_data import SHARED, needs_shared

FLOAT32_ERROR = 5e-4


def stored(name):
    return np.load(SHARED / "reference" / f"{name}.npz")


def madelon_classes():
    return np.load(SHARED / "data" / "madelon.npz")["y"].tolist()


def gains_of(best):
    """The largest gain of each variable when all have the same df; -inf where there is none."""
    return [max((found.gain for found in per_df.values()), default=-math.inf) for per_df in best]


def halves(table):
    columns = table.T.tolist()
    return [
        reference.discretize(column, variable=v, discretization=0, divisions=1, range_=0, seed=0)
        for v, column in enumerate(columns)
    ]


def test_mersenne_twister_is_the_standard_one():
    # The 10000th draw for the default seed, as the C++ standard gives it.
    generator = reference.MersenneTwister(5489)
    draws = [generator.next32() for _ in range(10000)]
    assert draws[-1] == 4123659995


def test_halves_without_ties_are_uneven_by_one_sample():
    codes = reference.discretize(range(10), variable=3, discretization=0, divisions=1, range_=0, seed=7)
    assert codes == [0] * 6 + [1] * 4


def test_gain_of_an_exclusive_or_is_only_in_the_pair():
    first, second = [0, 0, 1, 1] * 25, [0, 1, 0, 1] * 25
    classes = [a ^ b for a, b in zip(first, second, strict=True)]
    assert reference.information_gain([first], [2], classes, 2, 0.25) == [pytest.approx(0, abs=1e-12)]
    # Four cells with 25.25 of one class and 0.25 of the other; together they are 102 samples of two equal classes.
    left = -4 * (25.25 * math.log2(25.25 / 25.5) + 0.25 * math.log2(0.25 / 25.5))
    assert reference.information_gain([first, second], [2, 2], classes, 2, 0.25) == pytest.approx([102 - left] * 2)


def test_degrees_of_freedom_differ_with_the_levels():
    assert [reference.degrees_of_freedom([2, 3, 4], position, 3) for position in range(3)] == [24, 32, 36]
    best = reference.max_information_gain([[[0, 1, 0, 1], [0, 1, 2, 0], [1, 1, 0, 0]]], [2, 3, 2], [0, 0, 1, 1], 2, 2)
    assert [sorted(per_df) for per_df in best] == [[2, 3], [4], [2, 3]]


def test_equal_gains_go_to_the_lowest_discretization_then_tuple():
    column, classes = [0, 0, 1, 1, 0, 1], [0, 0, 1, 1, 1, 0]
    setting = ([[column] * 4] * 2, [2] * 4, classes, 2, 2)
    best = reference.max_information_gain(*setting)
    assert [per_df[2].tuple for per_df in best] == [(0, 1), (0, 1), (0, 2), (0, 3)]
    assert {per_df[2].discretization for per_df in best} == {0}
    ties = reference.near_maxima(reference.all_gains(*setting), tolerance=1e-12)
    assert [(found.discretization, found.tuple) for found in ties[2, 2]] == [
        (d, pair) for d in (0, 1) for pair in ((0, 2), (1, 2), (2, 3))
    ]


def test_filter_looks_at_real_members_only():
    # Three real variables, 0 to 2, and two contrast ones, 3 and 4.
    def admitted(dimensions, require):
        return list(reference.admitted_tuples(3, 2, dimensions, [1, 2], require))

    assert admitted(1, "any") == [(1,), (2,), (3,), (4,)]
    assert admitted(2, "any") == [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (1, 4), (2, 4)]
    assert admitted(2, "all") == [(1, 2), (1, 3), (2, 3), (1, 4), (2, 4)]
    assert admitted(3, "any") == [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3), (0, 1, 4), (0, 2, 4), (1, 2, 4)]
    assert admitted(3, "all") == [(1, 2, 3), (1, 2, 4)]


@needs_shared
def test_discretize_matches_original():
    grid = stored("madelon_discretize_grid")
    columns = np.load(SHARED / "data" / "madelon.npz")["x"][:, :8].T.tolist()
    # Every seed, number of divisions and range, but of the eight variables and three discretisations one each.
    for number, key in enumerate(grid.files):
        seed, divisions, range_ = (float(part.lstrip("sedivrang")) for part in key.split("_"))
        variable, discretization = number % 8, number % 3
        codes = reference.discretize(
            columns[variable],
            variable=variable,
            discretization=discretization,
            divisions=int(divisions),
            range_=range_,
            seed=int(seed),
        )
        assert codes == grid[key][:, variable, discretization].tolist(), key


@needs_shared
def test_suggest_range_matches_original():
    for k, n_samples, dimensions, divisions, expected in stored("getrange")["k_n_dim_div_range"].tolist():
        found = reference.suggest_range(int(n_samples), dimensions=int(dimensions), divisions=int(divisions), k=k)
        assert found == pytest.approx(expected, abs=1e-12)


@needs_shared
@pytest.mark.parametrize("dimensions", [1, 2])
@pytest.mark.parametrize("name", ["discrete30_div1", "discrete20_div3"])
def test_max_gain_of_discrete_columns_matches_original(name, dimensions):
    original = stored(name)
    codes = original["data"].T.tolist()
    levels = [4 if name.endswith("div3") else 2] * len(codes)
    best = reference.max_information_gain([codes], levels, madelon_classes(), 2, dimensions)
    np.testing.assert_allclose(gains_of(best), original[f"ig_{dimensions}d"], atol=FLOAT32_ERROR)


@needs_shared
@pytest.mark.parametrize("dimensions", [1, 2])
def test_max_gain_with_ties_and_constants_matches_original(dimensions):
    data, original = stored("synth_s2"), stored("synth_s2_div1_range0")
    codes = halves(data["x"])
    assert np.array_equal(np.transpose(codes), original["discretized"])
    best = reference.max_information_gain([codes], [2] * 30, data["y"].tolist(), 2, dimensions)
    np.testing.assert_allclose(gains_of(best), original[f"ig_{dimensions}d"], atol=FLOAT32_ERROR)


@needs_shared
def test_max_gain_over_discretizations_matches_original():
    data, original = stored("synth_s2"), stored("synth_s2_div1_disc10_seed5")
    codes = original["discretized_n_p_d"].transpose(2, 1, 0).tolist()
    setting = (codes, [2] * 30, data["y"].tolist(), 2, 2)
    gains = list(reference.all_gains(*setting))
    near = reference.near_maxima(gains, tolerance=FLOAT32_ERROR)
    for variable in range(30):
        candidates = near[variable, 2]
        largest = max(found.gain for found in candidates)
        assert largest == pytest.approx(original["ig_2d"][variable], abs=FLOAT32_ERROR)
        assert original["disc_nr_1based_2d"][variable] - 1 in {found.discretization for found in candidates}


@needs_shared
def test_contrast_gain_matches_original():
    original = stored("discrete30_div1_contrast")
    codes, contrast = original["data"].T.tolist(), original["contrast_data"].T.tolist()
    # Contrast variables do not meet each other, so a few of them are enough.
    best = reference.max_information_gain(
        [codes],
        [2] * 30,
        madelon_classes(),
        2,
        2,
        contrast_codes_by_discretization=[contrast[:8]],
        contrast_levels=[2] * 8,
    )
    np.testing.assert_allclose(gains_of(best)[:30], original["ig_2d"], atol=FLOAT32_ERROR)
    np.testing.assert_allclose(gains_of(best)[30:], original["contrast_ig_2d"][:8], atol=FLOAT32_ERROR)


@needs_shared
@pytest.mark.parametrize(("dimensions", "require"), [(1, "any"), (2, "any"), (2, "all"), (3, "all")])
def test_filtered_max_gain_matches_original(dimensions, require):
    original = stored("interesting_vars_max_ig")
    best = reference.max_information_gain(
        [original["data"].T.tolist()],
        [2] * 60,
        madelon_classes(),
        2,
        dimensions,
        variables=(original["interesting_1based"] - 1).tolist(),
        require=require,
    )
    np.testing.assert_allclose(gains_of(best), original[f"ig_{dimensions}d_{require}"], atol=FLOAT32_ERROR)


@needs_shared
@pytest.mark.parametrize("with_decision", [True, False])
@pytest.mark.parametrize("stat", ["MI", "H", "VI"])
@pytest.mark.parametrize("divisions", [1, 2])
def test_tuple_statistics_match_original(stat, with_decision, divisions):
    original = stored("tuples_sub60_div1_range0")
    codes = [
        reference.discretize(column, variable=v, discretization=0, divisions=divisions, range_=0, seed=0)
        for v, column in enumerate(original["x"].T[:6].tolist())
    ]
    name = f"matrix2d_{'div2_' if divisions == 2 else ''}{stat}_{'dec' if with_decision else 'nodec'}"
    classes = madelon_classes() if with_decision else None
    rows = reference.interesting_tuples([codes], [divisions + 1] * 6, classes, stat=stat)
    assert len(rows) == 30
    tolerance = (2 * FLOAT32_ERROR if stat == "VI" else FLOAT32_ERROR) if with_decision else 2e-6
    for pair, variable, value in rows:
        other = sum(pair) - variable
        assert value == pytest.approx(original[name][variable, other], abs=tolerance)


@needs_shared
def test_entropy_of_triples_matches_original():
    original = stored("tuples_sub60_div1_range0")
    codes = halves(original["x"])
    for key, classes in [("3d_H_dec_iv", madelon_classes()), ("3d_H_nodec_iv", None)]:
        variables = sorted({v - 1 for v in original[f"{key}_var_1based"].tolist()})
        rows = reference.interesting_tuples(
            [codes], [2] * 60, classes, dimensions=3, stat="H", variables=variables, require="all"
        )
        assert [list(members) for members, _, _ in rows] == (original[f"{key}_tuple_1based"] - 1).tolist()
        assert [variable for _, variable, _ in rows] == (original[f"{key}_var_1based"] - 1).tolist()
        np.testing.assert_allclose([value for _, _, value in rows], original[f"{key}_ig"], atol=FLOAT32_ERROR)


@needs_shared
@pytest.mark.parametrize("average", [False, True])
def test_statistics_over_discretizations_match_original(average):
    original = stored("tuples_sub60_disc5_range05_seed42")
    codes = original["discretized_n_p_d"].transpose(2, 1, 0)[:, :6].tolist()
    expected = original[f"matrix2d_MI_dec_{'avg' if average else 'max'}"]
    rows = reference.interesting_tuples(codes, [2] * 6, madelon_classes(), average=average)
    for pair, variable, value in rows:
        assert value == pytest.approx(expected[variable, sum(pair) - variable], abs=FLOAT32_ERROR)
    above = reference.interesting_tuples(codes, [2] * 6, madelon_classes(), average=average, min_gain=1.0)
    assert above == [row for row in rows if row[2] > 1.0]
