"""One table, many labelings of its samples → the tuples with the smallest p-values of each, by exhaustive screens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np

from interplay.ask.interaction.family import TupleFamily
from interplay.ask.tuple_tests.prospects import SMALLEST_CAP, Bar, PValueCaps, best_of_each
from interplay.ask.tuple_tests.screen import PSEUDOCOUNT, members_of
from interplay.ask.tuple_tests.target_tests import TargetTests
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.progress import ShowDone, part
from interplay.base.tuples import TupleTiles
from interplay.data.codes.coded import CodedComparison
from interplay.data.study.outcomes.targets import Target
from interplay.search.engines.base import Engine
from interplay.search.engines.choice import EngineChoice
from interplay.search.engines.routing import SearcherCounts, add_counts
from interplay.search.engines.sinks import Screen
from interplay.search.plan import prepare_search
from interplay.search.settings import SearchSettings


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
        tests: TargetTests,
    ) -> None:
        self._coded, self._settings, self._family = coded, settings, family
        self._search = prepare_search(
            coded,
            replace(settings, pseudocount=PSEUDOCOUNT),
            choice,
            asked_for=family.asked_for,
            require=family.require,
            kind=Screen.kind,
        )
        self._tests = tests
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
        cap = max(min(begin, usual), SMALLEST_CAP)
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
        bar = Bar(log(max(cap, SMALLEST_CAP) / n_each) if cap < 1 else 0.0, n_distinct)
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
        self, outcome: Target, d: int, bar: Bar, show: ShowDone | None, before: float
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the tuples of one discretisation that come up to the bar, and their p-values."""
        has_stratum = self._coded.has_stratum
        planes = self._coded.relabeled_planes(d, outcome)
        ranker = self._tests.of_labels(outcome).ranker(d, planes, self._settings.dimensions, bar.cap)
        sink = Screen(ranker.min_gain)
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
            yield from self._reaching(ranker.log_p(rows[inside], tuples[inside], bar), bar)
        for found in ranker.further(asked_for=self._family.asked_for, require=self._family.require):
            yield from self._reaching(ranker.log_p(None, found[self._family.holds(found)], bar), bar)

    def _reaching(
        self, found: Iterator[tuple[IntArray, FloatArray]], bar: Bar
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the tuples that come up to the bar, and raise it by them."""
        for tuples, log_p in found:
            kept = log_p <= bar.log_p
            bar.see(log_p[kept])
            yield tuples[kept], log_p[kept]


def _ranked(rows: IntArray, log_p: FloatArray, n_discretizations: int, n_wanted: int | None) -> RankedTuples:
    """Keep the best discretisation of every tuple, the first of equal ones, and sort: p-value, then members."""
    best = best_of_each(rows, log_p)
    rows, log_p = rows[best], log_p[best]
    order = np.argsort(log_p, kind="stable")[:n_wanted]
    return RankedTuples(rows[order, 1:], rows[order, 0], np.minimum(log_p[order] + log(n_discretizations), 0.0))
