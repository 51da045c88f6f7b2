"""interactions(): against statsmodels, plain loops over all tuples, and what it must and must not find."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import interplay
import reference
from interaction_problems import additive, xor
from interplay.infer.interaction.interaction_test import interaction_test
from likelihood_ratio import regression


def counts_of(columns, levels, y, n_classes):
    table = np.zeros((*levels, n_classes), dtype=np.int64)
    np.add.at(table, (*columns, y), 1)
    return table


def level_columns(rng, n, levels):
    return np.column_stack([rng.integers(0, n_levels, n) for n_levels in levels])


# --- Numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_g2_and_df_are_those_of_statsmodels(dimensions, n_classes):
    rng = np.random.default_rng(10 * dimensions + n_classes)
    levels = [2, 3, 4, 2, 3]
    X = level_columns(rng, 1500, levels)
    X = X[~((X[:, 1] == 2) & (X[:, 2] == 3))]  # a combination that no sample has
    X = X[~((X[:, 0] == 1) & (X[:, 4] == 0))]
    y = (rng.random(len(X)) * n_classes).astype(int)
    y = np.where((X[:, 0] == X[:, 3]) & (rng.random(len(X)) < 0.3), 1, y)
    found = interplay.interactions(X, y, dimensions=dimensions, discrete="all", max_p=1, coding="levels").tested
    assert len(found) == reference_count(5, dimensions)
    assert (found.df < (n_classes - 1) * np.prod(np.array(levels)[found.tuples] - 1, axis=1)).any()
    for row, members in enumerate(found.tuples.tolist()):
        table = counts_of(X[:, members].T, [levels[v] for v in members], y, n_classes)
        (full, n_full), (null, n_null) = regression(table, dimensions), regression(table, dimensions - 1)
        assert found.statistic[row] == pytest.approx(2 * (full - null), rel=1e-8, abs=1e-8)
        assert found.df[row] == n_full - n_null


def reference_count(n_vars, dimensions):
    return len(list(combinations(range(n_vars), dimensions)))


@pytest.mark.parametrize(
    ("dimensions", "levels", "n_strata", "n_classes"),
    [(2, 2, 1, 2), (2, 3, 1, 2), (3, 2, 1, 2), (3, 3, 1, 3), (2, 2, 3, 2), (2, 3, 2, 3), (3, 2, 2, 2), (4, 2, 1, 2)],
)
def test_the_list_is_that_of_plain_loops(dimensions, levels, n_strata, n_classes):
    rng = np.random.default_rng(levels + n_strata)
    n = 400 if dimensions < 4 else 3000  # plain IPF hardly ends where many cells are empty
    X = level_columns(rng, n, [levels] * 9)
    X[:, 8] = np.where(rng.random(n) < 0.6, X[:, 7], X[:, 8])
    strata = rng.integers(0, n_strata, n)
    y = (rng.random(n) * n_classes).astype(int)
    y = np.where((X[:, 1] == X[:, 4]) & (rng.random(n) < 0.5), 1, y)
    max_p = 0.05
    n_tuples = reference_count(9, dimensions)
    bootstrap_below = max(1e-3, 0.05 / (n_tuples - n_tuples // 10))  # and all that could be significant
    found = interplay.interactions(
        X,
        y,
        dimensions=dimensions,
        discrete="all",
        max_p=max_p,
        strata=strata if n_strata > 1 else None,
        coding="levels",
    ).tested
    expected = {}
    for members in combinations(range(9), dimensions):
        tables = []
        g2 = df = 0
        for stratum in range(n_strata):
            inside = strata == stratum
            columns = [X[inside, v].tolist() for v in members]
            table = reference.tuple_counts(columns, y[inside].tolist(), n_classes, [levels] * dimensions)
            g2 += reference.interaction_g2(table)
            df += reference.interaction_df(table)
            tables.append(counts_of(columns, [levels] * dimensions, y[inside], n_classes))
        counts = np.array(tables) if n_strata > 1 else tables[0]
        test = interaction_test(counts[np.newaxis], strata=n_strata > 1, bootstrap_below=0)
        assert test.g2[0] == pytest.approx(g2, rel=1e-7, abs=1e-7)
        assert test.df[0] == df
        if test.p_value[0] <= (bootstrap_below if test.min_expected[0] >= 5 else 0.05):
            test = interaction_test(counts[np.newaxis], strata=n_strata > 1)
        if test.p_value[0] <= max_p:
            expected[members] = test.p_value[0]
    assert {tuple(row) for row in found.tuples.tolist()} == set(expected)
    assert len(expected) > 1
    for members, p_value in zip(found.tuples.tolist(), found.p_value, strict=True):
        assert p_value == pytest.approx(expected[tuple(members)], rel=1e-12)
    assert (np.diff(found.log_p) >= 0).all()


@pytest.mark.parametrize("divisions", [1, 2])
def test_the_smallest_p_values_are_the_first_of_all(divisions):
    X, y = xor(1)
    everything = interplay.interactions(X, y, divisions=divisions, max_p=1, coding="levels")
    assert len(everything) == 105
    for top in (1, 7, 50, 105, 1000):
        some = interplay.interactions(X, y, divisions=divisions, top=top, coding="levels")
        pd.testing.assert_frame_equal(some.table, everything.table.head(top))
    few = interplay.interactions(X, y, divisions=divisions, top=1000, max_p=0.1, coding="levels")
    pd.testing.assert_frame_equal(few.table, everything.table[everything.table["p_value"] <= 0.1])


@pytest.mark.parametrize("method", ["holm", "hochberg", "bonferroni", "BH", "BY", "none"])
@pytest.mark.parametrize("noise", [0.2, 0.5])
def test_p_values_are_adjusted_for_all_tuples(method, noise):
    from statsmodels.stats.multitest import multipletests

    X, y = xor(3, noise=noise)
    y = y ^ (X[:, 4] > 0) & (X[:, 5] > 0)
    everything = interplay.interactions(X, y, max_p=1, p_adjust=method, coding="levels")
    names = {"hochberg": "simes-hochberg", "BH": "fdr_bh", "BY": "fdr_by"}
    p_value = everything.tested.p_value
    expected = p_value if method == "none" else multipletests(p_value, method=names.get(method, method))[1]
    assert everything.tested.p_adjusted == pytest.approx(expected, rel=1e-9)
    default = interplay.interactions(X, y, p_adjust=method, coding="levels")
    assert default.significant == everything.significant
    assert len(default) == len(default.significant)


def test_bh_goes_on_while_more_could_be_significant():
    """Many true interactions: the first search leaves room for 200, and all are found."""
    rng = np.random.default_rng(0)
    n = 600
    y = rng.integers(0, 2, n)
    first = rng.integers(0, 2, (n, 30))
    second = first ^ y[:, np.newaxis] ^ (rng.random((n, 30)) < 0.2)
    X = np.column_stack([first, second])
    all_of_them = interplay.interactions(X, y, max_p=1, p_adjust="BH")
    assert interplay.interactions(X, y, p_adjust="BH").significant == all_of_them.significant
    assert interplay.interactions(X, y).significant == interplay.interactions(X, y, max_p=1).significant


def test_several_discretisations_cost_a_factor():
    X, y = xor(5)
    each = interplay.discretize(X, divisions=1, discretizations=4, random_state=3)
    found = interplay.interactions(X, y, discretizations=4, random_state=3, max_p=1, coding="levels").tested
    assert len(set(found.discretization.tolist())) == 4
    for row, members in enumerate(found.tuples.tolist()):
        tables = np.array([counts_of(codes[:, members].T, [2, 2], y.astype(int), 2) for codes in each])
        tests = interaction_test(tables)
        best = int(np.argmax(tests.g2))
        assert found.discretization[row] == best
        assert found.p_value[row] == pytest.approx(min(4 * tests.p_value[best], 1), rel=1e-12)
    some = interplay.interactions(X, y, discretizations=4, random_state=3, max_p=0.2, coding="levels")
    assert some.tested.tuples.tolist() == found.tuples[found.p_value <= 0.2].tolist()


def test_gains_are_those_of_plain_counts():
    X, y = xor(8)
    found = interplay.interactions(X, y, max_p=1)
    gains = interplay.interesting_tuples(X, y, pseudocount=0).to_frame()
    for row in found.table.head(20).to_dict("records"):
        of_pair = gains[(gains["member_1"] == row["members"][0]) & (gains["member_2"] == row["members"][1])]
        assert [row["gain_1"], row["gain_2"]] == pytest.approx(of_pair["value"].tolist(), abs=1e-8)
    alone = interplay.max_information_gain(X, y, dimensions=1, pseudocount=0).gain
    assert found.table["alone_1"].to_numpy() == pytest.approx(alone[found.tested.tuples[:, 0]], abs=1e-8)


def test_missing_values_are_a_level_or_left_out():
    rng = np.random.default_rng(0)
    n = 500
    X = rng.integers(0, 3, (n, 6)).astype(float)
    y = ((X[:, 1] == X[:, 4]) ^ (rng.random(n) < 0.25)).astype(int)
    X[rng.random((n, 6)) < 0.1] = np.nan
    X[:, 5] = np.where(np.isnan(X[:, 5]), 1, X[:, 5])
    omitted = interplay.interactions(X, y, missing="omit", max_p=1, coding="levels").tested
    level = interplay.interactions(X, y, missing="level", max_p=1, coding="levels").tested
    for members, g2, df, n_samples in zip(
        omitted.tuples, omitted.statistic, omitted.df, omitted.n_samples, strict=True
    ):
        known = ~np.isnan(X[:, members]).any(axis=1)
        table = counts_of(X[known][:, members].T.astype(int), [3, 3], y[known], 2)
        test = interaction_test(table[np.newaxis], bootstrap_below=0)
        assert (g2, df, n_samples) == (pytest.approx(test.g2[0]), test.df[0], known.sum())
    for members, df in zip(level.tuples.tolist(), level.df, strict=True):
        assert df == (9 if 5 not in members else 6)
    for max_p in (1e-6, 1e-3, 0.05):
        few = interplay.interactions(X, y, missing="omit", max_p=max_p, coding="levels").tested
        assert few.tuples.tolist() == omitted.tuples[omitted.p_value <= max_p].tolist()
    assert interplay.interactions(X, y, missing="impute", coding="levels").significant == [("x1", "x4")]


def test_gaps_do_not_hide_tuples_from_the_screen():
    """Engines count missing values as a level, at more degrees of freedom than the tests have."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 30)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = rng.integers(0, 2, 300)
    everything = interplay.interactions(X, y, missing="omit", discrete="all", max_p=1).tested
    for max_p in (0.05, 0.01):
        few = interplay.interactions(X, y, missing="omit", discrete="all", max_p=max_p).tested
        assert few.tuples.tolist() == everything.tuples[everything.p_value <= max_p].tolist()


# --- What is found, and what is not -----------------------------------------------------------------------------------


def test_effects_that_add_up_are_no_interaction():
    """The table whose pair `synergies()` calls a synergy of 15 bits, 20 times out of 20."""
    n_found = n_false = 0
    for seed in range(20):
        found = interplay.interactions(*additive(seed)).significant
        n_found += ("x0", "x1") in found
        n_false += bool(found)
    assert n_found <= 1
    assert n_false <= 3


def test_a_triple_that_no_pair_explains():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = ((X[:, [1, 5, 8]] > 0).sum(axis=1) % 2).astype(bool) ^ (rng.random(600) < 0.2)
    assert interplay.interactions(X, y).significant == []
    assert interplay.interactions(X, y, dimensions=3).significant == [("x1", "x5", "x8")]


def test_tables_with_too_few_samples_are_not_tested():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 20, (200, 6))
    y = rng.integers(0, 2, 200)
    with pytest.warns(UserWarning, match="tuples of 20 × 20 levels need 312 samples to be tested, and there are 200"):
        found = interplay.interactions(X, y, discrete="all", max_p=1)
    assert set(found.table["method"]) == {"sparse"}
    assert (found.table["p_value"] == 1).all()
    assert (found.table["chi2"] > 100).all()
    assert "were not tested (p = 1)" in found.notes()[0]
    with pytest.warns(UserWarning, match="need 312 samples"):
        assert len(interplay.interactions(X, y, discrete="all")) == 0


def test_sparse_tables_are_calibrated():
    """Many levels, few samples, nothing true: χ² alone has p < 0.05 nearly always."""
    rng = np.random.default_rng(1)
    p_value = []
    for _ in range(8):
        X = rng.integers(0, 12, (240, 4))
        found = interplay.interactions(X, rng.integers(0, 2, 240), discrete="all", max_p=1)
        p_value += found.table["p_value"].to_list()
    assert np.mean(np.array(p_value) < 0.05) < 0.15
    assert np.mean(np.array(p_value) < 0.01) < 0.08
