"""Whole calls of `select` beside what a user would pick instead: processor seconds, true and false finds.

    python benchmarks/selection_peers.py --python PYTHON [--only TEXT] [--methods NAME …] [--save]

PYTHON is the interpreter of an environment with boruta, skrebate, mrmr-selection, interpret-core, xgboost and mdfs
(PyPI). Each method has its defaults and one thread. Methods that rank and do not choose are told the number of true
variables, and one that takes more than 30 s is stopped. --save writes results/selection_peers.json, where rows of other
tables and methods stay; docs/performance.md shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from machine import RESULTS, write_result
from whole_calls import table

_RIVALS = Path(__file__).parent / "rivals" / "selection_peers.py"

METHODS = ("boruta", "mutual_information", "multisurf", "mrmr", "ebm_fast", "xgboost_shap", "mdfs_2d")

#: Variables and outcome; the true variables.
Data = tuple[Any, Any, list[int]]


def tables() -> dict[str, Callable[[], Data]]:
    return {
        "Madelon 1000 × 100, 20 true": madelon,
        "alone and in pairs, 500 × 100, 30 true": much,
        "one pair of genotypes, 800 × 100, 2 true": epistasis,
        "one triple, 1000 × 40, 3 true": triple,
        "noise, 500 × 100": lambda: (*table(500, 100, "two classes", "nothing"), []),
    }


def madelon() -> Data:
    import interplay

    X, y, truth = interplay.datasets.make_madelon(1000, 100, random_state=0)
    return X, y, sorted(int(v) for v in truth.relevant)


def much() -> Data:
    return (*table(500, 100, "two classes", "much"), list(range(30)))


def epistasis() -> Data:
    import interplay

    X, y, truth = interplay.datasets.make_epistasis(800, 100, random_state=0)
    return X, y, sorted({int(v) for v in truth.relevant})


def triple() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 40))
    score = np.sign(X[:, 3] * X[:, 11] * X[:, 20]) + rng.normal(size=1000)
    return X, (score > 0).astype(int), [3, 11, 20]


def ours(X: Any, y: Any) -> dict[str, Any]:
    import interplay

    began = time.process_time()
    found = interplay.select(X, y, random_state=0, n_jobs=1)
    return {"chosen": found.ranked.tolist(), "seconds": time.process_time() - began}


def of_peer(python: str, method: str, path: Path) -> dict[str, Any]:
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    command = [python, "-W", "ignore", str(_RIVALS), method, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | threads, check=False)
    if done.returncode:
        reason = done.stderr.strip().splitlines()
        return {"error": "more than 30 s" if done.returncode < 0 else reason[-1][:200] if reason else "stopped"}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", required=True)
    parser.add_argument("--only", default="", help="part of the names of the tables")
    parser.add_argument("--methods", nargs="+", default=["interplay", *METHODS], choices=["interplay", *METHODS])
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y, _ = much()
    ours(X, y)  # imports
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in tables().items():
            if arguments.only not in name:
                continue
            X, y, true = make()
            path = Path(folder) / "table.npz"
            np.savez(path, x=X, y=y, true=np.array(true, dtype=np.int64))
            for method in arguments.methods:
                found = ours(X, y) if method == "interplay" else of_peer(arguments.python, method, path)
                row: dict[str, Any] = {"table": name, "method": method, "n_true": len(true)}
                if "error" in found:
                    row["error"] = found["error"]
                else:
                    chosen = set(found["chosen"])
                    row |= {"true": len(chosen & set(true)), "false": len(chosen - set(true))}
                    row["seconds"] = found["seconds"]
                rows.append(row)
                print(json.dumps(row), flush=True)
    if arguments.save:
        done = {(row["table"], row["method"]) for row in rows}
        file = RESULTS / "selection_peers.json"
        known = json.loads(file.read_text())["rows"] if file.exists() else []
        rows += [row for row in known if (row["table"], row["method"]) not in done]
        names = [(name, method) for name in tables() for method in ("interplay", *METHODS)]
        rows.sort(key=lambda row: names.index((row["table"], row["method"])))
        write_result("selection_peers", {"rows": rows})


if __name__ == "__main__":
    main()
