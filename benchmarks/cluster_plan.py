"""What would a wide search on a large cluster take? Tiles, bytes, tasks and time, from one core's measured rate.

python benchmarks/cluster_plan.py [--n-vars 100000] [--n-samples 500] [--workers 1000]

The tiles are cut as for the real search, and a few of them are searched. The time of the processor counts, which other
work on the machine disturbs little. The Dask engine then cuts its chunks for workers that exist on paper only.
"""

from __future__ import annotations

import argparse
import heapq
import pickle
import resource
import time
from collections import deque
from types import SimpleNamespace

import numpy as np

from interplay.base.planes import DiscreteCodes
from interplay.base.tuples import MaxGains, TupleTiles
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.dask import TASKS_PER_THREAD, ChunkTasks, DaskEngine
from interplay.search.engines.dask_cluster import SharedData, TaskResult
from interplay.search.engines.sinks import Maxima
from interplay.search.tiles import make_tuple_tiles
from machine import write_result

#: Seconds from the end of one task to the start of the next on the same thread, generously.
_LATENCY = 0.1


def simulate(
    data: SharedData, tiles: TupleTiles, known: MaxGains, n_workers: int, rate: float, latency: float
) -> dict[str, float]:
    """Let the Dask engine cut its chunks for workers of equal rate; a task is `latency` seconds longer than its work.

    Tasks wait for workers, so that only the time at the end in which some have nothing left to do is lost besides.
    """
    search = ChunkTasks(None, data, tiles, Maxima(known), DaskEngine.task_seconds)
    search._cluster = SimpleNamespace(n_threads=n_workers)
    waiting: deque[float] = deque()
    running: list[tuple[float, float]] = []
    n_tasks, now = 0, 0.0

    def fill() -> None:
        nonlocal n_tasks
        while len(waiting) + len(running) < TASKS_PER_THREAD * n_workers and (chunk := search._next_chunk()):
            waiting.append(float(tiles.n_tuples[chunk.begin : chunk.end].sum()))
            n_tasks += 1
        while waiting and len(running) < n_workers:
            n_tuples = waiting.popleft()
            heapq.heappush(running, (now + n_tuples / rate + latency, n_tuples))

    fill()
    while running:
        now, n_tuples = heapq.heappop(running)
        search._learn(TaskResult(None, 0, n_tuples / rate, "cpu", "", {}), n_tuples)
        fill()
    return {
        "tasks": n_tasks,
        "tasks_per_second": n_tasks / now,
        "minutes": now / 60,
        "share_of_time_at_work": float(tiles.n_tuples.sum()) / rate / n_workers / now,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-vars", type=int, default=100_000)
    parser.add_argument("--n-contrast", type=int, default=1000)
    parser.add_argument("--n-samples", type=int, default=500)
    parser.add_argument("--dimensions", type=int, default=3)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--tiles", type=int, default=3, help="to search")
    arguments = parser.parse_args()
    n_vars, n_contrast, n_samples = arguments.n_vars, arguments.n_contrast, arguments.n_samples
    rng = np.random.default_rng(0)
    levels = np.full(n_vars + n_contrast, 2)
    began = time.perf_counter()
    tiles = make_tuple_tiles(levels, n_vars=n_vars, dimensions=arguments.dimensions)
    seconds_to_cut = time.perf_counter() - began
    codes = rng.integers(0, 2, (n_vars + n_contrast, n_samples)).astype(np.uint8)
    parts = [DiscreteCodes(part, np.full(len(part), 2)) for part in (codes[:n_vars], codes[n_vars:])]
    planes = make_bit_planes(parts, DecisionClasses(rng.integers(0, 2, n_samples), [0, 1]))

    known = MaxGains.none_yet(planes, tiles)
    data = SharedData(planes, tiles[:0], 0.25, Maxima(known).elsewhere(), "")
    middle = len(tiles) // 2
    rates, improved = [], []
    for number in range(middle, middle + arguments.tiles):
        began = time.process_time()
        found = CpuEngine().max_gains(planes, tiles[number : number + 1], pseudocount=0.25, known=known)
        rates.append(float(tiles.n_tuples[number]) / (time.process_time() - began))
        improved.append(int((found.gain_by_group != known.gain_by_group).sum()))
        known = found
        print(f"tile {number}: {rates[-1]:.3g} tuples a second, {improved[-1]} gains improved", flush=True)

    n_tuples, rate = float(tiles.n_tuples.sum()), float(np.median(rates))
    result = {
        "n_vars": n_vars,
        "n_contrast": n_contrast,
        "n_samples": n_samples,
        "dimensions": arguments.dimensions,
        "n_tuples": n_tuples,
        "n_tiles": len(tiles),
        "tuples_of_the_largest_tile": float(tiles.n_tuples.max()),
        "bytes_of_the_list_of_tiles": tiles.tiles.nbytes + tiles.n_tuples.nbytes,
        "seconds_to_cut_tiles": seconds_to_cut,
        "bytes_scattered_to_each_worker": len(pickle.dumps(data, protocol=5)),
        "bytes_of_bounds": known.gain_by_group.nbytes,
        "gains_improved_by_a_tile": improved,
        "tuples_per_core_second": rate,
        "seconds_per_tile": float(np.median(tiles.n_tuples)) / rate,
        "core_hours": n_tuples / rate / 3600,
        "workers": arguments.workers,
        "latency_of_a_task": _LATENCY,
        "simulated": simulate(data, tiles, known, arguments.workers, rate, _LATENCY),
        "peak_gib_here": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    for key, value in result.items():
        print(f"{key}: {value}")
    print("written:", write_result("cluster_plan", result).name)


if __name__ == "__main__":
    main()
