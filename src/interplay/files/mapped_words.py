"""Words of bit planes in a file that is mapped into memory: more than memory holds, and found again by a later call."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from interplay.base.arrays import WordArray
from interplay.files.whole_file import whole_path

#: Bytes before the first word: a page, so that words are aligned. They begin with the name of the format.
_HEADER_BYTES, _FORMAT = 4096, b"interplay planes 1\n"

#: Rows, evenly spaced, by which a file tells that it is damaged: all of them would have to be read otherwise.
_CHECKED_ROWS = 64


@dataclass(frozen=True)
class MappedWords:
    """A file for the words of planes.

    Parameters
    ----------
    path : Path
    key : str
        Hash of all that decides the words. A file with another key is replaced.
    """

    path: Path
    key: str

    def found_or_made(self, shape: tuple[int, int], fill: Callable[[WordArray], None]) -> WordArray:
        """Return the words, of this shape: those of the file, or new ones, which `fill` makes of zeros.

        Words are in memory alone where the disk has no room for them.
        """
        words = self._found(shape)
        if words is not None:
            return words
        try:
            return self._made(shape, fill)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
        words = np.zeros(shape, dtype=np.uint64)
        fill(words)
        return words

    def _found(self, shape: tuple[int, int]) -> WordArray | None:
        with suppress(OSError, ValueError):
            if os.path.getsize(self.path) == _HEADER_BYTES + 8 * shape[0] * shape[1]:
                words = self._mapped(self.path, shape, "c")
                with open(self.path, "rb") as file:
                    if file.read(_HEADER_BYTES) == self._header(words):
                        return words
        return None

    def _made(self, shape: tuple[int, int], fill: Callable[[WordArray], None]) -> WordArray:
        n_bytes = _HEADER_BYTES + 8 * shape[0] * shape[1]
        self.path.unlink(missing_ok=True)  # its room may be needed
        if shutil.disk_usage(self.path.parent).free < n_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with whole_path(self.path) as unfinished:
            with open(unfinished, "rb+") as file:
                if hasattr(os, "posix_fallocate"):  # a disk that is full later would end the process
                    os.posix_fallocate(file.fileno(), 0, n_bytes)
                else:
                    file.truncate(n_bytes)
            words = self._mapped(unfinished, shape, "r+")
            fill(words)
            words.flush()
            header = self._header(words)
            del words
            with open(unfinished, "rb+") as file:
                file.write(header)
        return self._mapped(self.path, shape, "c")

    def _header(self, words: WordArray) -> bytes:
        rows = np.unique(np.linspace(0, len(words) - 1, _CHECKED_ROWS).astype(np.int64))
        digest = hashlib.blake2b(np.ascontiguousarray(words[rows]).tobytes(), digest_size=16).hexdigest()
        text = f"{self.key}\n{words.shape[0]} {words.shape[1]}\n{digest}\n".encode()
        return (_FORMAT + text).ljust(_HEADER_BYTES, b"\0")

    @staticmethod
    def _mapped(path: Path, shape: tuple[int, int], mode: str) -> np.memmap:
        return np.memmap(path, dtype=np.uint64, mode=mode, offset=_HEADER_BYTES, shape=shape)  # type: ignore[call-overload, no-any-return]
