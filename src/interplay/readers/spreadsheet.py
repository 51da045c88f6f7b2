"""Spreadsheets (.xlsx, .xlsm, .xlsb, .xls, .ods) → a pandas DataFrame, through python-calamine."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from interplay.base.checks import check_choice, needing, reading, warn
from interplay.base.checks import shown as shown_value
from interplay.readers.target_column import check_names_apart, checked_names, unread_columns
from interplay.readers.written_numbers import NaValues, WrittenNumbers

if TYPE_CHECKING:
    import pandas as pd

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def read_spreadsheet(
    path: str | os.PathLike[str],
    *,
    sheet: str | None = None,
    decimal: str | None = None,
    na_values: Iterable[str] = (),
    keep_na_values: Collection[str] = (),
    unread: Collection[str] = (),
    has_ids: bool = False,
    sample_id: str | None = None,
    check: Callable[[pd.DataFrame], None] | None = None,
    transpose: bool = False,
) -> pd.DataFrame:
    """Read a sheet, the first if none is named. The first row that is not empty names the columns.

    Cells that are text are read like cells of text files. The index of the frame is the row of the sheet; with
    `transpose`, which takes each row for a variable, the index is the name of the sample. `check` is called with the
    table before any warning about its columns.
    """
    import pandas as pd

    shown = repr(os.fspath(path))
    name, cells = _cells(path, sheet)
    rows = [(number, row) for number, row in enumerate(cells, start=1) if any(cell != "" for cell in row)]
    if len(rows) < 2:
        what = "is empty" if not rows else "has a header but no rows"
        raise ValueError(f"{shown}, sheet {shown_value(name)}, {what}: its first row must name the columns")
    filled = [
        place
        for place, column in enumerate(zip(*(row for _, row in rows), strict=True))
        if any(cell != "" for cell in column)
    ]
    content = [[_cell(row[place]) for place in filled] for _, row in rows]
    numbers = [number for number, _ in rows]
    header, body = [_written(cell).strip() for cell in content[0]], content[1:]
    where = f"{shown}, sheet {shown_value(name)} (header in row {numbers[0]})"
    said = NaValues(na_values)
    body = [[None if said.has(cell) else cell for cell in row] for row in body]
    if transpose:
        names = [_written(row[0]) for row in body]
        check_names_apart(names, where, first=numbers[1], what="row")
        check_names_apart(header[1:], where, first=2)
        index: pd.Index[Any] = pd.Index(header[1:], name="sample")
        columns = [row[1:] for row in body]
    else:
        names, has_row_names = checked_names(header, body[0], where)
        index, columns = pd.Index(numbers[1:], name="row"), [list(column) for column in zip(*body, strict=True)]
        if has_row_names and has_ids:
            names = ["", *names]
        elif has_row_names:
            columns = columns[1:]
    frame = pd.DataFrame(
        {v: _typed(column) for v, column in enumerate(columns)}, index=index
    ).set_axis(names, axis=1)  # fmt: skip
    written = WrittenNumbers(where, decimal=decimal, guessed=".", comma_separates=False, kept=keep_na_values)
    if check is not None:
        check(frame)
    has_ids = has_ids and not transpose
    return written.read_in(frame, unread_columns(unread, names, has_ids=has_ids, sample_id=sample_id))


def _cells(path: str | os.PathLike[str], sheet: str | None) -> tuple[str, list[list[Any]]]:
    """Return the name of the sheet and its cells, row by row."""
    with needing("python-calamine", "excel", "spreadsheets need"):
        from python_calamine import CalamineError, CalamineWorkbook
    _refuse_text(path)
    with reading(path, "a spreadsheet that can be read", (CalamineError, OSError, ValueError, TypeError)):
        workbook = CalamineWorkbook.from_path(os.fspath(path))
        names = workbook.sheet_names
    if not names:
        raise ValueError(f"{os.fspath(path)!r} has no sheets: add one")
    if sheet is not None:
        check_choice("sheet", sheet, names)
    elif len(names) > 1:
        warn(
            f"{os.fspath(path)!r} has {len(names)} sheets, and the first, {shown_value(names[0])}, is read: use "
            f"sheet={names[1]!r} for another"
        )
    chosen = names[0] if sheet is None else sheet
    with reading(path, "a spreadsheet that can be read", (CalamineError, OSError, ValueError, TypeError)):
        return chosen, workbook.get_sheet_by_name(chosen).to_python(skip_empty_area=False)


def _refuse_text(path: str | os.PathLike[str]) -> None:
    """Refuse text files named like a spreadsheet, which some programs write and spreadsheet programs open."""
    with open(path, "rb") as file:
        start = file.read(512).lstrip()
    if start.startswith(b"<"):
        raise ValueError(
            f"{os.fspath(path)!r} is a web page or XML, not a spreadsheet: open it in a spreadsheet program, and save "
            "it as .xlsx"
        )
    if start and all(byte >= 32 or byte in b"\t\r\n" for byte in start):
        raise ValueError(f"{os.fspath(path)!r} is text, not a spreadsheet: rename it to .csv")


def _cell(cell: Any) -> Any:
    """Return a cell as a number, a bool or text; None if it is empty. Dates become text, like dates of text files."""
    if cell == "" or (isinstance(cell, str) and not cell.strip()):
        return None
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ") if cell.time() != datetime.time() else cell.date().isoformat()
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    if isinstance(cell, datetime.time):
        return (cell.hour * 3600 + cell.minute * 60 + cell.second) / 86400
    if isinstance(cell, datetime.timedelta):
        return cell.total_seconds() / 86400
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    return cell


def _written(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _typed(column: Sequence[Any]) -> Any:
    """Return a column as numbers or bools, or as texts if its cells are of several types."""
    import pandas as pd

    observed = [cell for cell in column if cell is not None]
    if all(isinstance(cell, bool) for cell in observed):
        return pd.array(column, dtype="object" if len(observed) < len(column) else "bool")
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in observed):
        return pd.array(column, dtype="float64" if len(observed) < len(column) else None).to_numpy()
    return pd.array([None if cell is None else _written(cell) for cell in column], dtype="object")
