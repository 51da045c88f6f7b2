"""Scores of many variables and times → score tests in Cox's model of covariates, one variable at a time.

Where it matters, in the tail, they are refined by likelihood ratios.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.data.models.cox import cox_slopes, fit_in_risk_sets, hazards_at_risk
from interplay.data.models.risk_sets import RiskSets

#: Numbers in a block of scores: a few arrays of this size fit a processor's cache.
_BLOCK_NUMBERS = 2**18

#: Newton's steps of one coefficient, of a column whose largest value is 1, and when these end.
_MAX_STEPS = 60
_LONGEST_STEP = 2.0
_ENOUGH = 1e-9

#: A variable of which covariates leave less than this share of the information is explained by them.
_EXPLAINED = 1e-8


class CoxScores(NamedTuple):
    """Tests of variables, each added alone to the model of the covariates."""

    #: (n_vars,): standard normal under the null hypothesis; positive where higher scores go with a higher hazard. Of
    #: the score test, or, where it was refined, the signed root of the likelihood ratio.
    statistic: FloatArray
    #: (n_vars,): its square, with one degree of freedom.
    chi2: FloatArray
    #: (n_vars,): per unit of the score: a first step towards the coefficient (score divided by information), or, where
    #: it was refined, the coefficient given those of the covariates.
    log_hazard_ratio: FloatArray


class CoxScoreTest:
    """Score tests in one model of covariates, which is fitted once.

    The score of a variable is its sum with martingale residuals of the covariate model as weights; without covariates
    this is the log-rank test. The variance is that of the partial likelihood: the information of the variable, less the
    part that covariates explain. Without ties, the test without covariates equals the log-rank test.

    A score is not normal in the tail where events are few or a variable is skewed: of rare genotypes (2 %) in 300
    samples, eight times as many p-values are below 5e-4 as should be. Likelihood ratios of the same models are right
    there; `of` takes them where the score test is below `refine_below`.

    - `time`, `event`, `entry`, `strata`, `offset`, `ties`: as in `fit_cox`.
    - `design` (n_samples, n_columns): covariates.

    Attributes
    ----------
    residuals : (n_samples,) float64
        Martingale residuals of the covariate model.

    Examples
    --------
    >>> time, event = np.arange(1.0, 9.0), np.ones(8, dtype=bool)
    >>> test = CoxScoreTest(time, event)
    >>> found = test.of(np.array([[0.0, 0, 1, 0, 1, 1, 0, 1]]))
    >>> found.statistic.round(3).tolist(), found.chi2.round(3).tolist()
    ([-0.987], [0.974])
    """

    def __init__(
        self,
        time: npt.NDArray[Any],
        event: npt.NDArray[Any],
        *,
        design: FloatArray | None = None,
        entry: npt.NDArray[Any] | None = None,
        strata: npt.NDArray[Any] | None = None,
        offset: FloatArray | None = None,
        ties: str = "efron",
    ) -> None:
        self._sets = sets = RiskSets(time, event, entry=entry, strata=strata, ties=ties)
        columns = np.empty((len(time), 0)) if design is None else np.asarray(design, dtype=np.float64)
        fit = fit_in_risk_sets(sets, columns, offset)
        self._hazard, self._at_risk = hazards_at_risk(sets, fit.log_hazard)
        self._expected = self._hazard * sets.over_events(1.0 / self._at_risk)
        self.residuals: FloatArray = np.asarray(sets.event - self._expected)
        centred = columns - columns.mean(axis=0)
        lengths = np.sqrt((centred**2).sum(axis=0))
        rows = np.ascontiguousarray((centred / np.where(lengths > 0, lengths, 1.0)).T)
        self._rows = rows
        self._inverse = np.linalg.pinv(cox_slopes(sets, rows, self._hazard, self._at_risk)[1], hermitian=True)
        # The information of a variable and a covariate is a sum over samples too: of the variable times these numbers.
        means = sets.at_events(self._hazard * rows) / self._at_risk
        of_means = self._hazard * sets.over_events(means / self._at_risk)
        self._joint = np.ascontiguousarray((rows * self._expected - of_means).T)

    def of(self, scores: FloatArray, *, refine_below: float = 0.0, n_threads: int = 1) -> CoxScores:
        """Test each row of scores, (n_vars, n_samples).

        Where the p-value of the score test is below `refine_below`, the likelihood ratio takes its place: that of the
        model in which the coefficients of covariates follow that of the variable as at the null hypothesis. It is at
        most the likelihood ratio of the full model, and equals it without covariates.
        """
        from scipy.special import ndtri

        size = max(1, _BLOCK_NUMBERS // max(scores.shape[1], 1))
        limit = -float(ndtri(refine_below / 2)) if refine_below > 0 else np.inf

        def test(block: slice) -> tuple[FloatArray, FloatArray]:
            x = scores[block] - scores[block].mean(axis=1, keepdims=True)
            u, information, of_covariates = self._slopes(x)
            tested = information > 0
            safe = np.where(tested, information, 1.0)
            statistic, coefficient = np.where(tested, u / np.sqrt(safe), 0.0), np.where(tested, u / safe, 0.0)
            again = np.flatnonzero(np.abs(statistic) > limit)
            if len(again):
                left = x[again] - of_covariates[again] @ self._rows
                statistic[again], coefficient[again] = self._signed_roots(left, coefficient[again])
            return statistic, coefficient

        blocks = [slice(start, start + size) for start in range(0, len(scores), size)]
        with one_blas_thread():
            parts = map_in_threads(test, blocks, n_threads)
        statistic, coefficient = (np.concatenate([part[i] for part in parts] or [np.empty(0)]) for i in (0, 1))
        return CoxScores(statistic, statistic**2, coefficient)

    def _slopes(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return score and information of each row, 0 where nothing is left to test, and coefficients of covariates.

        The coefficients, (n_rows, n_columns), are those of the part of the row that covariates explain.
        """
        u = x @ self.residuals
        total = (x * x) @ self._expected
        means = self._sets.at_events(x * self._hazard)
        means /= self._at_risk
        with_covariates = x @ self._joint
        explained = with_covariates @ self._inverse
        information = total - (means * means).sum(axis=1) - (explained * with_covariates).sum(axis=1)
        return u, np.where(information > _EXPLAINED * total, information, 0.0), explained

    def _signed_roots(self, x: FloatArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return signed roots of likelihood ratios and coefficients of rows, all of them climbing at once."""
        unit = np.abs(x).max(axis=1)
        x = x / unit[:, np.newaxis]
        seen = x[:, self._sets.samples].sum(axis=1)
        at_null = np.log(self._at_risk).sum()

        def climbed(b: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            of_row = x[rows]
            exponents = b[:, np.newaxis] * of_row
            # The largest exponent becomes 0, and is subtracted from each event's logarithm below.
            largest = exponents.max(axis=1, keepdims=True)
            hazard = self._hazard * np.exp(exponents - largest)
            at_risk = np.maximum(self._sets.hazards_at_risk(hazard), np.finfo(float).tiny)
            means = self._sets.at_events(hazard * of_row) / at_risk
            squares = self._sets.at_events(hazard * of_row * of_row) / at_risk
            value = b * seen[rows] - np.log(at_risk).sum(axis=1) - self._sets.n_events * largest[:, 0] + at_null
            return value, seen[rows] - means.sum(axis=1), (squares - means * means).sum(axis=1)

        every = np.arange(len(x))
        b, step = np.zeros(len(x)), np.clip(start * unit, -_LONGEST_STEP, _LONGEST_STEP)
        value, going = np.zeros(len(x)), every
        for _ in range(_MAX_STEPS):
            there, gradient, information = climbed(b[going] + step[going], going)
            up = there >= value[going]
            gained = there - value[going]
            rows = going[up]
            b[rows] += step[rows]
            value[rows] = there[up]
            newton = gradient[up] / np.maximum(information[up], 1e-300)
            step[rows] = np.clip(newton, -_LONGEST_STEP, _LONGEST_STEP)
            step[going[~up]] /= 2
            # A likelihood that grows without end, or a step that rounding has made useless, ends as well.
            going = going[(up & (gained > _ENOUGH)) | (~up & (np.abs(step[going]) > 1e-9))]
            if not len(going):
                break
        return np.sign(b) * np.sqrt(2.0 * value), b / unit
