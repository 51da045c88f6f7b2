"""Data files of every format, and what reads them."""

import gzip
import io
import os
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
from bed_reader import to_bed

import interplay
from hostile.case import Area, refused, same
from hostile.data import CODES, FRAME, N_SAMPLES, X, Y, gains
from interplay.io import read_data, write_table

WITH_Y = FRAME.assign(y=Y)
CSV = WITH_Y.to_csv(index=False).encode()


def read(name, content, target="y", **options):
    """Write a file, read it and search what it holds."""
    Path(name).write_bytes(content)
    return gains(*read_data(name, target=target, **options))


def text(*lines):
    return "\n".join(lines).encode()


def as_bytes(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


PARQUET = as_bytes(WITH_Y.to_parquet)
XLSX = as_bytes(lambda file: WITH_Y.to_excel(file, index=False))
FEATHER = as_bytes(WITH_Y.to_feather)
NPY = as_bytes(lambda file: np.save(file, WITH_Y.to_numpy()))
NPZ = as_bytes(lambda file: np.savez(file, X=X, y=Y))
OBJECTS = as_bytes(lambda file: np.save(file, np.array([{}]), allow_pickle=True))


def plink(change=lambda: None):
    """Write a PLINK file, do something to it and open it."""
    to_bed("s.bed", CODES.astype(np.int8), properties={"pheno": np.where(Y, "2", "1")})
    change()
    return interplay.genetics.read_bed("s.bed")


def cut(name, length):
    Path(name).write_bytes(Path(name).read_bytes()[:length])


def h5ad(name="s.h5ad"):
    obs = pd.DataFrame({"ill": Y}, index=[f"cell{i}" for i in range(N_SAMPLES)])
    made = anndata.AnnData(X.copy(), obs=obs, layers={"raw": X.copy()})
    made.write_h5ad(name)
    return made


def read_cut_h5ad(length):
    h5ad()
    cut("s.h5ad", length)
    return interplay.singlecell.read_h5ad("s.h5ad")


#: The first rows have whole numbers only.
DECIMAL_COMMAS = "a;y\n" + "".join(f"{i};{i % 2}\n" for i in range(30)) + "".join(f"{i},5;{i % 2}\n" for i in range(30))


def read_alone(name, content, **options):
    """Search each variable of a file by itself."""
    Path(name).write_bytes(content)
    return gains(*read_data(name, target="y", **options), dimensions=1)


def read_pipe(name):
    os.mkfifo(name)
    return read_data(name, target="y")


AREA = Area(
    "Data files",
    [
        # --- Any file
        refused("a file that does not exist", lambda: read_data("no.csv"), "there is no such file"),
        refused("a folder", lambda: read_data("."), "it is a folder"),
        refused("a name without an ending", lambda: read("data", CSV), "'data' has an unknown file extension"),
        refused(
            "an ending of another trade", lambda: read("data.docx", CSV), "'data.docx' has an unknown file extension"
        ),
        refused("`read_data(7)`", lambda: read_data(7), "^path must be"),
        refused("`read_data(None)`", lambda: read_data(None), "^path must be"),
        refused("a name with a zero byte", lambda: read_data("a\0b.csv"), "^path must be"),
        refused("a name as bytes", lambda: read_data(b"a.csv"), "^path must be"),
        refused("no target", lambda: read("a.csv", CSV, None), "^target is needed"),
        refused(
            "a target that does not exist", lambda: read("a.csv", CSV, "yy"), "'a.csv' has no column 'yy': did you mean"
        ),
        refused("a target that is dropped", lambda: read("a.csv", CSV, drop=["y"]), "'y' is both target and dropped"),
        refused("dropping a column that does not exist", lambda: read("a.csv", CSV, drop=["zz"]), "has no column 'zz'"),
        refused("dropping every column", lambda: read("a.csv", CSV, drop=list(FRAME)), "^X has no variables"),
        refused("a delimiter of two characters", lambda: read("a.csv", CSV, delimiter=";;"), "^delimiter must be"),
        refused("a delimiter that is a line break", lambda: read("a.csv", CSV, delimiter="\n"), "^delimiter must be"),
        refused("an empty delimiter", lambda: read("a.csv", CSV, delimiter=""), "^delimiter must be"),
        refused("a delimiter that is a number", lambda: read("a.csv", CSV, delimiter=7), "^delimiter must be"),
        # --- Text
        refused("an empty .csv", lambda: read("a.csv", b""), "'a.csv' is empty"),
        refused("a .csv of blank lines", lambda: read("a.csv", b"\n\n  \n"), "'a.csv' is empty"),
        refused("a header and no rows", lambda: read("a.csv", b"a,y\n"), "'a.csv' has a header but no rows"),
        refused("a header of quoted blanks", lambda: read("a.csv", b'" "\n'), "'a.csv' has no column names"),
        refused("zeros", lambda: read("a.csv", b"\0" * 100), "'a.csv' is not text"),
        refused("a picture", lambda: read("a.csv", b"\x89PNG\r\n\x1a\n\xff\xfe"), "'a.csv' is not UTF-8 text"),
        refused("UTF-16", lambda: read("a.csv", CSV.decode().encode("utf-16")), "'a.csv' is not"),
        refused("Latin-1", lambda: read("a.csv", "größe,y\n1,0\n".encode("latin-1")), "'a.csv' is not UTF-8 text"),
        refused("a row with a field too many", lambda: read("a.csv", text("a,y", "1,0", "2,1,9")), "'a.csv', line 3"),
        refused("a row with a field too few", lambda: read("a.csv", text("a,b,y", "1,2,0", "2")), "'a.csv', line 3"),
        refused("a repeated name", lambda: read("a.csv", text("a,a,y", "1,2,0")), "more than one column named 'a'"),
        refused("a column without a name", lambda: read("a.csv", text("a,,y", "1,2,0")), "no name for column 2"),
        refused("a quote that never closes", lambda: read("a.csv", b'a,y\n1,"0\n' + b"2,1\n" * 99), "'a.csv'"),
        refused("a lone carriage return before a tab", lambda: read("a.csv", b"a,y\n1,0\n\r\t2,1\n"), "^y has a class"),
        refused("a damaged .gz", lambda: read("a.csv.gz", gzip.compress(CSV)[:60]), "'a.csv.gz' is damaged"),
        refused("a .gz with a changed byte", lambda: read("a.csv.gz", changed_gz()), "'a.csv.gz' is damaged"),
        same(
            "a .csv with a byte order mark",
            lambda: read("a.csv", b"\xef\xbb\xbf" + CSV),
            "without",
            lambda: read("b.csv", CSV),
        ),
        same(
            "Windows line ends",
            lambda: read("a.csv", CSV.replace(b"\n", b"\r\n")),
            "Unix's",
            lambda: read("b.csv", CSV),
        ),
        same(
            "old Mac line ends", lambda: read("a.csv", CSV.replace(b"\n", b"\r")), "Unix's", lambda: read("b.csv", CSV)
        ),
        same(
            "semicolons and decimal commas",
            lambda: read("a.csv", WITH_Y.to_csv(index=False, sep=";", decimal=",").encode()),
            "commas and decimal points",
            lambda: read("b.csv", CSV),
        ),
        same(
            "decimal commas, whole numbers in the first rows",
            lambda: read_alone("a.csv", DECIMAL_COMMAS.encode()),
            "decimal points",
            lambda: read_alone("b.csv", DECIMAL_COMMAS.replace(",", ".").replace(";", ",").encode()),
        ),
        same(
            "`1,234,567` and `447` between tabs",
            lambda: read_alone("a.tsv", text("a\ty", *["1,234,567\t0", "447\t1", "12\t0"] * 9)),
            "1234567 and 447",
            lambda: read_alone("b.tsv", text("a\ty", *["1234567\t0", "447\t1", "12\t0"] * 9)),
        ),
        refused(
            "`1,234` and `447` between tabs, and nothing else to go by",
            lambda: read_alone("a.tsv", text("a\ty", *["1,234\t0", "447\t1"] * 9)),
            "^'a.tsv', column 'a': '1,234' .line 2. and '447' .line 3. can be read in two ways",
        ),
        same(
            "`1,234` and `447`, in a file with decimal commas",
            lambda: read_alone("a.tsv", text("a\tb\ty", *["1,234\t0,5\t0", "447\t2,25\t1"] * 9)),
            "1.234 and 447",
            lambda: read_alone("b.tsv", text("a\tb\ty", *["1.234\t0.5\t0", "447\t2.25\t1"] * 9)),
        ),
        same(
            "`1,234` and `447`, with `decimal='.'`",
            lambda: read_alone("a.tsv", text("a\ty", *["1,234\t0", "447\t1"] * 9), decimal="."),
            "1234 and 447",
            lambda: read_alone("b.tsv", text("a\ty", *["1234\t0", "447\t1"] * 9)),
        ),
        same(
            "`1,8` and `1.9` in one column",
            lambda: read_alone("a.tsv", text("a\ty", *["1,8\t0", "1.9\t1"] * 9)),
            "labels",
            lambda: read_alone("b.tsv", text("a\ty", *["u\t0", "v\t1"] * 9)),
        ),
        refused(
            "`?` in a fifth of a column of numbers",
            lambda: read_alone("a.csv", text("a,y", *["?,0", "1,1", "2,0", "3,1", "4,0"] * 9)),
            "^X has 9 missing values in 1 column .'a'.: .*the first: column 'a', line 2; there are 9",
        ),
        same(
            "`bad` in a fifth of a column of numbers",
            lambda: read_alone("a.csv", text("a,y", *["bad,0", "1,1", "2,0", "3,1", "4,0"] * 9)),
            "labels",
            lambda: read_alone("b.csv", text("a,y", *["p,0", "q,1", "r,0", "s,1", "t,0"] * 9)),
        ),
        refused("`decimal=';'`", lambda: read("a.csv", CSV, decimal=";"), "^decimal must be one of"),
        refused(
            "a zero byte in a cell", lambda: read("a.csv", b"a,y\n1,0\n\x00,1\n"), "'a.csv', line 3, character 1: a z"
        ),
        refused(
            "UTF-16 without a mark", lambda: read("a.csv", CSV.decode().encode("utf-16-le")), "is not UTF-8 text but"
        ),
        refused("a pipe that is called .parquet", lambda: read_pipe("a.parquet"), "'a.parquet' is a pipe or device"),
        same(
            "names in quotes, with commas and line breaks",
            lambda: read("a.csv", CSV.replace(b"v0", b'"v,\n0"')),
            "plain names",
            lambda: read("b.csv", CSV),
        ),
        same(
            "blank lines between rows",
            lambda: read("a.csv", CSV.replace(b"\n", b"\n\n")),
            "without",
            lambda: read("b.csv", CSV),
        ),
        same(
            "row names without a header",
            lambda: read("a.csv", WITH_Y.to_csv().encode()),
            "without them",
            lambda: read("b.csv", CSV),
        ),
        # --- Other formats
        refused(
            "a .parquet that is text", lambda: read("a.parquet", CSV), "^'a.parquet' is not a Parquet", theirs="read: "
        ),
        refused(
            "half a .parquet",
            lambda: read("a.parquet", PARQUET[: len(PARQUET) // 2]),
            "^'a.parquet' is not a Parquet",
            theirs="read: ",
        ),
        refused("an empty .parquet", lambda: read("a.parquet", b""), "^'a.parquet' is not a Parquet", theirs="read: "),
        refused(
            "a .parquet whose middle is zeros",
            lambda: read("a.parquet", zeroed(PARQUET)),
            "^'a.parquet' is",
            theirs="is (not a Parquet file that can be read: )?",
        ),
        refused(
            "`scan_parquet` of a file that does not exist",
            lambda: interplay.parquet.scan_parquet("no.parquet"),
            "no such",
        ),
        refused("`scan_parquet(7)`", lambda: interplay.parquet.scan_parquet(7), "^path must be"),
        refused("`scan_parquet(columns=['zz'])`", lambda: scan(columns=["zz"]), "^columns names 'zz'"),
        refused("`scan_parquet(columns=[])`", lambda: scan(columns=[]), "^X has no variables"),
        refused("`scan_parquet(columns='y')`", lambda: scan(columns="y"), "^columns must be a list"),
        refused("`scan_parquet(columns=7)`", lambda: scan(columns=7), "^columns must be a list"),
        refused(
            "a .feather that is text",
            lambda: read("a.feather", CSV),
            "^'a.feather' is not a feather",
            theirs="damaged: ",
        ),
        refused(
            "half a .feather",
            lambda: read("a.feather", FEATHER[: len(FEATHER) // 2]),
            "^'a.feather' is not a feather",
            theirs="damaged: ",
        ),
        refused("a .npy that is text", lambda: read("a.npy", CSV), "^'a.npy' is not a numpy file"),
        refused("half a .npy", lambda: read("a.npy", NPY[: len(NPY) // 2]), "^'a.npy' is not a numpy file"),
        refused("a .npy that holds objects", lambda: read("a.npy", OBJECTS), "^'a.npy' holds Python objects"),
        refused(
            "a .npy that says it is larger than any memory",
            lambda: read("a.npy", NPY.replace(b"(60, 6), ", b"(9**16,6),")),
            "^'a.npy' is not a numpy file",
        ),
        refused(
            "a .npy of one dimension",
            lambda: read("a.npy", as_bytes(lambda f: np.save(f, Y))),
            "'a.npy' must hold a two",
        ),
        refused("a .npy without a target", lambda: read("a.npy", NPY, None), "^target is needed"),
        refused("a .npy and a column out of range", lambda: read("a.npy", NPY, "9"), "^there is no column 9"),
        refused("a .npy and a column that is not a number", lambda: read("a.npy", NPY, "y"), "^there is no column 'y'"),
        refused("a .npz that is text", lambda: read("a.npz", CSV), "^'a.npz' is not a numpy file"),
        refused("half a .npz", lambda: read("a.npz", NPZ[: len(NPZ) // 2]), "^'a.npz' is not a numpy file"),
        refused(
            "a .npz without X",
            lambda: read("a.npz", as_bytes(lambda f: np.savez(f, a=X, b=Y))),
            "must hold an array named X",
        ),
        refused(
            "a .npz with a target of another length",
            lambda: read("a.npz", as_bytes(lambda f: np.savez(f, X=X, y=Y[:5])), None),
            "^y must have one value per",
        ),
        same(
            "a .npz with names",
            lambda: read("a.npz", as_bytes(lambda f: np.savez(f, X=X, y=Y, names=list(FRAME))), None),
            "the table",
            gains,
        ),
        same("a .npy, the last column the target", lambda: read("a.npy", NPY, "-1"), "the table", gains),
        same("a .parquet", lambda: read("a.parquet", PARQUET), "the table", gains),
        # --- Spreadsheets, SPSS and zip files
        refused(
            "half an .xlsx", lambda: read("a.xlsx", XLSX[:3000]), "^'a.xlsx' is not a spreadsheet", theirs="read: "
        ),
        refused("an .xlsx that is text", lambda: read("a.xlsx", CSV), "^'a.xlsx' is text, not a spreadsheet"),
        refused("an empty .xlsx", lambda: read("a.xlsx", b""), "^'a.xlsx' is not a spreadsheet", theirs="read: "),
        refused(
            "a sheet that does not exist", lambda: read("a.xlsx", XLSX, sheet="b"), "^sheet must be one of 'Sheet1'"
        ),
        same("an .xlsx", lambda: read("a.xlsx", XLSX), "the table", gains),
        refused("a .sav that is text", lambda: read("a.sav", CSV), "^'a.sav' is not a .sav file", theirs="read: "),
        refused("an empty .dta", lambda: read("a.dta", b""), "^'a.dta' is not a .dta file", theirs="read: "),
        refused("a .sas7bdat that is text", lambda: read("a.sas7bdat", CSV), "^'a.sas7bdat' is not a", theirs="read: "),
        refused("a .zip that is text", lambda: read("a.zip", CSV), "^'a.zip' is not a zip file"),
        refused("an empty .zip", lambda: read("a.zip", b"PK\5\6" + bytes(18)), "must hold one table, and it holds no"),
        # --- Arguments
        refused(
            "`missing_target='keep'`", lambda: read("a.csv", CSV, missing_target="keep"), "^missing_target must be"
        ),
        refused(
            "`na_values` of a .parquet",
            lambda: read("a.parquet", PARQUET, na_values=["1"]),
            "^na_values cannot be used with",
        ),
        refused(
            "`transpose` of a .npy",
            lambda: read("a.npy", NPY, "-1", transpose=True),
            "^transpose cannot be used with .npy",
        ),
        refused("`transpose='yes'`", lambda: read("a.csv", CSV, transpose="yes"), "^transpose must be True or False"),
        refused("`sheet` of a .csv", lambda: read("a.csv", CSV, sheet="a"), "^sheet cannot be used with .csv files"),
        refused(
            "`sample_id` without `target_file`",
            lambda: read("a.csv", CSV, sample_id="v0"),
            "^sample_id is only used with",
        ),
        refused(
            "`target_file` that does not exist",
            lambda: read("a.csv", CSV, target_file="b.csv"),
            "there is no such file",
        ),
        refused(
            "`target_file` with other samples",
            lambda: (Path("b.csv").write_text("id,y\n1,2\n"), read("a.csv", CSV, target_file="b.csv")),
            "have no sample in common",
        ),
        refused(
            "`target_file` of a .npz",
            lambda: (Path("b.npz").write_bytes(NPZ), read("a.csv", CSV, target_file="b.npz")),
            "^'b.npz' cannot be a target_file",
        ),
        # --- PLINK and AnnData
        refused("a .bed without its .bim", lambda: plink(lambda: Path("s.bim").unlink()), "s.bim"),
        refused("a .bed cut short", lambda: plink(lambda: cut("s.bed", 20)), "s.bed' is not .* it is cut short, or"),
        refused("an empty .bed", lambda: plink(lambda: cut("s.bed", 0)), "s.bed' is not .* it is empty"),
        refused(
            "a .fam that is something else",
            lambda: plink(lambda: Path("s.fam").write_text("a\nb c d e f g h\n")),
            "s.bed",
            theirs="s.bed",
        ),
        refused("`read_bed(samples=[99])`", lambda: bed(samples=[99]), "^samples must be numbers from 0"),
        refused("`read_bed(samples=[])`", lambda: bed(samples=[]), "^samples leaves nothing|^samples must be"),
        refused("`read_bed(variants=['rs1'])`", lambda: bed(variants=["rs1"]), "^variants names 'rs1'"),
        refused("`read_bed(variants=[0.5])`", lambda: bed(variants=[0.5]), "^variants must be"),
        refused("`read_bed(variants=[[0]])`", lambda: bed(variants=[[0]]), "^variants must be"),
        refused("`read_bed(variants={...})`", lambda: bed(variants={"a": 1}), "^variants must be"),
        refused("`read_bed(7)`", lambda: interplay.genetics.read_bed(7), "^path must be"),
        refused(
            "an .h5ad that is text", lambda: read("a.h5ad", CSV), "^'a.h5ad' is not an .h5ad file", theirs="read: "
        ),
        refused("an .h5ad cut short", lambda: read_cut_h5ad(3000), "^'s.h5ad' is not an .h5ad file", theirs="read: "),
        refused(
            "`read_h5ad` of a layer that does not exist",
            lambda: (h5ad(), interplay.singlecell.read_h5ad("s.h5ad", layer="x")),
            "^layer 'x' is not",
        ),
        refused("`read_h5ad(7)`", lambda: interplay.singlecell.read_h5ad(7), "^path must be"),
        refused(
            "`from_anndata` of a frame", lambda: interplay.singlecell.from_anndata(FRAME), "^adata must be an AnnData"
        ),
        refused("an AnnData and an unknown column of `obs`", lambda: gains(h5ad(), "sick"), "^y names 'sick'"),
        # --- Results
        refused(
            "`write_table` to another ending", lambda: write_table(FRAME, "a.docx"), "^'a.docx' must end in one of"
        ),
        refused(
            "`write_table` in a missing folder", lambda: write_table(FRAME, "no/a.csv"), "^cannot write 'no/a.csv'"
        ),
    ],
)


def changed_gz():
    content = bytearray(gzip.compress(CSV))
    content[len(content) // 2] ^= 0xFF
    return bytes(content)


def zeroed(content):
    return content[:8] + bytes(len(content) // 2) + content[8 + len(content) // 2 :]


def scan(**options):
    Path("a.parquet").write_bytes(PARQUET)
    return interplay.parquet.scan_parquet("a.parquet", **options)


def bed(**options):
    plink()
    return interplay.genetics.read_bed("s.bed", **options)
