"""Reading tables: what is taken from each kind of file, and what is said about broken ones."""

import gzip
import io
import json
import os
import sys
import threading
import unicodedata
from functools import partial

import numpy as np
import pandas as pd
import pytest

import interplay
from interplay.data.study.outcomes.classes import decision_classes
from interplay.data.study.table import as_table
from interplay.io import read_data, write_table
from interplay.readers.csv_table import _exact_numbers, read_csv
from interplay.show.results.result import table_bytes


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {"a": rng.normal(size=8), "b c": range(8), "kind": list("uvwuvwuv"), "outcome": ["ill", "well"] * 4}
    )


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "txt", "parquet", "feather", "arrow"])
def test_every_kind_of_table_reads_the_same(tmp_path, frame, ending):
    path = tmp_path / f"data.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending in ("feather", "arrow"):
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending in ("tsv", "txt") else ",")
    X, y = read_data(path, target="outcome")
    table = as_table(X)
    assert table.names == ["a", "b c", "kind"]
    np.testing.assert_array_equal(table.block(0, 3), as_table(frame.drop(columns="outcome")).block(0, 3))
    classes = decision_classes(y, n_samples=8)
    assert classes.labels == ["ill", "well"]
    assert classes.codes.tolist() == [0, 1] * 4


def test_row_names_are_left_out(tmp_path, frame):
    named = frame.set_index([[f"s{i}" for i in range(8)]])
    named.to_csv(tmp_path / "pandas.csv")  # R's write.csv does the same
    lines = (tmp_path / "pandas.csv").read_text().splitlines()
    (tmp_path / "write_table.csv").write_text("\n".join([lines[0][1:], *lines[1:]]))  # R's write.table: no empty name
    named.to_parquet(tmp_path / "pandas.parquet")
    for name in ("pandas.csv", "write_table.csv", "pandas.parquet"):
        X, _ = read_data(tmp_path / name, target="outcome")
        assert as_table(X).names == ["a", "b c", "kind"], name


def test_numbers_are_read_to_the_last_bit(tmp_path):
    values = np.random.default_rng(0).normal(size=(500, 3))
    pd.DataFrame(values, columns=list("abc")).to_csv(tmp_path / "data.csv", index=False)
    frame = read_csv(tmp_path / "data.csv")
    np.testing.assert_array_equal(frame.to_numpy(), values)


def test_drop_leaves_columns_out(tmp_path, frame):
    frame.to_csv(tmp_path / "data.csv", index=False)
    X, _ = read_data(tmp_path / "data.csv", target="outcome", drop=["b c", "kind"])
    assert list(X.columns) == ["a"]


@pytest.mark.parametrize(
    "text", ["a;y\n1;x\n2;z\n", "a|y\n1|x\n2|z\n", "\ufeffa,y\r\n1,x\r\n\r\n2,z", "\na,y\n1,x\n2,z\n"]
)
def test_dialects(tmp_path, text):
    (tmp_path / "data.csv").write_bytes(text.encode())
    X, y = read_data(tmp_path / "data.csv", target="y")
    assert X["a"].tolist() == [1, 2]
    assert list(y) == ["x", "z"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b,y\n1,2,3\n\n4,5,6,7\n", "line 4: 4 fields"),
        (b'a,b,y\n1,2,"3\n3"\n4,5\n', "line 4: 2 fields"),
        (b"a,b,y\n1,2,3\n4,5,6,\n", "line 3: 4 fields"),
        (b"a,b,y\n1,2\n3,4\n", "first row: 2 fields, but the header names 3"),
        (b"a,y\n1,2,\n3,4,\n", "first row: 3 fields, but the header names 2"),
        (b"a,b,a,y,b\n1,2,3,4,5\n", r"more than one column named 'a' \(columns 1, 3\) \(1 more names"),
    ],
)
def test_broken_text_is_described_in_one_line(tmp_path, content, message):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_data(path, target="y")
    assert "\n" not in str(caught.value)
    assert "data.csv" in str(caught.value)


def test_the_missing_target_is_named_with_what_is_near(tmp_path, frame):
    frame.to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(ValueError, match="no column 'Outcom': did you mean 'outcome'"):
        read_data(tmp_path / "data.csv", target="Outcom")
    with pytest.raises(ValueError, match="no column 'zzzzzz': it has 'a', 'b c', 'kind', 'outcome'"):
        read_data(tmp_path / "data.csv", target="zzzzzz")


def test_standard_input_is_csv(monkeypatch, frame):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(frame.to_csv(index=False).encode())))
    X, y = read_data("-", target="outcome")
    assert X.shape == (8, 3)
    assert len(y) == 8


def test_arrays(tmp_path):
    X = np.arange(24.0).reshape(6, 4)
    y = np.array(["a", "b"] * 3)
    np.save(tmp_path / "data.npy", X)
    np.savez(tmp_path / "xy.npz", X=X, y=y, names=np.array(["p", "q", "r", "s"]), other=np.arange(6))
    np.savez(tmp_path / "small.npz", x=X, y=y)
    np.savez(tmp_path / "one.npz", X)

    for target, column in [("1", 1), ("-1", 3), ("x2", 2)]:
        for name in ("data.npy", "one.npz"):
            table, found = read_data(tmp_path / name, target=target)
            assert table.names == [f"x{v}" for v in range(4) if v != column]
            np.testing.assert_array_equal(found, X[:, column])
            np.testing.assert_array_equal(table.block(0, 3).T, np.delete(X, column, axis=1))
    table, found = read_data(tmp_path / "xy.npz", drop=["q"])
    assert table.names == ["p", "r", "s"]
    assert list(found) == list(y)
    assert list(read_data(tmp_path / "xy.npz", target="other")[1]) == list(range(6))
    assert list(read_data(tmp_path / "small.npz")[1]) == list(y)


@pytest.mark.parametrize(("name", "module", "package"), [
    ("data.parquet", "pyarrow", "pyarrow"),
    ("data.h5ad", "anndata", "anndata"),
    ("data.bed", "bed_reader", "bed-reader"),
    ("data.pgen", "pgenlib", "Pgenlib"),
])  # fmt: skip
def test_a_missing_package_is_one_line_with_what_to_install(tmp_path, monkeypatch, name, module, package):
    (tmp_path / name).touch()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'run .* install "{package}>=[\d.]+"$'):
        read_data(tmp_path / name, target="y")


def test_written_tables_hold_what_the_selection_found(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    selection = interplay.select(X, (X[:, 2] > 0) ^ (X[:, 7] > 0), dimensions=2, random_state=0)
    table = selection.table
    for ending in ("csv", "tsv", "json", "parquet"):
        write_table(table, tmp_path / f"table.{ending}")
    exact = _exact_numbers(pd.__version__)
    read_back = {
        "csv": pd.read_csv(tmp_path / "table.csv", **exact),
        "tsv": pd.read_csv(tmp_path / "table.tsv", sep="\t", **exact),
        "json": pd.DataFrame(json.loads((tmp_path / "table.json").read_text())),
        "parquet": pd.read_parquet(tmp_path / "table.parquet"),
    }
    for kind, found in read_back.items():
        assert list(found.columns) == list(table.columns), kind
        np.testing.assert_array_equal(found["gain"].to_numpy(), table["gain"].to_numpy(), err_msg=kind)
        np.testing.assert_array_equal(found["p_adjusted"].to_numpy(), table["p_adjusted"].to_numpy(), err_msg=kind)
        assert found["relevant"].tolist() == table["relevant"].tolist()
        partners = found["partners"].tolist()
        assert (partners[2] if kind in ("csv", "tsv") else list(partners[2])) in ("x7", ["x7"])


def test_json_has_no_infinities():
    frame = pd.DataFrame({"variable": ["a"], "gain": [-np.inf], "p_value": [np.nan]})
    assert json.loads(table_bytes(frame, "json")) == [{"variable": "a", "gain": None, "p_value": None}]


def test_tables_that_stay_in_their_files(tmp_path):
    anndata = pytest.importorskip("anndata")
    bed_reader = pytest.importorskip("bed_reader")
    rng = np.random.default_rng(1)
    values = rng.integers(0, 3, size=(200, 10)).astype(np.float32)
    ill = (values[:, 2] == 1) ^ (values[:, 5] == 1)
    obs = pd.DataFrame({"state": np.where(ill, "ill", "well"), "batch": ["p", "q"] * 100}, index=map(str, range(200)))
    anndata.AnnData(values, obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    phenotype = np.where(ill, "2", "1").astype(object)
    phenotype[:10] = "-9"
    bed_reader.to_bed(tmp_path / "study.bed", values, properties={"pheno": phenotype.astype(str)})
    frame = pd.DataFrame(values, columns=list("abcdefghij"))
    frame.assign(state=obs["state"].to_numpy(), site=["p", "q"] * 100).to_parquet(tmp_path / "table.parquet")

    for name, target, n_samples in [
        ("cells.h5ad", "state", 200),
        ("study.bed", None, 190),
        ("table.parquet", "state", 200),
    ]:
        X, y = read_data(tmp_path / name, target=target)
        assert X.n_samples == n_samples
        result = interplay.select(X, y, dimensions=2, random_state=0)
        assert {result.names.index(found) for found in result.relevant} == {2, 5}, name
    # What is known of the samples stays known, also when columns are left out.
    X, y = read_data(tmp_path / "cells.h5ad", target="state", drop=["0"])
    assert interplay.select(X, y, dimensions=2, strata="batch", random_state=0).relevant
    assert "0" not in X.names
    with pytest.raises(ValueError, match="no column 'stat': did you mean 'state'"):
        read_data(tmp_path / "cells.h5ad", target="stat")
    with pytest.raises(ValueError, match="no column 'height'"):
        read_data(tmp_path / "study.bed", target="height")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,y\n" + b"1,0\n" * 100_000 + b"2,\x00\n", "line 100002, character 3: a zero byte"),
        (gzip.compress(b"a,y\n1,0\n\x002,1\n", mtime=0), "line 3, character 1: a zero byte"),
        ("a,y\n1,0\n2,1\n".encode("utf-16-be"), "is not UTF-8 text but UTF-16: convert it"),
    ],
)
def test_zero_bytes_are_named(tmp_path, content, message):
    (tmp_path / "data.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        read_data(tmp_path / "data.csv", target="y")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("name", ["pipe", "pipe.csv", "pipe.csv.gz"])
@pytest.mark.parametrize("pack", [lambda content: content, gzip.compress])
def test_text_from_a_pipe(tmp_path, name, pack):
    os.mkfifo(tmp_path / name)
    rows = "".join(f"{i},5;{i % 2}\n" for i in range(40_000))
    thread = threading.Thread(target=lambda: (tmp_path / name).write_bytes(pack(f"a;y\n{rows}".encode())))
    thread.start()
    X, y = read_data(tmp_path / name, target="y")
    thread.join()
    assert X["a"].tolist() == [i + 0.5 for i in range(40_000)]
    assert len(y) == 40_000


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("name", ["pipe.parquet", "pipe.npy", "pipe.bed", "pipe.h5ad", "pipe.feather"])
def test_only_text_comes_from_a_pipe(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ValueError, match="is a pipe or device, and only text can be read from one"):
        read_data(tmp_path / name, target="y")
    with pytest.raises(OSError, match="is a pipe or device"):
        interplay.load(tmp_path / name)
    with pytest.raises(OSError, match="is a pipe or device"):
        interplay.merge_parts([tmp_path / name])


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".xlsx", ".feather"])
@pytest.mark.parametrize("forms", [("NFC", "NFD"), ("NFD", "NFC")])
def test_names_that_look_the_same_are_the_same(tmp_path, ending, forms):
    """é is one character, or e and an accent: which one, nobody sees."""
    in_file, typed = (partial(unicodedata.normalize, form) for form in forms)
    frame = pd.DataFrame({"a": [1, 2] * 9, in_file("école"): ["x", "y"] * 9, in_file("café"): [0, 1, 1] * 6})
    path = tmp_path / f"data{ending}"
    if ending in (".csv", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    else:
        getattr(frame, {".xlsx": "to_excel", ".parquet": "to_parquet", ".feather": "to_feather"}[ending])(
            path, **{"index": False} if ending == ".xlsx" else {}
        )
    X, y = read_data(path, target=typed("café"), drop=[typed("école")])
    assert as_table(X).names == ["a"]
    assert decision_classes(y, n_samples=18).labels == [0, 1]
    chosen = interplay.interactions(frame.assign(b=[0, 0, 1] * 6), typed("café"), variables=[typed("école")], max_p=1)
    assert chosen.names == ["a", in_file("école"), "b"]


def test_classes_of_all_files_are_called_the_same(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2, 3] * 6, "y": [0.0, 1.0] * 9})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.astype({"y": int}).to_csv(tmp_path / "a.csv", index=False)
    found = [interplay.select(*read_data(tmp_path / name, target="y")) for name in ("a.parquet", "a.csv")]
    assert [result.runs[0].class_labels for result in found] == [["0", "1"]] * 2
