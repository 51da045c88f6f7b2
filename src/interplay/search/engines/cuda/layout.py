"""Bit planes and tiles → how they lie on the device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BitPlanes, BoolArray, FloatArray, IntArray, TupleTiles

#: Rows of a fragment, as in tuple_counts.cuh.
FRAGMENT_ROWS = 16

#: Rows of zeros after the last, since the last piece may read beyond it.
SPARE_ROWS = 512


@dataclass(frozen=True)
class LaneLayout:
    """Where the variables of each lane block lie, level after level; a block that no tile needs lies nowhere.

    Attributes
    ----------
    first_position, n_levels, rows_per_level : (n_lane_blocks,) int32
    first_row : (n_lane_blocks,) int64
    row_plane : (n_rows,) int64
        The host's plane for each row; for level 0 that of the variable's level 1; −1 for none.
    row_others : (n_rows,) int32
        For level 0 the number of the variable's planes, from which it follows; else 0.
    """

    first_position: npt.NDArray[np.int32]
    n_levels: npt.NDArray[np.int32]
    rows_per_level: npt.NDArray[np.int32]
    first_row: IntArray
    row_plane: IntArray
    row_others: npt.NDArray[np.int32]

    @property
    def rows_of_block(self) -> IntArray:
        """Rows of each lane block, of all its levels."""
        return self.rows_per_level.astype(np.int64) * self.n_levels


def covers_all_tuples(tiles: TupleTiles, n_vars: int) -> bool:
    """Say whether the tiles hold every tuple of their variables, not only of a share or of some variables."""
    n_real = int((tiles.order < n_vars).sum())
    k = tiles.dimensions
    n_tuples = comb(n_real, k) + (len(tiles.order) - n_real) * comb(n_real, k - 1)
    return tiles.only_of_stratum is None and bool(tiles.n_tuples.sum() == n_tuples)


def strongest_first(tiles: TupleTiles, gain: FloatArray) -> TupleTiles:
    """Sort the variables of each lane block by a gain, largest first; only for tiles that cover all tuples.

    The bound knows the information without one of the last two variables exactly, and only bounds it for the others.
    Where strong variables come first, guesses are about variables that seldom fall short of their maximum.
    """
    order = tiles.order.copy()
    for begin, end in pairwise(tiles.lane_start.tolist()):
        order[begin:end] = order[begin:end][np.argsort(-gain[order[begin:end]], kind="stable")]
    return replace(tiles, order=order)


def make_lane_layout(planes: BitPlanes, tiles: TupleTiles) -> LaneLayout:
    """Lay out the variables in the order of the tiles."""
    start = tiles.lane_start
    n_levels = planes.n_levels[tiles.order[start[:-1]]]
    sizes = np.where(_is_used(tiles), np.diff(start), 0)
    rows_per_level = -(-sizes // FRAGMENT_ROWS) * FRAGMENT_ROWS  # whole fragments
    ends = np.cumsum(rows_per_level * n_levels)
    first_row = ends - rows_per_level * n_levels
    n_rows = int(ends[-1]) + SPARE_ROWS
    row_plane = np.full(n_rows, -1, dtype=np.int64)
    row_others = np.zeros(n_rows, dtype=np.int32)
    for block in np.flatnonzero(sizes).tolist():
        # Whole blocks at a time: there are few of them, and many variables.
        first_plane = planes.plane_start[tiles.order[start[block] : start[block + 1]]]
        row = int(first_row[block])
        row_others[row : row + len(first_plane)] = n_levels[block] - 1
        for level in range(int(n_levels[block])):
            row_plane[row : row + len(first_plane)] = first_plane + max(level - 1, 0)
            row += int(rows_per_level[block])
    return LaneLayout(
        first_position=start[:-1].astype(np.int32),
        n_levels=n_levels.astype(np.int32),
        rows_per_level=rows_per_level.astype(np.int32),
        first_row=first_row.astype(np.int64),
        row_plane=row_plane,
        row_others=row_others,
    )


def _is_used(tiles: TupleTiles) -> BoolArray:
    """Say for each lane block whether any tile needs it: a list of tuples looks at few tiles at a time."""
    used = np.zeros(len(tiles.lane_start) - 1, dtype=bool)
    for place, start in enumerate(_starts_by_place(tiles)):
        named = np.zeros(len(start) - 1, dtype=bool)
        named[tiles.tiles[:, place]] = True
        used[np.searchsorted(tiles.lane_start, start[:-1][named], side="right") - 1] = True
    return used


def _starts_by_place(tiles: TupleTiles) -> list[IntArray]:
    k = tiles.dimensions
    return [tiles.block_start] * (k - 2) + [tiles.middle_start] * (k > 1) + [tiles.lane_start]


@dataclass(frozen=True)
class TileRecords:
    """Tiles as the kernels read them, and their blocks for the host.

    Attributes
    ----------
    records : (n_tiles, 4 · k + 1) int32
        For each place its first position, its end, its lane block and the group of its variable's partners; last
        whether only the last variable's gain counts.
    begin, end, lane : (n_tiles, k) int64
    n_cells : (n_tiles,) int64
        Cells of a tuple.
    """

    records: npt.NDArray[np.int32]
    begin: IntArray
    end: IntArray
    lane: IntArray
    n_cells: IntArray


def make_tile_records(planes: BitPlanes, tiles: TupleTiles, layout: LaneLayout) -> TileRecords:
    """Spell out the tiles."""
    k = tiles.dimensions
    starts = _starts_by_place(tiles)
    begin = np.column_stack([start[tiles.tiles[:, place]] for place, start in enumerate(starts)])
    end = np.column_stack([start[tiles.tiles[:, place] + 1] for place, start in enumerate(starts)])
    lane = np.searchsorted(tiles.lane_start, begin, side="right") - 1
    levels = layout.n_levels[lane].astype(np.int64)
    n_cells = levels.prod(axis=1)
    group = np.searchsorted(tiles.partner_cells, n_cells[:, np.newaxis] // levels)
    only_last = tiles.order[begin[:, -1]] >= planes.n_vars
    records = np.concatenate(
        [np.stack([begin, end, lane, group], axis=2).reshape(len(tiles), 4 * k), only_last[:, np.newaxis]], axis=1
    )
    return TileRecords(records=records.astype(np.int32), begin=begin, end=end, lane=lane, n_cells=n_cells)
