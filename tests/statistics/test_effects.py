"""Sizes of effects against scipy, statsmodels and plain loops; directions in words; intervals over groups."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from interplay.infer.effects.estimate import (
    AUC,
    CLIFF,
    HAZARD_RATIO,
    HAZARD_RATIO_PER_SD,
    MEAN_DIFFERENCE,
    RHO,
    auc,
    correlation_given,
    grouped_interval,
    mean_difference,
    odds_ratio,
    spearman,
)
from interplay.infer.effects.measured import Values, make_target, measure


def _two_groups(seed, n=80, shift=0.7):
    rng = np.random.default_rng(seed)
    is_case = rng.random(n) < 0.4
    values = rng.normal(size=n) + shift * is_case
    return np.round(values, 1), is_case  # with ties


def _delong_by_pairs(values, is_case):
    """Area and variance by comparing every case with every control."""
    cases, controls = values[is_case], values[~is_case]
    wins = (cases[:, None] > controls) + 0.5 * (cases[:, None] == controls)
    return wins.mean(), wins.mean(axis=1).var(ddof=1) / len(cases) + wins.mean(axis=0).var(ddof=1) / len(controls)


@pytest.mark.parametrize("seed", range(4))
def test_auc_is_that_of_all_pairs_of_mann_whitney_and_of_statsmodels(seed):
    from statsmodels.stats.nonparametric import rank_compare_2indep

    values, is_case = _two_groups(seed)
    found = auc(values, is_case)
    area, variance = _delong_by_pairs(values, is_case)
    u = stats.mannwhitneyu(values[is_case], values[~is_case]).statistic
    assert found.value == pytest.approx(area)
    assert found.value == pytest.approx(u / (is_case.sum() * (~is_case).sum()))
    # Brunner and Munzel's variance is DeLong's.
    other = rank_compare_2indep(values[is_case], values[~is_case], use_t=False)
    assert other.prob1 == pytest.approx(area)
    assert other.var_prob == pytest.approx(variance)
    logit, error = math.log(area / (1 - area)), math.sqrt(variance) / (area * (1 - area))
    expected = [1 / (1 + math.exp(-(logit + z * error))) for z in stats.norm.ppf([0.025, 0.975])]
    assert [found.low, found.high] == pytest.approx(expected)


def test_classes_that_do_not_overlap_have_an_interval():
    values, is_case = np.arange(20.0), np.arange(20) >= 10
    found = auc(values, is_case)
    assert found.value == 1.0
    assert found.high == 1.0
    assert 0.7 < found.low < 0.95
    mirrored = auc(-values, is_case)
    assert mirrored.value == mirrored.low == 0.0
    assert mirrored.high == pytest.approx(1 - found.low)


def test_newcombe_solves_its_equation():
    found = auc(np.arange(30.0), np.arange(30) >= 18)
    area, mean = found.low, 15.0
    variance = area * (1 - area) * (1 + (mean - 1) * ((1 - area) / (2 - area) + area / (1 + area))) / (12 * 18)
    assert 1 - area == pytest.approx(stats.norm.ppf(0.975) * math.sqrt(variance), rel=1e-6)


def test_intervals_of_auc_and_rho_cover():
    rng = np.random.default_rng(5)
    truth_auc, covered, covered_rho = stats.norm.cdf(0.7 / math.sqrt(2)), 0, 0
    truth_rho = 6 / math.pi * math.asin(0.5 / 2)  # of normal numbers with a correlation of 0.5
    for _ in range(400):
        case = np.arange(60) < 30
        found = auc(rng.normal(size=60) + 0.7 * case, case)
        covered += found.low <= truth_auc <= found.high
        x = rng.normal(size=60)
        of_ranks = spearman(x, 0.5 * x + math.sqrt(0.75) * rng.normal(size=60))
        covered_rho += of_ranks.low <= truth_rho <= of_ranks.high
    assert 0.92 <= covered / 400 <= 0.98
    assert 0.92 <= covered_rho / 400 <= 0.98


def test_auc_within_strata_is_not_the_difference_between_strata():
    rng = np.random.default_rng(0)
    strata = np.repeat([0, 1], 200)
    is_case = rng.random(400) < np.where(strata == 1, 0.8, 0.2)
    values = rng.normal(size=400) + 2 * strata  # values differ between strata alone
    assert auc(values, is_case).low > 0.6
    within = auc(values, is_case, strata)
    assert within.low < 0.5 < within.high
    parts = [_delong_by_pairs(values[strata == s], is_case[strata == s]) for s in (0, 1)]
    n = [(is_case[strata == s].sum() * (~is_case[strata == s]).sum()) / 200 for s in (0, 1)]
    assert within.value == pytest.approx(np.average([area for area, _ in parts], weights=n))


def test_odds_ratio_is_that_of_statsmodels():
    from statsmodels.stats.contingency_tables import StratifiedTable, Table2x2

    rng = np.random.default_rng(2)
    level, case, strata = rng.random(300) < 0.4, rng.random(300) < 0.5, rng.integers(0, 3, 300)
    case |= level & (rng.random(300) < 0.3)

    def table(rows):
        return np.array([[(rows & (level == a) & (case == b)).sum() for b in (True, False)] for a in (True, False)])

    found, other = odds_ratio(level, case), Table2x2(table(np.full(300, True)))
    assert found.value == pytest.approx(other.oddsratio)
    assert [found.low, found.high] == pytest.approx(other.oddsratio_confint())
    within, other = odds_ratio(level, case, strata), StratifiedTable([table(strata == s) for s in range(3)])
    assert within.value == pytest.approx(other.oddsratio_pooled)
    assert [within.low, within.high] == pytest.approx(other.oddsratio_pooled_confint())


def test_empty_cells_have_an_odds_ratio():
    level, case = np.repeat([True, False], 10), np.repeat([True, False], 10)
    found = odds_ratio(level, case)
    assert found.value == pytest.approx((10.5 / 0.5) ** 2)
    assert found.low > 1
    assert math.isfinite(found.high)


def test_spearman_and_welch_are_those_of_scipy():
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=70), 1)
    y = 0.5 * x + rng.normal(size=70)
    found = spearman(x, y)
    assert found.value == pytest.approx(stats.spearmanr(x, y).statistic)
    error = math.sqrt((1 + found.value**2 / 2) / 67)
    assert [found.low, found.high] == pytest.approx(
        np.tanh(np.arctanh(found.value) + error * stats.norm.ppf([0.025, 0.975]))
    )
    upper = x > 0
    difference, other = mean_difference(upper, y), stats.ttest_ind(y[upper], y[~upper], equal_var=False)
    interval = other.confidence_interval()
    assert [difference.low, difference.high] == pytest.approx([interval.low, interval.high])
    assert difference.value == pytest.approx(y[upper].mean() - y[~upper].mean())


def test_correlation_given_others_is_that_of_regressions():
    rng = np.random.default_rng(4)
    others = rng.normal(size=(3, 200))
    x = others.sum(axis=0) + rng.normal(size=200)
    y = others[0] - 0.5 * x + rng.normal(size=200)
    design = np.column_stack([np.ones(200), *others])
    left = [each - design @ np.linalg.lstsq(design, each, rcond=None)[0] for each in (x, y)]
    found = correlation_given(x, others, y)
    assert found.value == pytest.approx(np.corrcoef(left)[0, 1])
    assert found.high < 0


def test_jackknife_over_groups_is_wider_where_groups_resemble_each_other():
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(20), 20)
    of_group = rng.normal(size=20)
    case = groups % 2 == 0
    values = of_group[groups] + 0.1 * rng.normal(size=400)
    plain = auc(values, case)
    grouped = grouped_interval(lambda rows: auc(values[rows], case[rows]).value, groups, "logit")
    assert grouped.value == pytest.approx(plain.value)
    assert grouped.high - grouped.low > 2 * (plain.high - plain.low)


def _numbers(values):
    return Values(values, [], np.empty(0, dtype=np.int64), is_ordered=True)


def _levels(codes, names, *, is_ordered=False):
    return Values(codes.astype(float), names, codes, is_ordered)


def test_direction_of_numbers_with_classes():
    values, is_case = _two_groups(0, n=300, shift=1.0)
    target = make_target("status", codes=is_case.astype(np.int64), labels=("well", "ill"))
    found = measure(_numbers(values), target)
    assert found.direction == "higher with ill"
    assert [each.kind for each in found.effects] == [AUC, CLIFF]
    assert found.effects[1].size.value == pytest.approx(2 * found.effects[0].size.value - 1)
    assert measure(_numbers(-values), target).direction == "lower with ill"
    flags = make_target("dead", codes=is_case.astype(np.int64), labels=("0", "1"))
    assert measure(_numbers(values), flags).direction == "higher with dead = 1"


def test_direction_of_several_classes_is_that_of_the_class_that_differs_most():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 60)
    found = measure(
        _numbers(rng.normal(size=180) - 2 * (codes == 1)), make_target("", codes=codes, labels=("a", "b", "c"))
    )
    assert found.direction == "lower with b"
    assert [each.about for each in found.effects] == [f"{label} against the rest" for label in "bac"]
    assert found.effects[0].size.value < 0.2


def test_direction_of_levels():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 600)
    ill = rng.random(600) < np.array([0.2, 0.7, 0.3])[codes]
    classes = make_target("", codes=ill.astype(np.int64), labels=("well", "ill"))
    found = measure(_levels(codes, ["red", "green", "blue"]), classes)
    assert found.direction == "ill more often in green"
    assert found.effects[0].about == "green against blue"
    assert found.effects[0].size.low > 1
    two = measure(_levels(codes[codes < 2], ["red", "green"]), classes.of_samples(np.flatnonzero(codes < 2)))
    assert two.direction == "ill more often in green"
    numbers = make_target("price", numbers=ill + rng.normal(size=600) * 0.1)
    assert measure(_levels(codes, ["red", "green", "blue"]), numbers).direction == "price higher in green"
    ordered = measure(_levels(codes, ["0", "1", "2"], is_ordered=True), classes)
    assert ordered.direction == "ill more often in 1, no trend"  # no trend, but a level that differs


def test_a_level_of_one_sample_is_not_the_highest():
    codes = np.array([0] * 50 + [1] * 50 + [2])
    ill = np.array([0] * 40 + [1] * 10 + [0] * 15 + [1] * 35 + [1])
    found = measure(_levels(codes, ["a", "b", "rare"]), make_target("", codes=ill, labels=("well", "ill")))
    assert found.direction == "ill more often in b"


def test_direction_of_numbers_with_numbers():
    rng = np.random.default_rng(2)
    x = rng.normal(size=200)
    found = measure(_numbers(x), make_target("price", numbers=-x + rng.normal(size=200)))
    assert found.direction == "falls with price"
    assert [each.kind for each in found.effects] == [RHO, MEAN_DIFFERENCE]
    shaped = measure(_numbers(x), make_target("price", numbers=x**2 + rng.normal(size=200)), is_u_shaped=True)
    assert shaped.direction == "U-shaped: price higher at extremes"
    assert shaped.effects[0].size.low > 0


def test_hazard_ratio_is_that_of_statsmodels():
    from statsmodels.duration.hazard_regression import PHReg

    rng = np.random.default_rng(3)
    x, flag = rng.normal(size=250), rng.integers(0, 2, 250)
    time = np.round(rng.exponential(np.exp(-0.7 * x - 0.5 * flag)), 2) + 0.01  # with ties
    event = rng.random(250) < 0.7
    target = make_target("days", time=time, event=event)
    found = measure(_numbers(x), target)
    assert found.direction == "higher risk where higher"
    assert found.effects[0].kind == HAZARD_RATIO_PER_SD
    scores = stats.norm.ppf((stats.rankdata(x) - 0.5) / 250)
    other = PHReg(time, (scores / scores.std())[:, None], status=event, ties="efron").fit()
    assert found.effects[0].size == pytest.approx(_of_t(other, 0, event.sum()), rel=1e-4)
    levels = measure(_levels(flag, ["no", "yes"]), target)
    assert levels.direction == "higher risk in yes"
    assert levels.effects[0].kind == HAZARD_RATIO
    other = PHReg(time, flag[:, None].astype(float), status=event, ties="efron").fit()
    assert levels.effects[0].size == pytest.approx(_of_t(other, 0, event.sum()), rel=1e-4)


def _of_t(fit, place, n_events, confidence=0.95):
    """Return hazard ratio and interval of a model of statsmodels, with the t of the events less 2."""
    quantile = stats.t.ppf((1 + confidence) / 2, n_events - 2)
    return np.exp(fit.params[place] + np.array([0, -1, 1]) * quantile * fit.bse[place])


def test_select_tells_direction_and_size():
    import interplay

    rng = np.random.default_rng(1)
    n = 500
    a, b, c, d = rng.normal(size=(4, n))
    colour = rng.choice(["red", "green", "blue"], n)
    logit = 1.2 * a - 1.2 * (colour == "red") + 2.4 * ((c > 0) ^ (d > 0)) - 1.2
    ill = np.where(rng.random(n) < 1 / (1 + np.exp(-logit)), "ill", "well")
    X = pd.DataFrame({"a": a, "noise": b, "c": c, "d": d, "colour": colour})
    result = interplay.select(X, pd.Series(ill, name="status"), random_state=0)
    rows = result.table.set_index("variable")
    assert rows.loc["a", "direction"] == "lower with well"
    assert rows.loc["c", "direction"] == "depends on d"
    assert rows.loc["colour", "direction"] == "well more often if colour = red"
    assert rows.loc["noise", "direction"] == ""
    assert np.isnan(rows.loc["noise", "effect"])
    u = stats.mannwhitneyu(a[ill == "well"], a[ill == "ill"]).statistic
    assert rows.loc["a", "effect"] == pytest.approx(u / ((ill == "well").sum() * (ill == "ill").sum()))
    assert set(result.effect_table["variable"]) == set(result.relevant)
    assert list(result.effect_table["variable"].unique()) == result.relevant


def test_a_variable_found_given_others_has_its_direction_given_these():
    """A suppressor: by itself it shows nothing, given another it falls."""
    import interplay

    rng = np.random.default_rng(0)
    n = 800
    x, s = rng.normal(size=(2, n))
    X = np.column_stack([x + s, s, rng.normal(size=(n, 8))])
    result = interplay.select(X, x + 0.8 * rng.normal(size=n), random_state=0)
    row = result.table.iloc[1]
    assert row["found"] == "given others"
    assert row["direction"] == "falls with the outcome, given others"
    assert row["effect_high"] < 0
    assert abs(stats.spearmanr(s, x).statistic) < 0.1


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_effects_given_covariates_are_those_of_the_outcome(kind):
    """Residuals, which are searched, have neither classes nor a unit; effects are those without covariates."""
    import interplay

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "s": rng.choice(["m", "f"], 300), "age": rng.normal(size=300)})
    y = 100 + 10 * (X["a"] + X["age"] + 2 * (X["s"] == "m")) + rng.normal(size=300)
    if kind == "classes":
        y = pd.Series(np.where(y > 110, "well", "ill"), name="status")
    plain = interplay.select(X, y, dimensions=1, random_state=0).effect_table
    given = interplay.select(X, y, covariates="age", dimensions=1, random_state=0).effect_table
    of = {
        name: table[table["variable"] != "age"].sort_values(["variable", "effect_kind"])
        for name, table in (("plain", plain), ("given", given))
    }
    assert set(of["given"]["variable"]) == {"a", "s"}
    pd.testing.assert_frame_equal(of["given"].reset_index(drop=True), of["plain"].reset_index(drop=True))


def test_effects_survive_a_file(tmp_path):
    import interplay

    X, y, _ = interplay.datasets.make_madelon(n_samples=300, n_vars=30, random_state=1)
    result = interplay.select(X, y, random_state=0)
    result.save(tmp_path / "result")
    again = interplay.load(tmp_path / "result")
    pd.testing.assert_frame_equal(again.table, result.table)
    pd.testing.assert_frame_equal(again.effect_table, result.effect_table)


def test_effect_in_a_cell_is_a_coefficient_of_statsmodels():
    import statsmodels.api as sm

    from interplay.infer.interaction.effect import log_odds_in_cell

    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 1500), rng.integers(0, 4, 1500)
    logit = 0.3 * a - 0.2 * b + 1.5 * ((a == 1) & (b == 2))
    y = rng.random(1500) < 1 / (1 + np.exp(-logit))
    table = np.zeros((3, 4, 2), dtype=np.int64)
    np.add.at(table, (a, b, y.astype(int)), 1)
    columns = np.column_stack(
        [np.ones(1500), *(a == i for i in (1, 2)), *(b == j for j in (1, 2, 3)), (a == 1) & (b == 2)]
    ).astype(float)
    other = sm.Logit(y.astype(float), columns).fit(disp=0)
    found = log_odds_in_cell(table, (1, 2), 1)
    assert found == pytest.approx((other.params[-1], other.bse[-1]), rel=1e-5)
    of_triple = np.stack([table, table[::-1]])
    assert np.isfinite(log_odds_in_cell(of_triple, (1, 1, 2), 1)).all()
    assert np.isnan(log_odds_in_cell(table[:1], (0, 2), 1)).all()  # one level: H0 fits every cell


def test_a_cell_without_the_class_has_an_effect():
    from interplay.infer.interaction.effect import log_odds_in_cell

    table = np.full((3, 3, 2), 30)
    table[0, 0] = [60, 0]
    log_odds, error = log_odds_in_cell(table, (0, 0), 1)
    assert log_odds + 1.96 * error < 0


def test_effect_in_a_cell_of_numbers_is_a_coefficient_of_statsmodels():
    import statsmodels.api as sm

    from interplay.infer.number_interaction.cell_moments import cell_moments
    from interplay.infer.number_interaction.effect import effect_in_cell, largest_residual

    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, 600), rng.integers(0, 3, 600)
    y = a - 0.5 * b + 1.2 * ((a == 2) & (b == 0)) + rng.normal(size=600)
    moments = cell_moments((3 * a + b)[np.newaxis], y, (3, 3))
    place = largest_residual(moments)
    assert place.cell.tolist() == [[2, 0]]
    found = effect_in_cell(moments, place)
    columns = np.column_stack([np.ones(600), *(a == i for i in (1, 2)), *(b == j for j in (1, 2)), (a == 2) & (b == 0)])
    other = sm.OLS(y, columns.astype(float)).fit()
    assert found.estimate[0] == pytest.approx(other.params[-1])
    within = sum(
        ((y[(a == i) & (b == j)] - y[(a == i) & (b == j)].mean()) ** 2).sum() for i in range(3) for j in range(3)
    )
    error = other.bse[-1] * math.sqrt(within / 591 / other.scale)
    assert found.high[0] - found.estimate[0] == pytest.approx(stats.t.ppf(0.975, 591) * error)
    assert place.value[0] == pytest.approx(found.estimate[0] / error)


def test_interactions_of_several_levels_have_an_effect_in_a_cell():
    import interplay

    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(1200, 8))
    logit = 2.0 * ((X[:, 1] == 2) & (X[:, 4] == 0)) - 0.5
    y = np.where(rng.random(1200) < 1 / (1 + np.exp(-logit)), "ill", "well")
    found = interplay.interactions(X, y, random_state=0)
    row = found.table.iloc[0]
    assert row["members"] == ("x1", "x4")
    assert row["cell"] == "x1 = 2, x4 = 0: well"
    assert row["cell_high"] < 0
    assert row["cell_low"] < -2.0 < row["cell_high"]
    assert "x1 = 2, x4 = 0" in found.summary()
    again = found.replicate(X[600:], y[600:])
    assert again.table["cell_effect"].iloc[0] < 0
    result = interplay.select(X, y, random_state=0)
    both = result.table.set_index("variable").loc["x1"]
    assert both["p_interaction"] < 0.05


def test_levels_are_compared_with_a_reference():
    """As statsmodels does with dummies: odds of classes, hazards of one model; intervals cover together (Šidák)."""
    import statsmodels.api as sm
    from statsmodels.duration.hazard_regression import PHReg

    rng = np.random.default_rng(7)
    arm = rng.integers(0, 3, 600)
    ill = (rng.random(600) < np.array([0.5, 0.5, 0.3])[arm]).astype(np.int64)
    names = ["Obs", "Lev", "Lev+5FU"]
    quantile = stats.norm.ppf((1 + 0.95 ** (1 / 2)) / 2)
    dummies = np.column_stack([arm == 1, arm == 2]).astype(float)
    found = measure(
        Values(arm.astype(float), names, arm, is_ordered=False, name="rx", reference="Obs"),
        make_target("", codes=ill, labels=("well", "ill")),
    )
    fit = sm.Logit(ill, sm.add_constant(dummies)).fit(disp=0)
    assert found.direction == "ill less often if rx = Lev+5FU"
    assert [each.about for each in found.effects] == ["Lev+5FU against Obs", "Lev against Obs"]
    for each, place in zip(found.effects, (2, 1), strict=True):
        low, high = fit.params[place] + np.array([-1, 1]) * quantile * fit.bse[place]
        assert each.size == pytest.approx(np.exp([fit.params[place], low, high]), rel=1e-5)
    time, event = rng.exponential(np.where(arm == 2, 2.0, 1.0)), rng.random(600) < 0.7
    cox = PHReg(time, dummies, status=event, ties="efron").fit()
    of_times = measure(
        Values(arm.astype(float), names, arm, is_ordered=False, name="rx", reference="Obs"),
        make_target("", time=time, event=event),
    )
    assert of_times.direction == "lower risk if rx = Lev+5FU"
    size = _of_t(cox, 1, event[arm != 1].sum(), 0.95 ** (1 / 2))
    assert of_times.effects[0].size == pytest.approx(size, rel=1e-4)
    largest = measure(_levels(arm, names), make_target("", codes=ill, labels=("well", "ill")))
    assert all(each.about.endswith(f"against {names[np.bincount(arm).argmax()]}") for each in largest.effects)


@pytest.mark.parametrize("kind", ["classes", "numbers", "times"])
def test_intervals_of_the_level_that_was_chosen_cover(kind):
    """Ten levels without an effect: the interval of the clearest one includes none in 95 % of tables."""
    rng = np.random.default_rng(8)
    missed = 0
    for _ in range(200):
        codes = rng.integers(0, 10, 400)
        target = {
            "classes": lambda: make_target("", codes=rng.integers(0, 2, 400), labels=("a", "b")),
            "numbers": lambda: make_target("", numbers=rng.normal(size=400)),
            "times": lambda: make_target("", time=rng.exponential(size=400), event=rng.random(400) < 0.8),
        }[kind]()
        missed += measure(_levels(codes, list("abcdefghij")), target).has_trend
    assert missed <= 20  # 10 expected at most; 0.1 % by chance above


def test_hazard_ratio_per_unit_is_that_of_values():
    from statsmodels.duration.hazard_regression import PHReg

    rng = np.random.default_rng(9)
    age = rng.normal(60, 10, size=300)
    time = rng.exponential(np.exp(-0.05 * (age - 60)))
    found = measure(_numbers(age), make_target("", time=time, event=np.full(300, True))).effects[1]
    other = PHReg(time, age[:, None], status=np.ones(300), ties="efron").fit()
    assert found.kind == "hazard ratio per unit"
    assert found.size == pytest.approx(_of_t(other, 0, 300), rel=1e-4)


def test_ordered_labels_have_a_trend_and_codes_without_one_are_compared():
    import interplay

    rng = np.random.default_rng(10)
    grade, race = rng.integers(0, 3, 500), rng.integers(1, 5, 500)
    ill = rng.random(500) < np.array([0.2, 0.5, 0.8])[grade] * np.where(race == 2, 0.4, 1.0)
    labels = pd.Categorical(np.array(["mild", "middle", "severe"])[grade], ["mild", "middle", "severe"], ordered=True)
    X = pd.DataFrame({"grade": labels, "race": race, "noise": rng.normal(size=500)})
    y = pd.Series(np.where(ill, "yes", "no"), name="ill")
    result = interplay.select(X, y, discrete=["race"], reference={"race": 1}, random_state=0)
    rows = result.table.set_index("variable")
    assert rows.loc["grade", "direction"] == "higher with ill"
    assert rows.loc["race", "direction"] == "ill less often if race = 2, no trend"
    assert rows.loc["race", "effect_kind"] == "odds ratio, 2 against 1"
    assert result.settings["reference"] == {"race": "1"}
