"""What `interesting_tuples` hands out: variables in tuples, with a value each, as a table or a Parquet file."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import needing, shown
from interplay.base.tuples import TupleRows
from interplay.files.whole_file import is_special, put_in_place, real_path

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class TupleTable:
    """One row per variable and tuple.

    Attributes
    ----------
    tuples : (n_rows, k) int32
        Numbers of the members, ascending.
    variable : (n_rows,) int32
        The member to which the value belongs.
    value : (n_rows,) float64
        The statistic.
    names : list of str
        Names of the variables.
    stat : str
        Which statistic it is.
    """

    tuples: npt.NDArray[np.int32]
    variable: npt.NDArray[np.int32]
    value: FloatArray
    names: list[str]
    stat: str = "MI"

    def __len__(self) -> int:
        return len(self.value)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with names: member_1 … member_k, variable, value.

        The names are categories, so that a long table stores numbers instead of strings.

        Examples
        --------
        >>> import interplay
        >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=20, random_state=1)
        >>> interplay.interesting_tuples(X, y, top=1, top_by="all").to_frame().columns.to_list()
        ['member_1', 'member_2', 'variable', 'value']
        """
        import pandas as pd

        dtype = pd.CategoricalDtype(self.names)
        columns = {f"member_{m + 1}": self.tuples[:, m] for m in range(self.tuples.shape[1])}
        named = {
            name: pd.Categorical.from_codes(numbers, dtype=dtype)
            for name, numbers in (columns | {"variable": self.variable}).items()
        }
        return pd.DataFrame(named | {"value": self.value})

    def __repr__(self) -> str:
        span = f", {self.stat} {self.value.min():.4g} … {self.value.max():.4g}" if len(self) else ""
        return f"<TupleTable: {len(self)} rows, {self.tuples.shape[1]}D{span}>"


class TuplesInterrupted(KeyboardInterrupt):
    """Ctrl-C while tuples were listed; `partial` is what was found until then: a TupleTable, or a Parquet file.

    There is no such file where it could not be written; `not_kept` then says why.
    """

    def __init__(self, partial: TupleTable | Path | None, done: float, not_kept: str | None = None) -> None:
        super().__init__(partial, done, not_kept)
        self.partial = partial
        self.done = done
        self.not_kept = not_kept

    def __str__(self) -> str:
        if self.not_kept is not None:
            return f"interrupted after {self.done:.1%} of the tuples; no rows were kept ({self.not_kept})"
        what = str(self.partial) if isinstance(self.partial, Path) else ".partial"
        return f"interrupted after {self.done:.1%} of the tuples; {what} holds the rows found until then"


def in_order(tuples: npt.NDArray[np.int32], variable: npt.NDArray[np.int32], n_vars: int) -> npt.NDArray[np.int64]:
    """Return the order of rows by tuple, then variable.

    Examples
    --------
    >>> in_order(np.array([[1, 2], [0, 3], [0, 3]]), np.array([1, 3, 0]), 4)
    array([2, 1, 0])
    """
    if (tuples.shape[1] + 1) * np.log2(max(n_vars, 2)) >= 62:
        return np.asarray(np.lexsort((variable, *tuples.T[::-1])))
    # Sorting one number is several times faster.
    return np.asarray(np.argsort(packed_rows(tuples, variable, n_vars), kind="stable"))


def packed_rows(tuples: npt.NDArray[Any], variable: npt.NDArray[Any], n_vars: int) -> npt.NDArray[np.int64]:
    """Return the members and the variable of each row as the digits of one number.

    Examples
    --------
    >>> packed_rows(np.array([[1, 2], [0, 3]]), np.array([1, 3]), 10)
    array([121,  33])
    """
    packed = np.zeros(len(tuples), dtype=np.int64)
    for column in (*tuples.T, variable):
        packed *= n_vars
        packed += column
    return packed


class BestRows:
    """Keeps the best rows seen so far, and raises the thresholds so that few others need to be listed.

    Equal values are ranked by tuple, so that what is kept does not depend on the order of the batches. Memory is
    that of what is kept and one batch.

    - `number`: rows to keep.
    - `by_variable`: of each variable, or of all together.
    - `thresholds` (n_vars,): raised in place to just below the value of the last row kept.
    """

    def __init__(self, number: int, *, by_variable: bool, dimensions: int, thresholds: FloatArray) -> None:
        self._number = number
        self._by_variable = by_variable
        self._thresholds = thresholds
        self.rows = TupleRows.none(dimensions)

    def add(self, rows: TupleRows) -> None:
        """Look at a batch of rows that are not among those seen before."""
        tuples = np.concatenate([self.rows.tuples, rows.tuples])
        variable = np.concatenate([self.rows.variable, rows.variable])
        value = np.concatenate([self.rows.value, rows.value])
        order = in_order(tuples, variable, len(self._thresholds))
        order = order[np.argsort(-value[order], kind="stable")]
        group = variable[order] if self._by_variable else np.zeros(len(order), dtype=np.int32)
        order = order[np.argsort(group, kind="stable")]
        group = np.sort(group)
        rank = np.arange(len(order)) - np.searchsorted(group, group)
        kept = order[rank < self._number]
        self.rows = TupleRows(tuples[kept], variable[kept], value[kept], np.array([len(kept)]))
        self._raise_thresholds(order[rank == self._number - 1], variable, value)

    def _raise_thresholds(self, last: IntArray, variable: IntArray, value: FloatArray) -> None:
        """Ask for what is at least as good as the last row kept: a lower tuple may still tie with it."""
        just_below = np.nextafter(value[last], -np.inf)
        if self._by_variable:
            self._thresholds[variable[last]] = np.maximum(self._thresholds[variable[last]], just_below)
        elif len(last):
            np.maximum(self._thresholds, just_below[0], out=self._thresholds)


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
