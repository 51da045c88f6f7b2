"""What does a number outcome cost on one core, beside two classes? k-tuples × samples per second of the same codes.

    python benchmarks/number_rates.py [--repeats 5] [--only TEXT]

Whole searches for maxima by one thread, two classes and numbers in turns, processor time, the least of all repeats.
Results go to benchmarks/results/number_rates_<instruction set>.json.
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import numpy as np

from interplay.base.planes import BitPlanes, DiscreteCodes
from interplay.base.tuples import TupleTiles
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.search.engines.cpu import CpuEngine, default_simd_level
from interplay.search.plan import cut_for_processor
from interplay.search.tiles import make_tuple_tiles
from machine import write_result

PSEUDOCOUNT = 0.25

#: Dimensions, levels, samples, variables.
SHAPES = [
    (2, 2, 2000, 3000),
    (2, 2, 20_000, 1000),
    (3, 2, 2000, 600),
    (3, 2, 20_000, 300),
    (2, 3, 2000, 1500),
    (2, 3, 20_000, 500),
    (3, 3, 2000, 150),
    (3, 3, 20_000, 80),
    (4, 2, 2000, 80),
]


def searches(k: int, levels: int, n_samples: int, n_vars: int) -> dict[str, tuple[BitPlanes, TupleTiles]]:
    """Return planes and tiles of the same random codes with two classes and with numbers."""
    rng = np.random.default_rng(1)
    n_levels = np.full(n_vars, levels, dtype=np.int64)
    codes = DiscreteCodes(rng.integers(0, levels, (n_vars, n_samples)).astype(np.uint8), n_levels)
    y = rng.normal(size=n_samples)
    outcomes = {
        "classes": DecisionClasses((y > np.median(y)).astype(np.int64), [0, 1]),
        "numbers": number_outcome(y),
    }
    made = {}
    for name, outcome in outcomes.items():
        planes = make_bit_planes([codes], outcome)
        cut = partial(make_tuple_tiles, n_levels, n_vars=n_vars, dimensions=k)
        made[name] = planes, cut_for_processor(cut, planes, PSEUDOCOUNT)[1]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", default="", help="shapes whose name has this text, such as '3D'")
    arguments = parser.parse_args()
    rows = []
    for k, levels, n_samples, n_vars in SHAPES:
        name = f"{k}D, {levels} levels, {n_samples} samples, {n_vars} variables"
        if arguments.only not in name:
            continue
        made = searches(k, levels, n_samples, n_vars)
        seconds = dict.fromkeys(made, float("inf"))
        for _ in range(arguments.repeats):
            for outcome, (planes, tiles) in made.items():
                began = time.process_time()
                CpuEngine(n_threads=1).max_gains(planes, tiles, pseudocount=PSEUDOCOUNT)
                seconds[outcome] = min(seconds[outcome], time.process_time() - began)
        work = float(made["numbers"][1].n_tuples.sum()) * n_samples
        ratio = seconds["numbers"] / seconds["classes"]
        rows.append({"shape": name, **{f"{o} per s": work / s for o, s in seconds.items()}, "ratio": round(ratio, 2)})
        print(f"{name}: two classes {work / seconds['classes']:.2e}, numbers {work / seconds['numbers']:.2e}, "
              f"{ratio:.2f} times as long", flush=True)  # fmt: skip
    print(write_result(f"number_rates_{default_simd_level()}", {"rows": rows}))


if __name__ == "__main__":
    main()
