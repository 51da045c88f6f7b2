"""Times that may be censored or truncated, and columns → Cox's proportional hazards; martingale residuals.

Models of cells, in which all samples of a cell have one hazard, are fitted to many tables together, in arrays of tables
× cells × events: one by one, models of 850 pairs of 5000 times took 6 s, nearly all of it in Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray, numbered
from interplay.data.models.linear import independent_places, largest_likelihood, with_dependent
from interplay.data.models.risk_sets import CellRiskSets, RiskSets, cells_of

#: A column that differs from its mean by at most this share of its largest value is a constant, but for rounding.
_CONSTANT = 1e-10

#: The log hazard of a sample, relative to the largest of its stratum, is no less.
_LEAST = -600.0


@dataclass(frozen=True, eq=False)
class CoxFit:
    """A model of proportional hazards, at the maximum of the partial likelihood."""

    #: (n_columns,): log hazard ratios; 0 for a column that is a sum of columns before it, or constant within strata. A
    #: coefficient of which the likelihood grows without end stops where it hardly grows any more.
    coefficients: FloatArray
    #: (n_columns, n_columns): the inverse of the information; NaN for columns that have no coefficient of their own.
    covariance: FloatArray
    #: `log_likelihood`, `log_likelihood_null`: of the partial likelihood: at the coefficients, and with all of them 0
    #: (the offset stays).
    log_likelihood: float
    log_likelihood_null: float
    #: (n_samples,): offset plus columns times coefficients, relative to a mean of columns.
    log_hazard: FloatArray
    #: Columns with a coefficient of their own.
    rank: int


def fit_cox(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    columns: FloatArray,
    *,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
    offset: FloatArray | None = None,
    ties: str = "efron",
) -> CoxFit:
    """Fit Cox's model of proportional hazards.

    - `time` (n_samples,): to the event, or to where the sample was last seen without it.
    - `event` (n_samples,).
    - `columns` (n_samples, n_columns): None of them a constant, which hazards do not have; there may be no columns.
    - `entry` (n_samples,): from where on each sample was seen (left truncation).
    - `strata` (n_samples,): each stratum has a baseline hazard of its own.
    - `offset` (n_samples,): known log hazards, relative to each other.
    - `ties`: "efron" (also the default of R's survival and of lifelines) or "breslow".

    Examples
    --------
    >>> time, event = np.arange(1.0, 9.0), np.ones(8, dtype=bool)
    >>> fit = fit_cox(time, event, np.array([[0.0], [0], [1], [0], [1], [1], [0], [1]]))
    >>> fit.coefficients.round(4).tolist(), round(fit.log_likelihood, 4)
    ([-0.7504], -10.1319)
    """
    return fit_in_risk_sets(RiskSets(time, event, entry=entry, strata=strata, ties=ties), columns, offset)


def fit_in_risk_sets(sets: RiskSets, columns: FloatArray, offset: FloatArray | None = None) -> CoxFit:
    """Fit the model of `fit_cox` to risk sets that several models share."""
    n, m = columns.shape
    known = np.zeros(n) if offset is None else np.asarray(offset, dtype=np.float64)
    null = cox_log_likelihood(sets, known)
    if not m or not sets.n_events:
        return CoxFit(np.zeros(m), np.full((m, m), np.nan), null, null, known, 0)
    cells = cells_of(columns) if offset is None and sets.n_strata == 1 else None
    if cells is None:
        centred, scale = _comparable(sets, columns)
        places = independent_places(centred[sets.ever_at_risk])
        rows = np.ascontiguousarray(centred[:, places].T)
        value, found, information = _top(sets, rows, known)
        log_hazard = known + found @ rows
    else:
        in_cells = CellRiskSets(sets, cells.of_sample, len(cells.first))
        centred, scale = _comparable(in_cells, columns[cells.first])
        places = independent_places(centred * np.sqrt(in_cells.n_ever_at_risk)[:, np.newaxis])
        rows = np.ascontiguousarray(centred[:, places].T)
        value, found, information = _top(in_cells, rows, np.zeros(len(cells.first)))
        log_hazard = (found @ rows)[cells.of_sample]
    inverse = np.linalg.pinv(information, hermitian=True)
    of_kept = scale[places]
    coefficients, covariance = with_dependent(found / of_kept, inverse / np.outer(of_kept, of_kept), places, m)
    return CoxFit(coefficients, covariance, value, null, log_hazard, len(places))


def _top(sets: RiskSets | CellRiskSets, rows: FloatArray, known: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the largest log-likelihood, the coefficients there, and their information."""

    def likelihood(b: FloatArray) -> tuple[float, Any]:
        log_hazard = known + b[0] @ rows
        hazard, at_risk = hazards_at_risk(sets, log_hazard)

        def slopes() -> tuple[FloatArray, FloatArray]:
            return cox_slopes(sets, rows, hazard, at_risk)

        return _log_likelihood(sets, log_hazard, at_risk), slopes

    value, found = largest_likelihood(likelihood, np.zeros((1, len(rows))))
    hazard, at_risk = hazards_at_risk(sets, known + found[0] @ rows)
    return value, found[0], cox_slopes(sets, rows, hazard, at_risk)[1]


def sandwich_covariance(
    sets: RiskSets, columns: FloatArray, fit: CoxFit, clusters: npt.NDArray[Any] | None = None
) -> FloatArray:
    """Return the covariance of coefficients that holds where hazards are not proportional (Lin and Wei, 1989).

    That of ``coxph(…, robust = TRUE)`` in R, and of ``coxph(…, cluster = …)`` with clusters.

    - `columns` (n_samples, n_columns): those that were fitted.
    - `clusters` (n_samples,): samples of one cluster need not be independent.

    Examples
    --------
    >>> sets = RiskSets(np.arange(1.0, 9.0), np.ones(8, dtype=bool))
    >>> columns = np.array([[0.0], [0], [1], [0], [1], [1], [0], [1]])
    >>> fit = fit_in_risk_sets(sets, columns)
    >>> fit.covariance.round(4).tolist(), sandwich_covariance(sets, columns, fit).round(4).tolist()
    ([[0.6033]], [[0.4781]])
    """
    known = np.isfinite(np.diag(fit.covariance))
    centred, scale = _comparable(sets, columns)
    residuals = score_residuals(sets, np.ascontiguousarray(centred[:, known].T), fit.log_hazard) * scale[known, None]
    # How much each coefficient changes without a sample, or without a cluster.
    changes = fit.covariance[np.ix_(known, known)] @ residuals
    if clusters is not None:
        number = numbered(clusters)
        changes = np.array([np.bincount(number, weights=one) for one in changes])
    covariance = np.full(fit.covariance.shape, np.nan)
    covariance[np.ix_(known, known)] = changes @ changes.T
    return covariance


def score_residuals(sets: RiskSets, rows: FloatArray, log_hazard: FloatArray) -> FloatArray:
    """Return the part of each sample in the gradient of the partial log-likelihood, (n_columns, n_samples).

    - `rows` (n_columns, n_samples): columns of the model.
    - `log_hazard` (n_samples,).
    """
    hazard, at_risk = hazards_at_risk(sets, log_hazard)
    means = sets.at_events(hazard * rows) / at_risk
    residuals = -hazard * (rows * sets.over_events(1.0 / at_risk) - sets.over_events(means / at_risk))
    # Of events at one time each sample has an equal part of all means.
    residuals[:, sets.samples] += rows[:, sets.samples] - sets.means_of_ties(means)
    return np.asarray(residuals)


def martingale_residuals(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    *,
    columns: FloatArray | None = None,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
    offset: FloatArray | None = None,
    ties: str = "efron",
) -> FloatArray:
    """Return events seen, 1 or 0, minus events expected by Cox's model of the columns, (n_samples,).

    Without columns and with Breslow's ties these are the scores of the log-rank test. Arguments are those of `fit_cox`.

    Examples
    --------
    >>> martingale_residuals(np.array([1.0, 2.0, 3.0]), np.array([True, False, True])).round(3).tolist()
    [0.667, -0.333, -0.333]
    """
    sets = RiskSets(time, event, entry=entry, strata=strata, ties=ties)
    if columns is None or not columns.shape[1]:
        log_hazard = np.zeros(len(time)) if offset is None else np.asarray(offset, dtype=np.float64)
    else:
        log_hazard = fit_in_risk_sets(sets, columns, offset).log_hazard
    return residuals_in_risk_sets(sets, log_hazard)


def residuals_in_risk_sets(sets: RiskSets, log_hazard: FloatArray) -> FloatArray:
    """Return martingale residuals at known log hazards, which are relative to each other within strata."""
    hazard, at_risk = hazards_at_risk(sets, log_hazard)
    return np.asarray(sets.event - hazard * sets.over_events(1.0 / at_risk))


def cox_log_likelihood(sets: RiskSets, log_hazard: FloatArray) -> float:
    """Return the logarithm of the partial likelihood at known log hazards."""
    return _log_likelihood(sets, log_hazard, hazards_at_risk(sets, log_hazard)[1])


def cox_slopes(
    sets: RiskSets | CellRiskSets, rows: FloatArray, hazard: FloatArray, at_risk: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return gradient and information of the partial log-likelihood: (n_columns,), (n_columns, n_columns).

    - `rows` (n_columns, n_samples): columns of the model; the nearer their means are to 0, the less is lost to
      rounding.
    - `hazard`, `at_risk` (n_samples,), (n_events,): of each sample, and summed over the samples at risk.
    """
    expected = hazard * sets.over_events(1.0 / at_risk)
    means = sets.at_events(hazard * rows) / at_risk
    return rows @ (sets.event - expected), (rows * expected) @ rows.T - means @ means.T


def hazards_at_risk(sets: RiskSets | CellRiskSets, log_hazard: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return hazards of samples, the largest of each stratum being 1, and their sums over samples at risk.

    (n_samples,), of log hazards that are relative to each other within strata, and (n_events,).
    """
    hazard = np.exp(_relative(sets, log_hazard))
    return hazard, sets.hazards_at_risk(hazard)


def _log_likelihood(sets: RiskSets | CellRiskSets, log_hazard: FloatArray, at_risk: FloatArray) -> float:
    return float(_relative(sets, log_hazard)[sets.samples].sum() - np.log(at_risk).sum())


def _relative(sets: RiskSets | CellRiskSets, log_hazard: FloatArray) -> FloatArray:
    """Subtract the largest log hazard of each stratum; that of samples never at risk, which do not count, is cut.

    Hazards too small to be told from 0 are one small number: their inverses, summed, are then none that overflow.
    """
    ever = sets.ever_at_risk
    if sets.n_strata == 1:
        return np.maximum(np.where(ever, log_hazard - log_hazard[ever].max(initial=-np.inf), 0.0), _LEAST)
    largest = np.full(sets.n_strata, -np.inf)
    np.maximum.at(largest, sets.stratum[ever], log_hazard[ever])
    largest = np.where(np.isfinite(largest), largest, 0.0)
    return np.maximum(np.where(ever, log_hazard - largest[sets.stratum], 0.0), _LEAST)


def _comparable(sets: RiskSets | CellRiskSets, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Centre columns within strata and divide them by their largest value, which is returned; constant ones become 0.

    Means and largest values are those of samples that were ever at risk: the others do not count.
    """
    counts = sets.n_ever_at_risk
    ever = counts[:, np.newaxis] > 0
    sizes = np.maximum(np.bincount(sets.stratum, weights=counts, minlength=sets.n_strata), 1)
    largest = np.abs(columns).max(axis=0, initial=0.0, where=ever)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = columns / unit
    sums = [np.bincount(sets.stratum, weights=counts * each, minlength=sets.n_strata) for each in scaled.T]
    centred = scaled - (np.array(sums) / sizes).T[sets.stratum]
    spread = np.abs(centred).max(axis=0, initial=0.0, where=ever)
    is_constant = spread < _CONSTANT
    spread = np.where(is_constant, 1.0, spread)
    return np.where(is_constant, 0.0, centred / spread), spread * unit


#: Whole steps of Newton's method, and what the next one may still add to the log-likelihood of a model that is fitted.
_MAX_STEPS, _ENOUGH = 12, 1e-13

#: Larger log hazards are those of steps that went astray.
_MOST = 300.0

#: Numbers in memory at once, of cells by samples: more do not fit into the cache.
_AT_ONCE = 1 << 17


class CellFits(NamedTuple):
    """Two models of each table of cells, the larger one with a hazard of its own for each cell."""

    #: (n_tables,): false where a model did not converge, as with a cell without events.
    is_known: BoolArray
    #: (n_tables,): the likelihood ratio.
    chi2: FloatArray
    #: (n_tables, n_cells): of the larger model, relative to the first cell.
    log_hazard: FloatArray
    #: `covariance`, `robust`, (n_tables, n_cells, n_cells): of the log hazards: of the likelihood, and Lin and Wei's,
    #: which holds where hazards are not proportional.
    covariance: FloatArray
    robust: FloatArray


def fit_cells(sets: RiskSets, cells: IntArray, smaller: FloatArray) -> CellFits:
    """Fit the models of many tables.

    - `sets`: of one stratum.
    - `cells` (n_tables, n_samples): the cell of each sample.
    - `smaller` (n_cells, n_columns): columns of the smaller model, by cell, without a constant.

    Examples
    --------
    >>> sets = RiskSets(np.arange(8.0), np.ones(8, dtype=bool))
    >>> fits = fit_cells(sets, np.array([[0, 0, 1, 0, 1, 1, 0, 1]]), np.empty((2, 0)))
    >>> fits.chi2.round(4).tolist(), fits.log_hazard.round(4).tolist()
    ([0.9455], [[0.0, -0.7504]])
    """
    size = max(1, _AT_ONCE // (len(smaller) * cells.shape[1]))
    parts = [_fit_some(sets, cells[first : first + size], smaller) for first in range(0, max(len(cells), 1), size)]
    return CellFits(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _fit_some(sets: RiskSets, cells: IntArray, smaller: FloatArray) -> CellFits:
    n_cells = len(smaller)
    tables = np.arange(len(cells))
    of_cells = cells[:, np.newaxis] == np.arange(n_cells)[:, np.newaxis]
    at_risk = sets.at_events(of_cells)
    of_events = np.take(of_cells, sets.samples, axis=-1)
    events = of_events.sum(axis=-1)
    larger = np.eye(n_cells)[:, 1:]
    b, lowest, _, has_less = _newton(events, at_risk, smaller, np.zeros((len(cells), smaller.shape[1])))
    start = b @ smaller.T
    b, highest, information, has_more = _newton(events, at_risk, larger, (start - start[:, :1])[:, 1:])
    log_hazard = b @ larger.T
    is_known = has_less & has_more & (events > 0).all(axis=1)
    covariance = np.zeros((len(cells), n_cells, n_cells))
    covariance[:, 1:, 1:] = np.linalg.inv(np.where(is_known[:, np.newaxis, np.newaxis], information, larger[1:]))
    # The part of each sample in the gradient, as in `score_residuals`.
    hazard = np.exp(np.clip(log_hazard, -_MOST, _MOST))
    total = np.matmul(hazard[:, np.newaxis], at_risk)[:, 0]
    means = hazard[..., np.newaxis] * at_risk / total[:, np.newaxis]
    own = hazard[tables[:, np.newaxis], cells]
    residuals = sets.over_events(means / total[:, np.newaxis])
    residuals -= of_cells * sets.over_events(1.0 / total)[:, np.newaxis]
    residuals *= own[:, np.newaxis]
    residuals[..., sets.samples] = np.take(residuals, sets.samples, axis=-1) + (of_events - sets.means_of_ties(means))
    robust = covariance @ np.matmul(residuals, residuals.mT) @ covariance
    chi2 = np.where(is_known, np.maximum(2 * (highest - lowest), 0.0), np.nan)
    return CellFits(is_known, chi2, log_hazard, covariance, robust)


def _newton(
    events: FloatArray, at_risk: FloatArray, columns: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Return coefficients, log-likelihoods, information, and which tables are at their maximum.

    `events` (n_tables, n_cells), `at_risk` (n_tables, n_cells, n_events), `columns` (n_cells, n_columns), `start`
    (n_tables, n_columns).
    """
    n_columns = columns.shape[1]
    b, best = start, np.full(len(events), -np.inf)
    is_at_top = np.zeros(len(events), dtype=np.bool_)
    information = np.empty((len(events), n_columns, n_columns))
    for _ in range(_MAX_STEPS):
        log_hazard = b @ columns.T
        hazard = np.exp(np.clip(log_hazard, -_MOST, _MOST))
        total = np.matmul(hazard[:, np.newaxis], at_risk)[:, 0]
        value = (events * log_hazard).sum(axis=1) - np.log(total).sum(axis=1)
        means = hazard[..., np.newaxis] * at_risk / total[:, np.newaxis]
        expected = means.sum(axis=-1)
        of_cells = expected[..., np.newaxis] * np.eye(len(columns)) - np.matmul(means, means.mT)
        gradient = (events - expected) @ columns
        information = columns.T @ of_cells @ columns + 1e-12 * np.eye(n_columns)
        step = np.linalg.solve(information, gradient[..., np.newaxis])[..., 0]
        # A step that leads down is one of a table that is left to a fit of its own.
        is_better = (value >= best - 1e-9) & np.isfinite(step).all(axis=1)
        is_at_top = is_better & (np.abs((gradient * step).sum(axis=1)) < _ENOUGH * np.maximum(np.abs(value), 1.0))
        best = np.where(is_better, np.maximum(value, best), np.inf)
        if (is_at_top | ~is_better).all():
            break
        b = b + np.where(is_better[:, np.newaxis], step, 0.0)
    return b, best, information, is_at_top
