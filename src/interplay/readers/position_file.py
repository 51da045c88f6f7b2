"""Positions of variables: a PLINK .bim file, or a text table with the columns variable, chromosome and position."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from interplay.base.checks import check_path, reading
from interplay.readers.csv_table import read_csv

#: Columns of a .bim file.
_BIM_COLUMNS = ["chromosome", "variable", "morgans", "position", "allele_1", "allele_2"]


def read_positions(path: str | os.PathLike[str]) -> Any:
    """Return the table that a file of positions holds, for the argument `positions` of `interactions`."""
    file = Path(check_path("positions", path))
    if not file.exists():
        raise FileNotFoundError(2, "there is no such file", os.fspath(path))
    if file.suffix.lower() != ".bim":
        return read_csv(path)
    import pandas as pd

    with reading(path, "a .bim file", (ValueError, pd.errors.ParserError)):
        return pd.read_csv(
            file, sep=r"\s+", header=None, names=_BIM_COLUMNS, dtype={"chromosome": str, "variable": str}
        )
