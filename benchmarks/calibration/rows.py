"""The rows of the study while it runs, one file of JSON lines per cell, and in the end one Parquet file.

A row is appended in one write as soon as its repetition is done. A study that is killed goes on where it was; a line
that was cut off by the kill is dropped.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from .cells import FACTORS, Cell


def path_of(folder: Path, cell: Cell) -> Path:
    return folder / (re.sub(r"[^\w.]+", "_", cell.name) + ".jsonl")


def append(path: Path, row: dict[str, Any]) -> None:
    line = json.dumps(row) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows there are; what follows the last line's end is removed from the file."""
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    return [json.loads(line) for line in whole.splitlines()]


def gather(folder: Path, cells: Iterable[Cell], kept: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return all rows, with the factors of their cell; numbers as float32, which are plenty here and half as large.

    Of cells that have none in the folder, those in `kept` are taken, if there are any.
    """
    frames = []
    for cell in cells:
        rows = pd.DataFrame(read(path_of(folder, cell)))
        if not len(rows) and kept is not None:
            rows = kept[kept["cell"] == cell.name].dropna(axis=1, how="all").drop(columns="cell")
        if len(rows):
            rows = rows.sort_values("repetition")
            factors = {name: getattr(cell, name) for name in FACTORS}
            factors["shares"] = "/".join(map(str, cell.shares))
            factors["n_contrast"] = str(cell.n_contrast)
            frames.append(rows.dropna(axis=1, how="all").assign(cell=cell.name, **factors))
    table = pd.concat(frames, ignore_index=True)
    for name in table.columns:
        if name.startswith("any_"):
            table[name] = table[name].astype("boolean")  # which may be missing
        elif table[name].dtype == object or str(table[name].dtype).startswith("str"):
            table[name] = table[name].astype("category")
        elif table[name].dtype == float:
            table[name] = table[name].astype("float32")
    return table
