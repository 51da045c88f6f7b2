"""One study in every kind of container and file: the same answer as from a NumPy array of the same values."""

import re
import subprocess
import sys

import anndata
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from bed_reader import to_bed

import interplay
from interplay.genetics import read_bed
from interplay.parquet import scan_parquet
from interplay.singlecell import from_anndata, read_h5ad

N_SAMPLES, N_VARS = 300, 24
NAMES = [f"snp{v}" for v in range(N_VARS)]


def genotypes():
    """Numbers of alleles, 0 to 2, which any container can hold; variants 5 and 13 decide together."""
    rng = np.random.default_rng(0)
    X = rng.binomial(2, 0.4, size=(N_SAMPLES, N_VARS)).astype(np.int8)
    y = (X[:, 5] > 0) ^ (X[:, 13] > 0) ^ (rng.random(N_SAMPLES) < 0.05)
    return X, y


def measurements():
    """Numbers with fractions, which are cut by rank."""
    rng = np.random.default_rng(3)
    X = np.where(rng.random((N_SAMPLES, N_VARS)) < 0.3, 0.0, rng.normal(size=(N_SAMPLES, N_VARS))).round(3)
    return X, (X[:, 5] > 0) ^ (X[:, 13] > 0)


def as_frame(X):
    return pd.DataFrame(X, columns=NAMES)


def saved_npy(X, folder):
    np.save(folder / "x.npy", X)
    return np.load(folder / "x.npy", mmap_mode="r")


def saved_parquet(X, folder):
    as_frame(X).to_parquet(folder / "x.parquet", row_group_size=70)
    return scan_parquet(folder / "x.parquet")


def as_anndata(X, **more):
    obs = pd.DataFrame(index=[f"cell{i}" for i in range(N_SAMPLES)])
    return anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=NAMES), **more)


def saved_h5ad(X, folder):
    as_anndata(X).write_h5ad(folder / "x.h5ad")
    return read_h5ad(folder / "x.h5ad")


def in_layer(X):
    return from_anndata(as_anndata(np.zeros_like(X), layers={"counts": X}), layer="counts")


CONTAINERS = {
    "lists": lambda X, _: X.tolist(),
    "numpy, Fortran order": lambda X, _: np.asfortranarray(X),
    "memory map": saved_npy,
    "pandas": lambda X, _: as_frame(X),
    "pandas, nullable": lambda X, _: as_frame(X).convert_dtypes(),
    "pandas, pyarrow": lambda X, _: as_frame(X).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda X, _: pl.from_pandas(as_frame(X)),
    "polars, lazy": lambda X, _: pl.from_pandas(as_frame(X)).lazy(),
    "pyarrow": lambda X, _: pa.Table.from_pandas(as_frame(X)),
    "sparse, csr": lambda X, _: sp.csr_array(X),
    "sparse, csc": lambda X, _: sp.csc_matrix(X),
    "sparse, coo": lambda X, _: sp.coo_array(X),
    "AnnData": lambda X, _: as_anndata(X),
    "AnnData, sparse": lambda X, _: as_anndata(sp.csr_matrix(X)),
    "AnnData, a layer": lambda X, _: in_layer(X),
    "h5ad": saved_h5ad,
    "h5ad, csr": lambda X, folder: saved_h5ad(sp.csr_matrix(X), folder),
    "h5ad, csc": lambda X, folder: saved_h5ad(sp.csc_matrix(X), folder),
    "Parquet": saved_parquet,
}


@pytest.mark.parametrize("data", [genotypes, measurements])
@pytest.mark.parametrize("container", CONTAINERS)
def test_same_answer_as_numpy(container, data, tmp_path):
    X, y = data()
    settings = {"dimensions": 2, "n_contrast": 50, "random_state": 0}
    expected = interplay.select(X, y, **settings)
    table = CONTAINERS[container](X, tmp_path)
    found = interplay.select(table, y, **settings)
    if found.names != expected.names:
        assert found.names == NAMES
    for column in ("gain", "p_value", "p_adjusted", "relevant", "gain_alone", "discretization"):
        assert np.array_equal(found.table[column], expected.table[column]), column
    assert np.array_equal(found.gains.tuples, expected.gains.tuples)
    assert np.array_equal(found.gains.contrast_gain, expected.gains.contrast_gain)
    assert set(np.flatnonzero(found.is_relevant)) == {5, 13}


def assert_same(found, expected):
    """The same bits, but for sums over classes in another order; files of genotypes have more columns."""
    found = found[expected.columns]
    column = "p_interaction"
    # Of the second class, by the order of labels, which may differ.
    of_labels = ["direction", "effect", "effect_low", "effect_high"]
    assert found.drop(columns=[column, *of_labels]).equals(expected.drop(columns=[column, *of_labels]))
    assert found[column].to_numpy() == pytest.approx(expected[column].to_numpy(), rel=1e-12, nan_ok=True)


class TestBed:
    @pytest.fixture
    def path(self, tmp_path):
        X, y = genotypes()
        pheno = np.where(y, "2", "1")
        properties = {"sid": NAMES, "pheno": pheno, "sex": np.arange(N_SAMPLES) % 2 + 1}
        to_bed(tmp_path / "study.bed", X, properties=properties)
        return tmp_path / "study.bed"

    def test_same_answer_as_numpy(self, path):
        X, y = genotypes()
        settings = {"dimensions": 2, "n_contrast": 50, "random_state": 0}
        expected = interplay.select(as_frame(X), y, **settings)
        study = read_bed(path)
        found = interplay.select(study, "phenotype", **settings)
        assert_same(found.table, expected.table)
        assert found.provenance["data_fingerprint"] != ""
        assert found.runs[0].class_labels == ["control", "case"]
        # Cases are the second class, as True is.
        assert found.table["effect"].equals(expected.table["effect"])
        threads = interplay.select(study, "phenotype", **settings, n_jobs=2)
        assert_same(threads.table, expected.table)
        # Three levels beside three: 2 · 3 degrees of freedom.
        assert set(found.gains.df) == {6}

    def test_blocks(self, path):
        X, _ = genotypes()
        study = read_bed(path)
        assert np.array_equal(study.block(3, 9), X[:, 3:9].T)
        assert np.array_equal(study.columns(np.array([7, 0, 7])), X[:, [7, 0, 7]].T)
        assert study.block(0, 4).flags.c_contiguous

    def test_sex_as_strata(self, path):
        X, y = genotypes()
        found = interplay.max_information_gain(read_bed(path), "phenotype", strata="sex")
        expected = interplay.max_information_gain(X, y, strata=np.arange(N_SAMPLES) % 2)
        assert np.array_equal(found.gain, expected.gain)

    def test_some_samples_and_variants(self, path):
        X, _ = genotypes()
        study = read_bed(path, samples=np.arange(N_SAMPLES) % 3 == 0, variants=["snp4", "snp5", "snp13"])
        assert study.names == ["snp4", "snp5", "snp13"]
        assert np.array_equal(study.block(0, 3), X[::3][:, [4, 5, 13]].T)
        assert study.sample_names.tolist() == [f"iid{i + 1}" for i in range(0, N_SAMPLES, 3)]
        assert np.array_equal(read_bed(path, samples=["iid9", "iid2"]).block(0, 2), X[[8, 1], :2].T)
        assert np.array_equal(read_bed(path, variants=[3, 1]).block(0, 2), X[:, [3, 1]].T)

    def test_missing_genotypes_and_phenotypes(self, tmp_path):
        X, y = genotypes()
        X[:20, 7] = -127
        pheno = np.where(y, "2", "1").astype(object)
        pheno[:4] = ["0", "-9", "0", "-9"]
        to_bed(tmp_path / "gaps.bed", X, properties={"sid": NAMES, "pheno": pheno})
        study = read_bed(tmp_path / "gaps.bed")
        assert study.phenotype[:4].tolist() == [None] * 4
        with pytest.raises(ValueError, match=r"^y has 4 missing values \(the first at sample 0\)"):
            interplay.select(study, "phenotype", dimensions=2)
        known = read_bed(tmp_path / "gaps.bed", samples="phenotyped")
        assert known.n_samples == N_SAMPLES - 4
        assert known.samples_left_out == 4
        with pytest.raises(ValueError, match=r"^X has 16 missing values in 1 column \('snp7'\)"):
            interplay.select(known, "phenotype", dimensions=2, missing="error")
        values = np.where(X == -127, np.nan, X)[4:]
        for missing in ("level", "impute"):
            settings = {"dimensions": 2, "missing": missing, "n_contrast": 50, "random_state": 0}
            found = interplay.select(known, "phenotype", **settings)
            assert_same(found.table, interplay.select(as_frame(values), y[4:], **settings).table)
            assert set(found.relevant) == {"snp5", "snp13"}

    @pytest.mark.parametrize(
        ("pheno", "expected"),
        [
            (["1.5", "-9", "2.25"], [1.5, np.nan, 2.25]),
            (["1", "2", "NA"], ["control", "case", None]),
            (["a", "b", "a"], ["a", "b", "a"]),
        ],
    )
    def test_phenotypes(self, pheno, expected, tmp_path):
        to_bed(tmp_path / "p.bed", np.zeros((3, 2), np.int8), properties={"pheno": pheno})
        found = read_bed(tmp_path / "p.bed").phenotype
        assert all(a == b or (a != a and b != b) for a, b in zip(found, expected, strict=True))

    def test_names_of_variants_without_an_id(self, tmp_path):
        properties = {
            "sid": ["rs1", ".", ".", "rs2", "rs2"],
            "chromosome": ["1", "1", "1", "9", "9"],
            "bp_position": [10, 20, 30, 40, 40],
            "allele_1": ["A", "A", "C", "T", "G"],
            "allele_2": ["G", "T", "T", "C", "C"],
        }
        to_bed(tmp_path / "v.bed", np.zeros((3, 5), np.int8), properties=properties)
        assert read_bed(tmp_path / "v.bed").names == ["rs1", "1:20:A:T", "1:30:C:T", "9:40:T:C", "9:40:G:C"]
        to_bed(tmp_path / "w.bed", np.zeros((3, 5), np.int8), properties=properties | {"sid": ["."] * 5} | {
            "bp_position": [7] * 5, "allele_1": ["A"] * 5, "allele_2": ["G"] * 5})  # fmt: skip
        with pytest.raises(ValueError, match=r"w\.bed' has more than one variant '1:7:A:G'"):
            read_bed(tmp_path / "w.bed")

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"samples": "some"}, "^samples must be 'all', 'phenotyped', a mask, or a list"),
            ({"samples": [True, False]}, "^samples, as a mask, must have 300 entries, not 2"),
            ({"variants": ["rs404"]}, "^variants names 'rs404', which is not in the file"),
            ({"variants": [24]}, "^variants must be numbers from 0 to 23"),
            ({"variants": np.zeros(24, dtype=bool)}, "^variants leaves nothing"),
        ],
    )
    def test_bad_choices(self, path, settings, message):
        with pytest.raises((ValueError, TypeError), match=message):
            read_bed(path, **settings)

    def test_bad_files(self, path):
        path.with_suffix(".fam").rename(path.with_suffix(".away"))
        with pytest.raises(FileNotFoundError, match=r"there is no such file.*study\.fam"):
            read_bed(path)
        path.with_suffix(".away").rename(path.with_suffix(".fam"))
        path.write_bytes(b"no genotypes")
        with pytest.raises(
            ValueError, match=r"is not a \.bed file that can be read: its first bytes are those of another format"
        ) as caught:
            read_bed(path)
        assert "\n" not in str(caught.value)


class TestAnnData:
    def test_column_of_obs_as_decision_and_result_in_var(self, tmp_path):
        X, y = genotypes()
        adata = as_anndata(X.astype(np.float32))
        adata.obs["state"] = pd.Categorical(np.where(y, "ill", "well"))
        adata.obs["donor"] = np.arange(N_SAMPLES) % 3
        settings = {"dimensions": 2, "n_contrast": 50, "random_state": 0}
        found = interplay.select(adata, "state", strata="donor", **settings)
        expected = interplay.select(as_frame(X), y, strata=np.arange(N_SAMPLES) % 3, **settings)
        assert_same(found.table, expected.table)
        found.annotate(adata)
        assert adata.var_names[adata.var["interplay_relevant"]].tolist() == ["snp5", "snp13"]
        assert adata.var.loc["snp5", "interplay_partners"] == "snp13"
        assert np.array_equal(adata.var["interplay_gain"], found.table["gain"])
        adata.write_h5ad(tmp_path / "annotated.h5ad")
        again = anndata.read_h5ad(tmp_path / "annotated.h5ad")
        assert again.var["interplay_relevant"].tolist() == adata.var["interplay_relevant"].tolist()
        backed = interplay.select(read_h5ad(tmp_path / "annotated.h5ad"), "state", strata="donor", **settings)
        assert_same(backed.table, expected.table)

    def test_only_some_genes_were_looked_at(self):
        X, y = genotypes()
        adata = as_anndata(X)
        interplay.select(adata[:, 3:20], y, dimensions=2, n_contrast=50, random_state=0).annotate(adata, prefix="mdfs_")
        assert adata.var["mdfs_relevant"].dtype == bool
        assert adata.var_names[adata.var["mdfs_relevant"]].tolist() == ["snp5", "snp13"]
        assert adata.var["mdfs_p_value"].isna().sum() == N_VARS - 17
        with pytest.raises(ValueError, match="does not contain any variable of this selection"):
            interplay.select(X, y, dimensions=1).annotate(adata)

    def test_blocks_of_a_file(self, tmp_path):
        X, _ = measurements()
        table = saved_h5ad(X, tmp_path)
        assert np.array_equal(table.columns(np.array([7, 0, 7])), X[:, [7, 0, 7]].T)

    def test_errors(self, tmp_path):
        adata = as_anndata(genotypes()[0], layers={"counts": genotypes()[0]})
        with pytest.raises(ValueError, match=r"^the AnnData has no X: choose one of its layers \(there are: none\)"):
            interplay.select(anndata.AnnData(obs=adata.obs, var=adata.var), [0, 1], dimensions=2)
        adata.obs["donor"] = 1
        with pytest.raises(ValueError, match=r"^y names 'state', which is neither a column of X nor known"):
            interplay.select(adata, "state", dimensions=2)
        with pytest.raises(FileNotFoundError, match="there is no such file"):
            read_h5ad(tmp_path / "none.h5ad")
        for table in (adata, from_anndata(adata)):
            with pytest.raises(TypeError, match="X must be an array or frame, of which transform"):
                interplay.MDFSSelector(dimensions=2).fit(table, [0, 1])


class TestParquet:
    def test_mixed_columns_as_pandas(self, tmp_path):
        rng = np.random.default_rng(0)
        n = 200
        frame = pd.DataFrame(
            {
                "real": rng.normal(size=n),
                "half": rng.normal(size=n).astype(np.float32),
                "whole": rng.integers(0, 90, n),
                "gaps": pd.array(rng.integers(0, 9, n), dtype="Int16"),
                "flag": rng.random(n) < 0.5,
                "text": rng.choice(["b", "a", "c"], n),
                "category": pd.Categorical(rng.choice(["low", "high"], n), categories=["low", "mid", "high"]),
                "a.b": rng.normal(size=n),
                "a": rng.normal(size=n),
                "ill": rng.choice(["yes", "no"], n),
            }
        )
        frame.loc[3, ["real", "gaps", "text", "category"]] = None
        frame.to_parquet(tmp_path / "x.parquet", row_group_size=33)
        table = scan_parquet(tmp_path / "x.parquet")
        from interplay.data.study.table import as_table

        eager = as_table(frame)
        assert table.names == eager.names
        assert table.kinds.tolist() == eager.kinds.tolist()
        assert np.array_equal(table.block(0, 10), eager.block(0, 10), equal_nan=True)
        assert np.array_equal(table.columns(np.array([8, 0, 8])), eager.columns(np.array([8, 0, 8])), equal_nan=True)
        settings = {"dimensions": 2, "missing": "level", "n_contrast": 30, "random_state": 0}
        found = interplay.select(table, "ill", **settings)
        assert found.table.equals(interplay.select(frame.drop(columns="ill"), frame["ill"], **settings).table)
        assert found.runs[0].class_labels == ["no", "yes"]

    def test_only_blocks_are_read(self, tmp_path, monkeypatch):
        X, _ = measurements()
        table = saved_parquet(X, tmp_path)
        seen = []
        original = table._read
        monkeypatch.setattr(table, "_read", lambda names: seen.append(len(names)) or original(names))
        table.block(2, 5)
        table.columns(np.array([7, 7]))
        assert seen == [3, 1]

    def test_file_that_does_not_count_its_gaps(self, tmp_path):
        pq.write_table(pa.table({"a": [1, 2, 3], "b": [1, None, 3]}), tmp_path / "x.parquet", write_statistics=False)
        block = scan_parquet(tmp_path / "x.parquet").block(0, 2)
        assert np.array_equal(block, [[1, 2, 3], [1, np.nan, 3]], equal_nan=True)

    def test_some_columns(self, tmp_path):
        X, _ = measurements()
        saved_parquet(X, tmp_path)
        table = scan_parquet(tmp_path / "x.parquet", columns=["snp5", "snp2"])
        assert np.array_equal(table.block(0, 2), X[:, [5, 2]].T)
        with pytest.raises(ValueError, match=r"^columns names 'foo', which is not a column of"):
            scan_parquet(tmp_path / "x.parquet", columns=["foo"])

    def test_errors(self, tmp_path):
        file = tmp_path / "x.parquet"
        pq.write_table(pa.table([[1], [2]], names=["a", "a"]), file)
        with pytest.raises(ValueError, match="X has more than one column named 'a'"):
            scan_parquet(file)
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}).to_parquet(file)
        with pytest.raises(TypeError, match="column 'when' of X holds dates or times"):
            scan_parquet(file)
        pd.DataFrame({"a": []}).to_parquet(file)
        with pytest.raises(ValueError, match="X has no samples"):
            scan_parquet(file)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory comes in other units, or not at all")
def test_genotypes_are_never_all_in_memory(tmp_path):
    """40 000 variants of 2 000 people: 10 MB a plane; 76 MB as bytes, 610 MB as float64."""
    n_vars, n_samples = 40_000, 2000
    file = tmp_path / "wide.bed"
    rng = np.random.default_rng(0)
    file.write_bytes(bytes([0x6C, 0x1B, 0x01]) + rng.bytes(n_vars * n_samples // 4))
    file.with_suffix(".bim").write_text("".join(f"1\trs{v}\t0\t{v}\tA\tG\n" for v in range(n_vars)))
    file.with_suffix(".fam").write_text("".join(f"f i{i} 0 0 1 {i % 2 + 1}\n" for i in range(n_samples)))
    code = (
        "import resource, interplay, bed_reader, joblib\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        f"study = interplay.genetics.read_bed({str(file)!r})\n"
        "interplay.max_information_gain(study, 'phenotype', missing='level', variables=[0])\n"
        "print(peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Three planes of each variant, and what is known of it; not the 76 MB of bytes on top.
    assert int(done.stdout) < 85 * 1024


@pytest.mark.parametrize(
    ("module", "call", "package"),
    [
        ("bed_reader", "interplay.genetics.read_bed('x.bed')", "bed-reader"),
        ("anndata", "interplay.singlecell.read_h5ad('x.h5ad')", "anndata"),
        ("pyarrow", "interplay.parquet.scan_parquet('x.parquet')", "pyarrow"),
    ],
)
def test_what_is_not_installed_is_named(module, call, package):
    code = f"import sys; sys.modules[{module!r}] = None; import interplay; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    # Packages by their names: no index may know where interplay came from.
    assert re.search(rf'run .* install "{package}>=[\d.]+"$', done.stderr.splitlines()[-1])
