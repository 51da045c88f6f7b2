"""What permutations cost: 199 searches of all pairs, beside one search with contrast variables.

python benchmarks/permutations.py [--engine cuda] [--vars 500 2000 10000] [--samples 2000] [--jobs -1] [--save]

A variable that matters is planted, so that no permutation is left out.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import interplay
from machine import write_result


def seconds(X: np.ndarray, y: np.ndarray, *, repeat: int = 2, **settings) -> float:
    """Return the shortest of a few runs."""
    taken = []
    for _ in range(repeat):
        began = time.perf_counter()
        interplay.select(X, y, random_state=0, progress=False, **settings)
        taken.append(time.perf_counter() - began)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="cpu")
    parser.add_argument("--vars", type=int, nargs="+", default=[500])
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--groups", type=int, default=0, help="donors of equal sizes; none for single samples")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    rows = []
    for n_vars in arguments.vars:
        rng = np.random.default_rng(0)
        donor = np.arange(arguments.samples) % (arguments.groups or arguments.samples)
        y = donor % 2
        X = rng.normal(size=(arguments.samples, n_vars))
        X[:, 0] += 2 * y
        how = {"dimensions": 2, "engine": arguments.engine, "n_jobs": arguments.jobs}
        groups = {"groups": donor} if arguments.groups else {}
        row = {
            "variables": n_vars,
            "samples": arguments.samples,
            "groups": arguments.groups,
            "contrast_seconds": round(seconds(X, y, **how), 3),
            "permutations_seconds": round(seconds(X, y, permutations=True, **groups, **how), 3),
        }
        rows.append(row)
        print(row, flush=True)
    if arguments.save:
        print(
            "written:",
            write_result(f"permutations_{arguments.engine}", {"engine": arguments.engine, "rows": rows}).name,
        )


if __name__ == "__main__":
    main()
