"""Files of cells and of genes: 10x Genomics, MuData, layers of AnnData, GCT."""

import gzip

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import interplay
from interplay.io import read_data
from interplay.singlecell import read_10x, read_h5mu
from mudata_files import write_h5mu

N_CELLS, N_GENES = 200, 12
RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(1.5, size=(N_CELLS, N_GENES))
IS_ILL = (COUNTS[:, 3] > 1) ^ (COUNTS[:, 7] > 1)
GENES = [f"gene{g}" for g in range(N_GENES)]
CELLS = [f"cell{c}" for c in range(N_CELLS)]


def write_10x(path, *, kinds=None, names=GENES, version=3):
    matrix = sp.csr_matrix(COUNTS)
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix" if version == 3 else "GRCh38")
        group["barcodes"] = np.array(CELLS, dtype="S")
        group["data"], group["indices"], group["indptr"] = matrix.data, matrix.indices, matrix.indptr
        group["shape"] = np.array([N_GENES, N_CELLS])
        ids = np.array([f"ENSG{g}" for g in range(N_GENES)], dtype="S")
        if version == 2:
            group["genes"], group["gene_names"] = ids, np.array(names, dtype="S")
            return path
        features = group.create_group("features")
        features["id"], features["name"] = ids, np.array(names, dtype="S")
        features["feature_type"] = np.array(kinds or ["Gene Expression"] * N_GENES, dtype="S")
    return path


@pytest.mark.parametrize("version", [2, 3])
def test_counts_of_10x_with_outcomes_by_barcode(tmp_path, version, command):
    path = write_10x(tmp_path / "cells.h5", version=version)
    table = read_10x(path)
    assert (table.names, table.sample_names.tolist()) == (GENES, CELLS)
    np.testing.assert_array_equal(table.block(0, N_GENES), COUNTS.T)
    people = pd.DataFrame({"barcode": CELLS, "ill": np.where(IS_ILL, "yes", "no")}).iloc[::-1]
    people.to_csv(tmp_path / "cells.csv", index=False)
    X, y = read_data(path, target_file=tmp_path / "cells.csv")
    assert list(y) == np.where(IS_ILL, "yes", "no").tolist()
    found = interplay.select(X, y, dimensions=2, random_state=0)
    assert set(found.relevant) == {"gene3", "gene7"}
    done = command("run", path, "--target-file", tmp_path / "cells.csv", "-k", 2, "--seed", 0, "--format", "csv")
    assert done.code == 0, done.err


def test_types_of_features_and_repeated_names(tmp_path):
    kinds = ["Gene Expression"] * 9 + ["Antibody Capture"] * 3
    path = write_10x(tmp_path / "c.h5", kinds=kinds, names=["A", "A", *GENES[2:]])
    with pytest.raises(ValueError, match="modality must be one of 'Gene Expression', 'Antibody Capture', not 'x'"):
        read_10x(path, modality="x")
    found = read_10x(path, modality="Antibody Capture")
    assert found.names == GENES[9:]
    np.testing.assert_array_equal(found.block(0, 3), COUNTS.T[9:])
    assert read_10x(path, modality="Gene Expression").names[:3] == ["A ENSG0", "A ENSG1", "gene2"]


def test_a_damaged_file_of_10x(tmp_path):
    path = write_10x(tmp_path / "c.h5")
    path.write_bytes(write_10x(tmp_path / "d.h5").read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"is not an .h5 file of 10x Genomics that can be read"):
        read_10x(path)
    with h5py.File(path, "w") as file:
        file["table"] = [1, 2]
    with pytest.raises(ValueError, match="it has no matrix of counts"):
        read_10x(path)


def an_anndata(matrix):
    obs = pd.DataFrame({"batch": ["p", "q"] * (N_CELLS // 2)}, index=CELLS)
    layers = {"log": np.log1p(COUNTS)}
    return anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=GENES), layers=layers)


@pytest.mark.parametrize("matrix", [COUNTS.astype(np.float32), sp.csr_matrix(COUNTS), sp.csc_matrix(COUNTS)])
def test_a_modality_of_mudata(tmp_path, matrix):
    proteins = anndata.AnnData(COUNTS[:, :2] + 1.0, obs=pd.DataFrame(index=CELLS), var=pd.DataFrame(index=["a", "b"]))
    of_all = pd.DataFrame({"ill": IS_ILL[::-1]}, index=CELLS[::-1])
    path = write_h5mu(tmp_path / "c.h5mu", {"rna": an_anndata(matrix), "protein": proteins}, of_all)
    table = read_h5mu(path, modality="rna")
    assert (table.names, list(table.sample_names), list(table.sample_columns)) == (GENES, CELLS, ["batch", "ill"])
    np.testing.assert_array_equal(table.block(0, N_GENES), COUNTS.T)
    np.testing.assert_allclose(read_h5mu(path, modality="rna", layer="log").block(2, 4), np.log1p(COUNTS.T[2:4]))
    with pytest.raises(ValueError, match=r"layer 'raw' is not in .* .there are: 'log'"):
        read_h5mu(path, modality="rna", layer="raw")
    X, y = read_data(path, target="ill", modality="rna")
    assert set(interplay.select(X, y, dimensions=2, strata="batch", random_state=0).relevant) == {"gene3", "gene7"}
    assert read_data(path, target="ill", modality="protein")[0].names == ["a", "b"]


def test_a_layer_of_an_h5ad_file(tmp_path, command):
    made = an_anndata(np.zeros((N_CELLS, N_GENES)))
    made.obs["ill"] = IS_ILL
    made.write_h5ad(tmp_path / "c.h5ad")
    X, _ = read_data(tmp_path / "c.h5ad", target="ill", layer="log")
    np.testing.assert_allclose(X.block(0, N_GENES), np.log1p(COUNTS.T))
    done = command(
        "run", tmp_path / "c.h5ad", "--target", "ill", "--layer", "log", "-k", 2, "--seed", 0, "--format", "csv"
    )
    assert done.code == 0, done.err
    assert "gene3" in done.out
    done = command("run", tmp_path / "c.h5ad", "--target", "ill", "--layer", "x")
    assert "layer 'x' is not in the AnnData" in done.error_line


def gct_lines(version):
    if version == "#1.2":
        lines = [version, f"{N_GENES}\t{N_CELLS}", "\t".join(["Name", "Description", *CELLS])]
        return lines + ["\t".join([gene, "na", *map(str, COUNTS[:, g])]) for g, gene in enumerate(GENES)]
    lines = [version, f"{N_GENES}\t{N_CELLS}\t1\t2", "\t".join(["id", "symbol", *CELLS])]
    lines += ["\t".join(["ill", "na", *np.where(IS_ILL, "yes", "no")]), "\t".join(["age", "na", *["30", "NA"] * 100])]
    return lines + ["\t".join([gene, "s", *map(str, COUNTS[:, g])]) for g, gene in enumerate(GENES)]


@pytest.mark.parametrize("ending", [".gct", ".gct.gz"])
@pytest.mark.parametrize("version", ["#1.2", "#1.3"])
def test_gct_files(tmp_path, version, ending):
    text = ("\n".join(gct_lines(version)) + "\n").encode()
    path = tmp_path / f"genes{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith(".gz") else text)
    if version == "#1.3":
        X, y = read_data(path, target="ill")
        assert X.sample_columns["age"][:2] == pytest.approx([30, np.nan], nan_ok=True)
    else:
        pd.DataFrame({"ill": np.where(IS_ILL, "yes", "no")}, index=CELLS).to_csv(tmp_path / "samples.csv")
        X, y = read_data(path, target_file=tmp_path / "samples.csv")
    assert list(y) == np.where(IS_ILL, "yes", "no").tolist()
    assert X.names == GENES
    np.testing.assert_array_equal(X.block(0, N_GENES), COUNTS.T)


@pytest.mark.parametrize(
    ("line", "content", "message"),
    [
        (1, "2\tx\t1\t2", "line 2 must be 4 numbers"),
        (1, f"{N_GENES}\t{N_CELLS - 1}\t1\t2", "line 3 has 202 fields, and line 2 says 201"),
        (1, f"{N_GENES + 1}\t{N_CELLS}\t1\t2", "has 12 rows of values, and line 2 says 13: the file was cut short"),
        (5, "gene0\ts\t1", "line 6 has 3 fields, and the header has 202"),
        (5, "\t".join(["gene0", "s", "much", *["1"] * 199]), "line 6, sample 'cell0': 'much' is not a number"),
        (5, "\t".join(["gene1", "s", *["1"] * 200]), "more than one row named 'gene1'"),
    ],
)
def test_damaged_gct_files(tmp_path, line, content, message):
    lines = gct_lines("#1.3")
    lines[line] = content
    (tmp_path / "genes.gct").write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=message):
        read_data(tmp_path / "genes.gct", target="ill")


def rewritten(file, name, values):
    attributes = dict(file[name].attrs)
    del file[name]
    if values is not None:
        file[name] = values
        file[name].attrs.update(attributes)


@pytest.mark.parametrize("ending", [".h5ad", ".h5mu"])
@pytest.mark.parametrize("part", ["X", "layers/raw"])
@pytest.mark.parametrize(
    "damage", [("indices", 10**9), ("indices", -1), ("indptr", 10**9), ("indptr", -7), ("indptr", None)]
)
def test_damaged_sparse_cells(tmp_path, ending, part, damage, command):
    obs = pd.DataFrame({"ill": IS_ILL}, index=CELLS)
    matrix = sp.csr_matrix(COUNTS.astype(np.float32))
    adata = anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=GENES), layers={"raw": matrix})
    path = tmp_path / f"cells{ending}"
    if ending == ".h5ad":
        adata.write_h5ad(path)
    else:
        write_h5mu(path, {"rna": adata})
    name, value = damage
    with h5py.File(path, "r+") as file:
        inside = f"{'mod/rna/' if ending == '.h5mu' else ''}{part}/{name}"
        changed = file[inside][()]
        changed[5] = value or 0
        rewritten(file, inside, None if value is None else changed)
    layer = [] if part == "X" else ["--layer", "raw"]
    done = command("run", path, "--target", "ill", "-k", 1, "--seed", 0, *layer)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert f"cells{ending}' is not a" in done.err


@pytest.mark.parametrize("ending", [".h5ad", ".h5mu"])
def test_a_damaged_chunk_of_a_dense_matrix(tmp_path, ending, command):
    path = tmp_path / f"cells{ending}"
    obs = pd.DataFrame({"ill": IS_ILL}, index=CELLS)
    adata = anndata.AnnData(COUNTS.astype(np.float32), obs=obs, var=pd.DataFrame(index=GENES))
    adata.write_h5ad(path) if ending == ".h5ad" else write_h5mu(path, {"rna": adata})
    inside = "X" if ending == ".h5ad" else "mod/rna/X"
    with h5py.File(path, "r+") as file:
        attributes = dict(file[inside].attrs)
        values = file[inside][()]
        del file[inside]
        file.create_dataset(inside, data=values, chunks=(50, 4), compression="gzip").attrs.update(attributes)
        place = file[inside].id.get_chunk_info(3).byte_offset
    content = bytearray(path.read_bytes())
    content[place : place + 20] = bytes(20)
    path.write_bytes(content)
    done = command("run", path, "--target", "ill", "-k", 1, "--seed", 0)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert f"cells{ending}' is not a file of cells that can be read: " in done.err
