"""Files of cells and genes: 10x Genomics, MuData, GCT, series matrices of GEO, labels of columns."""

from pathlib import Path

import anndata
import h5py
import numpy as np
import pandas as pd

from hostile.case import Area, refused, same
from hostile.data import FRAME, N_SAMPLES, X, Y, gains
from interplay.io import read_data
from interplay.singlecell import read_10x, read_h5mu
from mudata_files import write_h5mu

CELLS = [f"cell{i}" for i in range(N_SAMPLES)]


def gct(*, cut=None, version="#1.3"):
    """Write a GCT file, some of it cut off, read it and search it."""
    lines = [version, f"{FRAME.shape[1]}\t{N_SAMPLES}\t0\t1", "\t".join(["id", *CELLS]), "\t".join(["y", *map(str, Y)])]
    lines += ["\t".join([name, *map(repr, map(float, FRAME[name]))]) for name in FRAME]
    Path("a.gct").write_bytes(("\n".join(lines) + "\n").encode()[:cut])
    return gains(*read_data("a.gct", target="y"))


def series_matrix(*, ends=True, value=None, labels=None):
    """Write a series matrix, read it and search it; with a file of labels."""
    rows = [[name, *map(repr, map(float, FRAME[name]))] for name in FRAME]
    rows[1][2] = rows[1][2] if value is None else value
    lines = ['!Series_title\t"a"', "\t".join(["!Sample_characteristics_ch1", *(f"y: {one}" for one in Y)])]
    lines += ["!series_matrix_table_begin", "\t".join(["ID_REF", *CELLS]), *map("\t".join, rows)]
    Path("a.txt").write_text("\n".join([*lines, *["!series_matrix_table_end"] * ends, ""]))
    if labels is not None:
        Path("labels.csv").write_text(labels)
    return gains(*read_data("a.txt", target="y", labels=None if labels is None else "labels.csv"))


def h5mu(*, cut=None, **options):
    obs = pd.DataFrame({"y": Y}, index=CELLS)
    made = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=list(FRAME)))
    write_h5mu(Path("a.h5mu"), {"rna": made, "atac": made})
    Path("a.h5mu").write_bytes(Path("a.h5mu").read_bytes()[:cut])
    return gains(*read_data("a.h5mu", target="y", **options))


def tenx(**entries):
    """Write a file of two cells and two genes, with some entries changed, and read it."""
    matrix = {"data": [3, 1, 2], "indices": [0, 1, 1], "indptr": [0, 2, 3], "shape": [2, 2], "barcodes": [b"a", b"b"]}
    with h5py.File("a.h5", "w") as file:
        for name, values in (matrix | entries).items():
            file[f"matrix/{name}"] = np.array(values)
        for name, texts in {"id": [b"E1", b"E2"], "name": [b"g1", b"g2"], "feature_type": [b"RNA", b"ADT"]}.items():
            file[f"matrix/features/{name}"] = np.array(texts)
    return read_10x("a.h5", modality="RNA")


def text(name):
    Path(name).write_text("a,b\n1,2\n")
    return read_data(name, target="y")


AREA = Area(
    "Files of cells and genes",
    [
        same("a .gct", gct, "the table", gains),
        refused("a .gct that is text", lambda: text("a.gct"), "^'a.gct' is not a GCT file: its first line is 'a,b'"),
        refused("a .gct of another version", lambda: gct(version="#2.0"), "^'a.gct' is not a GCT file"),
        refused("a .gct without its last lines", lambda: gct(cut=2500), "^'a.gct'"),
        same("a series matrix of GEO", series_matrix, "the table", gains),
        refused("one cut short", lambda: series_matrix(ends=False), "^'a.txt' ends without !series_matrix_table_end"),
        refused("one with a word among the values", lambda: series_matrix(value="high"), "line 6.*'high'"),
        same("labels of some columns", lambda: series_matrix(labels="a,b\nx,y\n"), "the table", gains),
        refused(
            "`labels` of one column", lambda: series_matrix(labels="a\nx\n"), "^'labels.csv' must have two columns"
        ),
        same("a modality of an .h5mu", lambda: h5mu(modality="rna"), "the table", gains),
        refused("an .h5mu with two modalities", h5mu, "^'a.h5mu' has several modalities: name one of 'atac', 'rna'"),
        refused(
            "a modality that does not exist", lambda: h5mu(modality="dna"), "^modality must be one of 'atac', 'rna'"
        ),
        refused("an .h5mu that is text", lambda: text("a.h5mu"), "^'a.h5mu' is not an .h5mu file", theirs="read: "),
        refused("an .h5mu cut short", lambda: h5mu(cut=3000), "^'a.h5mu' is not an .h5mu file", theirs="read: "),
        refused("an .h5 that is text", lambda: text("a.h5"), "^'a.h5' is not an .h5 file of 10x", theirs="read: "),
        refused(
            "an .h5 with an index out of range", lambda: tenx(indices=[0, 1, 9]), "^'a.h5' is not", theirs="read: "
        ),
        refused("an .h5 with a barcode too few", lambda: tenx(barcodes=[b"a"]), "its number of barcodes is not that"),
        refused(
            "an .h5 without outcomes", lambda: (tenx(), read_data("a.h5")), "^'a.h5' has no outcomes: give target_f"
        ),
        refused(
            "an .h5 with two types of features", lambda: (tenx(), read_10x("a.h5")), "^'a.h5' has several types of"
        ),
        refused("`read_10x(7)`", lambda: read_10x(7), "^path must be"),
        refused("`read_h5mu(7)`", lambda: read_h5mu(7), "^path must be"),
        refused(
            "`layer` of an .h5", lambda: (tenx(), read_data("a.h5", layer="x")), "^layer cannot be used with .h5 files"
        ),
        refused(
            "`modality` of a .gct", lambda: read_data("a.gct", modality="x") if gct() else None, "^modality cannot be"
        ),
    ],
)
