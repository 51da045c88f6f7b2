"""Tuples whose gain reached a maximum → maximum gains."""

from __future__ import annotations

import numpy as np

from interplay.arrays import FloatArray, IntArray, MaxGains


def merge_candidates(
    found: MaxGains, row: IntArray, group: IntArray, gain: FloatArray, tuples: IntArray, discretization: int
) -> MaxGains:
    """Merge candidates of one discretisation into what was found before.

    Parameters
    ----------
    found : MaxGains
    row, group : (n,) int64
        Whose gain it is.
    gain : (n,) float64
    tuples : (n, k) int64
        Members, in any order.
    discretization : int
    """
    if not len(row):
        return found
    tuples = np.sort(tuples, axis=1)
    # Per row and group the largest gain, then the lowest tuple.
    order = np.lexsort((*tuples.T[::-1], -gain, group, row))
    row, group, gain, tuples = row[order], group[order], gain[order], tuples[order]
    is_first = np.ones(len(row), dtype=bool)
    is_first[1:] = (row[1:] != row[:-1]) | (group[1:] != group[:-1])
    slots = row[is_first], group[is_first]
    new = MaxGains(
        gain_by_group=np.full_like(found.gain_by_group, -np.inf),
        discretization_by_group=np.full_like(found.discretization_by_group, -1),
        tuples_by_group=np.full_like(found.tuples_by_group, -1),
        df_by_group=found.df_by_group,
        n_vars=found.n_vars,
    )
    new.gain_by_group[slots] = gain[is_first]
    new.discretization_by_group[slots] = discretization
    new.tuples_by_group[slots] = tuples[is_first]
    return found.merge(new)
