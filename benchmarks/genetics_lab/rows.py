"""Cells × tables → a record each, in several processes; the records that a file has are not made again.

A file holds, by cell, a list of each entry of the records, and the numbers of their tables.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.machine import stamp

RESULTS = Path(__file__).resolve().parent / "results"

#: Of a cell and a table: what was found there.
Records: TypeAlias = dict[str, dict[int, dict[str, float]]]

#: Records between two writings of the file.
_WRITTEN_AFTER = 20


def options(documentation: str | None, tables: int) -> argparse.ArgumentParser:
    """Return a parser of the options that the scripts of this folder share."""
    parser = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=tables)
    parser.add_argument("--only", default="", help="cells whose names have this text")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    return parser


def run_cells(
    name: str, cells: Sequence[str], make: Callable[[str, int], dict[str, float]], given: argparse.Namespace
) -> Records:
    """Make the records that `results/name.json` lacks, table after table; return all records, by cell and table."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    records = {cell: _records(lists) for cell, lists in kept.get("records", {}).items()}
    to_do = [
        (cell, table)
        for table in range(given.tables)
        for cell in cells
        if given.only in cell and table not in records.get(cell, {})
    ]

    def write() -> None:
        result = {
            "machine": stamp(),
            "means": means(records),
            "records": {cell: _lists(of) for cell, of in records.items()},
        }
        path.write_text(json.dumps(result) + "\n", encoding="utf-8")

    with ProcessPoolExecutor(given.jobs) as pool:
        waiting = {pool.submit(make, cell, table): (cell, table) for cell, table in to_do}
        try:
            for count, done in enumerate(as_completed(waiting)):
                cell, table = waiting[done]
                records.setdefault(cell, {})[table] = done.result()
                if count % _WRITTEN_AFTER == 0:
                    write()
        finally:
            pool.shutdown(cancel_futures=True)
            write()
    return records


def _lists(of_tables: dict[int, dict[str, float]]) -> dict[str, list[float]]:
    tables = sorted(of_tables)
    entries = of_tables[tables[0]]
    return {"table": tables} | {what: [_short(of_tables[table][what]) for table in tables] for what in entries}


def _records(lists: dict[str, list[float]]) -> dict[int, dict[str, float]]:
    entries = [what for what in lists if what != "table"]
    return {int(table): {what: lists[what][place] for what in entries} for place, table in enumerate(lists["table"])}


def _short(value: float) -> float:
    return int(value) if value == int(value) else round(value, 3)


def means(records: Records) -> dict[str, dict[str, float]]:
    """Return the means of the records of each cell, and how many there are."""
    return {
        cell: {"tables": len(of_tables)}
        | {
            what: round(float(np.mean([record[what] for record in of_tables.values()])), 4)
            for what in next(iter(of_tables.values()))
        }
        for cell, of_tables in sorted(records.items())
    }
