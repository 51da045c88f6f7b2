"""Score tests of variables in a model of covariates, offset and times: those of statsmodels, and of the formula."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

from full_models import full_model
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.outcomes.times import Survival, make_survival
from interplay.infer.given_test import GivenInModel
from interplay.infer.residual_test import ResidualTarget

N = 240


@pytest.fixture
def data():
    """Covariates, columns of which the first follows from a covariate, linear predictors, strata and an offset."""
    rng = np.random.default_rng(3)
    design = np.column_stack([rng.normal(size=N), rng.integers(0, 2, N)])
    scores = rng.normal(size=(5, N))
    scores[0] += 2 * design[:, 0]
    offset = 0.5 * rng.normal(size=N)
    predictor = 0.7 * design[:, 0] - 0.5 * design[:, 1] + 0.2 * scores[1]
    return rng, design, scores, predictor, np.arange(N) % 3, offset


def strata_of(codes):
    return Strata(codes, [str(code) for code in np.unique(codes)])


class TestLinear:
    @pytest.mark.parametrize("has_strata", [False, True])
    def test_is_the_t_test_of_the_added_column(self, data, has_strata):
        rng, design, scores, predictor, codes, _ = data
        y = predictor + has_strata * codes + rng.normal(size=N)
        model = full_model(
            number_outcome(y, None, scale="values"), design, None, strata_of(codes) if has_strata else None
        )
        found = np.exp(ResidualTarget.of(model.residuals()).log_p(scores))
        constants = (codes[:, None] == np.arange(3)) * 1.0 if has_strata else np.ones((N, 1))
        expected = [sm.OLS(y, np.column_stack([constants, design, x])).fit().pvalues[-1] for x in scores]
        assert found == pytest.approx(expected, rel=1e-8)

    def test_levels_are_the_f_test(self, data):
        rng, design, _, predictor, _, _ = data
        levels = rng.integers(0, 4, size=(3, N))
        y = predictor + 0.3 * (levels[0] == 2) + rng.normal(size=N)
        model = full_model(number_outcome(y, None, scale="values"), design)
        found = np.exp(ResidualTarget.of(model.residuals()).level_log_p(levels, 4))
        known = np.column_stack([np.ones(N), design])
        smaller = sm.OLS(y, known).fit()
        for row, codes in enumerate(levels):
            larger = sm.OLS(y, np.column_stack([known, codes[:, None] == np.arange(1, 4)])).fit()
            assert found[row] == pytest.approx(larger.compare_f_test(smaller)[1], rel=1e-8)

    def test_a_level_without_samples_is_no_level(self, data):
        rng, design, _, predictor, _, _ = data
        levels = np.where(rng.random((1, N)) < 0.5, 0, 3)
        target = ResidualTarget.of(
            full_model(number_outcome(predictor + rng.normal(size=N), None, scale="values"), design).residuals()
        )
        assert target.level_log_p(levels, 4) == pytest.approx(target.level_log_p(levels // 3, 2), rel=1e-9)


class TestSmallLevels:
    """Nearly as many levels as samples: no more small p-values than there should be."""

    @pytest.mark.parametrize("n_levels", [20, 80, 110])
    @pytest.mark.parametrize("kind", ["cox", "linear"])
    def test_p_values_hold(self, n_levels, kind):
        rng = np.random.default_rng(n_levels)
        time, event = rng.exponential(size=120), (rng.random(120) < 0.5).astype(int)
        outcome = make_survival(time, event, n_samples=120) if kind == "cox" else number_outcome(time, None)
        target = ResidualTarget.of(full_model(outcome, rng.exponential(size=(120, 1))).residuals())
        codes = np.append(np.arange(n_levels), rng.integers(0, n_levels, 120 - n_levels))
        p = np.exp(target.level_log_p(np.stack([rng.permutation(codes) for _ in range(200)]), n_levels))
        assert all((p <= level).mean() <= level + 3 * np.sqrt(level / 200) for level in (0.01, 0.05, 0.2))
        assert target.level_log_p(np.arange(120)[np.newaxis], 120)[0] == 0


class TestFewCarriers:
    """Columns of a few ones: the distribution of residuals under the model, simulated."""

    def carriers(self, rng, design, numbers):
        scores = np.zeros((len(numbers), len(design)))
        for row, number in zip(scores, numbers, strict=True):
            row[rng.choice(len(design), number, replace=False, p=np.exp(design[:, 0]) / np.exp(design[:, 0]).sum())] = 1
        return scores

    def test_is_that_of_permuted_residuals(self):
        rng = np.random.default_rng(0)
        n, design = 300, rng.normal(size=(300, 2))
        scores = self.carriers(rng, design, [4, 4, 6, 6, 9, 9])
        y = np.where(rng.random(n) < 0.9, 0, rng.lognormal(1, 1, n)) + scores.T @ np.array([0, 0.8, 1.0, 0, 0.7, 0])
        target = ResidualTarget.of(full_model(number_outcome(y), design).residuals())
        basis = np.linalg.qr(np.column_stack([np.ones(n), design]))[0]
        left, u = scores - scores @ basis @ basis.T, target.residuals
        permuted = np.abs(np.array([rng.permutation(u) for _ in range(20_000)]) @ left.T)
        expected = (permuted >= np.abs(left @ u) - 1e-9).mean(axis=0)
        assert (expected < 0.05).sum() >= 2
        for found, p in zip(np.exp(target.log_p(scores)), expected, strict=True):
            assert found == pytest.approx(p, rel=0.4, abs=3e-4) if p < 0.05 else found > 0.04

    @pytest.mark.parametrize("kind", ["logistic", "cox"])
    def test_p_values_hold_where_cases_and_events_are_few(self, kind):
        rng = np.random.default_rng(1)
        design = rng.normal(size=(400, 1))
        small = []
        for _ in range(60):
            event = rng.random(400) < 0.04 * np.exp(design[:, 0])
            times = make_survival(rng.exponential(size=400), event.astype(int), n_samples=400)
            outcome = times if kind == "cox" else DecisionClasses(event.astype(np.int64), [0, 1])
            target = ResidualTarget.of(full_model(outcome, design).residuals())
            small.append(np.exp(target.log_p(self.carriers(rng, design, [3] * 50 + [6] * 50))) < 0.001)
        assert np.mean(small) < 0.0015


class TestLogistic:
    def score_test(self, y, known, offset, more):
        """Return Rao's statistic: U' (I_xx − I_xc I_cc⁻¹ I_cx)⁻¹ U."""
        p = sm.GLM(y, known, family=sm.families.Binomial(), offset=offset).fit(tol=1e-12).fittedvalues
        w = p * (1 - p)
        inner = known.T @ (known * w[:, None])
        cross = known.T @ (more * w[:, None])
        left = more.T @ (more * w[:, None]) - cross.T @ np.linalg.solve(inner, cross)
        u = more.T @ (y - p)
        return float(u @ np.linalg.solve(left, u))

    @pytest.mark.parametrize("with_offset", [False, True])
    def test_is_raos_test(self, data, with_offset):
        """Levels by χ²; single columns by a gamma distribution of the same variance, near to it in the middle."""
        rng, design, scores, predictor, _, offset = data
        known_part = offset if with_offset else None
        y = (rng.random(N) < 1 / (1 + np.exp(-predictor - offset * with_offset))).astype(np.int64)
        model = full_model(DecisionClasses(y, [0, 1]), design, known_part)
        target = ResidualTarget.of(model.residuals())
        known = np.column_stack([np.ones(N), design])
        levels = rng.integers(0, 3, size=(4, N))
        found = np.exp(target.level_log_p(levels, 3))
        for row, codes in enumerate(levels):
            expected = chi2.sf(self.score_test(y, known, known_part, (codes[:, None] == [1, 2]) * 1.0), 2)
            assert found[row] == pytest.approx(expected, rel=1e-5)
        found = np.exp(target.log_p(scores))
        expected = np.array([chi2.sf(self.score_test(y, known, known_part, x[:, None]), 1) for x in scores])
        assert np.abs(np.log(found) - np.log(expected)).max() < 0.1

    def test_is_near_the_likelihood_ratio(self, data):
        rng, design, scores, predictor, _, _ = data
        y = (rng.random(N) < 1 / (1 + np.exp(-predictor))).astype(np.int64)
        found = np.exp(ResidualTarget.of(full_model(DecisionClasses(y, [0, 1]), design).residuals()).log_p(scores))
        known = np.column_stack([np.ones(N), design])
        smaller = sm.Logit(y, known).fit(disp=0).llf
        for x, p in zip(scores, found, strict=True):
            larger = sm.Logit(y, np.column_stack([known, x])).fit(disp=0).llf
            assert np.log(p) == pytest.approx(np.log(chi2.sf(2 * (larger - smaller), 1)), abs=0.25)


class TestTimes:
    def test_is_near_coxs_likelihood_ratio(self, data):
        rng, design, scores, predictor, codes, _ = data
        time, end = rng.exponential(np.exp(-predictor)), rng.exponential(2.0, N)
        survival = Survival(np.minimum(time, end), time <= end)
        for strata in (None, codes):
            model = full_model(survival, design, None, None if strata is None else strata_of(strata))
            found = ResidualTarget.of(model.residuals()).log_p(scores)

            def log_likelihood(columns, strata=strata):
                status = survival.event * 1
                return sm.PHReg(survival.time, columns, status=status, strata=strata).fit(disp=0).llf

            smaller = log_likelihood(design)
            for x, log_p in zip(scores, found, strict=True):
                expected = chi2.logsf(2 * (log_likelihood(np.column_stack([design, x])) - smaller), 1)
                assert log_p == pytest.approx(expected, abs=0.3 + 0.1 * abs(expected))


def test_a_column_that_covariates_determine_has_p_of_1(data):
    rng, design, _, predictor, _, _ = data
    follows = np.stack([3 + 2 * design[:, 0], design[:, 1], design.sum(axis=1), np.ones(N)])
    outcomes = [
        number_outcome(predictor + rng.normal(size=N), None, scale="values"),
        DecisionClasses((rng.random(N) < 1 / (1 + np.exp(-predictor))).astype(np.int64), [0, 1]),
        Survival(rng.exponential(np.exp(-predictor)), np.ones(N, dtype=bool)),
    ]
    for outcome in outcomes:
        target = ResidualTarget.of(full_model(outcome, design).residuals())
        assert target.log_p(follows).tolist() == [0.0] * 4
        assert target.level_log_p(design[:, 1].astype(np.int64)[np.newaxis], 2).tolist() == [0.0]


def test_the_unit_and_the_middle_of_a_column_do_not_matter(data):
    rng, design, scores, predictor, _, _ = data
    y = DecisionClasses((rng.random(N) < 1 / (1 + np.exp(-predictor))).astype(np.int64), [0, 1])
    target = ResidualTarget.of(full_model(y, design).residuals())
    assert target.log_p(1000 * scores + 7) == pytest.approx(target.log_p(scores), rel=1e-7)


def test_given_strong_variables_is_the_larger_model(data):
    rng, design, scores, predictor, _, _ = data
    y = predictor + rng.normal(size=N)
    model = full_model(number_outcome(y, None, scale="values"), design)
    strong = np.stack([scores[1], design[:, 0], scores[2]])  # the second is a covariate
    given = GivenInModel.of(strong, model)
    assert given.is_kept.tolist() == [True, False, True]
    assert given.n_fitted == 4
    known = np.column_stack([np.ones(N), design, scores[1], scores[2]])
    expected = [sm.OLS(y, np.column_stack([known, x])).fit().pvalues[-1] for x in scores[3:]]
    assert np.exp(given.log_p(scores[3:])) == pytest.approx(expected, rel=1e-8)
    assert np.exp(given.log_p_of_kept()) == pytest.approx(sm.OLS(y, known).fit().pvalues[-2:], rel=1e-8)
