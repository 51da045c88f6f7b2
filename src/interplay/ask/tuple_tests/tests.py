"""What all tests of tuples share: how they are asked for, and which discretisation of a tuple, and which way, counts.

One rule for all: the smallest p-value of the test that chooses, that of χ² for counts and the listed one for others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.tuple_tests import TupleTests

Tell = Callable[[int], None]

#: Logarithms of p-values are equal up to this, of a tuple alone and among others.
ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which tests of tuples are wanted, and how they are made.

    Attributes
    ----------
    max_p : float
        Tuples with p up to this are returned.
    bootstrap_below : float
        p-values of χ² up to this one, of all discretisations, are corrected by a bootstrap where there is no exact
        test.
    seed : int
        Of the bootstrap.
    n_samples : int
        Of the table, at most: tuples that never have enough are known without being counted.
    n_wanted : int, optional
        Return only as many of the smallest p-values; with it few tuples have to be corrected.
    of_part : bool
        Whether other shards may know a better discretisation of a tuple: then all tuples are returned whose p-value of
        χ² is small enough, whatever the p-value of their test is.
    of_each : bool
        Whether a test that follows chooses the discretisation: then tuples are tested in each that is given.
    n_threads : int
    tell : callable, optional
        Told how many more tuples were looked at.
    """

    max_p: float = 1.0
    bootstrap_below: float = 0.0
    seed: int = 0
    n_samples: int = sys.maxsize
    n_wanted: int | None = None
    of_part: bool = False
    of_each: bool = False
    n_threads: int = 1
    tell: Tell | None = None


#: A cap beyond which floating point has no numbers; logarithms of p-values go on.
SMALLEST_CAP = 1e-300


class Bar:
    """The p-value that a tuple must not exceed: lower with every `n_wanted` tuples that are better."""

    def __init__(self, log_p: float, n_wanted: int | None) -> None:
        self.log_p = log_p
        self._n_wanted = n_wanted
        self._best = np.empty(0)

    @property
    def cap(self) -> float:
        return max(exp(self.log_p), SMALLEST_CAP)

    def see(self, log_p: FloatArray) -> None:
        if self._n_wanted is None:
            return
        self._best = np.sort(np.concatenate([self._best, log_p]))[: self._n_wanted]
        if len(self._best) == self._n_wanted:
            self.log_p = min(self.log_p, float(self._best[-1]))


def best_discretizations(tested: TupleTests) -> TupleTests:
    """Keep of every tuple the discretisation that is best, and of several ways the best one, ordered by tuple."""
    if tested.way is not None:
        levels, products = (tested.chosen(np.flatnonzero(tested.are_products == which)) for which in (False, True))
        both = TupleTests.joined([_best_discretizations(levels), products])
        assert both.way is not None
        return both.chosen(best_of_each(np.column_stack([both.way, both.tuples]), both.log_p))
    return _best_discretizations(tested)


def _best_discretizations(tested: TupleTests) -> TupleTests:
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
