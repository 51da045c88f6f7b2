"""Bit planes of the host → rows of fragments on the device, the form in which warps read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BitPlanes, IntArray
from interplay.base.jobs import map_in_threads
from interplay.search.engines.cuda.digit_orders import DigitOrders
from interplay.search.engines.cuda.kernel_loader import Kernel, compiled
from interplay.search.engines.cuda.kernels import NUMBERS

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
