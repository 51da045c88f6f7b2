"""What an engine is, and how one is chosen."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from math import comb
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from interplay.arrays import BitPlanes, BoolArray, FloatArray, IntArray, MaxGains, TupleRows, TupleTiles
from interplay.checks import shown
from interplay.engines.searcher_counts import SearcherCounts
from interplay.engines.tuple_formula import TupleFormula

if TYPE_CHECKING:
    from distributed import Client


class OnProgress(Protocol):
    """Called now and then with the number of tuples done since the call began.

    An engine that can also gives the maxima found so far; they may change afterwards.
    """

    def __call__(self, done: int, found: MaxGains | None = None, /) -> None: ...


@runtime_checkable
class Engine(Protocol):
    """Bit planes and tiles in, maximum gains out.

    Every engine returns the same bits: gains are sums of integers (see ``core/include/interplay/information_gain.hpp``)
    and ties go to the lowest discretisation and tuple.
    """

    @property
    def name(self) -> str: ...

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
        """Search the tiles and return their maxima, merged with those already `known`.

        The tiles and tuples that each searcher took are added to `searched`.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Return what a record of the run should say about the engine."""
        ...


@runtime_checkable
class TupleEngine(Engine, Protocol):
    """An engine that can also list tuples, not only find maxima."""

    def interesting_tuples(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        min_value: FloatArray,
        formula: TupleFormula | None = None,
        max_rows: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> TupleRows:
        """List what exceeds a threshold, tile by tile, each tile sorted by tuple and variable.

        Parameters
        ----------
        planes : BitPlanes
            Real variables only; with one class where there is no decision.
        min_value : (n_vars,) float64
            The threshold of each variable; −inf lists everything.
        formula : TupleFormula, optional
            What to list instead of the gains of the members.
        max_rows : int, optional
            Take no further tile once there are this many rows. At least one tile is done.
        """
        ...


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search.

    Attributes
    ----------
    partial : MaxGains
        The maxima found until then; of several runs, those of the one in work.
    done : float
        The share of all tuples, of all runs, that was searched.
    kept_in : str or None
        The checkpoint from which the same call goes on.
    """

    def __init__(self, partial: MaxGains, done: float, kept_in: str | None = None) -> None:
        super().__init__(partial, done, kept_in)
        self.partial = partial
        self.done = done
        self.kept_in = kept_in

    def __str__(self) -> str:
        kept = "" if self.kept_in is None else f", and the same call goes on from {self.kept_in!r}"
        return f"interrupted after {self.done:.1%} of the search; .partial holds the gains found until then{kept}"


#: What users may give: a name, an engine, or a Dask client.
AsEngine: TypeAlias = "str | Engine | Client"


def get_engine(engine: AsEngine = "auto", *, n_jobs: int = 1, work: SearchWork | None = None) -> Engine:
    """Return the engine of that name, or `engine` itself if it is one; a Dask client becomes one.

    "auto" is the GPU where there is one and the `work` is worth its start, else the CPU; the environment variable
    ``INTERPLAY_ENGINE`` decides what it means.
    """
    from interplay.engines.cpu import CpuEngine

    if isinstance(engine, str):
        name = (os.environ.get("INTERPLAY_ENGINE") or "auto") if engine == "auto" else engine
        if name == "auto":
            name = "cuda" if work is not None and _gpu_is_worth_it(work, n_jobs) else "cpu"
        if name == "cpu":
            return CpuEngine(n_threads=n_jobs)
        if name == "cuda":
            from interplay.engines.cuda import CudaEngine

            return CudaEngine(n_threads=n_jobs)
        if name == "dask":
            from interplay.engines.dask import DaskEngine

            return DaskEngine.of_current_client()
        source = "engine" if engine != "auto" else "the environment variable INTERPLAY_ENGINE"
        raise ValueError(f"{source} must be one of 'auto', 'cpu', 'cuda', 'dask', not {shown(name)}")
    # Whoever made a Dask client has imported distributed; others need not.
    distributed = sys.modules.get("distributed")
    if distributed is not None and isinstance(engine, distributed.Client):
        from interplay.engines.dask import DaskEngine

        return DaskEngine(engine)
    # Looking for the methods of an engine takes as long as a small search: first the common case.
    if isinstance(engine, CpuEngine | Engine):
        return engine
    raise TypeError(
        "engine must be a name ('auto', 'cpu', 'cuda', 'dask'), a Dask client, or an object with max_gains(), "
        f"not {shown(engine)}"
    )


def get_tuple_engine(engine: str | Engine = "auto", *, n_jobs: int = 1, work: SearchWork | None = None) -> TupleEngine:
    """Return an engine that can list tuples: for "auto" the processor where the usual one cannot."""
    from interplay.engines.cpu import CpuEngine

    worker = get_engine(engine, n_jobs=n_jobs, work=work)
    if isinstance(worker, TupleEngine):
        return worker
    if isinstance(engine, str) and engine == "auto":
        return CpuEngine(n_threads=n_jobs)
    raise ValueError(f"engine {worker.name!r} cannot list tuples: use engine='cpu' or 'cuda'")


def tile_shape_for(engine: Engine, dimensions: int) -> dict[str, Any]:
    """Return how `make_tuple_tiles` should cut for an engine; shapes change the speed, never the result."""
    shape: dict[str, Any] = engine.tile_shape(dimensions) if hasattr(engine, "tile_shape") else {}
    return shape


@dataclass(frozen=True)
class SearchWork:
    """How much there is to do, for the choice of an engine.

    Attributes
    ----------
    n_tuples : float
        Over all discretisations.
    n_samples : int
    n_cells : float
        Cells of a typical tuple.
    """

    n_tuples: float
    n_samples: int
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
        n_tuples = [comb(n_asked, m) if require == "all" else comb(n, m) - comb(n - n_asked, m) for m in (k, k - 1)]
        if k == 1 and require != "all":  # alone, a contrast variable needs no partner
            n_tuples[1] = 1
        return cls(
            n_tuples=discretizations * (float(n_tuples[0]) + n_contrast * float(n_tuples[1])),
            n_samples=n_samples,
            n_cells=float(np.maximum(n_levels, 2).mean()) ** k * n_strata,
        )


#: What a GPU costs before the first tuple: context, kernels from the cache, copies. Measured on an H200's machine.
_GPU_START_SECONDS = 1.5

#: A thread's seconds per tuple, cell and sample, and what a tuple costs at least. A rough fit to benchmarks/results.
_CPU_SECONDS_PER_CELL_SAMPLE = 3e-13
_CPU_SECONDS_PER_TUPLE = 2e-9


def _gpu_is_worth_it(work: SearchWork, n_threads: int) -> bool:
    """Compare what the CPU would take with what a GPU costs before it does anything; it then is faster by far."""
    per_tuple = _CPU_SECONDS_PER_TUPLE + _CPU_SECONDS_PER_CELL_SAMPLE * work.n_cells * work.n_samples
    if work.n_tuples * per_tuple / n_threads < 2 * _GPU_START_SECONDS:
        return False
    if find_spec("cupy") is None:  # looked for only now: importing CuPy takes a second itself
        return False
    from interplay.engines.cuda import why_no_cuda

    return why_no_cuda() is None
