"""Every method on every problem, as often as it is to be repeated; what is in the file of results is not done again."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from power.call import Hints
from power.methods import Method
from power.problems import Problem, Table
from power.workers import Workers

KEY = ["problem", "method", "repetition"]
COLUMNS = {
    "problem": "string",
    "method": "string",
    "repetition": "int64",
    "n_samples": "int64",
    "n_vars": "int64",
    "n_relevant": "int64",
    "n_found": "Int64",
    "n_false": "Int64",
    "seconds": "float64",
    "status": "string",
    "package": "string",
    "version": "string",
}


def empty_rows() -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})


def read_rows(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path).astype(COLUMNS) if path.exists() else empty_rows()


def write_rows(rows: pd.DataFrame, path: Path, machine: dict) -> None:
    """Whole or not at all, so that stopping at any moment loses no more than the last few calls."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(rows.sort_values(KEY).astype(COLUMNS), preserve_index=False)
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    pq.write_table(
        table.replace_schema_metadata({**(table.schema.metadata or {}), b"machine": json.dumps(machine).encode()}),
        unfinished,
        compression="zstd",
    )
    os.replace(unfinished, path)


def counted(table: Table, selected: Sequence[int]) -> dict:
    """True and false discoveries; a variable selected twice is found once."""
    found = np.isin(np.unique(np.asarray(selected, dtype=np.int64)), table.truth)
    return {"n_found": int(found.sum()), "n_false": int((~found).sum())}


def row_of(problem: str, method: str, repetition: int, table: Table, answer: dict) -> dict:
    row = {
        "problem": problem,
        "method": method,
        "repetition": repetition,
        "n_samples": table.X.shape[0],
        "n_vars": table.X.shape[1],
        "n_relevant": len(table.truth),
        "n_found": pd.NA,
        "n_false": pd.NA,
        "seconds": answer.get("seconds", np.nan),
        "status": answer.get("error", "ok"),
        "package": answer.get("package", pd.NA),
        "version": answer.get("version", pd.NA),
    }
    return row | (counted(table, answer["selected"]) if "selected" in answer else {})


def _open_calls(
    problems: Sequence[Problem], methods: Sequence[Method], repetitions: int | None, done: set[tuple]
) -> Iterator[tuple[Problem, int, list[Method]]]:
    """Methods that are repeated least are slowest and come last, so that an unfinished study is of use."""
    for count in sorted({method.repetitions for method in methods}, reverse=True):
        group = [method for method in methods if method.repetitions == count]
        for repetition in range(count if repetitions is None else min(count, repetitions)):
            for problem in problems:
                left = [method for method in group if (problem.name, method.name, repetition) not in done]
                if left:
                    yield problem, repetition, left


def run_study(
    path: Path,
    *,
    problems: Sequence[Problem],
    methods: Sequence[Method],
    workers: Workers,
    machine: dict,
    repetitions: int | None = None,
    say: Callable[[str], None] = print,
) -> pd.DataFrame:
    """Do what is not in the file yet, and return all rows."""
    rows = read_rows(path)
    done = set(rows[KEY].itertuples(index=False, name=None))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "table.npz"
        for problem, repetition, left in _open_calls(problems, methods, repetitions, done):
            table = problem.table(repetition)
            np.savez(data, X=table.X, y=table.y)
            hints = Hints(seed=repetition, genotypes=table.genotypes, n_relevant=len(table.truth))
            new = [
                row_of(
                    problem.name,
                    method.name,
                    repetition,
                    table,
                    workers.call(method.module, method.name, data, hints),
                )
                for method in left
                if method.applies_to(table)
            ]
            if new:
                rows = pd.concat([rows, pd.DataFrame(new).astype(COLUMNS)], ignore_index=True)
                write_rows(rows, path, machine)
                failed = [f"{row['method']}: {row['status']}" for row in new if row["status"] != "ok"]
                say(
                    f"{problem.name}, repetition {repetition}: {len(new)} calls"
                    + "".join(f"; {text}" for text in failed)
                )
    return rows
