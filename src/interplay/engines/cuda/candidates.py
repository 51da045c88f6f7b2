"""The best tuple of each variable → maximum gains."""

from __future__ import annotations

import numpy as np

from interplay.arrays import FloatArray, IntArray, MaxGains


def merge_candidates(
    found: MaxGains, row: IntArray, group: IntArray, gain: FloatArray, tuples: IntArray, discretization: int
) -> MaxGains:
    """Merge candidates of one discretisation, one for each row and group, into what was found before.

    Parameters
    ----------
    found : MaxGains
    row, group : (n,) int64
        Whose gain it is.
    gain : (n,) float64
    tuples : (n, k) int64
        Members in ascending order.
    discretization : int
    """
    if not len(row):
        return found
    new = MaxGains(
        gain_by_group=np.full_like(found.gain_by_group, -np.inf),
        discretization_by_group=np.full_like(found.discretization_by_group, -1),
        tuples_by_group=np.full_like(found.tuples_by_group, -1),
        df_by_group=found.df_by_group,
        n_vars=found.n_vars,
    )
    new.gain_by_group[row, group] = gain
    new.discretization_by_group[row, group] = discretization
    new.tuples_by_group[row, group] = tuples
    return found.merge(new) if (found.discretization_by_group >= 0).any() else new
