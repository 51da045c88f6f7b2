"""All pairs of as many genotypes as a biobank has, on one GPU: a tenth of its people, or all.

    python benchmarks/biobank.py [--variables 100000] [--people 50000] [--repeats 2] [--device-share 0.33] [--no-save]

Random genotypes, made as packed words at once, by all cores: reading and coding is not measured here (docs/genotypes.md
has the plan of it all). The search is that of the engine: from planes on the host to every variable's maximum and its
pair. With --device-share, CuPy may take this share of the memory that planes would need on the device: they come and go
by lane blocks. Results go to benchmarks/results/biobank.json, or biobank_out_of_core.json.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from interplay.base.jobs import map_in_threads, n_cores
from interplay.base.planes import BitPlanes
from interplay.search.engines.cuda import CudaEngine, cuda_devices
from interplay.search.tiles import make_tuple_tiles
from machine import write_result

#: Variables that a thread makes at a time.
AT_ONCE = 512


def random_genotypes(n_vars: int, n_people: int) -> BitPlanes:
    """Three levels, the second and the third of a fourth of the people each; two equal classes."""
    sizes = np.array([n_people - n_people // 2, n_people // 2])
    start = np.concatenate([[0], np.cumsum(-(-sizes // 512) * 8)])
    valid = np.zeros(int(start[-1]) * 64, dtype=np.uint8)
    for first, size in zip(start[:-1].tolist(), sizes.tolist(), strict=True):
        valid[first * 64 : first * 64 + size] = 1
    valid_words = np.packbits(valid, bitorder="little").view(np.uint64)
    words = np.empty((n_vars, 2, int(start[-1])), dtype=np.uint64)

    def fill(begin: int) -> None:
        rng = np.random.Generator(np.random.SFC64(begin))
        part = words[begin : begin + AT_ONCE]
        bits = rng.integers(0, 2**64, part.shape, dtype=np.uint64)
        np.bitwise_and(bits[:, 0] & ~bits[:, 1], valid_words, out=part[:, 0])
        np.bitwise_and(bits[:, 1] & ~bits[:, 0], valid_words, out=part[:, 1])

    map_in_threads(fill, range(0, n_vars, AT_ONCE), n_cores())
    return BitPlanes(
        words=words.reshape(2 * n_vars, -1),
        plane_start=np.arange(n_vars + 1) * 2,
        n_levels=np.full(n_vars, 3, dtype=np.int64),
        class_word_start=start,
        class_sizes=sizes,
        n_vars=n_vars,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variables", type=int, default=100_000)
    parser.add_argument("--people", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--device-share", type=float, help="of the planes' bytes on the device (default: all memory)")
    parser.add_argument("--no-save", action="store_true")
    given = parser.parse_args()
    began = time.perf_counter()
    planes = random_genotypes(given.variables, given.people)
    made = time.perf_counter() - began
    engine = CudaEngine(n_threads=n_cores())
    tiles = make_tuple_tiles(planes.n_levels, n_vars=planes.n_vars, dimensions=2, **vars(engine.tile_shape(2)))
    result: dict[str, Any] = {}
    if given.device_share is not None:
        import cupy

        n_bytes = int(given.device_share * 1.5 * planes.words.nbytes)  # level 0 has a plane there too
        cupy.get_default_memory_pool().set_limit(size=n_bytes)
        result = {"device_gigabytes_allowed": round(n_bytes / 1e9, 2)}
    seconds = []
    for _ in range(given.repeats):
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what does not run on the GPU says so
            found = engine.max_gains(planes, tiles, pseudocount=0.25)
        seconds.append(round(time.perf_counter() - began, 3))
        print(f"{seconds[-1]} s", flush=True)
    assert np.isfinite(found.gain).all()
    n_pairs = float(tiles.n_tuples.sum())
    result |= {
        "devices": cuda_devices(),
        "n_vars": given.variables,
        "n_people": given.people,
        "n_pairs": n_pairs,
        "planes_gigabytes": round(planes.words.nbytes / 1e9, 2),
        "seconds_to_make_genotypes": round(made, 2),
        "first_call_seconds": seconds[0],
        "seconds": min(seconds),
        "pairs_times_people_per_second": float(f"{n_pairs * given.people / min(seconds):.3g}"),
    }
    print(result)
    if not given.no_save:
        write_result("biobank" if given.device_share is None else "biobank_out_of_core", result)


if __name__ == "__main__":
    main()
