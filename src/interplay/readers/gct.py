"""GCT files (versions 1.2 and 1.3, also .gz): genes in rows, samples in columns → a table of samples by genes."""

from __future__ import annotations

import csv
import os
from typing import IO, Any

import numpy as np

from interplay.base.checks import check_file, shown
from interplay.data.study.table import Table, as_table
from interplay.readers.header import check_names_apart
from interplay.readers.text_file import TextFile, readable

_MISSING = ("", "NA", "na", "N/A", "NaN", "nan", "NULL", "-666")  # the last: of programs that write GCT 1.3


def read_gct(path: str | os.PathLike[str]) -> Table:
    r"""Read a GCT file; descriptions of the samples (version 1.3) become `sample_columns`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "genes.gct"
    >>> lines = ["#1.3", "2\t2\t1\t1", "id\tsymbol\ts1\ts2", "ill\tna\tyes\tno", "g1\tTP53\t1.5\t2", "g2\tKRAS\t\t4"]
    >>> _ = file.write_text("\n".join([*lines, ""]))
    >>> table = read_gct(file)
    >>> table.names, table.sample_names.tolist(), table.sample_columns["ill"].tolist(), table.block(0, 2).tolist()
    (['g1', 'g2'], ['s1', 's2'], ['yes', 'no'], [[1.5, 2.0], [nan, 4.0]])
    """
    check_file("path", path)
    content = TextFile(path)
    with readable(content), content.open(newline=None) as text:
        return _read(text, os.fspath(path))


def _read(text: IO[str], path: str) -> Table:
    version = text.readline().strip()
    if version not in ("#1.2", "#1.3"):
        raise ValueError(f"{path!r} is not a GCT file: its first line is {shown(version[:40])}, not #1.2 or #1.3")
    counts = text.readline().split()
    n_wanted = 2 if version == "#1.2" else 4
    if len(counts) != n_wanted or not all(count.isdecimal() for count in counts):
        raise ValueError(f"{path!r}, line 2 must be {n_wanted} numbers: of rows, of columns and of descriptions")
    n_genes, n_samples = (int(count) for count in counts[:2])
    n_of_genes, n_of_samples = (1, 0) if version == "#1.2" else (int(count) for count in counts[2:])
    rows = csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(rows, [])
    n_fields = 1 + n_of_genes + n_samples
    if len(header) != n_fields:
        raise ValueError(f"{path!r}, line 3 has {len(header)} fields, and line 2 says {n_fields}: correct line 2")
    samples = header[1 + n_of_genes :]
    described: dict[str, Any] = {}
    names: list[str] = []
    values: list[np.ndarray[Any, np.dtype[np.float64]]] = []
    for number, row in enumerate(rows, 4):
        if not row:
            continue
        if len(row) != n_fields:
            raise ValueError(f"{path!r}, line {number} has {len(row)} fields, and the header has {n_fields}")
        cells = row[1 + n_of_genes :]
        if number < 4 + n_of_samples:
            described[row[0]] = _described(cells)
            continue
        names.append(row[0].strip())
        try:
            found = np.array([np.nan if cell in _MISSING else float(cell) for cell in cells])
        except ValueError:
            bad = next(i for i, cell in enumerate(cells) if cell not in _MISSING and not _is_number(cell))
            raise ValueError(
                f"{path!r}, line {number}, sample {shown(samples[bad])}: {shown(cells[bad])} is not a number"
            ) from None
        values.append(found)
    if len(names) != n_genes:
        raise ValueError(f"{path!r} has {len(names)} rows of values, and line 2 says {n_genes}: the file was cut short")
    check_names_apart(names, repr(path), first=4 + n_of_samples, what="row")
    check_names_apart(samples, repr(path), first=2 + n_of_genes)
    table = as_table(np.array(values).reshape(n_genes, n_samples).T, names=names)
    table.sample_names = np.array(samples, dtype=object)
    table.sample_columns = described
    return table


def _described(cells: list[str]) -> Any:
    """Return a description of the samples as numbers, or as texts."""
    known = [None if cell in _MISSING else cell for cell in cells]
    if all(cell is None or _is_number(cell) for cell in known):
        return np.array([np.nan if cell is None else float(cell) for cell in known])
    return np.array(known, dtype=object)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
