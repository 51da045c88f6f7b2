"""A comparison of numbers → what a screen asks of tuples, and which of them it keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from interplay.ask.interaction.number_tables import NumberTables
from interplay.ask.interaction.product_screen import LevelDosages, ProductScreen
from interplay.ask.interaction.screen_limits import PSEUDOCOUNT, check_listed, most_cells, most_df
from interplay.base.arrays import BitPlanes, BoolArray, FloatArray, IntArray, TupleRows
from interplay.base.jobs import map_in_threads
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.codes.search_scores import lost_share, search_scores
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.targets import ScoreTarget
from interplay.infer.number_interaction.product_tables import number_bars
from interplay.search.engines.sinks import Screen
from interplay.search.loop import Shard

#: p-values of a tuple alone and among others are equal up to this, as logarithms.
_ROUNDING = 1e-6


def number_screen_bars(
    comparison: Comparison, coder: Coder, dimensions: int, max_p: float, *, omit_missing: bool
) -> FloatArray:
    """Return the gain that every member of a tuple needs for p ≤ `max_p`, by degrees of freedom, in bits × samples."""
    outcome = comparison.outcome
    assert isinstance(outcome, ScoreTarget)
    z = outcome.scores
    n_strata = 1 if comparison.strata is None else comparison.strata.n_strata
    omitted = 0.0
    if omit_missing and coder.has_missing_level.any():
        omitted = _omitted_squares(coder, (z - z.mean()) ** 2 / z.var(), dimensions)
    n_levels = np.maximum(coder.n_levels, 2)
    return number_bars(
        max_p,
        n_samples=len(z),
        max_df=min(most_df(n_levels, 2, n_strata, dimensions), 1),
        n_cells=most_cells(n_levels, n_strata, dimensions),
        lost_share=lost_share(z, search_scores(outcome).scores.astype(np.float64)),
        pseudocount=PSEUDOCOUNT,
        omitted_squares=omitted,
    )


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


def members_of(rows: TupleRows, *, has_stratum: bool) -> IntArray:
    """Return the tuples of an engine, members without the stratum."""
    found = rows.tuples.astype(np.int64)
    return found[:, 1:] - 1 if has_stratum else found


@dataclass(frozen=True, eq=False)
class NumberSurvivors:
    """Keeps the tuples of a screen with p ≤ `max_p`: their test itself, of the scores and not of their integers.

    Attributes
    ----------
    tables : list of NumberTables
        Of each discretisation.
    max_p : float
    min_gain : (max_df + 1,) float64
        What engines ask of every member, see `Screen`.
    max_listed : int
        More tuples are refused.
    n_threads : int
    """

    tables: Sequence[NumberTables]
    max_p: float
    min_gain: FloatArray
    max_listed: int
    n_threads: int = 1

    @property
    def are_products(self) -> bool:
        """Whether products of dosages are tested."""
        return any(one.coding == "dosage" for one in self.tables)

    def sink(self, d: int) -> Screen:
        return Screen(self.min_gain)

    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the tuples of an engine that are significant at `max_p`, members without the stratum."""
        return self.significant(members_of(rows, has_stratum=has_stratum), d)

    def significant(self, tuples: IntArray, d: int) -> IntArray:
        """Return the tuples that are significant at `max_p`."""
        if self.max_p >= 1 or not len(tuples):
            return tuples
        bar = math.log(self.max_p) + _ROUNDING
        return tuples[self.tables[d].log_p(tuples, at_most=bar, n_threads=self.n_threads) <= bar]

    def check(self, n_kept: int) -> None:
        check_listed(n_kept, self.max_listed)


class ProductSurvivors:
    """Keeps the pairs of a screen whose products of dosages have p ≤ `max_p`, where levels are more than two.

    Parameters
    ----------
    tested : NumberSurvivors
        Tests pairs.
    coded : CodedComparison
    omit_missing : bool
        Whether tests leave missing values out, which engines count as a level.
    """

    def __init__(self, tested: NumberSurvivors, coded: CodedComparison, *, omit_missing: bool) -> None:
        self._tested, self._coded = tested, coded
        self._levels = LevelDosages.of(coded.coder, omit_missing=omit_missing)
        # Screens hold the planes of a discretisation.
        self._screen_of = lru_cache(maxsize=1)(self._make_screen)

    def sink(self, d: int) -> Screen:
        return Screen(np.full_like(self._tested.min_gain, self._screen_of(d).bar))

    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the pairs of an engine that are significant at `max_p`, but for those of curved variables."""
        return self._tested.significant(self._screen_of(d).passing(members_of(rows, has_stratum=has_stratum)), d)

    def of_curved(
        self, d: int, *, asked_for: BoolArray | None, require: str, shard: Shard | None
    ) -> Iterator[IntArray]:
        """Yield the pairs of curved variables that are significant at `max_p`."""
        for pairs in self._screen_of(d).of_curved(asked_for=asked_for, require=require, shard=shard):
            yield self._tested.significant(pairs, d)

    def check(self, n_kept: int) -> None:
        self._tested.check(n_kept)

    def _make_screen(self, d: int) -> ProductScreen:
        return ProductScreen(
            self._coded.planes(d),
            self._levels,
            float(self._tested.min_gain[-1]),
            has_stratum=self._coded.has_stratum,
            n_threads=self._tested.n_threads,
        )
