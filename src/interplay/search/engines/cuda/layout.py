"""Bit planes and tiles → how they lie on the device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.cuda.digit_orders import DigitOrders
from interplay.search.engines.cuda.kernel_loader import Kernel, compiled
from interplay.search.engines.cuda.kernels import NUMBERS

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


#: Bytes that a thread copies at a time, and threads that do.
_COPIED_BYTES, _COPYING_THREADS = 1 << 22, 8


def fragments_kernel(planes: BitPlanes) -> Kernel:
    """Return the kernel that makes fragments of planes: those of a number outcome are put into digit orders."""
    if planes.of_numbers:
        return "planes/bit_planes.cu", "make_ordered_fragments", (NUMBERS,)
    return "planes/bit_planes.cu", "make_fragments", ()


class PlaneUpload:
    """Copies planes to the device, each once.

    Parameters
    ----------
    planes : BitPlanes
    orders : DigitOrders, optional
        How the samples of a number outcome lie on the device.
    """

    def __init__(self, planes: BitPlanes, orders: DigitOrders | None) -> None:
        import cupy

        self._planes = planes
        self._n_words = planes.words.shape[1] * 2
        self._n_steps = self._n_words // 8 if orders is None else orders.n_steps
        self._steps: tuple[Any, ...] = (np.int32(self._n_steps),)
        if orders is not None:
            self._steps = (np.int32(self._n_words), cupy.asarray(orders.bytes_of_steps), np.int32(self._n_steps))
        self._valid = cupy.asarray(_valid_words(planes))

    @property
    def row_bytes(self) -> int:
        """Bytes of a row on the device."""
        return self._n_steps * 32

    def write(
        self,
        fragments: Any,
        row_plane: IntArray,
        row_others: npt.NDArray[np.int32],
        first_row: int,
        *,
        most_bytes: int,
    ) -> None:
        """Write rows from `first_row` on.

        Parameters
        ----------
        fragments : device array
        row_plane, row_others : (n_rows,) int64 and int32
            As in `LaneLayout`.
        first_row : int
            Where the first of these rows lies in `fragments`.
        most_bytes : int
            Bytes of planes that may lie on the device beside the fragments.
        """
        import cupy

        kernel = compiled(*fragments_kernel(self._planes))
        for rows in rows_in_parts(row_plane, max(most_bytes // (self._n_words * 4), 1)):
            words, place = words_of(self._planes, row_plane[rows], row_others[rows])
            arguments = (
                copied(words),
                self._valid,
                cupy.asarray((rows + first_row).astype(np.int32)),
                cupy.asarray(place),
                cupy.asarray(row_others[rows]),
                np.int64(len(rows)),
                *self._steps,
                fragments,
            )
            kernel((min(-(-len(rows) * self._n_steps * 8 // 256), 65_535),), (256,), arguments)


def rows_in_parts(row_plane: IntArray, n_planes: int) -> list[IntArray]:
    """Sort rows into parts that name this many planes each: a plane serves level 0 and its own, which lie far apart.

    Also a single part may be sorted.
    """
    rows = np.arange(len(row_plane))
    if int(row_plane.max()) - int(row_plane.min()) < n_planes:  # also where rows name nothing
        return [rows]
    rows = np.argsort(row_plane, kind="stable")
    is_next = np.concatenate([[False], np.diff(row_plane[rows]) > 0])
    return np.split(rows, np.flatnonzero(is_next & (np.cumsum(is_next) % n_planes == 0)))


def copied(array: npt.NDArray[Any]) -> Any:
    """Copy an array to the device by way of pinned memory, in threads: one alone is slower than the bus."""
    import cupy

    if array.nbytes < 2 * _COPIED_BYTES:
        return cupy.asarray(array)
    array = np.ascontiguousarray(array)
    device, stream = cupy.cuda.Device(), cupy.cuda.get_current_stream()
    try:
        pinned = cupy.cuda.alloc_pinned_memory(array.nbytes)
    except cupy.cuda.runtime.CUDARuntimeError:  # the host has no such memory left
        return cupy.asarray(array)
    there = cupy.empty(array.shape, dtype=array.dtype)
    staged = np.frombuffer(pinned, dtype=np.uint8, count=array.nbytes)
    of_bytes = array.reshape(-1).view(np.uint8)

    def copy(begin: int) -> None:
        end = min(begin + _COPIED_BYTES, array.nbytes)
        staged[begin:end] = of_bytes[begin:end]
        with device:
            (there.data + begin).copy_from_host_async(pinned.ptr + begin, end - begin, stream)

    map_in_threads(copy, range(0, array.nbytes, _COPIED_BYTES), _COPYING_THREADS)
    stream.synchronize()  # pinned memory goes back to CuPy, which gives it to the next caller
    return there


def words_of(
    planes: BitPlanes, row_plane: IntArray, row_others: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.uint32], IntArray]:
    """Return the words of the planes that some rows name, and the rows with the planes' places among these."""
    named = row_plane >= 0
    n_planes = np.count_nonzero(named & (row_others == 0))  # level 0 is made of the planes of the other levels
    if not named.any():
        return planes.words[:0].view(np.uint32), row_plane
    lowest = int(row_plane.min(where=named, initial=len(planes.words)))
    end = int((row_plane + np.maximum(row_others, 1)).max())  # of −1, where no plane is named, 0
    if end - lowest <= 2 * n_planes:  # most planes between them are wanted too
        return planes.words[lowest:end].view(np.uint32), np.where(
            named, row_plane - lowest, -1
        ) if lowest else row_plane
    first, last = row_plane[named], row_plane[named] + np.maximum(row_others[named], 1) - 1
    change = np.zeros(end - lowest + 1, dtype=np.int64)
    np.add.at(change, first - lowest, 1)
    np.add.at(change, last + 1 - lowest, -1)
    wanted = np.cumsum(change[:-1]) > 0
    place = np.cumsum(wanted) - 1
    words = planes.words[lowest:end][wanted].view(np.uint32)
    return words, np.where(named, place[np.where(named, row_plane - lowest, 0)], -1)


def _valid_words(planes: BitPlanes) -> npt.NDArray[np.uint32]:
    """One bit for every sample, none for the padding at the end of each class, or of bytes."""
    if planes.samples is not None:
        return planes.samples.view(np.uint32)
    valid = np.zeros(planes.words.shape[1] * 64, dtype=np.uint8)
    for start, size in zip(planes.class_word_start[:-1].tolist(), planes.class_sizes.tolist(), strict=True):
        valid[start * 64 : start * 64 + size] = 1
    return np.packbits(valid, bitorder="little").view(np.uint32)
