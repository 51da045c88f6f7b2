"""Interactions of samples that belong to groups: p-values from permutations of whole groups' labels.

Samples of one group are alike, so that no χ² distribution and no exact test of independent samples holds. Here χ², or
the p-value of F for numbers, only ranks tuples. A tuple's adjusted p-value is the share of relabelings in which *any*
tuple of the search ranks as high (Westfall and Young's single-step minP), its own p-value the share in which the tuple
itself does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from math import exp, inf, log, sqrt
from typing import NamedTuple

import numpy as np

from interplay.ask.interaction.coded_task import CodedTask
from interplay.ask.interaction.family import TupleFamily
from interplay.ask.interaction.task import InteractionTask
from interplay.ask.relabelings import about_relabelings, allowed_relabelings, permuted_outcomes
from interplay.ask.tuple_tests.prospects import SMALLEST_CAP, Asked, Bar, PValueCaps, best_of_each
from interplay.ask.tuple_tests.screen import PSEUDOCOUNT, members_of
from interplay.ask.tuple_tests.target_tests import TargetTests
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.progress import Progress, ShowDone, part, show_progress
from interplay.base.tails import chi2_of_log_tail
from interplay.base.tuples import TupleTiles
from interplay.data.codes.coded import CodedComparison
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.targets import Target
from interplay.infer.interaction.interaction_test import chi2_log_tail
from interplay.infer.interaction.tuple_tests import METHODS, TupleTests
from interplay.infer.permutations.permutation_null import fewest_relabelings
from interplay.search.engines.base import Engine, SearchInterrupted
from interplay.search.engines.choice import EngineChoice
from interplay.search.engines.routing import SearcherCounts, add_counts
from interplay.search.engines.sinks import Screen
from interplay.search.plan import prepare_search
from interplay.search.settings import SearchSettings
from interplay.show.results.interactions import Interactions
from interplay.show.results.provenance import search_record


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
        """Return all tuples with p ≤ `cap`, or the `n_wanted` of them with the smallest p-values."""
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


#: p-values this close, relative to the size of their logarithms, are equal: those of relabelings that only rename the
#: classes are, but for what their fits leave.
_TOLERANCE = 1e-8


def find_in_groups(task: InteractionTask, choice: EngineChoice, *, progress: Progress) -> Interactions:
    """Search all tuples of the family, in the data and in each relabeling, and list the tuples of `task.caps`."""
    started = time.perf_counter()
    settings, caps, comparison = task.search_settings, task.caps, task.comparison
    made = CodedTask.of(task, choice.n_threads)
    n_permutations = task.n_permutations
    screen = RelabeledScreen(made.coded, settings, choice, family=task.family, tests=made.tests)
    relabeled = _Relabeled(comparison, caps.level, n_permutations=n_permutations, seed=settings.random_state)
    n_screens = relabeled.n_planned + 2
    what = f"{settings.dimensions}D, {relabeled.n_planned} permutations"
    observed: RankedTuples | None = None
    with show_progress(progress, n_tuples=max(n_screens * screen.n_tuples, 1.0), what=what) as shown_done:
        show = part(shown_done)  # a screen that is made again with a wider cap tells nothing until it is as far
        try:
            observed = screen.smallest(comparison.outcome, caps.top or 1, show=show)
            smallest = relabeled.smallest_log_p(screen, observed.log_p[:1], show)
            if caps.top is None:
                observed = _significant(screen, comparison.outcome, smallest, caps.level)
            counter = _Counter(made.tests, comparison, settings)
            listed = counter.tested(observed, made.shown_tests)
            if comparison.model is not None:
                listed = made.in_model(listed)
            own = relabeled.own_p_values(counter, observed.tuples)
            if show is not None:
                show(n_screens * screen.n_tuples)
        except KeyboardInterrupt:
            raise SearchInterrupted(observed, relabeled.n_done / n_screens) from None
    tested = listed.with_fields(
        log_p=np.log(own),
        # Where the search of relabelings stopped early, these are of fewer.
        p_adjusted=np.maximum(_share_reached(smallest, observed.log_p), own),
        method=np.full(len(listed), METHODS.index("permutations"), dtype=np.int64),
        # Intervals, and tests beside, are those of independent samples.
        **{name: np.full(len(listed), np.nan) for name in listed.words.of_independent},
    )

    def p_values(_: TupleTests, chi2: FloatArray, df: IntArray) -> FloatArray:
        """Compare the rest of a G² with the smallest p-values of relabelings, as the search does."""
        return _share_reached(smallest, np.minimum(chi2_log_tail(chi2, df) + log(settings.discretizations), 0.0))

    if comparison.model is not None:
        # The full model has the last word: its statistic is ranked among those of relabelings.
        of_model = p_values(tested, _chi2(listed), listed.df)
        tested = replace(tested, p_adjusted=np.maximum(tested.p_adjusted, of_model))
    tested = made.beside(tested, lambda some: some.is_significant(caps.level), p_values, np.asarray)
    about = about_relabelings(comparison, n_permutations=n_permutations)
    return made.named(
        tested,
        settings=task.recorded_settings() | {"n_permutations": n_permutations},
        provenance={
            **task.study.record(n_threads=choice.n_threads),
            **search_record(screen.engine.describe(), screen.searched, started=started),
            "groups": about | {"permutations_done": len(smallest)},
        },
    )


def _chi2(listed: TupleTests) -> FloatArray:
    """Return the statistic of each tuple on the scale of χ²."""
    if listed.words.corrected:
        return listed.statistic
    return np.array(
        [chi2_of_log_tail(log_p, df) if df else 0.0 for log_p, df in zip(listed.log_p, listed.df, strict=True)]
    )


class _Relabeled:
    """The relabelings of the samples, and what they say of tuples."""

    def __init__(self, comparison: Comparison, level: float, *, n_permutations: int, seed: int) -> None:
        self._comparison, self._level = comparison, level
        self._drawn = {"n_permutations": n_permutations, "seed": seed}
        self.n_planned = allowed_relabelings(comparison).n_used(n_permutations)
        self.n_done = 0

    def smallest_log_p(self, screen: RelabeledScreen, observed: FloatArray, show: ShowDone | None) -> FloatArray:
        """Return the smallest p-value of each relabeling, as logarithms; fewer where nothing can be significant.

        Each screen begins with a cap that all before would have needed. As many are always searched as a p-value of
        the level needs, so that "not significant" does not rest on one or two.
        """
        found = np.empty(0)
        fewest = fewest_relabelings(self._level, self.n_planned)
        for number, outcome in enumerate(permuted_outcomes(self._comparison, **self._drawn)):
            is_decided = (1 + _reached(found, observed).sum()) / (self.n_planned + 1) >= self._level
            if len(observed) == 0 or (is_decided and number >= fewest):
                break
            best = screen.smallest(
                outcome,
                begin=exp(found.max()) if len(found) else 1.0,
                show=part(show, (number + 1) * screen.n_tuples),
            )
            found = np.append(found, best.log_p if len(best.log_p) else 0.0)
            self.n_done = number + 2
        return found

    def own_p_values(self, counter: _Counter, tuples: IntArray) -> FloatArray:
        """Return the share of all relabelings in which each of these tuples has as small a p-value."""
        if len(tuples) == 0:
            return np.empty(0)
        observed = counter.log_p(self._comparison.outcome, tuples)
        n_reached = np.zeros(len(tuples), dtype=np.int64)
        for outcome in permuted_outcomes(self._comparison, **self._drawn):
            n_reached += _reached(counter.log_p(outcome, tuples), observed)
        return np.asarray((1 + n_reached) / (1 + self.n_planned))


class _Counter:
    """Tests some tuples again, for any labels of the samples."""

    def __init__(self, tests: TargetTests, comparison: Comparison, settings: SearchSettings) -> None:
        self._tests, self._comparison, self._settings = tests, comparison, settings

    def log_p(self, outcome: Target, tuples: IntArray) -> FloatArray:
        """Return the smallest p-value of χ², or F, over the discretisations, as logarithms."""
        tests = self._tests if outcome is self._comparison.outcome else self._tests.of_labels(outcome)
        return np.asarray(np.min([tests.log_p(d, tuples) for d in range(self._settings.discretizations)], axis=0))

    def tested(self, ranked: RankedTuples, tests: TargetTests) -> TupleTests:
        """Test tuples as if samples were independent, for G², effects and gains; in their order."""
        settings = self._settings
        if len(ranked.tuples) == 0:
            return TupleTests.none(self._comparison.shown.outcome.words_of_cells.kind, settings.dimensions)
        of_each = [ranked.tuples[ranked.discretization == d] for d in range(settings.discretizations)]
        tested = tests.tested(of_each, Asked(seed=settings.random_state))
        return tested.chosen(tested.rows_of(ranked.tuples))


def _reached(relabeled: FloatArray, observed: FloatArray) -> BoolArray:
    """Say where p-values of relabelings are as small as the observed ones; all are logarithms."""
    return np.asarray(relabeled <= observed + _TOLERANCE * np.maximum(1.0, np.abs(observed)))


def _share_reached(smallest: FloatArray, log_p: FloatArray) -> FloatArray:
    """Return adjusted p-values: the share of labelings, the observed one among them, with one as small anywhere."""
    n_reached = np.array([_reached(smallest, np.array(one)).sum() for one in log_p], dtype=np.int64)
    return np.asarray((1 + n_reached) / (1 + len(smallest)))


def _significant(screen: RelabeledScreen, outcome: Target, smallest: FloatArray, level: float) -> RankedTuples:
    """Return all tuples whose adjusted p-value is below the significance level."""
    n_allowed = int(np.sum((1 + np.arange(len(smallest) + 1)) / (1 + len(smallest)) < level)) - 1
    # With none allowed, the first few were enough to see that nothing is significant.
    caps = np.concatenate([[0.0], np.exp(np.sort(smallest)), [1.0]])
    found = screen.up_to(outcome, float(caps[n_allowed + 1]))
    kept = _share_reached(smallest, found.log_p) < level
    return RankedTuples(found.tuples[kept], found.discretization[kept], found.log_p[kept])
