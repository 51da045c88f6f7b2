"""Rows of tuples → a Parquet file, written in row groups of a fixed size."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, TupleRows
from interplay.base.checks import needing, shown
from interplay.files.whole_file import is_special, put_in_place, real_path

#: Rows in a row group: the buffer holds fewer than this and one batch.
ROWS_PER_GROUP = 1_000_000


class ParquetRows:
    """A Parquet file that grows by batches of rows; a context manager.

    It is written as ``NAME.partial.parquet`` and gets its name when it is complete. What is left of an interrupted
    run is a valid file of the row groups until then, whose metadata say ``interplay.complete: false``. A file that
    could not be written to the end cannot be read, and is removed.

    - `path`: the file to be.
    - `names`: what the variables are called: members and variable are written as these, as a dictionary column.
    - `about`: what to note in the metadata, as JSON under ``interplay.settings``.

    Attributes
    ----------
    not_kept : str or None
        After an interrupt, why there is no file of what was found until then.
    """

    not_kept: str | None = None
    _fault: OSError | None = None

    def __init__(
        self, path: str | os.PathLike[str], *, names: list[str], dimensions: int, about: dict[str, Any]
    ) -> None:
        self.path = check_out(path)
        self._pyarrow, parquet = _import_pyarrow()
        pa = self._pyarrow
        self.partial_path = self.path.with_name(f"{self.path.stem}.partial{self.path.suffix or '.parquet'}")
        self._names = pa.array(names, pa.string())
        named = pa.dictionary(pa.int32(), pa.string())
        fields = [(f"member_{m + 1}", named) for m in range(dimensions)]
        self._schema = pa.schema([*fields, ("variable", named), ("value", pa.float64())])
        self._about = {"interplay.settings": json.dumps(about, ensure_ascii=False, default=str)}
        self._none = TupleRows.none(dimensions)
        self._buffer = [self._none]
        self.n_rows = 0
        try:
            # Values hardly repeat: looking for it would take as long as all the rest.
            names_only = [field.name for field in self._schema if field.name != "value"]
            self._sink: Any = None
            self._sink = pa.OSFile(os.fspath(self.partial_path), "wb")
            self._writer = parquet.ParquetWriter(self._sink, self._schema, use_dictionary=names_only)
        except OSError as error:
            self._remove()
            raise ValueError(f"out={str(path)!r} cannot be written: {_reason(error)}") from None

    def add(self, rows: TupleRows) -> None:
        """Append a batch."""
        self._buffer.append(rows)
        self.n_rows += len(rows)
        buffered = sum(len(part) for part in self._buffer)
        if buffered < ROWS_PER_GROUP:
            return
        tuples, variable, value = self._taken()
        end = buffered - buffered % ROWS_PER_GROUP
        for begin in range(0, end, ROWS_PER_GROUP):
            group = slice(begin, begin + ROWS_PER_GROUP)
            self._write(tuples[group], variable[group], value[group])
        # Copies, so that the rows already written can be freed.
        rest = TupleRows(tuples[end:].copy(), variable[end:].copy(), value[end:].copy(), np.empty(0, dtype=np.int64))
        self._buffer = [rest]

    def _taken(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], FloatArray]:
        # Ctrl-C may strike at any time: rows on their way from the buffer to the file may then be lost, not doubled.
        buffer, self._buffer = self._buffer, [self._none]
        return (
            np.concatenate([part.tuples for part in buffer]),
            np.concatenate([part.variable for part in buffer]),
            np.concatenate([part.value for part in buffer]),
        )

    def _write(self, tuples: npt.NDArray[np.int32], variable: npt.NDArray[np.int32], value: FloatArray) -> None:
        pa = self._pyarrow
        numbers = [*(np.ascontiguousarray(column) for column in tuples.T), variable]
        columns = [pa.DictionaryArray.from_arrays(pa.array(column), self._names) for column in numbers]
        with self._naming_the_file():
            self._writer.write_table(pa.Table.from_arrays([*columns, pa.array(value)], schema=self._schema))

    def _close(self, *, complete: bool) -> None:
        tuples, variable, value = self._taken()
        if len(value):
            self._write(tuples, variable, value)
        self._writer.add_key_value_metadata(self._about | {"interplay.complete": str(complete).lower()})
        with self._naming_the_file():
            self._writer.close()
            self._sink.close()

    def __enter__(self) -> ParquetRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if self._fault is not None:  # a footer may still fit, but not behind half a row group
                raise self._fault
            self._close(complete=kind is None)
            if kind is None:
                with self._naming_the_file():
                    put_in_place(self.partial_path, self.path)
        except BaseException as fault:
            self._remove()
            if kind is None:
                raise
            # What ended the block is what the caller should hear of, and what was found until then.
            self.not_kept = "interrupted again" if isinstance(fault, KeyboardInterrupt) else str(fault)

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            if self._sink is not None:
                self._sink.close()
        with contextlib.suppress(OSError):
            self.partial_path.unlink()

    @contextlib.contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            told = OSError(f"cannot write {os.fspath(self.path)!r}: {_reason(error)}")
            told.errno = error.errno
            self._fault = told
            raise told from None


def _reason(error: OSError) -> str:
    """Return the system's words; Arrow has more of them."""
    return str(error) if error.errno is None else os.strerror(error.errno)


def check_out(path: str | os.PathLike[str]) -> Path:
    """Return the whole path of the file to be, or say why it cannot be."""
    _import_pyarrow()
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"out must be the path of a file, not {shown(path)}")
    whole = real_path(path)
    if is_special(whole):
        raise ValueError(f"out={str(path)!r} is a pipe or device: name a file")
    if whole.is_dir():
        raise ValueError(f"out={str(path)!r} is a folder: name a file in it")
    if not whole.parent.is_dir():
        raise ValueError(f"out: there is no folder {str(whole.parent)!r}: make it, or write elsewhere")
    return whole


def _import_pyarrow() -> tuple[Any, Any]:
    with needing("pyarrow", "parquet", "out needs"):
        import pyarrow
        import pyarrow.parquet
    return pyarrow, pyarrow.parquet
