"""Tables of tuples + thresholds by degrees of freedom → which may be significant, without a fit."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.infer.interaction.bound import gain_bound, subtuple_informations
from interplay.infer.interaction.null_model import fewest_df, per_table
from interplay.infer.interaction.quick_fit import quick_fit

#: Bounds may be too low by this share, for rounding.
_ROUNDING = 1e-9


def may_be_significant(
    counts: IntArray, thresholds: FloatArray, *, strata: bool = False, n_threads: int = 1
) -> BoolArray:
    """Say which tuples have a G² that may reach the threshold of their degrees of freedom.

    Parameters
    ----------
    counts : (n_tuples, [n_strata,] levels …, n_classes) int64
        Samples per cell and class, without pseudocounts.
    thresholds : (max_df + 1,) float64
        As `g2_thresholds` returns them; the last is for more degrees of freedom, too.
    strata : bool
        Whether the second axis is the stratum.
    """
    by_stratum = counts if strata else counts[:, np.newaxis]
    n_tuples, n_strata, *shape = by_stratum.shape
    tables = by_stratum.reshape(n_tuples * n_strata, *shape)
    # The bounds, cheapest first: Kirkwood's in compiled code, at one degree of freedom and then at the fewest; gains.
    fit = quick_fit(tables, max_sweeps=0, n_threads=n_threads)
    bound = fit.g2.reshape(n_tuples, n_strata).sum(axis=1)
    left = np.flatnonzero(bound >= thresholds[1] * (1 - _ROUNDING))
    of_left = by_stratum[left].reshape(-1, *shape)
    is_complete = fit.is_complete.reshape(n_tuples, n_strata)[left].reshape(-1)
    df = fewest_df(of_left, is_complete).reshape(len(left), n_strata).sum(axis=1)
    needed = thresholds[np.clip(df, 1, len(thresholds) - 1)] * (1 - _ROUNDING)
    reaches = bound[left] >= needed
    left, needed = left[reaches], needed[reaches]
    may_be = np.zeros(n_tuples, dtype=np.bool_)
    if len(left) == 0:
        return may_be
    of_left = by_stratum[left].reshape(-1, *shape)
    n_samples = of_left.reshape(per_table(of_left)).sum(axis=1)
    # The smallest gain of a member over all strata is not the sum of the smallest of each.
    informations = subtuple_informations(of_left) * n_samples[:, np.newaxis]
    by_part = informations.reshape(len(left), n_strata, -1).sum(axis=1)
    may_be[left] = gain_bound(by_part, np.ones(len(left))) >= needed
    return may_be
