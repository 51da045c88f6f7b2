"""Crosses in csv files of R/qtl: chromosomes and positions of the markers in rows under the header."""

from __future__ import annotations

import csv
import os
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from interplay.base.checks import shown
from interplay.data.study.subsets import ColumnSubset
from interplay.data.study.table import Table, as_table
from interplay.files.whole_file import is_special
from interplay.readers.csv_table import TextFile, readable
from interplay.readers.target_column import check_names_apart

#: Copies of the second strain's allele. C is "not A" and D "not B": dominant markers, which do not say how many.
_COPIES = {"A": 0.0, "H": 1.0, "B": 2.0, "AA": 0.0, "AB": 1.0, "BB": 2.0}
_MISSING = ("-", "NA", "", "C", "D")


class CrossTable(ColumnSubset):
    """The markers of a cross, with their positions in centimorgans."""

    def __init__(self, table: Table, places: list[tuple[str, float]]) -> None:
        super().__init__(table, np.arange(table.n_vars))
        self._places = places

    @property
    def positions(self) -> list[tuple[str, float]]:
        """Chromosome and position of each marker."""
        return self._places


def is_cross(path: str | os.PathLike[str], delimiter: Any) -> bool:
    """Say whether a text file is a cross: two rows under the header have values for the markers only."""
    if os.fspath(path) == "-" or is_special(Path(path)):  # these can be read only once
        return False
    content = TextFile(path)
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        return False
    try:
        with readable(content):
            return _n_phenotypes(_rows(content, delimiter, 3)) > 0
    except ValueError:  # the reader of tables says more
        return False


def read_cross(path: str | os.PathLike[str], delimiter: str | None = None) -> Table:
    r"""Read a csv file of R/qtl; phenotypes become `sample_columns`, and A, H and B become 0, 1 and 2.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cross.csv"
    >>> _ = file.write_text("bp,D1M1,D1M2\n,1,1\n,10.5,20\n101.5,A,H\n98,-,B\n")
    >>> is_cross(file, None)
    True
    >>> cross = read_cross(file)
    >>> cross.positions, cross.sample_columns["bp"].tolist(), cross.block(0, 2).tolist()
    ([('1', 10.5), ('1', 20.0)], [101.5, 98.0], [[0.0, nan], [1.0, 2.0]])
    """
    import pandas as pd

    content = TextFile(path)
    with readable(content):
        header, chromosomes, where, *rows = _rows(content, delimiter, None)
    n_phenotypes = _n_phenotypes([header, chromosomes, where])
    check_names_apart(header, content.shown, first=1)
    for line, row in enumerate(rows, 4):
        if len(row) != len(header):
            raise ValueError(f"{content.shown}, line {line} has {len(row)} fields, and the header has {len(header)}")
    cells = np.array(rows, dtype=object).reshape(len(rows), len(header))
    genotypes = cells[:, n_phenotypes:]
    known = np.unique(genotypes.astype(str)).tolist()
    unknown = [text for text in known if text not in _COPIES and text not in _MISSING]
    if unknown and not all(text in ("1", "2", "3") for text in unknown):
        raise ValueError(f"{content.shown}: the genotype {shown(unknown[0])} is none of A, H, B, C, D, - and NA")
    codes = _COPIES | dict.fromkeys(_MISSING, np.nan) | {"1": 0.0, "2": 1.0, "3": 2.0}
    values = np.array([codes[text] for text in genotypes.astype(str).ravel()], dtype=np.float32)
    table = as_table(values.reshape(genotypes.shape), names=header[n_phenotypes:])
    chromosome = chromosomes[n_phenotypes:]
    cross = CrossTable(table, list(zip(chromosome, map(float, where[n_phenotypes:]), strict=True)))
    frame = pd.DataFrame(cells[:, :n_phenotypes], columns=header[:n_phenotypes]).replace(["-", "NA", ""], None)
    cross.sample_columns = {str(name): _values(frame[name]) for name in frame.columns}
    ids = next((name for name in frame.columns if name.lower() == "id"), None)
    cross.sample_names = None if ids is None else cells[:, header.index(ids)]
    return cross


def _values(column: Any) -> Any:
    """Return a phenotype as numbers where all its values are."""
    try:
        return column.astype(float).to_numpy()
    except (TypeError, ValueError):
        return column.to_numpy(dtype=object)


def _rows(content: TextFile, delimiter: str | None, n: int | None) -> list[list[str]]:
    with content.open() as text:
        separator = delimiter or ("\t" if "\t" in text.readline() else ",")
    with content.open() as text:
        filled = (row for row in csv.reader(text, delimiter=separator) if any(row))
        return [[cell.strip() for cell in row] for row in islice(filled, n)]


def _n_phenotypes(rows: list[list[str]]) -> int:
    """Return the number of columns before the markers; 0 where the file is no cross."""
    if len(rows) < 3 or len({len(row) for row in rows}) > 1:
        return 0
    header, chromosomes, positions = rows
    n = next((place for place, cell in enumerate(chromosomes) if cell), 0)
    is_cross = 0 < n < len(header) and not any(positions[:n]) and all(chromosomes[n:]) and all(header)
    return n if is_cross and all(cell.replace(".", "", 1).isdecimal() for cell in positions[n:]) else 0
