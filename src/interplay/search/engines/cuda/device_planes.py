"""Bit planes on a device: all of them where they fit; else lane blocks in slots, brought as tiles need them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.cuda.devices import TooLittleMemory, free_bytes
from interplay.search.engines.cuda.digit_orders import DigitOrders
from interplay.search.engines.cuda.layout import SPARE_ROWS, LaneLayout, PlaneUpload, make_lane_layout

#: Of the memory that planes leave free, the part that a copy of planes may take before they are fragments; and the
#: bytes that it takes at most.
_PART_OF_FREE_MEMORY, _MAX_COPIED_BYTES = 0.125, 1 << 28


class DevicePlanes:
    """The planes of some lane blocks on the current device.

    Parameters
    ----------
    planes : BitPlanes
    layout : LaneLayout
    orders : DigitOrders, optional
        How the samples of a number outcome lie on the device.
    dimensions : int
        Lane blocks that a tile may need.
    share : float
        The part of the device's free memory that planes may take.

    Attributes
    ----------
    fragments : device array
    first_row : (n_lane_blocks,) device array
        Where each lane block lies in `fragments`, if it is there.
    holds_all : bool
    """

    def __init__(
        self, planes: BitPlanes, layout: LaneLayout, orders: DigitOrders | None, *, dimensions: int, share: float
    ) -> None:
        import cupy

        self._cupy, self._layout, self._upload = cupy, layout, PlaneUpload(planes, orders)
        most_rows = int(share * free_bytes()) // self._upload.row_bytes
        n_rows = len(layout.row_plane)
        self.holds_all = n_rows <= most_rows
        self._first_row = layout.first_row.copy()
        if not self.holds_all:
            self._slot_rows = int(layout.rows_of_block.max())
            n_slots = (most_rows - SPARE_ROWS) // self._slot_rows
            if n_slots < dimensions:
                raise TooLittleMemory
            self._slots = PlaneSlots(n_slots)
            n_rows = n_slots * self._slot_rows + SPARE_ROWS
        self.fragments = cupy.empty(n_rows * self._upload.row_bytes // 4, dtype=cupy.uint32)
        if self.holds_all:
            self._write(slice(None), 0)
        else:
            # What lies beyond a block is read, and not used, but must not be chance where it is used by mistake.
            self.fragments.data.memset_async(0, self.fragments.nbytes)
        self.first_row = cupy.asarray(self._first_row)
        #: The lane block that is on its way while tiles are searched.
        self._coming: Future[None] | None = None
        self._bringer: ThreadPoolExecutor | None = None

    def stretches(self, blocks: IntArray) -> Iterator[slice]:
        """Cut tiles with these lane blocks into stretches, each of which has its planes on the device when it comes.

        The lane block that is missing next is copied while a stretch is searched.
        """
        if self.holds_all:
            yield slice(0, len(blocks))
            return
        self._wait()
        for stretch in self._slots.stretches(blocks):
            for block, slot in stretch.now:
                self._bring(block, slot)
            self._wait()
            self.first_row.set(self._first_row)
            if stretch.ahead is not None:
                if self._bringer is None:
                    self._bringer = ThreadPoolExecutor(1)
                device, ready = self._cupy.cuda.Device(), self._cupy.cuda.get_current_stream().record()
                self._coming = self._bringer.submit(self._bring_on, device, ready, *stretch.ahead)
            yield slice(stretch.begin, stretch.end)

    def close(self) -> None:
        """Wait for the lane block that is being copied: its memory may be given to others afterwards."""
        try:
            self._wait()
        finally:
            if self._bringer is not None:
                self._bringer.shutdown()
                self._bringer = None

    def _wait(self) -> None:
        coming, self._coming = self._coming, None
        if coming is not None:
            coming.result()

    def _bring_on(self, device: Any, ready: Any, block: int, slot: int) -> None:
        """Bring a lane block beside the search, which has another stream.

        The event `ready` comes after all that the search asked for before: zeros in all slots, the words of valid
        samples, and tuples of the block that had this slot. A device that others keep busy may be late with these.
        """
        with device, self._cupy.cuda.Stream(non_blocking=True) as stream:
            stream.wait_event(ready)
            self._bring(block, slot)
            stream.synchronize()

    def _bring(self, block: int, slot: int) -> None:
        first = int(self._layout.first_row[block])
        self._first_row[block] = slot * self._slot_rows
        self._write(slice(first, first + int(self._layout.rows_of_block[block])), slot * self._slot_rows)

    def _write(self, rows: slice, first_row: int) -> None:
        layout = self._layout
        most_bytes = min(_MAX_COPIED_BYTES, int(_PART_OF_FREE_MEMORY * free_bytes()))
        self._upload.write(
            self.fragments, layout.row_plane[rows], layout.row_others[rows], first_row, most_bytes=most_bytes
        )


@dataclass(frozen=True)
class Stretch:
    """Tiles in a row that need no other lane blocks than the device holds.

    Attributes
    ----------
    begin, end : int
        The first tile, and the end.
    now : tuple of (int, int)
        Lane blocks to be brought before, and their slots.
    ahead : (int, int) or None
        The lane block that is missing next, if a slot that these tiles do not need is there for it.
    """

    begin: int
    end: int
    now: tuple[tuple[int, int], ...]
    ahead: tuple[int, int] | None


class PlaneSlots:
    """Slots for lane blocks; a block leaves its slot if no other is needed again later (Belady's rule).

    Tiles lie in an order in which neighbours share blocks at every scale (`make_tuple_tiles`), so that blocks are
    brought seldom, however few the slots are.

    Parameters
    ----------
    n_slots : int
        At least the blocks of one tile.

    Examples
    --------
    >>> tiles = np.array([[0, 0], [0, 1], [1, 1], [0, 2], [1, 2], [2, 2]])
    >>> for stretch in PlaneSlots(3).stretches(tiles):
    ...     print(stretch.begin, stretch.end, stretch.now, stretch.ahead)
    0 1 ((0, 0),) (1, 1)
    1 3 () (2, 2)
    3 6 () None
    """

    def __init__(self, n_slots: int) -> None:
        self._slot_of: dict[int, int] = {}
        self._unused = list(range(n_slots))[::-1]

    def stretches(self, blocks: IntArray) -> Iterator[Stretch]:
        """Cut tiles into stretches.

        Parameters
        ----------
        blocks : (n_tiles, k) int64
            The lane blocks of each tile.
        """
        at = 0
        while at < len(blocks):
            now = []
            while (block := self._missing(blocks[at])) is not None:
                slot = self._slot_for(block, blocks, at, at)
                assert slot is not None, "fewer slots than a tile has lane blocks"
                now.append((block, slot))
            is_held = np.isin(blocks[at:], list(self._slot_of)).all(axis=1)
            end = len(blocks) if is_held.all() else at + int(is_held.argmin())
            ahead = None
            if end < len(blocks) and (block := self._missing(blocks[end])) is not None:
                slot = self._slot_for(block, blocks, at, end)
                ahead = None if slot is None else (block, slot)
            yield Stretch(at, end, tuple(now), ahead)
            at = end

    def _missing(self, needed: IntArray) -> int | None:
        return next((block for block in needed.tolist() if block not in self._slot_of), None)

    def _slot_for(self, block: int, blocks: IntArray, at: int, end: int) -> int | None:
        """Give a slot to a block that tile `end` needs, if tiles from `at` to `end` can spare one."""
        if self._unused:
            slot = self._unused.pop()
        else:
            spared = set(self._slot_of).difference(np.unique(blocks[at : end + 1]).tolist())
            if not spared:
                return None
            later = blocks[end + 1 :]
            next_use = {other: int(np.append((later == other).any(axis=1), True).argmax()) for other in spared}
            slot = self._slot_of.pop(max(spared, key=lambda other: (next_use[other], other)))
        self._slot_of[block] = slot
        return slot


class KeptPlanes:
    """The planes of all tiles, on the device of one share of the search, until they are closed.

    Parameters
    ----------
    tiles : TupleTiles
        All tiles of the search, over the same blocks as those of each chunk.
    """

    def __init__(self, tiles: TupleTiles) -> None:
        self._tiles = tiles
        self._planes: DevicePlanes | None = None

    def suit(self, tiles: TupleTiles) -> bool:
        """Say whether these tiles are some of all the tiles, in the same order of variables."""
        return tiles.order is self._tiles.order and tiles.lane_start is self._tiles.lane_start

    def planes(self, planes: BitPlanes, orders: DigitOrders | None, **how: Any) -> DevicePlanes:
        """Return the planes on the current device; `how` as `DevicePlanes` takes it, where they are not there yet."""
        if self._planes is None:
            self._planes = DevicePlanes(planes, make_lane_layout(planes, self._tiles), orders, **how)
        return self._planes

    def close(self) -> None:
        """Leave the device's memory to others."""
        planes, self._planes = self._planes, None
        if planes is not None:
            planes.close()
