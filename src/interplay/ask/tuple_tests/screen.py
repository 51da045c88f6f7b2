"""All tuples of a table → those whose interaction may be significant: an exhaustive search, on any engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import check_int
from interplay.base.planes import BitPlanes
from interplay.base.progress import Progress
from interplay.base.tuples import TupleRows
from interplay.data.codes.coded import CodedComparison
from interplay.search.checkpoint import Checkpoint
from interplay.search.engines.base import SearchInterrupted
from interplay.search.engines.choice import EngineChoice, count_tuples
from interplay.search.engines.routing import SearcherCounts, summed_counts
from interplay.search.engines.sinks import Screen
from interplay.search.loop import Shard
from interplay.search.plan import prepare_search
from interplay.search.settings import SearchSettings

#: What engines add to counts while they screen: as little as their bounds can do with. Without pseudocounts an empty
#: cell would make these divide by zero.
PSEUDOCOUNT = 1e-6


@dataclass(frozen=True, eq=False)
class ScreenedTuples:
    """What a screen left: every tuple that is significant, and few others."""

    #: (n_listed, k): members, ascending; sorted by discretisation, then tuple.
    tuples: IntArray
    discretization: IntArray  #: (n_listed,)
    #: Tuples of the whole search, over all discretisations: as many tests as their p-values are to be adjusted for.
    n_tuples: int
    #: Who screened them.
    searched: SearcherCounts
    #: What the engine says of itself.
    engine: dict[str, Any]
    #: Tells one way of cutting the search from others: shards of one search agree in it.
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
    survivors: Survivors,
    *,
    asked_for: BoolArray | None = None,
    require: str = "any",
    shard: Shard | None = None,
    checkpoint: Checkpoint | None = None,
    name: str = "screen",
    progress: Progress = None,
    is_needed: bool = True,
) -> ScreenedTuples:
    """Look at every tuple; return those whose interaction may be significant.

    - `settings`: their pseudocount is not used: the test is of plain counts.
    - `choice`: of an engine that can screen.
    - `survivors`: keeps tuples: of `TargetTests.survivors`, no tuple is missing whose p-value is at most the one asked
      for.
    - `asked_for`, `require`: as in `make_tuple_tiles`.
    - `shard`: screen only this part of the tuples.
    - `checkpoint`: where to keep the state, under `name`; it must be held (`Checkpoint.keeping`).
    - `is_needed`: where no tuple can be tested: false for an empty list without a search.

    Raises
    ------
    SearchInterrupted
        On Ctrl-C; ``.partial`` are the tuples listed so far.
    """
    check_int("dimensions", settings.dimensions, low=2)
    comparison = coded.comparison
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
        try:
            rows = _with_further(survivors, rows, range(settings.discretizations), asked_for, require, shard)
        except KeyboardInterrupt as interrupt:
            loop.stop(interrupt)
    except SearchInterrupted as interrupt:
        partial_list = listed(interrupt.partial)
        raise SearchInterrupted(partial_list, interrupt.done, interrupt.kept_in, interrupt.not_kept) from None
    return listed(rows)


def _with_further(
    survivors: Survivors,
    rows: IntArray,
    discretizations: Iterable[int],
    asked_for: BoolArray | None,
    require: str,
    shard: Shard | None,
) -> IntArray:
    """Add tuples that engines do not list to those that they do, (n, 1 + k): discretisation and members."""
    more = [rows]
    for d in discretizations:
        for tuples in survivors.further(d, asked_for=asked_for, require=require, shard=shard):
            more.append(np.column_stack([np.full(len(tuples), d), tuples]))
            survivors.check(sum(map(len, more)))
    if len(more) == 1:
        return rows
    rows = np.concatenate(more)
    return rows[np.lexsort(rows.T[::-1])]


class Survivors(ABC):
    """Keeps those tuples of a screen that may be significant; `max_listed`: more are refused."""

    max_listed: int

    @abstractmethod
    def sink(self, d: int) -> Screen:
        """Return the sink of a search in one discretisation, with what engines ask of the members of a tuple."""

    @abstractmethod
    def kept(self, planes: BitPlanes, rows: TupleRows, d: int, *, has_stratum: bool) -> IntArray:
        """Return the tuples of an engine that may be significant, members without the stratum."""

    def further(self, d: int, *, asked_for: BoolArray | None, require: str, shard: Shard | None) -> Iterator[IntArray]:
        """Yield tuples that engines do not list, and that may be significant."""
        return iter(())

    def check(self, n_kept: int) -> None:
        check_listed(n_kept, self.max_listed)


def members_of(rows: TupleRows, *, has_stratum: bool) -> IntArray:
    """Return the tuples of an engine, members without the stratum."""
    found = rows.tuples.astype(np.int64)
    return found[:, 1:] - 1 if has_stratum else found


def most_df(n_levels: IntArray, n_classes: int, n_strata: int, dimensions: int) -> int:
    """Return the most degrees of freedom that a tuple can have."""
    return max(1, n_strata * (n_classes - 1) * prod(int(c) - 1 for c in np.sort(n_levels)[-dimensions:]))


def most_cells(n_levels: IntArray, n_strata: int, dimensions: int) -> float:
    """Return the most cells that a tuple can have."""
    return n_strata * float(np.prod(np.sort(n_levels)[-dimensions:].astype(float)))


def check_listed(n_kept: int, max_listed: int) -> None:
    """Refuse a list that is too long."""
    if n_kept > max_listed:
        raise ValueError(
            f"more than {max_listed} tuples may be significant at max_p: lower max_p, or look at fewer variables"
        )
