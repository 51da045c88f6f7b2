"""Tiles → chunks of tiles: what is searched in one go where a search is kept, resumed or spread over machines."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from interplay.arrays import BitPlanes, FloatArray, MaxGains, TupleTiles
from interplay.engines.base import Engine, OnProgress, SearchInterrupted

#: A chunk has at most this many times the tuples of the one before, so that a first guess cannot cost much.
_MAX_GROWTH = 8.0


class FoundChunk(NamedTuple):
    """Some tiles are done.

    Attributes
    ----------
    begin, end : int
        Which tiles.
    gains : MaxGains
        The maxima so far: over these tiles, all that came before, and those known from the start.
    """

    begin: int
    end: int
    gains: MaxGains


@runtime_checkable
class StreamingEngine(Protocol):
    """An engine that searches many chunks at once and tells of each when it is done."""

    def stream_max_gains(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        discretization: int = 0,
        known: MaxGains | None = None,
        on_progress: OnProgress | None = None,
    ) -> Iterator[FoundChunk]:
        """Search the tiles; yield chunks in the order in which they are done."""
        ...


class ChunkSize:
    """How many tuples take a given time, learnt from the chunks done so far."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._rate = 0.0
        self._largest = 0.0

    @property
    def n_tuples(self) -> float:
        """Tuples for the next chunk; 0, which means a single tile, before anything is known."""
        return min(self._rate * self.seconds, _MAX_GROWTH * self._largest)

    def learn(self, n_tuples: float, seconds: float) -> None:
        """Take note of a chunk that is done."""
        self._rate = n_tuples / max(seconds, 1e-9)
        self._largest = max(self._largest, n_tuples)


def end_of_chunk(tuples_before: FloatArray, begin: int, n_tuples: float) -> int:
    """Return where a chunk of about `n_tuples` that starts at tile `begin` ends: one tile at least.

    `tuples_before` has the number of tuples before each tile, and their total.

    Examples
    --------
    >>> end_of_chunk(np.array([0.0, 5, 10, 15]), 1, 7), end_of_chunk(np.array([0.0, 5, 10, 15]), 1, 0)
    (2, 2)
    >>> end_of_chunk(np.array([0.0, 5, 10, 15]), 0, 100)
    3
    """
    end = int(np.searchsorted(tuples_before, tuples_before[begin] + n_tuples, side="right")) - 1
    return min(max(end, begin + 1), len(tuples_before) - 1)


def tuples_before(tiles: TupleTiles) -> FloatArray:
    """Return the number of tuples before each tile, and their total, (n_tiles + 1,)."""
    return np.concatenate([[0.0], np.cumsum(tiles.n_tuples)])


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
    if isinstance(engine, StreamingEngine):
        yield from engine.stream_max_gains(
            planes,
            tiles,
            pseudocount=pseudocount,
            discretization=discretization,
            known=known,
            on_progress=on_progress,
        )
        return
    before = tuples_before(tiles)
    size = ChunkSize(seconds)
    begin = 0
    while begin < len(tiles):
        end = end_of_chunk(before, begin, size.n_tuples)
        n_tuples = float(before[end] - before[begin])
        started = time.perf_counter()
        try:
            known = engine.max_gains(
                planes,
                tiles[begin:end],
                pseudocount=pseudocount,
                discretization=discretization,
                known=known,
                on_progress=None if on_progress is None else _shifted(on_progress, int(before[begin])),
            )
        except SearchInterrupted as interrupt:
            done = before[begin] + interrupt.done * n_tuples
            raise SearchInterrupted(interrupt.partial, float(done / before[-1])) from None
        size.learn(n_tuples, time.perf_counter() - started)
        yield FoundChunk(begin, end, known)
        begin = end


def _shifted(on_progress: OnProgress, before: int) -> OnProgress:
    return lambda done: on_progress(before + done)
