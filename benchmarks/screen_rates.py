"""How fast is the screen for interactions, beside the search for maximum gains of the same tuples?

    python benchmarks/screen_rates.py [--engine cpu] [--threads 1] [--repeats 5] [--scale 1.0] [--save]

Whole searches of tables of the same shape, in turns, so that both meet the same machine: seconds of the clock (the
least of the repeats), nanoseconds per tuple, their ratio, and how many tuples the screen lists at 0.05 over the number
of tuples. Tables are noise, or have three variables of strong effects, with which every pair gains; genotypes are of
rare alleles, so that many cells are empty.
"""

from __future__ import annotations

import argparse
import time
from math import comb
from typing import Any

import numpy as np

import interplay
from interplay.ask.tuple_tests.prospects import MAX_LISTED
from interplay.ask.tuple_tests.screen import ScreenedTuples, screen_tuples
from interplay.ask.tuple_tests.target_tests import target_tests
from interplay.data.codes.coded import code_comparison
from interplay.data.study.comparisons import Comparison
from interplay.data.study.design import Design, make_strata
from interplay.data.study.outcomes.classes import decision_classes
from interplay.data.study.table import as_table
from interplay.search.engines.choice import check_engine
from interplay.search.settings import check_search_settings
from machine import write_result

#: (dimensions, variables, levels, samples, classes, strata).
SHAPES: list[tuple[int, int, int, int, int, int]] = [
    (2, 3000, 2, 500, 2, 0),
    (2, 3000, 2, 2000, 2, 0),
    (2, 1500, 3, 500, 2, 0),
    (2, 1500, 3, 2000, 2, 0),
    (2, 700, 3, 2000, 3, 0),
    (2, 700, 5, 2000, 2, 0),
    (2, 1500, 2, 2000, 2, 3),
    (3, 400, 2, 500, 2, 0),
    (3, 400, 2, 2000, 2, 0),
    (3, 200, 3, 500, 2, 0),
    (3, 200, 3, 2000, 2, 0),
    (3, 100, 4, 2000, 2, 0),
    (4, 80, 2, 1000, 2, 0),
]

#: What the variables are.
KINDS = ("noise", "strong", "genotypes")


def make_data(kind: str, n_vars: int, levels: int, n_samples: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    if kind == "genotypes":
        frequency = rng.uniform(0.05, 0.5, n_vars)
        X = rng.binomial(2, frequency, (n_samples, n_vars)).astype(np.int8)
    else:
        X = rng.integers(0, levels, (n_samples, n_vars)).astype(np.int8)
    score = rng.normal(size=n_samples)
    if kind != "noise":
        score += 2.0 * X[:, 10] + 1.5 * X[:, n_vars // 2] + X[:, -10]
    y = np.argsort(np.argsort(score)) * n_classes // n_samples
    return X, y


def measure(kind: str, shape: tuple[int, ...], args: argparse.Namespace) -> dict[str, Any]:
    dimensions, n_vars, levels, n_samples, n_classes, n_strata = shape
    n_vars = max(int(n_vars * args.scale), dimensions + 1)
    X, y = make_data(kind, n_vars, levels, n_samples, n_classes)
    strata = np.random.default_rng(2).integers(0, n_strata, n_samples) if n_strata else None
    table = as_table(X)
    classes = decision_classes(y, n_samples=n_samples, decision="classes", decision_divisions=1)
    settings = check_search_settings(
        table,
        dimensions=dimensions,
        divisions=levels - 1,
        discretizations=1,
        range_=None,
        pseudocount=0.25,
        discrete="all",
        missing="error",
        random_state=0,
    )
    comparison = Comparison("all classes", table, classes, Design(n_samples, make_strata(strata, n_samples=n_samples)))
    n_tuples = comb(n_vars, dimensions)

    def screen() -> ScreenedTuples:
        choice = check_engine(args.engine, n_jobs=args.threads, kind="screen")
        coded = code_comparison(comparison, settings, n_threads=args.threads)
        survivors = target_tests(coded).survivors(
            dimensions, 0.05 / n_tuples, max_listed=MAX_LISTED, n_threads=args.threads
        )
        return screen_tuples(coded, settings, choice, survivors, progress=False)

    def maxima() -> Any:
        return interplay.max_information_gain(
            X,
            y,
            dimensions=dimensions,
            divisions=levels - 1,
            discrete="all",
            decision="classes",
            strata=strata,
            engine=args.engine,
            n_jobs=args.threads,
            progress=False,
        )

    seconds = {"screen": np.inf, "maxima": np.inf}
    listed: ScreenedTuples | None = None
    for _ in range(args.repeats):
        for name, work in (("maxima", maxima), ("screen", screen)):
            began = time.perf_counter()
            found = work()
            seconds[name] = min(seconds[name], time.perf_counter() - began)
            if name == "screen":
                listed = found
    assert listed is not None
    return {
        "kind": kind,
        "dimensions": dimensions,
        "n_vars": n_vars,
        "levels": levels,
        "n_samples": n_samples,
        "classes": n_classes,
        "strata": n_strata,
        "n_tuples": n_tuples,
        "listed": len(listed),
        "searchers": listed.searched,
        "maxima_ns_per_tuple": 1e9 * seconds["maxima"] / n_tuples,
        "screen_ns_per_tuple": 1e9 * seconds["screen"] / n_tuples,
        "ratio": seconds["screen"] / seconds["maxima"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of variables")
    parser.add_argument("--only", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--save", action="store_true", help="to benchmarks/results/screen_rates.json")
    args = parser.parse_args()
    rows = []
    for kind in args.only:
        for shape in SHAPES:
            if kind == "genotypes" and shape[2] != 3:
                continue
            row = measure(kind, shape, args)
            rows.append(row)
            print(
                f"{kind:9} {row['dimensions']}D {row['n_vars']:5} variables, {row['levels']} levels, "
                f"{row['n_samples']:4} samples, {row['classes']} classes, {row['strata']} strata: maxima "
                f"{row['maxima_ns_per_tuple']:7.1f}, screen {row['screen_ns_per_tuple']:7.1f} ns per tuple, ratio "
                f"{row['ratio']:.2f}; {row['listed']} of {row['n_tuples']} listed",
                flush=True,
            )
    if args.save:
        about = {"engine": args.engine, "threads": args.threads, "repeats": args.repeats}
        write_result("screen_rates", {**about, "rows": rows})


if __name__ == "__main__":
    main()
