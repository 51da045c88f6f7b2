"""Tiles → the processor's searcher that takes each, its estimated cost, and chunks of tiles; tiles and tuples that
each searcher took.

The rule stands in the compiled core alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from interplay import _core
from interplay.base.arrays import FloatArray
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.files.types import fits

#: Variables that fill a register of lanes, and variables whose triples are searched together.
LANES: int = _core.LANES
TRIPLE_BLOCK: int = _core.TRIPLE_BLOCK

#: The searchers by number; number 0 stands for none.
SEARCHERS: tuple[str, ...] = _core.SEARCHERS


def max_block_size(dimensions: int) -> int:
    """Return how many variables a block may have so that the tables over a tile's blocks fit, from 4D on.

    Examples
    --------
    >>> max_block_size(4) > max_block_size(5)
    True
    """
    return _core.max_block_size(dimensions)


def core_tiles(planes: BitPlanes, tiles: TupleTiles) -> _core.Tiles:
    """Return tiles over planes, which need no words, as the compiled core takes them; it checks them."""
    return _core.Tiles(
        n_levels=planes.n_levels,
        n_vars=planes.n_vars,
        order=tiles.order,
        block_start=tiles.block_start,
        middle_start=tiles.middle_start,
        lane_start=tiles.lane_start,
        tiles=tiles.tiles,
        partner_cells=tiles.partner_cells,
    )


def tile_searchers(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> list[str]:
    """Return the name of the searcher that takes each tile; only the layout of the planes matters here and below.

    Examples
    --------
    >>> from interplay.data.codes.planes import planes_to_come
    >>> from interplay.search.tiles import make_tuple_tiles
    >>> levels = np.array([2, 2, 2, 40])
    >>> tiles = make_tuple_tiles(levels, n_vars=4, dimensions=2)
    >>> tile_searchers(planes_to_come(levels, np.array([60, 40]), n_vars=4), tiles, 0.25)
    ['singles', 'direct']
    """
    found = _core.tile_searchers(*_core_arguments(planes, tiles, pseudocount))
    return [SEARCHERS[number] for number in found.tolist()]


def tile_costs(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> FloatArray:
    """Return about how many nanoseconds each tile takes a thread, (n_tiles,) float64: the same on every machine."""
    return _core.tile_costs(*_core_arguments(planes, tiles, pseudocount))


def tiles_too_large(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> tuple[bool, float]:
    """Say whether a tile would be searched faster with fewer variables per block, and the cost of the longest tile."""
    return _core.tiles_too_large(*_core_arguments(planes, tiles, pseudocount))


def _core_arguments(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> tuple[Any, ...]:
    return core_tiles(planes, tiles), planes.class_sizes, pseudocount, planes.of_numbers


def count_searched(searched_by: npt.NDArray[np.uint8], n_tuples: FloatArray) -> SearcherCounts:
    """Count tiles and tuples by the number of their searcher; those of number 0 were not searched.

    Examples
    --------
    >>> count_searched(np.array([2, 0, 2], dtype=np.uint8), np.array([10.0, 10.0, 5.0]))
    {'pairs': {'tiles': 2, 'tuples': 15}}
    """
    n_tiles = np.bincount(searched_by, minlength=len(SEARCHERS)).tolist()
    tuples = np.bincount(searched_by, weights=n_tuples, minlength=len(SEARCHERS)).tolist()
    return {
        name: {"tiles": n_tiles[number], "tuples": int(tuples[number])}
        for number, name in enumerate(SEARCHERS)
        if number and n_tiles[number]
    }


#: Upper limit of a chunk's cost, as a multiple of the largest chunk before: a wrong first estimate then costs little.
_MAX_GROWTH = 8.0

#: Unit of costs: about a nanosecond of a thread. A first chunk gets this share of the cost for its time, to be safe.
_SECONDS_PER_COST = 1e-9
_SURELY = 0.5


class DoneChunk(NamedTuple):
    """Some tiles are done; the sink of the search has their finds."""

    #: `begin`, `end`: numbers of the tiles.
    begin: int
    end: int
    #: Searchers of these tiles.
    searched: SearcherCounts


class ChunkSize:
    """The cost that takes a given time, learnt from the chunks done so far.

    The first chunk is a single tile, unless costs are known to be right or there is no limit.
    """

    def __init__(self, seconds: float, *, knows_costs: bool = False) -> None:
        self.seconds = seconds
        self._first = _SURELY * seconds / _SECONDS_PER_COST if knows_costs or seconds == inf else 0.0
        self._rate = 0.0
        self._largest = 0.0

    @property
    def cost(self) -> float:
        """Cost of the next chunk; 0 means a single tile."""
        return min(self._rate * self.seconds, _MAX_GROWTH * self._largest) if self._largest else self._first

    def learn(self, cost: float, seconds: float) -> None:
        """Take note of a chunk that is done."""
        self._rate = cost / max(seconds, 1e-9)
        self._largest = max(self._largest, cost)


def end_of_chunk(before: FloatArray, begin: int, cost: float) -> int:
    """Return where a chunk of about `cost` that starts at tile `begin` ends: one tile at least.

    `before` has the cost before each tile, and the total; see `summed`.

    Examples
    --------
    >>> from interplay.base.tuples import summed
    >>> end_of_chunk(summed([5.0, 5.0, 5.0]), 1, 7), end_of_chunk(summed([5.0, 5.0, 5.0]), 1, 0)
    (2, 2)
    >>> end_of_chunk(summed([5.0, 5.0, 5.0]), 0, 100)
    3
    """
    if cost == inf:
        return len(before) - 1
    end = int(np.searchsorted(before, before[begin] + cost, side="right")) - 1
    return min(max(end, begin + 1), len(before) - 1)


def tiles_of_tuples(tuples: npt.NDArray[np.int32], like: TupleTiles, *, n_rows: int) -> TupleTiles:
    """Return some tuples of the tiles `like`, members ascending, as tiles of one tuple each, in the order given.

    Groups of equal degrees of freedom are those of all tuples: they decide the last bits of a gain.
    """
    singles = np.arange(n_rows + 1)  # a block for each variable
    return TupleTiles(
        order=singles[:-1],
        block_start=singles,
        middle_start=singles,
        lane_start=singles,
        tiles=np.ascontiguousarray(tuples),
        n_tuples=np.ones(len(tuples)),
        partner_cells=like.partner_cells,
        only_of_stratum=like.only_of_stratum,
    )


#: {"pairs": {"tiles": 12, "tuples": 34000}, …}: the searchers of the processor by name (see
#: ``core/include/interplay/routing.hpp``), or "cuda".
SearcherCounts: TypeAlias = dict[str, dict[str, int]]


def are_counts(value: Any) -> bool:
    """Say whether a value that was read from a file is a `SearcherCounts`.

    Examples
    --------
    >>> are_counts({"pairs": {"tiles": 2, "tuples": 10}}), are_counts({"pairs": {"tiles": 2}}), are_counts(None)
    (True, False, False)
    """
    return fits(value, SearcherCounts) and all(counts.keys() == {"tiles", "tuples"} for counts in value.values())


def add_counts(total: SearcherCounts, more: Mapping[str, Mapping[str, int]]) -> None:
    """Add to `total`, in place.

    Examples
    --------
    >>> total = {"pairs": {"tiles": 2, "tuples": 10}}
    >>> add_counts(total, {"pairs": {"tiles": 1, "tuples": 5}, "direct": {"tiles": 1, "tuples": 3}})
    >>> total
    {'pairs': {'tiles': 3, 'tuples': 15}, 'direct': {'tiles': 1, 'tuples': 3}}
    """
    for searcher, counts in more.items():
        known = total.setdefault(searcher, {"tiles": 0, "tuples": 0})
        for what in known:
            known[what] += counts[what]


def summed_counts(parts: Iterable[Mapping[str, Mapping[str, int]]]) -> SearcherCounts:
    """Return the sum over some searches.

    Examples
    --------
    >>> summed_counts([{"pairs": {"tiles": 2, "tuples": 10}}, {"pairs": {"tiles": 1, "tuples": 5}}])
    {'pairs': {'tiles': 3, 'tuples': 15}}
    """
    total: SearcherCounts = {}
    for part in parts:
        add_counts(total, part)
    return total
