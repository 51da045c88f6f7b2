"""A task on a worker of a Dask cluster: shared data + the tiles of a chunk → their finds."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import nullcontext
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.base import Engine, TileShape
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.routing import SearcherCounts
from interplay.search.engines.sinks import SinkOfChunk

#: A device is used by one task at a time, however many threads its worker has.
_device = threading.Lock()


@dataclass(frozen=True)
class SharedData:
    """Data of all chunks of a search, sent to each worker once."""

    planes: BitPlanes
    #: The blocks of variables, without any tiles.
    blocks: TupleTiles
    pseudocount: float
    #: Makes the sink of a chunk, see `Sink.elsewhere`.
    make_sink: SinkOfChunk
    #: Of interplay where the search was started.
    version: str


@dataclass(frozen=True)
class TaskResult:
    """Finds of a task, for `Sink.merge`; None where it ran out of memory."""

    found: Any
    #: Tiles that are done, the first of the chunk.
    n_tiles: int
    #: Time taken.
    seconds: float
    #: `engine`, `worker`: name of the engine, address of the worker.
    engine: str
    worker: str
    searched: SearcherCounts

    @property
    def out_of_memory(self) -> bool:
        return self.found is None


def search_chunk(
    data: SharedData, tiles: npt.NDArray[np.int32], n_tuples: FloatArray, bounds: FloatArray | None
) -> TaskResult:
    """Search the tiles of a chunk with one thread, or on the worker's device.

    `bounds` are gains found elsewhere so far: tuples that cannot reach them are neither scored nor returned.
    """
    started = time.perf_counter()
    worker, engine = _worker_and_engine(data)
    chunk = replace(data.blocks, tiles=np.ascontiguousarray(tiles), n_tuples=np.asarray(n_tuples))
    sink = data.make_sink(data.planes, chunk, bounds)
    searched: SearcherCounts = {}
    has_room = True
    try:
        with nullcontext() if engine.name == "cpu" else _device:
            engine.search(
                data.planes,
                chunk,
                sink,
                pseudocount=data.pseudocount,
                on_progress=_StopWhenCancelled(worker),
                searched=searched,
            )
    except MemoryError:
        has_room = False
    return TaskResult(
        found=sink.found() if has_room else None,
        n_tiles=sink.n_done(chunk) if has_room else 0,
        seconds=time.perf_counter() - started,
        engine=engine.name,
        worker=worker.address,
        searched=searched,
    )


def _worker_and_engine(data: SharedData) -> tuple[Any, Engine]:
    """Return the worker that this runs on, and its engine, unless it has another version of interplay."""
    from distributed import get_worker

    worker = get_worker()
    if version("interplay") != data.version:
        raise RuntimeError(
            f"interplay is {version('interplay')} on worker {worker.address} and {data.version} where the search was "
            "started: install the same version"
        )
    return worker, _engine_of(worker)


def tile_shape_here(dimensions: int, dask_worker: Any = None) -> TileShape:
    """Return the shape of tiles that suits the engine of a worker; Dask fills in the worker."""
    return _engine_of(dask_worker).tile_shape(dimensions)


def _engine_of(worker: Any) -> Engine:
    """A worker started with the resource GPU searches on its device; each thread of another one is an engine."""
    if worker.state.total_resources.get("GPU", 0) > 0:
        try:
            from interplay.search.engines.cuda import CudaEngine

            return CudaEngine(leave_memory_errors=True)
        except (ValueError, ImportError, RuntimeError, OSError) as error:
            logging.getLogger("distributed.worker").warning("interplay: no GPU here, using the processor: %s", error)
    return CpuEngine(n_threads=1)


class _StopWhenCancelled:
    """Called now and then during a search: ends it when its task is cancelled.

    Dask cannot stop a running task, but the worker knows that it was cancelled.
    """

    def __init__(self, worker: Any) -> None:
        self._tasks = worker.state.tasks
        self._key = worker.get_current_task()

    def __call__(self, done: float) -> None:
        task = self._tasks.get(self._key)
        if task is None or task.state == "cancelled":
            raise RuntimeError("cancelled")
