"""Processor time of short calls (20 variables, 300 samples), where Python costs more than the search.

    python benchmarks/short_calls.py [--base FOLDER] [--only TEXT] [--save]

FOLDER is a checkout of another commit with its compiled module beside the Python files. Each version is a process of
its own that stays; they take turns, and the least time of each counts, so that another load on the machine slows both
down alike. --save writes the table to results/short_calls.json.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
N_SAMPLES, N_VARIABLES = 300, 20

#: The first turns import modules and fill caches.
MIN_TURNS = 10

#: Calls of a turn: the first finds the caches of the processor full of the other version.
CALLS_OF_TURN = 5


def calls() -> dict[str, Callable[[], Any]]:
    import interplay

    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(N_SAMPLES, N_VARIABLES))
    classes = (numbers[:, 0] * numbers[:, 1] + 0.5 * rng.normal(size=N_SAMPLES) > 0).astype(int)
    genotypes = rng.integers(0, 3, size=(N_SAMPLES, N_VARIABLES))
    return {
        "interactions": lambda: interplay.interactions(numbers, classes),
        "interactions, genotypes": lambda: interplay.interactions(genotypes, classes),
        "interactions by levels": lambda: interplay.interactions(numbers, classes, coding="levels"),
        "interactions by levels, genotypes": lambda: interplay.interactions(genotypes, classes, coding="levels"),
        "select, 1D": lambda: interplay.select(numbers, classes, dimensions=1, random_state=1),
        "select, 2D": lambda: interplay.select(numbers, classes, dimensions=2, random_state=1),
        "select, default": lambda: interplay.select(numbers, classes, random_state=1),
        "max_information_gain, 1D": lambda: interplay.max_information_gain(numbers, classes, dimensions=1),
        "max_information_gain, 2D": lambda: interplay.max_information_gain(numbers, classes, dimensions=2),
        "interesting_tuples, 2D": lambda: interplay.interesting_tuples(numbers, classes, dimensions=2),
    }


def serve() -> None:
    """Answer each name of a call on stdin with the least processor milliseconds of a few such calls."""
    # An editable installation has a finder of its own, which goes before PYTHONPATH.
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in type(finder).__module__]
    by_name = calls()
    for line in sys.stdin:
        print(min(milliseconds(by_name[line.strip()]) for _ in range(CALLS_OF_TURN)), flush=True)


def milliseconds(call: Callable[[], Any]) -> float:
    started = time.process_time()
    call()
    return 1e3 * (time.process_time() - started)


class Version:
    """One version of the package, in a process that times the calls it is asked for."""

    def __init__(self, tree: Path) -> None:
        if not list(tree.glob("src/interplay/_core*")):
            sys.exit(f"{tree}/src/interplay has no compiled module: build it, and copy it there")
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": str(tree / "src")},
        )  # fmt: skip

    def milliseconds(self, name: str) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(name, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.communicate("")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, help="checkout of the commit to compare with")
    parser.add_argument("--only", default="", help="part of the names of the calls to time")
    parser.add_argument("--seconds", type=float, default=6.0, help="for the turns of a call (default: %(default)s)")
    parser.add_argument("--save", action="store_true", help="keep the rows in results/short_calls.json")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve()
    trees = [ROOT] + ([arguments.base.resolve()] if arguments.base else [])
    versions = [Version(tree) for tree in trees]
    rows = []
    print(f"{'call':34} {'now, ms':>9}" + (f" {'base, ms':>9} {'ratio':>7}" if arguments.base else ""))
    for name in calls():
        if arguments.only in name:
            turns = []
            end = time.monotonic() + arguments.seconds
            while len(turns) < MIN_TURNS or time.monotonic() < end:
                turns.append([version.milliseconds(name) for version in versions])
            now, *base = (min(times) for times in zip(*turns, strict=True))
            row = {"call": name, "turns": len(turns), "milliseconds": now}
            line = f"{name:34} {now:9.2f}"
            if base:
                row |= {"base_milliseconds": base[0], "ratio": now / base[0]}
                line += f" {base[0]:9.2f} {now / base[0]:7.3f}"
            rows.append(row)
            print(line, flush=True)
    for version in versions:
        version.stop()
    if arguments.save:
        from machine import write_result

        base_commit = None
        if arguments.base:
            command = ["git", "-C", arguments.base, "describe", "--always"]
            base_commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
        write_result("short_calls", {"base": base_commit, "rows": rows})


if __name__ == "__main__":
    main()
