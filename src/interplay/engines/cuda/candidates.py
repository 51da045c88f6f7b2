"""Tuples whose gain reached a maximum → maximum gains."""

from __future__ import annotations

import numpy as np

from interplay.arrays import BoolArray, FloatArray, IntArray, MaxGains


def best_of_each(slots: IntArray, gains: FloatArray, tuples: IntArray) -> IntArray:
    """Return which candidate of each slot has the largest gain and then the lowest tuple, slot by slot.

    Parameters
    ----------
    slots : (n,) array of integers
    gains : (n,) float64 array
    tuples : (n, k) array of integers
        Members in ascending order.

    Examples
    --------
    >>> best_of_each(np.array([7, 3, 7]), np.array([2.0, 9.0, 2.0]), np.array([[1, 5], [2, 4], [1, 3]]))
    array([1, 2])
    """
    by_slot = np.argsort(slots, kind="stable")
    begins = _begins(slots[by_slot])
    # Most slots have one candidate: only the others are put in order by all there is.
    is_alone = begins & np.append(begins[1:], True)
    several = by_slot[~is_alone]
    order = several[np.lexsort([*tuples[several].T[::-1], -gains[several], slots[several]])]
    chosen = np.concatenate([by_slot[is_alone], order[_begins(slots[order])]])
    return np.asarray(chosen[np.argsort(slots[chosen], kind="stable")])


def _begins(in_order: IntArray) -> BoolArray:
    """Say where another value begins."""
    begins = np.ones(len(in_order), dtype=bool)
    begins[1:] = in_order[1:] != in_order[:-1]
    return begins


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
