"""The best tuple of each variable → maximum gains."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, MaxGains


def merge_candidates(
    found: MaxGains, row: IntArray, group: IntArray, gain: FloatArray, tuples: IntArray, discretization: int
) -> MaxGains:
    """Merge candidates of one discretisation, one for each row and group, into the maxima found before.

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
    shape = found.tuples_by_group.shape
    # Where each slot's candidate is; the last, which is none, for slots without one. To gather is faster than to
    # scatter, and by one index than by two.
    place = np.full(shape[0] * shape[1], -1)
    place[row * shape[1] + group] = np.arange(len(row))
    no_tuple = np.full((1, shape[2]), -1, dtype=np.int64)
    new = MaxGains(
        gain_by_group=np.append(gain, -np.inf).take(place).reshape(shape[:2]),
        discretization_by_group=np.where(place >= 0, discretization, -1).reshape(shape[:2]),
        tuples_by_group=np.concatenate([tuples, no_tuple]).take(place, axis=0).reshape(shape),
        df_by_group=found.df_by_group,
        n_vars=found.n_vars,
    )
    return found.merge(new) if (found.discretization_by_group >= 0).any() else new
