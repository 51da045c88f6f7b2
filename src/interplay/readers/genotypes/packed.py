"""Genotypes as two bits each: their codes, and a temporary file for formats that are read from the beginning."""

from __future__ import annotations

import tempfile
import threading
import weakref
from typing import IO

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import IntArray
from interplay.readers.genotypes.hard_calls import Codes

#: The four codes of each value of a byte, as one number.
FourCodes = npt.NDArray[np.uint32]

#: Bytes of codes that are packed in one go.
_AT_ONCE = 2**22


def four_codes(codes: tuple[int, int, int, int] = (0, 1, 2, 3)) -> FourCodes:
    """Return the four codes in each value of a byte; `codes` are those of the bits 00, 01, 10 and 11, lowest first."""
    bits = (np.arange(256)[:, np.newaxis] >> np.array([0, 2, 4, 6])) & 3
    table: FourCodes = np.array(codes, dtype=np.uint8)[bits].view(np.uint32).reshape(-1)
    return table


def unpacked(packed: npt.NDArray[np.uint8], n_samples: int, table: FourCodes) -> Codes:
    """Return the codes of packed variants, (n_variants, n_samples): four at a time, a billion a second.

    Examples
    --------
    >>> unpacked(np.array([[0b11_10_01_00, 0b10]], dtype=np.uint8), 5, four_codes()).tolist()
    [[0, 1, 2, 3, 2]]
    """
    return np.ascontiguousarray(np.take(table, packed).view(np.uint8)[:, :n_samples])


def read_packed(file: IO[bytes], places: IntArray, n_bytes: int, *, begin: int = 0) -> npt.NDArray[np.uint8]:
    """Return the bytes of variants, each of `n_bytes`, from a file in which the first variant is at `begin`.

    Neighbours are read together. A file that ends before raises EOFError.

    Examples
    --------
    >>> import io
    >>> read_packed(io.BytesIO(bytes(range(12))), np.array([2, 3, 0]), 2, begin=1).tolist()
    [[5, 6], [7, 8], [1, 2]]
    """
    packed = np.empty((len(places), n_bytes), dtype=np.uint8)
    starts = np.flatnonzero(np.diff(places, prepend=-2) != 1).tolist()
    for start, stop in zip(starts, [*starts[1:], len(places)], strict=True):
        file.seek(begin + int(places[start]) * n_bytes)
        rest = packed[start:stop].reshape(-1).data
        while len(rest):  # one reading gives 2 GiB at most
            n_read = file.readinto(rest)  # type: ignore[attr-defined]
            if not n_read:
                raise EOFError
            rest = rest[n_read:]
    return packed


_PLAIN = four_codes()


class PackedGenotypes:
    """Codes 0 to 3 of variants, written one after the other and then read in any order.

    The file has no name and is gone with the object or the process.
    """

    def __init__(self, n_samples: int) -> None:
        self.n_samples = n_samples
        self.n_variants = 0
        self._n_bytes = -(-n_samples // 4)
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the object
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._waiting: list[Codes] = []

    def append(self, codes: Codes) -> None:
        """Add a variant, (n_samples,)."""
        self._waiting.append(codes)
        self.n_variants += 1
        if len(self._waiting) * self.n_samples >= _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write all variants that were added."""
        if not self._waiting:
            return
        codes = np.zeros((len(self._waiting), 4 * self._n_bytes), dtype=np.uint8)
        codes[:, : self.n_samples] = self._waiting
        self._waiting = []
        packed = codes[:, 0::4] | (codes[:, 1::4] << 2) | (codes[:, 2::4] << 4) | (codes[:, 3::4] << 6)
        self._file.write(packed.tobytes())

    def read(self, places: IntArray) -> Codes:
        """Return variants by their places in the order of writing, (n_chosen, n_samples)."""
        with self._lock:
            packed = read_packed(self._file, places, self._n_bytes)
        return unpacked(packed, self.n_samples, _PLAIN)
