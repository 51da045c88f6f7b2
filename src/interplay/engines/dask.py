"""Planes + tiles → maximum gains, or tuples of which every member gains, on the workers of a Dask cluster.

Planes are sent to each worker once. Chunks of tiles of about equal cost follow, a bounded number at a time, each with
the best gains known by then, so that pruning bites everywhere. Results are merged as they come. A worker that is lost,
slow or new changes the time and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from interplay.base.arrays import BitPlanes, FloatArray, MaxGains, TupleTiles
from interplay.base.checks import needing
from interplay.engines.base import USUAL_TILES, Engine, OnProgress, TileShape
from interplay.engines.dask_chunks import TASK_SECONDS, Chunk, ChunkTasks
from interplay.engines.dask_connection import Connection
from interplay.engines.dask_tasks import (
    Improvement,
    ScreenedTiles,
    SharedData,
    screen_chunk,
    search_chunk,
    tile_shape_here,
)
from interplay.engines.searcher_counts import SearcherCounts, add_counts
from interplay.engines.tile_chunks import FoundChunk, ScreenedChunk

#: Bounds up to this size travel with each task; larger ones are put on the cluster, now and then.
_MAX_BOUND_BYTES = 1 << 16
_SECONDS_BETWEEN_BOUNDS = 2.0


@dataclass(frozen=True)
class DaskEngine(Engine):
    """All tiles on the workers of a Dask cluster, one thread to a task; workers with the resource GPU use it.

    Attributes
    ----------
    client : distributed.Client
    task_seconds : float
        About how long a task should take.
    """

    client: Any
    task_seconds: float = TASK_SECONDS
    name: str = "dask"
    can_screen = True
    can_stream = True
    streams_screened = True

    def __post_init__(self) -> None:
        if self.client.asynchronous:
            raise TypeError("engine must be a synchronous Dask client: create it with asynchronous=False")

    @classmethod
    def of_current_client(cls) -> DaskEngine:
        """Return the engine of the client made last, or of the scheduler that Dask's settings name."""
        with needing("Dask", "cluster", "engine='dask' needs"):
            import dask
            from distributed import Client, get_client
        try:
            return cls(get_client())
        except ValueError:
            if address := dask.config.get("scheduler-address", None):
                return cls(Client(address))
            raise ValueError(
                "engine='dask' needs a Dask client: create one first, with distributed.Client() for this "
                "machine or distributed.Client(address) for a running scheduler, or set DASK_SCHEDULER_ADDRESS"
            ) from None

    def tile_shape(self, dimensions: int) -> TileShape:
        """Return how `make_tuple_tiles` should cut: as all workers like it, or in the usual way if they differ."""
        # A worker that is lost meanwhile has no say.
        shapes: dict[str, TileShape] = {}
        with suppress(TimeoutError):  # one of them hangs
            shapes = Connection(self.client).ask(self.client.run, tile_shape_here, dimensions, on_error="ignore")
        return next(iter(shapes.values())) if len(set(shapes.values())) == 1 else USUAL_TILES

    def max_gains(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        discretization: int = 0,
        known: MaxGains | None = None,
        on_progress: OnProgress | None = None,
        searched: SearcherCounts | None = None,
    ) -> MaxGains:
        """Search the tiles and return their maxima, merged with those already `known`."""
        found = MaxGains.none_yet(planes, tiles) if known is None else known
        for chunk in self.stream_max_gains(
            planes,
            tiles,
            pseudocount=pseudocount,
            discretization=discretization,
            known=found,
            on_progress=on_progress,
        ):
            found = chunk.gains
            if searched is not None:
                add_counts(searched, chunk.searched)
        return found

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
        data = SharedData(planes, tiles[:0], pseudocount, discretization, version("interplay"))
        known = MaxGains.none_yet(planes, tiles) if known is None else known
        return _Search(self.client, data, tiles, known, self.task_seconds).run(on_progress)

    def stream_screened(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        min_gain: FloatArray,
        on_progress: OnProgress | None = None,
    ) -> Iterator[ScreenedChunk]:
        """Screen the tiles; yield chunks in the order in which they are done."""
        data = SharedData(planes, tiles[:0], pseudocount, 0, version("interplay"), min_gain)
        return _Screen(self.client, data, tiles, self.task_seconds).run(on_progress)

    def describe(self) -> dict[str, Any]:
        """Return what a record of the run should say about the engine."""
        threads: dict[str, int] = {}
        with suppress(Exception):  # a cluster that is closed when all is done takes no result with it
            threads = Connection(self.client).ask(self.client.nthreads)
        return {"name": self.name, "workers": len(threads), "threads": sum(threads.values())}


class _Search(ChunkTasks[Improvement, FoundChunk]):
    """The chunks of one search for maxima."""

    def __init__(self, client: Any, data: SharedData, tiles: TupleTiles, known: MaxGains, task_seconds: float) -> None:
        super().__init__(client, data, tiles, task_seconds)
        self._found = replace(  # improved in place
            known,
            gain_by_group=known.gain_by_group.copy(),
            discretization_by_group=known.discretization_by_group.copy(),
            tuples_by_group=known.tuples_by_group.copy(),
        )
        self._bounds: Any = None
        self._bounds_made = 0.0

    def _task(self) -> tuple[Callable[..., Improvement], tuple[Any, ...]]:
        return search_chunk, (self._current_bounds(),)

    def _tiles_done(self, result: Improvement, chunk: Chunk) -> int:
        return chunk.end - chunk.begin

    def _take(self, result: Improvement, chunk: Chunk) -> FoundChunk:
        result.add_to(self._found, self._data.discretization)
        return FoundChunk(chunk.begin, chunk.end, self._so_far(), result.searched)

    def _so_far(self) -> MaxGains:
        return replace(self._found)

    def _send_data(self) -> None:
        self._bounds = None
        super()._send_data()

    def _current_bounds(self) -> Any:
        """The gains known by now; large ones as a name for what was put on the cluster a moment ago."""
        gain: FloatArray = self._found.gain_by_group
        if gain.nbytes <= _MAX_BOUND_BYTES:
            return gain.copy()
        now = time.monotonic()
        if self._bounds is None or now - self._bounds_made > max(_SECONDS_BETWEEN_BOUNDS, self._seconds / 4):
            try:
                self._bounds = self._cluster.send_to_one(gain.copy(), gain.nbytes)
            except (Exception, asyncio.CancelledError):  # the worker they were sent to is lost
                return gain.copy()
            self._bounds_made = now
        return self._bounds


class _Screen(ChunkTasks[ScreenedTiles, ScreenedChunk]):
    """The chunks of one screen."""

    def _task(self) -> tuple[Callable[..., ScreenedTiles], tuple[Any, ...]]:
        return screen_chunk, ()

    def _tiles_done(self, result: ScreenedTiles, chunk: Chunk) -> int:
        return len(result.rows.rows_of_tile)

    def _take(self, result: ScreenedTiles, chunk: Chunk) -> ScreenedChunk:
        return ScreenedChunk(chunk.begin, chunk.end, result.rows, result.searched)
