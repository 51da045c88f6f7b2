"""Text files of separated values → a pandas DataFrame, with what is wrong with them named by line and column.

pandas reads fast but forgivingly: it renames repeated headers, fills short rows, and shifts columns when rows are one
longer than the header. Here the header is read first, and such files are refused or understood.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from interplay.checks import check_choice
from interplay.checks import shown as shown_value
from interplay.readers.written_numbers import WrittenNumbers
from interplay.steps.number_texts import COMMA, POINT
from interplay.stored.whole_file import is_special

if TYPE_CHECKING:
    import pandas as pd

#: Tried in this order where the header does not settle it.
_DELIMITERS = (",", "\t", ";", "|")

#: From these rows it is guessed how most numbers are written. The guess decides the speed, not the result.
_ROWS_LOOKED_AT = 20

#: Fields in a wide table can be long; the limit of the csv module is for other times.
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    na_values: Sequence[str] = (),
    unread: Collection[str] = (),
    keep_row_names: bool = False,
) -> pd.DataFrame:
    r"""Read a csv or tsv file, plain or gzipped; ``"-"`` reads standard input.

    The first line names the columns. A first column without a name (as R and pandas write their row names), or one
    column more than names, is taken for row names and left out, or with `keep_row_names` becomes a first column of the
    name "". Whether numbers have decimal commas, or commas between thousands, is seen from all values of a column; what
    they leave open is said by `decimal`, "," or ".". How the columns `unread` are written is not asked. `na_values` are
    missing values beside the usual markers.

    The index of the frame is the line of the file in which each row ends, counted from 1.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = file.write_text('"","a","b"\n"row 1",1,x\n"row 2",2,y\n')
    >>> read_csv(file)
          a  b
    line
    2     1  x
    3     2  y
    """
    import pandas as pd

    _check_delimiter(delimiter)
    if decimal is not None:
        check_choice("decimal", decimal, (",", "."))
    shown = "standard input" if os.fspath(path) == "-" else repr(os.fspath(path))
    content = _Text(path, shown)
    with _readable(content):
        header, first_rows, separator = _start_of(content, delimiter)
        n_fields = len(first_rows[0])
        names, has_row_names = _checked_names(header, first_rows[0], shown)
        sign = decimal or _likely_decimal_sign(first_rows, separator)
        parse = partial(_parse, content, separator, n_fields, na_values=list(na_values))
        try:
            frame = parse(decimal=sign)
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            _refuse_uneven_rows(content, separator, n_fields)
            raise ValueError(f"{shown} cannot be read as a table: {' '.join(str(error).split())}") from None
        # A row that ends early is filled with missing values, so there is one in the last column.
        if frame[n_fields - 1].isna().any():
            _refuse_uneven_rows(content, separator, n_fields)
        frame.index = _line_numbers(content, separator, len(frame))
        if has_row_names and keep_row_names:
            names = ["", *names]
        elif has_row_names:
            frame = frame.drop(columns=0)
        number_of = dict(zip(names, frame.columns, strict=True))
        frame.columns = pd.Index(names)

        def as_texts(columns: list[str]) -> pd.DataFrame:
            numbers = [number_of[name] for name in columns]
            return parse(usecols=numbers, dtype=str)[numbers].set_axis(columns, axis=1)

        written = WrittenNumbers(shown, decimal=decimal, guessed=sign, comma_separates=separator == ",")
        written.read_in(frame, [name for name in names if name not in unread], as_texts)
    return frame


def _parse(content: _Text, separator: str, n_fields: int, **options: Any) -> pd.DataFrame:
    """Read all rows; columns are numbered."""
    import pandas as pd

    # Every newline as \n: over "\r\t" after a line pandas never comes to an end.
    with content.open(newline=None) as file, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        _skip_header(csv.reader(file, delimiter=separator))
        frame: pd.DataFrame = pd.read_csv(
            file, sep=separator, header=None, names=list(range(n_fields)), index_col=False,
            low_memory=False, on_bad_lines="error", **options, **_exact_numbers(pd.__version__),
        )  # fmt: skip
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


def _line_numbers(content: _Text, separator: str, n_rows: int) -> pd.Index[int]:
    """Return the line of the file in which each row ends, from 1; the header is the first that is not blank."""
    import numpy as np
    import pandas as pd

    with content.open_bytes() as file:
        is_filled = np.fromiter((bool(line.strip()) for line in file), dtype=np.bool_)
    lines = np.flatnonzero(is_filled) + 1
    if len(lines) != n_rows + 1:  # cells of several lines, or another sign at the end of a line
        with content.open() as text:
            reader = csv.reader(text, delimiter=separator)
            lines = np.array([reader.line_num for row in reader if not _is_blank(row)], dtype=np.int64)
    if len(lines) != n_rows + 1:  # what pandas counts in another way
        lines = np.arange(1, n_rows + 2)
    if len(lines) == lines[-1]:  # as in most files
        return pd.RangeIndex(2, n_rows + 2, name="line")
    return pd.Index(lines[1:], name="line")


def _check_delimiter(delimiter: Any) -> None:
    if delimiter is None or (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '\r\n"'):
        return
    raise ValueError(f"delimiter must be one character, and no quote or line break, not {shown_value(delimiter)}")


class _Text:
    """A text file that can be read more than once, also if it comes through a pipe."""

    def __init__(self, path: str | os.PathLike[str], shown: str) -> None:
        self.shown = shown
        self._path = path
        self._bytes = None
        if os.fspath(path) == "-":
            self._bytes = sys.stdin.buffer.read()
        elif is_special(Path(path)):  # a named pipe, or the output of a command, as in <(zcat data.csv.gz)
            self._bytes = Path(path).read_bytes()

    @contextmanager
    def open(self, newline: str | None = "") -> Iterator[IO[str]]:
        # With a byte order mark or without; newlines as the csv module wants them, if not asked otherwise.
        with (
            self.open_bytes() as raw,
            io.BufferedReader(_WithoutZeros(raw), 1 << 16) as source,
            io.TextIOWrapper(source, encoding="utf-8-sig", newline=newline) as text,
        ):
            yield text

    @contextmanager
    def open_bytes(self) -> Iterator[IO[bytes]]:
        """Open what is in the file, unpacked."""
        with Path(self._path).open("rb") if self._bytes is None else io.BytesIO(self._bytes) as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            yield gzip.GzipFile(fileobj=raw) if packed else raw  # type: ignore[misc]


class _ZeroByte(Exception):
    """Text has no zero bytes; pandas takes them for the end of a cell."""


class _WithoutZeros(io.RawIOBase):
    """Reads from a file, and stops at a zero byte."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer, as `io` asks for it."""
        content = self._source.read(len(buffer))
        if b"\0" in content:
            raise _ZeroByte
        buffer[: len(content)] = content
        return len(content)


@contextmanager
def _readable(content: _Text) -> Iterator[None]:
    """Turn what a file that is no text ends in into one line."""
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
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{shown} is damaged: {error}") from None


def _what_of_zeros(content: _Text) -> str:
    """Say where the first zero byte is, and what the file may be."""
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


def _start_of(content: _Text, delimiter: str | None) -> tuple[list[str], list[list[str]], str]:
    """Return the header, the first rows and the delimiter."""
    with content.open() as file:
        opening = next((line for line in iter(file.readline, "") if line.strip()), None)
    if opening is None:
        raise ValueError(f"{content.shown} is empty: its first line must name the columns")
    separator = delimiter or max(_DELIMITERS, key=lambda d: (opening.count(d) > 0, -_DELIMITERS.index(d)))
    with content.open() as file:
        reader = csv.reader(file, delimiter=separator)
        header = _skip_header(reader)
        if not header:
            raise ValueError(f"{content.shown} names no columns in its first line: name them all")
        first_rows = list(islice((row for row in reader if not _is_blank(row)), _ROWS_LOOKED_AT))
    if not first_rows:
        raise ValueError(f"{content.shown} has a header and no rows: give at least one sample")
    return header, first_rows, separator


def _likely_decimal_sign(rows: list[list[str]], separator: str) -> str:
    """Guess with which sign pandas will read most numbers; what it then takes for text or may misread is looked at."""
    fields = [field.strip() for row in rows for field in row]
    has_commas = any(COMMA.fits(field) and not POINT.fits(field) for field in fields)
    has_points = any(POINT.fits(field) and not COMMA.fits(field) for field in fields)
    return "," if separator != "," and has_commas and not has_points else "."


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
    with _readable(content), content.open() as file:
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
