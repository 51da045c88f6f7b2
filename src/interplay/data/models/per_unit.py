"""Many variables, one at a time beside known columns → the slope of each: linear, and logistic for two classes.

Each variable has gaps of its own, and is fitted in the samples that have a value of it. Models of a block of variables
are fitted together, as products of matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray
from interplay.base.tails import log_chi2_tail, log_f_tail
from interplay.data.models.linear import independent_columns

#: Newton's steps of logistic models, the change of the slope at which they end, and the longest step.
_MAX_STEPS, _ENOUGH, _LONGEST = 25, 1e-8, 5.0

#: Share of a variable's squares that columns must leave for a slope to be told.
_ALIASED = 1e-9

#: Patterns of the known columns up to which samples with equal values are counted together.
_MAX_PATTERNS = 64

_LEVELS_COUNTED = 4


class PerUnit(NamedTuple):
    """The change of the outcome per unit of a variable, of each variable beside known columns."""

    #: `estimate`, `error`, (n,): differences of means, or log odds ratios, with standard errors; NaN where there is no
    #: finite estimate.
    estimate: FloatArray
    error: FloatArray
    #: (n,): ln p of Wald's test (t of numbers); NaN where there is no estimate.
    log_p: FloatArray
    #: (n,): share of the variance, beside the columns, that the variable explains; NaN of classes.
    explained: FloatArray
    #: (n,): logarithm to base 10 of the likelihood ratio of the models with and without the variable; of classes
    #: Wald's.
    lod: FloatArray
    is_log_odds: bool = False


def linear_per_unit(variables: FloatArray, values: FloatArray, columns: FloatArray) -> PerUnit:
    """Fit linear models of numbers.

    - `variables` (n_variables, n_samples): NaN for missing values.
    - `values` (n_samples,).
    - `columns` (n_samples, n_columns): with a constant among them.

    Examples
    --------
    >>> found = linear_per_unit(np.array([[0.0, 1, 2, 3]]), np.array([1.0, 3, 6, 6]), np.ones((4, 1)))
    >>> found.estimate.round(3).tolist(), found.error.round(3).tolist()
    ([1.8], [0.424])
    """
    known = ~np.isnan(variables)
    weights = known.astype(np.float64)
    basis = np.linalg.qr(independent_columns(columns))[0]
    n, q = basis.shape
    y = values - values.mean()
    spread = float(np.abs(y).max(initial=0.0)) or 1.0
    y = y / spread
    centre = np.divide((np.where(known, variables, 0.0)).sum(axis=1), np.maximum(weights.sum(axis=1), 1))
    x = np.where(known, variables - centre[:, np.newaxis], 0.0)
    outer = (basis[:, :, np.newaxis] * basis[:, np.newaxis, :]).reshape(n, q * q)
    inverse = np.linalg.pinv((weights @ outer).reshape(-1, q, q), hermitian=True)
    of_x, of_y = x @ basis, weights @ (basis * y[:, np.newaxis])
    solved = np.einsum("vij,vj->vi", inverse, of_x)
    square = (x**2).sum(axis=1)
    s_xx = square - (of_x * solved).sum(axis=1)
    s_xy = x @ y - (of_y * solved).sum(axis=1)
    s_yy = weights @ y**2 - (of_y * np.einsum("vij,vj->vi", inverse, of_y)).sum(axis=1)
    df = weights.sum(axis=1) - q - 1
    can = (s_xx > _ALIASED * np.maximum(square, 1e-300)) & (df > 0) & (s_yy > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(can, s_xy / s_xx, np.nan)
        left = np.maximum(s_yy - slope * s_xy, 0.0)
        error = np.sqrt(left / df / s_xx)
        explained = 1 - left / s_yy
        lod = -weights.sum(axis=1) / 2 * np.log10(np.maximum(left / s_yy, 1e-300))
        f = np.where(can, slope**2 / np.maximum(error**2, 1e-300), 0.0)
    log_p = np.where(can, log_f_tail(f, 1, np.maximum(df, 1)), np.nan)
    return PerUnit(slope * spread, error * spread, log_p, np.where(can, explained, np.nan), lod)


def logistic_per_unit(
    variables: FloatArray, is_second: BoolArray, columns: FloatArray, offset: FloatArray | None = None
) -> PerUnit:
    """Fit logistic models of two classes; parameters as in `linear_per_unit`, and the known log odds as `offset`.

    Examples
    --------
    >>> x = np.repeat([0.0, 1.0], 4)[np.newaxis]
    >>> found = logistic_per_unit(x, np.array([0, 0, 0, 1, 0, 1, 1, 1], dtype=bool), np.ones((8, 1)))
    >>> found.estimate.round(4).tolist(), found.error.round(4).tolist()
    ([2.1972], [1.633])
    """
    kept = independent_columns(columns)
    levels = np.unique(variables[~np.isnan(variables)])
    patterns, pattern = np.unique(kept, axis=0, return_inverse=True)
    if offset is None and len(levels) <= _LEVELS_COUNTED and len(patterns) <= _MAX_PATTERNS:
        # Samples that are alike are one: as many as levels times patterns.
        indicator = np.zeros((len(is_second), len(patterns)))
        indicator[np.arange(len(is_second)), pattern.reshape(-1)] = 1.0
        of_level = [(variables == level).astype(np.float64) for level in levels]
        weights = np.concatenate([one @ indicator for one in of_level], axis=1)
        seconds = np.concatenate([one @ (indicator * is_second[:, np.newaxis]) for one in of_level], axis=1)
        x = np.broadcast_to(np.repeat(levels, len(patterns)), weights.shape)
        return _logistic(x, weights, seconds, np.tile(patterns, (len(levels), 1)), None)
    known = ~np.isnan(variables)
    weights = known.astype(np.float64)
    return _logistic(np.where(known, variables, 0.0), weights, weights * is_second, kept, offset)


def _logistic(
    x: FloatArray, weights: FloatArray, seconds: FloatArray, columns: FloatArray, offset: FloatArray | None
) -> PerUnit:
    """Fit logistic models to samples with weights, of which `seconds` are of the second class."""
    (n_variables, n), q = x.shape, columns.shape[1]
    scaled = columns / np.maximum(np.abs(columns).max(axis=0), 1e-300)
    design = np.concatenate([np.broadcast_to(scaled, (n_variables, n, q)), x[:, :, np.newaxis]], axis=2)
    b = np.zeros((n_variables, q + 1))
    known = 0.0 if offset is None else offset
    inverse = np.zeros((n_variables, q + 1, q + 1))
    for _ in range(_MAX_STEPS):
        p = 1 / (1 + np.exp(-np.clip(np.einsum("vnj,vj->vn", design, b) + known, -500, 500)))
        weighted = design * (weights * p * (1 - p))[:, :, np.newaxis]
        inverse = np.linalg.pinv(np.matmul(design.transpose(0, 2, 1), weighted), hermitian=True, rcond=1e-12)
        slope = np.einsum("vnj,vn->vj", design, seconds - weights * p)
        step = np.clip(np.einsum("vij,vj->vi", inverse, slope), -_LONGEST, _LONGEST)
        b += step
        if np.abs(step).max(initial=0.0) < _ENOUGH:
            break
    estimate, variance = b[:, q], inverse[:, q, q]
    mean = np.divide((weights * x).sum(axis=1), np.maximum(weights.sum(axis=1), 1))
    varies = (weights * (x - mean[:, np.newaxis]) ** 2).sum(axis=1) > 0
    # Where a level has samples of one class alone, the estimate grows with every step.
    can = varies & (variance > 0) & (np.abs(step[:, q]) < _ENOUGH * 1e3) & (variance < 100)
    with np.errstate(divide="ignore", invalid="ignore"):
        chi2 = np.where(can, estimate**2 / variance, 0.0)
    nothing = np.full(n_variables, np.nan)
    return PerUnit(
        np.where(can, estimate, np.nan),
        np.where(can, np.sqrt(np.maximum(variance, 0.0)), np.nan),
        np.where(can, log_chi2_tail(chi2, 1), np.nan),
        nothing,
        np.where(can, chi2 / (2 * np.log(10)), np.nan),
        is_log_odds=True,
    )
