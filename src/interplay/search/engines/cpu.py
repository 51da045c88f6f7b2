"""Planes + tiles → maximum gains, or rows of tuples, on the processor's cores."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from interplay import _core
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleRows, TupleTiles
from interplay.search.engines.base import Engine, SearchInterrupted, SearchOptions
from interplay.search.engines.routing import add_counts, core_tiles, count_searched
from interplay.search.engines.sinks import ALL_KINDS, Listing, Maxima, Rows, Screen, Sink

logger = logging.getLogger(__name__)

#: Classes have no scores.
_NO_SCORES, _NO_WORDS = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint64)

#: Messages about a search, logged at DEBUG.
BOUND_CHOICE = "%dD: threads that found the polynomial bound cheaper: %d, the rational one: %d"
SEARCHED_BY = "%dD: tiles and tuples by searcher: %s"


def simd_levels() -> list[str]:
    """Return the instruction sets that can run here, slowest first.

    Examples
    --------
    >>> simd_levels()[0]
    'serial'
    """
    return list(_core.simd_levels())


def default_simd_level() -> str:
    """Return the best instruction set, or the one that ``INTERPLAY_SIMD_LEVEL`` names."""
    wanted = os.environ.get("INTERPLAY_SIMD_LEVEL") or "auto"
    levels = _core.simd_levels()
    if wanted == "auto":
        return levels[-1]
    if wanted not in levels:
        listed = ", ".join(["auto", *levels])
        raise ValueError(f"INTERPLAY_SIMD_LEVEL must be one of {listed} on this machine, not {wanted!r}")
    return wanted


def core_planes(planes: BitPlanes) -> _core.Planes:
    """Return the planes as the compiled core takes them; it checks them."""
    return _core.Planes(
        words=planes.words,
        plane_start=planes.plane_start,
        n_levels=planes.n_levels,
        class_word_start=planes.class_word_start,
        class_sizes=planes.class_sizes,
        n_vars=planes.n_vars,
        scores=_NO_SCORES if planes.scores is None else planes.scores,
        samples=_NO_WORDS if planes.samples is None else planes.samples,
    )


@dataclass(frozen=True)
class CpuEngine(Engine):
    """All tiles on this machine's processor, handed out to threads one by one."""

    n_threads: int = 1
    #: One of `simd_levels`; the best one if not given.
    simd_level: str | None = None
    #: Count and score every cell of every tuple, also where a bound would save most of it. To compare with.
    direct_only: bool = False
    name: str = "cpu"
    kinds = ALL_KINDS

    def search(self, planes: BitPlanes, tiles: TupleTiles, sink: Sink, **options: Unpack[SearchOptions]) -> None:
        """Search the tiles into the sink; searchers that list tuples are not counted."""
        searched_by = np.zeros(len(tiles), dtype=np.uint8)
        searched = options.get("searched")
        how: dict[str, Any] = {"pseudocount": options["pseudocount"], "on_tick": options.get("on_progress")}
        match sink:
            case Maxima():
                self._find_maxima(planes, tiles, sink, searched_by=searched_by, **how)
            case Screen():
                self._screen(planes, tiles, sink, searched_by=searched_by, **how)
            case Listing():
                self._list(planes, tiles, sink, **how)
        if searched is not None or logger.isEnabledFor(logging.DEBUG):
            n_done = sink.n_done(tiles)
            counts = count_searched(searched_by[:n_done], tiles.n_tuples[:n_done])
            if counts:
                logger.debug(SEARCHED_BY, tiles.dimensions, counts)
            if searched is not None:
                add_counts(searched, counts)

    def _find_maxima(
        self, planes: BitPlanes, tiles: TupleTiles, sink: Maxima, *, searched_by: npt.NDArray[np.uint8], **how: Any
    ) -> None:
        gains = sink.gains  # improved in place
        try:
            n_polynomial, n_rational = _core.search_max_gains(
                *self._job(planes, tiles),
                discretization=sink.discretization,
                gain=gains.gain_by_group,
                gain_discretization=gains.discretization_by_group,
                gain_tuples=gains.tuples_by_group,
                searched_by=searched_by,
                **how,
            )
        except KeyboardInterrupt:
            raise SearchInterrupted(sink.so_far(), float((searched_by > 0).mean())) from None
        if n_polynomial or n_rational:
            logger.debug(BOUND_CHOICE, tiles.dimensions, n_polynomial, n_rational)

    def _screen(
        self, planes: BitPlanes, tiles: TupleTiles, sink: Screen, *, searched_by: npt.NDArray[np.uint8], **how: Any
    ) -> None:
        rows = _core.screen_tuples(
            *self._job(planes, tiles),
            min_gain=sink.min_gain,
            has_stratum=tiles.only_of_stratum is not None,
            max_rows=_limit(sink),
            searched_by=searched_by,
            **how,
        )
        sink.take(TupleRows(*rows))

    def _list(self, planes: BitPlanes, tiles: TupleTiles, sink: Listing, **how: Any) -> None:
        min_value, formula = sink.min_value, sink.formula
        # Where every threshold is <= 0, every tuple is listed: pruning cannot help.
        nothing_to_prune = bool(np.all(min_value <= 0))
        rows = _core.list_tuples(
            *self._job(planes, tiles, direct_only=nothing_to_prune),
            min_value=np.repeat(min_value.astype(np.float64), len(tiles.partner_cells)),
            coefficient_of_size=np.empty(0, dtype=np.int64) if formula is None else formula.coefficient_of_size,
            with_decision=formula is None or formula.with_decision,
            max_rows=_limit(sink),
            **how,
        )
        sink.take(TupleRows(*rows))

    def _job(
        self, planes: BitPlanes, tiles: TupleTiles, *, direct_only: bool = False
    ) -> tuple[_core.Planes, _core.Tiles, _core.Job]:
        """Return planes, tiles and job as the compiled core takes, and checks, them."""
        return (
            core_planes(planes),
            core_tiles(planes, tiles),
            _core.Job(self.n_threads, self.simd_level or default_simd_level(), self.direct_only or direct_only),
        )

    def describe(self) -> dict[str, Any]:
        """Return the entries about the engine in the record of a run."""
        return {"name": self.name, "threads": self.n_threads, "simd_level": self.simd_level or default_simd_level()}


def _limit(sink: Rows) -> int:
    return np.iinfo(np.int64).max if sink.max_rows is None else sink.max_rows
