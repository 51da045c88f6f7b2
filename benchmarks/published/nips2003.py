"""Arcene, Gisette, Dexter and Dorothea, the NIPS 2003 sets beside Madelon: does a selection serve a classifier?

    python benchmarks/published_pages.py nips2003 [--folder ../shared/data/nips2003] [--sets arcene dexter]

Which of their variables are probes is not published, so that finds cannot be counted as in Madelon. What can be told is
how many variables `select` keeps, and the balanced error rate on the validation samples, the measure of the challenge,
of a random forest on all variables and on those that are kept. Nothing is downloaded: without the files the script says
which ones to get, and there is a page only for sets that were run.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score

import interplay

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "nips2003"

#: Variables of each set, and how a line of its files holds them.
SETS = {
    "arcene": (10_000, "dense"),
    "gisette": (5_000, "dense"),
    "dexter": (20_000, "pairs"),
    "dorothea": (100_000, "numbers"),
}
PARTS = ("train.data", "train.labels", "valid.data", "valid.labels")


def file_names(name: str) -> list[str]:
    return [f"{name}_{part}" for part in PARTS]


def how_to_get(folder: Path, names: list[str]) -> str:
    lines = [f"{folder} does not have all files of: {', '.join(names)}."]
    lines += [
        "They are free at the UCI machine learning repository (data sets Arcene, Gisette, Dexter and Dorothea; the",
        "archive of each set holds them, the labels of the validation samples beside its folder). Put these into the",
        "folder, or name another one by --folder:",
    ]
    return "\n".join(lines + [f"  {' '.join(file_names(name))}" for name in names])


def read_values(path: Path, n_vars: int, form: str) -> Any:
    """Read samples: all values, "variable:value" pairs, or the numbers of the variables that are 1 (from 1)."""
    lines = path.read_text().splitlines()
    if form == "dense":
        return np.array([line.split() for line in lines], dtype=np.int32)
    rows, columns, values = [], [], []
    for row, line in enumerate(lines):
        for word in line.split():
            variable, _, value = word.partition(":")
            rows.append(row)
            columns.append(int(variable) - 1)
            values.append(int(value or 1))
    return scipy.sparse.csc_matrix((values, (rows, columns)), shape=(len(lines), n_vars))


def read_set(folder: Path, name: str) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    n_vars, form = SETS[name]
    paths = dict(zip(PARTS, (folder / file for file in file_names(name)), strict=True))
    values = {part: read_values(paths[part], n_vars, form) for part in PARTS if part.endswith("data")}
    labels = {part: np.loadtxt(paths[part], dtype=int) for part in PARTS if part.endswith("labels")}
    return values["train.data"], labels["train.labels"], values["valid.data"], labels["valid.labels"]


def error_rate(X: Any, y: np.ndarray, X_new: Any, y_new: np.ndarray) -> float:
    model = RandomForestClassifier(500, random_state=0, n_jobs=1).fit(X, y)
    return float(1 - balanced_accuracy_score(y_new, model.predict(X_new)))


def one_set(folder: Path, name: str) -> dict[str, Any]:
    X, y, X_new, y_new = read_set(folder, name)
    started = time.perf_counter()
    found = interplay.select(X, y, random_state=0, progress=False)
    seconds = time.perf_counter() - started
    row = {"set": name, "samples": X.shape[0], "variables": X.shape[1], "relevant": len(found.ranked)}
    row |= {"seconds": round(seconds, 1), "error_of_all": error_rate(X, y, X_new, y_new)}
    kept = np.sort(found.ranked)
    row["error_of_relevant"] = error_rate(X[:, kept], y, X_new[:, kept], y_new) if len(kept) else None
    print(row, flush=True)
    return row


def run(arguments: list[str]) -> tuple[dict[str, Any], str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    given = parser.parse_args(arguments)
    absent = [name for name in given.sets if not all((given.folder / file).exists() for file in file_names(name))]
    if absent:
        raise SystemExit(how_to_get(given.folder, absent))
    rows = [one_set(given.folder, name) for name in given.sets]
    lines = [
        "# Other sets of the NIPS 2003 challenge",
        "",
        "Variables that the default call of `select` finds in the training samples, and the balanced error rate of a",
        "random forest of 500 trees on the validation samples. The probes among the variables are not published.",
        "",
        "| set | samples | variables | relevant | seconds | error, all variables | error, relevant ones |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        of_relevant = "–" if row["error_of_relevant"] is None else f"{row['error_of_relevant']:.3f}"
        cells = [row[name] for name in ("set", "samples", "variables", "relevant", "seconds")]
        lines.append("| " + " | ".join(map(str, [*cells, f"{row['error_of_all']:.3f}", of_relevant])) + " |")
    return {"rows": rows}, "\n".join(lines) + "\n"
