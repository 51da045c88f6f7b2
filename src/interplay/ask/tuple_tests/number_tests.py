"""A comparison of numbers → what a screen asks of tuples, which of them it keeps, and their tests by sums in cells.

Tuples → the cell of each sample → tests of their interactions about an outcome of numbers. `NumberTables` is what
`TupleTables` of counts is for classes: one object for each discretisation, which the screen, the tests and the pictures
of a search share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from math import prod
from typing import cast

import numpy as np

from interplay.ask.tuple_tests.product_screen import (
    LevelDosages,
    ProductScreen,
    largest_squares,
    needs_product_screen,
)
from interplay.ask.tuple_tests.prospects import P_ROUNDING, Asked, Bar, best_of_each
from interplay.ask.tuple_tests.screen import PSEUDOCOUNT, Survivors, members_of, most_cells, most_df
from interplay.base.arrays import BoolArray, CodeArray, FloatArray, IntArray, in_unit, places_of_each
from interplay.base.jobs import map_in_threads
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleRows
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.codes.cuts import variable_cuts
from interplay.data.codes.tuple_counts import TupleCounts, number_counts
from interplay.data.study.outcomes.targets import ScoreTarget, Target, lost_share
from interplay.infer.interaction.effect import Effect, LargestResidual
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.number_interaction.cell_moments import CellMoments, ScoredNumbers, cell_moments, scored_numbers
from interplay.infer.number_interaction.effect import effect_in_cell, standardised_residuals
from interplay.infer.number_interaction.f_test import most_squares
from interplay.infer.number_interaction.number_tests import log_p_below, number_tests
from interplay.infer.number_interaction.product_tables import most_f, number_bars
from interplay.search.engines.sinks import Screen
from interplay.search.engines.tables import count_tables
from interplay.search.loop import Shard

#: p-values of a tuple alone and among others are equal up to this, as logarithms.
_ROUNDING = 1e-6


class NumberTests:
    """Tests of tuples for scores, as `TargetTests` has them; arguments as in `target_tests`."""

    def __init__(
        self,
        coded: CodedComparison,
        target: ScoreTarget,
        *,
        omit_missing: bool = False,
        coding: str = "levels",
        like: NumberTests | None = None,
    ) -> None:
        self._coded, self._target, self._like = coded, target, like
        self._omits, self._coding, self._strata = omit_missing, coding, coded.comparison.strata

    @property
    def _coder(self) -> Coder:
        return self._coded.coder  # made when it is asked for: without tuples, nothing is read

    @cached_property
    def tables(self) -> list[NumberTables]:
        """The cells of tuples, and the outcome in them, one object for each discretisation."""
        numbers = scored_numbers(self._target, self._strata)
        if self._like is not None:
            return [one.with_numbers(numbers) for one in self._like.tables]
        return [
            NumberTables(self._coded, d, numbers, omit_missing=self._omits, coding=self._coding)
            for d in range(self._coder.discretizations)
        ]

    def of_labels(self, target: Target) -> NumberTests:
        return NumberTests(
            self._coded, cast("ScoreTarget", target), omit_missing=self._omits, coding=self._coding, like=self
        )

    def gains(self, dimensions: int, max_p: float) -> FloatArray:
        z, coder = self._target.scores, self._coder
        n_strata = 1 if self._strata is None else self._strata.n_strata
        omitted = 0.0
        if self._omits and coder.has_missing_level.any():
            omitted = _omitted_squares(coder, (z - z.mean()) ** 2 / z.var(), dimensions)
        n_levels = np.maximum(coder.n_levels, 2)
        return number_bars(
            max_p,
            n_samples=len(z),
            max_df=min(most_df(n_levels, 2, n_strata, dimensions), 1),
            n_cells=most_cells(n_levels, n_strata, dimensions),
            lost_share=self._lost_share,
            pseudocount=PSEUDOCOUNT,
            omitted_squares=omitted,
        )

    def survivors(
        self, dimensions: int, max_p: float, *, max_listed: int, n_threads: int, with_products: bool = False
    ) -> Survivors:
        gains = self.gains(dimensions, max_p)
        tested = NumberSurvivors(self.tables, max_p, gains, max_listed, self._lost_share, with_products, n_threads)
        return tested if self._level_dosages is None else ProductSurvivors(tested, self._coded, self._level_dosages)

    def ranker(self, d: int, planes: BitPlanes, dimensions: int, max_p: float) -> NumberRanker:
        gains, products = self.gains(dimensions, max_p), None
        if self._level_dosages is not None:
            has_stratum = self._strata is not None
            products = ProductScreen(planes, self._level_dosages, float(gains[-1]), has_stratum=has_stratum)
            gains = np.full_like(gains, products.bar)
        return NumberRanker(self.tables[d], gains, products, planes, self._lost_share)

    def log_p(self, d: int, tuples: IntArray) -> FloatArray:
        return self.tables[d].log_p(tuples)

    def tested(self, tuples: Sequence[IntArray], asked: Asked) -> TupleTests:
        tables = self.tables
        more = math.log(len(tables))
        bar = math.log(asked.max_p) + P_ROUNDING - more if asked.max_p < 1 else 0.0
        rows = np.concatenate([np.column_stack([np.full(len(some), d), some]) for d, some in enumerate(tuples)])
        in_each = [
            one.log_p(some, at_most=bar, n_threads=asked.n_threads) for one, some in zip(tables, tuples, strict=True)
        ]
        log_p = np.concatenate(in_each)
        log_p = np.minimum(log_p + more, 0.0)
        best = np.arange(len(rows)) if asked.of_each else best_of_each(rows, log_p)
        rows, log_p = rows[best], log_p[best]
        order = np.argsort(log_p, kind="stable")
        order = order[log_p[order] <= math.log(asked.max_p) + P_ROUNDING]
        if asked.n_wanted is not None and asked.n_wanted < len(
            order
        ):  # equal ones, as those of p = 1, are ordered by F
            order = order[log_p[order] <= log_p[order[asked.n_wanted - 1]] + P_ROUNDING]
        if asked.tell is not None:
            asked.tell(len(best))
        parts = [TupleTests.none("numbers", tuples[0].shape[1])]
        for d, one in enumerate(tables):
            chosen = rows[order[rows[order, 0] == d], 1:]
            parts += [tested.multiplied(more) for _, tested in one.tested(chosen)]
        return TupleTests.joined(parts).by_p_value()

    def counts_of(self, members: IntArray, d: int, *, run: int = 0) -> TupleCounts | None:
        return self.tables[d].counts_of(members, run=run)

    def in_cell(self, members: IntArray, d: int, place: LargestResidual) -> tuple[FloatArray, Effect]:
        return self.tables[d].in_cell(members, place)

    def is_sparse(self, levels: list[int], *, least: bool) -> bool:
        return self._coder.table.n_samples < self._fewest(levels, least=least)

    def sparse_in_words(self, levels: list[int]) -> str:
        return (
            f"have {prod(levels)} cells, and there are {self._coder.table.n_samples} samples: cells of fewer than "
            f"{self._target.fewest_in_cell} samples are left out of the tests, and tuples without enough others get "
            "p = 1; lower divisions or dimensions, or merge levels"
        )

    def _fewest(self, levels: list[int], *, least: bool) -> int:
        """Return the samples without which no tuple can be tested, or without which cells of some are left out."""
        if self._coding == "dosage":
            return int(2 ** len(levels) + 1)  # one more than the parameters
        # Two levels of each member are the smallest table with an interaction.
        return int(self._target.fewest_in_cell * (2 ** len(levels) if least else prod(levels)))

    @cached_property
    def _lost_share(self) -> float:
        """What the integers of engines lack of the scores."""
        return lost_share(self._target.scores, self._target.integers.scores.astype(np.float64))

    @cached_property
    def _level_dosages(self) -> LevelDosages | None:
        """What the levels of variables stand for, where products of dosages have a screen of their own."""
        if self._like is not None:
            return self._like._level_dosages
        if self._coding != "dosage" or not needs_product_screen(self._coded):
            return None
        return LevelDosages.of(self._coder, omit_missing=self._omits)


def _omitted_squares(coder: Coder, squares: FloatArray, dimensions: int) -> float:
    """Return the squares, at most, of samples that the test of a tuple leaves out, and engines count as a level.

    Those of the samples that lack a variable, of the variables with the largest such sums. By the largest squares of
    the outcome a third of all pairs of genotypes would pass.
    """
    lacking = np.flatnonzero(coder.has_missing_level)

    def of_block(start: int) -> FloatArray:
        found = coder.codes_of(0, lacking[start : start + coder.block_columns])
        return np.asarray((found.codes == found.n_levels[:, np.newaxis] - 1) @ squares)

    blocks = map_in_threads(of_block, range(0, len(lacking), coder.block_columns), coder.n_jobs)
    return float(np.sort(np.concatenate(blocks))[-dimensions:].sum())


@dataclass(frozen=True, eq=False)
class NumberRanker:
    """p-values of F of the tuples of one screen, as `Ranker` has them."""

    tables: NumberTables
    min_gain: FloatArray
    products: ProductScreen | None
    planes: BitPlanes
    lost_share: float

    def log_p(self, rows: IntArray | None, tuples: IntArray, bar: Bar) -> Iterator[tuple[IntArray, FloatArray]]:
        if rows is not None and self.products is not None:
            tuples = self.products.passing(tuples)
        elif rows is not None:
            tuples = tuples[self.tables.may_reach(bar.log_p, tuples, self.planes, rows, self.lost_share)]
        if len(tuples):
            yield tuples, self.tables.log_p(tuples, at_most=bar.log_p)

    def further(self, *, asked_for: BoolArray | None, require: str) -> Iterator[IntArray]:
        return iter(()) if self.products is None else self.products.of_curved(asked_for=asked_for, require=require)


@dataclass(frozen=True, eq=False)
class NumberSurvivors(Survivors):
    """Keeps the tuples of a screen with p ≤ `max_p`: their test itself, of the scores and not of their integers."""

    #: Of each discretisation.
    tables: Sequence[NumberTables]
    max_p: float
    #: (max_df + 1,): what engines ask of every member, see `Screen`.
    min_gain: FloatArray
    #: More tuples are refused.
    max_listed: int
    #: What the integers of engines lack of the scores.
    lost_share: float
    #: Whether tuples whose products may have p ≤ `max_p` are kept, too.
    with_products: bool = False
    n_threads: int = 1

    def sink(self, d: int) -> Screen:
        return Screen(self.min_gain)

    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the tuples of an engine that are significant at `max_p`, members without the stratum."""
        tuples = members_of(rows, has_stratum=has_stratum)
        if self.max_p >= 1:
            return tuples
        listed = math.log(self.max_p) + _ROUNDING, tuples, planes, rows.tuples.astype(np.int64), self.lost_share
        kept = self.significant(tuples[self.tables[d].may_reach(*listed)], d)
        if self.with_products:
            others = tuples[self.tables[d].may_reach(*listed, by_product=True)]
            kept = np.unique(np.concatenate([kept, others]), axis=0)
        return kept

    def significant(self, tuples: IntArray, d: int) -> IntArray:
        """Return the tuples that are significant at `max_p`."""
        if self.max_p >= 1 or not len(tuples):
            return tuples
        bar = math.log(self.max_p) + _ROUNDING
        return tuples[self.tables[d].log_p(tuples, at_most=bar, n_threads=self.n_threads) <= bar]


class ProductSurvivors(Survivors):
    """Keeps the pairs of a screen whose products of dosages have p ≤ `max_p`, where levels are more than two.

    `tested`: tests pairs.
    """

    def __init__(self, tested: NumberSurvivors, coded: CodedComparison, levels: LevelDosages) -> None:
        self._tested, self._coded, self._levels = tested, coded, levels
        self.max_listed = tested.max_listed
        # Screens hold the planes of a discretisation.
        self._screen_of = lru_cache(maxsize=1)(self._make_screen)

    def sink(self, d: int) -> Screen:
        return Screen(np.full_like(self._tested.min_gain, self._screen_of(d).bar))

    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the pairs of an engine that are significant at `max_p`, but for those of curved variables."""
        return self._tested.significant(self._screen_of(d).passing(members_of(rows, has_stratum=has_stratum)), d)

    def further(self, d: int, *, asked_for: BoolArray | None, require: str, shard: Shard | None) -> Iterator[IntArray]:
        """Yield the pairs of curved variables that are significant at `max_p`."""
        for pairs in self._screen_of(d).of_curved(asked_for=asked_for, require=require, shard=shard):
            yield self._tested.significant(pairs, d)

    def _make_screen(self, d: int) -> ProductScreen:
        return ProductScreen(
            self._coded.planes(d),
            self._levels,
            float(self._tested.min_gain[-1]),
            has_stratum=self._coded.has_stratum,
            n_threads=self._tested.n_threads,
        )


#: Samples times tuples that are summed at a time: their cells stay in the cache of a core.
_AT_ONCE = 1 << 19

#: Codes of variables that are kept, in bytes.
_MAX_KEPT_BYTES = 1 << 28


class NumberTables:
    """The cells of tuples in one discretisation, and the outcome in them.

    - `d`: the discretisation.
    - `numbers`: outcome of the samples, as `scored_numbers` makes it.
    - `omit_missing`: whether samples that lack a value of a member are left out of the tests of the tuple.
    - `coding`: "levels", or "dosage" for products of one degree of freedom.
    """

    def __init__(
        self,
        coded: CodedComparison,
        d: int,
        numbers: ScoredNumbers,
        *,
        omit_missing: bool = False,
        coding: str = "levels",
    ) -> None:
        self.numbers, self.coding = numbers, coding
        self._coded, self._d = coded, d
        self._omitted = coded.has_missing_level.astype(np.int64) * omit_missing
        self._strata = coded.comparison.strata
        self._kept: dict[int, CodeArray] = {}
        self._dosages_of = lru_cache(maxsize=None)(self._dosages_of_variable)

    @property
    def has_strata(self) -> bool:
        return self._strata is not None

    @property
    def n_strata(self) -> int:
        return 1 if self._strata is None else self._strata.n_strata

    @property
    def omits_samples(self) -> bool:
        return bool(self._omitted.any())

    def shapes(self, tuples: IntArray) -> IntArray:
        """Return the levels of each member of each tuple, (n_tuples, k)."""
        n_levels = self._coded.n_levels[: self._coded.coder.table.n_vars]
        return np.asarray((n_levels - self._omitted)[tuples])

    def with_numbers(self, numbers: ScoredNumbers) -> NumberTables:
        """Return the tables of another outcome of the same samples; codes are shared."""
        other = NumberTables(self._coded, self._d, numbers, coding=self.coding)
        other._omitted, other._kept = self._omitted, self._kept
        return other

    def log_p(self, tuples: IntArray, *, at_most: float = 0.0, n_threads: int = 1) -> FloatArray:
        """Return ln p of tuples, (n_tuples,); 0 may stand for those above `at_most`."""
        log_p = np.zeros(len(tuples))

        def test(part: tuple[IntArray, tuple[int, ...]]) -> None:
            places, levels = part
            log_p[places] = log_p_below(
                self._cells(tuples[places], levels),
                self.numbers.scores,
                levels,
                at_most,
                n_strata=self.n_strata,
                dosages=self._dosages(tuples[places]),
                fewest=self.numbers.fewest,
            )

        self._read(np.unique(tuples))
        map_in_threads(test, list(self._parts(tuples)), n_threads)
        return log_p

    def may_reach(
        self,
        log_p: float,
        tuples: IntArray,
        planes: BitPlanes,
        rows: IntArray,
        lost_share: float,
        *,
        by_product: bool = False,
    ) -> BoolArray:
        """Say which tuples may have ln p up to `log_p`, by the sums of integers in their cells.

        `rows` are those of the planes, a stratum first. Where samples are left out, engines list tuples that are far
        from it, as they take missing values for a level; sample by sample, these would take longer than the search.
        A product beside the effects of levels explains no more than all cells, with one degree of freedom.
        """
        may = np.ones(len(tuples), dtype=np.bool_)
        if not len(tuples) or not (by_product or (self.coding == "levels" and self.omits_samples)):
            return may
        squares_of = largest_squares(planes)
        shapes = self.shapes(tuples)
        for places, counted in count_tables(planes, rows):
            for of_shape in places_of_each(shapes[places]):
                some = places[of_shape]
                known: tuple[slice, ...] = tuple(slice(n) for n in shapes[some[0]].tolist())
                tables = counted[of_shape] if self.has_strata else counted[of_shape][:, np.newaxis]
                n, total = np.moveaxis(tables[:, :, *known], -1, 0).astype(np.float64)
                moments = CellMoments(n, total, np.zeros(len(some)))
                between = (total * moments.mean).reshape(len(some), -1).sum(axis=1)
                squares = squares_of[-1] - squares_of[planes.n_samples - moments.n_samples]
                of_cells, df = most_squares(moments, fewest=1 if by_product else self.numbers.fewest)
                if by_product:
                    most = most_f(of_cells, np.ones_like(df), squares - between, moments, lost_share, n_fitted=1)
                else:
                    most = most_f(of_cells, df, squares - between, moments, lost_share)
                may[some] = most.log_p <= log_p
        return may

    def tested(self, tuples: IntArray) -> Iterator[tuple[IntArray, TupleTests]]:
        """Yield tests of some tuples, with all their effects, and their places in `tuples`."""
        self._read(np.unique(tuples))
        for places, levels in self._parts(tuples):
            chosen = tuples[places]
            tests = number_tests(
                self._cells(chosen, levels),
                self.numbers,
                chosen,
                levels,
                n_strata=self.n_strata,
                dosages=self._dosages(chosen),
            )
            discretization = np.full(len(chosen), self._d, dtype=np.int64)
            yield places, tests.of_discretization(discretization)

    def counts_of(self, members: IntArray, *, run: int = 0) -> TupleCounts | None:
        """Return the distribution of the outcome in the cells of one tuple, strata together; None of too many cells."""
        coder, values = self._coded.coder, self.numbers.values
        omits = self.omits_samples
        return number_counts(coder, values, members, run=run, discretization=self._d, omit_missing=omits)

    def in_cell(self, members: IntArray, place: LargestResidual) -> tuple[FloatArray, Effect]:
        """Return the residual of a cell of one tuple, and its effect."""
        self._read(members)
        levels, fewest = tuple(self.shapes(members).tolist()), self.numbers.fewest
        moments = partial(cell_moments, self._cells(members[np.newaxis], levels), levels=levels, n_strata=self.n_strata)
        value = standardised_residuals(moments(self.numbers.scores), fewest=fewest)[0][(place.stratum, *place.cell.T)]
        values, unit = in_unit(self.numbers.values)
        return value, effect_in_cell(moments(values), place._replace(value=value), fewest=fewest).times(unit)

    def _parts(self, tuples: IntArray) -> Iterator[tuple[IntArray, tuple[int, ...]]]:
        """Yield the places of tuples of one shape, a few at a time, and the levels of their members."""
        shapes = self.shapes(tuples)
        size = max(1, _AT_ONCE // max(len(self.numbers.scores), 1))
        for of_shape in places_of_each(shapes):
            levels = tuple(shapes[of_shape[0]].tolist())
            for begin in range(0, len(of_shape), size):
                yield of_shape[begin : begin + size], levels

    def _read(self, variables: IntArray) -> None:
        """Make the codes of variables, where these are not kept."""
        missing = np.array([v for v in variables.tolist() if v not in self._kept], dtype=np.int64)
        if not len(missing):
            return
        if (len(self._kept) + len(missing)) * len(self.numbers.scores) > _MAX_KEPT_BYTES:
            self._kept.clear()
            missing = variables
        codes = self._coded.codes_of(self._d, missing).codes
        self._kept.update(zip(missing.tolist(), codes, strict=True))

    def _cells(self, tuples: IntArray, levels: tuple[int, ...]) -> IntArray:
        """Return the cell of each sample in tuples of one shape, (n_tuples, n_samples); see `cell_moments`."""
        n_cells = math.prod(levels) * self.n_strata
        # Numbers of cells are mostly below 256, and so are codes: bytes are added up in an eighth of the time.
        kind = np.min_scalar_type(n_cells)
        cells = np.zeros((len(tuples), len(self.numbers.scores)), dtype=kind)
        if self._strata is not None:
            cells += self._strata.codes.astype(kind)
        in_none = np.zeros(cells.shape, dtype=np.bool_) if self.omits_samples else None
        for place, n_levels in enumerate(levels):
            codes = np.stack([self._kept[v] for v in tuples[:, place].tolist()])
            cells *= kind.type(n_levels)
            cells += codes
            if in_none is not None:
                in_none |= codes >= n_levels
        if in_none is not None:
            cells[in_none] = n_cells
        return cells.astype(np.int64)

    def _dosages(self, tuples: IntArray) -> FloatArray | None:
        """Return what the levels of members stand for, (n_tuples, k, most levels); None where they are only levels."""
        if self.coding != "dosage":
            return None
        most = int(self.shapes(tuples).max(initial=1))
        dosages = np.zeros((*tuples.shape, most))
        for v in np.unique(tuples).tolist():
            of_one = self._dosages_of(v)[:most]
            dosages[tuples == v, : len(of_one)] = of_one
        return dosages

    def _dosages_of_variable(self, variable: int) -> FloatArray:
        return variable_cuts(self._coded.coder, variable).dosages()
