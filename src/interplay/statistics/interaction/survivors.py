"""Tables of tuples + thresholds by degrees of freedom → which may be significant, without a fit."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.statistics.interaction.bound import gain_bound, interaction_bound, subtuple_informations
from interplay.statistics.interaction.null_model import fewest_degrees_of_freedom, per_table

#: Bounds may be too low by this share, for rounding.
_ROUNDING = 1e-9


def may_be_significant(counts: IntArray, thresholds: FloatArray, *, strata: bool = False) -> BoolArray:
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
    df = fewest_degrees_of_freedom(tables).reshape(n_tuples, n_strata).sum(axis=1)
    needed = thresholds[np.clip(df, 1, len(thresholds) - 1)] * (1 - _ROUNDING)
    informations = subtuple_informations(tables)
    n_samples = tables.reshape(per_table(tables)).sum(axis=1)
    # The smallest gain of a member over all strata is not the sum of the smallest of each.
    by_part = (informations * n_samples[:, np.newaxis]).reshape(n_tuples, n_strata, -1).sum(axis=1)
    may_be = gain_bound(by_part, np.ones(n_tuples)) >= needed
    left = np.flatnonzero(may_be)
    may_be[left] = interaction_bound(counts[left], strata=strata) >= needed[left]
    return np.asarray(may_be)
