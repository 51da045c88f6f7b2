"""Genotypes as two bits each in a temporary file: for formats that can only be read from the beginning."""

from __future__ import annotations

import tempfile
import threading
import weakref

import numpy as np

from interplay.base.arrays import IntArray
from interplay.readers.genotypes.hard_calls import Codes

#: The four codes in each value of a byte.
_UNPACKED = ((np.arange(256)[:, None] >> np.array([0, 2, 4, 6])) & 3).astype(np.uint8)

#: Bytes of codes that are packed in one go.
_AT_ONCE = 2**22


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
        is_range = len(places) > 0 and bool((np.diff(places) == 1).all())
        with self._lock:
            if is_range:
                parts = [self._bytes(int(places[0]), len(places))]
            else:
                parts = [self._bytes(int(place), 1) for place in places]
        packed = np.frombuffer(b"".join(parts), dtype=np.uint8).reshape(len(places), self._n_bytes)
        codes = np.take(_UNPACKED, packed, axis=0).reshape(len(places), 4 * self._n_bytes)
        return codes[:, : self.n_samples]

    def _bytes(self, place: int, n: int) -> bytes:
        self._file.seek(place * self._n_bytes)
        return self._file.read(n * self._n_bytes)
