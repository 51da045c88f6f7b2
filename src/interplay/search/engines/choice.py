"""Which engine searches: whether the engine asked for is available, and which engine "auto" stands for."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from math import comb
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Unpack

import numpy as np

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import shown
from interplay.base.jobs import n_cores, resolve_n_jobs
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.base import USUAL_TILES, Engine, SearchOptions, TileShape
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.routing import add_counts
from interplay.search.engines.sinks import Listing, Maxima, Screen, Sink

if TYPE_CHECKING:
    from distributed import Client


class MinimalEngine(Protocol):
    """The methods that a user's engine must have; other methods of `Engine` are used where it has them."""

    @property
    def max_gains(self) -> Any: ...

    @property
    def describe(self) -> Any: ...


#: The argument `engine`: a name, an engine, or a Dask client.
AsEngine: TypeAlias = "str | Engine | MinimalEngine | Client"


#: The end of the message where an engine does not take sinks of a kind: the task, and the engines that do it.
_LACKS = {
    Maxima.kind: "find maxima: use engine='cpu', 'cuda' or 'dask'",
    Screen.kind: "screen tuples: use engine='cpu', 'cuda' or 'dask'",
    Listing.kind: "list tuples: use engine='cpu' or 'cuda'",
}

#: Threads that read and pack columns for a GPU; more wait for memory.
_READING_THREADS = 8


@dataclass(frozen=True)
class EngineChoice:
    """The engine that a call asks for, known to be there."""

    #: None where the amount of work decides: `choose_engine`.
    engine: Engine | None
    #: Threads of this machine that the call may use, in the engine and elsewhere. Where a GPU searches and `n_jobs` is
    #: not given, enough threads that the GPU does not wait for columns to be read.
    n_threads: int
    #: Whether `n_jobs` is not given, so that threads may be added if the amount of work decides for a GPU.
    may_add_threads: bool = False

    def reading_threads(self, least_work: SearchWork) -> int:
        """Return the threads that read and code columns, from a lower bound of the work."""
        adds_threads = self.engine is None and self.may_add_threads and self.expects_gpu(least_work)
        return _threads_for_gpu(self.n_threads) if adds_threads else self.n_threads

    def expects_gpu(self, least_work: SearchWork) -> bool:
        """Say whether a GPU will search, from a lower bound of the work."""
        if self.engine is not None:
            return self.engine.name == "cuda"
        # A short search does not look for a GPU twice.
        is_long = _seconds_on_processor(least_work, self.n_threads) > _WORTH_ANY_START
        return is_long and _gpu_is_worth_it(least_work, self.n_threads)


def check_engine(engine: AsEngine = "auto", *, n_jobs: int | None = None, kind: str = Maxima.kind) -> EngineChoice:
    """Refuse an engine that is not there, or that does not take sinks of this `kind`, before any work.

    The environment variable ``INTERPLAY_ENGINE`` says what "auto" means; where it names an engine that does not take
    the kind, the processor does. A Dask client becomes an engine, and so does an object with `max_gains` and
    `describe`.
    """
    n_threads = resolve_n_jobs(n_jobs)
    found = _engine_of_name(engine, n_threads) if isinstance(engine, str) else _as_engine(engine)
    if found is not None and kind not in found.kinds:
        if not isinstance(engine, str) or engine != "auto":
            raise ValueError(f"engine {found.name!r} cannot {_LACKS[kind]}")
        found = CpuEngine(n_threads=n_threads)
    if n_jobs is None and found is not None and found.name == "cuda":
        n_threads = _threads_for_gpu(n_threads)
    return EngineChoice(found, n_threads, may_add_threads=n_jobs is None)


def _threads_for_gpu(n_threads: int) -> int:
    return max(n_threads, min(_free_cores(), _READING_THREADS))


def _free_cores() -> int:
    """Return the cores for this process: joblib knows of workers beside it; without joblib there are no workers."""
    return resolve_n_jobs(-1) if "joblib" in sys.modules else n_cores()


def choose_engine(choice: EngineChoice, work: SearchWork) -> Engine:
    """Return the engine for this much work: for "auto" the GPU where there is one and it pays, else the CPU.

    All engines that "auto" chooses from take sinks of all kinds.
    """
    if choice.engine is not None:
        return choice.engine
    if _gpu_is_worth_it(work, choice.n_threads):
        from interplay.search.engines.cuda import CudaEngine

        return CudaEngine(n_threads=choice.n_threads)
    return CpuEngine(n_threads=choice.n_threads)


def _engine_of_name(engine: str, n_threads: int) -> Engine | None:
    name = (os.environ.get("INTERPLAY_ENGINE") or "auto") if engine == "auto" else engine
    if name == "auto":
        return None
    if name == "cpu":
        return CpuEngine(n_threads=n_threads)
    if name == "cuda":
        from interplay.search.engines.cuda import CudaEngine

        return CudaEngine(n_threads=n_threads)
    if name == "dask":
        from interplay.search.engines.dask import DaskEngine

        return DaskEngine.of_current_client()
    source = "engine" if engine != "auto" else "the environment variable INTERPLAY_ENGINE"
    raise ValueError(f"{source} must be one of 'auto', 'cpu', 'cuda', 'dask', not {shown(name)}")


def _as_engine(engine: Any) -> Engine:
    if isinstance(engine, Engine):
        return engine
    # A program with a Dask client has imported distributed.
    distributed = sys.modules.get("distributed")
    if distributed is not None and isinstance(engine, distributed.Client):
        from interplay.search.engines.dask import DaskEngine

        return DaskEngine(engine)
    if all(callable(getattr(engine, method, None)) for method in ("max_gains", "describe")):
        return _AdaptedEngine(engine)
    raise TypeError(
        "engine must be a name ('auto', 'cpu', 'cuda', 'dask'), a Dask client, or an object with max_gains() and "
        f"describe(), not {shown(engine)}"
    )


#: The method of a user's object that answers each kind of sink.
_METHODS = {Maxima.kind: "max_gains", Screen.kind: "screen_tiles", Listing.kind: "interesting_tuples"}


class _AdaptedEngine(Engine):
    """A user's object with some of the methods of an Engine: only here its methods are looked up.

    It takes the kinds of sinks that it declares, as a wrapper of an Engine does, or else the kinds it has methods for.
    """

    def __init__(self, given: Any) -> None:
        self._given = given
        self.name = str(getattr(given, "name", type(given).__name__))
        has_methods = {kind for kind, method in _METHODS.items() if hasattr(given, method)}
        self.kinds = frozenset(getattr(given, "kinds", has_methods))

    def search(self, planes: BitPlanes, tiles: TupleTiles, sink: Sink, **options: Unpack[SearchOptions]) -> None:
        # The object may report more than the number of tuples done.
        on_progress, searched = options.get("on_progress"), options.get("searched")
        told = None if on_progress is None else lambda done, *_: on_progress(done)
        method = getattr(self._given, _METHODS[sink.kind])
        sink.take(method(planes, tiles, pseudocount=options["pseudocount"], on_progress=told, **sink.asked()))
        if searched is not None:  # of the searchers, only the engine is known
            n_done = sink.n_done(tiles)
            add_counts(searched, {self.name: {"tiles": n_done, "tuples": int(tiles.n_tuples[:n_done].sum())}})

    def describe(self) -> dict[str, Any]:
        described: dict[str, Any] = self._given.describe()
        return described

    def tile_shape(self, dimensions: int) -> TileShape:
        if not hasattr(self._given, "tile_shape"):
            return USUAL_TILES
        return TileShape.of(self._given.tile_shape(dimensions))

    def begin(self, *args: Any, **options: Any) -> None:
        if hasattr(self._given, "begin"):
            self._given.begin(*args, **options)


@dataclass(frozen=True)
class SearchWork:
    """Amount of work of a search, for the choice of an engine."""

    #: Over all discretisations.
    n_tuples: float
    n_samples: int
    #: Cells of a typical tuple.
    n_cells: float

    @classmethod
    def of(
        cls,
        n_levels: IntArray,
        *,
        n_vars: int,
        n_samples: int,
        dimensions: int,
        discretizations: int = 1,
        asked_for: BoolArray | None = None,
        require: str = "any",
        n_strata: int = 1,
    ) -> SearchWork:
        """Count the tuples of a search; rows of `n_levels` from `n_vars` on are contrast variables.

        Examples
        --------
        >>> SearchWork.of(np.full(500, 2), n_vars=500, n_samples=2000, dimensions=3)
        SearchWork(n_tuples=20708500.0, n_samples=2000, n_cells=8.0)
        """
        k, n, n_asked = dimensions, n_vars, n_vars if asked_for is None else int(asked_for.sum())
        n_contrast = len(n_levels) - n_vars
        n_tuples = [count_tuples(n, n_asked, m, require) for m in (k, k - 1)]
        if k == 1 and require != "all":  # alone, a contrast variable needs no partner
            n_tuples[1] = 1
        return cls(
            n_tuples=discretizations * (float(n_tuples[0]) + n_contrast * float(n_tuples[1])),
            n_samples=n_samples,
            n_cells=(float(np.maximum(n_levels, 2).sum()) / len(n_levels)) ** k * n_strata,
        )


def count_tuples(n_vars: int, n_asked: int, dimensions: int, require: str) -> int:
    """Count the tuples that hold one of the `n_asked` variables asked for (``require="any"``), or nothing but these.

    Examples
    --------
    >>> count_tuples(10, 10, 2, "any"), count_tuples(10, 1, 2, "any"), count_tuples(10, 3, 2, "all")
    (45, 9, 3)
    """
    if require == "all":
        return comb(n_asked, dimensions)
    return comb(n_vars, dimensions) - comb(n_vars - n_asked, dimensions)


#: The processor searches if it takes less than this multiple of a GPU's start time. If it takes less than the second
#: number, in seconds, the start time is not looked up.
_WORTH_STARTS, _WORTH_ANY_START = 2.0, 0.2

#: A thread's seconds per tuple, cell and sample, and per tuple in addition. A rough fit to benchmarks/results.
_CPU_SECONDS_PER_CELL_SAMPLE = 3e-13
_CPU_SECONDS_PER_TUPLE = 2e-9


def _seconds_on_processor(work: SearchWork, n_threads: int) -> float:
    per_tuple = _CPU_SECONDS_PER_TUPLE + _CPU_SECONDS_PER_CELL_SAMPLE * work.n_cells * work.n_samples
    return work.n_tuples * per_tuple / n_threads


def _gpu_is_worth_it(work: SearchWork, n_threads: int) -> bool:
    """Compare the time of the processor with the start time of a GPU, which then is faster by far."""
    seconds = _seconds_on_processor(work, n_threads)
    if seconds < _WORTH_ANY_START or find_spec("cupy") is None:
        return False
    from interplay.search.engines.cuda import start_seconds, why_no_cuda

    if seconds < _WORTH_STARTS * start_seconds():
        return False
    return why_no_cuda() is None  # looked for only now: importing CuPy takes a second itself
