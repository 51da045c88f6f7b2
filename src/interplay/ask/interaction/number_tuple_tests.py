"""Tuples → tests of their interactions about numbers: p-values of all, the whole test of those that are listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from interplay.ask.interaction.best_discretization import best_of_each
from interplay.ask.interaction.number_tables import NumberTables
from interplay.base.arrays import IntArray
from interplay.infer.interaction.tuple_tests import TupleTests

#: Logarithms of p-values are equal up to this, of a tuple alone and among others.
ROUNDING = 1e-9


def make_number_tests(
    tables: Sequence[NumberTables],
    tuples: Sequence[IntArray],
    *,
    max_p: float,
    n_wanted: int | None = None,
    n_threads: int = 1,
    of_each: bool = False,
    tell: Callable[[int], None] | None = None,
) -> TupleTests:
    """Test tuples, and return those that have p ≤ `max_p`, by p-value; parameters as in `make_tuple_tests`.

    Of several discretisations a tuple is tested in the one that gives it the smallest p-value, which is multiplied by
    their number.
    """
    more = math.log(len(tables))
    bar = math.log(max_p) + ROUNDING - more if max_p < 1 else 0.0
    rows = np.concatenate([np.column_stack([np.full(len(some), d), some]) for d, some in enumerate(tuples)])
    in_each = [one.log_p(some, at_most=bar, n_threads=n_threads) for one, some in zip(tables, tuples, strict=True)]
    log_p = np.concatenate(in_each)
    log_p = np.minimum(log_p + more, 0.0)
    best = np.arange(len(rows)) if of_each else best_of_each(rows, log_p)
    rows, log_p = rows[best], log_p[best]
    order = np.argsort(log_p, kind="stable")
    order = order[log_p[order] <= math.log(max_p) + ROUNDING]
    if n_wanted is not None and n_wanted < len(order):  # equal ones, as those of p = 1, are ordered by F
        order = order[log_p[order] <= log_p[order[n_wanted - 1]] + ROUNDING]
    if tell is not None:
        tell(len(best))
    parts = [TupleTests.none("numbers", tuples[0].shape[1])]
    for d, one in enumerate(tables):
        chosen = rows[order[rows[order, 0] == d], 1:]
        parts += [tested.multiplied(more) for _, tested in one.tested(chosen)]
    return TupleTests.joined(parts).by_p_value()
