"""Does the processor's rate hold as samples grow? k-tuples × samples per second of a few tiles, one thread.

    python benchmarks/large_n.py [--samples 2000 500000] [--levels 2 3] [--dimensions 3] [--seconds 2] [--repeats 3]
    python benchmarks/large_n.py --table

Random codes of 512 variables, two equal classes; with --table the settings that versions are compared by. Of all tiles
those of even rank are searched that take about as long as asked for, twice: the second time the maxima are known, as
they are for nearly all of a long search. Results go to benchmarks/results/large_n.json.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.cpu import CpuEngine, default_simd_level
from interplay.search.tiles import make_tuple_tiles
from machine import write_result

#: Dimensions, levels, samples, variables.
TABLE = [
    *((3, 2, n, 512) for n in (2000, 60_000, 70_000, 500_000)),
    *((3, 3, n, 512) for n in (2000, 500_000)),
    (2, 3, 2000, 4000),
    (3, 4, 2000, 512),
    (3, 8, 2000, 512),
]


def random_planes(n_vars: int, n_levels: int, class_sizes: list[int], seed: int = 0) -> BitPlanes:
    """Codes of equally frequent levels, made as planes at once: codes would take a byte each."""
    rng = np.random.default_rng(seed)
    sizes = np.array(class_sizes)
    start = np.concatenate([[0], np.cumsum(-(-sizes // 512) * 8)])
    words = np.zeros((n_vars * (n_levels - 1), int(start[-1])), dtype=np.uint64)
    for first, size in zip(start, sizes, strict=False):
        for variable in range(n_vars):
            codes = rng.integers(0, n_levels, int(size), dtype=np.uint8)
            for level in range(1, n_levels):
                packed = np.packbits(codes == level, bitorder="little")
                row = words[variable * (n_levels - 1) + level - 1].view(np.uint8)
                row[first * 8 : first * 8 + len(packed)] = packed
    return BitPlanes(
        words=words,
        plane_start=np.arange(n_vars + 1) * (n_levels - 1),
        n_levels=np.full(n_vars, n_levels, dtype=np.int64),
        class_word_start=start,
        class_sizes=sizes,
        n_vars=n_vars,
    )


def measured(planes: BitPlanes, dimensions: int, seconds: float, *, simd_level: str | None = None) -> dict[str, Any]:
    engine = CpuEngine(simd_level=simd_level)
    tiles = make_tuple_tiles(planes.n_levels, n_vars=planes.n_vars, dimensions=dimensions)
    order = np.random.default_rng(1).permutation(np.flatnonzero(tiles.n_tuples >= np.median(tiles.n_tuples)))

    def search(some: TupleTiles, searched: dict[str, Any] | None = None) -> float:
        found = engine.max_gains(planes, some, pseudocount=0.25)
        began = time.process_time()
        engine.max_gains(planes, some, pseudocount=0.25, known=found, searched=searched)
        return time.process_time() - began

    # Rows of bits are made in each call, once for all tiles: what one tile takes is left out.
    alone = tiles[order[:1]]
    start = search(alone)
    n_tiles = min(2, len(order))
    while True:
        some, searched = tiles[np.sort(order[:n_tiles])], {}
        took = search(some, searched) - start
        if took > seconds / 3 or n_tiles == len(order):
            break
        n_tiles = min(int(n_tiles * max(1.5, min(seconds / max(took, 1e-3), 16))) + 1, len(order))
    n_tuples = float(some.n_tuples.sum() - alone.n_tuples.sum())
    rate = n_tuples * planes.n_samples / took
    return {
        "dimensions": dimensions,
        "n_samples": planes.n_samples,
        "levels": int(planes.n_levels[0]),
        "classes": len(planes.class_sizes),
        "searchers": sorted(searched),
        "tuples": n_tuples,
        "seconds": round(took, 3),
        "tuples_times_samples_per_second": float(f"{rate:.3g}"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, nargs="+", default=[2000, 20_000, 60_000, 70_000, 200_000, 500_000])
    parser.add_argument("--levels", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--dimensions", type=int, nargs="+", default=[3])
    parser.add_argument("--n-vars", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument(
        "--repeats", type=int, default=1, help="the best of so many counts: others use the machine, too"
    )
    parser.add_argument("--simd-level", default=default_simd_level())
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--no-save", action="store_true")
    given = parser.parse_args()
    grid = [(k, c, n, given.n_vars) for c in given.levels for n in given.samples for k in given.dimensions]
    rows = []
    for dimensions, levels, n_samples, n_vars in TABLE if given.table else grid:
        planes = random_planes(n_vars, levels, [n_samples - n_samples // 2, n_samples // 2])
        repeats = [
            measured(planes, dimensions, given.seconds, simd_level=given.simd_level) for _ in range(given.repeats)
        ]
        row = max(repeats, key=lambda one: one["tuples_times_samples_per_second"])
        print(row, flush=True)
        rows.append({**row, "n_vars": n_vars, "simd_level": given.simd_level})
    if not given.no_save:
        write_result("large_n", {"rows": rows})


if __name__ == "__main__":
    main()
