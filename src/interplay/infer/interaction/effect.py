"""How strong an interaction is, and where: a log odds ratio, or the entry that departs most from H0.

A cell of a tuple and a class → how much the odds of the class there depart from separate effects, with an interval.

The log odds of the class are those of H0, a sum of effects of proper subsets of the members, and one coefficient more
for the cell: its log odds ratio beside what all other cells lead to expect. The interval is Wald's.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, places_of_each
from interplay.infer.interaction.null_model import (
    chunks_of_tables,
    information,
    is_large,
    is_two_level,
    parity_signs,
    per_table,
    weighted_design,
)

#: Added to every count: Woolf's estimate with it has a finite variance, and its intervals cover (Haldane, Anscombe).
_ADDED = 0.5

#: With less than this share of its variance left, H0 fits an entry exactly, whatever its count.
_FREE_VARIANCE = 1e-6


class Effect(NamedTuple):
    """Estimates with their confidence intervals, each (n_tuples,); NaN where there is none."""

    estimate: FloatArray
    low: FloatArray
    high: FloatArray

    def times(self, unit: float) -> Effect:
        """Return the same of values in another unit."""
        return Effect(*(values * unit for values in self))


def no_effects(n_tuples: int) -> Effect:
    """Return effects that are not known."""
    return Effect(*np.full((3, n_tuples), np.nan))


def wald_interval(estimate: FloatArray, error: FloatArray, confidence: float = 0.95) -> Effect:
    """Return estimates with normal intervals."""
    from scipy.special import ndtri

    reach = float(ndtri((1 + confidence) / 2)) * error
    return Effect(estimate, estimate - reach, estimate + reach)


def _over_strata(in_stratum: FloatArray, weights: FloatArray, confidence: float) -> Effect:
    """Return the means of strata, both (n_tuples, n_strata), weighted by their inverse variances."""
    total = weights.sum(axis=1)
    known = total > 0
    estimate, error = np.full((2, len(total)), np.nan)
    estimate[known] = (weights * in_stratum).sum(axis=1)[known] / total[known]
    error[known] = 1 / np.sqrt(total[known])
    return wald_interval(estimate, error, confidence)


class LargestResidual(NamedTuple):
    """The entry of every tuple with the largest residual in absolute value; numbers are −1 if there is none.

    `value` (n_tuples,), in its standard errors, NaN if there is none; `stratum` (n_tuples,); `cell` (n_tuples, k), the
    levels of the members; `class_` (n_tuples,), None for numbers. Positive: more samples of the class, or larger
    numbers, than the parts of the tuple explain.
    """

    value: FloatArray
    stratum: IntArray
    cell: IntArray
    class_: IntArray | None = None


def interaction_log_odds(tables: IntArray, df: IntArray, *, confidence: float = 0.95) -> Effect:
    """Return the log odds ratio of interaction: Σ s ln(n + ½), s = +1 where all members and the class are 1.

    For two members: how much the log odds ratio of one member and the outcome grows as the other goes from 0 to 1. The
    interval is Wald's, the variance Woolf's, Σ 1/(n + ½). Strata are weighted by their inverse variances.

    - `tables` (n_tuples, n_strata, 2, …, 2).
    - `df` (n_tuples, n_strata): strata without degrees of freedom know nothing of the interaction and are left out.
    - `confidence`: coverage of the interval. It holds for a tuple chosen beforehand: tuples that were found because
      they are significant have estimates that are too large.
    """
    signs = parity_signs(tables.shape[2:])
    counts = tables.reshape(*tables.shape[:2], signs.size) + _ADDED
    in_stratum = (signs * np.log(counts)).sum(axis=-1)
    return _over_strata(in_stratum, np.where(df > 0, 1 / (1 / counts).sum(axis=-1), 0.0), confidence)


#: Entries with weight are counted in steps of this many.
_ROWS_STEP = 16


def adjusted_residuals(tables: IntArray, mu: FloatArray) -> FloatArray:
    """Return (n − μ)/√(μ(1 − h)), h the leverage of the entry: N(0, 1) under H0; of the shape of the tables.

    NaN where H0 leaves an entry no freedom, and in tables too large for their columns. With two classes, the residuals
    of the classes differ in sign only.
    """
    residuals = np.full(tables.shape, np.nan)
    if is_large(tables.shape[1:]):
        return residuals
    for chunk in chunks_of_tables(tables):
        fitted = mu[chunk].reshape(per_table(mu[chunk]))
        in_cell = np.repeat(mu[chunk].sum(axis=-1).reshape(len(fitted), -1), tables.shape[-1], axis=1)
        # Leverage: of a(x), which fits the cell sizes, and of the bᵢ beside it.
        variance_left = 1 - np.divide(fitted, in_cell, out=np.ones_like(fitted), where=in_cell > 0)
        variance_left -= _leverages(weighted_design(mu[chunk]))
        free = (variance_left > _FREE_VARIANCE) & (fitted > _FREE_VARIANCE)
        of_chunk = np.full(fitted.shape, np.nan)
        difference = tables[chunk].reshape(fitted.shape) - fitted
        of_chunk[free] = difference[free] / np.sqrt(fitted[free] * variance_left[free])
        residuals[chunk] = of_chunk.reshape(tables[chunk].shape)
    return residuals


def _leverages(weighted: FloatArray) -> FloatArray:
    """Return the diagonal of W(WᵀW)⁻¹Wᵀ, (n_tables, n_entries), in a twentieth of the time of an SVD of W.

    Of 189 entries of a triple of 73 samples, 41 have any weight: the rows of the others are left out.
    """
    found = np.zeros(weighted.shape[:2])
    has_weight: BoolArray = np.asarray(weighted.any(axis=2))
    # Sizes in steps, so that the last bits of a tuple do not depend on others.
    size = np.minimum(-(-has_weight.sum(axis=1) // _ROWS_STEP) * _ROWS_STEP, weighted.shape[1])
    for tables in places_of_each(size[:, np.newaxis]):
        entries = np.argsort(~has_weight[tables], axis=1, kind="stable")[:, : size[tables[0]]]
        rows = np.take_along_axis(weighted[tables], entries[..., np.newaxis], axis=1)
        # The second step takes back what `information` adds to the diagonal.
        regular = information(rows)
        solved = np.linalg.solve(regular, rows.mT)
        solved += np.linalg.solve(regular, rows.mT - np.matmul(rows.mT, np.matmul(rows, solved)))
        found[tables[:, np.newaxis], entries] = np.einsum("tec,tce->te", rows, solved)
    return found


def largest_residual(tables: IntArray, mu: FloatArray) -> LargestResidual:
    """Find where tuples depart most from H0: tables and their fit, (n_tuples, n_strata, levels …, n_classes)."""
    shape = tables.shape[2:]
    residuals = adjusted_residuals(tables.reshape(-1, *shape), mu.reshape(-1, *shape)).reshape(tables.shape)
    if shape[-1] == 2:
        residuals[..., 0] = np.nan  # the same as of class 1, with the other sign
    value, where = largest_entries(residuals)
    return LargestResidual(value, where[:, 0], where[:, 1:-1], where[:, -1])


def largest_entries(residuals: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the largest entry of each tuple in absolute value, and its place, (n_tuples, n_axes); −1 for none."""
    n_tuples, shape = len(residuals), residuals.shape[1:]
    flat = residuals.reshape(per_table(residuals))
    size = np.where(np.isnan(flat), -1.0, np.abs(flat))
    # Entries that are equal but for rounding: the first of them, on every machine.
    near = size >= size.max(axis=1, keepdims=True, initial=-1.0) * (1 - 1e-9)
    first = near.argmax(axis=1) if n_tuples else np.zeros(0, dtype=np.int64)
    value = flat[np.arange(n_tuples), first]
    where = np.stack(np.unravel_index(first, shape), axis=1).astype(np.int64)
    where[np.isnan(value)] = -1
    return value, where


_MAX_STEPS = 50
_CONVERGED = 1e-10

#: Larger tables are not fitted: columns of H0 times cells.
_MAX_ENTRIES = 1 << 14


def cell_log_odds(tables: IntArray, found: LargestResidual, rows: IntArray, *, confidence: float = 0.95) -> Effect:
    """Return the log odds ratios of the cells with the largest residuals, NaN but in some `rows`.

    - `tables` (n_tuples, n_strata, levels …, n_classes).
    - `found`: of the same tuples.
    - `rows` (n_rows,): the tuples to fit.
    """
    assert found.class_ is not None
    estimate, error = np.full((2, len(tables)), np.nan)
    for row in rows.tolist():
        if not np.isnan(found.value[row]):
            table = tables[row, found.stratum[row]]
            estimate[row], error[row] = log_odds_in_cell(table, tuple(found.cell[row]), int(found.class_[row]))
    return wald_interval(estimate, error, confidence)


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


#: Words for the scales on which a significant tuple interacts.
BOTH, LOG_ODDS_ONLY, OPPOSITE = "both", "log odds only", "opposite signs"


def relative_excess_risk(tables: IntArray, df: IntArray, *, confidence: float = 0.95) -> Effect:
    """Return the relative excess risk due to interaction (RERI) of pairs: OR₁₁ − OR₁₀ − OR₀₁ + 1.

    Odds ratios are those of each cell to the cell in which both members have level 0, and stand for ratios of risks
    where the second class is rare. 0 means that effects add up. The variance is that of the delta method (Hosmer and
    Lemeshow 1992), with ½ added to every count. Strata are weighted by their inverse variances.

    - `tables` (n_tuples, n_strata, levels …, n_classes).
    - `df` (n_tuples, n_strata): strata without degrees of freedom are left out.

    Examples
    --------
    >>> counts = np.array([[[90, 10], [80, 20]], [[80, 20], [40, 60]]])[np.newaxis, np.newaxis]
    >>> round(float(relative_excess_risk(counts, np.ones((1, 1), dtype=np.int64)).estimate[0]), 2)
    9.49
    """
    n, n_strata, *shape = tables.shape
    if len(shape) != 3 or not is_two_level(tuple(shape)):
        return no_effects(n)
    counts = tables.reshape(n, n_strata, 4, 2) + _ADDED
    log_odds = np.log(counts[..., 1]) - np.log(counts[..., 0])
    ratio = np.exp(log_odds - log_odds[..., :1])  # of the cells 00, 01, 10, 11
    in_stratum = ratio[..., 3] - ratio[..., 2] - ratio[..., 1] + 1
    slopes = ratio * np.array([0.0, -1.0, -1.0, 1.0])
    slopes[..., 0] = -slopes[..., 1:].sum(axis=-1)
    variance = (slopes**2 * (1 / counts).sum(axis=-1)).sum(axis=-1)
    return _over_strata(in_stratum, np.where(df > 0, 1 / np.maximum(variance, 1e-300), 0.0), confidence)


def class_scale_words(log_or: FloatArray, reri: FloatArray, low: FloatArray, high: FloatArray) -> list[str]:
    """Return for each tuple "both", "log odds only" or "opposite signs"; "" where RERI is not known.

    Effects that multiply on the scale of odds add up to more than their sum on the additive one. An interaction is
    one of "log odds only" where the interval of RERI contains 0.

    Examples
    --------
    >>> class_scale_words(*np.array([[1.0, 1.0, -1.0], [2.0, 0.1, 3.0], [1.0, -1.0, 2.0], [3.0, 1.2, 4.0]]))
    ['both', 'log odds only', 'opposite signs']
    """
    words = []
    for one, other, lower, upper in zip(log_or.tolist(), reri.tolist(), low.tolist(), high.tolist(), strict=True):
        if np.isnan(one) or np.isnan(lower):
            words.append("")
        elif lower <= 0 <= upper:
            words.append(LOG_ODDS_ONLY)
        else:
            words.append(BOTH if one * other > 0 else OPPOSITE)
    return words
