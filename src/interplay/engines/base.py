"""What an engine is, and how one is chosen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from interplay.arrays import BitPlanes, MaxGains, TupleTiles

if TYPE_CHECKING:
    from distributed import Client

#: Called now and then with the number of tuples done since the call began.
OnProgress = Callable[[int], None]


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
    ) -> MaxGains:
        """Search the tiles and return their maxima, merged with those already `known`."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return what a record of the run should say about the engine."""
        ...


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search; `partial` holds the maxima found until then."""

    def __init__(self, partial: MaxGains, done: float) -> None:
        super().__init__(partial, done)
        self.partial = partial
        self.done = done

    def __str__(self) -> str:
        return f"interrupted after {self.done:.1%} of the search; .partial holds the gains found until then"


#: What users may give: a name, an engine, or a Dask client.
AsEngine: TypeAlias = "str | Engine | Client"


def get_engine(engine: AsEngine = "auto", *, n_jobs: int = 1) -> Engine:
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
        if name == "dask":
            return _dask_engine(_current_client())
        source = "engine" if engine != "auto" else "the environment variable INTERPLAY_ENGINE"
        raise ValueError(f"{source} must be one of 'auto', 'cpu', 'dask', not {name!r}")
    if _is_dask_client(engine):
        return _dask_engine(engine)
    if isinstance(engine, Engine):
        return engine
    raise TypeError(
        f"engine must be a name ('auto', 'cpu', 'dask'), a Dask client, or an object with max_gains(), not {engine!r}"
    )


def _is_dask_client(engine: Any) -> bool:
    """Say so without importing distributed: whoever made a client has done so."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(engine, distributed.Client)


def _dask_engine(client: Any) -> Engine:
    from interplay.engines.dask import DaskEngine

    return DaskEngine(client)


def _current_client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        raise ImportError("engine='dask' needs Dask: pip install \"interplay[cluster]\"") from None
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "engine='dask' needs a cluster to work on: make a client first, with "
            "distributed.Client() for this machine or distributed.Client(address) for a scheduler that runs"
        ) from None
