"""Run the study, or what is left of it, then write the table, the page and the pictures.

python -m benchmarks.calibration [--jobs 2] [--repetitions 200] [--only TEXT] [--again TEXT]

Kill it whenever you like: the same command goes on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from . import rows
from .cells import ALL_CELLS
from .pictures import draw_all
from .study import run_study
from .summary import summarise
from .tables import fill, make_tables

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "calibration"
RESULT = ROOT / "benchmarks" / "results" / "calibration.parquet"
PAGE = ROOT / "docs" / "calibration.md"
PICTURES = ROOT / "docs" / "images"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--repetitions", type=int, default=200, help="of each cell, with those that are there already")
    parser.add_argument("--only", default="", help="run only cells whose name holds this")
    parser.add_argument("--again", help="forget the rows of cells whose name holds this, then run them")
    arguments = parser.parse_args()
    if arguments.again is not None:
        for cell in ALL_CELLS:
            if arguments.again in cell.name:
                rows.path_of(WORK, cell).unlink(missing_ok=True)
    chosen = [cell for cell in ALL_CELLS if arguments.only in cell.name]
    run_study(chosen, WORK, repetitions=arguments.repetitions, jobs=arguments.jobs)
    kept = pd.read_parquet(RESULT) if RESULT.exists() else None  # cells that were not run here stay as they are
    rows.gather(WORK, ALL_CELLS, kept).to_parquet(RESULT, compression="zstd")
    report(pd.read_parquet(RESULT))
    print("written:", *(path.relative_to(ROOT) for path in (RESULT, PAGE, PICTURES)))


def report(table: pd.DataFrame) -> None:
    """Write the tables into the page and draw its pictures."""
    summary = summarise(table)
    PAGE.write_text(fill(PAGE.read_text(), make_tables(summary)))
    draw_all(table, summary, PICTURES)


if __name__ == "__main__":
    main()
