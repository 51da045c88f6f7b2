"""All tuples of a table → those whose interaction may be significant: an exhaustive search, on any engine."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from interplay.ask.interaction.number_screen import (
    MAX_LISTED,
    PSEUDOCOUNT,
    NumberSurvivors,
    NumberTables,
    ProductSurvivors,
    check_listed,
    members_of,
    most_cells,
    most_df,
    number_screen_bars,
)
from interplay.ask.interaction.product_screen import needs_product_screen
from interplay.ask.interaction.prospects import never_tested
from interplay.base.arrays import BitPlanes, BoolArray, FloatArray, IntArray, TupleRows, places_of_each
from interplay.base.checks import check_int, check_real
from interplay.base.jobs import map_in_threads
from interplay.base.progress import Progress
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.study.comparisons import Comparison
from interplay.data.study.outcomes.targets import ScoreTarget
from interplay.infer.interaction.interaction_test import g2_thresholds
from interplay.infer.interaction.table_tests import may_be_significant
from interplay.search.checkpoint import Checkpoint
from interplay.search.engines.base import SearchInterrupted
from interplay.search.engines.choice import EngineChoice, count_tuples
from interplay.search.engines.routing import SearcherCounts, summed_counts
from interplay.search.engines.sinks import Screen
from interplay.search.engines.tables import TupleTables, count_tables
from interplay.search.loop import Shard
from interplay.search.plan import prepare_search
from interplay.search.settings import SearchSettings

#: Thresholds are lowered by this share: far more than what rounding does to gains.
_ROUNDING = 1e-9

#: Thresholds are computed up to this number of degrees of freedom; beyond it the last one is used, which is lower.
_MAX_DF = 100_000

#: Tuples that a thread counts at a time.
_COUNTED_AT_ONCE = 1 << 15


@dataclass(frozen=True, eq=False)
class ScreenedTuples:
    """What a screen left: every tuple that is significant, and few others.

    Attributes
    ----------
    tuples : (n_listed, k) int64
        Members, ascending; sorted by discretisation, then tuple.
    discretization : (n_listed,) int64
    n_tuples : int
        Tuples of the whole search, over all discretisations: as many tests as their p-values are to be adjusted for.
    searched : SearcherCounts
        Who screened them.
    engine : dict
        What the engine says of itself.
    layout : str
        Tells one way of cutting the search from others: shards of one search agree in it.
    """

    tuples: IntArray
    discretization: IntArray
    n_tuples: int
    searched: SearcherCounts
    engine: dict[str, Any]
    layout: str = ""

    def __len__(self) -> int:
        return len(self.tuples)

    @classmethod
    def merged(cls, parts: Iterable[ScreenedTuples]) -> ScreenedTuples:
        """Return what the shards of one search found together."""
        parts = list(parts)
        if len({(part.layout, part.n_tuples, part.tuples.shape[1]) for part in parts}) != 1:
            raise ValueError("only shards of one screen can be merged: these are of several, or there is none")
        tuples = np.concatenate([part.tuples for part in parts])
        discretization = np.concatenate([part.discretization for part in parts])
        order = np.lexsort((*tuples.T[::-1], discretization))
        return replace(
            parts[0],
            tuples=tuples[order],
            discretization=discretization[order],
            searched=summed_counts(part.searched for part in parts),
        )


def n_tests(
    n_vars: int,
    dimensions: int,
    *,
    discretizations: int = 1,
    asked_for: BoolArray | None = None,
    require: str = "any",
) -> int:
    """Return how many tuples a screen looks at, over all discretisations.

    Examples
    --------
    >>> n_tests(100, 2)
    4950
    """
    n_asked = n_vars if asked_for is None else int(asked_for.sum())
    return discretizations * count_tuples(n_vars, n_asked, dimensions, require)


def screen_tuples(
    coded: CodedComparison,
    settings: SearchSettings,
    choice: EngineChoice,
    *,
    max_p: float,
    thresholds: FloatArray | None = None,
    tables: Sequence[TupleTables] | Sequence[NumberTables] | None = None,
    omit_missing: bool = False,
    asked_for: BoolArray | None = None,
    require: str = "any",
    shard: Shard | None = None,
    checkpoint: Checkpoint | None = None,
    name: str = "screen",
    progress: Progress = None,
    max_listed: int = MAX_LISTED,
    is_needed: bool = True,
) -> ScreenedTuples:
    """Look at every tuple; return those whose interaction may have a p-value of at most `max_p`.

    Parameters
    ----------
    coded : CodedComparison
    settings : SearchSettings
        Their pseudocount is not used: the test is of plain counts.
    choice : EngineChoice
        Of an engine that can screen.
    max_p : float
        No tuple is missing whose p-value by `interaction_test` is at most this.
    thresholds : (max_df + 1,) float64, optional
        Of classes: the G² that a tuple needs, by degrees of freedom, in place of what follows from `max_p`. Tuples are
        then kept however few samples they have: a site knows only its part of them.
    tables : list of TupleTables or NumberTables, optional
        Those that tuples are tested with, of each discretisation; tables of counts keep those of the tuples that are
        listed. An outcome of numbers needs them.
    omit_missing : bool
        Whether these tables leave missing values out, which engines count as a level.
    asked_for, require
        As in `make_tuple_tiles`.
    shard : Shard, optional
        Screen only this part of the tuples.
    checkpoint : Checkpoint, optional
        Where to keep the state, under `name`; it must be held (`Checkpoint.keeping`).
    max_listed : int
        More tuples are refused.
    is_needed : bool
        Where no tuple can be tested: false for an empty list without a search.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C; ``.partial`` are the tuples listed so far.
    """
    check_int("dimensions", settings.dimensions, low=2)
    max_p = check_real("max_p", max_p, low=0.0, high=1.0, low_open=True)
    comparison = coded.comparison
    most = check_int("max_listed", max_listed, low=1)
    survivors: Survivors | NumberSurvivors | ProductSurvivors
    if thresholds is None:
        survivors = _survivors(
            coded, settings.dimensions, max_p, tables, most, choice.n_threads, omit_missing=omit_missing
        )
    else:
        survivors = _survivors_above(
            coded, settings.dimensions, thresholds, tables, most, choice.n_threads, omit_missing=omit_missing
        )
    search = prepare_search(
        coded,
        replace(settings, pseudocount=PSEUDOCOUNT),
        choice,
        asked_for=asked_for,
        require=require,
        shard=shard,
        checkpoint=checkpoint,
        name=name,
        kind=Screen.kind,
    )
    loop = search.loop

    def listed(rows: IntArray) -> ScreenedTuples:
        return ScreenedTuples(
            tuples=rows[:, 1:],
            discretization=rows[:, 0],
            n_tuples=n_tests(
                comparison.table.n_vars,
                settings.dimensions,
                discretizations=settings.discretizations,
                asked_for=asked_for,
                require=require,
            ),
            searched=loop.searched,
            engine=loop.engine.describe(),
            layout=loop.layout,
        )

    if not is_needed:
        return listed(loop.listed)
    try:
        search.run(progress, keep=survivors)
        rows = loop.listed
        if isinstance(survivors, ProductSurvivors):
            try:
                rows = _with_curved(survivors, rows, range(settings.discretizations), asked_for, require, shard)
            except KeyboardInterrupt as interrupt:
                loop.stop(interrupt)
    except SearchInterrupted as interrupt:
        partial_list = listed(interrupt.partial)
        raise SearchInterrupted(partial_list, interrupt.done, interrupt.kept_in, interrupt.not_kept) from None
    return listed(rows)


def _with_curved(
    survivors: ProductSurvivors,
    rows: IntArray,
    discretizations: Iterable[int],
    asked_for: BoolArray | None,
    require: str,
    shard: Shard | None,
) -> IntArray:
    """Add the pairs of curved variables to the pairs of an engine, (n, 3): discretisation and members."""
    for d in discretizations:
        for pairs in survivors.of_curved(d, asked_for=asked_for, require=require, shard=shard):
            rows = np.concatenate([rows, np.column_stack([np.full(len(pairs), d), pairs])])
            survivors.check(len(rows))
    return rows[np.lexsort(rows.T[::-1])]


def _survivors(
    coded: CodedComparison,
    dimensions: int,
    max_p: float,
    tables: Sequence[TupleTables] | Sequence[NumberTables] | None,
    max_listed: int,
    n_threads: int,
    *,
    omit_missing: bool,
) -> Survivors | NumberSurvivors | ProductSurvivors:
    """Return who keeps the tuples of a screen, by the kind of the outcome."""
    comparison, coder = coded.comparison, coded.coder
    min_gain = screen_gains(comparison, coder, dimensions, max_p, omit_missing=omit_missing)
    if isinstance(comparison.outcome, ScoreTarget):
        of_numbers = [one for one in tables or () if isinstance(one, NumberTables)]
        tested = NumberSurvivors(of_numbers, max_p, min_gain, max_listed, n_threads)
        if tested.are_products and needs_product_screen(coded):
            return ProductSurvivors(tested, coded, omit_missing=omit_missing)
        return tested
    thresholds, _ = screen_bars(comparison, coder, dimensions, max_p)
    of_counts = None if tables is None else [one for one in tables if isinstance(one, TupleTables)]
    return Survivors(thresholds, min_gain, max_listed, of_counts, comparison.table.n_samples, n_threads)


def _survivors_above(
    coded: CodedComparison,
    dimensions: int,
    thresholds: FloatArray,
    tables: Sequence[TupleTables] | Sequence[NumberTables] | None,
    max_listed: int,
    n_threads: int,
    *,
    omit_missing: bool,
) -> Survivors:
    """Return who keeps the tuples of classes whose G² may reach the thresholds."""
    comparison = coded.comparison
    asked = thresholds.copy()
    if omit_missing:
        # Engines count missing values as a level: G² there is no smaller, at more degrees of freedom.
        asked[1:] = thresholds[1:].min()
    n_cells = most_cells(np.maximum(coded.coder.n_levels, 2), 1, dimensions)
    min_gain = _least_gains(asked, class_sizes=comparison.classes.sizes, n_cells=n_cells)
    of_counts = None if tables is None else [one for one in tables if isinstance(one, TupleTables)]
    return Survivors(thresholds, min_gain, max_listed, of_counts, sys.maxsize, n_threads)


@dataclass(frozen=True, eq=False)
class Survivors:
    """Keeps the tuples of a screen whose interaction may be significant.

    Engines list by the gains of the members. What is left is counted again, and kept if Kirkwood's bound reaches the
    threshold of the fewest degrees of freedom that its counts allow: a function of the counts of one tuple, so that the
    list does not depend on engines, tiles or shards.

    Attributes
    ----------
    thresholds : (max_df + 1,) float64
        The G² that a tuple needs, by degrees of freedom.
    min_gain : (max_df + 1,) float64
        What engines ask of every member, see `Screen`.
    max_listed : int
        More tuples are refused.
    tables : list of TupleTables, optional
        As in `screen_tuples`.
    n_samples : int
        With `tables`: tuples that never have enough samples to be tested are not counted.
    n_threads : int
    """

    thresholds: FloatArray
    min_gain: FloatArray
    max_listed: int
    tables: Sequence[TupleTables] | None = None
    n_samples: int = 0
    n_threads: int = 1

    def sink(self, d: int) -> Screen:
        return Screen(self.min_gain)

    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the tuples of an engine that may be significant, members without the stratum."""
        found, tuples = rows.tuples.astype(np.int64), members_of(rows, has_stratum=has_stratum)
        if self.thresholds[1:].max() <= 0:
            return tuples
        if self.tables is not None:
            testable = ~never_tested(self.tables[d], tuples, self.n_samples)
            found, tuples = found[testable], tuples[testable]
        size = max(1, min(_COUNTED_AT_ONCE, -(-len(found) // self.n_threads)))

        def kept_of(begin: int) -> IntArray:
            some = slice(begin, begin + size)
            return self._kept_some(planes, found[some], tuples[some], d, has_stratum=has_stratum)

        parts = map_in_threads(kept_of, range(0, len(found), size), self.n_threads)
        return np.concatenate([tuples[:0], *parts])

    def _kept_some(self, planes: BitPlanes, rows: IntArray, tuples: IntArray, d: int, *, has_stratum: bool) -> IntArray:
        of_tests = None if self.tables is None else self.tables[d]
        may_be = np.zeros(len(tuples), dtype=bool)
        for places, counts in count_tables(planes, rows):
            if of_tests is None:
                may_be[places] = may_be_significant(counts, self.thresholds, strata=has_stratum)
                continue
            for of_shape in places_of_each(of_tests.shapes(tuples[places])):
                some = places[of_shape]
                tested = of_tests.without_missing(tuples[some], counts[of_shape])
                may_be[some] = may_be_significant(tested, self.thresholds, strata=has_stratum)
                of_tests.keep(tuples[some[may_be[some]]], tested[may_be[some]])
        return tuples[may_be]

    def check(self, n_kept: int) -> None:
        check_listed(n_kept, self.max_listed)


def screen_gains(
    comparison: Comparison, coder: Coder, dimensions: int, max_p: float, *, omit_missing: bool
) -> FloatArray:
    """Return the gain in bits that engines ask of every member for p ≤ `max_p`, by degrees of freedom.

    With `omit_missing`, tests leave missing values out, which engines count as a level.
    """
    if isinstance(comparison.outcome, ScoreTarget):
        return number_screen_bars(comparison, coder, dimensions, max_p, omit_missing=omit_missing)
    cap = cap_beside_gaps(max_p, comparison, coder, dimensions) if omit_missing else max_p
    return screen_bars(comparison, coder, dimensions, cap)[1]


def screen_bars(comparison: Comparison, coder: Coder, dimensions: int, max_p: float) -> tuple[FloatArray, FloatArray]:
    """Return what a tuple needs for p ≤ `max_p`, by degrees of freedom: G², and the gain of every member in bits."""
    n_levels = np.maximum(coder.n_levels, 2)
    n_strata = 1 if comparison.strata is None else comparison.strata.n_strata
    max_df = most_df(n_levels, comparison.classes.n_classes, n_strata, dimensions)
    thresholds = g2_thresholds(max_p, min(max_df, _MAX_DF))
    n_cells = most_cells(n_levels, n_strata, dimensions)
    return thresholds, _least_gains(thresholds, class_sizes=comparison.classes.sizes, n_cells=n_cells)


def cap_beside_gaps(cap: float, comparison: Comparison, coder: Coder, dimensions: int) -> float:
    """Return the cap of a screen that counts missing values as a level, where the tests leave them out.

    G² of the samples without gaps is never larger than that of all, but its p-value is at fewer degrees of freedom.
    """
    from scipy.special import chdtrc

    if not coder.has_missing_level.any():
        return cap
    n_strata = 1 if comparison.strata is None else comparison.strata.n_strata
    df = most_df(np.maximum(coder.n_levels, 2), comparison.classes.n_classes, n_strata, dimensions)
    return float(min(1.0, max(cap, chdtrc(df, g2_thresholds(cap, 1)[1]))))


def _least_gains(thresholds: FloatArray, *, class_sizes: IntArray, n_cells: float) -> FloatArray:
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
