"""The names of the columns of a table that was read from a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from interplay.base.checks import shown as shown_value
from interplay.base.text import name_among
from interplay.readers.sample_names import FAMILY_COLUMNS


def checked_names(header: Sequence[str], first_row: Sequence[Any], shown: str) -> tuple[list[str], bool]:
    """Return the names of the columns that are data, and whether a column of row names comes before them.

    `shown` is the name of the file in messages.
    """
    names = [name.strip() for name in header]
    if len(first_row) == len(names) + 1 and first_row[-1]:  # row names of R's write.table, but not a trailing delimiter
        has_row_names = True
    elif len(first_row) == len(names):
        has_row_names = names[0] == "" and len(names) > 1
        names = names[1:] if has_row_names else names
    else:
        columns = f"{len(names)} column{'' if len(names) == 1 else 's'}"
        raise ValueError(
            f"{shown}, first row: {fields(first_row)}, but the header names {columns}: correct the header, or delete "
            "what stands above it"
        )
    check_names_apart(names, shown, first=1 + has_row_names)
    return names, has_row_names


def check_names_apart(names: Sequence[str], shown: str, *, first: int, what: str = "column") -> None:
    """Refuse empty and repeated names of columns or rows (`what`); `first` is the number of the first one."""
    if "" in names:
        place = names.index("") + first
        line = "in the first line" if what == "column" else "in the first column"
        raise ValueError(f"{shown} has no name for {what} {place}: name every {what} {line}")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        places = [str(i + first) for i, name in enumerate(names) if name == repeated[0]]
        others = f" ({len(repeated) - 1} more names are repeated)" if len(repeated) > 1 else ""
        raise ValueError(
            f"{shown} has more than one {what} named {shown_value(repeated[0])} ({what}s {', '.join(places[:5])})"
            f"{others}: give each {what} a name of its own"
        )


def fields(row: Sequence[Any]) -> str:
    """Return the number of fields of a row in words."""
    return f"{len(row)} field{'' if len(row) == 1 else 's'}"


def is_gene_table(header: Sequence[str]) -> bool:
    """Say whether a file is a gene_presence_absence.csv of Roary or Panaroo, by its header."""
    names = [name.strip() for name in header[:3]]
    return names == ["Gene", "Non-unique Gene name", "Annotation"]


def unread_columns(
    unread: Collection[str], names: Sequence[str], *, has_ids: bool, sample_id: str | None
) -> Collection[str]:
    """Return the columns that stay as they are read: `unread` and, with `has_ids`, the names of samples."""
    unread = {name_among(names, name) for name in unread}
    return {*unread, id_column(names, sample_id)} if has_ids else unread


def id_column(names: Sequence[str], sample_id: str | None) -> str:
    """Return the column with the names of the samples: `sample_id` if the file has it, else PLINK's IID, or the first.

    Examples
    --------
    >>> id_column(["FID", "IID", "age"], None), id_column(["name", "IID"], None), id_column(["name", "IID"], "IID")
    ('IID', 'name', 'IID')
    """
    wanted = None if sample_id is None else name_among(names, sample_id)
    if wanted is not None and wanted in names:
        return wanted
    return names[1] if names[0] in FAMILY_COLUMNS and names[1:2] == ["IID"] else names[0]
