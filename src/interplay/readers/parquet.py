"""Parquet files as tables that are read by blocks of columns; Feather and Arrow files as pyarrow tables."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import check_file, check_list, needing, reading, shown
from interplay.data.study.columns import Column, ColumnKind, as_dtype, column_from_series, plain_dtype
from interplay.data.study.table import Table, Values, Which, check_names, doubts_of

if TYPE_CHECKING:
    import pyarrow as pa

    from interplay.data.study.columns import LabelDoubt

#: Columns of labels are read when the file is opened, this many at a time.
_COLUMNS_AT_ONCE = 64


class ParquetTable(Table):
    """The columns of a Parquet file. Numbers stay in the file; labels are kept as the numbers of their levels."""

    def __init__(self, file: Any, names: list[str], path: str | os.PathLike[str]) -> None:
        self._file = file
        self._path = path
        self._lock = threading.Lock()  # pyarrow's reader is not thread-safe
        schema = file.schema_arrow
        has_gaps = _columns_with_gaps(file.metadata)
        self._dtypes: dict[str, np.dtype[Any]] = {}
        self._labels: dict[str, Column] = {}
        for name in names:
            dtype = _number_dtype(schema.field(name).type)
            if dtype is not None:
                gaps = has_gaps.get(name, True) and dtype.kind in "iu"
                self._dtypes[name] = np.result_type(dtype, np.float32) if gaps else dtype
        others = [name for name in names if name not in self._dtypes]
        for start in range(0, len(others), _COLUMNS_AT_ONCE):
            part = others[start : start + _COLUMNS_AT_ONCE]
            frame = self._read(part)
            for name in part:
                self._labels[name] = _loaded(frame, name)
        kinds = [self._labels[name].kind if name in self._labels else ColumnKind.NUMBER for name in names]
        dtypes = {*self._dtypes.values(), *(column.dtype for column in self._labels.values())}
        super().__init__(file.metadata.num_rows, names, np.array(kinds, dtype=np.int8), np.result_type(*dtypes))

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        numbers = range(self.n_vars)[which] if isinstance(which, slice) else which.tolist()
        chosen = [self.names[v] for v in numbers]
        in_file = list(dict.fromkeys(name for name in chosen if name in self._dtypes))
        frame = self._read(in_file) if in_file else None
        values = np.empty((len(chosen), self.n_samples), dtype=self.dtype)
        for row, name in enumerate(chosen):
            if name in self._labels:
                read = self._labels[name].read()
            else:
                read = _numbers(frame.column(name), self._dtypes[name])  # type: ignore[union-attr]
            values[row] = as_dtype(read, self.dtype)
        return values

    def column(self, v: int) -> Column:
        """Return variable `v` with the names of its levels."""
        name = self.names[v]
        return self._labels[name] if name in self._labels else super().column(v)

    @property
    def doubts(self) -> dict[str, LabelDoubt]:
        """Reasons why text columns may not be labels, by the names of the columns in doubt."""
        return doubts_of(self._labels.items())

    def _read(self, names: list[str]) -> pa.Table:
        with self._lock, _readable(self._path):
            frame = self._file.read(columns=names, use_threads=False)
            # Text of a damaged file may point outside its memory. Text is read once, when the file is opened.
            frame.select([name for name in names if name not in self._dtypes]).validate(full=True)
            if frame.num_rows != self._file.metadata.num_rows:
                raise ValueError(f"{os.fspath(self._path)!r} is damaged: its metadata give another number of rows")
            return frame


def _readable(path: str | os.PathLike[str]) -> AbstractContextManager[None]:
    import pyarrow as pa

    return reading(path, "a Parquet file that can be read", (pa.ArrowException, OSError))


def scan_parquet(path: str | os.PathLike[str], *, columns: Sequence[str] | None = None) -> ParquetTable:
    """Open a Parquet file as a table for `select`, to be read by blocks of columns.

    Parameters
    ----------
    path : path
    columns : list of str, optional
        Columns to take; all if not given.

    Returns
    -------
    ParquetTable
        ``y`` and ``strata`` of `select` may name columns of the file, which are then not variables.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import polars as pl
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> frame = pl.DataFrame({f"gene{v}": rng.normal(size=300) for v in range(20)})
    >>> frame = frame.with_columns(ill=(pl.col("gene3") > 0) ^ (pl.col("gene9") > 0))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.parquet"
    >>> frame.write_parquet(path)
    >>> result = interplay.select(interplay.parquet.scan_parquet(path), "ill", random_state=0)
    >>> sorted(result.relevant)
    ['gene3', 'gene9']
    """
    with needing("pyarrow", "parquet", "reading Parquet files needs"):
        import pyarrow.parquet as pq
    check_file("path", path)
    with _readable(path):
        file = pq.ParquetFile(path)
    in_file = check_names(file.schema_arrow.names, n_samples=file.metadata.num_rows)
    if columns is None:
        return ParquetTable(file, in_file, path)
    names = check_names(check_list("columns", columns, of="names"), n_samples=file.metadata.num_rows)
    known = set(in_file)
    for name in names:
        if name not in known:
            raise ValueError(f"columns names {shown(name)}, which is not a column of {os.fspath(path)!r}")
    return ParquetTable(file, names, path)


def _loaded(frame: pa.Table, name: str) -> Column:
    import narwhals.stable.v2 as nw

    series = nw.from_native(frame.column(name), series_only=True)
    return column_from_series(lambda: series, f"column {shown(name)} of X")


def _number_dtype(kind: pa.DataType) -> np.dtype[Any] | None:
    """Return the dtype of a column of plain numbers; None for all other columns."""
    import pyarrow as pa

    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    return plain_dtype(np.dtype(kind.to_pandas_dtype()))


def _columns_with_gaps(metadata: Any) -> dict[str, bool]:
    """Say of each column whether values may be missing, by the statistics of its row groups."""
    has_gaps: dict[str, bool] = {}
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for number in range(metadata.num_columns):
            part = row_group.column(number)
            known = part.is_stats_set and part.statistics.has_null_count
            gap = not known or part.statistics.null_count > 0
            name = part.path_in_schema
            has_gaps[name] = has_gaps.get(name, False) or gap
    return has_gaps


def _numbers(values: pa.ChunkedArray, dtype: np.dtype[Any]) -> Values:
    """Return numbers as an array, NaN where missing."""
    if values.null_count and dtype.kind == "f":
        import narwhals.stable.v2 as nw

        series = nw.from_native(values, series_only=True)
        if series.dtype.is_integer():
            filled = as_dtype(series.fill_null(0).to_numpy(), dtype)
            return np.where(series.is_null().to_numpy(), dtype.type(np.nan), filled)
    return as_dtype(values.to_numpy(), dtype)


def import_pyarrow() -> Any:
    """Return pyarrow, or say how to install it."""
    with needing("pyarrow", "parquet", "parquet and feather files need"):
        import pyarrow
    return pyarrow


def read_feather(path: str | os.PathLike[str]) -> Any:
    """Read a Feather or Arrow file, without the row names that pandas stores in it."""
    pyarrow = import_pyarrow()
    try:
        from pyarrow.feather import read_table

        table = read_table(path)
        table.validate(full=True)  # text of a damaged file may point outside its memory
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{os.fspath(path)!r} is not a feather file, or is damaged: {reason}") from None
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
