"""Tuples → tables of counts → tests of their interactions, a few tuples at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.codes.interaction_tables import TupleTables, by_shape
from interplay.statistics.interaction.bound import interaction_bound
from interplay.statistics.interaction.interaction_test import chi2_log_p, g2_thresholds
from interplay.statistics.interaction.table_tests import tested_tables
from interplay.statistics.interaction.tested_tuples import TestedTuples

#: Tuples whose bounds are computed at a time, and that are tested at a time, which may take a bootstrap each.
_AT_ONCE = 2048
_TESTED_AT_ONCE = 256

#: A bound may be too small by the rounding of its terms; a threshold is lowered by this share of 1 + G².
_ROUNDING = 1e-9

Tell = Callable[[int], None]


def make_tuple_tests(
    tables: Sequence[TupleTables],
    tuples: Sequence[IntArray],
    *,
    max_p: float,
    bootstrap_below: float,
    seed: int,
    has_strata: bool,
    tell: Tell | None = None,
) -> TestedTuples:
    """Test tuples that may have p ≤ `max_p`, and return those that have it, by their members.

    Parameters
    ----------
    tables : list of TupleTables
        One for each discretisation.
    tuples : list of (n, k) int64
        The tuples to look at in each discretisation: all that may have p ≤ `max_p`/discretisations there.
    bootstrap_below : float
        p-values of χ² up to this one, of all discretisations, are corrected by a bootstrap where there is no exact
        test.
    seed : int
        Of the bootstrap.
    tell : callable, optional
        Told how many more tuples were looked at; each is told of twice, before and after its test.
    """
    n_discretizations = len(tables)
    in_each = max_p / n_discretizations
    kept = [
        _with_small_bound(one, members, in_each, has_strata, tell) for one, members in zip(tables, tuples, strict=True)
    ]
    chosen = kept if n_discretizations == 1 else _best_discretization(tables, kept)
    parts = [TestedTuples.none(tuples[0].shape[1])]
    for d, (one, members) in enumerate(zip(tables, chosen, strict=True)):
        for which in by_shape(one.shapes(members)):
            for begin in range(0, len(which), _TESTED_AT_ONCE):
                some = members[which[begin : begin + _TESTED_AT_ONCE]]
                tested = tested_tables(
                    one.counts(some),
                    some,
                    bootstrap_below=bootstrap_below / n_discretizations,
                    seed=seed,
                    strata=has_strata,
                )
                log_p = np.minimum(tested.log_p + math.log(n_discretizations), 0.0)
                parts.append(replace(tested, log_p=log_p, discretization=np.full(len(some), d)))
                if tell is not None:
                    tell(len(some))
    found = TestedTuples.joined(parts)
    return found.chosen(np.flatnonzero(found.p_value <= max_p)).by_p_value()


def _with_small_bound(
    tables: TupleTables, tuples: IntArray, max_p: float, has_strata: bool, tell: Tell | None
) -> IntArray:
    """Leave out tuples whose Kirkwood bound says that p > `max_p`."""
    kept = [np.empty((0, tuples.shape[1]), dtype=np.int64)]
    for which in by_shape(tables.shapes(tuples)):
        shape = (*tables.shapes(tuples[which[:1]])[0].tolist(), tables.n_classes)
        lowest = g2_thresholds(max_p, 1)[1]
        for begin in range(0, len(which), _AT_ONCE):
            some = tuples[which[begin : begin + _AT_ONCE]]
            if max_p < 1:
                bound = interaction_bound(tables.counts(some), strata=has_strata)
                some = some[bound + _ROUNDING * (1 + bound) >= lowest] if 1 not in shape else some[:0]
            kept.append(some)
            if tell is not None:
                tell(min(_AT_ONCE, len(which) - begin))
    found = np.concatenate(kept)
    return found[np.lexsort(found.T[::-1])]


def _best_discretization(tables: Sequence[TupleTables], tuples: Sequence[IntArray]) -> list[IntArray]:
    """Leave every tuple to the discretisation where χ² gives it the smallest p-value, the first of equal ones."""
    rows = np.concatenate([np.column_stack([np.full(len(some), d), some]) for d, some in enumerate(tuples)])
    log_p = np.concatenate([chi2_log_p_of(one, some) for one, some in zip(tables, tuples, strict=True)])
    order = np.lexsort((rows[:, 0], log_p, *rows.T[:0:-1]))
    rows = rows[order]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (rows[1:, 1:] != rows[:-1, 1:]).any(axis=1)
    best = rows[is_first]
    return [best[best[:, 0] == d, 1:] for d in range(len(tables))]


def chi2_log_p_of(tables: TupleTables, tuples: IntArray) -> FloatArray:
    """Return the logarithms of χ²'s p-values of tuples in one discretisation, (n,)."""
    log_p = np.zeros(len(tuples))
    for which in by_shape(tables.shapes(tuples)):
        for begin in range(0, len(which), _AT_ONCE):
            some = which[begin : begin + _AT_ONCE]
            log_p[some] = chi2_log_p(tables.counts(tuples[some]), strata=tables.has_strata)
    return log_p
