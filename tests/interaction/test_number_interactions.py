"""`interactions` of an outcome of numbers: as plain loops, complete where it screens, the same in parts and files."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri
from scipy.stats import f as fisher
from scipy.stats import rankdata

import interplay
import reference
from interplay.ask.tuple_tests.number_tests import NumberSurvivors, NumberTables
from interplay.ask.tuple_tests.product_screen import LevelDosages, ProductScreen
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import make_coder
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.table import as_table
from interplay.search.loop import Shard


def genotypes(rng, n, p):
    return rng.binomial(2, rng.uniform(0.1, 0.5, size=p), size=(n, p)).astype(float)


def problem(seed=0, n=500, p=12):
    """Two variables that add up, and two that matter together only; the outcome is skewed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    y = np.exp(X[:, 0] + X[:, 1] + 1.3 * ((X[:, 4] > 0) ^ (X[:, 7] > 0)) + rng.normal(size=n))
    return X, y


def scores(y, strata=None):
    z = np.empty(len(y))
    for s in [slice(None)] if strata is None else [strata == s for s in np.unique(strata)]:
        z[s] = ndtri((rankdata(y[s]) - 0.5) / len(y[s]))
    return z


@pytest.mark.parametrize(("k", "p"), [(2, 8), (3, 6)])
@pytest.mark.parametrize("has_strata", [False, True])
def test_every_tuple_equals_plain_loops(k, p, has_strata):
    rng = np.random.default_rng(k)
    X, y = genotypes(rng, 200, p), rng.exponential(size=200)
    strata = rng.integers(0, 2, size=200) if has_strata else None
    found = interplay.interactions(X, y, dimensions=k, max_p=1.0, strata=strata, coding="levels")
    z = scores(y, strata)
    assert len(found) == len(list(combinations(range(p), k)))
    for members, f, df, df_residual, p_value in zip(
        found.tested.tuples.tolist(),
        found.tested.statistic,
        found.tested.df,
        found.tested.df_residual,
        found.tested.p_value,
        strict=True,
    ):
        plain = reference.number_interaction([X[:, v].astype(int).tolist() for v in members], z.tolist(), strata=strata)
        assert (df, df_residual) == plain[1:]
        assert f == pytest.approx(plain[0], rel=1e-8)
        assert p_value == pytest.approx(fisher.sf(*plain) if df else 1.0, rel=1e-8)


@pytest.mark.filterwarnings("ignore:.*cells of fewer than")
@pytest.mark.parametrize("scale", ["ranks", "values"])
@pytest.mark.parametrize("n", [40, 120, 600])
@pytest.mark.parametrize("options", [{}, {"divisions": 2}, {"discretizations": 3}, {"dimensions": 3}])
def test_the_screen_loses_no_tuple(scale, n, options):
    """Engines know the scores as integers of 8 bits; the list is that of the scores."""
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, 10)), rng.exponential(size=n)
    y += 2 * (X[:, 2] > 0) + ((X[:, 3] > 0) ^ (X[:, 5] > 0))
    everything = interplay.interactions(X, y, scale=scale, max_p=1.0, **options)
    for max_p in (0.2, 0.01, 1e-4):
        found = interplay.interactions(X, y, scale=scale, max_p=max_p, **options)
        expected = everything.tested.chosen(everything.tested.p_value <= max_p)
        assert found.tested.tuples.tolist() == expected.tuples.tolist()
        np.testing.assert_allclose(found.tested.log_p, expected.log_p, rtol=1e-9, atol=1e-12)


def test_the_screen_asks_more_than_nothing(monkeypatch):
    """Of all pairs without an interaction, engines leave few to be tested."""
    seen = []
    kept = NumberSurvivors.kept

    def counted(self, planes, rows, d, **how):
        seen.append(len(rows.tuples))
        return kept(self, planes, rows, d, **how)

    monkeypatch.setattr(NumberSurvivors, "kept", counted)
    monkeypatch.setattr("interplay.ask.interaction.find._SHORT_SEARCH", 0)  # not again for the smallest p-values
    rng = np.random.default_rng(1)
    interplay.interactions(rng.normal(size=(1000, 200)), rng.normal(size=1000))
    assert sum(seen) < 100


def test_strong_main_effects_do_not_hide_an_interaction():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 20))
    y = 6 * (X[:, 0] > 0) + 1.2 * ((X[:, 0] > 0) & (X[:, 1] > 0)) + 0.7 * rng.normal(size=300)
    found = interplay.interactions(X, y, scale="values", max_p=1e-3)
    everything = interplay.interactions(X, y, scale="values", max_p=1.0)
    assert len(found) == (everything.tested.p_value <= 1e-3).sum() > 0


def test_the_smallest_are_those_of_the_whole_list():
    X, y = problem()
    everything = interplay.interactions(X, y, max_p=1.0)
    top = interplay.interactions(X, y, top=7)
    assert top.tested.tuples.tolist() == everything.tested.tuples[:7].tolist()


@pytest.mark.filterwarnings("ignore:.*cells of fewer than")
@pytest.mark.parametrize("options", [{}, {"dimensions": 3}, {"scale": "values"}, {"strata": np.arange(400) % 2}])
def test_of_tuples_with_gaps_few_are_tested_sample_by_sample(monkeypatch, options):
    """Engines take a missing value for a level, and list many; sums in cells leave few of these, and lose none."""
    rng = np.random.default_rng(5)
    X, y = genotypes(rng, 400, 24 if "dimensions" not in options else 12), rng.exponential(size=400) ** 2
    y += 6 * (X[:, 2] == 1) * (X[:, 5] == 1) + 2 * (X[:, 3] > 0) * (X[:, 4] > 0)
    X[rng.random(X.shape) < 0.05] = np.nan
    seen: dict[str, list[int]] = {"listed": [], "tested": []}
    may_reach, significant = NumberTables.may_reach, NumberSurvivors.significant

    def listed(self, log_p, tuples, *more, **by):
        seen["listed"].append(len(tuples))
        return may_reach(self, log_p, tuples, *more, **by)

    def tested(self, tuples, d):
        seen["tested"].append(len(tuples))
        return significant(self, tuples, d)

    everything = interplay.interactions(X, y, missing="omit", max_p=1.0, coding="levels", **options)
    monkeypatch.setattr(NumberTables, "may_reach", listed)
    monkeypatch.setattr(NumberSurvivors, "significant", tested)
    for max_p in (0.05, 0.01, 1e-4):
        found = interplay.interactions(X, y, missing="omit", max_p=max_p, coding="levels", **options)
        expected = everything.tested.chosen(everything.tested.p_value <= max_p)
        assert found.tested.tuples.tolist() == expected.tuples.tolist()
    assert 0 < sum(seen["tested"]) < sum(seen["listed"]) / 2


def test_missing_values_are_left_out_of_tests():
    rng = np.random.default_rng(3)
    X, y = genotypes(rng, 300, 8), rng.exponential(size=300)
    y += 3 * (X[:, 2] == 1) * (X[:, 5] == 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    everything = interplay.interactions(X, y, missing="omit", max_p=1.0, coding="levels")
    z = scores(y)
    for row, members in enumerate(everything.tested.tuples.tolist()):
        known = ~np.isnan(X[:, members]).any(axis=1)
        plain = reference.number_interaction([X[known, v].astype(int).tolist() for v in members], z[known].tolist())
        assert everything.tested.n_samples[row] == known.sum()
        assert everything.tested.statistic[row] == pytest.approx(plain[0], rel=1e-8)
    for max_p in (0.1, 0.001):
        found = interplay.interactions(X, y, missing="omit", max_p=max_p, coding="levels")
        assert len(found) == (everything.tested.p_value <= max_p).sum()
    assert everything.significant == [("x2", "x5")]
    assert everything.counts_of(0).counts.sum() == everything.tested.n_samples[0]


def test_columns_of_the_table():
    X, y = problem()
    found = interplay.interactions(X, pd.Series(y, name="yield"), top=4, coding="levels")
    table = found.table
    assert list(table.columns) == [
        "members", "f", "df", "df_residual", "p_value", "p_adjusted", "p_smooth",
        "p_smooth_adjusted", "holds_smooth", "significant", "method", "p_robust",
        "holds_robust", "p_other_scale", "scales", "effect", "ci_low", "ci_high", "effect_sd", "residual", "cell",
        "n_samples", "gain_1", "gain_2", "alone_1", "alone_2", "effect_1", "effect_2",
    ]  # fmt: skip
    first = table.iloc[0]
    assert first["members"] == ("x4", "x7")
    assert (first["method"], first["df"], first["df_residual"]) == ("f", 1, 496)
    low, high = (X[:, v] > found.cuts_of(v).thresholds[0, 0] for v in (4, 7))
    means = [[y[(low == a) & (high == b)].mean() for b in (False, True)] for a in (False, True)]
    assert first["effect"] == pytest.approx(means[1][1] - means[1][0] - means[0][1] + means[0][0])
    assert first["effect_sd"] == pytest.approx(first["effect"] / y.std(ddof=1))
    assert first["ci_low"] < first["effect"] < first["ci_high"]
    assert first["holds_robust"]
    assert found.scale == "ranks"
    assert found.settings["decision"] == "number"
    again = interplay.interactions(X, pd.Series(y, name="yield"), **found.settings)
    pd.testing.assert_frame_equal(again.table, table)


def test_more_levels_name_the_cell_that_departs_most():
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, size=(400, 6))
    y = rng.normal(size=400) + 2.5 * ((X[:, 1] == 2) & (X[:, 4] == 0))
    first = interplay.interactions(X, y).table.iloc[0]
    assert first["cell"] == "x1 = 2, x4 = 0"
    assert first["residual"] > 5
    assert np.isnan(first["effect"])


def test_a_multiplied_effect_is_one_of_values_only():
    """Effects that multiply add up in logarithms, so that ranks show no interaction."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, size=(600, 6))
    y = np.exp(1.2 * X[:, 0] + 1.2 * X[:, 1] + 0.5 * rng.normal(size=600))
    assert interplay.interactions(X, y).significant == []
    found = interplay.interactions(X, y, scale="values")
    assert found.significant == [("x0", "x1")]
    assert found.table["scales"].tolist() == ["values only"]
    assert any("on values only" in note for note in found.notes())
    assert "values only" in found.summary()


def test_unequal_spread_is_told():
    """One rare cell with a large spread: F takes it as a difference of means where there is none, HC3 does not."""
    told = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = (rng.random((300, 2)) < 0.15).astype(int)
        spread = np.where(X.all(axis=1), 12.0, 1.0)
        y = spread * rng.normal(size=300)
        found = interplay.interactions(X, y, scale="values", p_adjust="none")
        assert not found.significant or found.table["holds_robust"][0]
        if len(found) and not found.significant:
            told += any("HC3" in note for note in found.notes()) and found.table["p_adjusted"][0] < 0.05
    assert told >= 10


def test_additive_effects_of_numbers_are_no_interaction():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(2000, 6))
    y = 2 * X[:, 0] + 2 * X[:, 1] + rng.normal(size=2000)
    assert interplay.interactions(X, y).significant == []


def test_triples():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 10))
    y = rng.normal(size=600) + 1.5 * ((X[:, 1] > 0) ^ (X[:, 4] > 0) ^ (X[:, 8] > 0))
    assert interplay.interactions(X, y, dimensions=3).significant == [("x1", "x4", "x8")]
    assert interplay.interactions(X, y, dimensions=2).significant == []


def test_shards_give_the_whole_list(tmp_path):
    X, y = problem()
    for options in ({}, {"top": 5}, {"max_p": 0.1}, {"discretizations": 3, "top": 4}, {"coding": "dosage", "top": 3}):
        whole = interplay.interactions(X, y, **options)
        files = []
        for number in (1, 2, 3):
            files.append(tmp_path / f"{number}.interplay")
            interplay.interactions(X, y, shard=(number, 3), **options).save(files[-1])
        merged = interplay.merge_interactions(files)
        pd.testing.assert_frame_equal(merged.table, whole.table, check_exact=True)


def test_results_of_files(tmp_path):
    X, y = problem()
    for options in ({"top": 3}, {"divisions": 2, "top": 3}, {"holdout": 0.4}):
        found = interplay.interactions(X, y, **options)
        found.save(tmp_path / "pairs.interplay")
        read = interplay.load(tmp_path / "pairs.interplay")
        assert read.tested.kind == "numbers"
        pd.testing.assert_frame_equal(read.table, found.table)
        assert read.summary() == found.summary()
        found.to_html(tmp_path / "pairs.html")
        page = (tmp_path / "pairs.html").read_text(encoding="utf-8")
        assert "difference of differences" in page or "largest residual" in page
        assert "tested by F" in page


def test_new_samples():
    X, y = problem(n=1000)
    found = interplay.interactions(X[:500], y[:500])
    again = found.replicate(X[500:], y[500:])
    assert again.significant == [("x4", "x7")]
    row = again.table.iloc[0]
    assert row["same_direction"]
    assert row["first_f"] == found.tested.statistic[0]
    # The same test as if the pair had been searched alone, at the thresholds of the first samples.
    low, high = (X[500:, v] > found.cuts_of(v).thresholds[0, 0] for v in (4, 7))
    plain = reference.number_interaction([low.tolist(), high.tolist()], scores(y[500:]).tolist())
    assert row["f"] == pytest.approx(plain[0], rel=1e-6)
    with pytest.raises(ValueError, match="numbers"):
        found.replicate(X[500:], np.where(y[500:] > 1, "a", "b"))


def test_held_out_samples():
    X, y = problem(n=900)
    found = interplay.interactions(X, y, holdout=0.3)
    assert found.significant == [("x4", "x7")]
    assert found.provenance["n_samples"] == 270
    assert found.provenance["outcome"]["quartiles"][2] == pytest.approx(np.median(y), rel=0.1)


def test_groups():
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(80), 4)
    X = np.repeat(rng.normal(size=(80, 6)), 4, axis=0)
    family = np.repeat(rng.normal(size=80), 4)
    y = family + rng.normal(size=320)
    assert interplay.interactions(X, y, groups=group, n_permutations=59).significant == []
    y = y + 3 * ((X[:, 1] > 0) ^ (X[:, 4] > 0))
    found = interplay.interactions(X, y, groups=group, n_permutations=59)
    assert found.significant == [("x1", "x4")]
    assert "p_robust" not in found.table
    assert np.isnan(found.table["ci_low"]).all()
    assert "permutations" in found.summary()


@pytest.mark.parametrize("coding", ["levels", "dosage"])
def test_covariates(coding):
    """The product of age and a gene acts through a column that follows from age."""
    rng = np.random.default_rng(9)
    n = 800
    age = rng.normal(size=n)
    X = rng.integers(0, 3, size=(n, 6)).astype(float)
    X[:, 3] = np.clip(np.round(1 + age + 0.1 * rng.normal(size=n)), 0, 2)
    y = rng.normal(size=n) + X[:, 1] * X[:, 4]
    found = interplay.interactions(X, y, covariates=age, coding=coding)
    assert found.significant == [("x1", "x4")]
    plain = interplay.interactions(X, y, coding=coding).table.iloc[0]
    row = found.table.iloc[0]
    # Age has no effect of its own: it takes five degrees of freedom, its products with two dosages take two.
    assert row["df_residual"] == plain["df_residual"] - (5 if coding == "levels" else 7)
    assert row["f"] == pytest.approx(plain["f"], rel=0.05)


def test_pictures(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = problem()
    for options in ({"top": 3}, {"top": 3, "divisions": 2}):
        found = interplay.interactions(X, y, **options)
        assert found.plot.effects().get_xlabel()
        assert "F = " in found.plot.why(0).get_title()
        assert "larger F" in found.plot.network().get_title()


def test_graph():
    pytest.importorskip("networkx")
    X, y = problem()
    found = interplay.interactions(X, y)
    edge = found.graph().edges["x4", "x7"]
    assert edge["weight"] == found.tested.statistic[0]
    assert edge["effect"] == found.tested.estimate[0]


def test_tuples_of_a_selection():
    X, y = problem()
    selection = interplay.select(X, y, dimensions=2, random_state=0)
    found = selection.interactions()
    assert ("x4", "x7") in found.significant
    assert found.n_tests == 66
    verdicts = selection.table.set_index("variable")["verdict"]
    assert verdicts[["x4", "x7"]].tolist() == ["interaction"] * 2
    assert verdicts[["x0", "x1"]].tolist() == ["additive"] * 2
    synergies = selection.synergies(top=1).set_index("variable")
    assert synergies.loc["x4", "effect"] == pytest.approx(found.tested.estimate[0])
    assert selection.replicate(X, y).interactions.significant == [("x4", "x7")]


def test_dosages_are_products_of_statsmodels():
    import statsmodels.formula.api as smf

    rng = np.random.default_rng(10)
    X = genotypes(rng, 250, 7)
    y = np.exp(0.5 * X[:, 1] * X[:, 4] + rng.normal(size=250))
    found = interplay.interactions(X, y, coding="dosage", scale="values", max_p=1.0)
    for row, (i, j) in enumerate(found.tested.tuples.tolist()):
        frame = pd.DataFrame({"a": X[:, i], "b": X[:, j], "y": y})
        fit = smf.ols("y ~ a * b", frame).fit()
        assert found.tested.estimate[row] == pytest.approx(fit.params["a:b"], rel=1e-7)
        assert found.tested.p_value[row] == pytest.approx(fit.pvalues["a:b"], rel=1e-7)
    assert found.tested.df.tolist() == [1] * 21
    assert "coefficient of the product" in found.plot.effects().get_xlabel()


@pytest.mark.parametrize("options", [{}, {"missing": "omit"}, {"strata": np.arange(300) % 2}, {"divisions": 2}])
def test_the_screen_of_products_loses_no_pair(options):
    rng = np.random.default_rng(11)
    X, y = genotypes(rng, 300, 20), rng.exponential(size=300)
    X[:, 5] = np.where(rng.random(300) < 0.9, X[:, 4], X[:, 5])  # linkage
    X[:, 7] = X[:, 6]
    y += X[:, 1] * X[:, 2]
    if "missing" in options:
        X[rng.random(X.shape) < 0.05] = np.nan
    if "divisions" in options:
        X = rng.normal(size=X.shape)
    everything = interplay.interactions(X, y, coding="dosage", max_p=1.0, **options)
    assert len(everything) == 190
    for max_p in (0.3, 0.01, 1e-4):
        found = interplay.interactions(X, y, coding="dosage", max_p=max_p, **options)
        assert len(found) == (everything.tested.p_value <= max_p).sum()


@pytest.mark.parametrize("seed", range(6))
def test_the_screen_of_products_loses_no_pair_of_curved_variables(seed):
    """Random tables: effects of dominance beside products, gaps, strata, unequal steps between levels."""
    rng = np.random.default_rng([35, seed])
    n, p = int(rng.integers(200, 900)), 14
    X = genotypes(rng, n, p)
    y = rng.normal(size=n) + rng.choice([0.5, 1, 3]) * (X[:, 1] == 1) - (X[:, 2] == 1) + 0.3 * X[:, 3] * X[:, 4]
    X[:, 5] = np.where(rng.random(n) < 0.9, X[:, 1], X[:, 5])
    X[:, 7] = X[:, 6]
    options: dict = {"scale": str(rng.choice(["ranks", "values"])), "coding": "dosage", "n_jobs": 1}
    if seed % 3 == 1:
        X[rng.random(X.shape) < rng.choice([0.01, 0.1])] = np.nan
        options["missing"] = "omit"
    if seed in (2, 4):
        options["strata"] = rng.integers(0, 3, size=n)
    if seed % 2:
        X = np.exp(X * rng.uniform(0, 2, size=p))
    everything = interplay.interactions(X, y, max_p=1.0, **options).tested
    assert len(everything) == p * (p - 1) // 2
    for max_p in (0.99, 0.2, 1e-3, 1e-6, 1e-12, float(rng.choice(everything.p_value))):
        found = interplay.interactions(X, y, max_p=max_p, **options).tested
        expected = everything.tuples[everything.p_value <= max_p]
        np.testing.assert_array_equal(found.tuples, expected[: len(found)])
        assert len(found) == len(expected)


def test_curved_variables_meet_all_others():
    """Of a variable whose levels leave nothing else to explain, the product stands for the curve."""
    rng = np.random.default_rng(36)
    X = genotypes(rng, 2000, 30)
    X[:, 9] = np.where(rng.random(2000) < 0.5, X[:, 3], X[:, 9])
    y = rng.normal(size=2000) + 2 * (X[:, 3] == 1)
    comparison = Comparison("all", as_table(X), number_outcome(y))
    coder = make_coder(comparison.table, divisions=1, discretizations=1, range_=0.0, seed=0)
    coded = CodedComparison(comparison, lambda: coder)
    screen = ProductScreen(coded.planes(0), LevelDosages.of(coded.coder, omit_missing=False), 20.0, has_stratum=False)
    assert 3 in screen.curved
    assert len(screen.curved) < 5
    assert 5 < screen.bar < 20
    pairs = np.concatenate(list(screen.of_curved()))
    assert [3, 9] in pairs.tolist()
    every = np.array(list(combinations(range(30), 2)))
    reaching = np.concatenate([pairs, screen.passing(every)])
    assert len(np.unique(reaching, axis=0)) == len(reaching) < len(every)
    parts = [np.concatenate([pairs[:0], *screen.of_curved(shard=Shard(i, 3))]) for i in (1, 2, 3)]
    assert sorted(np.concatenate(parts).tolist()) == sorted(pairs.tolist())
    asked = np.arange(30) == 9
    assert {9} <= set(np.concatenate(list(screen.of_curved(asked_for=asked))).ravel().tolist())
    assert all(9 in pair for part in screen.of_curved(asked_for=asked) for pair in part.tolist())
    assert not sum(len(part) for part in screen.of_curved(asked_for=asked, require="all"))
    found = interplay.interactions(X, y, coding="dosage", engine="cpu")
    assert ("x3", "x9") in found.significant
    assert ("x3", "x9") not in interplay.interactions(X, y, engine="cpu").significant


def test_dosages_that_are_none_are_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="needs variables of two levels"):
        interplay.interactions(X, y, coding="dosage", dimensions=3, divisions=2)
    assert len(interplay.interactions(X, y, coding="dosage", dimensions=3, top=2)) == 2


def test_few_samples_are_told():
    rng = np.random.default_rng(12)
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    with pytest.warns(UserWarning, match="cells of fewer than 5 samples"):
        interplay.interactions(X, y, divisions=2)
    with pytest.warns(UserWarning, match="cells of fewer than 5 samples"):
        found = interplay.interactions(X[:18], y[:18], top=3)
    assert found.table["method"].tolist() == ["sparse"] * 3
    assert found.table["p_value"].tolist() == [1.0] * 3


def test_cells_need_more_samples_where_most_have_one_value():
    rng = np.random.default_rng(13)
    X, y = (rng.random((400, 2)) < 0.15).astype(int), rng.exponential(size=400)
    n_both = int(X.all(axis=1).sum())
    assert 5 <= n_both < 13
    assert interplay.interactions(X, y, max_p=1.0).table["method"].tolist() == ["f"]
    zeros = np.where(rng.random(400) < 0.8, 0.0, y)
    assert interplay.interactions(X, zeros, max_p=1.0).table["method"].tolist() == ["sparse"]


def test_the_command_line(tmp_path):
    from click.testing import CliRunner

    from interplay.ask.cli.commands import commands

    X, y = problem()
    frame = pd.DataFrame(X, columns=[f"x{v}" for v in range(X.shape[1])]).assign(outcome=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    for options in (
        ["--coding", "levels"],
        ["--coding", "dosage"],
        ["--scale", "values", "--coding", "levels", "--top", "3"],
    ):
        out = tmp_path / "pairs.csv"
        arguments = ["interactions", str(tmp_path / "data.csv"), "--target", "outcome", "--out", str(out), *options]
        ran = CliRunner().invoke(commands, [*arguments, "--report", str(tmp_path / "pairs.html")])
        assert ran.exit_code == 0, ran.output
        written = pd.read_csv(out)
        assert "f" in written
        assert "x4" in written["members"][0]


def test_infinite_values_have_ranks():
    X, y = problem()
    y[y > np.quantile(y, 0.95)] = np.inf
    found = interplay.interactions(X, y)
    assert found.significant == [("x4", "x7")]
    assert np.isnan(found.table["effect"]).all()
    assert found.table["scales"].tolist() == [""]
    assert found.summary()


def test_an_outcome_that_is_cut_keeps_its_old_tests():
    X, y = problem()
    found = interplay.interactions(X, y, decision_divisions=1, top=2)
    assert "chi2" in found.table
    assert found.scale is None


def test_interrupted_tests_hand_over_tuples(monkeypatch):
    from interplay.search.engines.base import SearchInterrupted

    def stop(*_args, **_options):
        raise KeyboardInterrupt

    X, y = problem()
    monkeypatch.setattr("interplay.ask.interaction.coded_task.CodedTask.named", stop)
    with pytest.raises(SearchInterrupted) as caught:
        interplay.interactions(X, y)
    assert caught.value.partial.kind == "numbers"
