"""Moments of cells → how strong an interaction is, and where: a difference of differences, or the cell beyond H0.

Tests and intervals hold where cells differ in their variances.

The saturated model has one mean per cell, and the leverage of a sample is 1/n of its cell. So HC3 gives the mean of a
cell the variance V = Σ (z − mean)²/(n − 1)², and Wald's statistic of the interaction is the departure of the means from
H0 with weights 1/V. It is compared with F at the degrees of freedom of Johansen (1980), which are Welch's for one
contrast: with those of the residual, p-values of small cells are far too small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL
from interplay.infer.interaction.effect import Effect, LargestResidual, largest_entries, no_effects
from interplay.infer.number_interaction.cell_moments import CellMoments
from interplay.infer.number_interaction.f_test import (
    MAX_CONTRASTS,
    by_pattern,
    contrast_values,
    contrasts_between,
    f_log_p,
    full_contrasts,
    n_contrasts,
)

#: With less than this share of its variance left, H0 fits the mean of a cell exactly.
_FREE_VARIANCE = 1e-9


def is_two_level(levels: tuple[int, ...]) -> bool:
    """Say whether every member has two levels."""
    return all(c == 2 for c in levels)


def difference_of_differences(
    moments: CellMoments, *, fewest: int = FEWEST_IN_CELL, confidence: float = 0.95
) -> Effect:
    """Return Σ s·mean over the cells of members with two levels, s = +1 where all members are 1.

    For two members: by how much the effect of one grows as the other goes from 0 to 1, in the unit of the numbers. The
    interval is that of HC3's variances and Welch's degrees of freedom; strata are weighted by their inverse variances.
    It holds for a tuple chosen beforehand.

    Examples
    --------
    >>> from interplay.infer.number_interaction.cell_moments import cell_moments
    >>> cells, y = np.repeat([[0, 1, 2, 3]], 5, axis=1), np.arange(20.0) % 5 + np.repeat([0, 1, 1, 5], 5)
    >>> difference_of_differences(cell_moments(cells, y, (2, 2))).estimate.round(6).tolist()
    [3.0]
    """
    n_tuples, n_strata = moments.n.shape[:2]
    if not is_two_level(moments.levels):
        return no_effects(n_tuples)
    signs = np.sign(full_contrasts(moments.levels)[:, 0])
    variances = mean_variances(moments, fewest=fewest).reshape(n_tuples, n_strata, -1)
    n = moments.n.reshape(variances.shape)
    in_stratum = (moments.mean.reshape(variances.shape) * signs).sum(axis=2)
    variance = variances.sum(axis=2)
    known = np.isfinite(variance) & (variance > 0)
    share = np.divide(
        variances, variance[:, :, np.newaxis], out=np.zeros_like(variances), where=known[:, :, np.newaxis]
    )
    df = 1 / np.maximum((share**2 / np.maximum(n - 1, 1)).sum(axis=2), 1e-12)
    weight = np.divide(1.0, variance, out=np.zeros_like(variance), where=known)
    total = weight.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = (weight * in_stratum).sum(axis=1) / total
        error = 1 / np.sqrt(total)
    return interval(estimate, error, np.where(known, df, 0.0).sum(axis=1), confidence)


def interval(estimate: FloatArray, error: FloatArray, df: FloatArray, confidence: float = 0.95) -> Effect:
    """Return estimates with intervals of Student's t; NaN where an error is not known."""
    from scipy.special import stdtrit

    known = np.isfinite(estimate) & np.isfinite(error) & (df > 0)
    reach = stdtrit(np.where(known, df, 1.0), (1 + confidence) / 2) * np.where(known, error, np.nan)
    estimate = np.where(known, estimate, np.nan)
    return Effect(estimate, estimate - reach, estimate + reach)


def departures(moments: CellMoments, *, fewest: int = FEWEST_IN_CELL) -> tuple[FloatArray, FloatArray]:
    """Return by how much each cell's mean departs from the mean that H0 and all other cells lead to expect.

    That is the coefficient of the cell beside H0, with its standard error, each of the shape of the moments. The
    variance is that within cells. NaN in cells left out, where H0 fits a cell exactly, and in tables with too many
    contrasts.
    """
    shape = (len(moments.n) * moments.n.shape[1], int(np.prod(moments.levels)))
    departure, errors = np.full(shape, np.nan), np.full(shape, np.nan)
    if 0 < n_contrasts(moments.levels) <= MAX_CONTRASTS:
        n, mean = moments.n.reshape(shape), moments.mean.reshape(shape)
        variance = np.repeat(moments.rss / np.maximum(moments.n_samples - moments.n_cells, 1), moments.n.shape[1])
        for pattern, tables in by_pattern(n >= fewest):
            contrasts = contrasts_between(moments.levels, pattern)[pattern]
            if not contrasts.shape[1]:
                continue
            inside = np.ix_(tables, np.flatnonzero(pattern))
            v = 1 / n[inside]
            inverse = np.linalg.inv(np.matmul(contrasts.T, v[:, :, np.newaxis] * contrasts))
            back = np.matmul(contrasts, inverse)
            rest = v * np.matmul(back, contrast_values(mean[inside], contrasts)[:, :, np.newaxis])[:, :, 0]
            left = v**2 * (back * contrasts).sum(axis=2)
            free = (left > _FREE_VARIANCE * v) & (variance[tables, np.newaxis] > 0)
            share = np.divide(left, v, out=np.full_like(left, np.nan), where=free)  # 1 − leverage
            departure[inside] = rest / share
            errors[inside] = np.sqrt(left * variance[tables, np.newaxis]) / share
    return departure.reshape(moments.n.shape), errors.reshape(moments.n.shape)


def standardised_residuals(moments: CellMoments, *, fewest: int = FEWEST_IN_CELL) -> FloatArray:
    """Return departures of cells over their standard errors: N(0, 1) under H0; of the shape of the moments."""
    departure, errors = departures(moments, fewest=fewest)
    return np.asarray(departure / errors)


def effect_in_cell(moments: CellMoments, found: LargestResidual, *, fewest: int = FEWEST_IN_CELL) -> Effect:
    """Return the departures of the cells with the largest residuals; of other moments of the same cells, if given."""
    departure, errors = departures(moments, fewest=fewest)
    rows = np.arange(len(departure))
    where = (rows, found.stratum, *found.cell.T)
    known = ~np.isnan(found.value)
    df = np.asarray(moments.n_samples - moments.n_cells, dtype=np.float64)
    return interval(np.where(known, departure[where], np.nan), errors[where], df)


def largest_residual(moments: CellMoments, *, fewest: int = FEWEST_IN_CELL) -> LargestResidual:
    """Find where tuples depart most from H0."""
    value, where = largest_entries(standardised_residuals(moments, fewest=fewest))
    return LargestResidual(value, where[:, 0], where[:, 1:])


class RobustTest(NamedTuple):
    """Wald tests, each (n_tuples,): the statistic `wald`, its degrees of freedom `df`, `log_p`; NaN where untested."""

    wald: FloatArray
    df: FloatArray
    log_p: FloatArray


def mean_variances(moments: CellMoments, *, fewest: int = FEWEST_IN_CELL) -> FloatArray:
    """Return HC3's variances of the means of cells, (n_tuples, n_strata, levels …); infinite in cells left out.

    A sample alone in its cell has leverage 1, for which HC3 knows no variance: `fewest` must be at least 2. A cell
    whose samples are all equal takes the variance of all cells together: its own would make it certain.
    """
    n = moments.n
    n_pooled = np.maximum(moments.n_samples - moments.n_cells, 1)
    pooled = (moments.rss / n_pooled).reshape(-1, *(1,) * (n.ndim - 1))
    kept = n >= max(fewest, 2)
    own = np.divide(moments.within, (n - 1) ** 2, out=np.full_like(n, np.inf), where=kept)
    is_constant = kept & (moments.within <= 1e-12 * pooled)
    return np.where(is_constant, pooled / np.maximum(n, 1), own)


def robust_test(moments: CellMoments, *, fewest: int = FEWEST_IN_CELL) -> RobustTest:
    """Test the same hypothesis as `f_test`, without assuming one variance; squares `within` must be those of cells.

    Examples
    --------
    >>> from interplay.infer.number_interaction.cell_moments import cell_moments
    >>> cells, z = np.repeat([[0, 1, 2, 3]], 5, axis=1), np.arange(20.0) % 5 + np.repeat([0, 1, 1, 5], 5)
    >>> robust_test(cell_moments(cells, z, (2, 2))).wald.round(6).tolist()
    [3.6]
    """
    n_tuples, n_strata = moments.n.shape[:2]
    n_cells = int(np.prod(moments.levels))
    n = moments.n.reshape(-1, n_cells)
    mean, variance = moments.mean.reshape(-1, n_cells), mean_variances(moments, fewest=fewest).reshape(-1, n_cells)
    wald, df, a = np.zeros(len(n)), np.zeros(len(n)), np.zeros(len(n))
    if n_contrasts(moments.levels) > MAX_CONTRASTS:
        unknown = np.full(n_tuples, np.nan)
        return RobustTest(unknown, unknown, unknown)
    for pattern, tables in by_pattern(np.isfinite(variance)):
        contrasts = contrasts_between(moments.levels, pattern)[pattern]
        if not contrasts.shape[1]:
            continue
        inside = np.ix_(tables, np.flatnonzero(pattern))
        v = variance[inside]
        # A tuple whose cells are all constant has no variance at all.
        scale = np.maximum(v.mean(axis=1), np.finfo(float).tiny)
        v = np.maximum(v / scale[:, np.newaxis], 1e-12)
        values = contrast_values(mean[inside], contrasts)
        inverse = np.linalg.inv(np.matmul(contrasts.T, v[:, :, np.newaxis] * contrasts))
        solved = np.matmul(inverse, values[:, :, np.newaxis])[:, :, 0]
        with np.errstate(over="ignore"):
            wald[tables], df[tables] = (values * solved).sum(axis=1) / scale, contrasts.shape[1]
        # Σ P²/(n − 1), P the share of each cell in the contrasts' variance: 1/df of Welch for one contrast.
        share = v * (np.matmul(contrasts, inverse) * contrasts).sum(axis=2)
        a[tables] = (share**2 / (n[inside] - 1)).sum(axis=1)
    wald, df, a = (of_table.reshape(n_tuples, n_strata).sum(axis=1) for of_table in (wald, df, a))
    return RobustTest(wald, df, johansen_log_p(wald, df, a))


def johansen_log_p(wald: FloatArray, df: FloatArray, a: FloatArray) -> FloatArray:
    """Return ln p of Wald's statistic with variances that are estimated; `a` is Johansen's A, NaN where df is 0."""
    known = df > 0
    d, a = np.where(known, df, 1.0), np.maximum(a, 1e-12)
    log_p = f_log_p(wald / (d + 2 * a - 6 * a / (d + 2)), d, d * (d + 2) / (3 * a))
    return np.where(known, log_p, np.nan)
