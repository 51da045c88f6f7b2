"""interactions(): against statsmodels, plain loops over all tuples, and what it must and must not find."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import interplay
import reference
from gpu_mark import ENGINES
from interplay.statistics.interaction.interaction_test import interaction_test
from likelihood_ratio import regression


def counts_of(columns, levels, y, n_classes):
    table = np.zeros((*levels, n_classes), dtype=np.int64)
    np.add.at(table, (*columns, y), 1)
    return table


def level_columns(rng, n, levels):
    return np.column_stack([rng.integers(0, n_levels, n) for n_levels in levels])


def additive(seed, n=500, n_vars=30):
    """logit = 2 x₀ + 2 x₁: two effects that add up, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_vars))
    return X, rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0] - 2 * X[:, 1]))


def xor(seed, n=400, n_vars=15, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_vars))
    return X, ((X[:, 2] > 0) ^ (X[:, 9] > 0)) ^ (rng.random(n) < noise)


# --- Numbers --------------------------------------------------------------------------------------------------------


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
    found = interplay.interactions(X, y, dimensions=dimensions, discrete="all", max_p=1).tested
    assert len(found) == reference_count(5, dimensions)
    assert (found.df < (n_classes - 1) * np.prod(np.array(levels)[found.tuples] - 1, axis=1)).any()
    for row, members in enumerate(found.tuples.tolist()):
        table = counts_of(X[:, members].T, [levels[v] for v in members], y, n_classes)
        (full, n_full), (null, n_null) = regression(table, dimensions), regression(table, dimensions - 1)
        assert found.chi2[row] == pytest.approx(2 * (full - null), rel=1e-8, abs=1e-8)
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
        X, y, dimensions=dimensions, discrete="all", max_p=max_p, strata=strata if n_strata > 1 else None
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
    everything = interplay.interactions(X, y, divisions=divisions, max_p=1)
    assert len(everything) == 105
    for top in (1, 7, 50, 105, 1000):
        some = interplay.interactions(X, y, divisions=divisions, top=top)
        pd.testing.assert_frame_equal(some.table, everything.table.head(top))
    few = interplay.interactions(X, y, divisions=divisions, top=1000, max_p=0.1)
    pd.testing.assert_frame_equal(few.table, everything.table[everything.table["p_value"] <= 0.1])


@pytest.mark.parametrize("method", ["holm", "hochberg", "bonferroni", "BH", "BY", "none"])
@pytest.mark.parametrize("noise", [0.2, 0.5])
def test_p_values_are_adjusted_for_all_tuples(method, noise):
    from statsmodels.stats.multitest import multipletests

    X, y = xor(3, noise=noise)
    y = y ^ (X[:, 4] > 0) & (X[:, 5] > 0)
    everything = interplay.interactions(X, y, max_p=1, p_adjust=method)
    names = {"hochberg": "simes-hochberg", "BH": "fdr_bh", "BY": "fdr_by"}
    p_value = everything.tested.p_value
    expected = p_value if method == "none" else multipletests(p_value, method=names.get(method, method))[1]
    assert everything.tested.p_adjusted == pytest.approx(expected, rel=1e-9)
    default = interplay.interactions(X, y, p_adjust=method)
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
    found = interplay.interactions(X, y, discretizations=4, random_state=3, max_p=1).tested
    assert len(set(found.discretization.tolist())) == 4
    for row, members in enumerate(found.tuples.tolist()):
        tables = np.array([counts_of(codes[:, members].T, [2, 2], y.astype(int), 2) for codes in each])
        tests = interaction_test(tables)
        best = int(np.argmax(tests.g2))
        assert found.discretization[row] == best
        assert found.p_value[row] == pytest.approx(min(4 * tests.p_value[best], 1), rel=1e-12)
    some = interplay.interactions(X, y, discretizations=4, random_state=3, max_p=0.2)
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
    omitted = interplay.interactions(X, y, missing="omit", max_p=1).tested
    level = interplay.interactions(X, y, missing="level", max_p=1).tested
    for members, g2, df, n_samples in zip(omitted.tuples, omitted.chi2, omitted.df, omitted.n_samples, strict=True):
        known = ~np.isnan(X[:, members]).any(axis=1)
        table = counts_of(X[known][:, members].T.astype(int), [3, 3], y[known], 2)
        test = interaction_test(table[np.newaxis], bootstrap_below=0)
        assert (g2, df, n_samples) == (pytest.approx(test.g2[0]), test.df[0], known.sum())
    for members, df in zip(level.tuples.tolist(), level.df, strict=True):
        assert df == (9 if 5 not in members else 6)
    for max_p in (1e-6, 1e-3, 0.05):
        few = interplay.interactions(X, y, missing="omit", max_p=max_p).tested
        assert few.tuples.tolist() == omitted.tuples[omitted.p_value <= max_p].tolist()
    assert interplay.interactions(X, y, missing="impute").significant == [("x1", "x4")]
    with pytest.raises(ValueError, match="missing values"):
        interplay.interactions(X, y)


# --- Which tuples -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize(
    "which",
    [
        {"variables": [1, "x4", 6]},
        {"variables": [1, "x4", 6], "require": "all"},
        {"variables": [0, 3], "partners": [3, 5, 6, 8]},
        {"min_distance": 3, "positions": [("a", v) for v in range(5)] + [("b", v) for v in range(4)]},
        {"min_distance": 2.5, "positions": {f"x{v}": v for v in range(2, 7)}},
        {
            "min_distance": 2,
            "positions": pd.DataFrame({"variable": [f"x{v}" for v in range(9)], "position": range(9), "chromosome": 1}),
            "variables": [0, 1, 8],
            "partners": [1, 4, 6],
        },
    ],
)
def test_tuples_asked_for(dimensions, which):
    X, y = xor(4, n_vars=10)
    X = X[:, :9]
    everything = interplay.interactions(X, y, dimensions=dimensions, max_p=1)
    found = interplay.interactions(X, y, dimensions=dimensions, max_p=1, **which)
    wanted = [row for row, members in enumerate(everything.tested.tuples.tolist()) if is_wanted(members, which)]
    assert 0 < len(wanted) < len(everything)
    assert found.n_tests == len(wanted)
    same = ["members", "chi2", "df", "p_value", "log_or"]
    pd.testing.assert_frame_equal(found.table[same], everything.table.loc[wanted, same].reset_index(drop=True))
    assert interplay.interactions(X, y, dimensions=dimensions, top=2, **which).tested.tuples.tolist() == (
        found.tested.tuples[:2].tolist()
    )


def test_columns_taken_as_they_are_are_those_of_the_table():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (400, 8)).astype(float)
    y = rng.integers(0, 2, 400)
    everything = interplay.interactions(X, y, discrete=[2, "x6"], max_p=1).table.set_index("members")
    some = interplay.interactions(X, y, discrete=[2, "x6"], variables=[2, 3], partners=[5, 6, 7], max_p=1)
    assert some.settings["discrete"] == [2, "x6"]
    for members, df, chi2 in zip(some.table["members"], some.table["df"], some.table["chi2"], strict=True):
        assert (df, chi2) == tuple(everything.loc[[members], ["df", "chi2"]].iloc[0])
    assert sorted(some.table["df"]) == [1, 1, 5, 5, 5, 25]


def is_wanted(members, which):
    first = {int(str(v).removeprefix("x")) for v in which.get("variables", range(9))}
    inside = set(members)
    if "partners" in which:
        if not any(v in first and inside - {v} <= set(which["partners"]) for v in members):
            return False
    elif not (inside <= first if which.get("require") == "all" else inside & first):
        return False
    if "min_distance" not in which:
        return True
    given = which["positions"]
    if isinstance(given, pd.DataFrame):
        place = {v: (0, float(v)) for v in range(9)}
    elif isinstance(given, dict):
        place = {int(name[1:]): (0, at) for name, at in given.items()}
    else:
        place = dict(enumerate(given))
    return all(
        a not in place or b not in place or place[a][0] != place[b][0]
        or abs(place[a][1] - place[b][1]) >= which["min_distance"]
        for a, b in combinations(members, 2)
    )  # fmt: skip


# --- What is found, and what is not ---------------------------------------------------------------------------------


def test_effects_that_add_up_are_no_interaction():
    """The table whose pair `synergies()` calls a synergy of 15 bits, 20 times out of 20."""
    n_found = n_false = 0
    for seed in range(20):
        found = interplay.interactions(*additive(seed)).significant
        n_found += ("x0", "x1") in found
        n_false += bool(found)
    assert n_found <= 1
    assert n_false <= 3


def test_a_selection_says_additive():
    selection = interplay.select(*additive(3), dimensions=2, random_state=0)
    assert set(selection.relevant) == {"x0", "x1"}
    table = selection.table.set_index("variable")
    assert table.loc[["x0", "x1"], "verdict"].tolist() == ["additive", "additive"]
    assert table.loc["x0", "p_interaction"] == 1
    assert (selection.synergies()["p_gain"] < 1e-6).all()
    assert set(selection.synergies()["verdict"]) == {"additive"}
    assert selection.interactions().significant == []
    assert "additive" in str(selection.verdict_of("x0"))


@pytest.mark.parametrize("settings", [{}, {"discretizations": 3}, {"divisions": 2}, {"p_adjust": "hommel"}])
def test_a_selection_says_interaction(settings, tmp_path):
    X, y = xor(2)
    selection = interplay.select(X, y, random_state=0, **{"dimensions": 2} | settings)
    selection.save(tmp_path / "run")
    for one in (selection, interplay.load(tmp_path / "run")):
        table = one.table.set_index("variable")
        assert table.loc[["x2", "x9"], "verdict"].tolist() == ["interaction"] * 2
        assert set(table.loc[~table["relevant"], "verdict"]) == {"untested"}
        assert one.interactions().significant == [("x2", "x9")]
        assert one.interactions().n_tests == 105
        everything = interplay.interactions(
            X, y, max_p=1, random_state=0, **{name: value for name, value in settings.items() if name != "p_adjust"}
        )
        best, same = one.interactions().tested, everything.tested
        assert (best.tuples[0] == same.tuples[0]).all()
        assert best.p_value[0] == same.p_value[0]
        assert best.p_adjusted[0] == pytest.approx(105 * best.p_value[0])


def test_tuples_within_strata_are_tested_within_strata():
    X, y = xor(2)
    strata = np.random.default_rng(1).integers(0, 3, len(y))
    selection = interplay.select(X, y, dimensions=2, strata=strata, random_state=0)
    found = selection.interactions().tested
    everything = interplay.interactions(X, y, strata=strata, max_p=1).tested
    assert found.tuples[0].tolist() == [2, 9]
    assert found.p_value[0] == everything.p_value[0]
    assert selection.table.loc[2, "verdict"] == "interaction"


def test_tests_of_several_runs_are_adjusted_together():
    X, y = xor(6, n=600)
    three = np.where(X[:, 0] > 0.8, "c", np.where(y, "a", "b"))
    selection = interplay.select(X, three, dimensions=2, multiclass="ovr", random_state=0)
    with pytest.raises(ValueError, match="run is needed, as there are"):
        selection.interactions()
    found = selection.interactions(run="a vs rest")
    assert found.n_tests == 3 * 105
    assert found.significant[0] == ("x2", "x9")
    assert found.replicate(X, np.where(three == "a", "a", "rest")).significant[0] == ("x2", "x9")


def test_a_triple_that_no_pair_explains():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = ((X[:, [1, 5, 8]] > 0).sum(axis=1) % 2).astype(bool) ^ (rng.random(600) < 0.2)
    assert interplay.interactions(X, y).significant == []
    assert interplay.interactions(X, y, dimensions=3).significant == [("x1", "x5", "x8")]


def test_the_parts_of_a_selection_s_tuples_are_tested_too(tmp_path):
    X, y = xor(2)
    selection = interplay.select(X, y, dimensions=3, random_state=0)
    selection.save(tmp_path / "run")
    for one in (selection, interplay.load(tmp_path / "run")):
        table = one.table.set_index("variable")
        for name in ("x2", "x9"):
            assert len(table.loc[name, "partners"]) == 2
            assert table.loc[name, "verdict"] == "interaction"
            assert table.loc[name, "interacting"] == ("x2", "x9")
        assert one.interactions().significant == []
        pairs = one.interactions(dimensions=2)
        assert pairs.significant == [("x2", "x9")]
        assert pairs.n_tests == 2 * 105  # pairs and triples share the error rate
        assert one.verdict_of("x2").p_value == interplay.interactions(X, y).tested.p_value[0]
        assert pairs.replicate(*xor(12)).significant == [("x2", "x9")]
        assert one.replicate(*xor(12), dimensions=2).significant == [("x2", "x9")]
    with pytest.raises(ValueError, match="dimensions must be a whole number from 2 to 3"):
        selection.interactions(dimensions=4)


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


# --- The same everywhere ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"dimensions": 3, "divisions": 2}, {"discretizations": 2}])
def test_threads_and_checkpoints_change_nothing(settings, tmp_path):
    X, y = xor(7)
    alone = interplay.interactions(X, y, top=30, **settings)
    told = []
    same = interplay.interactions(
        X, y, top=30, n_jobs=2, progress=told.append, checkpoint=tmp_path / "search", **settings
    )
    again = interplay.interactions(X, y, top=30, checkpoint=tmp_path / "search", **settings)
    for other in (same, again):
        pd.testing.assert_frame_equal(other.table, alone.table)
    assert told[-1] == 1
    assert min(told) >= 0
    with pytest.raises(ValueError, match="belongs to another search"):
        interplay.interactions(X, y, top=31, checkpoint=tmp_path / "search", **settings)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("settings", [{}, {"dimensions": 3, "divisions": 2}, {"discretizations": 2, "divisions": 2}])
def test_every_engine_finds_the_same(engine, settings):
    X, y = xor(7, n_vars=24)
    alone = interplay.interactions(X, y, top=30, **settings)
    pd.testing.assert_frame_equal(interplay.interactions(X, y, top=30, engine=engine, **settings).table, alone.table)


def test_a_cluster_finds_the_same():
    distributed = pytest.importorskip("distributed")
    X, y = xor(7, n_vars=24)
    strata = np.arange(len(y)) % 3
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
        for settings in ({}, {"dimensions": 3}, {"strata": strata}):
            alone = interplay.interactions(X, y, top=20, **settings)
            there = interplay.interactions(X, y, top=20, engine=client, **settings)
            pd.testing.assert_frame_equal(there.table, alone.table)


@pytest.mark.parametrize("settings", [{}, {"top": 12}, {"max_p": 0.05}, {"dimensions": 3, "divisions": 2, "top": 9}])
def test_shards_make_the_whole(settings, tmp_path):
    X, y = xor(7, n_vars=40)
    whole = interplay.interactions(X, y, **settings)
    files = []
    for number in (2, 1, 3):
        files.append(tmp_path / f"part{number}")
        interplay.interactions(X, y, shard=f"{number}/3", **settings).save(files[-1])
    merged = interplay.merge_interactions(files)
    pd.testing.assert_frame_equal(merged.table, whole.table)
    assert merged.headline() == whole.headline()
    assert [one.members.tolist() for one in merged.counts] == [one.members.tolist() for one in whole.counts]
    assert [cut.variable for cut in merged.cuts] == [cut.variable for cut in whole.cuts]


def test_parts_that_do_not_make_a_whole():
    X, y = xor(7)
    one, two = (interplay.interactions(X, y, shard=(i, 2)) for i in (1, 2))
    with pytest.raises(ValueError, match="parts: 2 of 2 missing"):
        interplay.merge_interactions([one])
    with pytest.raises(ValueError, match="1/2 is given twice"):
        interplay.merge_interactions([one, one])
    with pytest.raises(ValueError, match="of different searches"):
        interplay.merge_interactions([one, interplay.interactions(X, ~y, shard="2/2")])
    with pytest.raises(ValueError, match=r"of different searches \(divisions"):
        interplay.merge_interactions([one, interplay.interactions(X, y, shard="2/2", divisions=2)])
    earlier = replace(two, provenance=two.provenance | {"data_fingerprint": "0123456789abcdef" * 2})
    with pytest.raises(ValueError, match="were made by different versions of interplay"):
        interplay.merge_interactions([one, earlier])
    with pytest.raises(ValueError, match="is not a part of a search"):
        interplay.merge_interactions([interplay.interactions(X, y)])
    with pytest.raises(ValueError, match="shard and holdout cannot"):
        interplay.interactions(X, y, shard="1/2", holdout=0.3)
    assert interplay.merge_interactions([one, two]).significant == [("x2", "x9")]


# --- Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"dimensions": 1}, ValueError, "dimensions must be a whole number of at least 2"),
        ({"dimensions": 99}, ValueError, "dimensions=99 needs at least 99 variables"),
        ({"p_adjust": "hommel"}, ValueError, "p_adjust='hommel' needs the p-values of all tuples"),
        ({"p_adjust": "what"}, ValueError, "p_adjust must be one of"),
        ({"level": 0}, ValueError, "level must be a number in"),
        ({"max_p": 0}, ValueError, "max_p must be a number in"),
        ({"max_p": 1.5}, ValueError, "max_p must be a number in"),
        ({"top": 0}, ValueError, "top must be a whole number of at least 1"),
        ({"top": 2.5}, TypeError, "top must be a whole number"),
        ({"missing": "drop"}, ValueError, "missing must be one of 'error', 'level', 'impute', 'omit'"),
        ({"require": "some"}, ValueError, "require must be one of"),
        ({"variables": ["nobody"]}, ValueError, "variables names 'nobody', which is not a column of X"),
        ({"variables": ["x1"], "partners": ["nobody"]}, ValueError, "partners names 'nobody'"),
        ({"partners": ["x1"]}, ValueError, "give variables too"),
        ({"variables": ["x1"], "partners": ["x1"]}, ValueError, "there is no tuple of 2 variables"),
        ({"variables": ["x1", "x2"], "partners": ["x3"], "require": "all"}, ValueError, "contradict each other"),
        ({"min_distance": 5}, ValueError, "positions of the variables are not known"),
        ({"positions": [1] * 15}, ValueError, "positions are only used with min_distance"),
        ({"min_distance": 5, "positions": [1, 2]}, ValueError, "positions must be one number"),
        ({"min_distance": 5, "positions": ["a"] * 15}, ValueError, "positions must be one number"),
        ({"min_distance": 5, "positions": {"g": 3}}, ValueError, "positions names none of the variables"),
        ({"min_distance": 5, "positions": pd.DataFrame({"a": [1]})}, ValueError, "columns variable and position"),
        ({"min_distance": 1e9, "positions": range(15)}, ValueError, "there is no tuple of 2 variables"),
        ({"min_distance": -1, "positions": range(15)}, ValueError, "min_distance must be a number in"),
        ({"holdout": 1.0}, ValueError, "holdout must be a number in"),
        ({"holdout": 0}, ValueError, "holdout must be a whole number"),
        ({"holdout": 0.004}, ValueError, "leaves fewer than 2 samples"),
        ({"engine": "abacus"}, ValueError, "engine must be one of"),
        ({"progress": 3}, TypeError, "progress must be"),
    ],
)
def test_bad_input(arguments, error, words):
    with pytest.raises(error, match=words):
        interplay.interactions(*xor(0), **arguments)


def test_a_list_that_nobody_could_hold_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 7000))
    with pytest.raises(ValueError, match=r"max_p=1 would list about 2\.45e\+07"):
        interplay.interactions(X, np.arange(20) % 2, max_p=1)


def test_a_selection_over_several_dimensions_has_tests_of_each_size() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 20))
    y = (X[:, 3] > 0) ^ (X[:, 11] > 0) ^ (rng.random(600) < 0.1)
    selection = interplay.select(X, y, dimensions=(1, 2, 3), random_state=0)
    pairs = selection.interactions()
    assert pairs.significant == selection.interactions(dimensions=2).significant == [("x3", "x11")]
    # Two sizes of tuples share the error rate.
    assert pairs.n_tests == 2 * 190
    alone = interplay.select(X, y, dimensions=2, random_state=0).interactions()
    assert pairs.tested.p_adjusted[0] == pytest.approx(2 * alone.tested.p_adjusted[0])
    triples = selection.interactions(dimensions=3)
    assert triples.significant == []
    assert triples.n_tests == 2 * 1140
    with pytest.raises(ValueError, match=r"dimensions must be a whole number from 2 to 3, not 4"):
        selection.interactions(dimensions=4)
    assert selection.replicate(X, y).significant == [("x3", "x11")]
