"""A cell of a tuple and a class → how much the odds of the class there depart from separate effects, with an interval.

The log odds of the class are those of H0, a sum of effects of proper subsets of the members, and one coefficient more
for the cell: its log odds ratio beside what all other cells lead to expect. The interval is Wald's.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.effect import LargestResidual, LogOddsRatio

#: Added to all counts where the cell has none of the class, or no other: the coefficient would have no end.
_ADDED = 0.5

_MAX_STEPS = 50
_CONVERGED = 1e-10

#: Larger tables are not fitted: columns of H0 times cells.
_MAX_ENTRIES = 1 << 14


def cell_log_odds(
    tables: IntArray, found: LargestResidual, rows: IntArray, *, confidence: float = 0.95
) -> LogOddsRatio:
    """Return the log odds ratios of the cells with the largest residuals, NaN but in some `rows`.

    Parameters
    ----------
    tables : (n_tuples, n_strata, levels …, n_classes) int64
    found : LargestResidual
        Of the same tuples.
    rows : (n_rows,) int64
        The tuples to fit.
    """
    from scipy.special import ndtri

    estimate, error = np.full(len(tables), np.nan), np.full(len(tables), np.nan)
    for row in rows.tolist():
        if not np.isnan(found.value[row]):
            table = tables[row, found.stratum[row]]
            estimate[row], error[row] = log_odds_in_cell(table, tuple(found.cell[row]), int(found.class_[row]))
    reach = float(ndtri((1 + confidence) / 2)) * error
    return LogOddsRatio(estimate, estimate - reach, estimate + reach)


def log_odds_in_cell(table: IntArray, cell: tuple[int, ...], class_: int) -> tuple[float, float]:
    """Return the log odds ratio of a class in a cell, and its standard error; NaN where it is not estimable.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.full((3, 3, 2), 50)
    >>> table[2, 2] = [20, 80]
    >>> log_odds, error = log_odds_in_cell(table, (2, 2), 1)
    >>> round(log_odds, 3), round(float(np.log(4)), 3)
    (1.386, 1.386)
    """
    levels = table.shape[:-1]
    nothing = (np.nan, np.nan)
    columns = np.column_stack([separate_effects(levels), np.zeros(int(np.prod(levels)))])
    place = int(np.ravel_multi_index(cell, levels))
    columns[place, -1] = 1.0
    n = table.reshape(-1, table.shape[-1]).sum(axis=1).astype(np.float64)
    hits = table.reshape(-1, table.shape[-1])[:, class_].astype(np.float64)
    if n[place] == 0 or columns.size > _MAX_ENTRIES:
        return nothing
    if hits[place] in (0.0, n[place]):
        hits, n = hits + _ADDED, n + 2 * _ADDED
    used = n > 0
    columns, n, hits = columns[used], n[used], hits[used]
    if np.linalg.matrix_rank(columns) == np.linalg.matrix_rank(columns[:, :-1]):
        return nothing  # H0 fits this cell whatever its counts are
    return _last_coefficient(columns, hits, n)


def separate_effects(levels: tuple[int, ...]) -> FloatArray:
    """Return columns that span all sums of effects of proper subsets of the members, (n_cells, n_columns)."""
    k = len(levels)
    codes = np.stack(np.unravel_index(np.arange(int(np.prod(levels))), levels))
    columns: list[FloatArray] = [np.ones((codes.shape[1], 1))]
    for size in range(1, k):
        for members in combinations(range(k), size):
            dummies = [np.ones((codes.shape[1], 1))]
            for member in members:
                own = (codes[member][:, np.newaxis] == np.arange(1, levels[member])).astype(np.float64)
                dummies = [(dummies[0][:, :, np.newaxis] * own[:, np.newaxis]).reshape(len(own), -1)]
            columns.append(dummies[0])
    return np.column_stack(columns)


def _last_coefficient(columns: FloatArray, hits: FloatArray, n: FloatArray) -> tuple[float, float]:
    """Return the last coefficient of a logistic model of counts, and its standard error, by Newton's method."""
    b = np.zeros(columns.shape[1])
    for _ in range(_MAX_STEPS):
        p = 1 / (1 + np.exp(-np.clip(columns @ b, -30, 30)))
        weight = np.maximum(n * p * (1 - p), 1e-12)
        inverse = np.linalg.pinv((columns * weight[:, np.newaxis]).T @ columns, hermitian=True)
        step = inverse @ (columns.T @ (hits - n * p))
        b = b + step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))
        if float(np.abs(step).max()) < _CONVERGED:
            break
    error = float(np.sqrt(max(inverse[-1, -1], 0.0)))
    return (float(b[-1]), error) if abs(b[-1]) < 15 and 0 < error < 15 else (float("nan"), float("nan"))
