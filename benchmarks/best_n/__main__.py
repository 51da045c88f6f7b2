"""python -m benchmarks.best_n [--minutes 20] [--repeats 5] [--sets NAME …] [--methods NAME …] [--first-seed 1]

Each repetition divides the samples into four parts. Orders are made in three of them, and judged in the fourth by the
mean of logistic regression and a random forest (numbers: R² of ridge regression and a forest) on the first 5, 10, 20
and 50 variables. Rows that are done are not done again. Development had other repetitions (seeds 1000 and 1001).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.best_n.methods import FIRST_FOLD_ONLY, methods, order_by
from benchmarks.best_n.sets import SETS, Set
from benchmarks.machine import stamp, write_result

NUMBERS = (5, 10, 20, 50)
RESULT = Path(__file__).parents[1] / "results" / "best_n.json"


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


def rows_of_fold(
    one: Set, repeat: int, fold: int, wanted: list[str], done: set[tuple[str, int, int, str]]
) -> Iterator[dict[str, Any]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    X, y = one.make(repeat)
    split = (KFold if one.is_number else StratifiedKFold)(4, shuffle=True, random_state=repeat)
    train, test = list(split.split(X, y))[fold]
    known: dict[tuple[int, ...], float] = {}
    for method in wanted:
        if (one.name, repeat, fold, method) in done or (fold and method in FIRST_FOLD_ONLY):
            continue
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
        about = {"set": one.name, "repeat": repeat, "fold": fold, "method": method}
        yield about | {"seconds": round(seconds, 3), "scores": scores}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--folds", type=int, default=4, help="of each repetition, the first so many")
    parser.add_argument("--sets", nargs="+", default=[one.name for one in SETS])
    parser.add_argument("--methods", nargs="+", default=list(methods()), choices=methods())
    arguments = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != "1":
        parser.error("set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1: seconds are those of one thread")
    until = time.monotonic() + 60 * arguments.minutes
    rows = json.loads(RESULT.read_text())["rows"] if RESULT.exists() else []
    for repeat in range(arguments.first_seed, arguments.first_seed + arguments.repeats):
        for fold in range(arguments.folds):
            for one in SETS:
                if one.name not in arguments.sets or time.monotonic() > until:
                    continue
                done = {(row["set"], row["repeat"], row["fold"], row["method"]) for row in rows}
                new = list(rows_of_fold(one, repeat, fold, arguments.methods, done))
                if new:
                    rows += new
                    development = [each.name for each in SETS if each.is_development]
                    write_result("best_n", {"machine": stamp(), "development": development, "rows": rows})
                    print(one.name, repeat, fold, {row["method"]: row["scores"] for row in new}, flush=True)


if __name__ == "__main__":
    main()
