"""Fingerprints: other data, another fingerprint; the same data in another container, the same one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import interplay
from interplay.data.study.fingerprint import data_fingerprint
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.study import make_study
from interplay.data.study.table import as_table

N = 60
CLASSES = DecisionClasses(np.arange(N) % 2, [0, 1])
RNG = np.random.default_rng(0)
SMALL = RNG.integers(-1000, 1000, size=(N, 5))
LARGE = 2**60 + RNG.integers(0, 200, size=(N, 5))  # apart by less than a float64 can tell


def fingerprint(X):
    found = data_fingerprint(as_table(X), CLASSES)
    assert found == data_fingerprint(as_table(X), CLASSES, n_threads=3)
    return found


def changed(X, by=1):
    other = X.copy()
    other[7, 3] += X.dtype.type(by)
    return other


@pytest.mark.parametrize(
    ("X", "by"),
    [
        (LARGE, 1),
        (LARGE.astype(np.uint64), 1),
        (LARGE.astype(np.uint64) + np.uint64(2**63), 1),
        (-LARGE, 1),
        (np.full((N, 5), 2**63 - 2), 1),  # the float64 is 2**63, which int64 lacks
        (np.full((N, 5), 2**64 - 2, dtype=np.uint64), 1),
        (np.full((N, 5), 2**53), 1),
        (SMALL, 1),
        (SMALL.astype(np.float32), 0.5),
        (SMALL.astype(np.longdouble), np.longdouble(2) ** -40),
    ],
)
def test_one_value_that_differs_by_little_makes_another_fingerprint(X, by):
    assert not np.array_equal(X, changed(X, by))
    assert fingerprint(X) != fingerprint(changed(X, by))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long doubles are doubles here")
def test_digits_of_a_long_double_count():
    X = SMALL.astype(np.longdouble)
    assert fingerprint(X) == fingerprint(SMALL)
    assert fingerprint(X + np.longdouble(1e-30)) == fingerprint(X)  # nothing was added
    X = X + np.longdouble(2) ** -52
    assert fingerprint(X) != fingerprint(changed(X, np.longdouble(2) ** -53))
    huge = X * np.longdouble(10) ** 4000
    assert fingerprint(huge) != fingerprint(huge * 2)
    X[3, 2] = np.nan
    again = X.copy()
    again[3, 2] = -np.longdouble("nan")
    assert fingerprint(X) == fingerprint(again)


@pytest.mark.parametrize("X", [SMALL, LARGE, SMALL / 7, SMALL > 0, SMALL.astype(np.float32)])
def test_containers_do_not_matter(X, tmp_path):
    names = [f"x{v}" for v in range(5)]
    frame = pd.DataFrame(X, columns=names)
    frame.to_parquet(tmp_path / "table.parquet")
    parquet = interplay.parquet.scan_parquet(tmp_path / "table.parquet")
    others = [np.asfortranarray(X), frame, pl.from_pandas(frame), parquet, X.tolist(), X.astype(X.dtype.newbyteorder())]
    if X.dtype != bool:
        others.append(sp.csr_array(X))
    assert {fingerprint(other) for other in others} == {fingerprint(X)}


def test_dtypes_do_not_matter_where_values_are_the_same():
    X = SMALL.astype(np.int16)
    for dtype in (np.int32, np.int64, np.float32, np.float64, np.longdouble):
        assert fingerprint(X.astype(dtype)) == fingerprint(X)
    assert fingerprint(LARGE.astype(np.uint64)) == fingerprint(LARGE)
    even = LARGE // 2**12 * 2**12  # beyond 2**53, and each is a float64
    assert fingerprint(even) == fingerprint(even.astype(np.float64))


def test_columns_beside_each_other_do_not_matter():
    """Large whole numbers are told apart in a table of many kinds of columns, whatever it makes of them."""
    frame = pd.DataFrame({"a": LARGE[:, 0], "b": SMALL[:, 0] / 7, "c": ["u", "v"] * (N // 2)})
    other = frame.copy()
    other.loc[7, "a"] = 2**60 - 1
    assert fingerprint(frame) != fingerprint(other)
    with_gap = frame.astype({"a": "Int64"})
    with_gap.loc[3, "a"] = pd.NA
    other = with_gap.copy()
    other.loc[7, "a"] = 2**60 - 1
    assert fingerprint(with_gap) != fingerprint(other)


def test_labels_are_no_numbers():
    """Both are 0, 1, 2, ... inside, but labels are taken as they are and numbers are cut."""
    numbers = pd.DataFrame({"a": np.arange(N) % 20})
    labels = pd.DataFrame({"a": [f"{v:02}" for v in np.arange(N) % 20]})
    assert fingerprint(numbers) != fingerprint(labels)
    assert fingerprint(labels) == fingerprint(labels.astype("category")) == fingerprint(pl.from_pandas(labels))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64, np.longdouble])
def test_small_whole_numbers_are_told_apart(dtype):
    """They are hashed as one byte each, whatever their dtype; -128 there is a gap."""
    X = RNG.integers(-127, 128, size=(N, 200)).astype(dtype)
    assert fingerprint(X) == fingerprint(X.astype(np.int64))
    seen = {fingerprint(X)}
    for value in (-128, 0, 127) if dtype is np.int8 else (-128, 128, 255, 256, -129, 1000):
        other = X.copy()
        other[50, 130] = value if X[50, 130] != value else value - 1
        seen.add(fingerprint(other))
        assert fingerprint(other) == fingerprint(other.astype(np.float64))
    if np.dtype(dtype).kind == "f":
        for value in (0.5, np.inf, -np.inf, 1e300 if dtype is not np.float32 else 1e30):
            for row in (3, 50):
                other = X.copy()
                other[row, 130] = value
                seen.add(fingerprint(other))
        gap = X.copy()
        gap[50, 130] = np.nan
        seen.add(fingerprint(gap))
        assert len(seen) == 1 + 6 + 8 + 1
    else:
        assert len(seen) == (4 if dtype is np.int8 else 7)


def test_blocks_are_hashed_in_threads_each_in_its_place():
    genotypes = RNG.integers(0, 3, size=(N, 300)).astype(np.int8)
    expected = fingerprint(genotypes)
    assert data_fingerprint(as_table(genotypes), CLASSES, n_threads=4) == expected
    assert fingerprint(genotypes.astype(float)) == expected
    moved = np.concatenate([genotypes[:, 64:128], genotypes[:, :64], genotypes[:, 128:]], axis=1)
    assert fingerprint(moved) != expected
    for other in (3, 127, 128, 300, 0.5, np.nan):
        changed_there = genotypes.astype(float)
        changed_there[N - 1, 299] = other
        assert fingerprint(changed_there) != expected


def stamps(seed):
    """Nanoseconds: as float64 they are all the same."""
    rng = np.random.default_rng(seed)
    y = np.arange(400) % 2
    X = 1_700_000_000_000_000_000 + rng.integers(0, 100, size=(400, 6))
    return X, y


def test_a_checkpoint_of_other_large_numbers_is_refused(tmp_path):
    X, y = stamps(0)
    interplay.max_information_gain(X, y, checkpoint=tmp_path / "run.ckpt")
    other = X.copy()
    other[:, 0] = X[:, 0].min() + 50 * y
    with pytest.raises(ValueError, match=r"another search \(other data\)"):
        interplay.max_information_gain(other, y, checkpoint=tmp_path / "run.ckpt")
    again = interplay.max_information_gain(X, y, checkpoint=tmp_path / "run.ckpt")
    assert np.array_equal(again.gain, interplay.max_information_gain(X, y).gain)


def test_parts_of_other_large_numbers_are_not_merged():
    X, y = stamps(0)
    other = X.copy()
    other[:, 0] = X[:, 0].min() + 50 * y
    parts = [
        interplay.search_shard(table, y, dimensions=2, shard=(i + 1, 2), random_state=0)
        for i, table in enumerate((X, other))
    ]
    with pytest.raises(ValueError, match="other data"):
        interplay.merge_parts(parts)
    whole = [interplay.search_shard(other, y, dimensions=2, shard=(i, 2), random_state=0) for i in (1, 2)]
    assert interplay.merge_parts(whole, X=other).relevant == ["x0"]
    with pytest.raises(ValueError, match="X is not the table from which the parts were made"):
        interplay.merge_parts(whole, X=X)


@pytest.mark.parametrize("y", [RNG.normal(size=N), np.arange(N) % 2])
def test_another_offset_makes_another_fingerprint(y):
    offset = RNG.normal(size=N)
    one, other = (make_study(SMALL, y, offset=known).fingerprint() for known in (offset, offset + np.eye(N)[3]))
    assert one != other
