"""What runs on a worker of a Dask cluster: shared data + the tiles of a chunk → what they improve."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BitPlanes, FloatArray, IntArray, MaxGains, TupleRows, TupleTiles
from interplay.engines.base import Engine, TileShape
from interplay.engines.cpu import CpuEngine
from interplay.engines.searcher_counts import SearcherCounts
from interplay.engines.tile_chunks import MAX_SCREENED_ROWS

#: A device is used by one task at a time, however many threads its worker has.
_device = threading.Lock()


@dataclass(frozen=True)
class SharedData:
    """What all chunks of a search need, sent to each worker once.

    Attributes
    ----------
    planes : BitPlanes
    blocks : TupleTiles
        The blocks of variables, without any tiles.
    pseudocount : float
    discretization : int
    version : str
        Of interplay where the search was started.
    min_gain : FloatArray, optional
        Of a screen: what every member must gain, see `Engine.screen_tiles`.
    """

    planes: BitPlanes
    blocks: TupleTiles
    pseudocount: float
    discretization: int
    version: str
    min_gain: FloatArray | None = None


@dataclass(frozen=True)
class Improvement:
    """What a chunk found that beats or equals the gains known when it began; or why it failed.

    Attributes
    ----------
    slots : (n,) int64
        Where, in the flattened (row, group) of MaxGains.
    gain : (n,) float64
    tuples : (n, k) int64
    seconds : float
        Time taken.
    engine, worker : str
        Where.
    searched : SearcherCounts
        By whom.
    out_of_memory : bool
    """

    slots: IntArray
    gain: FloatArray
    tuples: IntArray
    seconds: float
    engine: str
    worker: str
    searched: SearcherCounts
    out_of_memory: bool = False

    def add_to(self, gains: MaxGains, discretization: int) -> None:
        """Merge the improvement into `gains`, in place and only where there is one: most of a wide table has none."""
        where = np.unravel_index(self.slots, gains.gain_by_group.shape)
        old = replace(
            gains,
            gain_by_group=gains.gain_by_group[where][:, np.newaxis],
            discretization_by_group=gains.discretization_by_group[where][:, np.newaxis],
            tuples_by_group=gains.tuples_by_group[where][:, np.newaxis],
        )
        new = replace(
            old,
            gain_by_group=self.gain[:, np.newaxis],
            discretization_by_group=np.full((len(self.slots), 1), discretization, dtype=np.int64),
            tuples_by_group=self.tuples[:, np.newaxis],
        )
        best = old.merge(new)
        gains.gain_by_group[where] = best.gain_by_group[:, 0]
        gains.discretization_by_group[where] = best.discretization_by_group[:, 0]
        gains.tuples_by_group[where] = best.tuples_by_group[:, 0]


@dataclass(frozen=True)
class ScreenedTiles:
    """The tuples that a chunk lists, of all its tiles or of the first where they are many; or why it failed.

    Attributes
    ----------
    rows : TupleRows
    seconds, engine, worker, searched, out_of_memory
        As in `Improvement`.
    """

    rows: TupleRows
    seconds: float
    engine: str
    worker: str
    searched: SearcherCounts
    out_of_memory: bool = False


def search_chunk(
    data: SharedData, tiles: npt.NDArray[np.int32], n_tuples: FloatArray, bounds: FloatArray
) -> Improvement:
    """Search the tiles of a chunk with one thread, or on the worker's device.

    `bounds` are gains found elsewhere so far: what cannot reach them is not scored, and not returned.
    """
    started = time.perf_counter()
    worker, engine = _worker_and_engine(data)
    chunk = replace(data.blocks, tiles=np.ascontiguousarray(tiles), n_tuples=np.asarray(n_tuples))
    # Without a tuple, a bound loses to any equal gain: ties are decided where all of them are known.
    start = replace(MaxGains.none_yet(data.planes, chunk), gain_by_group=np.array(bounds))
    searched: SearcherCounts = {}
    try:
        with _at_work(engine):
            found = engine.max_gains(
                data.planes,
                chunk,
                pseudocount=data.pseudocount,
                discretization=data.discretization,
                known=start,
                on_progress=_StopWhenCancelled(worker),
                searched=searched,
            )
    except MemoryError:
        found = None
    slots = np.flatnonzero(found.discretization_by_group >= 0) if found is not None else np.empty(0, dtype=np.int64)
    best = start if found is None else found
    return Improvement(
        slots=slots,
        gain=best.gain_by_group.reshape(-1)[slots],
        tuples=best.tuples_by_group.reshape(-1, chunk.dimensions)[slots],
        seconds=time.perf_counter() - started,
        engine=engine.name,
        worker=worker.address,
        searched=searched,
        out_of_memory=found is None,
    )


def screen_chunk(data: SharedData, tiles: npt.NDArray[np.int32], n_tuples: FloatArray) -> ScreenedTiles:
    """Screen the tiles of a chunk with one thread, or on the worker's device; as many as have a bounded list."""
    started = time.perf_counter()
    worker, engine = _worker_and_engine(data)
    chunk = replace(data.blocks, tiles=np.ascontiguousarray(tiles), n_tuples=np.asarray(n_tuples))
    assert data.min_gain is not None
    searched: SearcherCounts = {}
    try:
        with _at_work(engine):
            rows = engine.screen_tiles(
                data.planes,
                chunk,
                pseudocount=data.pseudocount,
                min_gain=data.min_gain,
                max_rows=MAX_SCREENED_ROWS,
                on_progress=_StopWhenCancelled(worker),
                searched=searched,
            )
    except MemoryError:
        rows = None
    return ScreenedTiles(
        rows=TupleRows.none(chunk.dimensions) if rows is None else rows,
        seconds=time.perf_counter() - started,
        engine=engine.name,
        worker=worker.address,
        searched=searched,
        out_of_memory=rows is None,
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


def _at_work(engine: Engine) -> AbstractContextManager[Any]:
    return nullcontext() if engine.name == "cpu" else _device


def tile_shape_here(dimensions: int, dask_worker: Any = None) -> TileShape:
    """Return how the engine of a worker likes its tiles; Dask fills in the worker."""
    return _engine_of(dask_worker).tile_shape(dimensions)


def _engine_of(worker: Any) -> Engine:
    """A worker started with the resource GPU searches on its device; each thread of another one is an engine."""
    if worker.state.total_resources.get("GPU", 0) > 0:
        try:
            from interplay.engines.cuda import CudaEngine

            return CudaEngine(leave_memory_errors=True)
        except (ValueError, ImportError, RuntimeError, OSError) as error:
            logging.getLogger("distributed.worker").warning("interplay: no GPU here, using the processor: %s", error)
    return CpuEngine(n_threads=1)


class _StopWhenCancelled:
    """Called now and then during a search: ends it when nobody waits for it any more.

    Dask cannot stop a task that runs. The worker knows that it was cancelled, though.
    """

    def __init__(self, worker: Any) -> None:
        self._tasks = worker.state.tasks
        self._key = worker.get_current_task()

    def __call__(self, *progress: Any) -> None:
        task = self._tasks.get(self._key)
        if task is None or task.state == "cancelled":
            raise RuntimeError("cancelled")
