"""p-values of tuples in several discretisations → the best discretisation of each tuple.

One rule for all: the smallest p-value of the test that chooses, that of χ² for counts and the listed one for others.
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.tuple_tests import TupleTests


def best_discretizations(tested: TupleTests) -> TupleTests:
    """Keep of every tuple the discretisation that is best, ordered by tuple."""
    return tested.chosen(best_of_each(np.column_stack([tested.discretization, tested.tuples]), tested.choosing_log_p))


def best_of_each(rows: IntArray, log_p: FloatArray) -> IntArray:
    """Return the place of each tuple's smallest p-value, ordered by tuple; of equal ones, the first discretisation.

    Parameters
    ----------
    rows : (n, 1 + k) int64
        Discretisation and members.
    log_p : (n,) float64
    """
    # Discretisations of few values are the same, but for rounding.
    order = np.lexsort((rows[:, 0], np.round(log_p, 9), *rows.T[:0:-1]))
    members = rows[order, 1:]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (members[1:] != members[:-1]).any(axis=1)
    return order[is_first]
