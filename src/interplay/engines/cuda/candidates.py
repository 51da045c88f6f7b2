"""Tuples whose gain reached a maximum → maximum gains."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.arrays import FloatArray, IntArray, MaxGains


def lowest_of_each(slots: Any, tuples: Any, xp: Any = np) -> Any:
    """Return which candidate of each slot has the lowest tuple, slot by slot.

    Parameters
    ----------
    slots : (n,) array of integers
    tuples : (n, k) array of integers of the same type
        Members in ascending order.
    xp : module
        NumPy, or CuPy for arrays on the device.

    Examples
    --------
    >>> lowest_of_each(np.array([7, 3, 7]), np.array([[1, 5], [2, 4], [1, 3]]))
    array([1, 2])
    """
    order = xp.lexsort(xp.stack([*tuples.T[::-1], slots]))
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
