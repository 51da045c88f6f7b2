"""A table → whether its rows have an order: neighbours that resemble each other, in the whole table or in groups.

The statistic of a column is the sum of products of neighbours, of ranks centred within groups. Given the ranks, all
orders of the samples of a group being equally likely, it has a known mean and variance. Columns and rows are samples
of the table's, so that a table of any size takes a moment.
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, numbered
from interplay.base.ranks import mid_ranks
from interplay.data.study.table import Table

#: Columns and rows that are looked at.
_MAX_COLUMNS, _MAX_ROWS = 200, 4000

#: Rows of a table without groups have an order if labels deviate so much, and so many columns do, each counted with so
#: many standard deviations at most, with a p-value below this. An outcome has so many parts at most.
_LABELS_DEVIATE, _FEWEST_COLUMNS, _LARGEST, _MAX_P, _N_PARTS = 3.0, 5, 3.0, 1e-3, 10


#: What is said of such rows.
ROWS_IN_ORDER = (
    "neighbouring rows resemble each other, in the outcome and in most columns, as in a series of times, places or "
    "batches; p-values are then too small: give order= (the time or number of each row), groups= or strata="
)


def sampled_columns(table: Table) -> FloatArray:
    """Return ranks, (n, n_rows), of columns spread over the table, and of its first rows; constants are left out."""
    n = min(table.n_vars, _MAX_COLUMNS)
    chosen = np.unique(np.linspace(0, table.n_vars - 1, n).astype(np.int64))
    values = np.asarray(table.columns(chosen), dtype=np.float64)[:, :_MAX_ROWS]
    known = ~np.isnan(values)
    ranks = mid_ranks(np.where(known, values, np.inf))
    mean = np.where(known, ranks, 0.0).sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    ranks = np.where(known, ranks - mean, 0.0)
    return np.asarray(ranks[np.ptp(ranks, axis=1) > 0])


def order_deviates(values: FloatArray, groups: IntArray) -> FloatArray:
    """Return how far neighbours in a group resemble each other, in standard deviations, (n_vars,).

    Examples
    --------
    >>> in_order, in_turns = np.arange(20.0), np.arange(20.0) % 2
    >>> order_deviates(np.stack([in_order, in_turns]), np.zeros(20, dtype=np.int64)).round(1).tolist()
    [4.2, -4.1]
    """
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    kept = sizes > 0
    n, starts = sizes[kept].astype(np.float64), starts[kept]
    z = values[:, by_group]
    z = z - np.repeat(np.add.reduceat(z, starts, axis=1) / n, sizes[kept], axis=1)
    follows = np.diff(groups[by_group]) == 0
    products = (z[:, 1:] * z[:, :-1] * follows).sum(axis=1)
    square, fourth = (np.add.reduceat(z**power, starts, axis=1) for power in (2, 4))
    # Expected products of distinct samples: z_i²z_j², z_i²z_jz_k, z_iz_jz_kz_l.
    several = n > 2
    n, square, fourth = n[several], square[:, several], fourth[:, several]
    e22 = (square**2 - fourth) / (n * (n - 1))
    e211 = (2 * fourth - square**2) / (n * (n - 1) * (n - 2))
    e1111 = (3 * square**2 - 6 * fourth) / (n * (n - 1) * (n - 2) * np.maximum(n - 3, 1))
    mean = -square / n
    others = (n - 1) ** 2 - (n - 1) - 2 * (n - 2)
    variance = ((n - 1) * e22 + 2 * (n - 2) * e211 + others * e1111 - mean**2).sum(axis=1)
    # Groups of two have one product, whatever their order.
    pairs = sizes[kept] == 2
    products += np.add.reduceat(z**2, starts, axis=1)[:, pairs].sum(axis=1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        deviates = (products - mean.sum(axis=1)) / np.sqrt(variance)
    return np.where(variance > 1e-12 * np.maximum(square.sum(axis=1), 1e-300) ** 2, deviates, 0.0)


def are_in_order(ranks: FloatArray, groups: IntArray, *, level: float = 0.05) -> bool:
    """Say whether neighbours resemble each other beyond chance, in any of the columns or on average over them."""
    from scipy.special import ndtr

    if not len(ranks):
        return False
    deviates = order_deviates(ranks, groups[: ranks.shape[1]])
    in_any = len(deviates) * float(ndtr(-deviates.max()))
    together = float(ndtr(-deviates.mean() / _error_of_mean(ranks)))
    return 2 * min(in_any, together) < level


def rows_are_in_order(table: Table, labels: IntArray, strata: IntArray | None) -> bool:
    """Say whether neighbouring rows resemble each other in the outcome and in most columns, within strata.

    A table sorted by its outcome is no such table: columns are compared within classes, or tenths of numbers. One
    column that numbers the rows does not make most of them.
    """
    from scipy.special import ndtr

    n = min(table.n_samples, _MAX_ROWS)
    labels, within = labels[:n], np.zeros(n, dtype=np.int64) if strata is None else strata[:n]
    ranks_of_labels = mid_ranks(labels)
    if table.n_vars < _FEWEST_COLUMNS or order_deviates(ranks_of_labels[np.newaxis], within)[0] < _LABELS_DEVIATE:
        return False
    parts = numbered(labels)
    if parts.max() >= _N_PARTS:
        steps = np.diff(labels)
        if (steps >= 0).all() or (steps <= 0).all():
            return False
        parts = (ranks_of_labels * (_N_PARTS / (n + 1))).astype(np.int64)
    ranks = sampled_columns(table)
    if len(ranks) < _FEWEST_COLUMNS:
        return False
    deviates = np.clip(order_deviates(ranks, within * (int(parts.max()) + 1) + parts), -_LARGEST, _LARGEST)
    return float(ndtr(-deviates.mean() / _error_of_mean(ranks))) < _MAX_P


def _error_of_mean(ranks: FloatArray) -> float:
    """Return the standard error of the mean deviate: deviates are correlated about as the squares of columns are."""
    scaled = ranks / np.sqrt((ranks**2).sum(axis=1, keepdims=True))
    return float(np.sqrt(((scaled @ scaled.T) ** 2).mean()))


def varies_within(labels: IntArray, groups: IntArray) -> bool:
    """Say whether samples of some group differ in their labels."""
    of_group = np.zeros(int(groups.max()) + 1, dtype=labels.dtype)
    of_group[groups] = labels
    varies: BoolArray = labels != of_group[groups]
    return bool(varies.any())
