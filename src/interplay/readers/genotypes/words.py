"""Text tables that belong to files of genotypes: words between spaces or tabs, with the names of the columns."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from interplay.base.checks import needing, reading

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def opened_text(path: Path) -> Iterator[IO[str]]:
    """Open a text file, which may be packed by Zstandard."""
    if path.suffix != ".zst":
        with path.open(encoding="utf-8", newline=None) as file:
            yield file
        return
    zstandard = import_zstandard("reading .zst files needs")
    with path.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as raw:
        yield io.TextIOWrapper(raw, encoding="utf-8")


def import_zstandard(what: str) -> Any:
    """Return the package zstandard, or say how to install it."""
    with needing("zstandard", "genetics", what):
        import zstandard
    return zstandard


def read_words(
    path: Path,
    what: str,
    *,
    header: str | tuple[str, ...],
    without_header: list[str] | None = None,
    wanted: list[str] | None = None,
) -> pd.DataFrame:
    """Return a table of texts.

    Parameters
    ----------
    path : Path
    what : str
        The kind of file, for messages.
    header : str or tuple of str
        How the line with the names of the columns begins. Lines before it that begin with "#" are left out.
    without_header : list of str, optional
        Names of the columns of a file that has no such line.
    wanted : list of str, optional
        Columns to read, if there are any others.
    """
    import pandas as pd

    errors: tuple[type[Exception], ...] = (ValueError, OSError, EOFError, pd.errors.ParserError, *_zstd_errors(path))
    with reading(path, what, errors), opened_text(path) as file:
        line = file.readline()
        while line.startswith("##") or (line.startswith("#") and not line.startswith(header)):
            line = file.readline()
        if not line.strip():
            raise ValueError("it is empty")
        has_header = line.startswith(header)
        if not has_header and without_header is None:
            raise ValueError(f"no line begins with {header!r}")
        first = line.split()
        names = [first[0].lstrip("#"), *first[1:]] if has_header else (without_header or [])[: len(first)]
        if not has_header and len(first) < len(names):
            raise ValueError("its first line has too few fields")
        if len(set(names)) < len(names):
            raise ValueError("two columns have one name")
        rest = file if has_header else _with_first(line, file)
        frame = pd.read_csv(
            rest,
            sep="\t" if "\t" in line else r"\s+",
            header=None,
            names=names,
            usecols=names if wanted is None else [name for name in wanted if name in names],
            dtype=str,
            keep_default_na=False,
            na_filter=True,
            na_values=[],
            quoting=csv.QUOTE_NONE,
            index_col=False,
        )
        if not len(frame):
            raise ValueError("it has no rows")
        short = frame.isna().any(axis=1).to_numpy()
        if short.any():
            raise ValueError(f"row {int(short.argmax()) + 1} has too few fields")
    return frame


def _zstd_errors(path: Path) -> tuple[type[Exception], ...]:
    return (import_zstandard("reading .zst files needs").ZstdError,) if path.suffix == ".zst" else ()


def _with_first(line: str, file: IO[str]) -> IO[str]:
    return io.StringIO(line + file.read())


def beside(path: str | os.PathLike[str], endings: tuple[str, ...]) -> Path:
    """Return the first file with the stem of `path` and one of these endings that exists."""
    stem = Path(path).with_suffix("")
    for ending in endings:
        found = stem.with_name(stem.name + ending)
        if found.exists():
            return found
    raise FileNotFoundError(2, "there is no such file", f"{stem}{endings[0]}")
