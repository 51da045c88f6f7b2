"""All pairs of the genotypes of a file, on one GPU: the whole call, and the time of its parts.

    python benchmarks/biobank_file.py [--variants 200000] [--people 100000] [--folder DIR] [--no-save]

The .bed file has random genotypes in Hardy–Weinberg proportions, allele frequencies of 1/8 to 1/2, and two classes; the
time to write it is not counted. The call is `max_information_gain` with a checkpoint, from the name of the file on; a
second call resumes from nothing but the planes that the first left beside the checkpoint. Results go to
benchmarks/results/biobank_file.json.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from interplay.base.jobs import map_in_threads, n_cores
from interplay.data.codes import coded
from interplay.data.study import study
from interplay.search.engines.cuda import CudaEngine, cuda_devices
from machine import write_result

#: Variants that a thread makes at a time.
AT_ONCE = 256


def write_bed(path: Path, n_variants: int, n_people: int, *, some: np.ndarray | None = None) -> None:
    """Write a .bed file with its .bim and .fam; people are ill and well in turns.

    Of `some` variants alone, the rest of the file is a hole that takes no room.
    """
    rows = np.arange(n_variants) if some is None else some
    n_bytes = -(-n_people // 4)
    with path.open("wb") as file:
        file.write(bytes([0x6C, 0x1B, 0x01]))
        file.truncate(3 + n_variants * n_bytes)
    body = np.memmap(path, dtype=np.uint8, mode="r+", offset=3, shape=(n_variants, n_bytes))

    def fill(begin: int) -> None:
        rng = np.random.Generator(np.random.SFC64(begin))
        n_words = -(-n_bytes // 8)
        for number in rows[begin : begin + AT_ONCE].tolist():
            # Two copies are 00, one is 10, none is 11. A bit is set with chance 1/2, 3/4 or 7/8.
            alleles = rng.integers(0, 2**64, (2, 1 + number % 3, n_words), dtype=np.uint64)
            first, second = np.bitwise_or.reduce(alleles, axis=1) & np.uint64(0x5555555555555555)
            body[number] = ((first | second) << np.uint64(1) | first & second).view(np.uint8)[:n_bytes]

    map_in_threads(fill, range(0, len(rows), AT_ONCE), n_cores())
    body.flush()
    path.with_suffix(".bim").write_text("".join(f"1\tv{v}\t0\t{1000 * v + 1}\tA\tC\n" for v in range(n_variants)))
    path.with_suffix(".fam").write_text("".join(f"f{i}\tp{i}\t0\t0\t0\t{1 + i % 2}\n" for i in range(n_people)))


@contextmanager
def timed(parts: dict[str, float], name: str, owner: Any, function: str) -> Iterator[None]:
    """Add up the seconds of a function of the package."""
    original: Callable[..., Any] = getattr(owner, function)

    def call(*arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return original(*arguments, **options)
        finally:
            parts[name] = parts.get(name, 0.0) + time.perf_counter() - began

    setattr(owner, function, call)
    try:
        yield
    finally:
        setattr(owner, function, original)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=200_000)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="where the files go (default: a temporary folder)")
    parser.add_argument("--engine", default="cuda")
    parser.add_argument("--no-save", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "study.bed"
        began = time.perf_counter()
        write_bed(path, given.variants, given.people)
        print(f"written in {time.perf_counter() - began:.1f} s, {path.stat().st_size / 1e9:.1f} GB", flush=True)
        rows = [one_call(path, given.engine) for _ in range(2)]
    n_pairs = given.variants * (given.variants - 1) / 2
    result = {
        "devices": cuda_devices(),
        "n_variants": given.variants,
        "n_people": given.people,
        "n_pairs": n_pairs,
        "calls": rows,
        "pairs_times_people_per_second": float(f"{n_pairs * given.people / rows[0]['seconds']:.3g}"),
    }
    print(result)
    if not given.no_save:
        write_result("biobank_file", result)


def one_call(path: Path, engine: str) -> dict[str, Any]:
    parts: dict[str, float] = {}
    checkpoint = path.with_suffix(".ckpt")
    began = time.perf_counter()
    with (
        timed(parts, "open", interplay.genetics, "read_bed"),
        timed(parts, "fingerprint", study, "data_fingerprint"),
        timed(parts, "survey", coded, "make_coder"),
        timed(parts, "planes", coded, "make_bit_planes"),
        timed(parts, "search", CudaEngine, "search"),
    ):
        table = interplay.genetics.read_bed(path)
        found = interplay.max_information_gain(
            table, "phenotype", dimensions=2, engine=engine, n_jobs=-1, checkpoint=checkpoint
        )
    assert np.isfinite(found.gain).all()
    os.unlink(checkpoint)
    row = {"seconds": round(time.perf_counter() - began, 2)} | {name: round(took, 2) for name, took in parts.items()}
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
