"""Coefficients and likelihood ratios in a model of covariates, offset and times: those of statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from full_models import full_model
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.outcomes.times import Survival

N = 300
RNG = np.random.default_rng(5)
DESIGN = np.column_stack([RNG.normal(size=N), RNG.integers(0, 2, N)])
MORE = np.column_stack([RNG.normal(size=N), RNG.integers(0, 3, N) == 1, RNG.normal(size=N) + DESIGN[:, 0]])
PREDICTOR = 0.6 * DESIGN[:, 0] - 0.4 * DESIGN[:, 1] + 0.4 * MORE[:, 0]
OFFSET = 0.5 * RNG.normal(size=N)
CODES = np.arange(N) % 3
STRATA = Strata(CODES, ["a", "b", "c"])
CONSTANTS = (CODES[:, None] == np.arange(3)) * 1.0
#: Samples with holes, without one of the strata.
ROWS = np.flatnonzero((CODES != 1) & (RNG.random(N) < 0.8))


def known(with_strata):
    return np.column_stack([CONSTANTS if with_strata else np.ones((N, 1)), DESIGN])


def independent(columns):
    """Leave out constants of strata without samples: statsmodels does not."""
    return columns[:, np.abs(columns).sum(axis=0) > 0]


class TestLinear:
    y = PREDICTOR + CODES + RNG.normal(size=N)

    @pytest.mark.parametrize("with_strata", [False, True])
    def test_coefficients(self, with_strata):
        model = full_model(number_outcome(self.y, None, scale="values"), DESIGN, None, STRATA if with_strata else None)
        found = model.effects(MORE)
        expected = sm.OLS(self.y, np.column_stack([known(with_strata), MORE])).fit()
        assert found.estimate * found.unit == pytest.approx(expected.params[-3:])
        assert found.covariance * found.unit**2 == pytest.approx(expected.cov_params()[-3:, -3:])
        assert found.df_residual == expected.df_resid
        assert np.exp(model.coefficient_log_p(MORE)) == pytest.approx(expected.pvalues[-3:], rel=1e-8)

    @pytest.mark.parametrize("rows", [None, ROWS])
    @pytest.mark.parametrize("with_strata", [False, True])
    def test_ratio_has_the_p_of_f(self, with_strata, rows):
        model = full_model(number_outcome(self.y, None, scale="values"), DESIGN, None, STRATA if with_strata else None)
        some = slice(None) if rows is None else rows
        found, df = model.likelihood_ratio(MORE[some, :1], MORE[some], rows)
        columns = independent(known(with_strata)[some])
        smaller = sm.OLS(self.y[some], np.column_stack([columns, MORE[some, :1]])).fit()
        larger = sm.OLS(self.y[some], np.column_stack([columns, MORE[some]])).fit()
        f, p, df_expected = larger.compare_f_test(smaller)
        assert df == df_expected == 2
        assert p == pytest.approx(f_distribution.sf(f, 2, larger.df_resid))
        assert chi2.sf(found, df) == pytest.approx(p, rel=1e-7)


class TestClasses:
    y = (RNG.random(N) < 1 / (1 + np.exp(-PREDICTOR - OFFSET - 0.5 * CODES))).astype(np.int64)

    @pytest.mark.parametrize("offset", [None, OFFSET])
    @pytest.mark.parametrize("with_strata", [False, True])
    def test_two(self, with_strata, offset):
        model = full_model(DecisionClasses(self.y, [0, 1]), DESIGN, offset, STRATA if with_strata else None)

        def fit(columns, rows=slice(None)):
            known_part = None if offset is None else offset[rows]
            family = sm.families.Binomial()
            return sm.GLM(self.y[rows], independent(columns[rows]), family=family, offset=known_part).fit(tol=1e-12)

        larger = fit(np.column_stack([known(with_strata), MORE]))
        found = model.coefficients(MORE)
        assert found.estimate == pytest.approx(larger.params[-3:], rel=1e-6)
        assert found.covariance == pytest.approx(larger.cov_params()[-3:, -3:], rel=1e-5, abs=1e-8)
        assert found.df_residual is None
        assert np.exp(model.coefficient_log_p(MORE)) == pytest.approx(larger.pvalues[-3:], rel=1e-5)
        smaller = fit(known(with_strata))
        none = np.empty((N, 0))
        assert model.likelihood_ratio(none, MORE) == (pytest.approx(2 * (larger.llf - smaller.llf), rel=1e-7), 3)
        of_rows = [fit(np.column_stack([known(with_strata), *more]), ROWS).llf for more in ([MORE], [])]
        found_there = model.likelihood_ratio(none[ROWS], MORE[ROWS], ROWS)
        assert found_there == (pytest.approx(2 * (of_rows[0] - of_rows[1]), rel=1e-7), 3)

    def test_samples_that_lack_a_class(self):
        y = np.where(np.arange(N) < N // 2, self.y, 2)
        rows = np.arange(N // 2)
        three, two = (
            full_model(DecisionClasses(of, names), DESIGN) for of, names in ((y, list("abc")), (self.y, list("ab")))
        )
        none = np.empty((len(rows), 0))
        assert three.likelihood_ratio(none, MORE[rows], rows) == two.likelihood_ratio(none, MORE[rows], rows)

    def test_several(self):
        noise = RNG.gumbel(size=(N, 3))
        y = np.argmax(noise + np.column_stack([np.zeros(N), PREDICTOR, -0.5 * MORE[:, 2]]), axis=1)
        model = full_model(DecisionClasses(y, ["a", "b", "c"]), DESIGN)
        fits = [
            sm.MNLogit(y, np.column_stack([known(False), *more])).fit(disp=0).llf for more in ([MORE], [MORE[:, :1]])
        ]
        found = model.likelihood_ratio(MORE[:, :1], MORE)
        assert found == (pytest.approx(2 * (fits[0] - fits[1]), rel=1e-7), 4)


class TestTimes:
    entry = RNG.uniform(0, 0.1, N)
    time = entry + np.ceil(RNG.exponential(np.exp(-PREDICTOR - OFFSET)) * 30) / 30  # with ties
    event = RNG.random(N) < 0.6

    @pytest.mark.parametrize("with_entry", [False, True])
    @pytest.mark.parametrize("offset", [None, OFFSET])
    @pytest.mark.parametrize("with_strata", [False, True])
    def test_are_those_of_statsmodels(self, with_strata, offset, with_entry):
        survival = Survival(self.time, self.event, self.entry if with_entry else None)
        model = full_model(survival, DESIGN, offset, STRATA if with_strata else None)

        def fit(columns, rows=slice(None)):
            return sm.PHReg(
                self.time[rows],
                columns[rows],
                status=self.event[rows] * 1,
                entry=self.entry[rows] if with_entry else None,
                strata=CODES[rows] if with_strata else None,
                offset=None if offset is None else offset[rows],
                ties="efron",
            ).fit(disp=0)

        larger, smaller = fit(np.column_stack([DESIGN, MORE])), fit(DESIGN)
        found = model.coefficients(MORE)
        assert found.estimate == pytest.approx(larger.params[-3:], rel=1e-5, abs=1e-7)
        assert found.covariance == pytest.approx(larger.cov_params()[-3:, -3:], rel=1e-4, abs=1e-7)
        assert np.exp(model.coefficient_log_p(MORE)) == pytest.approx(larger.pvalues[-3:], rel=1e-4)
        none = np.empty((N, 0))
        expected = 2 * (larger.llf - smaller.llf)
        assert model.likelihood_ratio(none, MORE) == (pytest.approx(expected, rel=1e-6), 3)
        rows = [fit(np.column_stack([DESIGN, *more]), ROWS).llf for more in ([MORE], [])]
        found_there = model.likelihood_ratio(none[ROWS], MORE[ROWS], ROWS)
        assert found_there == (pytest.approx(2 * (rows[0] - rows[1]), rel=1e-6), 3)
        part = model.of_samples(ROWS)
        assert part.coefficients(MORE[ROWS]).estimate == pytest.approx(
            fit(np.column_stack([DESIGN, MORE]), ROWS).params[-3:], rel=1e-5, abs=1e-7
        )


def test_columns_that_the_model_has_say_nothing():
    y = DecisionClasses((RNG.random(N) < 0.5).astype(np.int64), [0, 1])
    follows = DESIGN @ np.array([[1.0], [2.0]]) + 3
    for outcome in (y, number_outcome(RNG.normal(size=N), None), Survival(RNG.exponential(size=N), np.ones(N, bool))):
        model = full_model(outcome, DESIGN)
        assert model.likelihood_ratio(np.empty((N, 0)), follows) == (0.0, 0)
        assert model.coefficient_log_p(follows).tolist() == [0.0]
        assert model.coefficient_log_p(np.empty((N, 0))).tolist() == []
