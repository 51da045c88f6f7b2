"""Tiles → chunks of tiles: what is searched in one go where a search is kept, resumed or spread over machines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BitPlanes, FloatArray, MaxGains, TupleRows, TupleTiles
from interplay.engines.base import Engine, OnProgress, SearchInterrupted
from interplay.engines.routing import costs_over
from interplay.engines.searcher_counts import SearcherCounts

#: A chunk has at most this many times the cost of those before, so that a first guess cannot cost much.
_MAX_GROWTH = 8.0

#: Rows that a screened chunk has at most, but for what the threads have at hand when there are so many.
MAX_SCREENED_ROWS = 1_000_000

#: What costs stand for: nanoseconds of a thread, about. This share of a time is enough for what should take it.
_SECONDS_PER_COST = 1e-9
_SURELY = 0.5

#: Tiles that it has at most: engines keep some 60 bytes for each.
_MAX_SCREENED_TILES = 1 << 20


class FoundChunk(NamedTuple):
    """Some tiles are done.

    Attributes
    ----------
    begin, end : int
        Which tiles.
    gains : MaxGains
        The maxima so far: over these tiles, all that came before, and those known from the start.
    searched : SearcherCounts
        Who searched these tiles.
    """

    begin: int
    end: int
    gains: MaxGains
    searched: SearcherCounts


class ScreenedChunk(NamedTuple):
    """Some tiles are screened.

    Attributes
    ----------
    begin, end : int
        Which tiles.
    rows : TupleRows
        The tuples of these tiles that are listed.
    searched : SearcherCounts
        Who screened these tiles.
    """

    begin: int
    end: int
    rows: TupleRows
    searched: SearcherCounts


class ChunkSize:
    """What cost takes a given time, learnt from the chunks done so far; `first` before anything is known."""

    def __init__(self, seconds: float, first: float = 0.0) -> None:
        self.seconds = seconds
        self._first = first
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
    >>> end_of_chunk(summed([5.0, 5.0, 5.0]), 1, 7), end_of_chunk(summed([5.0, 5.0, 5.0]), 1, 0)
    (2, 2)
    >>> end_of_chunk(summed([5.0, 5.0, 5.0]), 0, 100)
    3
    """
    end = int(np.searchsorted(before, before[begin] + cost, side="right")) - 1
    return min(max(end, begin + 1), len(before) - 1)


def summed(per_tile: npt.ArrayLike) -> FloatArray:
    """Return the sums before each tile, and the total, (n_tiles + 1,).

    Examples
    --------
    >>> summed([5.0, 1.0]).tolist()
    [0.0, 5.0, 6.0]
    """
    return np.concatenate([[0.0], np.cumsum(per_tile)])


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


def search_in_chunks(
    engine: Engine,
    planes: BitPlanes,
    tiles: TupleTiles,
    *,
    seconds: float,
    pseudocount: float,
    discretization: int,
    known: MaxGains | None,
    on_progress: OnProgress | None,
) -> Iterator[FoundChunk]:
    """Search the tiles; yield after every chunk, which takes about `seconds` where the engine does not decide.

    What one chunk finds is known to the next, so that cutting up costs no pruning.
    """
    if engine.can_stream:
        yield from engine.stream_max_gains(
            planes,
            tiles,
            pseudocount=pseudocount,
            discretization=discretization,
            known=known,
            on_progress=on_progress,
        )
        return
    before, cost_before = summed(tiles.n_tuples), summed(costs_over(planes, tiles, pseudocount))
    size = ChunkSize(seconds)
    begin = 0
    while begin < len(tiles):
        end = end_of_chunk(cost_before, begin, size.cost)
        started = time.perf_counter()
        searched: SearcherCounts = {}
        try:
            known = engine.max_gains(
                planes,
                tiles[begin:end],
                pseudocount=pseudocount,
                discretization=discretization,
                known=known,
                on_progress=None if on_progress is None else _shifted(on_progress, int(before[begin])),
                searched=searched,
            )
        except SearchInterrupted as interrupt:
            done = before[begin] + interrupt.done * (before[end] - before[begin])
            raise SearchInterrupted(interrupt.partial, float(done / before[-1])) from None
        size.learn(float(cost_before[end] - cost_before[begin]), time.perf_counter() - started)
        yield FoundChunk(begin, end, known, searched)
        begin = end


def screen_in_chunks(
    engine: Engine,
    planes: BitPlanes,
    tiles: TupleTiles,
    *,
    seconds: float,
    pseudocount: float,
    min_gain: FloatArray,
    on_progress: OnProgress | None,
    max_rows: int = MAX_SCREENED_ROWS,
) -> Iterator[ScreenedChunk]:
    """Screen the tiles; yield after every chunk: one of `max_rows` rows or somewhat more, or of about `seconds`."""
    if engine.streams_screened:
        yield from engine.stream_screened(
            planes, tiles, pseudocount=pseudocount, min_gain=min_gain, on_progress=on_progress
        )
        return
    before, cost_before = summed(tiles.n_tuples), summed(costs_over(planes, tiles, pseudocount))
    size = ChunkSize(seconds, first=_SURELY * seconds / _SECONDS_PER_COST)
    begin = 0
    while begin < len(tiles):
        end = min(end_of_chunk(cost_before, begin, size.cost), begin + _MAX_SCREENED_TILES)
        started = time.perf_counter()
        searched: SearcherCounts = {}
        rows = engine.screen_tiles(
            planes,
            tiles[begin:end],
            pseudocount=pseudocount,
            min_gain=min_gain,
            max_rows=max_rows,
            on_progress=None if on_progress is None else _shifted(on_progress, int(before[begin])),
            searched=searched,
        )
        end = begin + len(rows.rows_of_tile)
        size.learn(float(cost_before[end] - cost_before[begin]), time.perf_counter() - started)
        yield ScreenedChunk(begin, end, rows, searched)
        begin = end


def _shifted(on_progress: OnProgress, before: int) -> OnProgress:
    return lambda done, found=None, /: on_progress(before + done, found)
