"""Planes + tiles → maximum gains, on the processor's cores."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay import _core
from interplay.arrays import BitPlanes, FloatArray, MaxGains, TupleRows, TupleTiles
from interplay.engines.base import Engine, OnProgress, SearchInterrupted
from interplay.engines.tuple_formula import TupleFormula

logger = logging.getLogger(__name__)


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
        start = MaxGains.none_yet(planes, tiles) if known is None else known
        found = MaxGains(
            gain_by_group=start.gain_by_group.copy(),
            discretization_by_group=start.discretization_by_group.copy(),
            tuples_by_group=start.tuples_by_group.copy(),
            df_by_group=start.df_by_group,
            n_vars=start.n_vars,
        )
        tile_done = np.zeros(len(tiles), dtype=np.uint8)
        try:
            n_polynomial, n_rational = _core.search_max_gains(
                words=planes.words,
                plane_start=planes.plane_start,
                n_levels=planes.n_levels,
                class_word_start=planes.class_word_start,
                class_sizes=planes.class_sizes,
                n_vars=planes.n_vars,
                order=tiles.order,
                block_start=tiles.block_start,
                middle_start=tiles.middle_start,
                lane_start=tiles.lane_start,
                tiles=tiles.tiles,
                partner_cells=tiles.partner_cells,
                pseudocount=pseudocount,
                discretization=discretization,
                n_threads=self.n_threads,
                simd_level=self.simd_level or default_simd_level(),
                direct_only=self.direct_only,
                gain=found.gain_by_group,
                gain_discretization=found.discretization_by_group,
                gain_tuples=found.tuples_by_group,
                tile_done=tile_done,
                on_tick=None if on_progress is None else lambda done: on_progress(done, found),
            )
        except KeyboardInterrupt:
            raise SearchInterrupted(found, float(tile_done.mean())) from None
        if n_polynomial or n_rational:
            logger.debug(
                "%dD: threads that found the polynomial bound cheaper: %d, the rational one: %d",
                tiles.dimensions, n_polynomial, n_rational,
            )  # fmt: skip
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
        tuples, variable, value, rows_of_tile = _core.list_tuples(
            words=planes.words,
            plane_start=planes.plane_start,
            n_levels=planes.n_levels,
            class_word_start=planes.class_word_start,
            class_sizes=planes.class_sizes,
            n_vars=planes.n_vars,
            order=tiles.order,
            block_start=tiles.block_start,
            middle_start=tiles.middle_start,
            lane_start=tiles.lane_start,
            tiles=tiles.tiles,
            partner_cells=tiles.partner_cells,
            pseudocount=pseudocount,
            min_value=np.repeat(min_value.astype(np.float64), n_groups),
            coefficient_of_size=coefficients,
            with_decision=formula is None or formula.with_decision,
            max_rows=np.iinfo(np.int64).max if max_rows is None else max_rows,
            n_threads=self.n_threads,
            simd_level=self.simd_level or default_simd_level(),
            # A bound that nothing can fail is only in the way.
            direct_only=self.direct_only or bool(np.all(min_value <= 0)),
            on_tick=on_progress,
        )
        return TupleRows(tuples=tuples, variable=variable, value=value, rows_of_tile=rows_of_tile)

    def describe(self) -> dict[str, Any]:
        """Return what a record of the run should say about the engine."""
        return {"name": self.name, "threads": self.n_threads, "simd_level": self.simd_level or default_simd_level()}
