"""p-values of tuples in several discretisations → the best discretisation of each tuple."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray


def best_of_each(rows: IntArray, log_p: FloatArray) -> IntArray:
    """Return the place of each tuple's smallest p-value, ordered by tuple; of equal ones, the first discretisation.

    Parameters
    ----------
    rows : (n, 1 + k) int64
        Discretisation and members.
    log_p : (n,) float64
    """
    order = np.lexsort((rows[:, 0], log_p, *rows.T[:0:-1]))
    members = rows[order, 1:]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (members[1:] != members[:-1]).any(axis=1)
    return order[is_first]
