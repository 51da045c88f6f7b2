"""Rates on genotype-like data, k-tuples × samples per second: the rows that epistasis programs are compared by.

    python benchmarks/genotypes.py [--only TEXT …] [--repeats 2] [--cpu-seconds 2] [--plink 2000 2000] [--no-save]

On a machine with a GPU the CUDA engine searches all tuples, from planes on the host to maxima and back; the first call
compiles. Without one, the processor's engine searches a few tiles of each row on one thread (as large_n.py does). With
--plink (samples, variables) instead: all pairs by one thread of PLINK 1.9's BOOST and, as a whole call on the same .bed
file, by one of ours. Results go to benchmarks/results/genotypes_<device>.json or genotypes_plink.json.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay.base.planes import BitPlanes, DiscreteCodes
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.readers.data_file import read_data
from interplay.search.engines.cuda import CudaEngine, cuda_devices, why_no_cuda
from interplay.search.tiles import make_tuple_tiles
from large_n import measured as measured_on_processor
from machine import write_result
from rivals import plink

#: Dimensions, levels, samples, variables; and what others publish, in tuples × samples per second.
ROWS: list[tuple[int, int, int, int, str]] = [
    (2, 3, 2000, 100_000, "tensor-episdet 6.5e13 (Turing)"),
    (2, 3, 10_000, 20_000, ""),
    (2, 3, 500_000, 5000, ""),
    (3, 3, 2000, 5000, "tensor-episdet 2.5e13 (Turing)"),
    (3, 3, 4000, 2000, ""),
    (3, 3, 20_000, 2000, ""),
    (3, 3, 500_000, 500, ""),
    (4, 3, 2000, 500, ""),
    (4, 3, 131_072, 256, "Epi4Tensor 9.1e13 (A100)"),
    (3, 2, 2000, 5000, ""),
    (3, 2, 20_000, 3000, ""),
    (3, 2, 100_000, 1000, ""),
    (3, 2, 500_000, 1000, ""),
    (4, 2, 131_072, 256, ""),
    (3, 5, 2000, 1000, ""),
    (3, 6, 2000, 500, ""),
    (3, 8, 2000, 500, ""),
    (2, 8, 2000, 10_000, ""),
    (2, 20, 2000, 5000, ""),
    (5, 2, 2000, 500, ""),
]

#: Genotypes in Hardy-Weinberg proportions: the frequency of the rarer allele, or None for any from .05 to .5, and the
#: share of the first class. All triples of 3000 variables.
SHARES: list[tuple[int, float | None, float]] = [
    (2000, None, 0.5),
    (2000, 0.05, 0.5),
    (2000, None, 0.9),
    (2000, None, 0.1),
    (20_000, 0.05, 0.5),
    (20_000, None, 0.9),
]


def random_genotypes(n_vars: int, n_levels: int, n_samples: int) -> BitPlanes:
    """Codes of two or three random bits each, those that are no level taken for level 0; two equal classes."""
    rng = np.random.default_rng(0)
    sizes = np.array([n_samples - n_samples // 2, n_samples // 2])
    start = np.concatenate([[0], np.cumsum(-(-sizes // 512) * 8)])
    n_bits = max(1, (n_levels - 1).bit_length())
    valid = np.zeros(int(start[-1]) * 64, dtype=np.uint8)
    for first, size in zip(start[:-1].tolist(), sizes.tolist(), strict=True):
        valid[first * 64 : first * 64 + size] = 1
    valid_words = np.packbits(valid, bitorder="little").view(np.uint64)
    words = np.empty((n_vars * (n_levels - 1), int(start[-1])), dtype=np.uint64)
    for variable in range(n_vars):
        bits = rng.integers(0, 2**64, (n_bits, len(valid_words)), dtype=np.uint64)
        for level in range(1, n_levels):
            plane = valid_words.copy()
            for bit in range(n_bits):
                plane &= bits[bit] if level >> bit & 1 else ~bits[bit]
            words[variable * (n_levels - 1) + level - 1] = plane
    return BitPlanes(
        words=words,
        plane_start=np.arange(n_vars + 1) * (n_levels - 1),
        n_levels=np.full(n_vars, n_levels, dtype=np.int64),
        class_word_start=start,
        class_sizes=sizes,
        n_vars=n_vars,
    )


def drawn_genotypes(n_vars: int, n_samples: int, frequency: float | None, share: float) -> BitPlanes:
    """Genotypes in Hardy-Weinberg proportions of two classes, the first with `share` of the samples."""
    rng = np.random.default_rng(1)
    frequencies = rng.uniform(0.05, 0.5, n_vars) if frequency is None else np.full(n_vars, frequency)
    codes = np.stack([rng.binomial(2, f, n_samples).astype(np.uint8) for f in frequencies])
    y = (np.arange(n_samples) >= share * n_samples).astype(np.int64)
    codes[:, 0], codes[:, 1] = 1, 2  # all levels are there
    return make_bit_planes([DiscreteCodes(codes, np.full(n_vars, 3))], DecisionClasses(y, [0, 1]))


def measured_on_gpu(planes: BitPlanes, dimensions: int, repeats: int) -> dict[str, Any]:
    engine = CudaEngine()
    shape = vars(engine.tile_shape(dimensions))
    tiles = make_tuple_tiles(planes.n_levels, n_vars=planes.n_vars, dimensions=dimensions, **shape)
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        engine.max_gains(planes, tiles, pseudocount=0.25)
        seconds.append(time.perf_counter() - began)
    rate = float(tiles.n_tuples.sum()) * planes.n_samples / min(seconds)
    return {
        "n_tuples": float(tiles.n_tuples.sum()),
        "first_call_seconds": round(seconds[0], 3),
        "seconds": round(min(seconds), 4),
        "tuples_times_samples_per_second": float(f"{rate:.3g}"),
    }


def beside_plink(n_samples: int, n_vars: int) -> dict[str, Any]:
    """Time both programs on one file, in turns: seconds of processor time, the least of three."""
    rng = np.random.default_rng(0)
    codes = rng.binomial(2, rng.uniform(0.1, 0.5, n_vars), (n_samples, n_vars)).astype(np.uint8)
    y = rng.permutation(np.arange(n_samples) % 2)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder) / "genotypes"
        plink.write_bed(stem, codes, y)
        for _ in range(3):
            theirs.append(plink.time_boost(codes, y))
            began = time.process_time()
            X, outcome = read_data(stem.with_suffix(".bed"))[:2]
            interplay.max_information_gain(X, outcome, dimensions=2, engine="cpu", n_jobs=1)
            ours.append(time.process_time() - began)
    work = n_vars * (n_vars - 1) / 2 * n_samples
    row = {"n_samples": n_samples, "n_vars": n_vars, "seconds": min(ours), "plink_seconds": min(theirs)}
    return {**row, "rate": float(f"{work / min(ours):.3g}"), "plink_rate": float(f"{work / min(theirs):.3g}")}


def rows(on_gpu: bool) -> Iterator[tuple[str, int, Callable[[], BitPlanes], str]]:
    """Name, dimensions, data and published rates of each row; the processor searches fewer variables."""
    for dimensions, levels, n_samples, n_vars, others in ROWS:
        make_planes = partial(random_genotypes, n_vars if on_gpu else min(n_vars, 512), levels, n_samples)
        yield f"{dimensions}D, {levels} levels, N {n_samples}, p {n_vars}", dimensions, make_planes, others
    for n_samples, frequency, share in SHARES:
        make_planes = partial(drawn_genotypes, 3000 if on_gpu else 512, n_samples, frequency, share)
        alleles = "any alleles" if frequency is None else f"rarer alleles {frequency}"
        yield f"3D, genotypes, N {n_samples}, p 3000, {alleles}, first class {share}", 3, make_planes, ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="parts of the names of rows")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--cpu-seconds", type=float, default=2.0)
    parser.add_argument("--cpu", action="store_true", help="the processor, also where there is a GPU")
    parser.add_argument("--no-save", action="store_true")
    parser.add_argument("--plink", type=int, nargs=2, metavar=("SAMPLES", "VARIABLES"))
    given = parser.parse_args()
    if given.plink:
        row = beside_plink(*given.plink)
        print(row)
        if not given.no_save:
            write_result("genotypes_plink", {"version": "PLINK 1.9, --fast-epistasis boost", **row})
        return
    on_gpu = why_no_cuda() is None and not given.cpu
    results = []
    for name, dimensions, make_planes, others in rows(on_gpu):
        if given.only and not any(text in name for text in given.only):
            continue
        planes = make_planes()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what does not run on the GPU says so
            if on_gpu:
                row = measured_on_gpu(planes, dimensions, given.repeats)
            else:
                row = measured_on_processor(planes, dimensions, given.cpu_seconds)
        print(f"{name:40s} {row['seconds']:9.4f} s  {row['tuples_times_samples_per_second']:.3g}  {others}", flush=True)
        results.append({"what": name, **row, "others": others})
    if not given.no_save:
        stem = cuda_devices()[0]["name"].lower().replace("nvidia ", "").replace(" ", "_") if on_gpu else "cpu"
        write_result(f"genotypes_{stem}", {"results": results})


if __name__ == "__main__":
    main()
