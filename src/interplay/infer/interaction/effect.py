"""How strong an interaction is, and where: a log odds ratio, or the entry that departs most from H0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.null_model import (
    chunks_of_tables,
    information,
    is_large,
    per_table,
    weighted_design,
)
from interplay.infer.interaction.two_level_fit import parity_signs

#: Added to every count: Woolf's estimate with it has a finite variance, and its intervals cover (Haldane, Anscombe).
_ADDED = 0.5

#: With less than this share of its variance left, H0 fits an entry exactly, whatever its count.
_FREE_VARIANCE = 1e-6


class LogOddsRatio(NamedTuple):
    """Estimates and their confidence intervals, each (n_tuples,); NaN where a tuple has no degrees of freedom."""

    estimate: FloatArray
    low: FloatArray
    high: FloatArray


class LargestResidual(NamedTuple):
    """The entry of every tuple with the largest adjusted residual in absolute value; numbers are −1 if there is none.

    `value` (n_tuples,), NaN if there is none; `stratum` (n_tuples,); `cell` (n_tuples, k), the levels of the members;
    `class_` (n_tuples,). Positive: more samples of the class than the parts of the tuple explain.
    """

    value: FloatArray
    stratum: IntArray
    cell: IntArray
    class_: IntArray


def interaction_log_odds(tables: IntArray, df: IntArray, *, confidence: float = 0.95) -> LogOddsRatio:
    """Return the log odds ratio of interaction: Σ s ln(n + ½), s = +1 where all members and the class are 1.

    For two members: how much the log odds ratio of one member and the outcome grows as the other goes from 0 to 1. The
    interval is Wald's, the variance Woolf's, Σ 1/(n + ½). Strata are weighted by their inverse variances.

    Parameters
    ----------
    tables : (n_tuples, n_strata, 2, …, 2) int64
    df : (n_tuples, n_strata) int64
        Strata without degrees of freedom know nothing of the interaction and are left out.
    confidence : float
        Coverage of the interval. It holds for a tuple chosen beforehand: tuples that were found because they are
        significant have estimates that are too large.
    """
    from scipy.special import ndtri

    signs = parity_signs(tables.shape[2:])
    counts = tables.reshape(*tables.shape[:2], signs.size) + _ADDED
    in_stratum = (signs * np.log(counts)).sum(axis=-1)
    weights = np.where(df > 0, 1 / (1 / counts).sum(axis=-1), 0.0)
    total = weights.sum(axis=1)
    known = total > 0
    estimate = np.full(len(tables), np.nan)
    estimate[known] = ((weights * in_stratum).sum(axis=1)[known]) / total[known]
    error = np.full(len(tables), np.nan)
    error[known] = 1 / np.sqrt(total[known])
    reach = float(ndtri((1 + confidence) / 2)) * error
    return LogOddsRatio(estimate, estimate - reach, estimate + reach)


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
        weighted = weighted_design(mu[chunk])
        # The diagonal of W(WᵀW)⁻¹Wᵀ, in a twentieth of the time of an SVD of W. The second step takes back what
        # `information` adds to the diagonal.
        regular = information(weighted)
        solved = np.linalg.solve(regular, weighted.mT)
        solved += np.linalg.solve(regular, weighted.mT - np.matmul(weighted.mT, np.matmul(weighted, solved)))
        variance_left -= np.einsum("tec,tce->te", weighted, solved)
        free = (variance_left > _FREE_VARIANCE) & (fitted > _FREE_VARIANCE)
        of_chunk = np.full(fitted.shape, np.nan)
        difference = tables[chunk].reshape(fitted.shape) - fitted
        of_chunk[free] = difference[free] / np.sqrt(fitted[free] * variance_left[free])
        residuals[chunk] = of_chunk.reshape(tables[chunk].shape)
    return residuals


def largest_residual(tables: IntArray, mu: FloatArray) -> LargestResidual:
    """Find where tuples depart most from H0: tables and their fit, (n_tuples, n_strata, levels …, n_classes)."""
    n_tuples, shape = len(tables), tables.shape[1:]
    residuals = adjusted_residuals(tables.reshape(-1, *shape[1:]), mu.reshape(-1, *shape[1:])).reshape(tables.shape)
    if shape[-1] == 2:
        residuals[..., 0] = np.nan  # the same as of class 1, with the other sign
    flat = residuals.reshape(per_table(tables))
    size = np.where(np.isnan(flat), -1.0, np.abs(flat))
    # Entries that are equal but for rounding: the first of them, on every machine.
    near = size >= size.max(axis=1, keepdims=True, initial=-1.0) * (1 - 1e-9)
    first = near.argmax(axis=1) if n_tuples else np.zeros(0, dtype=np.int64)
    value = flat[np.arange(n_tuples), first]
    where = np.stack(np.unravel_index(first, shape), axis=1).astype(np.int64)
    where[np.isnan(value)] = -1
    return LargestResidual(value, where[:, 0], where[:, 1:-1], where[:, -1])
