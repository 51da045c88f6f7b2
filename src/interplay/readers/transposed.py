"""Text files with a variable in each row, also GCT files → a pandas DataFrame of samples by variables.

Tables of gene expression are written this way, and tables of genes in genomes: the .Rtab and .csv files of Roary and
Panaroo. A cell of their .csv files names the gene's copies, and is empty if the genome lacks the gene.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import check_choice, check_file, shown
from interplay.data.study.table import Table, as_table
from interplay.readers.csv_table import TextFile, TextTable, likely_decimal_sign, readable
from interplay.readers.target_column import check_names_apart, fields, is_gene_table
from interplay.readers.written_numbers import WrittenNumbers

if TYPE_CHECKING:
    import pandas as pd


#: Columns on a gene that Roary and Panaroo write before the columns of genomes.
_GENE_COLUMNS = frozenset({
    "Gene", "Non-unique Gene name", "Annotation", "No. isolates", "No. sequences", "Avg sequences per isolate",
    "Genome Fragment", "Order within Fragment", "Accessory Fragment", "Accessory Order with Fragment", "QC",
    "Min group size nuc", "Max group size nuc", "Avg group size nuc",
})  # fmt: skip


def read_transposed(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    na_values: Sequence[str] = (),
    keep_na_values: Collection[str] = (),
    unread: Collection[str] = (),
) -> pd.DataFrame:
    r"""Read a text file whose first line names the samples, and whose first column the variables.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "genes.Rtab"
    >>> _ = file.write_text("Gene\ts1\ts2\ngyrA\t1\t1\ntetM\t0\t1\n")
    >>> read_transposed(file)
            gyrA  tetM
    sample
    s1         1     0
    s2         1     1
    """
    import pandas as pd

    if decimal is not None:
        check_choice("decimal", decimal, (",", "."))
    content = TextFile(path)
    with readable(content):
        table = TextTable(content, delimiter, na_values, keep_na_values)
        header = [name.strip() for name in table.header]
        if len(header) not in (table.n_fields, table.n_fields - 1):
            raise ValueError(
                f"{content.shown}, first row: {fields(table.first_rows[0])}, but the header names {len(header)} columns"
            )
        # The header may lack a name of the first column.
        samples = header[len(header) - (table.n_fields - 1) :]
        if is_gene_table(header):
            n_known = next((i for i, name in enumerate(header) if name not in _GENE_COLUMNS), len(header))
            samples = header[n_known:]
            values, variables = _presence(table, n_known)
        else:
            sign = decimal or likely_decimal_sign(table.first_rows, table.separator)
            values, variables = _values(table, sign)
        if not samples:
            raise ValueError(f"{content.shown} has no columns of samples: its first line must name them")
        check_names_apart(samples, content.shown, first=table.n_fields - len(samples) + 1)
        check_names_apart(variables, content.shown, first=1, what="row")
        frame = pd.DataFrame(values, index=pd.Index(samples, name="sample"), columns=pd.Index(variables))
        written = WrittenNumbers(
            content.shown, decimal=decimal, guessed=".", comma_separates=table.separator == ",", kept=keep_na_values
        )
        return written.read_in(frame, unread)


def _values(table: TextTable, decimal: str) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Return the cells, samples by variables, as numbers if all are, and the names of the variables."""
    frame = table.parse_all(decimal=decimal).drop(columns=0)
    variables = table.texts(0)
    if all(dtype.kind in "iuf" for dtype in frame.dtypes):
        return frame.to_numpy().T, variables
    texts = table.parse(dtype=str).drop(columns=0)
    return texts.to_numpy(dtype=object).T, variables


def _presence(table: TextTable, n_known: int) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Return whether each genome has each gene, 0 or 1, genomes by genes, and the names of the genes."""
    frame = table.parse_all(dtype=str, keep_default_na=False, na_values=[])
    is_there = frame[list(range(n_known, table.n_fields))].to_numpy(dtype=object) != ""
    return is_there.T.astype(np.int8), frame[0].str.strip().tolist()


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
