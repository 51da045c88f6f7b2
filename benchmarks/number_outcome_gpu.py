"""How long the CUDA engine takes with a number outcome, beside two classes: the same codes, data on the host.

Run on a machine with a GPU.

    python benchmarks/number_outcome_gpu.py [--quick]

Results go to benchmarks/results/number_outcome_<device>.json.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from interplay.base.planes import BitPlanes, DiscreteCodes
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.numbers import NumberOutcome
from interplay.data.study.outcomes.targets import Target
from interplay.search.engines.cuda import CudaEngine, cuda_devices
from interplay.search.tiles import make_tuple_tiles
from machine import write_result

#: Dimensions, levels, samples, variables.
SHAPES = [
    (2, 2, 2000, 100_000),
    (2, 2, 20_000, 50_000),
    (3, 2, 2000, 4000),
    (3, 2, 20_000, 2500),
    (2, 3, 2000, 50_000),
    (2, 3, 20_000, 20_000),
    (3, 3, 2000, 2000),
    (3, 3, 20_000, 1000),
    (4, 2, 2000, 400),
]
QUICK = [(2, 2, 2000, 20_000), (2, 2, 20_000, 10_000), (3, 2, 2000, 1500), (3, 2, 20_000, 1000)]


def planes_of(outcome: Target, codes: np.ndarray, levels: int) -> BitPlanes:
    n_levels = np.full(len(codes), levels, dtype=np.int64)
    return make_bit_planes([DiscreteCodes(codes, n_levels)], outcome, n_jobs=8)


def measured(dimensions: int, levels: int, n_samples: int, n_vars: int, repeats: int = 4) -> dict[str, object]:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, levels, size=(n_vars, n_samples), dtype=np.uint8)
    values = rng.normal(size=n_samples) + 0.2 * codes[0]
    classes = DecisionClasses((values > np.median(values)).astype(np.int64), [0, 1])
    number = NumberOutcome(values, (values - values.mean()) / values.std())
    engine = CudaEngine()
    entry: dict[str, object] = {"dimensions": dimensions, "levels": levels, "n_samples": n_samples, "n_vars": n_vars}
    seconds = {}
    for name, outcome in (("two classes", classes), ("number", number)):
        planes = planes_of(outcome, codes, levels)
        shape = vars(engine.tile_shape(dimensions))
        tiles = make_tuple_tiles(planes.n_levels, n_vars=n_vars, dimensions=dimensions, **shape)
        taken = []
        for _ in range(repeats):  # the first compiles the kernels
            began = time.perf_counter()
            engine.max_gains(planes, tiles, pseudocount=0.25)
            taken.append(time.perf_counter() - began)
        seconds[name] = min(taken)
        entry[name] = {
            "seconds": round(min(taken), 4),
            "first_call_seconds": round(taken[0], 2),
            "tuples_per_second": float(f"{tiles.n_tuples.sum() / min(taken):.3g}"),
        }
    entry["times_as_long"] = round(seconds["number"] / seconds["two classes"], 2)
    print(entry, flush=True)
    return entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    results = [measured(*shape) for shape in (QUICK if arguments.quick else SHAPES)]
    device = cuda_devices()[0]
    stem = device["name"].lower().replace("nvidia ", "").replace(" ", "_")
    write_result(f"number_outcome_{stem}", {"device": device, "results": results})


if __name__ == "__main__":
    main()
