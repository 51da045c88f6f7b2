"""What does Dask cost, and do two workers do twice the work of one?

python benchmarks/dask_overhead.py [--n-vars 4100] [--repeats 3]

One 3D search of about a minute on one core: by the bare engine with one thread, by a LocalCluster of one single-thread
worker, and by one of two. Rounds are interleaved and each figure is the best of its kind, since other work on the
machine only ever makes a run slower. The time of the processors is given too, which other work disturbs less.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import numpy as np

from interplay.base.planes import DiscreteCodes
from interplay.base.tuples import MaxGains
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.dask import DaskEngine
from interplay.search.tiles import make_tuple_tiles
from machine import write_result


def processor_seconds() -> float:
    times = os.times()
    return times.user + times.system


def main() -> None:
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-vars", type=int, default=4100)
    parser.add_argument("--n-samples", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    levels = np.full(arguments.n_vars, 2)
    codes = DiscreteCodes(rng.integers(0, 2, (arguments.n_vars, arguments.n_samples)).astype(np.uint8), levels)
    planes = make_bit_planes([codes], DecisionClasses(rng.integers(0, 2, arguments.n_samples), [0, 1]))
    tiles = make_tuple_tiles(levels, n_vars=arguments.n_vars, dimensions=3)

    runs: dict[str, list[dict[str, float]]] = {"bare": [], "one worker": [], "two workers": []}
    plain: MaxGains | None = None

    def record(what: str, engine: Any, worker_seconds: Any) -> None:
        nonlocal plain
        before, began = worker_seconds(), time.perf_counter()
        found = engine.max_gains(planes, tiles, pseudocount=0.25)
        wall = time.perf_counter() - began
        runs[what].append({"seconds": wall, "processor_seconds": worker_seconds() - before})
        plain = found if plain is None else plain
        assert np.array_equal(found.gain, plain.gain)
        assert np.array_equal(found.tuples, plain.tuples)
        print(f"{what}: {wall:.2f} s, {runs[what][-1]['processor_seconds']:.2f} s of processors", flush=True)

    for _ in range(arguments.repeats):
        record("bare", CpuEngine(n_threads=1), processor_seconds)
        for what, n_workers in (("one worker", 1), ("two workers", 2)):
            with (
                LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
                Client(cluster) as client,
            ):
                record(what, DaskEngine(client), lambda client=client: sum(client.run(processor_seconds).values()))

    best = {what: min(run["seconds"] for run in entries) for what, entries in runs.items()}
    processor = {what: min(run["processor_seconds"] for run in entries) for what, entries in runs.items()}
    result = {
        "n_vars": arguments.n_vars,
        "n_samples": arguments.n_samples,
        "n_tuples": float(tiles.n_tuples.sum()),
        "load_at_the_end": os.getloadavg()[0],
        "seconds": best,
        "processor_seconds": processor,
        "overhead_of_dask": best["one worker"] / best["bare"] - 1,
        "overhead_of_dask_in_processor_time": processor["one worker"] / processor["bare"] - 1,
        "two_workers_against_one": best["one worker"] / best["two workers"],
        # What it would be if nothing else ran: both do the work in the time that their processors took.
        "two_workers_against_one_in_processor_time": 2 * processor["one worker"] / processor["two workers"],
        "runs": runs,
    }
    print({key: value for key, value in result.items() if key != "runs"})
    print("written:", write_result("dask_overhead", result).name)


if __name__ == "__main__":
    main()
