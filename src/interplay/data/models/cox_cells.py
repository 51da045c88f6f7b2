"""Times that may be censored, and many tables of cells → Cox's models with and without interaction, all at once.

All samples of a cell have one hazard. Newton's method runs on many tables together, in arrays of tables × cells ×
events: one by one, models of 850 pairs of 5000 times took 6 s, nearly all of it in Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.data.models.risk_sets import RiskSets

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
