"""Spreadsheets, files of SPSS, Stata and SAS, zip files, tables with genes in rows, outcomes in a second file."""

import builtins
import datetime
import gzip
import re
import warnings
import zipfile
from pathlib import Path

import anndata
import numpy as np
import openpyxl
import pandas as pd
import pyreadstat
import pytest
from bed_reader import to_bed

import interplay
from hostile.commands import run_command
from interplay.data.study.table import as_table
from interplay.io import read_data

N = 80
RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(20, 80, N),
        "dose": np.round(RNG.normal(size=N), 4),
        "kind": RNG.choice(["u", "v", "w"], N),
        "outcome": np.where(RNG.random(N) < 0.5, "ill", "well"),
    }
)


def said(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = call()
    return found, [str(warning.message) for warning in caught]


def assert_reads_as(path, expected=FRAME, **options):
    X, y = read_data(path, target="outcome", **options)
    table, wanted = as_table(X), as_table(expected.drop(columns="outcome"))
    assert table.names == wanted.names
    np.testing.assert_array_equal(table.block(0, table.n_vars), wanted.block(0, wanted.n_vars))
    assert list(y) == expected["outcome"].tolist()


@pytest.fixture
def sheet(tmp_path):
    FRAME.to_excel(tmp_path / "data.xlsx", index=False)
    return tmp_path / "data.xlsx"


def write_rows(path, *rows, **sheets):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name, content in sheets.items():
        other = book.create_sheet(name)
        for row in content:
            other.append(row)
    book.save(path)
    return path


class TestSpreadsheets:
    def test_the_same_table(self, sheet):
        assert_reads_as(sheet)

    def test_row_names_are_left_out(self, tmp_path):
        FRAME.to_excel(tmp_path / "named.xlsx")
        assert_reads_as(tmp_path / "named.xlsx")

    def test_a_table_that_starts_further_down(self, tmp_path):
        FRAME.to_excel(tmp_path / "data.xlsx", index=False, startrow=3, startcol=2)
        assert_reads_as(tmp_path / "data.xlsx")

    def test_sheets(self, tmp_path):
        path = write_rows(tmp_path / "a.xlsx", ["a", "y"], [1, "x"], [2, "z"], second=[["b", "y"], [3, "x"], [4, "z"]])
        (X, _), words = said(lambda: read_data(path, target="y"))
        assert X["a"].tolist() == [1, 2]
        assert "has 2 sheets, and the first, 'Sheet', is read: use sheet='second' for another" in words[0]
        X, _ = read_data(path, target="y", sheet="second")
        assert X["b"].tolist() == [3, 4]

    def test_cells_of_every_kind(self, tmp_path):
        day = datetime.date(1970, 1, 2)
        path = write_rows(
            tmp_path / "a.xlsx",
            ["n", "gap", "junk", "flag", "when", "mixed", "text", "y"],
            [1, 1.5, 5, True, day, 1, "u", 0],
            [],
            [2, None, "?", False, datetime.datetime(1970, 1, 3, 12), "no", "v", 1],
            [3, 2.5, 7, True, day, 3, None, 0],
        )
        (X, _), words = said(lambda: read_data(path, target="y"))
        assert X.index.tolist() == [2, 4, 5]
        assert X["n"].dtype == np.int64
        np.testing.assert_array_equal(X["gap"], [1.5, np.nan, 2.5])
        np.testing.assert_array_equal(X["junk"], [5, np.nan, 7])
        assert X["flag"].dtype == bool
        assert X["when"].tolist() == [1, 2.5, 1]
        assert X["mixed"].tolist() == ["1", "no", "3"]
        assert X["text"].tolist()[:2] == ["u", "v"]
        assert any("'?' in column 'junk' (1 value, in row 4)" in word for word in words)
        assert any("column 'when' (dates, as days)" in word for word in words)
        assert any("column 'mixed' is taken as labels because of 'no' in row 4" in word for word in words)

    def test_na_values(self, tmp_path):
        path = write_rows(tmp_path / "a.xlsx", ["a", "b", "y"], [1, "u", 0], [-9, "n.d.", 1], [3, "v", 1])
        X, _ = read_data(path, target="y", na_values=["-9", "n.d."])
        assert X.isna().sum().tolist() == [1, 1]

    def test_genes_in_rows(self, tmp_path):
        path = write_rows(
            tmp_path / "a.xlsx", ["gene", "s1", "s2", "s3"], ["g", 1, 2, 3], ["k", "u", "v", "u"], ["y", 0, 1, 1]
        )
        X, y = read_data(path, target="y", transpose=True)
        assert X["g"].tolist() == [1, 2, 3]
        assert X["k"].tolist() == ["u", "v", "u"]
        assert y.tolist() == [0, 1, 1]

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ([], "sheet 'Sheet', is empty"),
            ([["a", "y"]], "has a header but no rows"),
            ([["a", "a", "y"], [1, 2, 3]], r"more than one column named 'a' \(columns 1, 2\)"),
            ([["Table 1", None, None], ["a", "b", "y"], [1, 2, 3]], r"header in row 1\) has no name for column 2"),
        ],
    )
    def test_what_is_wrong_is_said(self, tmp_path, rows, message):
        with pytest.raises(ValueError, match=message):
            read_data(write_rows(tmp_path / "a.xlsx", *rows), target="y")

    def test_a_web_page(self, tmp_path):
        (tmp_path / "page.xls").write_text("<html><table></table></html>")
        with pytest.raises(ValueError, match=r"page.xls' is a web page or XML, not a spreadsheet"):
            read_data(tmp_path / "page.xls", target="outcome")


class TestStatistical:
    @pytest.mark.parametrize(
        ("ending", "write"),
        [
            (".sav", pyreadstat.write_sav),
            (".zsav", lambda frame, path: pyreadstat.write_sav(frame, path, compress=True)),
            (".por", pyreadstat.write_por),
            (".dta", pyreadstat.write_dta),
            (".xpt", pyreadstat.write_xport),
        ],
    )
    def test_the_same_table(self, tmp_path, ending, write):
        frame = FRAME.rename(columns=str.upper) if ending == ".por" else FRAME
        write(frame, str(tmp_path / f"data{ending}"))
        X, y = read_data(tmp_path / f"data{ending}", target="OUTCOME" if ending == ".por" else "outcome")
        table, expected = as_table(X), as_table(FRAME.drop(columns="outcome"))
        np.testing.assert_allclose(table.block(0, 3), expected.block(0, 3), rtol=1e-12)
        assert list(y) == FRAME["outcome"].tolist()

    def test_sas(self, tmp_path):
        """Of R's package haven (MIT licence): Fisher's irises, written by SAS."""
        content = gzip.decompress((Path(__file__).parents[1] / "data" / "iris.sas7bdat.gz").read_bytes())
        (tmp_path / "iris.sas7bdat").write_bytes(content)
        X, y = read_data(tmp_path / "iris.sas7bdat", target="Species")
        assert as_table(X).names == ["Sepal_Length", "Sepal_Width", "Petal_Length", "Petal_Width"]
        by_pandas = pd.read_sas(tmp_path / "iris.sas7bdat", encoding="latin-1")
        assert list(y) == by_pandas.pop("Species").tolist()
        np.testing.assert_array_equal(X.to_numpy(), by_pandas.to_numpy())

    @pytest.mark.filterwarnings("ignore:column 'grade' of X determines y completely")
    def test_value_labels_are_levels_in_the_order_of_the_codes(self, tmp_path):
        frame = pd.DataFrame({"grade": [3, 1, 2, 1] * 5, "twice": [1, 2, 3, 3] * 5, "y": [1, 2] * 10})
        labels = {
            "grade": {1: "low", 2: "middle", 3: "high"},
            "twice": {1: "same", 2: "same", 3: "other"},
            "y": {1: "well", 2: "ill"},
        }
        for ending, write in ((".sav", pyreadstat.write_sav), (".dta", pyreadstat.write_dta)):
            write(frame, str(tmp_path / f"a{ending}"), variable_value_labels=labels)
            X, y = read_data(tmp_path / f"a{ending}", target="y")
            assert X["grade"].cat.categories.tolist() == ["low", "middle", "high"]
            assert X["grade"].tolist()[:4] == ["high", "low", "middle", "low"]
            assert X["twice"].cat.categories.tolist() == ["same (1)", "same (2)", "other (3)"]
            assert interplay.select(X, y, random_state=0).runs[0].class_labels == ["well", "ill"]

    def test_numbers_of_which_some_have_labels_stay_numbers(self, tmp_path):
        frame = pd.DataFrame({"age": [30.0, 41, 99, 52] * 5, "y": [0.0, 1] * 10})
        pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), variable_value_labels={"age": {99: "refused"}})
        (X, _), words = said(lambda: read_data(tmp_path / "a.sav", target="y"))
        assert X["age"].tolist() == frame["age"].tolist()
        assert words[0].startswith(
            "some numbers have labels, and these columns are taken as numbers: 99 ('refused') in column 'age': name "
            "those"
        )
        X, _ = read_data(tmp_path / "a.sav", target="y", na_values=["99"])
        assert X["age"].isna().sum() == 5
        pyreadstat.write_sav(
            frame, str(tmp_path / "b.sav"), variable_value_labels={"age": {99: "refused"}}, missing_ranges={"age": [99]}
        )
        X, _ = read_data(tmp_path / "b.sav", target="y")  # what SPSS calls missing
        assert X["age"].isna().sum() == 5

    def test_dates_and_empty_texts(self, tmp_path):
        frame = pd.DataFrame(
            {"when": [datetime.date(1970, 1, 3)] * 4, "name": ["a", "", "b", "a"], "y": [0.0, 1, 0, 1]}
        )
        pyreadstat.write_sav(frame, str(tmp_path / "a.sav"))
        (X, _), words = said(lambda: read_data(tmp_path / "a.sav", target="y"))
        assert X["when"].tolist() == [2] * 4
        assert X["name"].isna().tolist() == [False, True, False, False]
        assert "'' in column 'name' (1 value, in row 2)" in words[0]
        assert "'when' (dates, as days)" in words[1]

    @pytest.mark.parametrize("version", [5, 8])
    def test_a_transport_file_without_its_end_is_refused(self, tmp_path, version):
        """Unless it ends between two rows and two records: of version 5, nothing then tells how many there were."""
        whole = tmp_path / "whole.xpt"
        pyreadstat.write_xport(FRAME, str(whole), file_format_version=version)
        assert len(read_data(whole, target="outcome")[1]) == len(FRAME)
        for lost in (1, 79, 80, 100, 160, 400):
            cut = tmp_path / "cut.xpt"
            cut.write_bytes(whole.read_bytes()[:-lost])
            with pytest.raises(ValueError, match=r"cut.xpt' ends in the middle of its rows: get the whole file"):
                read_data(cut, target="outcome")

    def test_other_files(self, tmp_path):
        for ending in (".sav", ".dta", ".sas7bdat", ".xpt", ".por"):
            (tmp_path / f"text{ending}").write_text("a,y\n1,2\n")
            with pytest.raises(ValueError, match=rf"text\{ending}' is not a \{ending} file that can be read"):
                read_data(tmp_path / f"text{ending}", target="y")


@pytest.mark.parametrize(("package", "name"), [("python_calamine", "a.xlsx"), ("pyreadstat", "a.sav")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, package, name):
    real = builtins.__import__

    def without(module, *rest):
        if module.partition(".")[0] == package:
            raise ImportError
        return real(module, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    (tmp_path / name).touch()
    with pytest.raises(ImportError, match=rf'run .* install "{package.replace("_", "-")}>=[\d.]+"$'):
        read_data(tmp_path / name, target="y")


class TestZip:
    def zipped(self, folder, **files):
        with zipfile.ZipFile(folder / "data.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return folder / "data.zip"

    def test_one_table(self, tmp_path, sheet):
        csv = FRAME.to_csv(index=False).encode()
        assert_reads_as(self.zipped(tmp_path, **{"study/table.csv": csv, "__MACOSX/._table.csv": b"x", "study/": b""}))
        assert_reads_as(self.zipped(tmp_path, **{"data.xlsx": sheet.read_bytes()}))

    def test_a_bomb_is_not_unpacked(self, tmp_path, monkeypatch):
        bomb = self.zipped(tmp_path, **{"a.csv": b"a,y\n" + b"1,0\n" * 2**19})
        monkeypatch.setattr("interplay.readers.data_file._MAX_BYTES", 1 << 16)
        with pytest.raises(ValueError, match=r"data\.zip' unpacks to 2 MiB, more than 100 times its size"):
            read_data(bomb, target="y")

    def test_what_is_wrong_is_said(self, tmp_path):
        csv = FRAME.to_csv(index=False).encode()
        for files, message in (
            (
                {"a.csv": csv, "b.csv": csv},
                r"data\.zip' must hold one table, and it holds 2 files \('a\.csv', 'b\.csv'\)",
            ),
            ({"a.parquet": b""}, r"data\.zip/a\.parquet' is read in blocks"),
            ({"a.csv": b"a,y\n1\n"}, r"data\.zip/a\.csv', first row: 1 field"),
            ({"a.docx": b"a"}, r"data\.zip/a\.docx' has an unknown file extension"),
        ):
            with pytest.raises(ValueError, match=message):
                read_data(self.zipped(tmp_path, **files), target="y")
        whole = self.zipped(tmp_path, **{"a.csv": csv}).read_bytes()
        (tmp_path / "changed.zip").write_bytes(whole[:60] + b"????" + whole[64:])
        with pytest.raises(ValueError, match=r"changed\.zip' is not a zip file, or is damaged"):
            read_data(tmp_path / "changed.zip", target="y")


GENES = ["gyrA", "tetM", "NA", "blaZ", "group_1"]
GENOMES = [f"g{i}" for i in range(40)]
PRESENCE = (np.random.default_rng(2).random((len(GENES), len(GENOMES))) < 0.5).astype(int)
TRAIT = PRESENCE[1] ^ PRESENCE[3]


def roary(folder):
    """Write gene_presence_absence.csv as Roary does."""
    columns = [
        "Gene",
        "Non-unique Gene name",
        "Annotation",
        "No. isolates",
        "No. sequences",
        "Avg sequences per isolate",
    ]
    columns += ["Genome Fragment", "Order within Fragment", "Accessory Fragment", "Accessory Order with Fragment", "QC"]
    columns += ["Min group size nuc", "Max group size nuc", "Avg group size nuc", *GENOMES]
    lines = [",".join(f'"{name}"' for name in columns)]
    for gene, row in zip(GENES, PRESENCE, strict=True):
        known = [gene, "", "hypothetical, protein", "3", "3", "1", "1", "1", "", "", "", "100", "100", "100"]
        cells = [f"tag_{i}" if there else "" for i, there in enumerate(row)]
        lines.append(",".join(f'"{cell}"' for cell in known + cells))
    (folder / "gene_presence_absence.csv").write_text("\n".join(lines) + "\n")
    return folder / "gene_presence_absence.csv"


def rtab(folder):
    lines = ["\t".join(["Gene", *GENOMES])]
    lines += ["\t".join([gene, *map(str, row)]) for gene, row in zip(GENES, PRESENCE, strict=True)]
    (folder / "gene_presence_absence.Rtab").write_text("\n".join(lines) + "\n")
    return folder / "gene_presence_absence.Rtab"


def traits(folder, order=slice(None), **others):
    """Write traits as Scoary wants them: the first column has no name."""
    frame = pd.DataFrame({"resistant": TRAIT, **others}, index=GENOMES)
    frame[order].to_csv(folder / "traits.csv")
    return folder / "traits.csv"


class TestGenesInRows:
    @pytest.mark.parametrize("write", [roary, rtab])
    def test_genes_and_traits(self, tmp_path, write):
        X, y = read_data(write(tmp_path), transpose=True, target_file=traits(tmp_path, slice(None, None, -1)))
        table = as_table(X)
        assert table.names == GENES
        np.testing.assert_array_equal(table.block(0, len(GENES)), PRESENCE)
        assert list(y) == TRAIT.tolist()
        assert sorted(interplay.select(X, y, random_state=0).relevant) == ["blaZ", "tetM"]

    def test_roary_without_transpose_is_pointed_at(self, tmp_path):
        with pytest.raises(
            ValueError, match="is a table of Roary or Panaroo, with a gene in each row: use transpose=True"
        ):
            read_data(roary(tmp_path), target="resistant")

    def test_panaroo(self, tmp_path):
        lines = ["Gene,Non-unique Gene name,Annotation,s1,s2,s3", "a,,x,t1,,t3", "b,,x,,t2;t3,t4", "y,,,t,,"]
        (tmp_path / "genes.csv").write_text("\n".join(lines))
        X, y = read_data(tmp_path / "genes.csv", transpose=True, target="y")
        assert X["a"].tolist() == [1, 0, 1]
        assert X["b"].tolist() == [0, 1, 1]
        assert list(y) == [1, 0, 0]

    def test_columns_of_every_kind(self, tmp_path):
        lines = ["\ts1\ts2\ts3\ts4", "x\t1,5\t2\t3,5\t4", "n\t1\t2\t?\t4", "k\tu\tv\tu\tv", "y\t0\t1\t0\t1"]
        for first in (lines[0], lines[0][1:]):  # with a place for the name of the first column, and as R writes it
            (tmp_path / "a.tsv").write_text("\n".join([first, *lines[1:]]))
            (X, y), words = said(lambda: read_data(tmp_path / "a.tsv", target="y", transpose=True))
            assert X["x"].tolist() == [1.5, 2, 3.5, 4]
            np.testing.assert_array_equal(X["n"], [1, 2, np.nan, 4])
            assert X["k"].tolist() == ["u", "v", "u", "v"]
            assert y.tolist() == [0, 1, 0, 1]
            assert words == ["read as missing values: '?' in column 'n' (1 value, in sample s3)"]

    def test_a_wide_table_is_read_in_time(self, tmp_path):
        rows = [f"v{v}," + ",".join("abc"[(i * v) % 3] for i in range(20)) for v in range(2000)]
        (tmp_path / "a.csv").write_text("\n".join(["gene," + ",".join(f"s{i}" for i in range(20)), *rows]))
        X, _ = read_data(tmp_path / "a.csv", target="v7", transpose=True)
        assert X.shape == (20, 1999)

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (["gene,s1,s1", "a,1,2"], r"more than one column named 's1' \(columns 2, 3\)"),
            (["gene,s1,s2", "a,1,2", "a,1,2"], r"more than one row named 'a' \(rows 1, 2\)"),
            (["gene,s1,s2", "a,1,2", "b,1"], "line 3: 2 fields"),
            (["gene,s1,s2", ",1,2"], "no name for row 1"),
            (["gene", "a", "b"], "no columns of samples"),
        ],
    )
    def test_what_is_wrong_is_said(self, tmp_path, lines, message):
        (tmp_path / "a.csv").write_text("\n".join(lines))
        with pytest.raises(ValueError, match=message):
            read_data(tmp_path / "a.csv", target="y", transpose=True)


class TestTargetFile:
    def test_samples_are_joined_by_name(self, tmp_path):
        ids = [f"p{i}" for i in range(N)]
        FRAME.drop(columns="outcome").assign(id=ids).to_csv(tmp_path / "data.csv", index=False)
        order = np.random.default_rng(0).permutation(N)[: N - 5]
        others = pd.DataFrame({"patient": [*np.array(ids)[order], "extra"], "batch": ["a", "b"] * ((N - 4) // 2)})
        others["outcome"] = [*FRAME["outcome"].to_numpy()[order], "ill"]
        others.to_csv(tmp_path / "traits.csv", index=False)
        (X, y), words = said(
            lambda: read_data(
                tmp_path / "data.csv", target="outcome", target_file=tmp_path / "traits.csv", sample_id="id"
            )
        )
        kept = np.sort(order)
        table = as_table(X)
        assert table.names == ["age", "dose", "kind"]
        assert table.block(0, 1)[0].tolist() == FRAME["age"].to_numpy()[kept].tolist()
        assert list(y) == FRAME["outcome"].to_numpy()[kept].tolist()
        assert re.search(r"5 of 80 samples of '.*data\.csv' are not in '.*traits\.csv' \('p", words[-1])
        assert re.search(r"1 of 76 samples of '.*traits\.csv' are not in '.*data\.csv' \('extra'\)", words[-1])
        assert words[-1].endswith("the 75 samples that are in both are used")
        assert table.place(0) == f"sample {ids[kept[0]]!r}"
        assert table.samples_left_out == 5
        interplay.select(X, y, strata="batch", random_state=0)

    def test_a_missing_trait(self, tmp_path):
        frame = pd.DataFrame({"resistant": [None, *TRAIT[1:]]}, index=GENOMES)
        frame.to_csv(tmp_path / "traits.csv", na_rep=".")
        options = {"transpose": True, "target_file": tmp_path / "traits.csv"}
        path = rtab(tmp_path)
        with pytest.raises(
            ValueError, match=r"column 'resistant': 1 of 40 values is missing \(the first: sample 'g0'\)"
        ):
            said(lambda: read_data(path, **options))
        (X, y), words = said(lambda: read_data(path, missing_target="drop", **options))
        assert as_table(X).n_samples == len(list(y)) == 39
        assert as_table(X).samples_left_out == 1
        assert words[-1].endswith("this sample is left out")

    def test_a_bed_file(self, tmp_path):
        genotypes = np.random.default_rng(0).integers(0, 3, size=(40, 6))
        to_bed(tmp_path / "s.bed", genotypes.astype("int8"), properties={"iid": GENOMES})
        X, y = read_data(tmp_path / "s.bed", target_file=traits(tmp_path, slice(None, None, -1)))
        np.testing.assert_array_equal(as_table(X).block(0, 6).T, genotypes)
        assert list(y) == TRAIT.tolist()

    def test_an_h5ad_file(self, tmp_path):
        obs = pd.DataFrame(index=GENOMES)
        anndata.AnnData(PRESENCE.T.astype(np.float32), obs=obs).write_h5ad(tmp_path / "s.h5ad")
        X, y = read_data(tmp_path / "s.h5ad", target_file=traits(tmp_path, slice(None, None, -1)))
        np.testing.assert_array_equal(as_table(X).block(0, len(GENES)), PRESENCE)
        assert list(y) == TRAIT.tolist()

    def test_results_do_not_replace_the_traits(self, tmp_path):
        done = run_command(
            "run", rtab(tmp_path), "--transpose", "--target-file", traits(tmp_path), "--out", tmp_path / "traits.csv"
        )
        assert done.code == 2
        assert "is also used for something else" in done.err

    def test_a_parquet_file(self, tmp_path):
        pd.DataFrame(PRESENCE.T, columns=GENES).assign(id=GENOMES).to_parquet(tmp_path / "a.parquet")
        with pytest.raises(ValueError, match="sample_id is needed"):
            read_data(tmp_path / "a.parquet", target_file=traits(tmp_path))
        X, y = read_data(tmp_path / "a.parquet", target_file=traits(tmp_path), sample_id="id")
        np.testing.assert_array_equal(as_table(X).block(0, 5), PRESENCE)
        assert list(y) == TRAIT.tolist()

    def test_what_is_wrong_is_said(self, tmp_path):
        genes, other = rtab(tmp_path), traits(tmp_path, mic=[1, 2] * 20)
        with pytest.raises(
            ValueError, match="target is needed: name the column with the outcome, one of 'resistant', 'mic'"
        ):
            read_data(genes, transpose=True, target_file=other)
        with pytest.raises(
            ValueError, match=r"have no sample in common .'gyrA', 'tetM', … in the one, 'g0', 'g1', … in"
        ):
            read_data(genes, target="mic", target_file=other)
        other.write_text(other.read_text() + "g0,1,1\n")
        with pytest.raises(ValueError, match=r"traits\.csv' has more than one sample 'g0'"):
            read_data(genes, target="mic", transpose=True, target_file=other)
        np.save(tmp_path / "a.npy", PRESENCE)
        with pytest.raises(ValueError, match=r"target_file cannot be used with \.npy files"):
            read_data(tmp_path / "a.npy", target="0", target_file=other)

    def test_on_the_command_line(self, tmp_path):
        genes, other = rtab(tmp_path), traits(tmp_path)
        options = ["run", genes, "--transpose", "--target-file", other, "--seed", "1", "--format", "csv"]
        done = run_command(*options, "--write-config", tmp_path / "run.toml")
        assert done.code == 0
        assert done.out.splitlines()[2].startswith("tetM,")
        again = run_command("run", genes, "--config", tmp_path / "run.toml", "--format", "csv")
        assert again.out == done.out
        done = run_command("run", roary(tmp_path), "--target", "resistant")
        assert "use --transpose, and give the traits of the genomes as --target-file" in done.err
