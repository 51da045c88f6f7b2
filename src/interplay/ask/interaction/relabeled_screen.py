"""One table, many labelings of its samples → the tuples with the smallest p-values of each, by exhaustive screens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from interplay.ask.interaction.family import TupleFamily
from interplay.ask.interaction.number_screen import PSEUDOCOUNT, NumberTables, members_of
from interplay.ask.interaction.product_screen import LevelDosages, ProductScreen, needs_product_screen
from interplay.ask.interaction.prospects import PValueCaps
from interplay.ask.interaction.screen import screen_bars, screen_gains
from interplay.ask.interaction.tests import best_of_each, tuple_tables
from interplay.base.arrays import BitPlanes, FloatArray, IntArray, TupleTiles
from interplay.base.progress import ShowDone, part
from interplay.data.codes.coded import CodedComparison
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.targets import ScoreTarget, Target
from interplay.infer.interaction.interaction_test import chi2_log_p
from interplay.infer.interaction.table_tests import may_be_significant
from interplay.infer.number_interaction.cell_moments import scored_numbers
from interplay.search.engines.base import Engine
from interplay.search.engines.choice import EngineChoice
from interplay.search.engines.routing import SearcherCounts, add_counts
from interplay.search.engines.sinks import Screen
from interplay.search.engines.tables import count_tables
from interplay.search.plan import prepare_search
from interplay.search.settings import SearchSettings

#: A cap beyond which floating point has no numbers; logarithms of p-values go on.
_SMALLEST_CAP = 1e-300


class RankedTuples(NamedTuple):
    """Tuples by p-value, smallest first.

    Attributes
    ----------
    tuples : (n, k) int64
    discretization : (n,) int64
        The one in which χ², or F, gives the tuple the smallest p-value.
    log_p : (n,) float64
        Natural logarithm of that p-value, times the number of discretisations.
    """

    tuples: IntArray
    discretization: IntArray
    log_p: FloatArray


class RelabeledScreen:
    """Screens all tuples of a family for one labeling of the samples after the other.

    Codes and tiles are made once; only the outcome changes. p-values are those of χ² at the effective degrees of
    freedom, or of F, a statistic to compare labelings by.

    Attributes
    ----------
    n_tuples : float
        Of one screen.
    searched : SearcherCounts
        Who screened, all screens together.
    """

    def __init__(
        self,
        coded: CodedComparison,
        settings: SearchSettings,
        choice: EngineChoice,
        *,
        family: TupleFamily,
        omit_missing: bool,
        coding: str = "levels",
    ) -> None:
        self._coded, self._settings, self._family = coded, settings, family
        self._comparison, self._coder = coded.comparison, coded.coder
        self._search = prepare_search(
            coded,
            replace(settings, pseudocount=PSEUDOCOUNT),
            choice,
            asked_for=family.asked_for,
            require=family.require,
            kind=Screen.kind,
        )
        self._omit_missing = omit_missing
        tables = tuple_tables(coded, omit_missing=omit_missing, coding=coding)
        self._numbers = [one for one in tables if isinstance(one, NumberTables)]
        self._dosages: LevelDosages | None = None
        if coding == "dosage" and needs_product_screen(coded):
            self._dosages = LevelDosages.of(coded.coder, omit_missing=omit_missing)
        self._has_gaps = coded.has_missing_level & omit_missing
        self._n_tests = family.n_tuples()
        self.n_tuples = self._search.n_tuples
        self.searched: SearcherCounts = {}

    @property
    def engine(self) -> Engine:
        return self._search.engine

    def smallest(
        self, outcome: Target, n_wanted: int = 1, *, begin: float = inf, show: ShowDone | None = None
    ) -> RankedTuples:
        """Return the tuples with the `n_wanted` smallest p-values, all where they are fewer.

        Screens go up to a cap, `begin` at first, and again with a wider one where they find too few.
        """
        usual = PValueCaps("none", 0.5, self._n_tests, None, n_wanted).first()
        cap = max(min(begin, usual), _SMALLEST_CAP)
        while True:
            found = self.up_to(outcome, cap, n_wanted=n_wanted, show=show)
            if len(found.tuples) >= n_wanted or cap >= 1:
                return found
            cap = min(sqrt(cap), usual) if cap < usual else min(1.0, 16 * cap)

    def up_to(
        self, outcome: Target, cap: float, *, n_wanted: int | None = None, show: ShowDone | None = None
    ) -> RankedTuples:
        """Return all tuples with p ≤ `cap`; with `n_wanted`, so many of the smallest."""
        n_each = self._settings.discretizations
        # Of several discretisations, one tuple may be among the smallest more than once.
        n_distinct = n_wanted if 1 in (n_each, n_wanted) else None
        bar = _Bar(log(max(cap, _SMALLEST_CAP) / n_each) if cap < 1 else 0.0, n_distinct)
        rows, values, before = [np.empty((0, 1 + self._settings.dimensions), dtype=np.int64)], [np.empty(0)], 0.0
        for d in range(n_each):
            for tuples, log_p in self._screened(outcome, d, bar, show, before):
                rows.append(np.column_stack([np.full(len(tuples), d, dtype=np.int64), tuples]))
                values.append(log_p)
            before += float(self._tiles(d).n_tuples.sum())
        return _ranked(np.concatenate(rows), np.concatenate(values), n_each, n_wanted)

    def _tiles(self, d: int) -> TupleTiles:
        return self._search.loop.tiles_at(d)

    def _screened(
        self, outcome: Target, d: int, bar: _Bar, show: ShowDone | None, before: float
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the tuples of one discretisation that come up to the bar, and their p-values."""
        comparison = replace(self._comparison, outcome=outcome)
        has_stratum = comparison.strata is not None
        planes = self._coded.relabeled_planes(d, outcome)
        min_gain = screen_gains(
            comparison, self._coder, self._settings.dimensions, bar.cap, omit_missing=self._omit_missing
        )
        products = None
        if self._dosages is not None:
            products = ProductScreen(planes, self._dosages, float(min_gain[-1]), has_stratum=has_stratum)
            min_gain = np.full_like(min_gain, products.bar)
        sink = Screen(min_gain)
        chunks = self.engine.stream(
            planes,
            self._tiles(d),
            sink,
            pseudocount=PSEUDOCOUNT,
            seconds=sink.chunk_seconds,
            on_progress=part(show, before),
        )
        for chunk in chunks:
            add_counts(self.searched, chunk.searched)
            rows, tuples = sink.rows.tuples.astype(np.int64), members_of(sink.rows, has_stratum=has_stratum)
            inside = self._family.holds(tuples)
            rows, tuples = rows[inside], tuples[inside]
            if isinstance(outcome, ScoreTarget):
                tuples = tuples if products is None else products.passing(tuples)
                yield from self._reaching(tuples, self._log_p_of_numbers(outcome, d, tuples, bar), bar)
            else:
                yield from self._reaching(tuples, self._log_p_of_classes(comparison, planes, rows, tuples, bar), bar)
        if products is not None and isinstance(outcome, ScoreTarget):
            for found in products.of_curved(asked_for=self._family.asked_for, require=self._family.require):
                pairs = found[self._family.holds(found)]
                yield from self._reaching(pairs, self._log_p_of_numbers(outcome, d, pairs, bar), bar)

    def _reaching(
        self, tuples: IntArray, log_p_of: Iterator[tuple[IntArray, FloatArray]], bar: _Bar
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the tuples that come up to the bar, and raise it by them."""
        for places, log_p in log_p_of:
            kept = log_p <= bar.log_p
            bar.see(log_p[kept])
            yield tuples[places[kept]], log_p[kept]

    def _log_p_of_numbers(
        self, outcome: ScoreTarget, d: int, tuples: IntArray, bar: _Bar
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the places of tuples, and the p-values of F."""
        if len(tuples):
            numbers = scored_numbers(outcome, self._comparison.strata)
            yield np.arange(len(tuples)), self._numbers[d].with_numbers(numbers).log_p(tuples, at_most=bar.log_p)

    def _log_p_of_classes(
        self, comparison: Comparison, planes: BitPlanes, rows: IntArray, tuples: IntArray, bar: _Bar
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the places of tuples that may come up to the bar, and the p-values of χ²."""
        has_stratum = comparison.strata is not None
        for places, tables in self._tables(planes, rows, tuples):
            if bar.cap < 1:
                thresholds = screen_bars(comparison, self._coder, self._settings.dimensions, bar.cap)[0]
                may_be = may_be_significant(tables, thresholds, strata=has_stratum)
                places, tables = places[may_be], tables[may_be]
            yield places, chi2_log_p(tables, strata=has_stratum)

    def _tables(self, planes: BitPlanes, rows: IntArray, tuples: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """Count tuples; samples that lack a value of a member are left out where that is asked for."""
        for places, tables in count_tables(planes, rows):
            if not self._has_gaps.any():
                yield places, tables
                continue
            gaps = self._has_gaps[tuples[places]]
            for pattern in np.unique(gaps, axis=0):
                some = np.flatnonzero((gaps == pattern).all(axis=1))
                first = tables.ndim - 1 - len(pattern)  # the axis of the first member
                known = [slice(None)] * first + [slice(-1 if has_gap else None) for has_gap in pattern.tolist()]
                yield places[some], np.ascontiguousarray(tables[some][tuple(known)])


class _Bar:
    """The p-value that a tuple must not exceed: lower with every `n_wanted` tuples that are better."""

    def __init__(self, log_p: float, n_wanted: int | None) -> None:
        self.log_p = log_p
        self._n_wanted = n_wanted
        self._best = np.empty(0)

    @property
    def cap(self) -> float:
        return max(exp(self.log_p), _SMALLEST_CAP)

    def see(self, log_p: FloatArray) -> None:
        if self._n_wanted is None:
            return
        self._best = np.sort(np.concatenate([self._best, log_p]))[: self._n_wanted]
        if len(self._best) == self._n_wanted:
            self.log_p = min(self.log_p, float(self._best[-1]))


def _ranked(rows: IntArray, log_p: FloatArray, n_discretizations: int, n_wanted: int | None) -> RankedTuples:
    """Keep the best discretisation of every tuple, the first of equal ones, and sort: p-value, then members."""
    best = best_of_each(rows, log_p)
    rows, log_p = rows[best], log_p[best]
    order = np.argsort(log_p, kind="stable")[:n_wanted]
    return RankedTuples(rows[order, 1:], rows[order, 0], np.minimum(log_p[order] + log(n_discretizations), 0.0))
