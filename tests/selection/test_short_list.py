"""Groups of redundant variables and the short list: against MANOVA, on tables of known truth, in all ways in."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import interplay
from interplay.infer.short_list import Unit, choose_short_list, pillai_log_p


def _orthonormal(columns):
    return np.linalg.qr(columns - columns.mean(axis=0))[0].T


def test_pillai_is_that_of_statsmodels():
    from statsmodels.multivariate.manova import MANOVA

    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = 0.3 * x[:, :2] + rng.normal(size=(60, 2))
    other = MANOVA(y, np.column_stack([np.ones(60), x])).mv_test([("x", np.eye(4)[1:])])
    expected = other.results["x"]["stat"].loc["Pillai's trace", "Pr > F"]
    assert np.exp(pillai_log_p(_orthonormal(y) @ _orthonormal(x).T, 59)) == pytest.approx(float(expected))


def test_one_column_is_the_test_of_a_correlation():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 40))
    products = _orthonormal(y[:, None]) @ _orthonormal(x[:, None]).T
    assert np.exp(pillai_log_p(products, 39)) == pytest.approx(stats.pearsonr(x, y).pvalue)


def test_given_others_is_the_f_test_of_a_regression():
    import statsmodels.api as sm

    rng = np.random.default_rng(2)
    a, b, c = rng.normal(size=(3, 120))
    y = a + 0.4 * b + rng.normal(size=120)
    units = [Unit((v,), column[None]) for v, column in enumerate((a, b, c))]
    found = choose_short_list(units, [], y[None], level=0.05)
    fit = sm.OLS(y, sm.add_constant(np.column_stack([each.unit.columns[0] for each in found]))).fit()
    assert [each.unit.members for each in found] == [(0,), (1,)]
    assert np.exp([each.log_p for each in found]) == pytest.approx(fit.pvalues[1:])


def _signs(*columns):
    return (np.prod(columns, axis=0) > 0).astype(float)[np.newaxis]


def test_a_tuple_of_copies_is_tested_given_the_tuple_of_chosen_variables():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400))
    copy = b + 0.5 * rng.normal(size=400)
    y = (a + b + 2 * _signs(a, b)[0] + rng.normal(size=400))[None]
    singles = [Unit((0,), a[None]), Unit((1,), b[None])]
    tuples = [Unit((0, 2), _signs(a, copy))]
    asked = []

    def beside(members, chosen):
        asked.append((members, sorted(chosen)))
        return np.vstack([a, copy, _signs(a, b)])

    assert (0, 2) in [each.unit.members for each in choose_short_list(singles, tuples, y, level=0.05)]
    found = choose_short_list(singles, tuples, y, level=0.05, beside=beside)
    assert sorted(each.unit.members for each in found) == [(0,), (1,)]
    assert asked == [((0, 2), [0, 1])]


def test_p_values_of_tuples_are_multiplied_by_the_number_of_all_tuples():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(12, 300))
    pair = Unit((0, 1), _signs(*columns[:2]))
    y = 0.1 * pair.columns + 0.5 * rng.normal(size=(1, 300))
    p = stats.pearsonr(pair.columns[0], y[0]).pvalue
    for n_singles in (2, 12):
        singles = [Unit((v,), columns[v][None]) for v in range(n_singles)]
        found = choose_short_list(singles, [pair], y, level=0.05)
        assert ((0, 1) in [each.unit.members for each in found]) == (p * n_singles * (n_singles - 1) / 2 < 0.025)
    assert 0.025 / 66 < p < 0.025


def test_a_member_of_a_listed_tuple_stays():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 300))
    y = (a + 2 * _signs(a, b)[0] + rng.normal(size=300))[None]
    pair = Unit((0, 1), _signs(a, b), further=np.vstack([a, b]))
    found = choose_short_list([Unit((0,), a[None]), Unit((1,), b[None])], [pair], y, level=0.05)
    assert [each.unit.members for each in found] == [(0,), (0, 1)]


@pytest.fixture(scope="module")
def chain():
    """cause drives copies of itself; only cause, other and the pair of left and right matter."""
    rng = np.random.default_rng(3)
    n = 800
    cause, other, left, right = rng.normal(size=(4, n))
    copies = {f"copy{i}": cause + 0.4 * rng.normal(size=n) for i in range(4)}
    distant = cause + 1.5 * rng.normal(size=n)
    noise = {f"noise{i}": rng.normal(size=n) for i in range(12)}
    colour = np.where(rng.random(n) < 0.5, rng.choice(["red", "green", "blue"], n), np.where(other > 0, "red", "blue"))
    X = pd.DataFrame(
        {"cause": cause, "other": other, "left": left, "right": right, **copies, "distant": distant, "colour": colour}
        | noise
    )
    y = 1.0 * cause + 0.8 * other + 1.2 * np.sign(left * right) + rng.normal(size=n)
    return X, y


@pytest.fixture(scope="module")
def found(chain):
    return interplay.select(*chain, random_state=0)


def test_short_list_has_each_cause_once(found):
    assert set(found.short_list) == {"cause", "other", "left", "right"}
    assert {"copy0", "copy1", "copy2", "copy3", "distant"} <= set(found.relevant)


def test_copies_are_in_one_group_with_their_cause_first(found, chain):
    groups = {group[0]: group for group in found.redundant_groups}
    assert set(groups["cause"]) == {"cause", "copy0", "copy1", "copy2", "copy3"}
    assert sum(map(len, groups.values())) == len(found.relevant)
    table = found.table.set_index("variable")
    assert table.loc["copy2", "representative"] == "cause"
    assert table.loc["cause", "short_list"]
    assert not table.loc["copy2", "short_list"]
    rho = abs(stats.spearmanr(chain[0]["cause"], chain[0]["copy2"]).statistic)
    place = found.relevant.index("copy2")
    assert found.shortened.association[place] == pytest.approx(rho)
    assert rho >= 0.8


def test_threshold_decides_the_groups(chain):
    strict = interplay.select(*chain, random_state=0, redundancy=0.999)
    assert all(len(group) == 1 for group in strict.redundant_groups)
    assert strict.settings["redundancy"] == 0.999
    assert set(strict.short_list) >= {"cause", "other", "left", "right"}


def test_words_name_the_list(found):
    assert "Short list, each relevant given the others: " in found.summary()
    assert "groups of redundant variables (association of 0.8 or more)" in found.summary()


def test_classes_and_times_and_strata(chain):
    X, y = chain
    rng = np.random.default_rng(0)
    classes = interplay.select(X, np.digitize(y, np.quantile(y, [0.33, 0.67])).astype(str), random_state=0)
    assert {"cause", "other"} <= set(classes.short_list)
    assert not any(name.startswith("copy") for name in classes.short_list)
    times = interplay.select(X, (rng.exponential(np.exp(-y)), rng.random(len(y)) < 0.8), random_state=0)
    assert {"cause", "other"} <= set(times.short_list) <= set(times.relevant)
    within = interplay.select(X, y, strata=X["colour"], random_state=0, dimensions=(1, 2))
    assert {"cause", "other"} <= set(within.short_list)


def test_covariates_are_given(chain):
    X, y = chain
    result = interplay.select(X.drop(columns="cause"), y, covariates=X["cause"], random_state=0, dimensions=(1, 2))
    assert not any(name.startswith(("copy", "distant")) for name in result.short_list)
    assert "other" in result.short_list


@pytest.mark.parametrize("seed", [1, 3])
def test_an_interaction_of_a_covariate_does_not_list_its_copy(seed):
    """The middle one of three classes lies on a ridge of cause and age: on the scale of classes these interact."""
    rng = np.random.default_rng(seed)
    cause, age = rng.normal(size=(2, 800))
    X = pd.DataFrame({"cause": cause, "copy of age": age + 0.5 * rng.normal(size=800)})
    X[["noise0", "noise1", "noise2", "noise3"]] = rng.normal(size=(800, 4))
    y = np.digitize(cause + age + 0.3 * rng.normal(size=800), (-0.7, 0.7))
    result = interplay.select(X, y, covariates=age, random_state=0, dimensions=(1, 2))
    assert "copy of age" in result.relevant
    assert result.short_list == ["cause"]


def test_members_are_replaced_by_the_most_similar_chosen_variables(found, chain):
    from interplay.ask.selection.short_list import UnitColumns
    from interplay.data.study.table import as_table

    X = chain[0]
    covariate = X["right"].to_numpy() + 0.1 * np.random.default_rng(0).normal(size=len(X))
    columns = UnitColumns(found, as_table(X), covariate[np.newaxis])
    v = {name: place for place, name in enumerate(X)}

    def has_cell(rows, one, other):
        """Is the cell of both lowest quarters a sum of the columns?"""
        cell = (one <= np.quantile(one, 0.25)) & (other <= np.quantile(other, 0.25))
        design = np.column_stack([np.ones(len(X)), rows.T])
        return np.allclose(design @ np.linalg.lstsq(design, cell.astype(float), rcond=None)[0], cell, atol=1e-6)

    rows = columns.beside((v["left"], v["distant"]), [v["left"], v["cause"], v["other"]])
    assert has_cell(rows, X["left"].to_numpy(), X["cause"].to_numpy())
    rows = columns.beside((v["copy1"], v["right"]), [v["cause"], v["other"]])
    assert has_cell(rows, X["cause"].to_numpy(), covariate)
    assert not has_cell(rows, X["cause"].to_numpy(), X["other"].to_numpy())
    # Both are most similar to the same chosen variable: only their own columns are left.
    assert len(columns.beside((v["copy1"], v["copy2"]), [v["cause"], v["other"]])) == 2


@pytest.mark.filterwarnings("ignore:.*permutations.*")
def test_groups_of_samples_have_no_short_list():
    rng = np.random.default_rng(0)
    donors = np.repeat(np.arange(40), 5)
    ill = donors % 2
    X = rng.normal(size=(200, 6))
    X[:, 0] += 2 * ill
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=200)
    result = interplay.select(X, ill, groups=donors, dimensions=1, random_state=0)
    assert result.redundant_groups == [["x0", "x1"]] or result.redundant_groups == [["x1", "x0"]]
    assert result.short_list == []
    assert "There is no short list: samples belong to groups" in result.summary()
    assert result.table.loc[0, "effect_low"] > 0.5


def test_a_short_list_of_noise_is_empty_and_of_one_is_itself():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    assert interplay.select(X, rng.integers(0, 2, 200), random_state=0).short_list == []
    assert interplay.select(X, X[:, 4] > 0, random_state=0).short_list == ["x4"]


def test_selector_keeps_the_short_list(chain):
    X, y = chain
    selector = interplay.MDFSSelector(random_state=0, short_list=True).fit(X, y)
    assert set(selector.get_feature_names_out()) == {"cause", "other", "left", "right"}
    assert "not in the short list" in selector.left_out_["copy1"]
    two = interplay.MDFSSelector(random_state=0, short_list=True, max_features=2).fit(X, y)
    assert two.get_feature_names_out().tolist() == [name for name in X if name in two.result_.short_list[:2]]
    assert interplay.MDFSSelector(random_state=0, redundancy=0.95).fit(X, y).result_.settings["redundancy"] == 0.95


def test_the_command_line_has_the_list_and_the_threshold(chain, tmp_path):
    import subprocess
    import sys

    X, y = chain
    X.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    call = [sys.executable, "-m", "interplay", "run", str(tmp_path / "data.csv"), "--target", "y", "--seed", "0"]
    call += ["--redundancy", "0.9", "--out", str(tmp_path / "out.csv"), "-q"]
    subprocess.run(call, check=True)
    table = pd.read_csv(tmp_path / "out.csv").set_index("variable")
    assert table.loc["cause", "short_list"]
    assert table.loc["cause", "direction"] == "rises with y"
    assert table.loc["cause", "effect_kind"] == "Spearman's rho"
    assert table.loc["cause", "representative"] == "cause"


def test_saved_and_loaded(found, tmp_path):
    found.save(tmp_path / "a")
    again = interplay.load(tmp_path / "a")
    assert again.short_list == found.short_list
    assert again.redundant_groups == found.redundant_groups
