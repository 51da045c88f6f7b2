"""Data files of every kind, more or less broken."""

import functools
import gzip
import io
import tempfile
import zipfile
from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd
import pyreadstat
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import interplay
from fuzz.archives import changed_bytes
from fuzz.outcomes import file_with, refused_or
from interplay.io import read_data
from interplay.singlecell import read_10x
from mudata_files import write_h5mu

FIELDS = st.one_of(
    st.sampled_from("1 2 0 -1.5 1e9 nan inf NA a b yes 1,5 é 2024-01-01 True 0x1f ' # 999999999999999999999".split()),
    st.sampled_from(["", " ", "\0", "\n", "\r", '"', '"q,""q"']),
    st.text(max_size=3),
)


@st.composite
def tables_as_text(draw):
    separator = draw(st.sampled_from([",", "\t", ";", "|", " "]))
    n_columns, n_rows = draw(st.integers(1, 5)), draw(st.integers(0, 12))
    names = [draw(st.sampled_from(["", "a", "b", "y", "y", "c d", '"e"']) | FIELDS) for _ in range(n_columns)]
    if draw(st.booleans()):
        names[-1] = "y"
    kinds = [draw(st.sampled_from(["number", "class", "odd"])) for _ in range(n_columns)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = [names]
    for _ in range(n_rows):
        rows.append(
            [{"number": f"{rng.normal():.3f}", "class": str(rng.integers(2))}.get(k) or draw(FIELDS) for k in kinds]
        )
        if draw(st.integers(0, 30)) == 0:
            rows[-1] = rows[-1][:-1] or [""]
    text = draw(st.sampled_from(["\n", "\r\n", "\r"])).join(separator.join(row) for row in rows)
    content = text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"])), "replace")
    return gzip.compress(content) if draw(st.integers(0, 5)) == 0 else content


@functools.cache
def good(ending):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"v{v}": rng.normal(size=30) for v in range(4)}).assign(
        n=rng.integers(0, 9, 30), t=rng.choice(["a", "b"], 30), y=np.arange(30) % 2
    )
    buffer = io.BytesIO()
    if ending == ".parquet":
        frame.to_parquet(buffer)
    elif ending == ".feather":
        frame.to_feather(buffer)
    elif ending == ".npy":
        np.save(buffer, frame.drop(columns="t").to_numpy())
    elif ending == ".xlsx":
        frame.to_excel(buffer, index=False, engine="openpyxl")
    elif ending == ".zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("data.csv", frame.to_csv(index=False))
    elif ending in (".sav", ".dta"):
        with tempfile.TemporaryDirectory() as folder:
            write = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
            write(frame, f"{folder}/data", variable_value_labels={"n": {0: "none", 1: "one"}})
            buffer.write(Path(folder, "data").read_bytes())
    else:
        np.savez_compressed(buffer, X=frame.drop(columns=["t", "y"]).to_numpy(), y=frame["y"].to_numpy())
    return buffer.getvalue()


def searched(path, target, **options):
    X, y = read_data(path, target=target, **options)
    return interplay.max_information_gain(X, y, dimensions=1, missing="level")


@given(
    tables_as_text(),
    st.sampled_from([".csv", ".tsv", ".txt", ".rtab"]),
    st.sampled_from(["y", "a", "", None]),
    st.booleans(),
    st.sampled_from(["error", "drop"]),
    st.lists(FIELDS, max_size=2),
)
def read_text(content, ending, target, transpose, missing_target, na_values):
    options = {"transpose": transpose, "missing_target": missing_target, "na_values": na_values}
    with file_with(content, ending) as path:
        refused_or(lambda: searched(path, target, **options))


@given(tables_as_text(), tables_as_text(), st.booleans(), st.sampled_from([None, "a", "y"]))
def read_two(content, traits, transpose, sample_id):
    with file_with(content, ".csv") as path, file_with(traits, ".csv") as other:
        refused_or(
            lambda: searched(
                path, "y", target_file=other, transpose=transpose, sample_id=sample_id, missing_target="drop"
            )
        )


@given(st.sampled_from([".npy", ".npz", ".parquet", ".feather", ".xlsx", ".zip", ".sav", ".dta"]), st.data())
def read_binary(ending, data):
    content = changed_bytes(data.draw, good(ending))
    with file_with(content, ending) as path:
        refused_or(lambda: searched(path, "-1" if ending == ".npy" else None if ending == ".npz" else "y"))


@functools.cache
def cells(kind):
    """A good file of cells by genes, sparse or dense."""
    counts = np.random.default_rng(0).poisson(0.7, size=(30, 6)).astype(np.float32)
    ending, _, how = kind.partition(" ")
    obs = pd.DataFrame({"y": np.arange(30) % 2}, index=[f"cell{i}" for i in range(30)])
    X = sp.csr_matrix(counts) if how == "sparse" else counts
    adata = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=[f"gene{i}" for i in range(6)]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        if ending == ".h5ad":
            adata.write_h5ad(path)
        elif ending == ".h5mu":
            write_h5mu(path, {"rna": adata})
        else:
            matrix = sp.csr_matrix(counts)
            parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": [6, 30]}
            parts |= {"barcodes": list(obs.index), "features/id": list(adata.var_names)}
            parts |= {"features/name": list(adata.var_names), "features/feature_type": ["RNA"] * 6}
            with h5py.File(path, "w") as file:
                for name, values in parts.items():
                    file[f"matrix/{name}"] = np.array(values, dtype="S" if isinstance(values[0], str) else None)
        return path.read_bytes()


KINDS_OF_CELLS = st.sampled_from([".h5ad sparse", ".h5ad dense", ".h5mu sparse", ".h5mu dense", ".h5"])


@functools.cache
def places_of_values(kind):
    """Where the values of a file of cells lie. On damaged structures, the HDF5 library itself may loop for ever."""
    found: list[int] = []
    with h5py.File(io.BytesIO(cells(kind))) as file:

        def add(_, item):
            start = item.id.get_offset() if isinstance(item, h5py.Dataset) else None
            if start is not None:
                found.extend(range(start, start + item.id.get_storage_size()))

        file.visititems(add)
    return found


@given(KINDS_OF_CELLS, st.lists(st.tuples(st.integers(0), st.integers(0, 7)), min_size=1, max_size=3))
def read_cells(kind, flips):
    """HDF5 has no checksums: a flipped bit is refused, or changes a number, but not where compiled code reads."""
    content, places = bytearray(cells(kind)), places_of_values(kind)
    for place, bit in flips:
        content[places[place % len(places)]] ^= 1 << bit
    ending = kind.partition(" ")[0]
    with file_with(bytes(content), ending) as path:

        def searched_cells():
            is_tenx = ending == ".h5"
            X, y = (read_10x(path), np.arange(30) % 2) if is_tenx else read_data(path, target="y")
            return interplay.max_information_gain(X, y, dimensions=1, missing="level")

        refused_or(searched_cells, (ValueError,))


@given(
    st.sampled_from(["csr_matrix", "csc_array", "coo_array", "bsr_array", "dia_array", "lil_array"]),
    st.integers(0, 2**32 - 1),
    st.lists(st.tuples(st.integers(0), st.integers(-(2**31), 2**31 - 1) | st.integers(-2, 9)), max_size=3),
)
def sparse_indices(kind, seed, changes):
    """A sparse matrix whose indices were changed is refused or searched."""
    rng = np.random.default_rng(seed)
    X = getattr(sp, kind)(rng.poisson(0.5, size=(int(rng.integers(2, 20)), int(rng.integers(1, 6)))).astype(float))
    parts = [getattr(X, part) for part in ("indices", "indptr", "row", "col", "offsets") if hasattr(X, part)]
    for place, value in changes if parts else []:
        part = parts[place % len(parts)]
        if len(part):
            part[place // len(parts) % len(part)] = value
    found = refused_or(
        lambda: interplay.max_information_gain(X, np.arange(X.shape[0]) % 2, dimensions=1), (ValueError,)
    )
    assert found is None or np.isfinite(found.gain).all()
