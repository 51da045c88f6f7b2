import datetime
import decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from interplay.data.study.columns import ColumnKind, decision_column
from interplay.data.study.table import as_table

NUMBER, BOOL, LABEL = ColumnKind.NUMBER, ColumnKind.BOOL, ColumnKind.LABEL


def whole(X, **options):
    table = as_table(X, **options)
    return table.block(0, table.n_vars)


NUMERIC_DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", ">f8", ">i4"]


@pytest.mark.parametrize("dtype", NUMERIC_DTYPES)
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed"])
def test_numpy_blocks_hold_the_columns(dtype, layout):
    X = np.arange(60).reshape(12, 5).astype(dtype)
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "strided":
        X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "reversed":
        X = X[::-1, ::-1]
    table = as_table(X)
    assert (table.n_samples, table.n_vars) == (12, 5)
    assert table.names == ["x0", "x1", "x2", "x3", "x4"]
    block = table.block(1, 4)
    assert block.flags.c_contiguous
    assert block.dtype == table.dtype
    assert block.dtype.isnative
    assert block.dtype.itemsize == (4 if dtype == "f2" else X.dtype.itemsize)
    np.testing.assert_array_equal(block, X[:, 1:4].T)
    np.testing.assert_array_equal(table.columns(np.array([4, 0, 0])), X[:, [4, 0, 0]].T)
    assert not table.is_label.any()


def test_fortran_order_is_read_in_place():
    X = np.asfortranarray(np.arange(60.0).reshape(12, 5))
    assert np.shares_memory(as_table(X).block(1, 3), X)


def test_memory_map_is_read_by_block(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(20.0).reshape(5, 4))
    X = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(as_table(X).block(2, 4), np.asarray(X)[:, 2:].T)


def test_bool_array_is_labels():
    X = np.array([[True, False], [False, False], [True, True]])
    table = as_table(X)
    assert (table.kinds == BOOL).all()
    np.testing.assert_array_equal(table.block(0, 2), X.T.astype(int))


@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_of_neighbouring_columns_give_a_copy(order):
    values = np.asarray(np.arange(60.0).reshape(6, 10), order=order)
    table = as_table(values)
    for which in ([2, 3, 4], [0, 1], [9], [3, 2], [-2, -1], []):
        read = table.columns(np.array(which, dtype=np.int64))
        np.testing.assert_array_equal(read, values.T[which])
        assert not np.shares_memory(read, values)


def test_list_of_rows_keeps_the_kind_of_each_column():
    table = as_table([[1.5, "b", True, 3], [2.5, "a", False, 4], [0.5, "b", True, 3]])
    assert table.kinds.tolist() == [NUMBER, LABEL, BOOL, NUMBER]
    np.testing.assert_array_equal(table.block(0, 4), [[1.5, 2.5, 0.5], [1, 0, 1], [1, 0, 1], [3, 4, 3]])


def test_object_array():
    X = np.array(
        [
            [1, "u", True, decimal.Decimal("1.5"), None],
            [None, np.nan, None, np.float32(2), np.nan],
            [np.int8(3), "t", np.bool_(False), 7, pd.NA],
            [2.5, pd.NA, True, True, pd.NaT],
        ],
        dtype=object,
    )
    table = as_table(X)
    nan = np.nan
    assert table.kinds.tolist() == [NUMBER, LABEL, BOOL, NUMBER, NUMBER]
    np.testing.assert_array_equal(
        table.block(0, 5), [[1, nan, 3, 2.5], [1, nan, 0, nan], [1, nan, 0, 1], [1.5, 2, 7, 1], [nan] * 4]
    )


@pytest.mark.parametrize("dtype", ["U3", "S3"])
def test_text_array(dtype):
    table = as_table(np.array([["b", "y"], ["a", "x"], ["b", "z"]], dtype=dtype))
    assert (table.kinds == LABEL).all()
    np.testing.assert_array_equal(table.block(0, 2), [[1, 0, 1], [1, 0, 2]])


def test_masked_array():
    X = np.ma.masked_equal([[1, 2], [3, 9], [9, 4]], 9)
    np.testing.assert_array_equal(whole(X), [[1, 3, np.nan], [2, np.nan, 4]])
    np.testing.assert_array_equal(whole(np.ma.masked_array([[1, 2], [3, 4]])), [[1, 3], [2, 4]])
    text = np.ma.masked_equal([["a", "-"], ["b", "c"]], "-")
    np.testing.assert_array_equal(whole(text), [[0, 1], [np.nan, 0]])


COLUMNS = {
    "real": [0.5, -1.5, 2.5, 0.0],
    "whole": [3, 1, 2, 3],
    "flag": [True, False, True, True],
    "text": ["pear", "apple", "fig", "apple"],
}
WANTED = np.array([[0.5, -1.5, 2.5, 0.0], [3, 1, 2, 3], [1, 0, 1, 1], [2, 0, 1, 0]])


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table, lambda c: pd.DataFrame(c).convert_dtypes()],
    ids=["pandas", "polars", "lazy", "pyarrow", "pandas nullable"],
)
def test_dataframes_agree(make):
    table = as_table(make(COLUMNS))
    assert table.names == list(COLUMNS)
    assert table.kinds.tolist() == [NUMBER, NUMBER, BOOL, LABEL]
    assert table.is_label.tolist() == [False, False, True, True]
    np.testing.assert_array_equal(table.block(0, 4), WANTED)
    np.testing.assert_array_equal(table.block(2, 3), WANTED[2:3])
    np.testing.assert_array_equal(table.columns(np.array([3, 1])), WANTED[[3, 1]])


GAPS = {
    "real": [0.5, None, 2.5],
    "whole": [3, None, 1],
    "flag": [True, None, False],
    "text": ["b", None, "a"],
}


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(GAPS),
        pd.DataFrame(GAPS).convert_dtypes(),
        pd.DataFrame(GAPS).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(GAPS),
        pa.table(GAPS),
    ],
    ids=["pandas", "nullable", "pandas pyarrow", "polars", "pyarrow"],
)
def test_missing_values_are_nan(frame):
    nan = np.nan
    np.testing.assert_array_equal(whole(frame), [[0.5, nan, 2.5], [3, nan, 1], [1, nan, 0], [1, nan, 0]])


def test_categories_keep_their_order_and_lose_the_unused():
    values = ["low", None, "high", "low", "top"]
    order = ["unused", "low", "high", "also unused", "top"]
    nan = np.nan
    frames = [
        pd.DataFrame({"a": pd.Categorical(values, categories=order, ordered=True)}),
        pl.DataFrame({"a": pl.Series(values, dtype=pl.Enum(order))}),
        pa.table({"a": pa.DictionaryArray.from_arrays(pa.array([1, None, 2, 1, 4]), order)}),
    ]
    for frame in frames:
        table = as_table(frame)
        assert table.kinds.tolist() == [LABEL]
        np.testing.assert_array_equal(table.block(0, 1), [[0, nan, 1, 0, 2]])
    # The order of a polars Categorical depends on what the process met before: levels are sorted instead.
    np.testing.assert_array_equal(
        whole(pl.DataFrame({"a": pl.Series(values, dtype=pl.Categorical)})), [[1, nan, 0, 1, 2]]
    )


def test_categories_need_not_be_text():
    frame = pd.DataFrame({"a": pd.Categorical([30, 10, 30, 20], categories=[30, 20, 10]), "b": pd.cut([1, 5, 9, 5], 3)})
    np.testing.assert_array_equal(whole(frame), [[0, 2, 0, 1], [0, 1, 2, 1]])


def test_chunked_dictionaries():
    chunks = pa.chunked_array([pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()])
    np.testing.assert_array_equal(whole(pa.table({"a": chunks})), [[0, 1, 2, 1]])


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array], ids=lambda m: m.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.bool_])
def test_sparse_equals_dense(make, dtype):
    X = (np.random.default_rng(0).integers(0, 4, (30, 9)) - 2).clip(0).astype(dtype)
    table = as_table(make(X))
    assert table.is_label.all() == (dtype is np.bool_)
    np.testing.assert_array_equal(table.block(2, 7), X[:, 2:7].T)
    np.testing.assert_array_equal(table.columns(np.array([8, 1])), X[:, [8, 1]].T)
    assert table.block(2, 7).flags.c_contiguous


def test_sparse_is_unpacked_by_block_only():
    # 80 GB if it were unpacked whole.
    X = sp.csc_array((100_000, 100_000), dtype=np.float64)
    assert as_table(X).block(3, 5).shape == (2, 100_000)


def test_sparse_pandas_columns():
    frame = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 0.0, 1.5]), "b": ["x", "y", "x"]})
    np.testing.assert_array_equal(whole(frame), [[0, 0, 1.5], [0, 1, 0]])


def test_mixed_dtypes_take_the_smallest_that_holds_all():
    frame = pd.DataFrame({"a": np.array([1, 2], np.int8), "b": np.array([0.5, 1.5], np.float32)})
    assert as_table(frame).dtype == np.float32
    assert as_table(pd.DataFrame({"a": np.array([1, 2], np.int8), "b": np.array([3, 4], np.int16)})).dtype == np.int16
    assert as_table(pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})).dtype == np.int64


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_large_whole_numbers_stay_apart_beside_floats(make):
    large = [2**62 + 1, 2**62, 2**62 + 2, -5]
    block = whole(make({"a": large, "b": [0.5, 1.5, 2.5, 3.5]}))
    assert np.argsort(block[0]).tolist() == np.argsort(large).tolist()
    assert len(set(block[0])) == 4
    block = whole(make({"a": pd.array([*large, None], dtype="Int64")})) if make is pd.DataFrame else block
    assert len({value for value in block[0] if value == value}) == 4
    block = whole([[value, "a"] for value in large])
    assert np.argsort(block[0]).tolist() == np.argsort(large).tolist()


def test_decimals_and_halves():
    frame = pa.table({"a": pa.array([decimal.Decimal("1.25"), None]), "b": pa.array(np.array([1.5, 2.5], np.float16))})
    np.testing.assert_array_equal(whole(frame), [[1.25, np.nan], [1.5, 2.5]])


def test_names():
    X = np.zeros((2, 3))
    assert as_table(X, names=["a", 1, ("b", 2)]).names == ["a", "1", "('b', 2)"]
    assert as_table(pd.DataFrame(X, columns=[10, 20, 30])).names == ["10", "20", "30"]
    two_levels = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert as_table(two_levels).names == ["('a', 1)", "('a', 2)", "('b', 1)"]
    assert as_table(pl.DataFrame({"a": [1]}), names=["renamed"]).names == ["renamed"]
    two_levels["text", ""] = ["u", "v"]
    np.testing.assert_array_equal(whole(two_levels)[3], [0, 1])


def test_a_table_is_passed_through():
    table = as_table(np.zeros((2, 3)))
    assert as_table(table) is table


def test_anndata():
    # anndata need not be installed: what counts is that a matrix comes with names of its columns.
    data = SimpleNamespace(
        X=sp.csr_matrix(np.eye(3)), obs_names=["s", "t", "u"], var_names=pd.Index(["g0", "g1", "g2"])
    )
    table = as_table(data)
    assert table.names == ["g0", "g1", "g2"]
    np.testing.assert_array_equal(table.block(0, 3), np.eye(3))


DATES = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)]


#: Before scipy 1.13 it is a row.
LINE = sp.coo_array(np.ones(3))
ONE_DIMENSIONAL_SPARSE = [(LINE, "X must be two-dimensional .* not 1-dimensional")] if LINE.ndim == 1 else []


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pl.Series([1, 2]), "X must be two-dimensional .*to_frame"),
        *ONE_DIMENSIONAL_SPARSE,
        (pd.DataFrame({"a": []}), "X has no samples"),
        (sp.csr_array((3, 0)), "X has no variables"),
        (np.array([[1, DATES[0]], [2, DATES[1]]], dtype=object), "column 'x1' of X holds dates or times"),
        (np.array([[1, 1j], [2, 2j]], dtype=object), "column 'x1' of X holds complex numbers"),
        (np.array([[1, datetime.timedelta(1)]], dtype=object), "column 'x1' of X holds time differences"),
        ([["a", 1], [1.5, 2]], "column 'x0' of X mixes float and str"),
        (np.array([[object()]], dtype=object), "column 'x0' of X holds values of type object"),
        (pd.DataFrame({"a": [1, 2], "when": pd.to_datetime(DATES)}), "column 'when' of X holds dates or times"),
        (pl.DataFrame({"a": [1, 2], "when": DATES}), "column 'when' of X holds dates or times"),
        (pa.table({"a": [1, 2], "when": DATES}), "column 'when' of X holds dates or times"),
        (pd.DataFrame({"a": [1, 2], "z": [1j, 2j]}), "column 'z' of X holds complex numbers"),
        (pd.DataFrame(np.zeros((2, 2)), columns=["1", 1]), "X has more than one column named '1'"),
        (pa.table([[1], [2]], names=["a", "a"]), "X has more than one column named 'a'"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_errors(X, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        as_table(X)
    assert "\n" not in str(caught.value)


def test_names_must_match():
    with pytest.raises(ValueError, match="names must have one entry per variable of X: 1 names, 2 variables"):
        as_table(np.zeros((2, 2)), names=["a"])


@pytest.mark.parametrize("kind", ["objects", "decimals", "polars", "polars decimals"])
def test_exact_numbers_of_any_size_keep_their_order(kind):
    numbers = [10**30 + step for step in (2, 0, 1, 3)]
    decimals = [decimal.Decimal(number) for number in numbers]
    series = {
        "objects": lambda: np.array(numbers, dtype=object),
        "decimals": lambda: np.array(decimals, dtype=object),
        "polars": lambda: pl.Series("a", numbers, dtype=pl.Int128),
        "polars decimals": lambda: pl.Series("a", decimals, dtype=pl.Decimal(38, 0)),
    }[kind]()
    assert decision_column(series).read().tolist() == [2, 0, 1, 3]
