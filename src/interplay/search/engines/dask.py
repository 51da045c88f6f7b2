"""Planes + tiles → maximum gains, or tuples of which every member gains, on the workers of a Dask cluster.

Planes are sent to each worker once. Chunks of tiles of about equal cost follow, a bounded number at a time, each with
the best gains known by then, so that pruning bites everywhere. Results are merged as they come. A worker that is lost,
slow or new changes the time and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from typing import Any, Unpack

from interplay.base.arrays import BitPlanes, TupleRows, TupleTiles
from interplay.base.checks import needing
from interplay.search.engines.base import USUAL_TILES, Engine, SearchOptions, TileShape
from interplay.search.engines.dask_chunks import TASK_SECONDS, ChunkTasks
from interplay.search.engines.dask_connection import Connection
from interplay.search.engines.dask_tasks import SharedData, tile_shape_here
from interplay.search.engines.searcher_counts import add_counts
from interplay.search.engines.sinks import Maxima, Rows, Screen, Sink
from interplay.search.engines.tile_chunks import DoneChunk


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
