"""Tuples → tables of counts → tests of their interactions, a few tuples at a time.

p-values of tuples in several discretisations → the best discretisation of each tuple.

One rule for all: the smallest p-value of the test that chooses, that of χ² for counts and the listed one for others.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from interplay.ask.interaction.number_screen import NumberTables
from interplay.ask.interaction.prospects import Prospects
from interplay.base.arrays import FloatArray, IntArray
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.codes.tuple_counts import MAX_NUMBERS, TupleCounts, tuple_counts
from interplay.data.study.outcomes.targets import ScoreTarget, Target
from interplay.infer.interaction.interaction_test import EXACT_SLACK, chi2_log_p, chi2_log_tail
from interplay.infer.interaction.table_tests import tested_tables
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.number_interaction.cell_moments import scored_numbers
from interplay.search.engines.tables import TupleTables

#: Tuples that are tested at a time; each may take a bootstrap.
_TESTED_AT_ONCE = 256

Tell = Callable[[int], None]

#: What tuples of a comparison are tested with, one for each discretisation: counts of classes, or numbers in cells.
Tables = Sequence[TupleTables] | Sequence[NumberTables]

#: Logarithms of p-values are equal up to this, of a tuple alone and among others.
ROUNDING = 1e-9


def tuple_tables(
    coded: CodedComparison, *, omit_missing: bool = False, outcome: Target | None = None, coding: str = "levels"
) -> Tables:
    """Return what the tuples of a comparison are tested with, for each discretisation; of another `outcome`, if given.

    With `omit_missing`, samples that lack a value of a member are left out of the table of the tuple. `coding` is that
    of an outcome of numbers: "levels", or "dosage" for products of one degree of freedom.
    """
    comparison, coder = coded.comparison, coded.coder
    compared = comparison.outcome if outcome is None else outcome
    if isinstance(compared, ScoreTarget):
        numbers = scored_numbers(compared, comparison.strata)
        return [
            NumberTables(coded, d, numbers, omit_missing=omit_missing, coding=coding)
            for d in range(coder.discretizations)
        ]
    return [
        TupleTables(
            partial(coded.planes_of, d, outcome=outcome),
            coder.n_levels,
            n_classes=compared.n_classes,
            n_strata=None if comparison.strata is None else comparison.strata.n_strata,
            n_omitted=coded.has_missing_level.astype(np.int64) if omit_missing else None,
        )
        for d in range(coder.discretizations)
    ]


def make_tuple_tests(
    tables: Tables,
    tuples: Sequence[IntArray],
    *,
    max_p: float,
    bootstrap_below: float,
    seed: int,
    n_samples: int = sys.maxsize,
    n_wanted: int | None = None,
    of_part: bool = False,
    of_each: bool = False,
    n_threads: int = 1,
    tell: Tell | None = None,
) -> TupleTests:
    """Test tuples, and return those that have p ≤ `max_p`, by p-value.

    Parameters
    ----------
    tables : list of TupleTables or NumberTables
        One for each discretisation.
    tuples : list of (n, k) int64
        The tuples to test in each discretisation; a tuple is tested in one of them, where χ² gives it the smallest
        p-value, which is multiplied by their number.
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
    tell : callable, optional
        Told how many more tuples were looked at.
    """
    n_discretizations = len(tables)
    if numbers := [one for one in tables if isinstance(one, NumberTables)]:
        options: dict[str, Any] = {"n_wanted": n_wanted, "of_each": of_each, "n_threads": n_threads, "tell": tell}
        return make_number_tests(numbers, tuples, max_p=max_p, **options)
    tables = [one for one in tables if isinstance(one, TupleTables)]
    chosen = tuples if n_discretizations == 1 or of_each else _best_discretization(tables, tuples)
    if max_p < 1 or n_wanted is not None:
        prospects = Prospects(
            tables, chosen, bootstrap_below, seed, n_samples=n_samples, n_threads=n_threads, tell=tell
        )
        chosen = prospects.by_chi2(max_p) if of_part else prospects.smallest(max_p, n_wanted)
    parts = [TupleTests.none("classes", tuples[0].shape[1])]
    for d, (one, members) in enumerate(zip(tables, chosen, strict=True)):
        for places, counts in one.counted(members, at_most=_TESTED_AT_ONCE):
            tested = tested_tables(
                counts,
                members[places],
                bootstrap_below=bootstrap_below / n_discretizations,
                seed=seed,
                strata=one.has_strata,
                n_threads=n_threads,
            )
            tested = tested.multiplied(math.log(n_discretizations))
            parts.append(tested.of_discretization(np.full(len(places), d)))
            if tell is not None and max_p >= 1 and n_wanted is None:
                tell(len(places))
    found = TupleTests.joined(parts)
    is_small = found.p_value <= max_p
    if of_part:
        is_small |= chi2_log_tail(found.statistic, found.df) <= math.log(max_p / n_discretizations * EXACT_SLACK)
    return found.chosen(np.flatnonzero(is_small)).by_p_value()


def kept_counts(
    coder: Coder,
    tables: Tables,
    tuples: Iterable[IntArray],
    discretizations: Iterable[int],
    *,
    run: int = 0,
    omit_missing: bool = False,
) -> Iterator[TupleCounts]:
    """Yield the tables of tuples, each in its discretisation, that are small enough to be looked at."""
    for members, d in zip(tuples, discretizations, strict=True):
        table = tables[d]
        if isinstance(table, NumberTables):
            if (numbers := table.counts_of(members, run=run)) is not None:
                yield numbers
        elif prod(table.shapes(members).tolist()) * table.n_classes <= MAX_NUMBERS:
            ((_, counted),) = table.counted(members[np.newaxis])
            yield tuple_counts(coder, counted[0], members, run=run, discretization=d, omit_missing=omit_missing)


def _best_discretization(tables: Sequence[TupleTables], tuples: Sequence[IntArray]) -> list[IntArray]:
    """Leave every tuple to the discretisation where χ² gives it the smallest p-value, the first of equal ones."""
    rows = np.concatenate([np.column_stack([np.full(len(some), d), some]) for d, some in enumerate(tuples)])
    log_p = np.concatenate([chi2_log_p_of(one, some) for one, some in zip(tables, tuples, strict=True)])
    best = rows[best_of_each(rows, log_p)]
    return [best[best[:, 0] == d, 1:] for d in range(len(tables))]


def log_p_of(tables: TupleTables | NumberTables, tuples: IntArray) -> FloatArray:
    """Return the logarithms of the p-values of χ², or of F for numbers, of tuples in one discretisation, (n,)."""
    return tables.log_p(tuples) if isinstance(tables, NumberTables) else chi2_log_p_of(tables, tuples)


def chi2_log_p_of(tables: TupleTables, tuples: IntArray) -> FloatArray:
    """Return the logarithms of χ²'s p-values of tuples in one discretisation, (n,)."""
    log_p = np.zeros(len(tuples))
    for places, counts in tables.counted(tuples):
        log_p[places] = chi2_log_p(counts, strata=tables.has_strata)
    return log_p


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


def best_discretizations(tested: TupleTests) -> TupleTests:
    """Keep of every tuple the discretisation that is best, and of several ways the best one, ordered by tuple."""
    if tested.way is not None:
        levels, products = (tested.chosen(np.flatnonzero(tested.are_products == which)) for which in (False, True))
        both = TupleTests.joined([_best_discretizations(levels), products])
        return both.chosen(best_of_each(np.column_stack([both.are_products, both.tuples]), both.log_p))
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
