"""What an engine is, and how one is chosen."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from interplay.arrays import BitPlanes, MaxGains, TupleTiles

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


def get_engine(engine: str | Engine = "auto", *, n_jobs: int = 1) -> Engine:
    """Return the engine of that name, or `engine` itself if it is one.

    The environment variable ``INTERPLAY_ENGINE`` decides what "auto" means.
    """
    from interplay.engines.cpu import CpuEngine

    if isinstance(engine, str):
        name = (os.environ.get("INTERPLAY_ENGINE") or "cpu") if engine == "auto" else engine
        if name in ("cpu", "auto"):
            return CpuEngine(n_threads=n_jobs)
        source = "engine" if engine != "auto" else "the environment variable INTERPLAY_ENGINE"
        raise ValueError(f"{source} must be one of 'auto', 'cpu', not {name!r}")
    if isinstance(engine, Engine):
        return engine
    raise TypeError(f"engine must be a name ('auto', 'cpu') or an object with max_gains(), not {engine!r}")
