"""How long do lists of interactions take: many levels, classes or strata, `top`, `max_p`?

    python benchmarks/interaction_lists.py [--only TEXT] [--limit 60] [--threads -1] [--keep FOLDER] [--save]

Each row is one call in a process of its own: seconds of the clock and of the processors, the tuples that were fitted
after the screen, and the tuples listed. A call that takes longer than the limit is ended. Tables are noise, which is
the worst case of a list; genotypes are of rare alleles, so that many cells are empty. With `--keep` the listed tests
are written as text with all their digits, so that two commits can be compared by `diff`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from machine import write_result

#: (name, variables, samples, levels, classes, strata, arguments of the call); levels 0 are genotypes.
ROWS: list[tuple[str, int, int, int, int, int, dict[str, Any]]] = [
    ("triples of 3 levels, 3 classes, top", 100, 500, 3, 3, 0, {"dimensions": 3, "top": 30}),
    ("triples of 4 levels, top", 100, 500, 4, 2, 0, {"dimensions": 3, "top": 30}),
    ("quadruples of 3 levels, top", 40, 1000, 3, 2, 0, {"dimensions": 4, "top": 30}),
    ("pairs of 12 levels, top", 100, 200, 12, 2, 0, {"top": 30}),
    ("pairs of 5 levels, top", 500, 300, 5, 2, 0, {"top": 30}),
    ("triples of 8 levels, 3 classes, top", 81, 48, 8, 3, 0, {"dimensions": 3, "top": 30}),
    ("pairs of genotypes, max_p", 300, 500, 0, 2, 0, {"max_p": 0.05}),
    ("pairs of genotypes, 20 strata", 300, 500, 0, 2, 20, {}),
    ("pairs of genotypes, 20 strata, top", 300, 500, 0, 2, 20, {"top": 30}),
    ("triples of genotypes, 8 classes", 60, 500, 0, 8, 0, {"dimensions": 3}),
    ("triples of genotypes, 8 classes, top", 60, 500, 0, 8, 0, {"dimensions": 3, "top": 30}),
    ("triples of 8 levels, strata", 68, 32_794, 8, 2, 3, {"dimensions": 3}),
]


def make_data(n_vars: int, n_samples: int, levels: int, n_classes: int, n_strata: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(1)
    if levels:
        X = rng.integers(0, levels, (n_samples, n_vars)).astype(np.int8)
    else:
        X = rng.binomial(2, rng.uniform(0.05, 0.5, n_vars), (n_samples, n_vars)).astype(np.int8)
    y = rng.permutation(np.arange(n_samples) * n_classes // n_samples)
    return X, y, rng.integers(0, n_strata, n_samples) if n_strata else None


def run_row(name: str, threads: int, keep: str | None) -> dict[str, Any]:
    """Make one call; return its times and counts."""
    import interplay

    _, n_vars, n_samples, levels, n_classes, n_strata, options = next(row for row in ROWS if row[0] == name)
    X, y, strata = make_data(n_vars, n_samples, levels, n_classes, n_strata)
    warnings.simplefilter("ignore")
    began, processors = time.perf_counter(), time.process_time()
    found = interplay.interactions(
        X,
        y,
        strata=strata,
        discrete="all",
        decision="classes",
        n_jobs=threads,
        progress=False,
        **options,
        coding="levels",
    )
    seconds, of_processors = time.perf_counter() - began, time.process_time() - processors
    if keep is not None:
        folder = Path(keep)
        folder.mkdir(parents=True, exist_ok=True)
        listed = found.tested
        lines = zip(*(getattr(listed, field).tolist() for field in vars(listed)), strict=True)
        (folder / f"{name}.txt").write_text("".join(f"{line!r}\n" for line in lines))
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(of_processors, 2),
        "n_tests": found.n_tests,
        "fitted": found.provenance["tested"],
        "listed": len(found),
        "searched_up_to_p": found.provenance["searched_up_to_p"],
    }


def measure(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Make one call in a process of its own, within the limit."""
    command = [sys.executable, __file__, "--row", name, "--threads", str(args.threads)]
    command += ["--keep", args.keep] if args.keep else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=args.limit + 5)
    except subprocess.TimeoutExpired:
        return {"row": name, "seconds": None, "longer_than": args.limit}
    return {"row": name, **json.loads(done.stdout)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the names of the rows")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one call")
    parser.add_argument("--threads", type=int, default=-1)
    parser.add_argument("--keep", help="folder for the listed tests")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--save", action="store_true", help="to benchmarks/results/interaction_lists.json")
    args = parser.parse_args()
    if args.row:
        print(json.dumps(run_row(args.row, args.threads, args.keep)))
        return
    rows = []
    for name, *_ in ROWS:
        if args.only in name:
            rows.append(measure(name, args))
            print(json.dumps(rows[-1]), flush=True)
    if args.save:
        write_result("interaction_lists", {"threads": args.threads, "limit": args.limit, "rows": rows})


if __name__ == "__main__":
    main()
