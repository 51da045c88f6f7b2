"""Bit planes on a device: all of them where they fit; else lane blocks in slots, brought as tiles need them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from interplay.base.arrays import BitPlanes, IntArray
from interplay.search.engines.cuda.devices import TooLittleMemory, free_bytes
from interplay.search.engines.cuda.digit_orders import DigitOrders
from interplay.search.engines.cuda.layout import SPARE_ROWS, LaneLayout
from interplay.search.engines.cuda.plane_slots import PlaneSlots
from interplay.search.engines.cuda.plane_upload import PlaneUpload

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
