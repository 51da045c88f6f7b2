"""Tuples of variables that are not cut → tests of their products, and of the shapes of pairs.

A screen of all products (`interplay.infer.product_pairs`) lists every tuple that may be significant. Each is tested in
a linear model of the outcome's residuals, and what may still be significant by the full model, which has the last word.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from interplay.ask.interaction.task import InteractionTask
from interplay.ask.tuple_tests.product_tests import ProductTests
from interplay.ask.tuple_tests.prospects import MAX_LISTED, Asked
from interplay.ask.tuple_tests.screen import check_listed
from interplay.ask.tuple_tests.target_tests import TargetTests
from interplay.base.arrays import BoolArray, FloatArray, IntArray, IntScores, as_integers
from interplay.base.jobs import map_in_threads
from interplay.base.progress import Progress, map_shown, part
from interplay.base.tails import log_chi2_tail
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import variable_cuts
from interplay.data.codes.rank_scores import RankScores
from interplay.infer.interaction.beside_test import ModelTest
from interplay.infer.interaction.product_test import (
    fewest_samples,
    product_columns,
    second_test,
)
from interplay.infer.interaction.tested_in_model import with_product_tests
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.product_pairs import SHARE, ProductPairs, Screened, ScreenScores, bend_scores, screened_tuples
from interplay.infer.proxies import MemberEffects

#: Columns of a product and of a shape in the screen, for each residual.
_N_COLUMNS = (1, 3)

#: Shapes are tested where splines have as many columns: with fewer, an effect that bends would be one.
_LEAST_COLUMNS = 3

#: One screen serves levels and products: of variables with at most this number of levels, and where chance lists at
#: most this number of pairs.
_FEW_LEVELS, _MOST_LISTED = 4, 100.0

#: Tests between two looks at how small p-values of a short list are.
_AT_ONCE = 32


class Products(ProductTests):
    """The products of the tuples of a task.

    Parameters
    ----------
    task : InteractionTask
    coded : CodedComparison
        With the outcome as it is shown.
    tests : TargetTests
        Of the levels of these tuples, which describe what is found.
    n_threads : int
    """

    def __init__(self, task: InteractionTask, coded: CodedComparison, tests: TargetTests, n_threads: int) -> None:
        super().__init__(coded, task.settings.dimensions, omit_missing=task.omits_missing, n_threads=n_threads)
        self._task, self._tests = task, tests
        coder = coded.coder
        n = coder.table.n_samples
        gaps = coder.has_missing_level
        tested = coder.n_levels - gaps
        self.has_scores: BoolArray = RankScores(coder).is_ordered & (tested > 1) & (coder.n_missing < n)
        if not task.omits_missing:
            self.has_scores &= ~gaps
        # Of two levels a product says what levels say.
        self._has_more = self.has_scores & (~coder.is_discrete | (tested > 2))
        # Of the effects of each member, at least: one level less, as that of one may follow from another's.
        self._n_columns = np.where(coder.is_discrete, np.maximum(tested - 2, 1), self._freedom.spline)
        #: Which variables have a bend, and so a shape with another one; none in few samples, or of larger tuples.
        self._has_bend: BoolArray = self.has_scores & ~coder.is_discrete
        tests_shapes = task.coding == "auto" and task.settings.dimensions == 2
        if not (tests_shapes and self._freedom.spline >= _LEAST_COLUMNS):
            self._has_bend = np.zeros_like(self._has_bend)

    @property
    def are_there(self) -> bool:
        """Whether any tuple has a product that is not the interaction of its levels."""
        if self._task.coding == "product":
            return True
        smallest = np.argsort(np.where(self.has_scores, self._n_columns, np.inf))[: self._task.settings.dimensions]
        enough = bool(self._are_enough(smallest[np.newaxis]).all())
        return enough and bool(self._has_more.any())

    def has_product(self, tuples: IntArray) -> BoolArray:
        """Say which tuples have a product to be tested."""
        has_product = self.has_scores[tuples].all(axis=1)
        if self._task.coding == "product":
            return np.asarray(has_product)
        return np.asarray(has_product & self._has_more[tuples].any(axis=1) & self._are_enough(tuples))

    def has_shape(self, tuples: IntArray) -> BoolArray:
        """Say which tuples have a shape to be tested."""
        return np.asarray(self.has_product(tuples) & self._has_bend[tuples].any(axis=1))

    def _are_enough(self, tuples: IntArray) -> BoolArray:
        """Say for which tuples samples may be enough for a model with the product."""
        return np.asarray(fewest_samples(self._n_columns[tuples].sum(axis=1)) <= self.model.outcome.n_informative)

    def n_ways(self, tuples: IntArray) -> IntArray:
        """Return in how many ways each tuple is tested."""
        if self._task.coding == "product":
            return np.ones(len(tuples), dtype=np.int64)
        return 1 + self.has_product(tuples).astype(np.int64) + self.has_shape(tuples)

    def are_in_cells(self, max_p: float) -> bool:
        """Say whether a search of levels can list all pairs whose products may have p ≤ `max_p`.

        Those of few values, tested without other columns: what a product explains beside levels, all cells explain,
        and of few levels, little else comes up to the bar of one degree of freedom.
        """
        task, coder = self._task, self._coded.coder
        is_plain = task.coding == "auto" and task.settings.dimensions == 2 and coder.discretizations == 1
        is_plain &= task.shard is None and self._coded.comparison.model is None
        if not is_plain or not coder.is_discrete[self.has_scores].all():
            return False
        is_short = max_p < 1 and max_p * task.caps.n_tests <= _MOST_LISTED
        return is_short and bool(coder.n_levels.max(initial=0) <= _FEW_LEVELS)

    def tested(self, max_p: float, listed: IntArray | None = None, progress: Progress = False) -> TupleTests:
        """Return the tests of products, of the task or its shard, with p ≤ `max_p`; p times the number of ways.

        `listed` are the pairs of a search of levels, if these are known to be enough.
        """
        screened = self._screened(max_p) if listed is None else self._screened_of(listed, max_p)
        tuples = screened.tuples
        has = np.column_stack([self.has_product(tuples), self.has_shape(tuples)])
        limits = SHARE**-1 * log_chi2_tail(screened.statistics, len(self._targets) * np.array(_N_COLUMNS))
        bars = (math.log(max_p) if max_p < 1 else 0.0) - np.log(self.n_ways(tuples))
        rows, ways = np.nonzero(has & ((limits <= bars[:, np.newaxis]) | (max_p >= 1)))

        def test(place: int, bar: float) -> ModelTest:
            row, way = rows[place], ways[place]
            at_most = min(float(bars[row]) if max_p < 1 else 0.0, bar)
            found = self.test(tuples[row], is_shape=bool(way), max_log_p=at_most)
            return found._replace(log_p=max(found.log_p, float(limits[row, way])))

        paid = np.log(self.n_ways(tuples))[rows]
        places, found = self._nearest(test, rows, np.minimum(limits[rows, ways] + paid, 0.0), paid, progress)
        rows, ways = rows[places], ways[places]
        log_p = np.array([one.log_p for one in found])
        # Where all tuples are listed, those of p = 1 are so by levels.
        is_listed = (log_p <= bars[rows]) if max_p < 1 else (log_p < 0) | (self._task.coding == "product")
        kept = np.flatnonzero(is_listed)
        tests = self._as_tests(tuples[rows[kept]], [found[place] for place in kept.tolist()], ways[kept] + 1)
        return tests.multiplied(np.log(self.n_ways(tests.tuples)))

    def _nearest(
        self,
        test: Callable[[int, float], ModelTest],
        rows: IntArray,
        least: FloatArray,
        paid: FloatArray,
        progress: Progress,
    ) -> tuple[IntArray, list[ModelTest]]:
        """Return the tests that a list needs, and their places: those of small p-values first, until there are enough.

        ln p times the number of ways of the test in a place, of the tuple in a row, is at least `least`; `paid` is the
        logarithm of the number of ways. A test whose ln p is above its second argument may say 0.
        """
        task = self._task
        n_wanted = None if task.caps.is_step_up or task.shard is not None else task.caps.top
        order = np.argsort(least, kind="stable")
        best, found, bar = np.full(rows.max(initial=-1) + 1, np.inf), [], math.inf
        size, what = max(len(order), 1) if n_wanted is None else _AT_ONCE, "tests of products of"
        for begin in range(0, len(order), size):
            some = order[begin : begin + size]
            if least[some[0]] > bar:
                order = order[:begin]
                break
            told = part(progress, begin / len(order), len(some) / len(order))
            asked = zip(some.tolist(), (bar - paid[some]).tolist(), strict=True)
            found += map_shown(lambda each: test(*each), list(asked), self._n_threads, progress=told, what=what)
            log_p = np.array([one.log_p for one in found[begin:]])
            np.minimum.at(best, rows[some], np.minimum(log_p + paid[some], 0.0))
            if n_wanted is not None and n_wanted <= len(best):
                bar = float(np.partition(best, n_wanted - 1)[n_wanted - 1])
        if callable(progress):
            progress(1.0)  # the list may be full before all are tested
        places = np.argsort(order, kind="stable")
        return order[places], [found[place] for place in places.tolist()]

    def samples(self, members: IntArray) -> IntArray:
        """Return the samples that have a value of every member."""
        return self._samples(members).known

    def effects(self, members: IntArray) -> MemberEffects:
        """Return all that the members of a tuple say: flexible effects, their product, and their shape if any."""
        samples = self._samples(members)
        models, _ = self._models(
            members, self.model, is_shape=False, is_flexible=True, more=self.model.columns()[samples.known]
        )
        shape = np.empty((len(samples.known), 0))
        if self.has_shape(members[np.newaxis]).all():
            shape = product_columns(self.members(members, samples.known), is_shape=True)[:, 1:]
        return MemberEffects(models, shape)

    def log_p_beside(self, members: IntArray, more: FloatArray, *, is_shape: bool) -> float:
        """Return ln p of a product or shape beside flexible effects and some more columns, of `samples`."""
        models, _ = self._models(members, self.model, is_shape=is_shape, is_flexible=True, more=more)
        found = second_test(self.model, models, self._groups).log_p + math.log(self.n_ways(members[np.newaxis])[0])
        return min(found, 0.0)

    def _screened(self, max_p: float) -> Screened:
        """Return all tuples whose products or shapes may have p ≤ `max_p`, in order; with p = 1 all tuples."""
        task, k = self._task, self._task.settings.dimensions
        family, shard = task.family, task.shard
        of_part = (0, 1) if shard is None else (shard.number - 1, shard.of)
        parts, n_listed = [Screened(np.empty((0, k), dtype=np.int64), np.empty((0, 2)))], 0
        for some in screened_tuples(
            self._pairs,
            self._targets,
            k,
            self._bars(max_p),
            asked_for=family.asked_for,
            require=family.require,
            part=of_part,
        ):
            inside = family.holds(some.tuples)
            parts.append(Screened(some.tuples[inside], some.statistics[inside]))
            n_listed += len(parts[-1].tuples)
            check_listed(n_listed, MAX_LISTED)
        tuples, statistics = (np.concatenate(each) for each in zip(*parts, strict=True))
        if max_p >= 1:  # and those of which no sample has all values
            rest = family.first_tuples(family.n_tuples())[of_part[0] :: of_part[1]]
            tuples, statistics = _with_others(tuples, statistics, rest)
        order = np.lexsort(tuples.T[::-1])
        return Screened(tuples[order], statistics[order])

    def _screened_of(self, pairs: IntArray, max_p: float) -> Screened:
        """Return the same of some pairs of variables of few values."""
        members = np.unique(pairs[self.has_product(pairs)])
        parts = [Screened(pairs[:0], np.empty((0, 2)))]
        if len(members):
            screen = ProductPairs(ScreenScores(self._of_levels(members)), n_threads=self._n_threads)
            parts += [Screened(members[one.tuples], one.statistics) for one in screen(self._targets, self._bars(max_p))]
        found = Screened(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        n_vars = self._coded.coder.table.n_vars
        is_listed = np.isin(found.tuples @ [n_vars, 1], pairs @ [n_vars, 1])
        order = np.lexsort(found.tuples.T[::-1])
        order = order[is_listed[order]]
        return Screened(found.tuples[order], found.statistics[order])

    def _bars(self, max_p: float) -> tuple[float, float]:
        """Return χ² that the screen asks of products and of shapes."""
        from scipy.special import chdtri

        df = len(self._targets) * np.array(_N_COLUMNS)
        bars = chdtri(df, max_p**SHARE) if max_p < 1 else np.zeros(2)
        return float(bars[0]), float(bars[1])

    @cached_property
    def _targets(self) -> FloatArray:
        basis, triangle = np.linalg.qr(self._responses)
        sizes = np.abs(np.diag(triangle))
        kept = sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)
        return np.ascontiguousarray(basis[:, kept].T) * math.sqrt(len(basis))

    @property
    def _pairs(self) -> ProductPairs:
        """The screen, kept for other outcomes of the same samples."""
        coded = self._coded
        # Correlations are asked for again with other outcomes, and with other first members.
        is_again = coded.keeps_codes or self._task.settings.dimensions > 2
        return coded.once(
            ("product pairs", self.has_scores.tobytes(), self._has_bend.tobytes()),
            lambda: ProductPairs(self._scores, n_threads=self._n_threads, keeps_correlations=is_again),
        )

    @property
    def _scores(self) -> ScreenScores:
        """The scores of all variables as integers; zeros of variables without."""
        coder, of_ranks = self._coded.coder, RankScores(self._coded.coder)
        n = coder.table.n_samples
        bends_of = bend_scores(n) if self._has_bend.any() else None

        def of_block(rows: slice) -> ScreenScores:
            usable, few = self.has_scores[rows], coder.is_discrete[rows]
            lines = np.zeros((rows.stop - rows.start, n), dtype=np.int8)
            if (usable & ~few).any():
                lines = of_ranks.read_integers(rows)
                lines[~usable] = 0
            lines[usable & few] = self._of_levels(rows.start + np.flatnonzero(usable & few))
            if bends_of is None:
                return ScreenScores(lines)
            bends = bends_of[lines.view(np.uint8)]
            gaps = coder.has_missing_level[rows]
            bends[gaps] *= lines[gaps] != 0
            bends[~self._has_bend[rows]] = 0
            return ScreenScores(lines, bends)

        size = max(1, (1 << 18) // max(n, 1))
        n_vars = coder.table.n_vars
        blocks = [slice(begin, min(begin + size, n_vars)) for begin in range(0, n_vars, size)]
        made = map_in_threads(of_block, blocks, self._n_threads)
        lines = np.concatenate([one.lines for one in made])
        bends = [one.bends for one in made if one.bends is not None]
        return ScreenScores(lines, np.concatenate(bends) if bends else None)

    def _of_levels(self, variables: IntArray) -> IntScores:
        """Return the scores of variables of few values as integers."""
        coder = self._coded.coder
        places = self._coded.codes_of(0, variables).codes + 256 * np.arange(len(variables))[:, np.newaxis]
        sizes = np.bincount(places.reshape(-1), minlength=256 * len(variables)).reshape(-1, 256)
        is_there = sizes > 0
        of_levels = np.zeros(sizes.shape)
        for row, v in enumerate(variables.tolist()):
            is_there[row, coder.n_levels[v] - coder.has_missing_level[v] :] = False
            dosages = variable_cuts(coder, v).dosages()[:256]
            of_levels[row, : len(dosages)] = dosages
        n_known = (sizes * is_there).sum(axis=1, keepdims=True)
        of_levels -= (sizes * is_there * of_levels).sum(axis=1, keepdims=True) / n_known
        scores: IntScores = as_integers(np.where(is_there, of_levels, 0.0)).reshape(-1)[places]
        return scores

    def _as_tests(self, tuples: IntArray, found: list[ModelTest], way: IntArray) -> TupleTests:
        """Return tests of products, with samples and gains of the levels of the same tuples."""
        different, places = np.unique(tuples, axis=0, return_inverse=True)
        of_each = [different, *[tuples[:0]] * (self._coded.coder.discretizations - 1)]
        of_levels = self._tests.tested(of_each, Asked(of_each=True))
        of_levels = of_levels.chosen(of_levels.rows_of(different)[places.reshape(-1)])
        return with_product_tests(of_levels, found, self.model, self._coded.comparison.outcome, way)


def _with_others(tuples: IntArray, statistics: FloatArray, every: IntArray) -> tuple[IntArray, FloatArray]:
    """Return all tuples, 0 the statistics of those that were not listed."""
    joined, first = np.unique(np.concatenate([tuples, every]), axis=0, return_index=True)
    padded = np.concatenate([statistics, np.zeros((len(every), statistics.shape[1]))])
    return joined, padded[first]
