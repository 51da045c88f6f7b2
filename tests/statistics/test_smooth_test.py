"""Interactions of levels beside smooth effects of numbers: statsmodels and patsy are the independent implementation."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from patsy import dmatrix
from scipy import stats
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.families.links import Logit, Probit

import interplay
from full_models import full_model
from interplay.data.models.classes import class_likelihood_ratio
from interplay.data.models.linear import KNOT_QUANTILES, spline_columns
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.outcomes.times import Survival
from interplay.infer.interaction.beside_test import TupleSamples, smooth_log_p, smooth_test
from interplay.infer.interaction.interaction_test import chi2_log_tail
from interplay.infer.interaction.tuple_tests import corrected_p_values
from interplay.infer.smooth_columns import smooth_columns


def correlated(seed=0, n=600, k=2):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(k, n))
    latent[1] = 0.6 * latent[0] + 0.8 * latent[1]
    return rng, np.exp(0.7 * latent)


def levels_of(x, n_levels=2):
    cuts = np.quantile(x, np.arange(1, n_levels) / n_levels)
    return np.searchsorted(cuts, x).astype(np.int64)


def natural(x):
    """Return patsy's natural splines with the same knots: another basis of the same functions."""
    low, *inner, high = np.quantile(x, KNOT_QUANTILES)
    basis = "cr(np.clip(x, low, high), knots=inner, lower_bound=low, upper_bound=high)"
    # patsy's columns do not go beyond their bounds; a natural spline is linear there.
    inside = np.asarray(dmatrix(f"{basis} - 1", {"x": x, "np": np, "low": low, "high": high, "inner": inner}))
    step = 1e-4 * (high - low)
    ends = {"x": np.array([low, low + step, high - step, high]), "np": np, "low": low, "high": high, "inner": inner}
    at = np.asarray(dmatrix(f"{basis} - 1", ends))
    below, above = (at[1] - at[0]) / step, (at[3] - at[2]) / step
    return inside + np.outer(np.minimum(x - low, 0), below) + np.outer(np.maximum(x - high, 0), above)


def test_splines_are_those_of_patsy():
    _, (x, _) = correlated()
    ours = np.column_stack([np.ones(len(x)), spline_columns(x)])
    theirs = natural(x)
    assert np.linalg.matrix_rank(ours) == np.linalg.matrix_rank(theirs) == 5
    left = theirs - ours @ np.linalg.lstsq(ours, theirs, rcond=None)[0]
    assert np.abs(left).max() < 1e-3  # slopes at the outer knots are differences


def test_odd_numbers_have_splines():
    x = np.array([0.0] * 70 + list(range(1, 29)) + [np.inf, np.nan])
    columns = spline_columns(x)
    assert columns.shape == (100, 4)
    assert np.isfinite(columns).all()
    assert (columns[-1] == 0).all()
    assert spline_columns(np.ones(9)).shape == (9, 0)
    np.testing.assert_allclose(spline_columns(1e300 * x[:-1]), spline_columns(x[:-1]), atol=1e-9)


def frame_of(x, levels, **more):
    """Return splines as s0, s1, …, levels as l0, l1, … and other columns; and the formula of the splines."""
    splines = np.column_stack([spline_columns(one) for one in x])
    data = pd.DataFrame(splines, columns=[f"s{i}" for i in range(splines.shape[1])])
    for i, one in enumerate(levels):
        data[f"l{i}"] = one
    return data.assign(**more), " + ".join(f"s{i}" for i in range(splines.shape[1]))


@pytest.mark.parametrize(("n_levels", "has_strata"), [(2, False), (3, False), (2, True)])
def test_numbers_are_those_of_statsmodels(n_levels, has_strata):
    rng, x = correlated()
    levels = np.array([levels_of(one, n_levels) for one in x])
    y = x[0] + x[1] + 0.5 * ((levels[0] > 0) ^ (levels[1] > 0)) + rng.normal(size=600)
    stratum = rng.integers(0, 2, 600) if has_strata else None
    outcome = number_outcome(y, None, scale="ranks")
    (chi2, df), other = smooth_test(
        outcome, TupleSamples.of_levels(levels, stratum), [spline_columns(one) for one in x]
    )
    data, splines = frame_of(x, levels, z=outcome.scores, s=0 if stratum is None else stratum)
    by = " * C(s)" if has_strata else ""
    large, small = (
        smf.ols(f"z ~ ({terms} + {splines}){by}", data).fit() for terms in ("C(l0) * C(l1)", "C(l0) + C(l1)")
    )
    _, p, df_theirs = large.compare_f_test(small)
    assert df == df_theirs
    assert np.exp(chi2_log_tail(np.array([chi2]), np.array([df])))[0] == pytest.approx(p, rel=1e-6)
    assert other is not None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_those_of_statsmodels(n_classes):
    rng, x = correlated(1, 900)
    levels = np.array([levels_of(one) for one in x])
    score = x[0] + x[1] + (levels[0] ^ levels[1]) + rng.logistic(size=900)
    codes = levels_of(score, n_classes)
    outcome = DecisionClasses(codes, list("abc"[:n_classes]), "classes")
    (chi2, df), other = smooth_test(outcome, TupleSamples.of_levels(levels), [spline_columns(one) for one in x])
    data, splines = frame_of(x, levels, y=codes)
    model = smf.logit if n_classes == 2 else smf.mnlogit
    terms = ("C(l0) * C(l1)", "C(l0) + C(l1)")
    large, small = (model(f"y ~ {each} + {splines}", data).fit(disp=0, maxiter=100) for each in terms)
    expected = 2 * (large.llf - small.llf)
    assert (df, chi2) == (n_classes - 1, pytest.approx(expected, rel=1e-6))
    assert np.exp(chi2_log_tail(np.array([chi2]), np.array([df])))[0] == pytest.approx(
        stats.chi2.sf(expected, df), rel=1e-6
    )
    if n_classes == 2:
        large, small = (smf.probit(f"y ~ {each} + {splines}", data).fit(disp=0, maxiter=100) for each in terms)
        assert other == (pytest.approx(2 * (large.llf - small.llf), rel=1e-6), 1)
    else:
        assert other is None


@pytest.mark.parametrize("probit", [False, True])
def test_likelihoods_of_cells_of_one_class(probit):
    """A coefficient that grows without end: the likelihood has its limit."""
    cells = np.repeat(np.eye(3), 40, axis=0)
    columns = np.column_stack([np.ones(120), cells[:, 1:]])
    codes = np.r_[np.zeros(40), np.ones(40), np.arange(40) % 2].astype(np.int64)
    expected = 2 * (40 * np.log(0.5) - 120 * np.log(0.5))
    assert class_likelihood_ratio(codes, columns, 1, probit=probit)[0] == pytest.approx(expected, abs=1e-6)


def test_products_of_proper_subsets():
    _, x = correlated(k=3)
    levels = np.array([levels_of(one) for one in x])
    splines = [spline_columns(one) for one in x]
    assert smooth_columns(splines, levels).shape[1] == 3 * 4 + 3
    assert smooth_columns([splines[0], splines[1], None], levels).shape[1] == 2 * 4 + 1 + 2 * 2
    assert smooth_columns([None, None, None], levels).shape[1] == 0
    in_strata = smooth_columns(splines[:2], levels[:2], np.arange(600) % 2)
    assert in_strata.shape[1] == 16
    assert smooth_columns(splines[:2], levels[:2], np.arange(600) % 20).shape[1] == 8  # common to all strata


def test_the_other_scale_decides():
    p = np.exp(smooth_log_p(np.array([1e-9, 1e-9, 1e-9]), [None, (100.0, 1), (0.5, 1)], 0.05))
    assert p[:2] == pytest.approx([1e-9, 1e-9])
    assert p[2] == pytest.approx(stats.chi2.sf(0.5, 1))


@pytest.mark.parametrize("kind", ["number", "classes"])
def test_additive_effects_of_correlated_skewed_numbers(kind):
    """Calibration: p < 0.05 in 3 to 20 of 200 tables, where nearly all have it in levels alone."""
    p, p_levels = [], []
    for seed in range(200):
        rng, x = correlated(seed, 400)
        levels = np.array([levels_of(one) for one in x])
        total = x[0] + x[1]
        if kind == "number":
            outcome = number_outcome(total + rng.normal(size=400), None, scale="values")
        else:
            codes = (2 * (total - 2.5) + rng.logistic(size=400) > 0).astype(np.int64)
            outcome = DecisionClasses(codes, ["a", "b"], "classes")
        for found, splines in ((p, [spline_columns(one) for one in x]), (p_levels, [None, None])):
            chi2, df = smooth_test(outcome, TupleSamples.of_levels(levels), splines)[0]
            found.append(float(np.exp(chi2_log_tail(np.array([chi2]), np.array([df])))[0]))
    assert 3 <= np.sum(np.array(p) < 0.05) <= 20
    if kind == "number":
        assert np.mean(np.array(p_levels) < 0.05) > 0.5


def test_classes_with_covariates_and_an_offset_are_those_of_statsmodels():
    rng, x = correlated(2, 900)
    levels = np.array([levels_of(one) for one in x])
    age, known = rng.normal(size=(2, 900))
    codes = (x[0] + x[1] + (levels[0] ^ levels[1]) + age + known + rng.logistic(size=900) > 3).astype(np.int64)
    outcome = DecisionClasses(codes, ["a", "b"], "classes")
    model = full_model(outcome, age[:, np.newaxis], known)
    found, other = smooth_test(outcome, TupleSamples.of_levels(levels), [spline_columns(one) for one in x], model=model)
    data, splines = frame_of(x, levels, y=codes, age=age)
    for link, offset, ours in ((Logit(), known, found), (Probit(), known / 1.7, other)):
        large, small = (
            smf.glm(f"y ~ {each} + {splines} + age", data, family=Binomial(link), offset=offset).fit().llf
            for each in ("C(l0) * C(l1)", "C(l0) + C(l1)")
        )
        assert ours == (pytest.approx(2 * (large - small), rel=1e-5), 1)


@pytest.mark.parametrize("scale", ["ranks", "values"])
def test_numbers_with_an_offset_are_those_without_it(scale):
    rng, x = correlated(3)
    levels = np.array([levels_of(one) for one in x])
    age, known = rng.normal(size=(2, 600))
    y = x[0] + x[1] + 0.5 * (levels[0] ^ levels[1]) + age + rng.normal(size=600)
    splines = [spline_columns(one) for one in x]
    given, plain = (number_outcome(values, None, scale=scale) for values in (y + 5 * known, y))
    model = full_model(plain, age[:, np.newaxis])  # the offset is subtracted there
    found = smooth_test(given, TupleSamples.of_levels(levels), splines, model=model)
    data, terms = frame_of(x, levels, z=plain.scores, age=age)
    large, small = (smf.ols(f"z ~ {each} + {terms} + age", data).fit() for each in ("l0 * l1", "l0 + l1"))
    (chi2, df), other = found
    assert np.exp(chi2_log_tail(np.array([chi2]), np.array([df])))[0] == pytest.approx(
        large.compare_f_test(small)[1], rel=1e-6
    )
    assert found == smooth_test(plain, TupleSamples.of_levels(levels), splines, model=model)
    assert (other is None) == (scale == "values")


def test_times_with_covariates_are_those_of_statsmodels():
    rng, x = correlated(4, 400)
    levels = np.array([levels_of(one) for one in x])
    age = rng.normal(size=400)
    time = rng.exponential(np.exp(-0.5 * x[0] - 0.8 * (levels[0] ^ levels[1]) - 0.5 * age))
    event = rng.random(400) < 0.8
    model = full_model(Survival(time, event), age[:, np.newaxis])
    found, other = smooth_test(
        model.residuals(), TupleSamples.of_levels(levels), [spline_columns(one) for one in x], model=model
    )
    data, _ = frame_of(x, levels, age=age)
    product = (data["l0"] * data["l1"]).to_numpy()
    large, small = (
        PHReg(time, part, status=event * 1).fit(disp=0).llf for part in (np.column_stack([data, product]), data)
    )
    assert found == (pytest.approx(2 * (large - small), rel=1e-5), 1)
    assert other is None


def test_second_tests_of_times_have_the_f_of_the_search():
    """The p-value of a likelihood ratio that is that of the search is the search's; smaller ratios follow."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    time = rng.exponential(np.exp(-1.2 * ((X[:, 0] > 0) ^ (X[:, 1] > 0))))
    found = interplay.interactions(X, (time, rng.random(300) < 0.6), top=3, coding="levels")
    tested = found.tested
    assert corrected_p_values(tested, tested.statistic, tested.df, 1) == pytest.approx(tested.p_value, rel=1e-6)
    plain = stats.chi2.sf(tested.statistic, tested.df)
    assert (plain < tested.p_value).all()
    assert (corrected_p_values(tested, tested.statistic / 2, tested.df, 1) > tested.p_value).all()
