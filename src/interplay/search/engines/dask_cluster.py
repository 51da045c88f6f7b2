"""The workers of a Dask cluster, which come and go, the data that all need, and a task there: tiles → finds."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import logging
import math
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.checks import warn
from interplay.base.jobs import Interrupts, noticing_interrupts
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.base import Engine, TileShape
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.routing import SearcherCounts
from interplay.search.engines.sinks import SinkOfChunk

#: Attempts to send data, with pauses that double: a leaving worker makes them fail until the scheduler knows that it is
#: gone.
_MAX_SENDINGS = 8
_FIRST_PAUSE_SECONDS = 0.1

_SECONDS_UNTIL_WARNING = 30.0
_SECONDS_BETWEEN_ASKING = 1.0


class Cluster:
    """The present workers of a cluster."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = connection.client
        self._asked = -np.inf
        self._seen = time.monotonic()
        self._threads: dict[str, int] = {}
        self._has_warned = False

    @property
    def workers(self) -> list[str]:
        self._ask()
        return list(self._threads)

    @property
    def n_threads(self) -> int:
        self._ask()
        return max(sum(self._threads.values()), 1)

    def _ask(self) -> None:
        now = time.monotonic()
        if now - self._asked < _SECONDS_BETWEEN_ASKING:
            return
        self._threads, self._asked = self._connection.ask(self._client.nthreads), now
        if self._threads:
            self._seen = now
        elif now - self._seen > _SECONDS_UNTIL_WARNING and not self._has_warned:
            self._has_warned = True
            warn(
                "the Dask cluster has no workers; waiting for one (Ctrl-C stops): start some, for example with "
                "cluster.scale(4)"
            )

    def wait_for_workers(self) -> None:
        """Wait for the first worker, which a queueing system may take hours to start."""
        with self._connection.talking():
            wanted = self._client.submit(int, pure=False)  # an adaptive cluster starts workers only for work
        self._asked = -np.inf
        while not self.workers:
            self._pause(POLL_SECONDS)
        wanted.release()

    def send(self, data: Any, n_bytes: int) -> Any:
        """Put data of about this size on all workers that are there, and return the future that stands for them."""
        # Data that arrive late, after they were given up, have the same name as the data sent again.
        key = f"{type(data).__name__}-{uuid.uuid4().hex}"
        for sent in itertools.count(1):
            self.wait_for_workers()
            try:
                future = self.send_to_one({key: data}, n_bytes)[key]
                break
            except (Exception, asyncio.CancelledError) as error:
                if self._connection.is_lost:
                    raise
                if sent == _MAX_SENDINGS:
                    raise RuntimeError(
                        f"the data could not be sent to the workers of the Dask cluster ({in_one_line(error)}): check "
                        "their logs"
                    ) from error
            self._pause(_FIRST_PAUSE_SECONDS * 2 ** (sent - 1))
        self._spread(future, n_bytes)
        return future

    def send_to_one(self, data: Any, n_bytes: int) -> Any:
        """Put data on one of the workers; the others fetch them when they have a task that needs them."""
        return self._connection.ask(self._client.scatter, data, hash=False, seconds=seconds_to_send(n_bytes))

    def _spread(self, future: Any, n_bytes: int) -> None:
        """Copy data from worker to worker before there are tasks for them, so that these are spread evenly.

        A failure does no harm. `Client.scatter(broadcast=True)` is not used: when a worker is lost meanwhile, it never
        ends, and blocks all copies of data on the cluster, also those of other programs.
        """
        before = set(self.workers)
        seconds = seconds_to_send(n_bytes) * math.ceil(math.log2(len(before) + 1))  # the copies double in each round
        with suppress(Exception, asyncio.CancelledError):
            self._connection.ask(
                self._client.replicate, [future], seconds=seconds, until=lambda: not before <= set(self.workers)
            )

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            time.sleep(POLL_SECONDS)
            self._connection.check_interrupt()
            if time.monotonic() >= end:
                return


#: How often a wait looks whether there is an answer, a Ctrl-C, or still a cluster.
POLL_SECONDS = 0.01

LOST = (
    "the Dask cluster is lost, or loses what is sent to it (check the logs of its scheduler and workers): with a "
    "checkpoint, the same call goes on from there"
)

#: A scheduler that has not answered for this time is hung, or no longer on the network.
_SECONDS_TO_ANSWER = 120.0

#: Time that sending may take: a constant, and the time of the bytes at the rate of the slowest networks.
_SECONDS_TO_SEND = 10.0
_BYTES_PER_SECOND = 5e6

#: After Ctrl-C, an answer that is on its way is waited for this long, so that it counts.
_SECONDS_AFTER_INTERRUPT = 0.3

#: Time between the first call that fails and the client's notice that its scheduler is gone.
_SECONDS_UNTIL_GONE = 1.0


def seconds_to_send(n_bytes: int) -> float:
    """Return the time after which data sent from one machine to another are taken for lost."""
    return _SECONDS_TO_SEND + n_bytes / _BYTES_PER_SECOND


class Connection:
    """A client whose errors say so when the cluster is lost."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.check_interrupt = Interrupts()

    @contextmanager
    def noticing_interrupts(self) -> Iterator[None]:
        with noticing_interrupts() as self.check_interrupt:
            yield

    @property
    def is_lost(self) -> bool:
        return bool(self.client.status != "running")

    @contextmanager
    def talking(self) -> Iterator[None]:
        """Hold Ctrl-C back: it would cancel requests that the client shares with later calls, which then fail."""
        with self.check_interrupt.held():
            try:
                yield
            except (Exception, asyncio.CancelledError) as error:
                if self._is_gone(error):
                    raise RuntimeError(LOST) from error
                raise

    def ask(
        self,
        method: Callable[..., Any],
        *args: Any,
        seconds: float = _SECONDS_TO_ANSWER,
        until: Callable[[], bool] = lambda: False,
        **options: Any,
    ) -> Any:
        """Call a method of the client that can be asynchronous, and wait for its answer, but not without end.

        Raises TimeoutError after `seconds`, or once `until` says that no answer will come. The client's own waiting
        methods check neither, and some wait for ever after a worker was lost.
        """
        with self.talking():
            request = method(*args, **options, asynchronous=True)
            try:
                answer = asyncio.run_coroutine_threadsafe(request, self.client.loop.asyncio_loop)
            except RuntimeError:  # its loop is closed
                request.close()
                raise
            end = time.monotonic() + seconds
            end_if_interrupted: float | None = None
            while True:
                concurrent.futures.wait([answer], timeout=POLL_SECONDS)
                if answer.done():
                    return answer.result()
                now = time.monotonic()
                if self.check_interrupt.pressed:
                    end_if_interrupted = end_if_interrupted or now + _SECONDS_AFTER_INTERRUPT
                    if now > end_if_interrupted:
                        # The request is not cancelled, because later calls may share it.
                        raise KeyboardInterrupt
                if now > end or until() or self.is_lost:
                    answer.cancel()
                    raise TimeoutError(
                        f"no answer from the Dask cluster within {seconds:.0f} s: check the logs of its scheduler"
                    )

    def fetch(self, future: Any) -> Any:
        """Return the result of a task that is done; an error of the task is raised."""

        async def result(*, asynchronous: bool) -> Any:
            return await future

        return self.ask(result)

    def forget_cancelled_gather(self) -> None:
        """Drop a cancelled request of the client for results: all later requests would wait for it.

        Ctrl-C can have cancelled it, in a call of the client before the search.
        """
        request = getattr(self.client, "_gather_future", None)
        if request is not None and request.done():
            self.client._gather_future = None

    def _is_gone(self, error: BaseException) -> bool:
        # Without a scheduler, calls raise AttributeError or OSError, before or after the client notices.
        end = time.monotonic() + _SECONDS_UNTIL_GONE * isinstance(error, AttributeError | OSError)
        while not self.is_lost and time.monotonic() < end and not self.check_interrupt.pressed:
            time.sleep(POLL_SECONDS)
        return self.is_lost


def in_one_line(error: BaseException) -> str:
    """Return the kind of an error and its message."""
    return " ".join(f"{type(error).__name__}: {error}".split())


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
