"""X: shapes, kinds and layouts of tables."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse as sp

import interplay
from hostile.case import Area, refused, same
from hostile.data import CODES, FRAME, N_SAMPLES, N_VARS, X, Y, gains, selected, with_value


class Subclass(np.ndarray):
    """An array whose owner added something."""


def misaligned():
    """Values that do not start at a multiple of their size."""
    memory = np.zeros(X.nbytes + 1, dtype=np.uint8)
    memory[1:] = np.frombuffer(X.tobytes(), dtype=np.uint8)
    return memory[1:].view(X.dtype).reshape(X.shape)


def read_only():
    array = X.copy()
    array.flags.writeable = False
    return array


def objects(kind):
    return np.array([[kind(float(value)) for value in row] for row in X], dtype=object)


def ranks(values):
    """Whatever keeps the order of each column gives the same gains."""
    return np.stack([np.unique(column, return_inverse=True)[1] for column in values.T], axis=1)


def large_integers(dtype, low, high):
    """Neighbours that a float could not tell apart, at both ends of the range."""
    from_low, from_high = (np.argsort(np.argsort(X, axis=0), axis=0) for _ in range(2))
    return np.where(X < 0, from_low.astype(object) + low, high - N_SAMPLES + from_high.astype(object)).astype(dtype)


INT64 = large_integers(np.int64, -(2**63), 2**63 - 1)
UINT64 = large_integers(np.uint64, 0, 2**64 - 1)
SPARSE = np.where(np.abs(X) < 0.8, 0.0, X)
STRUCTURED = np.zeros(N_SAMPLES, dtype=[("a", float), ("b", int)])
WIDE = np.random.default_rng(1).integers(0, 2, size=(12, 10**6)).astype(np.uint8)


def sparse_with_repeats():
    """Each value given as two halves, which a COO adds up."""
    rows, columns = np.nonzero(SPARSE)
    halves = SPARSE[rows, columns] / 2
    return sp.coo_array((np.r_[halves, halves], (np.r_[rows, rows], np.r_[columns, columns])), shape=SPARSE.shape)


def sparse_with_an_index_outside():
    made = sp.csr_array(X)
    made.indices[5] = 10**9
    return made


def sparse_with_zeros():
    stored = sp.csr_array(np.ones_like(SPARSE))
    stored.data[:] = SPARSE.ravel()
    return stored


def frame_with(**column):
    return FRAME.assign(**column)


AS_PLAIN = "the plain float64 array"

AREA = Area(
    "Tables (`X`)",
    [
        # --- No table at all
        refused("`None`", lambda: gains(None), "^X must be a table"),
        refused("a number", lambda: gains(3.5), "^X must be a table"),
        refused("a text", lambda: gains("data.csv"), "^X must be a table"),
        refused("a dict of columns", lambda: gains({"a": [1, 2]}), "^X must be a table"),
        refused("a generator of rows", lambda: gains(row for row in X), "^X must be a table"),
        refused("a function", lambda: gains(print), "^X must be a table"),
        refused("a class", lambda: gains(pd.DataFrame), "^X must be a table"),
        refused("a zero-dimensional array", lambda: gains(np.array(1.0)), "^X must be a table"),
        # --- Shapes
        refused("one dimension", lambda: gains(X[:, 0]), "^X must be two-dimensional"),
        refused("a pandas Series", lambda: gains(FRAME["v0"]), "^X must be two-dimensional"),
        refused("three dimensions", lambda: gains(X[None]), "^X must be two-dimensional"),
        refused("a list of numbers", lambda: gains([1.0, 2.0]), "^X must be two-dimensional"),
        refused("an empty list", lambda: gains([]), "^X "),
        refused("a list of empty rows", lambda: gains([[], []]), "^X has no variables"),
        refused("rows of different lengths", lambda: gains([[1.0, 2.0], [3.0]]), "^X has rows of different lengths"),
        refused("no rows", lambda: gains(X[:0], Y[:0]), "^X has no samples"),
        refused("no columns", lambda: gains(X[:, :0]), "^X has no variables"),
        refused("one row", lambda: gains(X[:1], Y[:1]), "^y has one class only"),
        refused("one column in 2D", lambda: gains(X[:, :1]), "^dimensions=2 needs at least 2 variables"),
        refused("a sparse matrix without rows", lambda: gains(sp.csr_array((0, 5)), []), "^X has no samples"),
        refused("a polars frame without columns", lambda: gains(pl.DataFrame()), "^X has no"),
        same(
            "a million columns, in 1D",
            lambda: gains(WIDE, np.arange(12) % 2, dimensions=1).gain[[0, 500_000, 999_999]],
            "its first, middle and last column alone",
            lambda: gains(WIDE[:, [0, 500_000, 999_999]], np.arange(12) % 2, dimensions=1).gain,
        ),
        # --- Kinds of values
        refused("complex numbers", lambda: gains(X + 0j), "^column 'x0' of X holds complex numbers"),
        refused("dates", lambda: gains(X.astype("M8[s]")), "^column 'x0' of X holds dates"),
        refused("time differences", lambda: gains(X.astype("m8[s]")), "^column 'x0' of X holds time differences"),
        refused("raw bytes (void)", lambda: gains(np.zeros((60, 5), "V3")), "^column 'x0' of X holds values of no"),
        refused("a structured array", lambda: gains(STRUCTURED), "^X must be two-dimensional"),
        refused(
            "a two-dimensional structured array",
            lambda: gains(np.zeros((60, 2), STRUCTURED.dtype)),
            "^column 'x0' of X holds values of no usable kind",
        ),
        refused(
            "a sparse matrix with an index outside",
            lambda: gains(sparse_with_an_index_outside()),
            "^X is a damaged sparse matrix: its indices point outside it",
        ),
        refused("complex sparse values", lambda: gains(sp.csr_array(X + 0j)), "^column 'x0' of X holds complex128"),
        refused("lists in cells", lambda: gains(frame_with(bad=[[1]] * 60)), "^column 'bad' of X holds nested"),
        refused("dicts in cells", lambda: gains(frame_with(bad=[{}] * 60)), "^column 'bad' of X holds nested"),
        refused("tuples in cells", lambda: gains(frame_with(bad=[(1, 2)] * 60)), "^column 'bad' of X holds nested"),
        refused("functions in cells", lambda: gains(frame_with(bad=[print] * 60)), "^column 'bad' of X holds values"),
        refused("numbers and texts mixed", lambda: gains(frame_with(bad=[1, "a"] * 30)), "^column 'bad' of X mixes"),
        refused("text and bytes mixed", lambda: gains(frame_with(bad=["a", b"a"] * 30)), "^column 'bad' of X mixes"),
        refused(
            "Python dates", lambda: gains(frame_with(bad=[datetime.date(2020, 1, 1)] * 60)), "'bad' of X holds dates"
        ),
        refused("whole numbers beyond float64", lambda: gains([[10**400, 1]] * 60), "'x0' of X holds numbers beyond"),
        refused(
            "an identifier of 300 texts",
            lambda: gains([[str(i)] for i in range(300)], np.arange(300) % 2, dimensions=1),
            "^column 'x0' of X has 300 levels",
        ),
        refused("a pandas interval column", lambda: gains(frame_with(bad=pd.cut(X[:, 0], 3).astype(object))), "'bad'"),
        refused("a pandas period column", lambda: gains(frame_with(bad=pd.period_range("2020", periods=60))), "'bad'"),
        refused("a polars list column", lambda: gains(pl.DataFrame({"a": X[:, 0], "bad": [[1]] * 60})), "'bad' of X"),
        refused("a polars struct column", lambda: gains(pl.DataFrame({"bad": [{"q": 1}] * 60})), "'bad' of X"),
        refused("Arrow text that is not UTF-8", lambda: gains(not_utf8()), "^column 'bad' of X holds text that is not"),
        refused("a column repeated by name", lambda: gains(FRAME.rename(columns={"v1": "v0"})), "column named 'v0'"),
        same("bool", lambda: gains(X > 0), "0 and 1", lambda: gains((X > 0).astype(int), discrete="all")),
        same("float16", lambda: gains(X.astype(np.float16)), "float32", lambda: gains(X.astype("f2").astype("f4"))),
        same("long double", lambda: gains(X.astype(np.longdouble)), AS_PLAIN, gains),
        same("Fractions", lambda: gains(objects(fractions.Fraction)), AS_PLAIN, gains),
        same("Decimals", lambda: gains(objects(decimal.Decimal)), AS_PLAIN, gains),
        same("Python floats in an object array", lambda: gains(X.astype(object)), AS_PLAIN, gains),
        same("int64 at both ends of its range", lambda: gains(INT64), "its ranks", lambda: gains(ranks(INT64))),
        same("uint64 at both ends of its range", lambda: gains(UINT64), "its ranks", lambda: gains(ranks(UINT64))),
        same(
            "uint64 beside int64 columns",
            lambda: gains(frame_with(big=UINT64[:, 0])),
            "the ranks of the large numbers",
            lambda: gains(frame_with(big=ranks(UINT64)[:, 0])),
        ),
        same(
            "Python integers beyond 64 bits",
            lambda: gains(INT64.astype(object) * 10**20),
            "their ranks",
            lambda: gains(ranks(INT64)),
        ),
        same("infinities", lambda: gains(with_value(np.inf)), "a number above all", lambda: gains(with_value(1e308))),
        same(
            "a column of −∞ and ∞",
            lambda: gains(np.where(X < 0, -np.inf, np.inf)),
            "−1 and 1",
            lambda: gains(np.where(X < 0, -1, 1)),
        ),
        same(
            "numbers below 1e-308",
            lambda: gains(X * 5e-324 * 2**40),
            "their ranks",
            lambda: gains(ranks(X * 5e-324 * 2**40)),
        ),
        same(
            "−0.0 among zeros", lambda: gains(np.where(X < 0, -0.0, X)), "0.0", lambda: gains(np.maximum(X, 0.0) + 0.0)
        ),
        same(
            "constant columns",
            lambda: gains(np.zeros_like(X)).gain,
            "no gain",
            lambda: gains(np.zeros_like(X), 1 - Y).gain,
        ),
        same("bytes", lambda: gains(CODES.astype("S")), "text", lambda: gains(CODES.astype("U"))),
        same("text", lambda: gains(CODES.astype("U")), "the numbers of the levels", lambda: gains(CODES)),
        same(
            "texts that are empty or blank",
            lambda: gains(np.array(["", " ", "\t"])[CODES]),
            "the numbers of the levels",
            lambda: gains(np.array([0, 2, 1])[CODES]),
        ),
        same(
            "texts of a million letters",
            lambda: gains(np.array(["a" * 10**6, "b" * 10**6, "c"], object)[CODES]),
            "the numbers of the levels",
            lambda: gains(CODES),
        ),
        # --- Missing values
        refused("NaN", lambda: gains(with_value(np.nan)), r"^X has 1 missing value in 1 column \('x2'\)"),
        refused("None among numbers", lambda: gains(with_value(np.nan).astype(object)), r"^X has 1 missing .*'x2'"),
        refused(
            "a column of NaN",
            lambda: gains(np.full_like(X, np.nan)),
            "^columns 'x0', 'x1', .* of X have only missing values",
        ),
        refused("pandas.NA", lambda: gains(FRAME.astype("Float64").mask(FRAME > 2)), r"^X has \d+ missing"),
        refused(
            "nulls in a polars frame", lambda: gains(pl.DataFrame({"a": [1, None] * 30, "b": X[:, 0]})), "^X has 30"
        ),
        refused("a masked array", lambda: gains(np.ma.masked_greater(X, 2)), r"^X has \d+ missing values"),
        refused(
            "imputing a column of NaN", lambda: gains(np.full_like(X, np.nan), missing="impute"), "^missing='impute'"
        ),
        same(
            'a masked array, `missing="level"`',
            lambda: gains(np.ma.masked_greater(X, 2), missing="level"),
            "NaN in these places",
            lambda: gains(np.where(X > 2, np.nan, X), missing="level"),
        ),
        same("a masked array with nothing masked", lambda: gains(np.ma.array(X)), AS_PLAIN, gains),
        same(
            '`pandas.NA`, `missing="level"`',
            lambda: gains(FRAME.astype("Float64").mask(FRAME > 2), missing="level"),
            "NaN in these places",
            lambda: gains(np.where(X > 2, np.nan, X), missing="level"),
        ),
        same(
            'a column of NaN, `missing="level"`',
            lambda: gains(with_nan_column(), missing="level"),
            "a constant column",
            lambda: gains(with_nan_column(0.0)),
        ),
        # --- Layouts
        same("Fortran order", lambda: gains(np.asfortranarray(X)), AS_PLAIN, gains),
        same("negative strides", lambda: gains(X[::-1, ::-1].copy()[::-1, ::-1]), AS_PLAIN, gains),
        same(
            "every second row and column of a larger array",
            lambda: gains(np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2]),
            AS_PLAIN,
            gains,
        ),
        same(
            "strides of zero",
            lambda: gains(np.broadcast_to(X[:, :1], (60, 5))),
            "a copy",
            lambda: gains(np.repeat(X[:, :1], 5, axis=1)),
        ),
        same("misaligned memory", lambda: gains(misaligned()), AS_PLAIN, gains),
        same("read-only memory", lambda: gains(read_only()), AS_PLAIN, gains),
        same("the other byte order", lambda: gains(X.astype(X.dtype.newbyteorder())), AS_PLAIN, gains),
        same("int32 of the other byte order", lambda: gains(CODES.astype(">i4")), "int64", lambda: gains(CODES)),
        same("a subclass of ndarray", lambda: gains(X.view(Subclass)), AS_PLAIN, gains),
        same("`np.matrix`", lambda: gains(np.asmatrix(X)), AS_PLAIN, gains),
        same("a list of lists", lambda: gains(X.tolist()), AS_PLAIN, gains),
        same("a tuple of arrays", lambda: gains(tuple(X)), AS_PLAIN, gains),
        same("a memoryview", lambda: gains(memoryview(X)), AS_PLAIN, gains),
        same("numbered columns in pandas", lambda: gains(pd.DataFrame(X)), AS_PLAIN, gains),
        same("a polars LazyFrame", lambda: gains(pl.LazyFrame(X)), AS_PLAIN, gains),
        same("a pyarrow Table in chunks", lambda: gains(chunked()), AS_PLAIN, gains),
        same(
            "a transposed sparse matrix",
            lambda: gains(sp.csr_array(SPARSE.T).T),
            "the dense array",
            lambda: gains(SPARSE),
        ),
        same(
            "a COO matrix with repeated entries",
            lambda: gains(sparse_with_repeats()),
            "their sums",
            lambda: gains(SPARSE),
        ),
        same(
            "a sparse matrix that stores zeros",
            lambda: gains(sparse_with_zeros()),
            "the dense array",
            lambda: gains(SPARSE),
        ),
        same(
            "a sparse matrix without entries",
            lambda: gains(sp.csc_array((60, 5))),
            "zeros",
            lambda: gains(np.zeros((60, 5))),
        ),
        # --- Other functions that take a table
        refused("`discretize` of a dict", lambda: interplay.discretize({}), "^X must be a table"),
        refused("`discretize` of NaN", lambda: interplay.discretize(with_value(np.nan)), "^X has 1 missing value"),
        refused("`contrast_variables` of `None`", lambda: interplay.contrast_variables(None, 3), "^X must be a table"),
        refused(
            "`interesting_tuples` of one column", lambda: interplay.interesting_tuples(X[:, :1], Y), "^dimensions=2"
        ),
        refused(
            "`search_shard` of an empty table",
            lambda: interplay.search_shard(X[:0], [], dimensions=2, shard="1/2"),
            "^X has no",
        ),
        refused(
            '`select` of NaN with `missing="error"`',
            lambda: selected(with_value(np.nan), missing="error"),
            "^X has 1 missing value",
        ),
        same(
            "`select` of the other byte order", lambda: selected(X.astype(X.dtype.newbyteorder())), AS_PLAIN, selected
        ),
        same(
            "`select` of a read-only Fortran array",
            lambda: selected(np.asfortranarray(read_only())),
            AS_PLAIN,
            selected,
        ),
    ],
)


def with_nan_column(value=np.nan):
    changed = X.copy()
    changed[:, 2] = value
    return changed


def chunked():
    table = pa.table({f"v{v}": X[:, v] for v in range(N_VARS)})
    return pa.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7)])


def not_utf8():
    """Arrow takes the bytes of a text column at their word."""
    offsets = np.arange(N_SAMPLES + 1, dtype=np.int32)
    column = pa.Array.from_buffers(
        pa.string(), N_SAMPLES, [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"\xff" * N_SAMPLES)]
    )
    return pa.table({"bad": column})
