"""`interesting_tuples`: settings against plain loops, big output, interrupts, messages."""

import contextlib
import os
import stat
import subprocess
import sys
import warnings
from math import comb
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interplay
import reference
from interplay.ask.tuples import source
from interplay.ask.tuples import source as listing
from interplay.ask.tuples import table as best_rows
from interplay.ask.tuples import table as tuple_rows
from interplay.search.engines.cpu import CpuEngine


@pytest.fixture
def xor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    return X, ((X[:, 3] > 0) ^ (X[:, 7] > 0)).astype(int)


def rows_of(table):
    rows = zip(table.tuples.tolist(), table.variable.tolist(), table.value.tolist(), strict=True)
    return [(tuple(members), variable, value) for members, variable, value in rows]


def small_batches(monkeypatch, n_rows):
    """Tiles, batches and row groups of few rows, so that small tables have many of each."""
    monkeypatch.setattr(source, "BATCH_ROWS", n_rows)
    monkeypatch.setattr(source, "_TILE_ROWS", n_rows / 2)
    monkeypatch.setattr(tuple_rows, "ROWS_PER_GROUP", n_rows)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    dimensions=st.integers(2, 4),
    n_classes=st.integers(1, 3),
    stat=st.sampled_from(["MI", "H"]),
    discretizations=st.integers(1, 3),
    average=st.booleans(),
    divisions=st.integers(1, 2),
    share=st.one_of(st.none(), st.floats(0.01, 0.95)),
    few=st.booleans(),
    require=st.sampled_from(["any", "all"]),
    n_jobs=st.sampled_from([1, 2]),
)
def test_equals_plain_loops(
    seed, dimensions, n_classes, stat, discretizations, average, divisions, share, few, require, n_jobs
):
    rng = np.random.default_rng(seed)
    n_vars = 6
    X = rng.normal(size=(60, n_vars))
    X[:, 1] = rng.integers(0, 3, 60)  # taken as it is, with three levels
    y = None if n_classes == 1 else np.concatenate([np.repeat(np.arange(n_classes), 2), rng.integers(0, n_classes, 60)])
    y = None if y is None else y[:60]
    if y is None and stat == "MI":
        dimensions = 2
    variables = sorted(rng.choice(n_vars, 4, replace=False).tolist()) if few else None
    setting = {"divisions": divisions, "discretizations": discretizations, "random_state": seed % 1000}
    if discretizations > 1:
        setting["range_"] = 0.6
    codes = interplay.discretize(X, **setting).transpose(0, 2, 1)
    levels = [divisions + 1] * n_vars
    levels[1] = 3
    wanted = reference.interesting_tuples(
        codes.tolist(), levels, None if y is None else y.tolist(), n_classes, dimensions,
        stat=stat, average=average, variables=variables, require=require,
    )  # fmt: skip
    threshold = 0.0
    if share is not None:
        values = np.unique(np.round([row[2] for row in wanted], 7))
        at = min(int(share * len(values)), len(values) - 2)
        threshold = float((values[at] + values[at + 1]) / 2) if len(values) > 1 else 0.0
        wanted = [row for row in wanted if threshold == 0 or row[2] > threshold]
    found = interplay.interesting_tuples(
        X, y, dimensions=dimensions, min_gain=threshold, stat=stat, average=average, variables=variables,
        require=require, n_jobs=n_jobs, **setting,
    )  # fmt: skip
    rows = rows_of(found)
    assert [row[:2] for row in rows] == [row[:2] for row in wanted]
    np.testing.assert_allclose([row[2] for row in rows], [row[2] for row in wanted], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"min_gain": 1.0}, {"discretizations": 3, "range_": 0.5, "min_gain": 1.0}])
@pytest.mark.parametrize("average", [False, True])
def test_batches_change_nothing(monkeypatch, xor, settings, average):
    whole = interplay.interesting_tuples(*xor, dimensions=3, average=average, **settings)
    small_batches(monkeypatch, 40)
    monkeypatch.setattr(listing, "_FEW_ROWS", 100)  # so that the number of rows is estimated first
    for n_jobs in (1, 2):
        cut = interplay.interesting_tuples(*xor, dimensions=3, average=average, n_jobs=n_jobs, **settings)
        assert rows_of(cut) == rows_of(whole)


@pytest.mark.parametrize("setting", [{"min_gain": 1.0}, {"min_gain": 4.0}, {"top": 3, "min_gain": 0.5}])
def test_means_of_candidates_are_those_of_all(monkeypatch, xor, setting):
    X, y = xor
    X[:, 4] = np.random.default_rng(1).integers(0, 3, 300)  # three levels
    setting = {"dimensions": 3, "discretizations": 4, "range_": 0.6, "average": True, **setting}
    found = []
    for share in (0.0, 1.0, 1e9):  # all are counted; the candidates where they are few; the candidates always
        monkeypatch.setattr(source, "_FEW_CANDIDATES", share)
        found.append(rows_of(interplay.interesting_tuples(X, y, n_jobs=2, **setting)))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 5


@pytest.mark.parametrize("by", ["variable", "all"])
@pytest.mark.parametrize("discretizations", [1, 3])
def test_top_is_the_head_of_the_whole(monkeypatch, xor, by, discretizations):
    X, y = xor
    X[:, 5] = X[:, 2]  # ties: every tuple of one is a tuple of the other
    setting = {"dimensions": 3, "discretizations": discretizations, "range_": 0.5 if discretizations > 1 else 0.0}
    rows = sorted(rows_of(interplay.interesting_tuples(X, y, **setting)), key=lambda row: (-row[2], row[0], row[1]))
    wanted = rows[:7]
    if by == "variable":
        wanted = [row for v in range(12) for row in [row for row in rows if row[1] == v][:7]]
    small_batches(monkeypatch, 60)
    found = interplay.interesting_tuples(X, y, top=7, top_by=by, **setting)
    assert rows_of(found) == wanted
    above = [row for row in wanted if row[2] > 2]
    assert rows_of(interplay.interesting_tuples(X, y, top=7, top_by=by, min_gain=2, **setting)) == above


def test_top_asks_for_less_and_less():
    thresholds = np.full(10, -np.inf)
    best = best_rows.BestRows(2, by_variable=True, dimensions=2, thresholds=thresholds)
    one = interplay.base.tuples.TupleRows(
        np.array([[0, 1], [0, 2], [0, 3]], dtype=np.int32), np.zeros(3, np.int32), np.array([1.0, 5, 3]), np.array([3])
    )
    best.add(one)
    assert best.rows.value.tolist() == [5, 3]
    assert 2.9 < thresholds[0] < 3
    assert np.all(thresholds[1:] == -np.inf)


def test_matrix_of_some_pairs(xor):
    matrix = interplay.interesting_tuples(*xor, variables=[3], as_matrix=True)
    table = interplay.interesting_tuples(*xor)
    assert np.isnan(matrix[0, 1])
    assert np.all(np.diag(matrix) == 0)
    assert np.isfinite(matrix[3]).all()
    assert np.isfinite(matrix[:, 3]).all()
    (row,) = np.flatnonzero((table.tuples == [3, 7]).all(axis=1) & (table.variable == 7))
    assert matrix[7, 3] == table.value[row]


def test_frame_has_names(xor):
    X = pd.DataFrame(xor[0], columns=[f"gene{v}" for v in range(12)])
    frame = interplay.interesting_tuples(X, xor[1], min_gain=100).to_frame()
    assert frame[["member_1", "member_2"]].astype(str).to_numpy().tolist() == [["gene3", "gene7"]] * 2
    assert frame["variable"].tolist() == ["gene3", "gene7"]
    assert (frame["value"] > 100).all()
    assert "2 rows, 2D" in repr(interplay.interesting_tuples(X, xor[1], min_gain=100))
    assert len(interplay.interesting_tuples(X, xor[1], min_gain=1e6)) == 0


def test_parquet_holds_the_same_rows(monkeypatch, xor, tmp_path):
    small_batches(monkeypatch, 50)
    for name, setting in {"all": {}, "some": {"min_gain": 1.0}, "top": {"top": 3}}.items():
        path = tmp_path / f"{name}.parquet"
        expected = interplay.interesting_tuples(*xor, dimensions=3, **setting).to_frame()
        assert interplay.interesting_tuples(*xor, dimensions=3, out=path, n_jobs=2, **setting) == path
        keys = ["member_1", "member_2", "member_3", "variable"]
        written = pd.read_parquet(path).astype(dict.fromkeys(keys, str))
        expected = expected.astype(dict.fromkeys(keys, str))
        pd.testing.assert_frame_equal(
            written.sort_values(keys, ignore_index=True), expected.sort_values(keys, ignore_index=True)
        )
        metadata = pq.read_metadata(path)
        assert metadata.metadata[b"interplay.complete"] == b"true"
        assert metadata.num_row_groups == -(-len(expected) // 50)
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
        path.unlink()


def test_parquet_does_not_depend_on_threads(monkeypatch, xor, tmp_path):
    small_batches(monkeypatch, 50)
    for n_jobs in (1, 2):
        interplay.interesting_tuples(*xor, dimensions=3, out=tmp_path / f"{n_jobs}.parquet", n_jobs=n_jobs)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "1.parquet"), pd.read_parquet(tmp_path / "2.parquet"))


class StopsAfter(CpuEngine):
    """As if Ctrl-C came in the n-th batch."""

    def search(self, *arguments, **settings):
        calls = self.__dict__.setdefault("calls", [])
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        super().search(*arguments, **settings)


def test_interrupted_file_is_valid_and_says_so(monkeypatch, xor, tmp_path):
    small_batches(monkeypatch, 100)
    path = tmp_path / "tuples.parquet"
    path.write_text("an older file")
    with pytest.raises(interplay.TuplesInterrupted, match=r"tuples\.partial\.parquet holds the rows") as caught:
        interplay.interesting_tuples(*xor, dimensions=3, out=path, engine=StopsAfter())
    assert caught.value.partial == tmp_path / "tuples.partial.parquet"
    assert 0 < caught.value.done < 1
    metadata = pq.read_metadata(caught.value.partial)
    assert metadata.metadata[b"interplay.complete"] == b"false"
    rows = pd.read_parquet(caught.value.partial)
    assert 300 <= len(rows) < 3 * comb(12, 3)
    whole = interplay.interesting_tuples(*xor, dimensions=3)
    assert set(rows["value"]) <= set(whole.value)
    assert path.read_text() == "an older file"
    interplay.interesting_tuples(*xor, dimensions=3, out=path)
    assert pq.read_metadata(path).num_rows == len(whole)


def test_interrupt_while_writing(monkeypatch, xor, tmp_path):
    small_batches(monkeypatch, 100)
    write, written = tuple_rows.ParquetRows._write, []

    def write_or_stop(self, *columns):
        written.append(1)
        if len(written) == 3:
            raise KeyboardInterrupt
        write(self, *columns)

    monkeypatch.setattr(tuple_rows.ParquetRows, "_write", write_or_stop)
    with pytest.raises(interplay.TuplesInterrupted) as caught:
        interplay.interesting_tuples(*xor, dimensions=3, out=tmp_path / "tuples.parquet")
    metadata = pq.read_metadata(caught.value.partial)
    assert metadata.metadata[b"interplay.complete"] == b"false"
    assert metadata.num_rows == 200


@pytest.mark.parametrize("setting", [{}, {"top": 2}])
def test_interrupted_table_holds_what_was_found(monkeypatch, xor, setting):
    small_batches(monkeypatch, 10)
    with pytest.raises(interplay.TuplesInterrupted, match="interrupted after") as caught:
        interplay.interesting_tuples(*xor, dimensions=3, engine=StopsAfter(), **setting)
    partial = caught.value.partial
    assert len(partial) > 0
    assert set(partial.value) <= set(interplay.interesting_tuples(*xor, dimensions=3).value)


def test_rows_are_announced_and_refused_before_the_search(monkeypatch, xor, capsys):
    interplay.interesting_tuples(*xor, progress=True)
    assert "2D, 66 tuples, 132 rows" in capsys.readouterr().err
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 400))
    with pytest.raises(ValueError, match=r"3\.18e\+07 rows would take .* GB, .*out='tuples.parquet'") as caught:
        interplay.interesting_tuples(X, X[:, 0] > 0, dimensions=3, engine=StopsAfter())
    assert "\n" not in str(caught.value)
    # Few rows exceed a threshold, as a sample shows: then there is room.
    assert len(interplay.interesting_tuples(X, X[:, 0] > 0, dimensions=3, min_gain=9)) > 1000


def test_estimate_is_near_the_truth(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 80))
    y = rng.integers(0, 2, 200)
    seen = []
    monkeypatch.setattr(listing, "_FEW_ROWS", 0)
    original = listing.whole_table
    monkeypatch.setattr(
        "interplay.ask.tuples.call.whole_table",
        lambda listing, max_memory: seen.append(listing.expected_rows) or original(listing, max_memory),
    )
    for min_gain in (2.0, 6.0):
        table = interplay.interesting_tuples(X, y, dimensions=3, min_gain=min_gain)
        assert seen[-1] == pytest.approx(len(table), rel=0.3)


def test_more_rows_than_estimated_stop_the_run(monkeypatch, xor):
    small_batches(monkeypatch, 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 80))
    monkeypatch.setattr(source.TupleSource, "estimated_share", lambda self, threshold: 1e-3)
    monkeypatch.setattr(listing, "_FEW_ROWS", 0)
    with pytest.raises(ValueError, match=r"about .* rows would take .* more than max_memory"):
        interplay.interesting_tuples(X, X[:, 0] > 0, dimensions=3, min_gain=1e-9, max_memory=1e6)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"min_gain": "much"}, "min_gain must be a number"),
        ({"as_matrix": True, "min_gain": 1}, "leave min_gain out"),
        ({"as_matrix": True, "out": "x.parquet"}, "leave out out"),
        ({"out": "."}, "is a folder"),
        ({"variables": [99]}, "variables must be a whole number from 0 to 11"),
    ],
)
def test_bad_arguments(xor, setting, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        interplay.interesting_tuples(*xor, **setting)
    assert "\n" not in str(caught.value)


def test_matrix_too_large_is_refused():
    X = np.zeros((10, 500), dtype=np.int8)
    with pytest.raises(ValueError, match="as_matrix=True with 500 variables takes"):
        interplay.interesting_tuples(X, as_matrix=True, max_memory=1e6)


def test_engine_that_finds_only_maxima_is_refused(xor):
    class OnlyMaxima:
        name = "narrow"

        def max_gains(self): ...

        def describe(self): ...

    with pytest.raises(ValueError, match="engine 'narrow' cannot list tuples: use engine='cpu'"):
        interplay.interesting_tuples(*xor, engine=OnlyMaxima())


def test_missing_pyarrow_is_one_line(monkeypatch, xor):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'run .* install "pyarrow>=[\d.]+"$'):
        interplay.interesting_tuples(*xor, out="x.parquet")


def test_no_warnings_and_constant_columns():
    X = np.zeros((20, 3))
    X[:, 1] = np.arange(20) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = interplay.interesting_tuples(X, X[:, 1], dimensions=3)
    codes = X.astype(int).T.tolist()
    wanted = reference.information_gain(codes, [2, 2, 2], codes[1], 2, 0.25)
    assert table.value == pytest.approx(wanted, rel=1e-9)


class FullDisk:
    """A small disk; `fill` leaves no room on it."""

    def __init__(self, folder):
        self.folder = folder

    def fill(self):
        with contextlib.suppress(OSError), open(self.folder / "others", "wb", buffering=0) as others:
            while True:
                others.write(bytes(512))


@pytest.fixture
def disk(tmp_path):
    """A disk of 64 kB."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield FullDisk(folder)
    subprocess.run(["umount", "-l", folder], check=True)


def long_named(X):
    """So that what is left of a page of memory is too little for a row group."""
    return pd.DataFrame(X, columns=[f"{v}" + "x" * 1000 for v in range(X.shape[1])])


def test_a_full_disk_names_the_file_and_leaves_nothing(monkeypatch, xor, disk):
    small_batches(monkeypatch, 100)
    path = disk.folder / "tuples.parquet"

    class Fills(CpuEngine):
        def search(self, *arguments, **settings):
            disk.fill()
            super().search(*arguments, **settings)

    with pytest.raises(OSError, match=r"^cannot write '.*tuples\.parquet': No space left on device$") as caught:
        interplay.interesting_tuples(long_named(xor[0]), xor[1], dimensions=3, out=path, engine=Fills())
    assert caught.value.errno == 28
    assert os.listdir(disk.folder) == ["others"]
    disk.fill()
    with pytest.raises(ValueError, match=r"^out='.*tuples\.parquet' cannot be written: No space left on device$"):
        interplay.interesting_tuples(*xor, dimensions=3, out=path)
    assert os.listdir(disk.folder) == ["others"]


def test_an_interrupt_on_a_full_disk_is_an_interrupt(monkeypatch, xor, disk):
    small_batches(monkeypatch, 100)

    class Fills(StopsAfter):
        def search(self, *arguments, **settings):
            if len(self.__dict__.get("calls", [])) == 3:
                disk.fill()
            super().search(*arguments, **settings)

    with pytest.raises(interplay.TuplesInterrupted) as caught:
        interplay.interesting_tuples(
            long_named(xor[0]), xor[1], dimensions=3, out=disk.folder / "tuples.parquet", engine=Fills()
        )
    assert caught.value.partial is None
    assert "no rows were kept (cannot write" in str(caught.value)
    assert "No space left" in caught.value.not_kept
    assert os.listdir(disk.folder) == ["others"]


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_fault_while_writing_leaves_nothing(monkeypatch, xor, tmp_path, interrupted):
    """The same without a disk of one's own."""
    small_batches(monkeypatch, 100)
    make = tuple_rows.ParquetRows.__init__

    def make_full(self, *args, **kwargs):
        make(self, *args, **kwargs)

        def full(*_, **__):
            raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")

        self._writer.close()
        self._writer = SimpleNamespace(write_table=full, close=full, add_key_value_metadata=lambda _: None)

    monkeypatch.setattr(tuple_rows.ParquetRows, "__init__", make_full)
    reason = f"cannot write {str(tmp_path / 'tuples.parquet')!r}: No space left on device"
    if interrupted:
        monkeypatch.setattr(tuple_rows, "ROWS_PER_GROUP", 10**6)
        with pytest.raises(interplay.TuplesInterrupted) as caught:
            interplay.interesting_tuples(*xor, dimensions=3, out=tmp_path / "tuples.parquet", engine=StopsAfter())
        assert caught.value.not_kept == reason
    else:
        with pytest.raises(OSError, match="cannot write") as caught:
            interplay.interesting_tuples(*xor, dimensions=3, out=tmp_path / "tuples.parquet")
        assert str(caught.value) == reason
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and pipes of POSIX")
def test_permissions_of_an_older_file_stay_and_pipes_are_refused(xor, tmp_path):
    path = tmp_path / "tuples.parquet"
    path.touch()
    path.chmod(0o600)
    interplay.interesting_tuples(*xor, out=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a pipe or device: name a file"):
        interplay.interesting_tuples(*xor, out=tmp_path / "pipe")
