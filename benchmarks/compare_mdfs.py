"""How much faster than PyPI's `mdfs` 1.5.2? Both on the same Madelon-like data, one thread each, in the same run.

    python benchmarks/compare_mdfs.py [--shapes 2:500 3:500 4:100 5:60 3:150:3] [--simd-levels avx2]

A shape is dimensions:variables or dimensions:variables:levels; whole calls are timed, from the table to the gains, in
seconds of processor time.

`mdfs` (GPL) is installed into an environment of its own under build/ and only ever called as a program.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

import interplay
from interplay.search.engines.cpu import CpuEngine, simd_levels
from machine import write_result

HERE = Path(__file__).parent
RIVAL_ENVIRONMENT = HERE.parent / "build" / "rival-mdfs"


def rival_python() -> Path:
    """The interpreter of an environment that has `mdfs`."""
    python = RIVAL_ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (RIVAL_ENVIRONMENT / "ready").exists():
        print("installing mdfs 1.5.2 into an environment of its own …", file=sys.stderr)
        venv.create(RIVAL_ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "mdfs==1.5.2"], check=True)
        (RIVAL_ENVIRONMENT / "ready").touch()
    return python


def time_rival(data: Path, dimensions: int, repeats: int, divisions: int) -> dict:
    numbers = map(str, (dimensions, repeats, divisions))
    command = [rival_python(), HERE / "rivals" / "mdfs_pypi.py", data, *numbers]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=one_thread)
    return json.loads(done.stdout.splitlines()[-1])


def time_ours(
    x: np.ndarray, y: np.ndarray, dimensions: int, divisions: int, simd_level: str
) -> tuple[float, np.ndarray]:
    seconds: list[float] = []
    engine = CpuEngine(n_threads=1, simd_level=simd_level)
    # A call of milliseconds is easily disturbed: it is repeated more often than a long one, as in rates.py.
    while len(seconds) < 3 or (len(seconds) < 15 and sum(seconds) < 1):
        started = time.process_time()
        gains = interplay.max_information_gain(
            x, y, dimensions=dimensions, divisions=divisions, discrete="none", engine=engine, n_jobs=1
        )
        seconds.append(time.process_time() - started)
    return min(seconds), gains.gain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=["2:500", "3:500", "4:100", "5:60", "3:150:3"])
    parser.add_argument("--n-samples", type=int, default=2000)
    parser.add_argument("--simd-levels", nargs="+", default=simd_levels()[1:] or simd_levels())
    arguments = parser.parse_args()

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        for shape in arguments.shapes:
            k, n_vars, levels = map(int, [*shape.split(":"), "2"][:3])
            x, y, _ = interplay.datasets.make_madelon(arguments.n_samples, n_vars, random_state=1)
            np.savez(data, x=x, y=y)
            rival = time_rival(data, k, 3 if k < 3 else 1, levels - 1)
            for level in arguments.simd_levels:
                seconds, gains = time_ours(x, y, k, levels - 1, level)
                worst = float(np.abs(gains - rival["max_igs"]).max())
                rows.append(
                    {
                        "dimensions": k,
                        "n_vars": n_vars,
                        "levels": levels,
                        "simd_level": level,
                        "mdfs_seconds": rival["seconds"],
                        "interplay_seconds": seconds,
                        "ratio": rival["seconds"] / seconds,
                        "interplay_tuples_per_second": math.comb(n_vars, k) / seconds,
                        "largest_difference_of_gains": worst,
                    }
                )
                print(
                    f"{k}D, {n_vars} variables, {levels} levels, {level:>7}: mdfs {rival['seconds']:8.3f} s, "
                    f"interplay {seconds:8.4f} s, ratio {rows[-1]['ratio']:6.1f}, "
                    f"gains differ by at most {worst:.1e} bits (float32 there)",
                    flush=True,
                )
    print("written:", write_result("compare_mdfs", {"n_samples": arguments.n_samples, "threads": 1, "rows": rows}).name)


if __name__ == "__main__":
    main()
