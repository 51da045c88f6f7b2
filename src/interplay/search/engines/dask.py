"""Planes + tiles → maximum gains, or tuples of which every member gains, on the workers of a Dask cluster.

Planes are sent to each worker once. Chunks of tiles of about equal cost follow, a bounded number at a time, each with
the best gains known by then, so that pruning bites everywhere. Results are merged as they come. A worker that is lost,
slow or new changes the time and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from math import inf
from typing import Any, Unpack

from interplay.base.checks import needing
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleRows, TupleTiles, summed
from interplay.search.engines.base import USUAL_TILES, Engine, OnProgress, SearchInterrupted, SearchOptions, TileShape
from interplay.search.engines.dask_cluster import (
    LOST,
    POLL_SECONDS,
    Cluster,
    Connection,
    SharedData,
    TaskResult,
    in_one_line,
    search_chunk,
    tile_shape_here,
)
from interplay.search.engines.routing import ChunkSize, DoneChunk, add_counts, end_of_chunk, tile_costs
from interplay.search.engines.sinks import Maxima, Rows, Screen, Sink

#: Tasks on the cluster per thread: no thread waits for a task, and an adaptive cluster sees that more work is waiting.
TASKS_PER_THREAD = 3

#: A task takes this long, or longer on many threads, so that the scheduler has at most some 20 a second to see to.
TASK_SECONDS = 3.0
_TASKS_PER_SECOND = 20.0
_MAX_TASK_SECONDS = 60.0

#: Towards the end tasks get shorter, so that all threads finish together, but not so short that sending them shows.
_MIN_TASK_SECONDS = 0.2

#: Bounds up to this size travel with each task; larger ones are put on the cluster, now and then.
_MAX_BOUND_BYTES = 1 << 16
_SECONDS_BETWEEN_BOUNDS = 2.0

#: A chunk may fail this often, split or not.
_MAX_FAILURES = 5

#: Data sent to the cluster may be lost this often without a task done in between.
_MAX_LOSSES = 100


@dataclass(frozen=True)
class Chunk:
    """Tiles `begin` … `end`, with the failures of their search so far."""

    begin: int
    end: int
    failures: int = 0
    #: Workers that had not enough memory for the chunk.
    avoid: frozenset[str] = frozenset()

    def halves(self) -> list[Chunk]:
        """Return the chunk in two, or as it is if it has a single tile."""
        middle = (self.begin + self.end + 1) // 2
        halves = [replace(self, end=middle), replace(self, begin=middle)]
        return [half for half in halves if half.begin < half.end]


class ChunkTasks:
    """The chunks of one search: to be cut, waiting, on the cluster, done."""

    def __init__(self, client: Any, data: SharedData, tiles: TupleTiles, sink: Sink, task_seconds: float) -> None:
        self._client = client
        self._connection = Connection(client)
        self._data = data
        self._tiles = tiles
        self._sink = sink
        self._before = summed(tile_costs(data.planes, tiles, data.pseudocount))
        self._cluster = Cluster(self._connection)
        self._task_seconds = task_seconds
        self._next_tile = 0
        self._to_repeat: list[Chunk] = []
        #: For each task on the cluster its chunk and the planes it was given.
        self._in_flight: dict[Any, tuple[Chunk, Any]] = {}
        self._sizes: dict[str, ChunkSize] = {}
        self._shared: Any = None
        #: Large bounds as they were put on the cluster, and when.
        self._bounds: Any = None
        self._bounds_made = 0.0
        self._losses = 0

    def run(self, on_progress: OnProgress | None) -> Iterator[DoneChunk]:
        """Yield chunks as they are done."""
        from distributed import as_completed

        done = 0.0
        with self._connection.noticing_interrupts():
            check_interrupt = self._connection.check_interrupt
            try:
                self._send_data()
                completed = as_completed([], raise_errors=False)
                self._submit(completed)
                while self._in_flight:
                    check_interrupt()
                    while not completed.has_ready():
                        time.sleep(POLL_SECONDS)
                        check_interrupt()
                        self._submit(completed)  # to workers that have come meanwhile
                    future = next(completed)
                    chunk, shared = self._in_flight.pop(future)
                    result = self._result(future, chunk, shared)
                    if result is None:
                        self._submit(completed)
                        continue
                    chunk = self._done_part(result, chunk)
                    self._learn(result, float(self._before[chunk.end] - self._before[chunk.begin]))
                    self._sink.merge(result.found)
                    done += float(self._tiles.n_tuples[chunk.begin : chunk.end].sum())
                    self._submit(completed)
                    if on_progress is not None:
                        on_progress(done)
                    yield DoneChunk(chunk.begin, chunk.end, result.searched)
                check_interrupt()
            except (KeyboardInterrupt, Exception) as error:
                # Errors after Ctrl-C do not matter any more.
                if not (isinstance(error, KeyboardInterrupt) or check_interrupt.pressed):
                    raise
                raise SearchInterrupted(self._sink.so_far(), float(done / self._tiles.n_tuples.sum())) from None
            finally:
                self._cancel()

    def _done_part(self, result: TaskResult, chunk: Chunk) -> Chunk:
        """Return the tiles of a chunk that are done; the others follow in another task."""
        middle = chunk.begin + result.n_tiles
        if middle < chunk.end:
            self._to_repeat.append(replace(chunk, begin=middle))
        return replace(chunk, end=middle)

    def _cancel(self) -> None:
        """Cancel the tasks that are still on the cluster. Finds are already merged, so failures here do not matter."""
        if self._in_flight and not self._connection.is_lost:
            with suppress(Exception, asyncio.CancelledError):
                self._connection.ask(self._client.cancel, list(self._in_flight), force=True)

    def _send_data(self) -> None:
        self._bounds = None
        self._shared = self._cluster.send(self._data, self._data.planes.words.nbytes)

    def _submit(self, completed: Any) -> None:
        """Fill up the cluster."""
        while len(self._in_flight) < TASKS_PER_THREAD * self._cluster.n_threads:
            chunk = self._next_chunk()
            if chunk is None:
                return
            elsewhere = [worker for worker in self._cluster.workers if worker not in chunk.avoid]
            is_restricted = bool(chunk.avoid and elsewhere)
            tiles = self._tiles[chunk.begin : chunk.end]
            bounds = self._current_bounds()
            with self._connection.talking():
                future = self._client.submit(
                    search_chunk,
                    self._shared,
                    tiles.tiles,
                    tiles.n_tuples,
                    bounds,
                    pure=False,
                    workers=elsewhere if is_restricted else None,
                    allow_other_workers=is_restricted,  # should those be gone by then
                )
                self._in_flight[future] = (chunk, self._shared)
                completed.add(future)

    def _current_bounds(self) -> Any:
        """Return the gains known by now, if any; large arrays as the future of a recent copy on the cluster."""
        gain = self._sink.bounds()
        if gain is None or gain.nbytes <= _MAX_BOUND_BYTES:
            return None if gain is None else gain.copy()
        now = time.monotonic()
        if self._bounds is None or now - self._bounds_made > max(_SECONDS_BETWEEN_BOUNDS, self._seconds / 4):
            try:
                self._bounds = self._cluster.send_to_one(gain.copy(), gain.nbytes)
            except (Exception, asyncio.CancelledError):  # the worker they were sent to is lost
                return gain.copy()
            self._bounds_made = now
        return self._bounds

    def _next_chunk(self) -> Chunk | None:
        if self._to_repeat:
            return self._to_repeat.pop()
        begin = self._next_tile
        if begin == len(self._tiles):
            return None
        # The slowest kind of worker decides the size of chunks: others do more chunks.
        cost = min((size.cost for size in self._sizes.values()), default=0.0)
        shortest = cost * _MIN_TASK_SECONDS / self._seconds
        left = float(self._before[-1] - self._before[begin])
        even_share = left / (TASKS_PER_THREAD * self._cluster.n_threads)
        self._next_tile = end_of_chunk(self._before, begin, min(cost, max(even_share, shortest)))
        return Chunk(begin, self._next_tile)

    @property
    def _seconds(self) -> float:
        return min(max(self._task_seconds, self._cluster.n_threads / _TASKS_PER_SECOND), _MAX_TASK_SECONDS)

    def _learn(self, result: TaskResult, cost: float) -> None:
        self._losses = 0
        size = self._sizes.setdefault(result.engine, ChunkSize(self._seconds))
        size.seconds = self._seconds
        size.learn(cost, result.seconds)

    def _result(self, future: Any, chunk: Chunk, shared: Any) -> TaskResult | None:
        """Return the result of a chunk, or queue the chunk to be searched again."""
        from distributed import KilledWorker

        try:
            result: TaskResult = self._connection.fetch(future)
        except (Exception, asyncio.CancelledError) as error:
            # The scheduler knows the errors of tasks. Any other error means that the task, or the way to its result,
            # was lost; distributed may then raise any kind of exception.
            if future.status == "error":
                self._repeat(chunk, error, split=isinstance(error, KilledWorker))
            else:
                self._after_loss(chunk, shared, error)
            return None
        if result.out_of_memory:
            avoiding = replace(chunk, avoid=chunk.avoid | {result.worker})
            if len(halves := avoiding.halves()) > 1:
                self._to_repeat += halves  # they may well fit into memory, so this is no failure yet
            else:
                self._repeat(avoiding, MemoryError(f"not enough memory on {result.worker}"), split=False)
            return None
        return result

    def _after_loss(self, chunk: Chunk, shared: Any, error: BaseException) -> None:
        """Send data again: the only worker with the planes or bounds is gone, and with it the tasks that need them."""
        self._losses += 1
        if self._connection.is_lost or self._losses > _MAX_LOSSES:
            raise RuntimeError(LOST) from error
        self._connection.forget_cancelled_gather()
        if shared is self._shared:
            self._send_data()
        # The chunk may have killed the worker, so it is halved; this is not certain, so no failure is counted.
        self._to_repeat += chunk.halves()

    def _repeat(self, chunk: Chunk, error: BaseException, *, split: bool) -> None:
        failures = chunk.failures + 1
        if failures >= _MAX_FAILURES:
            tiles = f"tile {chunk.begin}" if chunk.end == chunk.begin + 1 else f"tiles {chunk.begin} to {chunk.end - 1}"
            reason = in_one_line(error)
            raise RuntimeError(
                f"the cluster failed {failures} times on {tiles} of {len(self._tiles)} ({reason}): check the logs of "
                "its workers, and give them more memory if they were killed"
            ) from error
        chunk = replace(chunk, failures=failures)
        self._to_repeat += chunk.halves() if split else [chunk]


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
    kinds = frozenset({Maxima.kind, Screen.kind})

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

    def search(self, planes: BitPlanes, tiles: TupleTiles, sink: Sink, **options: Unpack[SearchOptions]) -> None:
        """Search all tiles into the sink; `max_rows` limits the rows of a task."""
        rows: dict[int, TupleRows] = {}
        searched = options.get("searched")
        for chunk in self.stream(planes, tiles, sink, **options):
            if searched is not None:
                add_counts(searched, chunk.searched)
            if isinstance(sink, Rows):
                rows[chunk.begin] = sink.rows
        if isinstance(sink, Rows):
            sink.take(TupleRows.joined([TupleRows.none(tiles.dimensions), *(rows[begin] for begin in sorted(rows))]))

    def stream(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        sink: Sink,
        *,
        seconds: float = inf,
        **options: Unpack[SearchOptions],
    ) -> Iterator[DoneChunk]:
        """Search the tiles; yield chunks in the order in which they are done. `task_seconds` decides their size."""
        data = SharedData(planes, tiles[:0], options["pseudocount"], sink.elsewhere(), version("interplay"))
        return ChunkTasks(self.client, data, tiles, sink, self.task_seconds).run(options.get("on_progress"))

    def describe(self) -> dict[str, Any]:
        """Return the entries about the engine in the record of a run."""
        threads: dict[str, int] = {}
        with suppress(Exception):  # a cluster that is closed when all is done takes no result with it
            threads = Connection(self.client).ask(self.client.nthreads)
        return {"name": self.name, "workers": len(threads), "threads": sum(threads.values())}
