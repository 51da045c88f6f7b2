"""Text files, plain or gzipped, also through a pipe; other files are refused in one line."""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from interplay.files.whole_file import is_special

#: What a file may unpack to: this, or so many times its size if that is more. Tables take ten times the memory of text.
_MAX_BYTES = 1 << 28
_MAX_RATIO = 100


class TextFile:
    """A text file that can be read more than once, also if it comes through a pipe."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        #: Name of the file in messages.
        self.shown = "standard input" if os.fspath(path) == "-" else repr(os.fspath(path))
        self._path = path
        self._bytes = None
        if os.fspath(path) == "-":
            self._bytes = sys.stdin.buffer.read()
        elif is_special(Path(path)):  # a named pipe, or the output of a command, as in <(zcat data.csv.gz)
            self._bytes = Path(path).read_bytes()
        self._is_measured = False

    @contextmanager
    def open(self, newline: str | None = "") -> Iterator[IO[str]]:
        # With a byte order mark or without; by default newlines are untranslated, as the csv module needs them.
        with (
            self.open_bytes() as raw,
            io.BufferedReader(_WithoutZeros(raw), 1 << 16) as source,
            io.TextIOWrapper(source, encoding="utf-8-sig", newline=newline) as text,
        ):
            yield text

    @contextmanager
    def open_bytes(self) -> Iterator[IO[bytes]]:
        """Open the content of the file, unpacked."""
        with Path(self._path).open("rb") if self._bytes is None else io.BytesIO(self._bytes) as raw:
            if raw.read(2) == b"\x1f\x8b":
                self._refuse_bombs(raw)
                raw.seek(0)
                yield gzip.GzipFile(fileobj=raw)  # type: ignore[misc]
            else:
                raw.seek(0)
                yield raw

    def _refuse_bombs(self, packed: IO[bytes]) -> None:
        """Unpack a file once, keeping nothing, before anything takes memory for what is in it."""
        if self._is_measured:
            return
        limit = max(_MAX_BYTES, _MAX_RATIO * packed.seek(0, os.SEEK_END))
        packed.seek(0)
        unpacked = gzip.GzipFile(fileobj=packed)
        n_bytes = 0
        while some := unpacked.read(1 << 20):
            n_bytes += len(some)
            if n_bytes > limit:
                raise ValueError(
                    f"{self.shown} unpacks to more than {limit >> 20:,} MiB, more than {_MAX_RATIO} times its size: "
                    "unpack it yourself if you trust it"
                )
        self._is_measured = True


class _ZeroByte(Exception):
    """A zero byte, which text does not have and pandas takes for the end of a cell."""


class _WithoutZeros(io.RawIOBase):
    """Reads from a file, and raises an error at a zero byte."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes; see `io.RawIOBase`."""
        content = self._source.read(len(buffer))
        if b"\0" in content:
            raise _ZeroByte
        buffer[: len(content)] = content
        return len(content)


@contextmanager
def readable(content: TextFile) -> Iterator[None]:
    """Turn the errors of a file that is not text into one line."""
    shown = content.shown
    try:
        yield
    except _ZeroByte:
        raise ValueError(f"{shown}{_what_of_zeros(content)}") from None
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{shown} is not UTF-8 text (byte {error.start}): convert it, with `iconv -t utf-8` for example"
        ) from None
    except csv.Error as error:
        raise ValueError(f"{shown} cannot be read as a table: {error}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{shown} is damaged: {error}") from None


def _what_of_zeros(content: TextFile) -> str:
    """Name the place of the first zero byte, and the likely format of the file."""
    number, line, before = 0, b"", b""
    with content.open_bytes() as file:
        while b"\0" not in line:
            before = before or line.strip()
            line = file.readline()
            number += 1
    at = line.index(b"\0")
    halves = [set(line.rstrip(b"\n")[start::2]) for start in (0, 1)]
    if not before and (line.startswith((b"\xff\xfe", b"\xfe\xff")) or ({0} in halves and halves[0] != halves[1])):
        return " is not UTF-8 text but UTF-16: convert it, with `iconv -f utf-16 -t utf-8` for example"
    if not before:
        return " is not text: the ending of its name should say what it is"
    return (
        f", line {number}, character {at + 1}: a zero byte, which text does not have: the file is damaged, or not "
        "UTF-8; write it anew"
    )
