"""combine(): which tuples are combined, by what, and for how many tests they are adjusted."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import combine_pvalues, norm
from statsmodels.stats.meta_analysis import combine_effects

import interplay
from hostile.commands import run_command


def study(seed, n=400, p=8, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, p))
    y = X[:, 1] ^ X[:, 4] ^ (rng.random(n) < noise)
    return pd.DataFrame(X, columns=[f"g{v}" for v in range(p)]), np.where(y == 1, "ill", "well")


def found(seed, **settings):
    return interplay.interactions(*study(seed), **{"max_p": 1} | settings)


def test_effects_are_those_of_statsmodels():
    results = [found(seed) for seed in range(3)]
    both = interplay.combine(results, studies=["a", "b", "c"])
    assert both.significant == [("g1", "g4")]
    assert both.n_tests == 28
    row = both.table.iloc[0]
    of_studies = [one.table.set_index("members").loc[[("g1", "g4")]].iloc[0] for one in results]
    effects = np.array([one["log_or"] for one in of_studies])
    variances = np.array([((one["ci_high"] - one["ci_low"]) / 2 / 1.959963984540054) ** 2 for one in of_studies])
    theirs = combine_effects(effects, variances)
    fixed = theirs.summary_frame().loc["fixed effect"]
    assert row["log_or"] == pytest.approx(fixed["eff"])
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((fixed["ci_low"], fixed["ci_upp"]))
    assert row["p_heterogeneity"] == pytest.approx(theirs.test_homogeneity().pvalue)
    assert row["p_adjusted"] == pytest.approx(min(1.0, row["p_value"] * 28))
    assert [row[f"log_or_{place}"] for place in (1, 2, 3)] == pytest.approx(effects.tolist())
    assert both.table["method"].eq("effects").all()


def test_order_of_columns_and_of_studies_does_not_matter():
    results = [found(seed) for seed in range(2)]
    X, y = study(1)
    turned = interplay.interactions(X.iloc[:, ::-1], y, max_p=1)
    one, other = interplay.combine(results).table, interplay.combine([results[0], turned]).table
    pd.testing.assert_frame_equal(one, other)
    swapped = interplay.combine(results[::-1]).table
    pd.testing.assert_series_equal(one["p_value"], swapped["p_value"])


def test_several_levels_are_combined_by_p_values():
    rng = np.random.default_rng(5)
    results = []
    for _ in range(2):
        X = rng.integers(0, 3, (900, 4))
        y = ((X[:, 0] + X[:, 2]) % 3 == 0) ^ (rng.random(900) < 0.3)
        results.append(interplay.interactions(X, y, max_p=1, coding="levels"))
    both = interplay.combine(results)
    assert both.significant == [("x0", "x2")]
    assert both.table["method"].eq("p-values").all()
    assert both.table["log_or"].isna().all()
    plain = [one.table[one.table["method"] == "chi2"].set_index("members") for one in results]
    for row in both.table.itertuples():
        if all(row.members in one.index for one in plain):
            assert row.chi2 == pytest.approx(sum(one.loc[[row.members]].iloc[0]["chi2"] for one in plain), rel=1e-6)
            assert row.df == sum(one.loc[[row.members]].iloc[0]["df"] for one in plain)


def test_numbers_have_differences_of_differences():
    rng = np.random.default_rng(6)
    results = []
    for n in (300, 500):
        X = rng.integers(0, 2, (n, 4))
        results.append(interplay.interactions(X, X[:, 0] * X[:, 1] + rng.normal(size=n), max_p=1))
    both = interplay.combine(results)
    assert both.significant == [("x0", "x1")]
    assert both.table["effect"].iloc[0] == pytest.approx(1.0, abs=0.5)


def test_effects_of_one_way_are_averaged_and_pay_for_the_others():
    rng = np.random.default_rng(7)
    results = []
    for size in (0.6, 0.6):
        X = rng.normal(size=(400, 4))
        results.append(interplay.interactions(X, size * X[:, 0] * X[:, 1] + rng.normal(size=400), max_p=1))
    tables = [one.table.set_index("members") for one in results]
    for row in interplay.combine(results).table.itertuples():
        of_studies = [one.loc[[row.members]].iloc[0] for one in tables]
        ways = {one.found for one in of_studies}
        assert row.method == ("effects" if len(ways) == 1 and ways != {"shape"} else "p-values")
        assert row.status == ("combined" if len(ways) == 1 else "combined, levels or ways differ")
        if row.method == "effects":
            error = (row.ci_high - row.ci_low) / 2 / 1.959963984540054
            assert row.p_value == pytest.approx(min(1, 3 * 2 * norm.sf(abs(row.effect) / error)))
    assert interplay.combine(results).significant == [("x0", "x1")]


def test_tuples_that_a_study_does_not_list_are_marked():
    first, second = found(0), found(1, max_p=0.05)
    both = interplay.combine([first, second], studies=["first", "second"])
    listed = set(second.table["members"])
    table = both.table.set_index("members")
    assert len(table) == 28
    for members, row in table.iterrows():
        assert (row["status"] == "combined") == (members in listed)
        if members not in listed:
            assert row["status"] == "not listed in second"
            assert np.isnan(row["p_value"])
            assert not row["significant"]
    assert any("replicate()" in note for note in both.notes())
    # A test of the same tuples in the other table makes all of them comparable.
    again = interplay.combine([first, first.replicate(*study(1))])
    assert (again.table["status"] == "combined").all()
    assert again.n_tests == 28


def test_variables_that_a_study_does_not_have_are_combined_over_the_others():
    X, y = study(2)
    results = [found(0), found(1), interplay.interactions(X.drop(columns="g7"), y, max_p=1)]
    table = interplay.combine(results).table.set_index("members")
    assert table.loc[[("g0", "g7")]].iloc[0]["status"] == "combined without study 3"
    assert table.loc[[("g0", "g7")]].iloc[0]["n_studies"] == 2
    assert table.loc[[("g0", "g1")]].iloc[0]["n_studies"] == 3


def test_replications_are_adjusted_for_their_tuples_only():
    first = found(0, max_p=0.3)
    again = [first.replicate(*study(seed)) for seed in (1, 2)]
    both = interplay.combine(again)
    assert both.n_tests == len(first)
    assert not any("overestimated" in note for note in both.notes())
    with_search = interplay.combine([first, *again])
    assert with_search.n_tests == 28
    assert any("overestimated" in note for note in with_search.notes())


def test_different_effects_are_noted():
    X, y = study(1)
    other = interplay.interactions(X.assign(g1=1 - X["g1"]), y, max_p=1)
    both = interplay.combine([found(0), other], p_adjust="none", level=0.9)
    row = both.table.set_index("members").loc[[("g1", "g4")]].iloc[0]
    assert row["p_heterogeneity"] < 1e-6
    assert row["i2"] > 0.9


def test_levels_that_differ_are_combined_by_p_values():
    X, y = study(1)
    other = interplay.interactions(X.assign(g1=X["g1"] + 1), y, max_p=1)
    row = interplay.combine([found(0), other]).table.set_index("members").loc[[("g1", "g4")]].iloc[0]
    assert row["status"] == "combined, levels or ways differ"
    assert row["method"] == "p-values"


def test_selections_are_combined_by_fishers_method():
    results = [interplay.select(*study(seed), dimensions=2, random_state=1) for seed in range(3)]
    both = interplay.combine(results)
    assert set(both.significant) == {"g1", "g4"}
    table = both.table.set_index("variable")
    for name in table.index:
        p = [one.table.set_index("variable").loc[name, "p_value"] for one in results]
        assert table.loc[name, "p_value"] == pytest.approx(combine_pvalues(p).pvalue, rel=1e-9)
    assert both.n_tests == 8
    X, y = study(4)
    fewer = interplay.select(X[["g0", "g1"]], y, dimensions=2, random_state=1)
    assert interplay.combine([results[0], fewer]).table.set_index("variable").loc["g5", "status"] == "in one study only"


def test_effects_of_variables_are_averaged_on_their_scales(tmp_path):
    results = [interplay.select(*study(seed), dimensions=2, random_state=1) for seed in range(2)]
    ratios = [(2.0, 1.2, 3.3), (4.0, 2.2, 7.3)]
    for one, (effect, low, high) in zip(results, ratios, strict=True):
        is_g1 = one.table["variable"] == "g1"
        # As a selection with effects has them; g4 has one in the first study only.
        is_known = is_g1 | ((one.table["variable"] == "g4") & (effect == 2.0))
        one.__dict__["_table"] = one.table.assign(
            effect=np.where(is_known, effect, np.nan),
            effect_low=np.where(is_known, low, np.nan),
            effect_high=np.where(is_known, high, np.nan),
            effect_kind=np.where(is_known, "odds ratio", ""),
        )
    both = interplay.combine(results)
    row = both.table.set_index("variable").loc["g1"]
    errors = np.array([np.log(high / low) / 2 / 1.959963984540054 for _, low, high in ratios])
    theirs = combine_effects(np.log([effect for effect, _, _ in ratios]), errors**2)
    assert row["effect"] == pytest.approx(theirs.summary_frame().loc["fixed effect", "eff"])
    assert row["p_heterogeneity"] == pytest.approx(theirs.test_homogeneity().pvalue)
    assert row["effect_scale"] == "log odds ratio"
    assert both.table.set_index("variable")["effect"].drop("g1").isna().all()
    both.save(tmp_path / "both")
    pd.testing.assert_frame_equal(interplay.load(tmp_path / "both").table, both.table)


def test_saved_combinations_are_the_same(tmp_path):
    both = interplay.combine([found(0), found(1)])
    both.save(tmp_path / "both")
    again = interplay.load(tmp_path / "both")
    pd.testing.assert_frame_equal(both.table, again.table)
    assert both.summary() == again.summary() == repr(again)
    assert "<table" in again._repr_html_()


def test_command(tmp_path):
    for seed in range(2):
        found(seed).save(tmp_path / f"{seed}.i")
    done = run_command("combine", tmp_path / "0.i", tmp_path / "1.i", "--format", "csv")
    assert done.code == 0, done.err
    assert done.out.splitlines()[1].startswith("g1;g4,2,")
    done = run_command("combine", tmp_path / "0.i")
    assert done.code == 2
    assert "at least two results" in done.err
