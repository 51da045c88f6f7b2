"""Text files, plain or gzipped, also through a pipe → lines; separated values → a DataFrame, errors name the line.

pandas accepts too much: it renames repeated headers, fills short rows, and shifts columns if rows are one longer than
the header. Here the header is read first, and such files are refused or read correctly.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from interplay.base.checks import check_choice
from interplay.base.checks import shown as shown_value
from interplay.data.study.columns import COMMA, POINT
from interplay.files.whole_file import is_special
from interplay.readers.target_column import checked_names, fields, id_column, is_gene_table, unread_columns
from interplay.readers.written_numbers import WrittenNumbers

if TYPE_CHECKING:
    import pandas as pd


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


#: Delimiters that are looked for in the header, in this order.
_DELIMITERS = (",", "\t", ";", "|")

#: Number of rows from which the decimal sign is guessed. The guess affects the speed, not the result.
_ROWS_LOOKED_AT = 20

#: Missing values for pandas: its own markers without None, which may be a label.
_MARKERS = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
    "NULL", "NaN", "n/a", "nan", "null",
)  # fmt: skip

#: Fields of a wide table can be longer than the limit of the csv module, 128 KiB.
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


def read_csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    na_values: Sequence[str] = (),
    keep_na_values: Collection[str] = (),
    unread: Collection[str] = (),
    has_ids: bool = False,
    sample_id: str | None = None,
    check: Callable[[pd.DataFrame], None] | None = None,
) -> pd.DataFrame:
    r"""Read a csv or tsv file, plain or gzipped; ``"-"`` reads standard input.

    The first line names the columns. A first column without a name (as R and pandas write their row names), or one
    column more than names, has row names and is left out. With `has_ids`, row names become a first column named "", and
    the column `sample_id`, or the first, has the names of samples, which stay text. Decimal commas and commas between
    thousands are told apart by all values of a column, or by `decimal`, "," or ".". Columns `unread` stay as pandas
    reads them. `na_values` are missing values beside the usual markers, and `keep_na_values` are values that look like
    markers. `check` is called with the table before any
    warning about its columns.

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

    if decimal is not None:
        check_choice("decimal", decimal, (",", "."))
    content = TextFile(path)
    with readable(content):
        table = TextTable(content, delimiter, na_values, keep_na_values)
        if is_gene_table(table.header):
            raise ValueError(
                f"{content.shown} is a table of Roary or Panaroo, with a gene in each row: use transpose=True, and "
                "give the traits of the genomes as target_file"
            )
        names, has_row_names = checked_names(table.header, table.first_rows[0], content.shown)
        sign = decimal or likely_decimal_sign(table.first_rows, table.separator)
        if has_row_names and has_ids:
            names, has_row_names = ["", *names], False
        ids = names.index(id_column(names, sample_id)) if has_ids else None
        frame = table.parse_all(decimal=sign)
        if ids is not None:
            frame[ids] = table.texts(ids)
        frame.index = _line_numbers(content, table.separator, len(frame))
        if has_row_names:
            frame = frame.drop(columns=0)
        number_of = dict(zip(names, frame.columns, strict=True))
        frame.columns = pd.Index(names)

        def as_texts(columns: list[str]) -> pd.DataFrame:
            numbers = [number_of[name] for name in columns]
            return table.parse(usecols=numbers, dtype=str)[numbers].set_axis(columns, axis=1)

        written = WrittenNumbers(
            content.shown, decimal=decimal, guessed=sign, comma_separates=table.separator == ",", kept=keep_na_values
        )
        if check is not None:
            check(frame)
        return written.read_in(frame, unread_columns(unread, names, has_ids=has_ids, sample_id=sample_id), as_texts)


class TextTable:
    """A text file with its header and first rows; columns are numbered.

    Attributes
    ----------
    header : list of str
    first_rows : list of list of str
    separator : str
    """

    def __init__(
        self,
        content: TextFile,
        delimiter: str | None,
        na_values: Sequence[str] = (),
        keep_na_values: Collection[str] = (),
    ) -> None:
        _check_delimiter(delimiter)
        self._content = content
        self._na_values = [*(text for text in _MARKERS if text not in keep_na_values), *na_values]
        self.header, self.first_rows, self.separator = _start_of(content, delimiter)
        self.n_fields = len(self.first_rows[0])

    def parse_all(self, **options: Any) -> pd.DataFrame:
        """Read all columns; refuse rows of another length than the first."""
        import pandas as pd

        try:
            frame = self.parse(**options)
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            _refuse_uneven_rows(self._content, self.separator, self.n_fields)
            raise ValueError(
                f"{self._content.shown} cannot be read as a table: {' '.join(str(error).split())}"
            ) from None
        # pandas fills a short row with missing values, so that the last column has one.
        last = frame[self.n_fields - 1]
        if (last.isna() | (last == "")).any():
            _refuse_uneven_rows(self._content, self.separator, self.n_fields)
        return frame

    def texts(self, column: int) -> list[str]:
        """Read a column of names as text; NA is a name too."""
        frame = self.parse(usecols=[column], dtype=str, keep_default_na=False, na_values=[])
        return [text.strip() for text in frame[column].tolist()]

    def parse(self, **options: Any) -> pd.DataFrame:
        """Read all rows, with these options of pandas."""
        import pandas as pd

        # Every newline as \n: pandas never ends on "\r\t" after a line.
        with self._content.open(newline=None) as file, warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            _skip_header(csv.reader(file, delimiter=self.separator))
            frame: pd.DataFrame = pd.read_csv(
                file, sep=self.separator, header=None, names=list(range(self.n_fields)), index_col=False,
                low_memory=False, on_bad_lines="error",
                **{"na_values": self._na_values, "keep_default_na": False, **options, **_exact_numbers(pd.__version__)},
            )  # fmt: skip
        return frame


def _exact_numbers(pandas_version: str) -> dict[str, Any]:
    """Return the option with which pandas reads numbers exactly; from 3.1 on it always does, and warns of it.

    Examples
    --------
    >>> _exact_numbers("2.3.3"), _exact_numbers("3.1.1")
    ({'float_precision': 'round_trip'}, {})
    """
    major, minor = pandas_version.split(".")[:2]
    return {} if (int(major), int(minor)) >= (3, 1) else {"float_precision": "round_trip"}


def _line_numbers(content: TextFile, separator: str, n_rows: int) -> pd.Index[int]:
    """Return the line of the file in which each row ends, from 1; the first line that is not blank is the header."""
    import numpy as np
    import pandas as pd

    with content.open_bytes() as file:
        is_filled = np.fromiter((bool(line.strip()) for line in file), dtype=np.bool_)
    lines = np.flatnonzero(is_filled) + 1
    if len(lines) != n_rows + 1:  # cells with line breaks, or other line endings
        with content.open() as text:
            reader = csv.reader(text, delimiter=separator)
            lines = np.array([reader.line_num for row in reader if not _is_blank(row)], dtype=np.int64)
    if len(lines) != n_rows + 1:  # pandas counts rows differently
        lines = np.arange(1, n_rows + 2)
    if len(lines) == lines[-1]:  # as in most files
        return pd.RangeIndex(2, n_rows + 2, name="line")
    return pd.Index(lines[1:], name="line")


def _check_delimiter(delimiter: Any) -> None:
    if delimiter is None or (isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '\r\n"'):
        return
    raise ValueError(
        f"delimiter must be one character other than a quote or a line break, not {shown_value(delimiter)}"
    )


def _start_of(content: TextFile, delimiter: str | None) -> tuple[list[str], list[list[str]], str]:
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
            raise ValueError(f"{content.shown} has no column names in its first line: name all columns")
        first_rows = list(islice((row for row in reader if not _is_blank(row)), _ROWS_LOOKED_AT))
    if not first_rows:
        raise ValueError(f"{content.shown} has a header but no rows: add at least one sample")
    return header, first_rows, separator


def likely_decimal_sign(rows: list[list[str]], separator: str) -> str:
    """Guess the decimal sign of most numbers; columns that pandas may misread with it are read again later."""
    fields = {field.strip() for row in rows for field in row}
    has_commas = any(COMMA.fits(field) and not POINT.fits(field) for field in fields)
    has_points = any(POINT.fits(field) and not COMMA.fits(field) for field in fields)
    return "," if separator != "," and has_commas and not has_points else "."


def _skip_header(reader: Iterator[list[str]]) -> list[str]:
    """Return the header, after which the reader is at the first row."""
    return next((row for row in reader if not _is_blank(row)), [])


def _is_blank(row: list[str]) -> bool:
    """Say whether a row is a blank line, which pandas skips too."""
    return len(row) == 0 or (len(row) == 1 and not row[0].strip())


def _refuse_uneven_rows(content: TextFile, separator: str, n_fields: int) -> None:
    """Raise an error that names the first row, after the header, whose number of fields is not `n_fields`."""
    with readable(content), content.open() as file:
        reader = csv.reader(file, delimiter=separator)
        _skip_header(reader)
        for row in reader:
            if len(row) != n_fields and not _is_blank(row):
                raise ValueError(
                    f"{content.shown}, line {reader.line_num}: {fields(row)}, but the rows before have {n_fields}: "
                    "correct that line"
                )
