"""The older package's functions: its numbers, without its faults.

Numbers in this file come from PyPI's ``mdfs`` 1.5.2, called as its users do. With the environment variable
INTERPLAY_RIVAL_MDFS, the path of a Python interpreter that has that package, both are also run side by side.
"""

import inspect
import os
import re
import subprocess
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import interplay
import reference
from interplay import compat
from interplay.compat.selection import _distinct, _Draws, _uniform

#: The older package's float32 error on gains of a few bits to a few hundred, N ≤ 2000.
GAIN_TOLERANCE = 1e-3

RUN_KEYS = [
    "contrast_indices",
    "statistic",
    "statistic_contrast",
    "chi_squared",
    "p_value",
    "adjusted_p_value",
    "relevant_variables",
]


@pytest.fixture
def xor():
    """Variables 3 and 7 say everything together and nothing alone; 1 says something alone."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 12))
    y = ((X[:, 3] > 0) ^ (X[:, 7] > 0)).astype(int)
    X[:, 1] += y
    return X, y


def assert_like_rival(found, expected):
    assert list(found) == RUN_KEYS
    np.testing.assert_array_equal(found["contrast_indices"], expected["contrast_indices"])
    for key in ("statistic", "statistic_contrast"):
        np.testing.assert_allclose(found[key], expected[key], atol=GAIN_TOLERANCE, rtol=0)
    for key in ("chi_squared", "p_value", "adjusted_p_value"):
        wanted = np.minimum(expected[key], 1)
        # Near 1 the tail of χ² with one degree of freedom goes like the root of the gain; below 1e-11 theirs is noise.
        np.testing.assert_allclose(found[key], wanted, rtol=0, atol=0.02)
        small = wanted < 0.5
        np.testing.assert_allclose(found[key][small], wanted[small], rtol=1e-3, atol=1e-11)
    np.testing.assert_array_equal(found["relevant_variables"], expected["relevant_variables"])


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("2d_seed0", {"dimensions": 2, "seed": 0, "range_": 0.0}),
        ("2d_disc5_seed42", {"dimensions": 2, "discretizations": 5, "seed": 42, "range_": 0.5}),
        ("1d_disc30_seed0", {"discretizations": 30, "seed": 0}),
        ("1d_disc5_seed0_lin", {"discretizations": 5, "seed": 0}),
    ],
)
def test_run_on_madelon(r_output, madelon, name, settings):
    stored = r_output("pypi_mdfs_1.5.2_run")
    found = compat.run(*madelon, **settings)
    assert_like_rival(found, {key: stored[f"{name}_{key}"] for key in RUN_KEYS})
    assert 0 < found["p_value"].min() < 1e-20
    assert found["p_value"].max() <= 1


def test_run_without_contrast_is_the_fit_of_the_r_package(r_output, madelon):
    r = r_output("madelon_2d_div1_range0")
    found = compat.run(*madelon, dimensions=2, range_=0, n_contrast=0)
    small = r["mdfs_p_value"] < 0.5
    np.testing.assert_allclose(found["p_value"][small], r["mdfs_p_value"][small], rtol=1e-3)
    assert sorted(r["mdfs_relevant"] - 1) == found["relevant_variables"].tolist()
    assert found["contrast_indices"] is None
    assert found["statistic_contrast"] is None


def test_run_in_1d_with_one_discretization_needs_no_contrast(xor):
    found = compat.run(*xor, seed=1)
    assert found["contrast_indices"] is None
    np.testing.assert_array_equal(found["p_value"], found["chi_squared"])
    assert 1 in found["relevant_variables"]
    with_contrast = compat.run(*xor, seed=1, n_contrast=4)
    np.testing.assert_array_equal(with_contrast["p_value"], found["p_value"])
    assert with_contrast["contrast_indices"].shape == (4,)


def test_run_draws_a_contrast_variable_per_variable_and_at_least_30(xor):
    assert len(compat.run(*xor, dimensions=2, seed=0)["contrast_indices"]) == 30
    wide = np.random.RandomState(0).normal(size=(100, 35))
    assert len(compat.run(wide, np.arange(100) % 2, dimensions=2, seed=0)["contrast_indices"]) == 35


def test_any_table_and_any_labels(xor):
    X, y = xor
    settings = {"dimensions": 2, "discretizations": 2, "seed": 5}
    expected = compat.run(np.asfortranarray(X), y.astype(np.int32), **settings)
    for data, decision in [
        (X.tolist(), y.tolist()),
        (pd.DataFrame(X), pd.Series(y).map({0: "no", 1: "yes"})),
        (np.ascontiguousarray(X), y.astype(bool)),
        (X, 1.0 - y),
    ]:
        found = compat.run(data, decision, **settings)
        for key in RUN_KEYS:
            np.testing.assert_array_equal(found[key], expected[key])


def test_three_classes(xor):
    X, y = xor
    three = y + 2 * (X[:, 5] > 0.8)
    found = compat.run(X, three.clip(max=2), dimensions=2, seed=0, range_=0)
    assert {3, 5, 7} <= set(found["relevant_variables"])


def test_fresh_seed_each_time(xor):
    first, second = (compat.run(*xor, dimensions=2)["statistic"] for _ in range(2))
    assert (first != second).any()


def test_contrast_of_madelon(r_output, madelon):
    stored = r_output("pypi_mdfs_1.5.2_run")
    found = compat.gen_contrast_variables(madelon[0], 500, seed=0)
    np.testing.assert_array_equal(found.indices, stored["contrast500_seed0_indices_0based"])
    np.testing.assert_array_equal(found.data, stored["contrast500_seed0_data"])


def test_contrast_as_the_rival_makes_it():
    found = compat.gen_contrast_variables([[1, 10], [2, 20], [3, 30], [4, 40]], 2, seed=0)
    assert found.indices.tolist() == [0, 1]
    assert found.data.T.tolist() == [[2, 1, 4, 3], [10, 40, 30, 20]]
    more = compat.gen_contrast_variables(np.arange(350.0).reshape(50, 7), 12, seed=0)
    assert more.indices.tolist() == [3, 4, 5, 5, 4, 6, 3, 5, 2, 4, 4, 2]
    assert more.indices.dtype == np.int32
    assert more.data.flags.f_contiguous


@pytest.mark.parametrize(("limit", "count"), [(1, 1), (2, 2), (7, 3), (50, 50), (1000, 1), (3000, 3000)])
def test_distinct_draws_one_by_one(limit, count):
    draws = _Draws(11)
    generator = reference.MersenneTwister(11)
    for _ in range(3):  # each goes on where the one before stopped
        expected: list[int] = []
        while len(expected) < count:
            value = generator.next32() % limit
            if value not in expected:
                expected.append(value)
        assert _distinct(draws, limit, count).tolist() == expected


def test_uniform_draws_one_by_one():
    limit, count = 99_991, 120_000
    words = np.random.RandomState(11).randint(0, 2**32, size=count + 10, dtype=np.uint32).tolist()
    fair = [word * limit >> 32 for word in words if word * limit % 2**32 >= 2**32 % limit]
    assert len(fair) < count + 10  # some are thrown away
    assert _uniform(_Draws(11), limit, count).tolist() == fair[:count]


def test_discretize_numbers_from_0_the_second_is_1(r_output, madelon):
    grid = r_output("madelon_discretize_grid")
    for key in ("seed0_div1_range1", "seed1_div4_range0.3", "seed2147483647_div15_range1"):
        seed, divisions, range_ = re.fullmatch(r"seed(\d+)_div(\d+)_range([\d.]+)", key).groups()
        for variable in (0, 5):
            for number in range(3):
                found = compat.discretize(
                    madelon[0],
                    variable_idx=variable,
                    divisions=int(divisions),
                    discretization_nr=number,
                    seed=int(seed),
                    range_=float(range_),
                ).discretized_var
                np.testing.assert_array_equal(found, grid[key][:, variable, number])
                assert found.dtype == np.int32


def test_suggested_range(r_output):
    for k, n, dimensions, divisions, expected in r_output("getrange")["k_n_dim_div_range"]:
        if expected >= 0.25:
            found = compat.get_suggested_range(int(n), int(dimensions), int(divisions), k=k)
            assert found == pytest.approx(expected, rel=1e-12)


def test_narrow_range_warns_and_none_is_an_error():
    with pytest.warns(UserWarning, match="hardly differ"):
        assert 0 < compat.get_suggested_range(100, 4, 1) < 0.25
    with pytest.raises(ValueError, match="48 samples are too few for dimensions=4"):
        compat.get_suggested_range(48, 4, 1)
    X = np.random.RandomState(0).normal(size=(48, 6))
    with pytest.raises(ValueError, match="give range_=0"):
        compat.compute_max_ig(X, np.arange(48) % 2, dimensions=4)
    assert np.isfinite(compat.compute_max_ig(X, np.arange(48) % 2, dimensions=4, range_=0).max_igs).all()


def test_max_ig_of_madelon(r_output, madelon):
    r = r_output("madelon_disc5_range05_seed42")
    found = compat.compute_max_ig(
        *madelon, dimensions=2, discretizations=5, range_=0.5, seed=42, return_tuples=True, use_CUDA=True
    )
    np.testing.assert_allclose(found.max_igs, r["ig_2d"], atol=GAIN_TOLERANCE, rtol=0)
    np.testing.assert_array_equal(found.tuples + 1, r["tuple_1based_2d"])
    np.testing.assert_array_equal(found.discretization_nrs + 1, r["disc_nr_1based_2d"])
    assert found.max_igs_contrast is None


def test_one_discretization_is_random_too(xor):
    X, y = xor
    expected = interplay.max_information_gain(
        X, y, range_=interplay.suggest_range(300, dimensions=2), random_state=9, discrete="none"
    )
    found = compat.compute_max_ig(X, y, None, 2, 1, 1, 9)  # positions as in the older package
    np.testing.assert_array_equal(found.max_igs, expected.gain)
    assert found.tuples is None
    assert found.discretization_nrs is None


def test_columns_with_few_values_are_discretised_like_all(xor):
    X, y = xor
    X = np.column_stack([X, X[:, 0] > -1])
    expected = interplay.max_information_gain(X, y, dimensions=1, discrete="none")
    np.testing.assert_array_equal(compat.compute_max_ig(X, y, range_=0).max_igs, expected.gain)


def test_interesting_variables(xor):
    X, y = xor
    contrast = compat.gen_contrast_variables(X, 5, seed=0).data
    found = compat.compute_max_ig(
        X,
        y,
        contrast_data=contrast,
        dimensions=2,
        seed=0,
        interesting_vars=np.array([1, 3, 5]),
        require_all_vars=True,
        return_tuples=True,
    )
    inside = np.isin(np.arange(12), [1, 3, 5])
    assert np.isfinite(found.max_igs).tolist() == inside.tolist()
    assert np.isfinite(found.max_igs_contrast).all()
    assert (found.tuples[~inside] == -1).all()
    assert (found.discretization_nrs[~inside] == -1).all()
    everything = compat.compute_max_ig(X, y, dimensions=2, seed=0)
    for no_restriction in ([], None):
        same = compat.compute_max_ig(X, y, dimensions=2, seed=0, interesting_vars=no_restriction)
        np.testing.assert_array_equal(same.max_igs, everything.max_igs)
    some = compat.compute_max_ig(X, y, dimensions=2, seed=0, interesting_vars=[7])
    assert some.max_igs[3] == everything.max_igs[3]


@pytest.mark.parametrize("stem", ["discrete30_div1", "discrete30_div2", "discrete20_div3"])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_discrete_like_the_r_package(r_output, madelon, stem, dimensions):
    r = r_output(stem)
    found = compat.compute_max_ig_discrete(r["data"], madelon[1], dimensions=dimensions, return_tuples=True)
    np.testing.assert_allclose(found.max_igs, r[f"ig_{dimensions}d"], atol=2 * GAIN_TOLERANCE, rtol=0)
    if dimensions > 1:
        np.testing.assert_array_equal(found.tuples + 1, r[f"tuple_1based_{dimensions}d"])


def test_discrete_with_contrast_and_interesting_variables(r_output, madelon):
    r = r_output("discrete30_div1_contrast")
    found = compat.compute_max_ig_discrete(r["data"], madelon[1], r["contrast_data"], 2)
    np.testing.assert_allclose(found.max_igs_contrast, r["contrast_ig_2d"], atol=GAIN_TOLERANCE, rtol=0)
    r = r_output("interesting_vars_max_ig")
    for require in ("any", "all"):
        found = compat.compute_max_ig_discrete(
            r["data"],
            madelon[1],
            dimensions=2,
            interesting_vars=r["interesting_1based"] - 1,
            require_all_vars=require == "all",
        )
        np.testing.assert_allclose(found.max_igs, r[f"ig_2d_{require}"], atol=GAIN_TOLERANCE, rtol=0)


def test_discrete_columns_all_have_the_levels_of_any():
    rng = np.random.RandomState(0)
    codes = np.column_stack([rng.randint(0, n_levels, size=80) for n_levels in (2, 3, 2, 4)])
    y = rng.randint(0, 2, size=80)
    expected = np.full(4, -np.inf)
    for pair in combinations(range(4), 2):
        gains = reference.information_gain([codes[:, v].tolist() for v in pair], [4, 4], y.tolist(), 2, 0.25)
        expected[list(pair)] = np.maximum(expected[list(pair)], gains)
    for labels in (codes, 10 * codes + 3, codes.astype(float)):  # not only 0, 1, 2, …
        found = compat.compute_max_ig_discrete(labels, y, dimensions=2)
        np.testing.assert_allclose(found.max_igs, expected, rtol=1e-9)


def test_tuples_like_the_r_package(r_output, madelon):
    r = r_output("tuples_madelon_div1_range0")
    found = compat.compute_tuples(*madelon, range_=0, ig_thr=20)
    np.testing.assert_array_equal(found.tuples + 1, r["2d_thr20_tuple_1based"])
    np.testing.assert_array_equal(found.vars + 1, r["2d_thr20_var_1based"])
    np.testing.assert_allclose(found.stats, r["2d_thr20_ig"], atol=GAIN_TOLERANCE, rtol=0)
    matrix = compat.compute_tuples(*madelon, range_=0, return_matrix=True)
    np.testing.assert_allclose(matrix.stats, r["2d_matrix_MI"], atol=GAIN_TOLERANCE, rtol=0)
    assert matrix.tuples is None
    assert matrix.vars is None


def test_tuples_of_interesting_variables_average_and_pseudocount(xor):
    X, y = xor
    settings = {"discretizations": 3, "seed": 5, "range_": 0.5, "pc_xi": 1.0}
    found = compat.compute_tuples(X, y, average=True, ig_thr=1, interesting_vars=[3, 5], **settings)
    codes = interplay.discretize(X, discretizations=3, random_state=5, range_=0.5, discrete="none")
    expected = reference.interesting_tuples(
        codes.transpose(0, 2, 1).tolist(), [2] * 12, y.tolist(), 2, 2, 1.0, average=True, min_gain=1, variables=[3, 5]
    )
    assert [(*pair, v) for pair, v in zip(found.tuples.tolist(), found.vars.tolist(), strict=True)] == [
        (*pair, v) for pair, v, _ in expected
    ]
    np.testing.assert_allclose(found.stats, [row[2] for row in expected], rtol=1e-9)


@pytest.mark.parametrize("stat_mode", compat.StatMode)
@pytest.mark.parametrize("decided", [True, False])
def test_discrete_tuples(stat_mode, decided):
    rng = np.random.RandomState(0)
    codes = np.column_stack([rng.randint(0, n_levels, size=80) for n_levels in (2, 3, 2, 4)])
    y = rng.randint(0, 2, size=80) if decided else None
    expected = reference.interesting_tuples(
        [codes.T.tolist()], [4] * 4, None if y is None else y.tolist(), stat=stat_mode.name
    )
    found = compat.compute_tuples_discrete(codes, y, stat_mode=stat_mode)
    assert list(map(tuple, found.tuples.tolist())) == [row[0] for row in expected]
    assert found.vars.tolist() == [row[1] for row in expected]
    np.testing.assert_allclose(found.stats, [row[2] for row in expected], rtol=1e-9)
    matrix = compat.compute_tuples_discrete(codes, y, stat_mode=int(stat_mode), return_matrix=True).stats
    np.testing.assert_array_equal(matrix[found.vars, found.tuples.sum(axis=1) - found.vars], found.stats)


U = (np.arange(1, 61) * 0.6180339887498949) % 1
SMOOTH = 1 - (1 - U) ** (1 / 20)
PILED = np.where(np.arange(60) % 3 == 0, 0.8 + 0.1 * U, SMOOTH)


@pytest.mark.parametrize(
    ("contrast", "exponential_fit", "settings", "expected"),
    [
        (SMOOTH, True, {}, 0.346801869),
        (SMOOTH, True, {"ign_low_ig_vars_num": 4}, 0.417416739),
        (SMOOTH, True, {"irr_vars_num": 30}, 0.224087445),
        (SMOOTH, False, {}, 0.207007092),
        (SMOOTH, False, {"ign_low_ig_vars_num": 4}, 0.201766188),
        (SMOOTH, False, {"irr_vars_num": 30}, 0.136260872),
        (PILED, True, {"ign_low_ig_vars_num": 4}, 0.0740548991),
        (PILED, True, {"max_ign_low_ig_vars_num": 12, "search_points": 5}, 0.0662763833),
        (PILED, True, {"min_irr_vars_num": 50}, 0.0662763833),
        (PILED, False, {"max_ign_low_ig_vars_num": 12, "search_points": 5}, 0.0228847022),
        (PILED, False, {"min_irr_vars_num": 50}, 0.0228847022),
    ],
)
def test_fit_as_the_rival_does(contrast, exponential_fit, settings, expected):
    found = compat.fit_p_value([1e-9, 0.02], contrast, exponential_fit=exponential_fit, **settings)
    assert found.p_values[1] == pytest.approx(expected, rel=1e-6)
    assert found.p_values[0] == pytest.approx(1e-9 / found.dist_param, rel=1e-6)
    assert found.err_param > 0
    assert found.sq_dev > 0


@pytest.mark.parametrize(("exponential_fit", "expected"), [(True, 0.263136706), (False, 0.232039694)])
def test_fit_at_its_border_warns_and_goes_one_further(exponential_fit, expected):
    with pytest.warns(UserWarning, match="ignores 19 contrast variables"):
        found = compat.fit_p_value([1e-9, 0.02], PILED, exponential_fit=exponential_fit)
    assert found.p_values[1] == pytest.approx(expected, rel=1e-6)


def test_small_p_values_keep_their_value_and_none_exceeds_1():
    found = compat.fit_p_value([0.0, 1e-300, 1e-40, 1.0], SMOOTH, exponential_fit=True)
    assert found.p_values[0] < 1e-307
    assert found.p_values[1:] == pytest.approx([1e-300 / found.dist_param, 1e-40 / found.dist_param, 1.0], rel=1e-9)
    assert compat.fit_p_value([0.9], SMOOTH, exponential_fit=False).p_values.tolist() == [1.0]


def test_fit_without_contrast():
    tail_p = np.concatenate([SMOOTH, [1e-12, 1e-9]])
    expected = interplay.fit_null(-2 * np.log(tail_p), dimensions=2, unit="chi2", df=2, fit="lsq")
    for none in (None, []):
        found = compat.fit_p_value(tail_p, none, exponential_fit=True)
        assert found.dist_param == expected.alpha
        np.testing.assert_array_equal(found.p_values, expected.p_values())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: compat.run(X[:, :4], y, dimensions=2, n_contrast=0), "n_contrast must be at least 6, not 0"),
        (lambda X, y: compat.run(X, y, dimensions=2, discretizations=2, range_=0), "range_=0 makes all 2"),
        (lambda X, y: compat.compute_max_ig_discrete(y[:9, None], y[:9], y[:8, None]), "contrast_data has 8 samples"),
        (lambda X, y: compat.compute_max_ig_discrete(X[:200].round(1), y[:200], dimensions=5), "lower dimensions"),
        (lambda X, y: compat.compute_tuples(X, dimensions=3), 'stat="MI" needs dimensions=2'),
        (lambda X, y: compat.compute_tuples(X, y, ig_thr="a"), "ig_thr must be a number"),
        (lambda X, y: compat.fit_p_value([0.5], SMOOTH[:5], exponential_fit=True), "at least 6 contrast variables"),
    ],
)
def test_bad_arguments(xor, call, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call(*xor)
    assert "\n" not in str(caught.value)


def test_arguments_are_those_of_the_older_package():
    search = "dimensions=1, divisions=1, discretizations=1, seed=None, range_=None, pc_xi=0.25"
    expected = {
        "run": f"data, decision, *, n_contrast=None, {search}, p_adjust_method='holm', level=0.05, use_CUDA=False",
        "compute_max_ig": f"data, decision, contrast_data=None, {search}, return_tuples=False, interesting_vars=None, "
        "require_all_vars=False, use_CUDA=False",
        "compute_max_ig_discrete": "data, decision, contrast_data=None, dimensions=1, pc_xi=0.25, "
        "return_tuples=False, interesting_vars=None, require_all_vars=False",
        "compute_tuples": "data, decision=None, *, dimensions=2, divisions=1, discretizations=1, seed=None, "
        "range_=None, pc_xi=0.25, ig_thr=0.0, i_lower=None, interesting_vars=None, require_all_vars=False, "
        "return_matrix=False, stat_mode=<StatMode.MI: 1>, average=False",
        "compute_tuples_discrete": "data, decision=None, *, dimensions=2, pc_xi=0.25, ig_thr=0.0, i_lower=None, "
        "interesting_vars=None, require_all_vars=False, return_matrix=False, stat_mode=<StatMode.MI: 1>",
        "fit_p_value": "chisq, chisq_contrast, *, exponential_fit, irr_vars_num=None, ign_low_ig_vars_num=None, "
        "min_irr_vars_num=None, max_ign_low_ig_vars_num=None, search_points=8",
        "discretize": "data, *, variable_idx, divisions, discretization_nr, seed, range_",
        "get_suggested_range": "n, dimensions, divisions, k=3",
        "gen_contrast_variables": "data, n_contrast, seed=None",
    }
    assert sorted(compat.__all__) == sorted([*expected, "StatMode"])
    for name, arguments in expected.items():
        signature = inspect.signature(getattr(compat, name))
        plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
        assert str(inspect.Signature(plain)) == f"({arguments})"


RIVAL_RUNS = {
    "2d": {"dimensions": 2, "seed": 0},
    "2d_more_contrast_than_variables": {"dimensions": 2, "seed": 3, "n_contrast": 90, "p_adjust_method": "fdr_by"},
    "2d_three_levels": {"dimensions": 2, "divisions": 2, "discretizations": 3, "seed": 2**31 - 1},
    "3d": {"dimensions": 3, "range_": 0.3, "n_contrast": 10, "seed": 1, "pc_xi": 1.0},
    "1d_raw": {"n_contrast": 30, "seed": 7},
    "1d_lin": {"discretizations": 5, "seed": 7},
    "1d_exp": {"discretizations": 15, "seed": 7},
}

RIVAL_TUPLES = {
    "2d": {"seed": 0},
    "2d_some": {"seed": 3, "ig_thr": 2.0, "discretizations": 3},
    "2d_three_levels": {"seed": 1, "divisions": 2, "pc_xi": 1.0},
    "3d_some": {"seed": 0, "dimensions": 3, "ig_thr": 5.0, "range_": 0.4},
    "2d_matrix": {"seed": 0, "range_": 0.0, "return_matrix": True},
    "2d_matrix_some": {"seed": 0, "range_": 0.0, "return_matrix": True, "ig_thr": 3.0},
    "2d_matrix_average": {"seed": 0, "discretizations": 4, "return_matrix": True, "average": True},
    "2d_matrix_entropy": {"seed": 0, "return_matrix": True, "stat_mode": 0},
    "2d_matrix_variation": {"seed": 0, "return_matrix": True, "stat_mode": 2, "decided": False},
    "2d_information": {"seed": 0, "decided": False},
    "4d_entropy": {"seed": 0, "dimensions": 4, "ig_thr": 3.95, "stat_mode": 0, "decided": False},
}

RIVAL_SCRIPT = """
import inspect, os, sys
import mdfs
import numpy as np

given = np.load(sys.argv[1])
data, decision = np.asfortranarray(given["data"]), given["decision"].astype(np.int32)
found, alive = {}, []
for name, settings in eval(sys.argv[3]).items():
    found.update({f"run_{name}_{key}": np.array(value) for key, value in mdfs.run(data, decision, **settings).items()})
alive.append(mdfs.gen_contrast_variables(data, 45, seed=5))
found["contrast"], found["indices"] = np.array(alive[-1].data), np.array(alive[-1].indices)
alive.append(mdfs.compute_max_ig(data, decision, contrast_data=np.asfortranarray(found["contrast"]), dimensions=2,
                                 discretizations=4, seed=5, return_tuples=True, interesting_vars=[1, 4, 8]))
for key in ("max_igs", "max_igs_contrast", "tuples", "discretization_nrs"):
    found[key] = np.array(getattr(alive[-1], key))
stat_mode = type(inspect.signature(mdfs.compute_tuples).parameters["stat_mode"].default)
for name, settings in eval(sys.argv[4]).items():
    settings["stat_mode"] = stat_mode(settings.get("stat_mode", 1))
    alive.append(mdfs.compute_tuples(data, decision if settings.pop("decided", True) else None, **settings))
    for key in ("stats", "tuples", "vars"):
        if getattr(alive[-1], key) is not None:
            found[f"tuples_{name}_{key}"] = np.array(getattr(alive[-1], key))
for number in (1, 2, 9):
    alive.append(mdfs.discretize(data, variable_idx=3, divisions=4, discretization_nr=number, seed=5, range_=0.7))
    found[f"codes_{number}"] = np.array(alive[-1].discretized_var)
np.savez(sys.argv[2], **found)
os._exit(0)  # its results may crash the interpreter when they are freed
"""


@pytest.fixture(scope="module")
def rival_data():
    rng = np.random.RandomState(1)
    X = rng.normal(size=(500, 40))
    X[:, 20:25] = X[:, 20:25].round(1)
    y = ((X[:, 1] > 0) ^ (X[:, 4] > 0)).astype(int)
    y[rng.random_sample(500) < 0.15] ^= 1
    X[:, 8] += 0.5 * y
    return X, y


@pytest.fixture(scope="module")
def rival(rival_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rival")
    np.savez(folder / "given.npz", data=rival_data[0], decision=rival_data[1])
    command = [
        os.environ["INTERPLAY_RIVAL_MDFS"],
        "-c",
        RIVAL_SCRIPT,
        "given.npz",
        "found.npz",
        repr(RIVAL_RUNS),
        repr(RIVAL_TUPLES),
    ]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return np.load(folder / "found.npz")


class TestBesideRival:
    """Collected only if there is a rival to run."""

    __test__ = "INTERPLAY_RIVAL_MDFS" in os.environ

    @pytest.mark.parametrize("name", RIVAL_RUNS)
    def test_run(self, rival_data, rival, name):
        expected = {key: rival[f"run_{name}_{key}"] for key in RUN_KEYS}
        assert_like_rival(compat.run(*rival_data, **RIVAL_RUNS[name]), expected)

    def test_contrast_and_gains(self, rival_data, rival):
        contrast = compat.gen_contrast_variables(rival_data[0], 45, seed=5)
        np.testing.assert_array_equal(contrast.data, rival["contrast"])
        np.testing.assert_array_equal(contrast.indices, rival["indices"])
        found = compat.compute_max_ig(
            *rival_data,
            contrast_data=contrast.data,
            dimensions=2,
            discretizations=4,
            seed=5,
            return_tuples=True,
            interesting_vars=[1, 4, 8],
        )
        np.testing.assert_allclose(found.max_igs, rival["max_igs"], atol=GAIN_TOLERANCE, rtol=0)
        np.testing.assert_allclose(found.max_igs_contrast, rival["max_igs_contrast"], atol=GAIN_TOLERANCE, rtol=0)
        np.testing.assert_array_equal(found.tuples, rival["tuples"])
        np.testing.assert_array_equal(found.discretization_nrs, rival["discretization_nrs"])

    @pytest.mark.parametrize("name", RIVAL_TUPLES)
    def test_tuples(self, rival_data, rival, name):
        settings = dict(RIVAL_TUPLES[name])
        decided = settings.pop("decided", True)
        found = compat.compute_tuples(rival_data[0], rival_data[1] if decided else None, **settings)
        tolerance = GAIN_TOLERANCE if decided else 3e-6
        assert (found.tuples is None) == (f"tuples_{name}_tuples" not in rival)
        if found.tuples is not None:
            assert len(found.stats) > 100
            np.testing.assert_array_equal(found.tuples, rival[f"tuples_{name}_tuples"])
            np.testing.assert_array_equal(found.vars, rival[f"tuples_{name}_vars"])
        np.testing.assert_allclose(found.stats, rival[f"tuples_{name}_stats"], atol=tolerance, rtol=0)

    def test_documented_calls_on_madelon(self, madelon, tmp_path):
        np.savez(tmp_path / "given.npz", data=madelon[0].astype(float), decision=madelon[1])
        runs = {"2d": {"dimensions": 2, "seed": 11}, "1d": {"discretizations": 30, "seed": 11}}
        tuples = {"2d": {"seed": 11, "ig_thr": 20.0}}
        command = [os.environ["INTERPLAY_RIVAL_MDFS"], "-c", RIVAL_SCRIPT, "given.npz", "found.npz"]
        subprocess.run([*command, repr(runs), repr(tuples)], check=True, capture_output=True, cwd=tmp_path)
        theirs = np.load(tmp_path / "found.npz")
        for name, settings in runs.items():
            assert_like_rival(compat.run(*madelon, **settings), {key: theirs[f"run_{name}_{key}"] for key in RUN_KEYS})
        found = compat.compute_tuples(*madelon, **tuples["2d"])
        np.testing.assert_array_equal(found.tuples, theirs["tuples_2d_tuples"])
        np.testing.assert_array_equal(found.vars, theirs["tuples_2d_vars"])
        np.testing.assert_allclose(found.stats, theirs["tuples_2d_stats"], atol=GAIN_TOLERANCE, rtol=0)

    @pytest.mark.parametrize("number", [1, 2, 9])
    def test_codes(self, rival_data, rival, number):
        found = compat.discretize(
            rival_data[0], variable_idx=3, divisions=4, discretization_nr=number, seed=5, range_=0.7
        ).discretized_var
        np.testing.assert_array_equal(found, rival[f"codes_{number}"])
