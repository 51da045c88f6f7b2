"""Do checkpoints, shards and Dask cost anything beside a plain search, also with three levels or three classes?

    python benchmarks/ways_to_search.py [--variables 700] [--rounds 5]

3D, 2000 samples, one thread. Each way searches the same tuples; they take turns, and the least processor time of each
counts. Shards are summed; each reads and packs the table anew, which "search alone" leaves out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay.search.engines.cpu import CpuEngine
from machine import write_result

N_SHARDS = 4


class TimedEngine(CpuEngine):
    """Adds up the processor time of the searches alone."""

    seconds = 0.0

    def search(self, planes: Any, tiles: Any, sink: Any, **options: Any) -> None:
        started = time.process_time()
        super().search(planes, tiles, sink, **options)
        TimedEngine.seconds += time.process_time() - started


def ways(X: np.ndarray, y: np.ndarray, divisions: int, folder: Path) -> dict[str, Callable[[], Any]]:
    how: dict[str, Any] = {"dimensions": 3, "divisions": divisions, "discrete": "none", "n_contrast": 0,
                           "random_state": 0, "engine": TimedEngine(), "progress": False}  # fmt: skip

    def kept() -> None:
        (folder / "run.ckpt").unlink(missing_ok=True)
        interplay.select(X, y, **how, checkpoint=folder / "run.ckpt")

    def shards() -> None:
        for number in range(1, N_SHARDS + 1):
            interplay.search_shard(X, y, shard=(number, N_SHARDS), **how)

    return {"plain": lambda: interplay.select(X, y, **how), "checkpoint": kept, f"{N_SHARDS} shards": shards}


def dask_seconds(X: np.ndarray, y: np.ndarray, divisions: int, rounds: int) -> dict[str, float]:
    """Wall time of one worker with one thread, in this process, against a plain search."""
    from distributed import Client

    how: dict[str, Any] = {"dimensions": 3, "divisions": divisions, "discrete": "none", "progress": False}
    least = {"plain, wall": np.inf, "dask, wall": np.inf}
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        for _ in range(rounds):
            for way, engine in (("plain, wall", CpuEngine()), ("dask, wall", client)):
                started = time.perf_counter()
                interplay.max_information_gain(X, y, **how, engine=engine)
                least[way] = min(least[way], time.perf_counter() - started)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variables", type=int, default=700)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    for kind, divisions, n_classes in (("two levels", 1, 2), ("three levels", 2, 2), ("three classes", 1, 3)):
        X, y, _ = interplay.datasets.make_madelon(2000, arguments.variables, random_state=1)
        if n_classes > 2:
            rng = np.random.default_rng(0)
            y = np.where(rng.random(len(y)) < 0.5, y, rng.integers(0, n_classes, len(y)))
        with tempfile.TemporaryDirectory() as folder:
            calls = ways(X, y, divisions, Path(folder))
            least = dict.fromkeys(calls, (np.inf, np.inf))
            for _ in range(arguments.rounds):
                for way, call in calls.items():
                    TimedEngine.seconds, started = 0.0, time.process_time()
                    call()
                    whole = time.process_time() - started
                    least[way] = min(least[way][0], TimedEngine.seconds), min(least[way][1], whole)
        for way, (search, whole) in least.items():
            ratio = search / least["plain"][0]
            rows.append({"kind": kind, "way": way, "search_seconds": search, "seconds": whole, "search_ratio": ratio})
            print(
                f"{kind:14} {way:12} search alone {search:7.3f} s ({ratio:5.3f} of plain), whole {whole:7.3f} s",
                flush=True,
            )
        wall = dask_seconds(X, y, divisions, arguments.rounds)
        rows.append({"kind": kind, "way": "dask", **wall})
        print(f"{kind:14} {'dask':12} whole {wall['dask, wall']:7.3f} s wall, plain {wall['plain, wall']:7.3f} s")
    write_result("ways_to_search", {"variables": arguments.variables, "rows": rows})


if __name__ == "__main__":
    main()
