"""The plan of a whole biobank: `interplay run --dry-run` for all pairs of 800 000 variants × 500 000 people.

    python benchmarks/biobank_plan.py [--variants 800000] [--people 500000] [--folder DIR] [--no-save]

The .bed file has random genotypes of the variants that a dry run reads; all others are holes of the file, which take no
room on the disk. Beside the plan stands the rate of a search of 80 000 variants of as many people, a tenth of each row
and column, from planes on the host. Results go to benchmarks/results/biobank_plan.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from biobank import random_genotypes
from biobank_file import write_bed
from interplay.ask.cli import expected_work
from interplay.base.jobs import n_cores
from interplay.search.engines.cuda import CudaEngine, cuda_devices, why_no_cuda
from interplay.search.tiles import make_tuple_tiles
from machine import write_result


def tenth(n_variants: int, n_people: int) -> dict[str, float]:
    """Search the pairs of a tenth of the variants."""
    planes = random_genotypes(n_variants // 10, n_people)
    engine = CudaEngine(n_threads=n_cores())
    tiles = make_tuple_tiles(planes.n_levels, n_vars=planes.n_vars, dimensions=2, **vars(engine.tile_shape(2)))
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        engine.max_gains(planes, tiles, pseudocount=0.25)
        seconds.append(time.perf_counter() - began)
    rate = float(tiles.n_tuples.sum()) * n_people / min(seconds)
    n_pairs = n_variants * (n_variants - 1) / 2
    return {
        "n_variants": planes.n_vars,
        "first_call_seconds": round(seconds[0], 2),
        "seconds": round(min(seconds), 2),
        "pairs_times_people_per_second": float(f"{rate:.3g}"),
        "minutes_of_all_pairs": round(n_pairs * n_people / rate / 60, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=800_000)
    parser.add_argument("--people", type=int, default=500_000)
    parser.add_argument("--folder", type=Path, help="where the files go (default: a temporary folder)")
    parser.add_argument("--no-save", action="store_true")
    given = parser.parse_args()
    n_read = min(int(expected_work._MAX_VALUES / given.people), given.variants)
    some = np.unique(np.linspace(0, given.variants - 1, n_read).astype(np.int64))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "biobank.bed"
        write_bed(path, given.variants, given.people, some=some)
        began = time.perf_counter()
        command = [sys.executable, "-m", "interplay", "run", str(path), "-k", "2", "--dry-run", "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        took = time.perf_counter() - began
    if done.returncode:
        sys.exit(done.stderr)
    plan = json.loads(done.stdout)
    print(json.dumps(plan, indent=1))
    result = {"devices": cuda_devices(), "dry_run_seconds": round(took, 1), "variants_read": len(some), "plan": plan}
    if why_no_cuda() is None:
        result["a tenth of the variants"] = tenth(given.variants, given.people)
    print(result)
    if not given.no_save:
        write_result("biobank_plan", result)


if __name__ == "__main__":
    main()
