"""Series matrices of GEO: samples by probes; tables of a platform, and other labels of columns."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.checks import shown
from interplay.data.study.table import LABELS, Table, as_table
from interplay.files.whole_file import is_special
from interplay.readers.csv_table import TextFile, readable
from interplay.readers.target_column import check_names_apart

_BEGIN, _END = "!series_matrix_table_begin", "!series_matrix_table_end"
_MISSING = ("", "NA", "null", "NULL", "NaN")

#: Headers of columns with symbols in tables of platforms, in lower case without marks, the best first.
_SYMBOLS = ("genesymbol", "symbol", "ilmngene", "geneid", "genename", "gene")
#: GEO separates the genes of one probe by three strokes.
_SEVERAL = " /// "


def is_series_matrix(path: str | os.PathLike[str]) -> bool:
    """Say whether a text file is a series matrix of GEO, by its first line."""
    if os.fspath(path) == "-" or is_special(Path(path)):  # these can be read only once
        return False
    try:
        content = TextFile(path)
        with readable(content), content.open() as text:
            return text.readline().startswith(("!Series_", "!Sample_"))
    except ValueError:  # the reader of tables says more
        return False


def read_series_matrix(path: str | os.PathLike[str]) -> Table:
    r"""Read a series matrix; what it says of the samples becomes `sample_columns`.

    Characteristics written as "tissue: lung" are columns of that name; what is the same in all samples is left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "GSE1_series_matrix.txt"
    >>> rows = ['!Series_title\t"Trial"', '!Sample_title\t"a"\t"b"']
    >>> rows += ['!Sample_characteristics_ch1\t"state: ill"\t"state: well"', "!series_matrix_table_begin"]
    >>> rows += ['"ID_REF"\t"GSM1"\t"GSM2"', '"p1"\t1.5\t2', '"p2"\t\t4', "!series_matrix_table_end"]
    >>> _ = file.write_text("\n".join([*rows, ""]))
    >>> table = read_series_matrix(file)
    >>> table.names, list(table.sample_columns), list(table.sample_columns["state"]), table.block(0, 2).tolist()
    (['p1', 'p2'], ['title', 'state'], ['ill', 'well'], [[1.5, 2.0], [nan, 4.0]])
    """
    content = TextFile(path)
    with readable(content), content.open() as text:
        rows = enumerate(csv.reader(text, delimiter="\t"), 1)
        said = _described(rows)
        samples = [cell.strip() for cell in next(rows, (0, []))[1][1:]]
        if not samples:
            raise ValueError(f"{content.shown} has no table of values after {_BEGIN}: get the series matrix file")
        check_names_apart(samples, content.shown, first=2)
        names, values = _values(rows, content.shown, samples)
    check_names_apart(names, content.shown, first=1, what="row")
    table = as_table(np.array(values).reshape(len(names), len(samples)).T, names=names)
    table.sample_names = np.array(samples, dtype=object)
    table.sample_columns = _columns(_in_order(said, samples, content.shown), len(samples))
    return table


def _described(rows: Iterator[tuple[int, list[str]]]) -> list[tuple[str, list[str]]]:
    """Return the rows on the samples, up to the begin of the table."""
    said = []
    for _, row in rows:
        if row and row[0] == _BEGIN:
            break
        if row and row[0].startswith("!Sample_"):
            said.append((row[0].removeprefix("!Sample_"), [cell.strip() for cell in row[1:]]))
    return said


def _values(
    rows: Iterator[tuple[int, list[str]]], path: str, samples: Sequence[str]
) -> tuple[list[str], list[FloatArray]]:
    names: list[str] = []
    values: list[FloatArray] = []
    for line, row in rows:
        if row and row[0] == _END:
            return names, values
        if len(row) != len(samples) + 1:
            raise ValueError(f"{path}, line {line} has {len(row)} fields, and the header has {len(samples) + 1}")
        names.append(row[0].strip())
        try:
            values.append(np.array([np.nan if cell in _MISSING else float(cell) for cell in row[1:]]))
        except ValueError as problem:
            raise ValueError(f"{path}, line {line}, probe {shown(row[0])}: {problem}") from None
    raise ValueError(f"{path} ends without {_END}: the file was cut short, get it again")


def _in_order(said: list[tuple[str, list[str]]], samples: list[str], path: str) -> list[tuple[str, list[str]]]:
    """Return what is said of the samples in their order in the table, by the row that names them."""
    named = dict(said).get("geo_accession", samples)
    if named == samples:
        return said
    if unknown := sorted(set(samples) ^ set(named)):
        raise ValueError(
            f"{path}: !Sample_geo_accession and the header of the table name other samples ({shown(unknown[0])} is in "
            "one only): get the file again"
        )
    check_names_apart(named, path, first=2)
    places = [named.index(sample) for sample in samples]
    return [(name, [cells[i] for i in places] if len(cells) == len(named) else cells) for name, cells in said]


def _columns(said: Sequence[tuple[str, list[str]]], n_samples: int) -> dict[str, Any]:
    """Return what differs between the samples, by name; characteristics by their keys."""
    columns: dict[str, list[str | None]] = {}
    for name, cells in said:
        if len(cells) != n_samples:
            continue
        for sample, cell in enumerate(cells):
            key, colon, value = cell.partition(": ") if name.startswith("characteristics") else (name, "", cell)
            key, value = (key.strip(), value.strip()) if colon or key == name else (name, cell)
            if value not in _MISSING:
                columns.setdefault(key, [None] * n_samples)[sample] = value
    telling = {name: cells for name, cells in columns.items() if len(set(cells)) > 1}
    return {name: _numbers(cells) for name, cells in telling.items()}


def _numbers(cells: Sequence[str | None]) -> Any:
    """Return numbers where all known cells are, else texts."""
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    except ValueError:
        return np.array(cells, dtype=object)


def read_labels(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read labels of columns: symbols of probes from a table of a platform, question texts from a codebook.

    The file is .csv, or has tabs as GEO's .annot and GPL files. The first column has the names, and a column such as
    "Gene Symbol" the labels; else the second column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "GPL96.annot"
    >>> _ = file.write_text("#ID = probe\nID\tGene title\tGene symbol\n1007_s_at\treceptor\tDDR1 /// MIR4640\n")
    >>> read_labels(file)
    {'1007_s_at': 'DDR1'}
    """
    content = TextFile(path)
    with readable(content), content.open() as text:
        lines = (line for line in text if line.strip() and not line.startswith(("#", "!", "^")))
        return _symbols(lines, content.shown)


def _symbols(lines: Iterator[str] | IO[str], path: str) -> dict[str, str]:
    first = next(iter(lines), "")
    separator = "\t" if "\t" in first else ","
    header = next(csv.reader([first], delimiter=separator), [])
    plain = [re.sub(r"[^a-z]", "", name.lower()) for name in header]
    if len(header) < 2:
        raise ValueError(f"{path} must have two columns or more: names of columns, and their labels")
    place = next((plain.index(name) for name in _SYMBOLS if name in plain[1:]), 1)
    rows = csv.reader(lines, delimiter=separator)
    found = {row[0].strip(): row[place].split(_SEVERAL)[0].strip() for row in rows if len(row) > place}
    return {probe: symbol for probe, symbol in found.items() if symbol and symbol != "---"}


def with_labels(found: tuple[Any, Any], labels: Mapping[str, str]) -> tuple[Any, Any]:
    """Return table and outcome with labels of the table's columns, which results show beside the names.

    Examples
    --------
    >>> import pandas as pd
    >>> X, _ = with_labels((pd.DataFrame({"1007_s_at": [1.5, 2.0]}), None), {"1007_s_at": "DDR1"})
    >>> as_table(X).labels
    {'1007_s_at': 'DDR1'}
    """
    X, y = found
    if hasattr(X, "attrs"):  # pandas
        X.attrs = X.attrs | {LABELS: {**X.attrs.get(LABELS, {}), **labels}}
        return X, y
    table = as_table(X)
    table.labels = {**table.labels, **labels}
    return table, y
