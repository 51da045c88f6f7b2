"""Tiles → chunks of tiles: the parts in which a search is kept, resumed or spread over machines."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, TupleTiles
from interplay.search.engines.searcher_counts import SearcherCounts

#: Upper limit of a chunk's cost, as a multiple of the largest chunk before: a wrong first estimate then costs little.
_MAX_GROWTH = 8.0

#: Unit of costs: about a nanosecond of a thread. A first chunk gets this share of the cost for its time, to be safe.
_SECONDS_PER_COST = 1e-9
_SURELY = 0.5


class DoneChunk(NamedTuple):
    """Some tiles are done; the sink of the search has their finds.

    Attributes
    ----------
    begin, end : int
        Numbers of the tiles.
    searched : SearcherCounts
        Searchers of these tiles.
    """

    begin: int
    end: int
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
    >>> from interplay.base.arrays import summed
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
