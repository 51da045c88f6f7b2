"""Seconds of a call that --dry-run tells, beside those that the call then takes.

    python benchmarks/dry_run.py [--only TEXT] [--save]

Both are processor seconds of one thread, in one process, so that another load on the machine does not matter: the
clock of the package is replaced. --save writes results/dry_run.json. Exit status 1: a call takes more than twice as
long as told, or less than half as long; calls of less than .3 s, which nobody plans, count as .3 s.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from machine import write_result
from whole_calls import KINDS, churn, genotypes, table

time.perf_counter = time.process_time

#: A shorter call counts as this long.
_SHORTEST = 0.3

Make = Callable[[], tuple[Any, Any]]


def settings() -> Iterator[tuple[str, str, Make, dict[str, Any]]]:
    """Yield the words of a setting, the function, its data, and its arguments."""
    for kind in KINDS:
        for n, p in ((3000, 50), (600, 300)):
            for found in ("nothing", "much"):
                yield f"{kind}, {n} × {p}, {found} to find", "select", lambda a=(n, p, kind, found): table(*a), {}
    for kind in ("two classes", "number"):
        yield f"{kind}, 1500 × 100, 10 % missing", "select", lambda kind=kind: lacking(kind), {}
        yield f"{kind}, 1500 × 100, covariates", "select", lambda kind=kind: table(1500, 100, kind, "much"), AGE
    yield "two classes, a column of 51 levels", "select", lambda: churn(51), {}
    yield "two classes, 1000 × 100, three levels", "select", lambda: table(1000, 100, "two classes", "much"), LEVELS
    yield "two classes, 800 × 150, 3D", "select", lambda: table(800, 150, "two classes", "much"), {"dimensions": 3}
    for kind in ("two classes", "number"):
        yield f"{kind}, 1000 × 1500", "select", lambda kind=kind: table(1000, 1500, kind, "much"), {}
    for coding in ("levels", "auto"):
        for name, make, given in of_interactions():
            yield f"{name}, {coding}", "interactions", make, given | {"coding": coding}


def of_interactions() -> Iterator[tuple[str, Make, dict[str, Any]]]:
    """Yield settings of interactions, which are made by levels, and by levels, products and shapes."""
    for missing in ("omit", "impute"):
        yield f"number, genotypes, 2 % missing, {missing}", lambda: genes("number", 0.02), {"missing": missing}
    for kind in ("two classes", "number"):
        yield f"{kind}, genotypes, all with p < .001", lambda kind=kind: genes(kind, 0.0), {"max_p": 1e-3}
    yield "two classes, genotypes, 2 % missing, top=100", lambda: genes("two classes", 0.02), {"top": 100}
    for kind in ("two classes", "times"):
        yield f"{kind}, 1000 × 300, much to find", lambda kind=kind: table(1000, 300, kind, "much"), {}
    yield "two classes, 1000 × 300, covariates", lambda: table(1000, 300, "two classes", "much"), AGE
    for kind, found in (("four classes", "much"), ("number", "nothing")):
        yield f"{kind}, 1000 × 2000, {found} to find", lambda a=(1000, 2000, kind, found): table(*a), {}
    yield "number, 300 × 60, 3D", lambda: table(300, 60, "number", "much"), {"dimensions": 3}
    yield "two classes, 300 × 300, 3D", lambda: table(300, 300, "two classes", "much"), {"dimensions": 3}


AGE = {"covariates": ["x0", "x1"]}
LEVELS = {"divisions": 2}


def genes(kind: str, missing: float) -> tuple[Any, Any]:
    return genotypes(2000, 1200, kind, missing)


def lacking(kind: str) -> tuple[Any, Any]:
    X, y = table(1500, 100, kind, "much")
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y


def row_of(name: str, function: str, make: Make, given: dict[str, Any]) -> dict[str, Any]:
    import pandas as pd

    import interplay
    from interplay.ask.cli.expected_work import expected_interactions, expected_work

    X, y = make()
    given = given | {"n_jobs": 1} | ({"random_state": 0} if function == "select" else {})
    if "covariates" in given:
        X = pd.DataFrame(X, columns=[f"x{v}" for v in range(X.shape[1])])
    began = time.process_time()
    work = (expected_work if function == "select" else expected_interactions)(X, y, **given)
    of_plan = time.process_time() - began
    began = time.process_time()
    getattr(interplay, function)(X, y, **given)
    taken = time.process_time() - began
    ratio = max(work.seconds, _SHORTEST) / max(taken, _SHORTEST)
    return {"call": f"{function}, {name}", "told": work.seconds, "taken": taken, "ratio": ratio, "dry_run": of_plan}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="part of the names of the settings")
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    warm = True
    for name, function, make, given in settings():
        if arguments.only not in f"{function}, {name}":
            continue
        if warm:  # imports
            row_of(name, function, make, given)
            warm = False
        rows.append(row_of(name, function, make, given))
        print(
            "{call:70} told {told:7.2f} taken {taken:7.2f} ratio {ratio:5.2f} dry run {dry_run:6.2f}".format(
                **rows[-1]
            ),
            flush=True,
        )
    outside = [row["call"] for row in rows if not 0.5 <= row["ratio"] <= 2]
    print(f"{len(rows) - len(outside)} of {len(rows)} within a factor of 2", *outside, sep="\n")
    if arguments.save:
        write_result("dry_run", {"rows": rows})
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
