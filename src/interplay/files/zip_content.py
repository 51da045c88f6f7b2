"""The entries of a zip file that may come from anywhere: read within bounds, and nothing in them is executed.

A few bytes of zip can stand for gigabytes, a header of .npy for an array larger than any memory, an array of objects
for a pickle. All of these are refused before they are unpacked.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from interplay.files.whole_file import is_special

#: Limits of the memory of all arrays together: bytes, and multiples of the size of the file; the larger one holds.
ARRAY_LIMITS = (1 << 26, 20)

#: The same limits of a JSON text, whose objects take up to 30 times its memory.
JSON_LIMITS = (1 << 21, 2)

#: Damage shows in many ways; all of them mean the same to the reader. SystemError is Python 3.12's tokenizer's, of some
#: headers of .npy files.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, RecursionError, NotImplementedError, RuntimeError, SystemError,
    ArithmeticError, AttributeError, LookupError, TypeError, ValueError, SyntaxError, tokenize.TokenError,
)  # fmt: skip


class ZipContent:
    """The entries of an open zip file. Faults of the file are a ValueError, or one of `DAMAGE`."""

    def __init__(self, archive: zipfile.ZipFile, file_bytes: int) -> None:
        self._archive = archive
        self._json_limit, self._bytes_left = (
            max(least, ratio * file_bytes) for least, ratio in (JSON_LIMITS, ARRAY_LIMITS)
        )
        entries = archive.infolist()
        if len({entry.filename for entry in entries}) < len(entries):
            raise ValueError("two entries of one name")  # which of them is meant?
        if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
            raise ValueError("another compression")
        if sum(entry.file_size for entry in entries if entry.filename.endswith(".npy")) > self._bytes_left:
            raise ValueError("unpacks to too much")

    def has(self, name: str) -> bool:
        """Say whether there is an entry of that name."""
        return name in self._archive.NameToInfo

    def small_bytes(self, name: str) -> bytes:
        """Return a small entry, such as JSON or a checksum."""
        return self._read(name, self._json_limit)

    def array_bytes(self, name: str) -> bytes:
        """Return the entry ``name.npy``."""
        content = self._read(f"{name}.npy", self._bytes_left)
        self.spend(len(content))
        return content

    def spend(self, n_bytes: int) -> None:
        """Count memory against the limit of all arrays."""
        self._bytes_left -= n_bytes
        if self._bytes_left < 0:
            raise ValueError("unpacks to too much")

    def _read(self, name: str, limit: int) -> bytes:
        size = self._archive.getinfo(name).file_size
        if size > limit:
            raise ValueError("unpacks to too much")
        # Not archive.read(), which unpacks everything before it compares the size with that in the zip's directory.
        with self._archive.open(name) as entry:
            return entry.read(size)


@contextmanager
def open_zip(path: str | os.PathLike[str]) -> Iterator[ZipContent]:
    """Open a zip file for reading."""
    if is_special(Path(path)):  # nobody may ever write to it
        raise OSError(errno.EINVAL, "it is a pipe or device: name a file", os.fspath(path))
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            yield ZipContent(archive, os.fstat(file.fileno()).st_size)
    except OSError as error:
        if error.filename is not None:
            raise
        raise ValueError("a place outside the file") from None  # where its directory points to


def least_file_bytes(json_bytes: int, array_bytes: int) -> int:
    """Return how large a file must be for its content to be within the bounds."""
    needed = ((json_bytes, JSON_LIMITS), (array_bytes, ARRAY_LIMITS))
    return max(math.ceil(size / ratio) if size > least else 0 for size, (least, ratio) in needed)


def parse_json(text: bytes) -> Any:
    """Return the value of a JSON text; NaN and infinities, which JSON lacks, are refused."""
    return json.loads(text, parse_constant=_refuse_constant)


def parse_npy(data: bytes) -> npt.NDArray[Any]:
    """Return the array of an .npy file, if it holds plain numbers and is as large as its header says."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("another version of .npy")
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(stream)
    if dtype.kind not in "biuf":
        raise ValueError("an array of something else than numbers")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ValueError("an array of another size than its header says")
    stream.seek(0)
    array: npt.NDArray[Any] = np.load(stream, allow_pickle=False)
    return array


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} in JSON")
