"""What does listing tuples cost? Time and memory of a thresholded list, and of all rows to a file.

python benchmarks/list_tuples.py [--n-jobs 1]

1. 3D, 500 variables, 2000 samples: tuples above a threshold that leaves 50 000 rows, beside the maxima alone.
2. 3D, 300 variables, 2000 samples: all 13 million rows to a Parquet file.

Each measurement runs in a process of its own, whose peak memory is then its own too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from machine import write_result

N_ROWS = 50_000


def data(n_vars: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    if kind == "noise":
        rng = np.random.default_rng(0)
        return rng.standard_normal((2000, n_vars)), rng.integers(0, 2, 2000)
    X, y, _ = interplay.datasets.make_madelon(n_samples=2000, n_vars=n_vars, random_state=0)
    return X, y


def peak_mb() -> float:
    """Peak memory of this process. (On Linux getrusage would count that of the process which started it.)"""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status does not tell the peak memory")


def measure(what: str, kind: str, n_jobs: int, threshold: float) -> dict[str, Any]:
    """One measurement, in this process: the best of seven, and the memory beyond what the data took."""
    X, y = data(300 if what == "parquet" else 500, kind)
    interplay.max_information_gain(X[:, :20], y, dimensions=2)  # imports, and whatever is made once
    before, seconds, n_rows = peak_mb(), [], 0
    for _ in range(1 if what == "parquet" else 7):
        started = time.perf_counter()
        if what == "maxima":
            interplay.max_information_gain(X, y, dimensions=3, n_jobs=n_jobs)
        elif what == "threshold":
            n_rows = len(interplay.interesting_tuples(X, y, dimensions=3, min_gain=threshold, n_jobs=n_jobs))
        else:
            import pyarrow.parquet as pq

            with tempfile.TemporaryDirectory() as folder:
                path = interplay.interesting_tuples(X, y, dimensions=3, out=Path(folder) / "t.parquet", n_jobs=n_jobs)
                n_rows = pq.read_metadata(path).num_rows
        seconds.append(time.perf_counter() - started)
    return {"seconds": min(seconds), "n_rows": n_rows, "peak_mb": peak_mb(), "peak_mb_beyond_data": peak_mb() - before}


def in_process(what: str, kind: str, n_jobs: int, threshold: float = 0.0) -> dict[str, Any]:
    command = [sys.executable, __file__, "--measure", what, kind, str(n_jobs), repr(threshold)]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        what, kind, n_jobs, threshold = arguments.measure
        print(json.dumps(measure(what, kind, int(n_jobs), float(threshold))))
        return
    result: dict[str, Any] = {"n_jobs": arguments.n_jobs, "n_samples": 2000}
    for kind in ("madelon", "noise"):
        best = interplay.interesting_tuples(*data(500, kind), dimensions=3, top=N_ROWS, top_by="all")
        threshold = float(np.nextafter(best.value.min(), -np.inf))
        maxima = in_process("maxima", kind, arguments.n_jobs)
        above = in_process("threshold", kind, arguments.n_jobs, threshold)
        result[f"3d_500_{kind}"] = {
            "threshold": threshold,
            "maxima": maxima,
            "above_threshold": above,
            "times_as_long": above["seconds"] / maxima["seconds"],
            "mb_more": above["peak_mb"] - maxima["peak_mb"],
        }
    result["3d_300_parquet"] = in_process("parquet", "madelon", arguments.n_jobs)
    print(json.dumps(result, indent=1))
    print("written:", write_result("list_tuples", result).name)


if __name__ == "__main__":
    main()
