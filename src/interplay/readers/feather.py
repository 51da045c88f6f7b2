"""Feather and Arrow files → a pyarrow table."""

from __future__ import annotations

import os
from typing import Any

from interplay.base.checks import needing


def import_pyarrow() -> Any:
    """Return pyarrow, or say how to get it."""
    with needing("pyarrow", "parquet", "parquet and feather files need"):
        import pyarrow
    return pyarrow


def read_feather(path: str | os.PathLike[str]) -> Any:
    """Read a file, without the row names that pandas keeps in it."""
    pyarrow = import_pyarrow()
    try:
        from pyarrow.feather import read_table

        table = read_table(path)
        table.validate(full=True)  # text of a damaged file may lie outside its memory
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{os.fspath(path)!r} is not a feather file, or is damaged: {reason}") from None
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])
