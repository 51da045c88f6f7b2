"""Scores of many variables and times → score tests in Cox's model of covariates, one variable at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.models.cox import cox_slopes, fit_in_risk_sets, hazards_at_risk
from interplay.models.risk_sets import RiskSets

#: Numbers in a block of scores: a few arrays of this size fit a processor's cache.
_BLOCK_NUMBERS = 2**18

#: A variable of which covariates leave less than this share of the information is explained by them.
_EXPLAINED = 1e-8


class CoxScores(NamedTuple):
    """Score tests of variables, each added alone to the model of the covariates.

    Attributes
    ----------
    statistic : (n_vars,) float64
        Standard normal under the null hypothesis; positive where higher scores go with a higher hazard.
    chi2 : (n_vars,) float64
        Its square, with one degree of freedom.
    log_hazard_ratio : (n_vars,) float64
        A first step towards the coefficient, per unit of the score: score divided by information.
    """

    statistic: FloatArray
    chi2: FloatArray
    log_hazard_ratio: FloatArray


class CoxScoreTest:
    """Score tests in one model of covariates, which is fitted once.

    The score of a variable is its sum with martingale residuals of the covariate model as weights; without covariates
    this is the log-rank test. The variance is that of the partial likelihood: the information of the variable, less the
    part that covariates explain. Without ties, the test without covariates equals the log-rank test.

    Parameters
    ----------
    time, event, entry, strata, offset, ties
        As in `fit_cox`.
    design : (n_samples, n_columns) float64, optional
        Covariates.

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
        self._inverse = np.linalg.pinv(cox_slopes(sets, rows, self._hazard, self._at_risk)[1], hermitian=True)
        # The information of a variable and a covariate is a sum over samples too: of the variable times these numbers.
        means = sets.at_events(self._hazard * rows) / self._at_risk
        of_means = self._hazard * sets.over_events(means / self._at_risk)
        self._joint = np.ascontiguousarray((rows * self._expected - of_means).T)

    def of(self, scores: FloatArray, *, n_threads: int = 1) -> CoxScores:
        """Test each row of scores, (n_vars, n_samples)."""
        size = max(1, _BLOCK_NUMBERS // max(scores.shape[1], 1))
        blocks = [slice(start, start + size) for start in range(0, len(scores), size)]
        with one_blas_thread():
            parts = map_in_threads(lambda block: self._of_block(scores[block]), blocks, n_threads)
        u, information = (np.concatenate([part[i] for part in parts]) if parts else np.empty(0) for i in (0, 1))
        tested = information > 0
        safe = np.where(tested, information, 1.0)
        statistic = np.where(tested, u / np.sqrt(safe), 0.0)
        return CoxScores(statistic, statistic**2, np.where(tested, u / safe, 0.0))

    def _of_block(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return score and information of each row; 0 where nothing is left to test."""
        x = scores - scores.mean(axis=1, keepdims=True)
        u = x @ self.residuals
        total = (x * x) @ self._expected
        means = self._sets.at_events(x * self._hazard)
        means /= self._at_risk
        with_covariates = x @ self._joint
        information = total - (means * means).sum(axis=1)
        information -= ((with_covariates @ self._inverse) * with_covariates).sum(axis=1)
        return u, np.where(information > _EXPLAINED * total, information, 0.0)
