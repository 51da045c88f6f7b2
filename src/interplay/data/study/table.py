"""Anything table-like as a Table: names, kinds of columns, and blocks of columns as numbers.

A wide table is never copied whole. Each block is cut out, transposed and converted when it is asked for.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from interplay import _core
from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import check_encodable, check_int, shown
from interplay.base.text import name_among
from interplay.data.study.columns import (
    Column,
    ColumnKind,
    as_dtype,
    column_from_array,
    column_from_series,
    objects_from_masked,
    plain_dtype,
)

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

    from interplay.data.study.columns import LabelDoubt

Values = npt.NDArray[Any]
Which = slice | IntArray
Found = TypeVar("Found")

#: The entry of a pandas table's ``attrs`` that becomes `Table.samples_left_out`.
SAMPLES_LEFT_OUT = "interplay.samples_left_out"

#: The entry of a pandas table's ``attrs`` that becomes `Table.labels`.
LABELS = "interplay.labels"

#: Samples that are transposed at a time: few enough that all cache lines they touch stay in cache.
_STRIP = 128


#: A missing value among whole numbers of one byte.
MISSING_WHOLE = -128


class Table(ABC):
    """Samples by variables, read by blocks of variables.

    Attributes
    ----------
    n_samples, n_vars : int
    names : list of str
        One per variable, all different.
    kinds : (n_vars,) int8
        A `ColumnKind` per variable.
    dtype : numpy.dtype
        Of every block.
    sample_columns : mapping
        Further properties of the samples, by name, such as `.obs` of an AnnData: no variables, but `y` and `strata` may
        name them.
    index : pandas Index or None
        Labels of the samples, such as the lines of a file that they come from.
    samples_left_out : int
        Number of samples of the file that its reader left out, for the record.
    """

    sample_columns: Mapping[str, Any] = MappingProxyType({})
    index: Any = None
    samples_left_out: int = 0
    #: What variables are called by people, by name: question texts, symbols of the genes of probes.
    labels: Mapping[str, str] = MappingProxyType({})
    #: How many samples and variables of the file filters left out, by the filter in words.
    filters: Mapping[str, int] = MappingProxyType({})
    #: Names of the samples in the file or object that holds the table, if it has any.
    sample_names: Any = None

    def __init__(self, n_samples: int, names: list[str], kinds: npt.NDArray[np.int8], dtype: np.dtype[Any]) -> None:
        self.n_samples = n_samples
        self.n_vars = len(names)
        self.names = names
        self.kinds = kinds
        self.dtype = dtype
        self._found_out: dict[Hashable, Any] = {}

    def once(self, what: Hashable, find_out: Callable[[], Found]) -> Found:
        """Return what was found out about all values, made once: a table may be searched for many outcomes."""
        if what not in self._found_out:
            self._found_out[what] = find_out()
        found: Found = self._found_out[what]
        return found

    @cached_property
    def is_label(self) -> BoolArray:
        """Which variables are bool, categorical or text rather than numbers, (n_vars,)."""
        is_label: BoolArray = self.kinds != ColumnKind.NUMBER
        return is_label

    @property
    def numbers(self) -> IntArray:
        """The variables' numbers in the streams of random numbers, (n_vars,)."""
        return np.arange(self.n_vars, dtype=np.int64)

    @property
    def positions(self) -> list[tuple[str, float]] | None:
        """Chromosome and position of each variable, where they are known."""
        return None

    @property
    def alleles(self) -> list[tuple[str, str]] | None:
        """Of genotypes, the allele that is counted and the other one; None of other tables."""
        return None

    @abstractmethod
    def columns(self, which: Which) -> Values:
        """Return the variables `which` as a C-contiguous (n_chosen, n_samples) array of `dtype`.

        Labels come as numbers of their levels, missing values as NaN. The array may be the user's own memory: never
        write to it.
        """

    def level_names(self, number: int) -> list[str] | None:
        """Return the names of the levels of a bool, categorical or text variable; None for numbers."""
        levels = self.column(number).levels
        return None if levels is None else [str(level) for level in levels]

    def column(self, v: int) -> Column:
        """Return variable `v` with the names of its levels, where they are known."""

        def read() -> Values:
            values: Values = self.columns(slice(v, v + 1))[0]
            return values

        kind = ColumnKind(self.kinds[v])
        return Column(kind, self.dtype, read, [False, True] if kind == ColumnKind.BOOL else None)

    def numbers_of(self, columns: Iterable[Any], argument: str) -> list[int]:
        """Turn names and numbers of columns, given as `argument`, into numbers."""
        number_of = {name: number for number, name in enumerate(self.names)}
        numbers = []
        for column in columns:
            if isinstance(column, str):
                name = name_among(number_of, column)
                if name not in number_of:
                    raise ValueError(f"{argument} names {shown(column)}, which is not a column of X")
                numbers.append(number_of[name])
            else:
                numbers.append(check_int(f"each column number in {argument}", column, low=0, high=self.n_vars - 1))
        return numbers

    def place(self, sample: int) -> str:
        """Say where a sample is in the terms of the table's source: by a line of a file, a label, or its number."""
        index = self.index
        if index is None:
            return f"sample {sample}"
        label = index[sample]
        return f"{index.name or 'sample'} {shown(label) if isinstance(label, str) else label}"

    @property
    def doubts(self) -> dict[str, LabelDoubt]:
        """Reasons to doubt that text variables hold labels, by the names of the variables in doubt."""
        return {}

    def block(self, start: int, stop: int) -> Values:
        """Return variables start ... stop - 1, (stop - start, n_samples); see `columns`."""
        return self.columns(slice(start, stop))

    @property
    def has_whole_numbers(self) -> bool:
        """Whether all variables are numbers of one byte, as genotypes are."""
        return False

    def whole_numbers(self, which: Which) -> npt.NDArray[np.int8] | None:
        """Return the variables `which` as numbers of one byte, if a table has them so: copies are small.

        Missing values are `MISSING_WHOLE`. None where a table has other numbers. Never write to the array.
        """
        return None


class ArrayTable(Table):
    """A table whose columns all have one numeric or bool dtype.

    `read` takes a slice or numbers of columns and returns them, (n_samples, n_chosen), in any memory order.
    """

    def __init__(self, read: Callable[[Which], Values], n_samples: int, names: list[str], dtype: np.dtype[Any]) -> None:
        kind = ColumnKind.BOOL if dtype.kind == "b" else ColumnKind.NUMBER
        super().__init__(n_samples, names, np.full(len(names), kind, dtype=np.int8), plain_dtype(dtype))
        self._read = read

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        block = _block_of(which)
        if block is None:
            return _transposed(self._read(which), self.dtype)
        values = _transposed(self._read(block), self.dtype)
        return values if values.base is None else values.copy()  # numbers of columns have always given a copy


def _block_of(which: Which) -> slice | None:
    """Return the slice that numbers of columns stand for, if any: it is read in a quarter of the time."""
    if not isinstance(which, np.ndarray) or which.dtype.kind not in "iu" or len(which) < 2:
        return None
    first, last = int(which[0]), int(which[-1])
    return slice(first, last + 1) if first >= 0 and np.array_equal(which, np.arange(first, last + 1)) else None


def doubts_of(columns: Iterable[tuple[str, Column]]) -> dict[str, LabelDoubt]:
    """Return the doubts about the labels of some columns, by name."""
    return {name: column.doubt for name, column in columns if column.doubt is not None}


def _transposed(values: Values, dtype: np.dtype[Any]) -> Values:
    """Return `values`, transposed, as a C-contiguous array of `dtype`: the same memory where possible."""
    if values.dtype == dtype and values.flags.f_contiguous:
        return values.T
    by_column = np.empty(values.shape[::-1], dtype=dtype)
    size = dtype.itemsize
    has_whole_rows = values.strides[1] == size and values.strides[0] % size == 0 and values.flags.aligned
    if has_whole_rows and values.dtype == dtype and size in (1, 2, 4):  # larger items would be no faster
        _core.transpose(values.view(f"u{size}"), by_column.view(f"u{size}"))
        return by_column
    for start in range(0, len(values), _STRIP):
        by_column[:, start : start + _STRIP] = values[start : start + _STRIP].T
    return by_column


class ColumnTable(Table):
    """A table whose columns differ in kind."""

    def __init__(self, columns: list[Column], n_samples: int, names: list[str]) -> None:
        kinds = np.array([column.kind for column in columns], dtype=np.int8)
        dtype = np.result_type(*{column.dtype for column in columns})
        super().__init__(n_samples, names, kinds, dtype)
        self._columns = columns

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        chosen = range(self.n_vars)[which] if isinstance(which, slice) else which.tolist()
        values = np.empty((len(chosen), self.n_samples), dtype=self.dtype)
        for row, number in enumerate(chosen):
            values[row] = as_dtype(self._columns[number].read(), self.dtype)
        return values

    def column(self, v: int) -> Column:
        """Return variable `v` with the names of its levels."""
        return self._columns[v]

    @property
    def doubts(self) -> dict[str, LabelDoubt]:
        """Reasons to doubt that text variables hold labels, by the names of the variables in doubt."""
        return doubts_of(zip(self.names, self._columns, strict=True))


def as_table(X: Any, *, names: Iterable[Any] | None = None) -> Table:
    """Return `X` as a Table.

    - `X`, table-like, (n_samples, n_vars): a NumPy array of any order and dtype, a list of rows, a pandas or polars
      dataframe, a pyarrow Table, any other dataframe that narwhals knows, a SciPy sparse matrix or array, or an
      AnnData.
    - `names`: names of the variables. By default the names of the columns, or x0, x1, ... where there are none.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = as_table([[1.5, "a"], [2.5, "b"], [0.5, "a"]])
    >>> table.names, table.is_label.tolist()
    (['x0', 'x1'], [False, True])
    >>> table.block(0, 2)
    array([[1.5, 2.5, 0.5],
           [0. , 1. , 0. ]])
    """
    if isinstance(X, Table):
        return X
    from interplay.data.study.anndata_table import anndata_table, is_anndata

    if is_anndata(X):
        return anndata_table(X, names=names)
    if is_sparse(X):
        return _sparse_table(X, names)
    if isinstance(X, np.ndarray | list | tuple):
        return _array_table(X, names)
    if _is_pandas_frame(X):
        table = _pandas_table(X, names)
        is_counted = type(X.index).__name__ == "RangeIndex" and X.index.start == 0 and X.index.step == 1
        table.index = None if is_counted else X.index
        left_out = X.attrs.get(SAMPLES_LEFT_OUT)
        table.samples_left_out = left_out if isinstance(left_out, int) else 0
        if isinstance(labels := X.attrs.get(LABELS), dict):
            table.labels = labels
        return table

    if isinstance(getattr(X, "column_names", None), list):  # pyarrow, which allows repeated names as pandas does
        _names(X.column_names, len(X.column_names))

    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.Series):
        raise ValueError("X must be two-dimensional (samples by variables), not a single column: use X.to_frame()")
    if isinstance(frame, nw.DataFrame):
        return _frame_table(frame, names)
    return _array_table(X, names)


def _array_table(X: Any, names: Iterable[Any] | None) -> Table:
    array = _as_array(X)
    if array.ndim == 0:
        raise TypeError(f"X must be a table (array, dataframe, sparse matrix), not {type(X).__name__}")
    _check_dimensions(array)
    n_samples, n_vars = array.shape
    found = _checked_names(names, n_samples, n_vars)
    if isinstance(array, np.ma.MaskedArray):
        array = _unmasked(array)
    array = np.asarray(array)
    if array.dtype.kind in "biuf":
        return ArrayTable(lambda which: array[:, which], n_samples, found, array.dtype)
    return ColumnTable(
        [column_from_array(array[:, v], _column_of_X(found[v])) for v in range(n_vars)], n_samples, found
    )


def _as_array(X: Any) -> Values:
    """Return a list of rows, or anything NumPy can read, as an array that keeps each cell's own type."""
    if isinstance(X, np.ndarray):
        return X
    try:
        array = np.asanyarray(X)
    except ValueError:
        raise ValueError("X has rows of different lengths: give every sample one value per variable") from None
    # NumPy turns [1.5, "a"] into two texts; as objects, the number stays a number.
    return np.array(X, dtype=object) if array.dtype.kind in "UST" and isinstance(X, list | tuple) else array


def _unmasked(array: np.ma.MaskedArray[Any, Any]) -> Values:
    if not np.ma.is_masked(array):
        return np.asarray(array.data)
    if array.dtype.kind in "biuf":
        return np.asarray(np.ma.filled(array.astype(np.result_type(array.dtype, np.float32)), np.nan))
    return objects_from_masked(array)


def _sparse_table(X: Any, names: Iterable[Any] | None) -> Table:
    _check_dimensions(X)
    n_samples, n_vars = X.shape
    found = _checked_names(names, n_samples, n_vars)
    if X.dtype.kind not in "biuf":
        raise TypeError(f"{_column_of_X(found[0])} holds {X.dtype}: a sparse X must hold numbers or bools")
    by_column = sound_sparse(X).tocsc()
    # A transposed CSC is a CSR, which unpacks straight into rows.
    return ArrayTable(lambda which: by_column[:, which].T.toarray().T, n_samples, found, X.dtype)


def sound_sparse(X: Any) -> Any:
    """Return a sparse matrix, compressed or by coordinates, whose indices were checked.

    SciPy's compiled code trusts them, and would read and write outside its memory.
    """
    try:
        checked = X if X.format in ("csr", "csc") else X.tocoo()
    except ValueError:  # blocks that point outside
        checked = None
    if checked is None or not _has_sound_indices(checked):
        raise ValueError("X is a damaged sparse matrix: its indices point outside it; make or copy it again")
    return checked


def _has_sound_indices(X: Any) -> bool:
    if X.format == "coo":
        rows, columns = X.row, X.col
        has_pairs = len(rows) == len(columns) == len(X.data)
        return has_pairs and _is_within(rows, X.shape[0]) and _is_within(columns, X.shape[1])
    n_pointers, n_others = X.shape if X.format == "csr" else X.shape[::-1]
    pointers = X.indptr
    return (
        pointers.dtype.kind in "iu"
        and pointers.shape == (n_pointers + 1,)
        and pointers[0] == 0
        and bool((pointers[1:] >= pointers[:-1]).all())
        and int(pointers[-1]) <= len(X.indices) == len(X.data)
        and _is_within(X.indices, n_others)
    )


def _is_within(indices: Values, n: int) -> bool:
    """Say whether indices are whole numbers from 0 to n - 1."""
    return indices.dtype.kind in "iu" and (len(indices) == 0 or bool(indices.min() >= 0 and indices.max() < n))


def _pandas_table(X: Any, names: Iterable[Any] | None) -> Table:
    n_samples, n_vars = X.shape
    found = _checked_names(X.columns if names is None else names, n_samples, n_vars)
    dtypes = list(X.dtypes)
    first = dtypes[0]
    if isinstance(first, np.dtype) and first.kind in "biuf" and all(dtype == first for dtype in dtypes):
        return ArrayTable(lambda which: X.iloc[:, which].to_numpy(), n_samples, found, first)

    import narwhals.stable.v2 as nw

    def series(v: int) -> nw.Series[Any]:
        return nw.from_native(X.iloc[:, v], series_only=True)

    columns = []
    for v, dtype in enumerate(dtypes):
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
            # No need to look at the values yet: most columns of a wide table end here.
            read = partial(_read_pandas_numbers, X, v, plain_dtype(dtype))
            columns.append(Column(ColumnKind.NUMBER, plain_dtype(dtype), read))
        else:
            columns.append(column_from_series(partial(series, v), _column_of_X(found[v])))
    return ColumnTable(columns, n_samples, found)


def _read_pandas_numbers(X: Any, v: int, dtype: np.dtype[Any]) -> Values:
    values: Values = X.iloc[:, v].to_numpy()
    return values.astype(dtype, copy=False)


def _frame_table(frame: nw.DataFrame[Any], names: Iterable[Any] | None) -> Table:
    n_samples, n_vars = frame.shape
    found = _checked_names(frame.columns if names is None else names, n_samples, n_vars)
    columns = [
        column_from_series(partial(frame.get_column, native_name), _column_of_X(name))
        for native_name, name in zip(frame.columns, found, strict=True)
    ]
    return ColumnTable(columns, n_samples, found)


def _names(names: Iterable[Any] | None, n_vars: int) -> list[str]:
    """Return one name per variable as text, all different."""
    if names is None:
        return [f"x{v}" for v in range(n_vars)]
    found = [str(name) for name in names]
    if len(found) != n_vars:
        raise ValueError(f"names must have one entry per variable of X: {len(found)} names, {n_vars} variables")
    if len(set(found)) < n_vars:
        repeated = next(name for name, count in Counter(found).items() if count > 1)
        raise ValueError(f"X has more than one column named {shown(repeated)}: give each column a name of its own")
    check_encodable("the name of a column of X", found)
    return found


def check_names(names: Iterable[Any], *, n_samples: int) -> list[str]:
    """Return the names of a table's columns as text, all different; refuse a table without columns or samples."""
    listed = list(names)
    return _checked_names(listed, n_samples, len(listed))


def _checked_names(names: Iterable[Any] | None, n_samples: int, n_vars: int) -> list[str]:
    found = _names(names, n_vars)
    if n_samples == 0:
        raise ValueError("X has no samples: give at least one row")
    if n_vars == 0:
        raise ValueError("X has no variables: give at least one column")
    return found


def _column_of_X(name: str) -> str:
    return f"column {shown(name)} of X"


def _check_dimensions(array: Any) -> None:
    if array.ndim == 2:
        return
    advice = "X.reshape(-1, 1) for one variable" if array.ndim == 1 else "X.reshape(len(X), -1) to flatten each sample"
    raise ValueError(
        f"X must be two-dimensional (samples by variables), not {array.ndim}-dimensional: reshape it, {advice}"
    )


def is_sparse(X: Any) -> bool:
    """Say whether X is sparse, without importing scipy.sparse: a program with a sparse X has imported it."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _is_pandas_frame(X: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(X, pandas.DataFrame)
