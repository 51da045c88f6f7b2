"""A comparison of classes → what a screen asks of tuples, which of them it keeps, and tests of tables of counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import log, prod
from typing import cast

import numpy as np

from interplay.ask.tuple_tests.prospects import Asked, Bar, Prospects, best_of_each, never_tested
from interplay.ask.tuple_tests.screen import PSEUDOCOUNT, Survivors, members_of, most_cells, most_df
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleRows
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.codes.tuple_counts import MAX_NUMBERS, TupleCounts, tuple_counts
from interplay.data.study.outcomes.targets import ClassTarget, Target
from interplay.infer.interaction.effect import Effect, LargestResidual, adjusted_residuals, cell_log_odds
from interplay.infer.interaction.interaction_test import EXACT_SLACK, chi2_log_p, chi2_log_tail, g2_thresholds
from interplay.infer.interaction.null_model import n_null_columns
from interplay.infer.interaction.proportional_fit import fit_null_model
from interplay.infer.interaction.table_tests import (
    MIN_PER_COLUMN,
    is_never_tested,
    may_be_significant,
    tested_tables,
)
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.search.engines.sinks import Screen
from interplay.search.engines.tables import TupleTables

#: Thresholds are lowered by this share: far more than what rounding does to gains.
_ROUNDING = 1e-9

#: Thresholds are computed up to this number of degrees of freedom; beyond it the last one is used, which is lower.
MAX_DF = 100_000

#: Tuples that a thread counts at a time.
_COUNTED_AT_ONCE = 1 << 15

#: Tuples that are tested at a time; each may take a bootstrap.
_TESTED_AT_ONCE = 256


class ClassTests:
    """Tests of tuples for classes, as `TargetTests` has them; arguments as in `target_tests`."""

    def __init__(
        self, coded: CodedComparison, target: ClassTarget, *, omit_missing: bool = False, coding: str = "levels"
    ) -> None:
        self._coded, self._target, self._omits, self._coding = coded, target, omit_missing, coding
        strata = coded.comparison.strata
        self._n_strata = None if strata is None else strata.n_strata

    @property
    def _coder(self) -> Coder:
        return self._coded.coder  # made when it is asked for: without tuples, nothing is read

    @cached_property
    def tables(self) -> list[TupleTables]:
        """Tables of counts, one object for each discretisation."""
        outcome = None if self._target is self._coded.comparison.outcome else self._target
        n_omitted = self._coded.has_missing_level.astype(np.int64) if self._omits else None
        return [
            TupleTables(
                partial(self._coded.planes_of, d, outcome=outcome),
                self._coder.n_levels,
                n_classes=self._target.n_classes,
                n_strata=self._n_strata,
                n_omitted=n_omitted,
            )
            for d in range(self._coder.discretizations)
        ]

    def of_labels(self, target: Target) -> ClassTests:
        return ClassTests(self._coded, cast("ClassTarget", target), omit_missing=self._omits, coding=self._coding)

    def gains(self, dimensions: int, max_p: float) -> FloatArray:
        cap = self._cap_beside_gaps(max_p, dimensions) if self._omits else max_p
        return self._least_gains(self.thresholds(dimensions, cap), dimensions)

    def thresholds(self, dimensions: int, max_p: float) -> FloatArray:
        """Return the G² that a tuple needs for p ≤ `max_p`, by degrees of freedom."""
        return g2_thresholds(max_p, min(self._most_df(dimensions), MAX_DF))

    def survivors(
        self, dimensions: int, max_p: float, *, max_listed: int, n_threads: int, with_products: bool = False
    ) -> ClassSurvivors:
        thresholds, gains = self.thresholds(dimensions, max_p), self.gains(dimensions, max_p)
        n_samples: int | None = self._coder.table.n_samples
        if with_products:  # beside the effects of levels, a product explains no more than all cells, but has fewer df
            fewest = min(self._target.n_classes, len(thresholds)) - 1
            thresholds = np.minimum(thresholds, thresholds[fewest])
            gains, n_samples = np.minimum(gains, self._least_gains(thresholds, dimensions)), None
        return ClassSurvivors(thresholds, gains, max_listed, self.tables, n_samples, n_threads)

    def ranker(self, d: int, planes: BitPlanes, dimensions: int, max_p: float) -> ClassRanker:
        return ClassRanker(self, self.tables[d], planes, dimensions, self.gains(dimensions, max_p))

    def log_p(self, d: int, tuples: IntArray) -> FloatArray:
        return chi2_log_p_of(self.tables[d], tuples)

    def tested(self, tuples: Sequence[IntArray], asked: Asked) -> TupleTests:
        return tests_of_tables(self.tables, tuples, asked)

    def counts_of(self, members: IntArray, d: int, *, run: int = 0) -> TupleCounts | None:
        tables = self.tables[d]
        if prod(tables.shapes(members).tolist()) * tables.n_classes > MAX_NUMBERS:
            return None
        ((_, counted),) = tables.counted(members[np.newaxis])
        return tuple_counts(self._coder, counted[0], members, run=run, discretization=d)

    def in_cell(self, members: IntArray, d: int, place: LargestResidual) -> tuple[FloatArray, Effect]:
        tables = self.tables[d]
        ((_, counted),) = tables.counted(members[np.newaxis])
        counts = counted[0] if tables.has_strata else counted
        residuals = adjusted_residuals(counts, fit_null_model(counts).mu)
        assert place.class_ is not None
        value = residuals[(place.stratum, *place.cell.T, place.class_)]
        return value, cell_log_odds(counts[np.newaxis], place._replace(value=value), np.array([0]))

    def is_sparse(self, levels: list[int], *, least: bool) -> bool:
        # Without the samples that lack a value, strata may be empty.
        n_strata = 1 if least and self._omits else self._n_strata or 1
        shape = (*levels, self._target.n_classes)
        return is_never_tested(shape, n_samples=self._coder.table.n_samples, n_strata=n_strata)

    def sparse_in_words(self, levels: list[int]) -> str:
        needed = MIN_PER_COLUMN * n_null_columns((*levels, self._target.n_classes)) * (self._n_strata or 1)
        return (
            f"need {needed} samples to be tested, and there are {self._coder.table.n_samples}: they get p = 1; lower "
            "divisions or dimensions, or merge levels"
        )

    def _cap_beside_gaps(self, cap: float, dimensions: int) -> float:
        """Return the cap of a screen that counts missing values as a level, where the tests leave them out.

        G² of the samples without gaps is never larger than that of all, but its p-value is at fewer degrees of freedom.
        """
        from scipy.special import chdtrc

        if not self._coder.has_missing_level.any():
            return cap
        return float(min(1.0, max(cap, chdtrc(self._most_df(dimensions), g2_thresholds(cap, 1)[1]))))

    def _most_df(self, dimensions: int) -> int:
        n_levels = np.maximum(self._coder.n_levels, 2)
        return most_df(n_levels, self._target.n_classes, self._n_strata or 1, dimensions)

    def _least_gains(self, thresholds: FloatArray, dimensions: int) -> FloatArray:
        n_cells = most_cells(np.maximum(self._coder.n_levels, 2), self._n_strata or 1, dimensions)
        return least_gains(thresholds, class_sizes=self._target.sizes, n_cells=n_cells)


@dataclass(frozen=True, eq=False)
class ClassRanker:
    """p-values of χ² of the tuples of one screen, as `Ranker` has them."""

    tests: ClassTests
    tables: TupleTables
    planes: BitPlanes
    dimensions: int
    min_gain: FloatArray

    def log_p(self, rows: IntArray | None, tuples: IntArray, bar: Bar) -> Iterator[tuple[IntArray, FloatArray]]:
        assert rows is not None
        strata = self.tables.has_strata
        for places, tables in self.tables.counted_in(self.planes, rows, tuples):
            if bar.cap < 1:
                thresholds = self.tests.thresholds(self.dimensions, bar.cap)
                may_be = may_be_significant(tables, thresholds, strata=strata)
                places, tables = places[may_be], tables[may_be]
            yield tuples[places], chi2_log_p(tables, strata=strata)

    def further(self, *, asked_for: BoolArray | None, require: str) -> Iterator[IntArray]:
        return iter(())


@dataclass(frozen=True, eq=False)
class ClassSurvivors(Survivors):
    """Keeps the tuples of a screen whose interaction may be significant.

    Engines list by the gains of the members. What is left is counted again, and kept if Kirkwood's bound reaches the
    threshold of the fewest degrees of freedom that its counts allow: a function of the counts of one tuple, so that the
    list does not depend on engines, tiles or shards.
    """

    #: (max_df + 1,): the G² that a tuple needs, by degrees of freedom.
    thresholds: FloatArray
    #: (max_df + 1,): what engines ask of every member, see `Screen`.
    min_gain: FloatArray
    #: More tuples are refused.
    max_listed: int
    #: Of each discretisation: they keep the tables of the tuples that are kept.
    tables: Sequence[TupleTables]
    #: Tuples that never have enough of so many samples to be tested are not counted; None: all are.
    n_samples: int | None
    n_threads: int = 1

    def sink(self, d: int) -> Screen:
        return Screen(self.min_gain)

    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the tuples of an engine that may be significant, members without the stratum."""
        found, tuples = rows.tuples.astype(np.int64), members_of(rows, has_stratum=has_stratum)
        if self.thresholds[1:].max() <= 0:
            return tuples
        if self.n_samples is not None:
            testable = ~never_tested(self.tables[d], tuples, self.n_samples)
            found, tuples = found[testable], tuples[testable]
        size = max(1, min(_COUNTED_AT_ONCE, -(-len(found) // self.n_threads)))

        def kept_of(begin: int) -> IntArray:
            some = slice(begin, begin + size)
            return self._kept_some(planes, found[some], tuples[some], d, has_stratum=has_stratum)

        parts = map_in_threads(kept_of, range(0, len(found), size), self.n_threads)
        return np.concatenate([tuples[:0], *parts])

    def _kept_some(self, planes: BitPlanes, rows: IntArray, tuples: IntArray, d: int, *, has_stratum: bool) -> IntArray:
        may_be = np.zeros(len(tuples), dtype=bool)
        for places, counts in self.tables[d].counted_in(planes, rows, tuples):
            may_be[places] = may_be_significant(counts, self.thresholds, strata=has_stratum)
            self.tables[d].keep(tuples[places[may_be[places]]], counts[may_be[places]])
        return tuples[may_be]


def least_gains(thresholds: FloatArray, *, class_sizes: IntArray, n_cells: float) -> FloatArray:
    """Return what every member of a tuple gains at least, in bits times samples, where G² reaches the thresholds.

    G² is at most 2 ln 2 times the smallest gain from plain counts. Engines add pseudocounts δ_q, in proportion to the
    class sizes N_q. In a cell of n samples, n_q of class q, they lower the information about the classes, and by at
    most Σ_q δ_q (1/s_q + ln(1 + N_q/δ_q)) nats, s_q = N_q/N: with r = (n_q + δ)/(n s_q + δ), which lies between
    δ/(N_q + δ) and 1/s_q, the derivative of that by δ is r − 1 − ln r. So a gain, the information of the tuple less
    that of a part of it, falls by no more than this times the cells that have samples.
    """
    sizes = class_sizes.astype(np.float64)
    delta = PSEUDOCOUNT * sizes / sizes.min()
    of_cell = float((delta * (sizes.sum() / sizes + 1 + np.log1p(sizes / delta))).sum())
    lost = of_cell * min(n_cells, float(sizes.sum()))
    return np.asarray((thresholds * (1 - _ROUNDING) / 2 - lost) / log(2))


def tests_of_tables(tables: Sequence[TupleTables], tuples: Sequence[IntArray], asked: Asked) -> TupleTests:
    """Test tuples by their tables, and return those that have p ≤ `max_p`, by p-value.

    - `tables`: one for each discretisation.
    - `tuples`, list of (n, k): the tuples to test in each discretisation; a tuple is tested in one of them, where χ²
      gives it the smallest p-value, which is multiplied by their number.
    """
    n_discretizations = len(tables)
    chosen = tuples if n_discretizations == 1 or asked.of_each else _best_discretization(tables, tuples)
    if asked.max_p < 1 or asked.n_wanted is not None:
        prospects = Prospects(tables, chosen, asked)
        chosen = prospects.by_chi2(asked.max_p) if asked.of_part else prospects.smallest(asked.max_p, asked.n_wanted)
    parts = [TupleTests.none("classes", tuples[0].shape[1])]
    for d, (one, members) in enumerate(zip(tables, chosen, strict=True)):
        for places, counts in one.counted(members, at_most=_TESTED_AT_ONCE):
            tested = tested_tables(
                counts,
                members[places],
                bootstrap_below=asked.bootstrap_below / n_discretizations,
                seed=asked.seed,
                strata=one.has_strata,
                n_threads=asked.n_threads,
            )
            tested = tested.multiplied(math.log(n_discretizations))
            parts.append(tested.of_discretization(np.full(len(places), d)))
            if asked.tell is not None and asked.max_p >= 1 and asked.n_wanted is None:
                asked.tell(len(places))
    found = TupleTests.joined(parts)
    is_small = found.p_value <= asked.max_p
    if asked.of_part:
        is_small |= chi2_log_tail(found.statistic, found.df) <= math.log(asked.max_p / n_discretizations * EXACT_SLACK)
    return found.chosen(np.flatnonzero(is_small)).by_p_value()


def _best_discretization(tables: Sequence[TupleTables], tuples: Sequence[IntArray]) -> list[IntArray]:
    """Leave every tuple to the discretisation where χ² gives it the smallest p-value, the first of equal ones."""
    rows = np.concatenate([np.column_stack([np.full(len(some), d), some]) for d, some in enumerate(tuples)])
    log_p = np.concatenate([chi2_log_p_of(one, some) for one, some in zip(tables, tuples, strict=True)])
    best = rows[best_of_each(rows, log_p)]
    return [best[best[:, 0] == d, 1:] for d in range(len(tables))]


def chi2_log_p_of(tables: TupleTables, tuples: IntArray) -> FloatArray:
    """Return the logarithms of χ²'s p-values of tuples in one discretisation, (n,)."""
    log_p = np.zeros(len(tuples))
    for places, counts in tables.counted(tuples):
        log_p[places] = chi2_log_p(counts, strata=tables.has_strata)
    return log_p
