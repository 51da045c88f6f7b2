"""Tuples whose gain reached a maximum → maximum gains."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.arrays import FloatArray, IntArray, MaxGains


def best_of_each(slots: Any, gains: Any, tuples: Any, xp: Any = np) -> Any:
    """Return which candidate of each slot has the largest gain and then the lowest tuple, slot by slot.

    Parameters
    ----------
    slots : (n,) array of integers
    gains : (n,) float64 array
    tuples : (n, k) array of integers
        Members in ascending order.
    xp : module
        NumPy, or CuPy for arrays on the device.

    Examples
    --------
    >>> best_of_each(np.array([7, 3, 7]), np.array([2.0, 9.0, 2.0]), np.array([[1, 5], [2, 4], [1, 3]]))
    array([1, 2])
    """
    # As whole numbers of this form gains sort like themselves.
    bits = gains.view(np.int64)
    ascending = xp.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    order = xp.lexsort(xp.stack([*tuples.astype(np.int64).T[::-1], ~ascending, slots.astype(np.int64)]))
    sorted_slots = slots[order]
    is_first = xp.ones(len(order), dtype=bool)
    is_first[1:] = sorted_slots[1:] != sorted_slots[:-1]
    return order[is_first]


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
    return found.merge(new)
