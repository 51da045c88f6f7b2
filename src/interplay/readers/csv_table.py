"""Text files of separated values → a pandas DataFrame, with what is wrong with them named by line and column.

pandas reads fast but forgivingly: it renames repeated headers, fills short rows, and shifts columns when rows are one
longer than the header. Here the header is read first, and such files are refused or understood.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from interplay.checks import shown as shown_value

if TYPE_CHECKING:
    import pandas as pd

#: Tried in this order where the header does not settle it.
_DELIMITERS = (",", "\t", ";", "|")

#: A text column of which more than this share are numbers is likely a column of numbers with a slip in it.
_SUSPICIOUS_SHARE = 0.9

#: Fields in a wide table can be long; the limit of the csv module is for other times.
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


def read_csv(path: str | os.PathLike[str], *, delimiter: str | None = None) -> pd.DataFrame:
    r"""Read a csv or tsv file, plain or gzipped; ``"-"`` reads standard input.

    The first line names the columns. A first column without a name (as R and pandas write their row names), or one
    column more than names, is taken for row names and left out. Where commas do not separate fields and the first row
    has numbers like 2,5, the comma is their decimal sign.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = file.write_text('"","a","b"\n"row 1",1,x\n"row 2",2,y\n')
    >>> read_csv(file)
       a  b
    0  1  x
    1  2  y
    """
    import pandas as pd

    _check_delimiter(delimiter)
    shown = "standard input" if os.fspath(path) == "-" else repr(os.fspath(path))
    content = _Text(path, shown)
    with _readable(shown):
        with content.open() as file:
            header, first_row, separator = _start_of(file, delimiter, shown)
        names, has_row_names = _checked_names(header, first_row, shown)
        try:
            # Every newline as \n: over "\r\t" after a line pandas never comes to an end.
            with content.open(newline=None) as file, warnings.catch_warnings():
                warnings.simplefilter("error", pd.errors.ParserWarning)
                _skip_header(csv.reader(file, delimiter=separator))
                frame: pd.DataFrame = pd.read_csv(
                    file, sep=separator, header=None, names=list(range(len(first_row))), index_col=False,
                    low_memory=False, on_bad_lines="error", decimal=_decimal_sign(first_row, separator),
                    **_exact_numbers(pd.__version__),
                )  # fmt: skip
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            _refuse_uneven_rows(content, separator, len(first_row))
            raise ValueError(f"{shown} cannot be read as a table: {' '.join(str(error).split())}") from None
    # A row that ends early is filled with missing values, so there is one in the last column.
    if frame[len(first_row) - 1].isna().any():
        _refuse_uneven_rows(content, separator, len(first_row))
    if has_row_names:
        frame = frame.drop(columns=0)
    frame.columns = pd.Index(names)
    for name in frame.select_dtypes(exclude=["number", "bool"]).columns:
        _warn_of_stray_text(frame[name], name)
    return frame


def _exact_numbers(pandas_version: str) -> dict[str, Any]:
    """Return the option with which pandas reads numbers to the last bit; from 3.1 on it does, and warns of the option.

    Examples
    --------
    >>> _exact_numbers("2.3.3"), _exact_numbers("3.1.1")
    ({'float_precision': 'round_trip'}, {})
    """
    major, minor = pandas_version.split(".")[:2]
    return {} if (int(major), int(minor)) >= (3, 1) else {"float_precision": "round_trip"}


def _check_delimiter(delimiter: Any) -> None:
    if delimiter is None or (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '\r\n"'):
        return
    raise ValueError(f"delimiter must be one character, and no quote or line break, not {shown_value(delimiter)}")


class _Text:
    """A text file that can be read more than once, also if it comes through a pipe."""

    def __init__(self, path: str | os.PathLike[str], shown: str) -> None:
        self.shown = shown
        self._path = path
        self._bytes = sys.stdin.buffer.read() if os.fspath(path) == "-" else None

    @contextmanager
    def open(self, newline: str | None = "") -> Iterator[IO[str]]:
        with Path(self._path).open("rb") if self._bytes is None else io.BytesIO(self._bytes) as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            source: Any = gzip.GzipFile(fileobj=raw) if packed else raw
            # With a byte order mark or without; newlines as the csv module wants them, if not asked otherwise.
            with io.TextIOWrapper(source, encoding="utf-8-sig", newline=newline) as text:
                yield text


@contextmanager
def _readable(shown: str) -> Iterator[None]:
    """Turn what a file that is no text ends in into one line."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{shown} is not UTF-8 text (byte {error.start}): convert it, with `iconv -t utf-8` for example"
        ) from None
    except csv.Error as error:
        raise ValueError(f"{shown} cannot be read as a table: {error}") from None
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{shown} is damaged: {error}") from None


def _start_of(file: IO[str], delimiter: str | None, shown: str) -> tuple[list[str], list[str], str]:
    """Return the header, the first row and the delimiter."""
    opening = next((line for line in iter(file.readline, "") if line.strip()), None)
    if opening is None:
        raise ValueError(f"{shown} is empty: its first line must name the columns")
    if "\0" in opening:
        raise ValueError(f"{shown} is not text: the ending of its name should say what it is")
    separator = delimiter or max(_DELIMITERS, key=lambda d: (opening.count(d) > 0, -_DELIMITERS.index(d)))
    file.seek(0)
    reader = csv.reader(file, delimiter=separator)
    header = _skip_header(reader)
    if not header:
        raise ValueError(f"{shown} names no columns in its first line: name them all")
    first_row = next((row for row in reader if not _is_blank(row)), None)
    if first_row is None:
        raise ValueError(f"{shown} has a header and no rows: give at least one sample")
    return header, first_row, separator


def _decimal_sign(first_row: list[str], separator: str) -> str:
    """Return the comma where the first row shows that numbers are written with it, and the point is not."""
    with_comma = any(re.fullmatch(r"\s*[-+]?\d+,\d+\s*", field) for field in first_row)
    with_point = any(re.fullmatch(r"\s*[-+]?\d+\.\d+\s*", field) for field in first_row)
    return "," if separator != "," and with_comma and not with_point else "."


def _skip_header(reader: Iterator[list[str]]) -> list[str]:
    """Return the header; what is left are rows."""
    return next((row for row in reader if not _is_blank(row)), [])


def _is_blank(row: list[str]) -> bool:
    """Say whether this was a blank line, which pandas skips too."""
    return len(row) == 0 or (len(row) == 1 and not row[0].strip())


def _checked_names(header: list[str], first_row: list[str], shown: str) -> tuple[list[str], bool]:
    """Return the names of the columns that are data, and whether a column of row names comes before them."""
    names = [name.strip() for name in header]
    if len(first_row) == len(names) + 1 and first_row[-1]:  # as R's write.table; not a delimiter too many at the end
        has_row_names = True
    elif len(first_row) == len(names):
        has_row_names = names[0] == "" and len(names) > 1
        names = names[1:] if has_row_names else names
    else:
        raise ValueError(f"{shown}, first row: {_fields(first_row)}, but the header names {len(names)} columns")
    if "" in names:
        place = names.index("") + 1 + has_row_names
        raise ValueError(f"{shown} has no name for column {place}: name every column in the first line")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        places = [str(i + 1 + has_row_names) for i, name in enumerate(names) if name == repeated[0]]
        others = f" ({len(repeated) - 1} more names are repeated)" if len(repeated) > 1 else ""
        raise ValueError(
            f"{shown} has more than one column named {shown_value(repeated[0])} (columns {', '.join(places[:5])})"
            f"{others}: give each column a name of its own"
        )
    return names, has_row_names


def _refuse_uneven_rows(content: _Text, separator: str, n_fields: int) -> None:
    """Raise an error that names the first row, after the header, whose number of fields is not `n_fields`."""
    with _readable(content.shown), content.open() as file:
        reader = csv.reader(file, delimiter=separator)
        _skip_header(reader)
        for row in reader:
            if len(row) != n_fields and not _is_blank(row):
                raise ValueError(
                    f"{content.shown}, line {reader.line_num}: {_fields(row)}, but the rows before have {n_fields}: "
                    "correct that line"
                )


def _fields(row: Sequence[str]) -> str:
    return f"{len(row)} field{'' if len(row) == 1 else 's'}"


def _warn_of_stray_text(column: pd.Series[Any], name: str) -> None:
    """Warn of a column that is text only because of a slip: it would become one level per number."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    stray = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
    n_values = int(column.notna().sum())
    if len(stray) and len(stray) <= (1 - _SUSPICIOUS_SHARE) * n_values:
        cell = str(column.iloc[stray[0]])
        more = f" and {len(stray) - 1} more like it" if len(stray) > 1 else ""
        warnings.warn(
            f"column {shown_value(name)} is taken as labels because of {shown_value(cell)} in row "
            f"{stray[0] + 1}{more}: if it holds numbers, correct that cell or leave it empty",
            UserWarning,
            stacklevel=3,
        )
