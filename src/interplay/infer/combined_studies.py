"""Tests of several studies → one: a fixed effect with its heterogeneity, or p-values on the scale of χ²."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import chi2_of_log_tail, log_chi2_tail


class FixedEffect(NamedTuple):
    """One effect of several studies, each field (n,); NaN where fewer than two studies have an effect.

    `estimate` and `error` are weighted by inverse variances, `log_p` is that of the normal test of no effect. `q`, `df`
    and `log_p_heterogeneity` are Cochran's test that studies have one effect; `i2` is the share of the variance of
    estimates that errors do not explain.
    """

    estimate: FloatArray
    error: FloatArray
    log_p: FloatArray
    q: FloatArray
    df: IntArray
    log_p_heterogeneity: FloatArray
    i2: FloatArray


def fixed_effect(effects: npt.ArrayLike, errors: npt.ArrayLike) -> FixedEffect:
    """Combine effects, (n, n_studies), by the inverses of their squared standard errors; NaN for an unknown effect.

    Examples
    --------
    >>> both = fixed_effect([[0.5, 0.9]], [[0.2, 0.2]])
    >>> both.estimate.round(3).tolist(), both.q.round(3).tolist(), both.i2.round(3).tolist()
    ([0.7], [2.0], [0.5])
    """
    effect, error = np.asarray(effects, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    known = np.isfinite(effect) & np.isfinite(error) & (error > 0)
    weight = np.divide(1.0, error**2, out=np.zeros_like(error), where=known)
    total, n_known = weight.sum(axis=1), known.sum(axis=1)
    enough = n_known >= 2
    plain = np.where(known, effect, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.where(enough, (weight * plain).sum(axis=1) / total, np.nan)
        combined_error = np.where(enough, 1 / np.sqrt(total), np.nan)
        q = np.where(enough, (weight * (plain - estimate[:, np.newaxis]) ** 2).sum(axis=1), np.nan)
        df = np.where(enough, n_known - 1, 0)
        i2 = np.where(q > 0, np.maximum(q - df, 0.0) / q, 0.0 * q)
    log_p, log_p_q = np.full(len(effect), np.nan), np.full(len(effect), np.nan)
    # The square of a normal statistic is χ² with one degree of freedom, whose tail does not underflow.
    log_p[enough] = log_chi2_tail((estimate[enough] / combined_error[enough]) ** 2, 1)
    log_p_q[enough] = log_chi2_tail(q[enough], df[enough])
    return FixedEffect(estimate, combined_error, log_p, q, df.astype(np.int64), log_p_q, i2)


class SummedChi2(NamedTuple):
    """Sums of χ² over studies, each field (n,); NaN, and no degrees of freedom, without two studies."""

    statistic: FloatArray
    df: IntArray
    log_p: FloatArray


def summed_chi2(log_p: npt.ArrayLike, df: npt.ArrayLike) -> SummedChi2:
    """Combine p-values of independent studies, (n, n_studies): each becomes the χ² of its degrees of freedom.

    This is Lancaster's method. Where p-values are those of G², it adds up G² and degrees of freedom, and p-values that
    were corrected keep their correction. With two degrees of freedom each it is Fisher's method. NaN and no degrees of
    freedom stand for an unknown p-value.

    Examples
    --------
    >>> both = summed_chi2(np.log([[0.01, 0.2]]), [[2, 2]])
    >>> both.statistic.round(3).tolist(), np.exp(both.log_p).round(4).tolist()
    ([12.429], [0.0144])
    """
    log_tail, of_study = np.asarray(log_p, dtype=np.float64), np.asarray(df, dtype=np.int64)
    known = ~np.isnan(log_tail) & (of_study > 0)
    # With two degrees of freedom χ² is −2 ln p; tables of all variables have many of these.
    chi2 = np.where(known & (of_study == 2), -2 * np.where(known, log_tail, 0.0), 0.0)
    for place in zip(*np.nonzero(known & (of_study != 2)), strict=True):
        chi2[place] = chi2_of_log_tail(float(log_tail[place]), int(of_study[place]))
    enough = known.sum(axis=1) >= 2
    statistic = np.where(enough, chi2.sum(axis=1), np.nan)
    total = np.where(enough, np.where(known, of_study, 0).sum(axis=1), 0)
    combined = np.full(len(log_tail), np.nan)
    combined[enough] = log_chi2_tail(statistic[enough], total[enough])
    return SummedChi2(statistic, total.astype(np.int64), combined)
