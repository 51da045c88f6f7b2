"""python -m benchmarks.best_n [--jobs 2] [--minutes 20] [--first-seed 31 41] [--sets NAME …] [--methods NAME …]

Each repetition divides the samples into four parts. Orders are made in three of them, and judged in the fourth by the
mean of logistic regression and a random forest (numbers: R² of ridge regression and a forest) on the first 5, 10, 20
and 50 variables. `--first-seed 31 41` are two runs, repetitions 31, 41, 32, 42, …; slow peers come last.
Rows that are done are not done again, and `--merge FILE` adds those of another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.best_n.development import DEVELOPMENT
from benchmarks.best_n.methods import SLOW, methods, order_by
from benchmarks.best_n.sets import SETS, Set
from benchmarks.machine import RESULTS, stamp, write_result

NUMBERS = (5, 10, 20, 50)

ALL_SETS = {one.name: one for one in (*DEVELOPMENT, *SETS)}

#: Seconds between writings of the result.
WRITE_EVERY = 10.0

Row = dict[str, Any]


class Fold(NamedTuple):
    set: str
    repeat: int
    fold: int
    methods: tuple[str, ...]


def score(
    X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, chosen: list[int], is_number: bool
) -> float:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if is_number:
        linear: Any = RidgeCV(np.logspace(-2, 3, 6))
        forest: Any = RandomForestRegressor(50, min_samples_leaf=2, random_state=0)
    else:
        linear, forest = LogisticRegression(max_iter=300), RandomForestClassifier(50, random_state=0)
    models = [make_pipeline(StandardScaler(), linear), forest]
    fitted = (model.fit(X[train][:, chosen], y[train]) for model in models)
    return float(np.mean([model.score(X[test][:, chosen], y[test]) for model in fitted]))


def parts(one: Set, X: np.ndarray, y: np.ndarray, repeat: int, fold: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples in which orders are made, and those in which they are judged."""
    from sklearn.model_selection import KFold, StratifiedKFold

    n_parts = one.made_in_one_of or 4
    split = (KFold if one.is_number else StratifiedKFold)(n_parts, shuffle=True, random_state=repeat)
    rest, part = list(split.split(X, y))[fold]
    return (part, rest) if one.made_in_one_of else (rest, part)


def rows_of_fold(asked: Fold, until: float) -> list[Row]:
    if time.time() > until:
        return []
    one = ALL_SETS[asked.set]
    X, y = one.make(asked.repeat)
    train, test = parts(one, X, y, asked.repeat, asked.fold)
    known: dict[tuple[int, ...], float] = {}
    rows = []
    for method in asked.methods:
        found = order_by(method, X[train], y[train], is_number=one.is_number, dimensions=one.dimensions)
        if found is None:
            continue
        order, seconds = found
        scores = {}
        for n in NUMBERS:
            if n <= len(order) and n < X.shape[1]:  # all variables are no choice
                chosen = sorted(order[:n])
                if tuple(chosen) not in known:
                    known[tuple(chosen)] = score(X, y, train, test, chosen, one.is_number)
                scores[str(n)] = round(known[tuple(chosen)], 4)
        about = {"set": one.name, "repeat": asked.repeat, "fold": asked.fold, "method": method}
        rows.append(about | {"seconds": round(seconds, 3), "scores": scores})
    return rows


def folds_to_do(arguments: argparse.Namespace, rows: list[Row]) -> list[Fold]:
    """Return what is not done yet: all sets of one fold, then the next, so that a run can be stopped at any time."""
    done = {(row["set"], row["repeat"], row["fold"], row["method"]) for row in rows}
    asked = []
    for are_slow in (False, True):
        wanted = [method for method in arguments.methods if (method in SLOW) == are_slow]
        for number in range(arguments.repeats):
            for fold in range(arguments.folds):
                for repeat in (first + number for first in arguments.first_seed):
                    for name in arguments.sets:
                        new = tuple(m for m in wanted if (name, repeat, fold, m) not in done)
                        if are_slow:  # one at a time: they take long
                            asked += [Fold(name, repeat, fold, (method,)) for method in new]
                        elif new:
                            asked.append(Fold(name, repeat, fold, new))
    return asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--first-seed", type=int, nargs="+", default=[31, 41])
    parser.add_argument("--folds", type=int, default=4, help="of each repetition, the first so many")
    parser.add_argument("--development", action="store_true", help="the sets that the method was chosen on")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--methods", nargs="+", default=methods(), choices=[*methods(), "smallest p"])
    parser.add_argument("--merge", type=Path, nargs="+", default=[])
    arguments = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        parser.error("set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1: seconds are those of one thread")
    sets = {one.name: one for one in (DEVELOPMENT if arguments.development else SETS)}
    arguments.sets = arguments.sets or list(sets)
    name = "best_n_development" if arguments.development else "best_n"
    files = [file for file in (RESULTS / f"{name}.json", *arguments.merge) if file.exists()]
    known = (row for file in files for row in json.loads(file.read_text())["rows"])
    rows = list({(row["set"], row["repeat"], row["fold"], row["method"]): row for row in known}.values())
    asked = folds_to_do(arguments, rows)

    def write() -> None:
        development = [one.name for one in SETS if one.is_development]
        rows.sort(key=lambda row: (list(sets).index(row["set"]), row["repeat"], row["fold"]))
        write_result(name, {"machine": stamp(), "development": development, "rows": rows})

    until, written = time.time() + 60 * arguments.minutes, time.time()
    with get_context("fork").Pool(arguments.jobs) as pool:
        work = partial(rows_of_fold, until=until)
        for count, new in enumerate(pool.imap_unordered(work, asked), start=1):
            rows += new
            if time.time() > written + WRITE_EVERY:
                write()
                written = time.time()
                print(f"{count} of {len(asked)} folds", flush=True)
    write()


if __name__ == "__main__":
    main()
