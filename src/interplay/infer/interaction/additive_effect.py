"""Counts of pairs with two levels and two classes → the interaction on the additive scale, and whether scales agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.two_level_fit import is_two_level

#: Added to every count, as for log odds ratios.
_ADDED = 0.5

#: Words for the scales on which a significant tuple interacts.
BOTH, LOG_ODDS_ONLY, OPPOSITE = "both", "log odds only", "opposite signs"


class ExcessRisk(NamedTuple):
    """RERI and its confidence interval, each (n_tuples,); NaN where it is not defined."""

    estimate: FloatArray
    low: FloatArray
    high: FloatArray


def relative_excess_risk(tables: IntArray, df: IntArray, *, confidence: float = 0.95) -> ExcessRisk:
    """Return the relative excess risk due to interaction (RERI) of pairs: OR₁₁ − OR₁₀ − OR₀₁ + 1.

    Odds ratios are those of each cell to the cell in which both members have level 0, and stand for ratios of risks
    where the second class is rare. 0 means that effects add up. The variance is that of the delta method (Hosmer and
    Lemeshow 1992), with ½ added to every count. Strata are weighted by their inverse variances.

    Parameters
    ----------
    tables : (n_tuples, n_strata, levels …, n_classes) int64
    df : (n_tuples, n_strata) int64
        Strata without degrees of freedom are left out.

    Examples
    --------
    >>> counts = np.array([[[90, 10], [80, 20]], [[80, 20], [40, 60]]])[np.newaxis, np.newaxis]
    >>> round(float(relative_excess_risk(counts, np.ones((1, 1), dtype=np.int64)).estimate[0]), 2)
    9.49
    """
    from scipy.special import ndtri

    n, n_strata, *shape = tables.shape
    unknown = np.full(n, np.nan)
    if len(shape) != 3 or not is_two_level(tuple(shape)):
        return ExcessRisk(unknown, unknown, unknown)
    counts = tables.reshape(n, n_strata, 4, 2) + _ADDED
    log_odds = np.log(counts[..., 1]) - np.log(counts[..., 0])
    ratio = np.exp(log_odds - log_odds[..., :1])  # of the cells 00, 01, 10, 11
    in_stratum = ratio[..., 3] - ratio[..., 2] - ratio[..., 1] + 1
    slopes = ratio * np.array([0.0, -1.0, -1.0, 1.0])
    slopes[..., 0] = -slopes[..., 1:].sum(axis=-1)
    variance = (slopes**2 * (1 / counts).sum(axis=-1)).sum(axis=-1)
    weights = np.where(df > 0, 1 / np.maximum(variance, 1e-300), 0.0)
    total = weights.sum(axis=1)
    known = total > 0
    estimate, error = unknown.copy(), unknown.copy()
    estimate[known] = (weights * in_stratum).sum(axis=1)[known] / total[known]
    error[known] = 1 / np.sqrt(total[known])
    reach = float(ndtri((1 + confidence) / 2)) * error
    return ExcessRisk(estimate, estimate - reach, estimate + reach)


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
