"""Moments of cells → tests of interactions, and intervals of effects, that hold where cells differ in their variances.

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
from interplay.infer.number_interaction.cell_moments import CellMoments
from interplay.infer.number_interaction.departure import MAX_CONTRASTS
from interplay.infer.number_interaction.f_test import f_log_p
from interplay.infer.number_interaction.interaction_contrasts import (
    by_pattern,
    contrast_values,
    contrasts_between,
    n_contrasts,
)


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
