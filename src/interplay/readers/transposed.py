"""Text files with a variable in each row and a sample in each column → a pandas DataFrame of samples by variables.

Tables of gene expression are written this way, and tables of genes in genomes: the .Rtab and .csv files of Roary and
Panaroo. A cell of their .csv files names the gene's copies, and is empty if the genome lacks the gene.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import check_choice
from interplay.readers.csv_table import TextTable, likely_decimal_sign
from interplay.readers.header import check_names_apart, fields, is_gene_table
from interplay.readers.text_file import TextFile, readable
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
