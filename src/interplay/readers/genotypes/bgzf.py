"""Files packed by gzip or bgzip as streams of bytes; damage is named in one line."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

#: The empty block at the end of every file of bgzip: without it, the file is cut short.
_END = bytes.fromhex("1f8b08040000000000ff0600424302001b0003000000000000000000")

_BUFFER_BYTES = 2**20


@contextmanager
def unpacked_stream(path: Path) -> Iterator[BinaryIO]:
    """Open a file that may be packed; errors of unpacking become one line."""
    with path.open("rb") as file:
        begin = file.read(18)
        if begin[:2] != b"\x1f\x8b":
            file.seek(0)
            yield cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, file), _BUFFER_BYTES))
            return
        if begin[3:4] == b"\x04" and begin[12:14] == b"BC":
            file.seek(-min(len(_END), os.path.getsize(path)), os.SEEK_END)
            if file.read() != _END:
                raise ValueError(f"{os.fspath(path)!r} is damaged: its end is missing, so it was cut short")
        file.seek(0)
        try:
            with gzip.GzipFile(fileobj=file) as packed:
                yield cast(BinaryIO, io.BufferedReader(packed, _BUFFER_BYTES))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"{os.fspath(path)!r} is damaged: {error}") from None
