"""What would a wide search on a large cluster take? Tiles, bytes, tasks and time, from one core's measured rate.

python benchmarks/cluster_plan.py [--n-vars 100000] [--n-samples 500] [--workers 1000]

The tiles are cut as for the real search, and a few of them are searched. The time of the processor counts, which other
work on the machine disturbs little.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time

import numpy as np

from interplay.arrays import DecisionClasses, DiscreteCodes, MaxGains
from interplay.engines.cpu import CpuEngine
from interplay.engines.tuple_tiles import make_tuple_tiles
from interplay.steps.bit_planes import make_bit_planes
from machine import write_result


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
        "bytes_scattered_to_each_worker": len(pickle.dumps((planes, tiles[:0]), protocol=5)),
        "bytes_of_bounds": known.gain_by_group.nbytes,
        "gains_improved_by_a_tile": improved,
        "tuples_per_core_second": rate,
        "seconds_per_tile": float(np.median(tiles.n_tuples)) / rate,
        "core_hours": n_tuples / rate / 3600,
        "workers": arguments.workers,
        "minutes": n_tuples / rate / arguments.workers / 60,
        "peak_gib_here": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    for key, value in result.items():
        print(f"{key}: {value}")
    print("written:", write_result("cluster_plan", result).name)


if __name__ == "__main__":
    main()
