"""Run the cells: each repetition that has no row yet gets one."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from . import rows
from .cells import Cell
from .repetition import repeat


def run_study(cells: Sequence[Cell], folder: Path, *, repetitions: int, jobs: int = 1) -> None:
    """Run the cells in their order, each in one process."""
    folder.mkdir(parents=True, exist_ok=True)
    run = partial(run_cell, folder=folder, repetitions=repetitions)
    if jobs == 1:
        for cell in cells:
            run(cell)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for _ in pool.imap_unordered(run, cells):
            pass


def run_cell(cell: Cell, folder: Path, repetitions: int) -> None:
    path = rows.path_of(folder, cell)
    done = {row["repetition"] for row in rows.read(path)}
    left = [repetition for repetition in range(repetitions) if repetition not in done]
    started = time.perf_counter()
    for repetition in left:
        rows.append(path, repeat(cell, repetition))
    if left:
        print(f"{cell.name}: {len(left)} in {time.perf_counter() - started:.1f} s", flush=True)
