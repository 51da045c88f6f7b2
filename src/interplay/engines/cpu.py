"""Planes + tiles → maximum gains, on the processor's cores."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay import _core
from interplay.base.arrays import BitPlanes, FloatArray, MaxGains, TupleRows, TupleTiles
from interplay.engines.base import Engine, OnProgress, SearchInterrupted
from interplay.engines.routing import core_tiles, count_searched
from interplay.engines.searcher_counts import SearcherCounts, add_counts
from interplay.engines.tuple_formula import TupleFormula

logger = logging.getLogger(__name__)

#: What is logged about a search, at DEBUG.
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
    """Return the best level, or what ``INTERPLAY_SIMD_LEVEL`` asks for."""
    wanted = os.environ.get("INTERPLAY_SIMD_LEVEL") or "auto"
    levels = simd_levels()
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
    )


@dataclass(frozen=True)
class CpuEngine(Engine):
    """All tiles on this machine's processor, handed out to threads one by one.

    Attributes
    ----------
    n_threads : int
    simd_level : str, optional
        One of `simd_levels`; the best one if not given.
    direct_only : bool
        Count and score every cell of every tuple, also where a bound would save most of it. To compare with.
    """

    n_threads: int = 1
    simd_level: str | None = None
    direct_only: bool = False
    name: str = "cpu"
    can_list = True
    can_screen = True

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
        """Search the tiles and return their maxima, merged with those already `known`."""
        start = MaxGains.none_yet(planes, tiles) if known is None else known
        found = MaxGains(
            gain_by_group=start.gain_by_group.copy(),
            discretization_by_group=start.discretization_by_group.copy(),
            tuples_by_group=start.tuples_by_group.copy(),
            df_by_group=start.df_by_group,
            n_vars=start.n_vars,
        )
        searched_by = np.zeros(len(tiles), dtype=np.uint8)
        try:
            n_polynomial, n_rational = _core.search_max_gains(
                *self._job(planes, tiles),
                pseudocount=pseudocount,
                discretization=discretization,
                gain=found.gain_by_group,
                gain_discretization=found.discretization_by_group,
                gain_tuples=found.tuples_by_group,
                searched_by=searched_by,
                on_tick=None if on_progress is None else lambda done: on_progress(done, found),
            )
        except KeyboardInterrupt:
            raise SearchInterrupted(found, float((searched_by > 0).mean())) from None
        if searched is not None or logger.isEnabledFor(logging.DEBUG):
            counts = count_searched(searched_by, tiles.n_tuples)
            logger.debug(SEARCHED_BY, tiles.dimensions, counts)
            if searched is not None:
                add_counts(searched, counts)
        if n_polynomial or n_rational:
            logger.debug(BOUND_CHOICE, tiles.dimensions, n_polynomial, n_rational)
        return found

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
        """List what exceeds a threshold, tile by tile, each tile sorted by tuple and variable."""
        n_groups = len(tiles.partner_cells)
        coefficients = np.empty(0, dtype=np.int64) if formula is None else formula.coefficient_of_size
        # Where every threshold is <= 0, every tuple is listed: pruning cannot help.
        nothing_to_prune = bool(np.all(min_value <= 0))
        tuples, variable, value, rows_of_tile = _core.list_tuples(
            *self._job(planes, tiles, direct_only=nothing_to_prune),
            pseudocount=pseudocount,
            min_value=np.repeat(min_value.astype(np.float64), n_groups),
            coefficient_of_size=coefficients,
            with_decision=formula is None or formula.with_decision,
            max_rows=np.iinfo(np.int64).max if max_rows is None else max_rows,
            on_tick=on_progress,
        )
        return TupleRows(tuples=tuples, variable=variable, value=value, rows_of_tile=rows_of_tile)

    def screen_tiles(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        min_gain: FloatArray,
        max_rows: int | None = None,
        on_progress: OnProgress | None = None,
        searched: SearcherCounts | None = None,
    ) -> TupleRows:
        """List each tuple once if all its members gain enough: tile by tile, each tile sorted by tuple."""
        searched_by = np.zeros(len(tiles), dtype=np.uint8)
        tuples, variable, value, rows_of_tile = _core.screen_tuples(
            *self._job(planes, tiles),
            pseudocount=pseudocount,
            min_gain=min_gain,
            has_stratum=tiles.only_of_stratum is not None,
            max_rows=np.iinfo(np.int64).max if max_rows is None else max_rows,
            searched_by=searched_by,
            on_tick=on_progress,
        )
        if searched is not None:
            done = len(rows_of_tile)
            add_counts(searched, count_searched(searched_by[:done], tiles.n_tuples[:done]))
        return TupleRows(tuples=tuples, variable=variable, value=value, rows_of_tile=rows_of_tile)

    def _job(
        self, planes: BitPlanes, tiles: TupleTiles, *, direct_only: bool = False
    ) -> tuple[_core.Planes, _core.Tiles, _core.Job]:
        """Return what to search, and how, as the compiled core takes it; it checks them."""
        return (
            core_planes(planes),
            core_tiles(tiles, planes.n_levels, planes.n_vars),
            _core.Job(self.n_threads, self.simd_level or default_simd_level(), self.direct_only or direct_only),
        )

    def describe(self) -> dict[str, Any]:
        """Return what a record of the run should say about the engine."""
        return {"name": self.name, "threads": self.n_threads, "simd_level": self.simd_level or default_simd_level()}
