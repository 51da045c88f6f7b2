"""How fast are files of genotypes read, and in how much memory? Beside PLINK 2's own conversion of the same files.

python benchmarks/genotype_files.py [--n-samples 5000] [--n-vars 20000] [--formats bed pgen bgen8 bgen16 vcf.gz bcf]

PLINK 2 (Debian: apt-get install plink2) makes a table of random genotypes and exports it to each format. Each file is
then read whole once, in a process of its own: opened, and all its variants decoded in blocks of 2 MiB by as many
threads as there are cores, as the first pass of a search does. The peak of memory is that of the process, beside the
memory that the interpreter and the imports take. PLINK's time is that of its conversion of the same file to .pgen (of
.pgen to .bed), with the same number of threads. Results of several sizes stay side by side in
benchmarks/results/genotype_files.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

#: How PLINK writes and reads each format, and the name of the file.
FORMATS = {
    "bed": (["--make-bed"], ["--bfile", "s"], "s.bed"),
    "pgen": ([], ["--pfile", "s"], "s.pgen"),
    "bgen8": (
        ["--export", "bgen-1.2", "bits=8", "ref-first"],
        ["--bgen", "bgen8.bgen", "ref-first", "--sample", "bgen8.sample"],
        "bgen8.bgen",
    ),
    "bgen16": (
        ["--export", "bgen-1.2", "bits=16", "ref-first"],
        ["--bgen", "bgen16.bgen", "ref-first", "--sample", "bgen16.sample"],
        "bgen16.bgen",
    ),
    "vcf.gz": (["--export", "vcf", "bgz"], ["--vcf", "s.vcf.gz"], "s.vcf.gz"),
    "bcf": (["--export", "bcf"], ["--bcf", "s.bcf"], "s.bcf"),
}

BLOCK_BYTES = 2**21


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def measure(path: Path, threads: int) -> dict[str, float]:
    """Read a file in this process."""
    import numpy as np
    import pandas  # noqa: F401

    import interplay
    from interplay.base.jobs import map_in_threads
    from interplay.data.study.table import MISSING_WHOLE

    genetics = interplay.genetics
    readers = {".bed": genetics.read_bed, ".pgen": genetics.read_pgen, ".bgen": genetics.read_bgen}
    before = peak_mib()
    cpu, started = time.process_time(), time.perf_counter()
    table = readers.get(path.suffix, genetics.read_vcf)(path)
    opened = time.perf_counter()
    at_once = max(8, BLOCK_BYTES // (4 * table.n_samples))
    n_missing = np.zeros(-(-table.n_vars // at_once), dtype=np.int64)

    def read(number: int) -> None:
        start = number * at_once
        codes = table.whole_numbers(slice(start, min(start + at_once, table.n_vars)))
        n_missing[number] = np.count_nonzero(codes == MISSING_WHOLE)

    map_in_threads(read, range(len(n_missing)), threads)
    ended = time.perf_counter()
    return {
        "open_seconds": round(opened - started, 3),
        "blocks_seconds": round(ended - opened, 3),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "genotypes_per_second": round(table.n_vars * table.n_samples / (ended - started)),
        "missing": int(n_missing.sum()),
        "peak_mib": round(peak_mib()),
        "peak_mib_of_imports": round(before),
    }


def plink(folder: Path, *arguments: object) -> tuple[float, float]:
    """Run PLINK 2, and return its seconds, by the clock and on cores."""
    started, cpu = time.perf_counter(), cpu_of_children()
    subprocess.run(["plink2", *map(str, arguments)], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - started, cpu_of_children() - cpu


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(folder: Path, name: str, n_genotypes: int, threads: int, *, with_plink: bool) -> dict[str, Any]:
    write, read, file = FORMATS[name]
    if write:
        stem = file.split(".")[0]
        plink(folder, "--pfile", "s", *write, "--threads", threads, "--out", stem)
    if name.startswith("bgen"):  # PLINK does not read its own file of people with phenotypes that are missing
        lines = (folder / f"{name}.sample").read_text().splitlines()
        (folder / f"{name}.sample").write_text("\n".join(" ".join(line.split()[:3]) for line in lines) + "\n")
    command = [sys.executable, __file__, "--measure", str(folder / file), "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    row = {"file_mib": round((folder / file).stat().st_size / 2**20, 1), **json.loads(done.stdout)}
    # On a machine that others use as well, seconds on cores say more than the clock.
    row["genotypes_per_cpu_second"] = round(n_genotypes / row["cpu_seconds"])
    row["load_average"] = round(os.getloadavg()[0], 1)
    if with_plink:
        make = "--make-bed" if name == "pgen" else "--make-pgen"
        theirs, their_cpu = plink(folder, *read, make, "--threads", threads, "--out", "converted")
        for left in folder.glob("converted*"):
            left.unlink()
        row["plink2_conversion_seconds"] = round(theirs, 3)
        row["plink2_cpu_seconds"] = round(their_cpu, 3)
        row["plink2_genotypes_per_second"] = round(n_genotypes / theirs)
        row["plink2_genotypes_per_cpu_second"] = round(n_genotypes / their_cpu)
    if name != "pgen":
        (folder / file).unlink()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-samples", type=int, default=5000)
    parser.add_argument("--n-vars", type=int, default=20_000)
    parser.add_argument("--formats", nargs="+", choices=list(FORMATS), default=list(FORMATS))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--without-plink", action="store_true", help="do not time PLINK's conversion")
    parser.add_argument("--measure", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(Path(arguments.measure), arguments.threads)))
        return
    if shutil.which("plink2") is None:
        raise SystemExit("PLINK 2 is not installed (Debian: apt-get install plink2)")

    from machine import RESULTS, write_result

    n_samples, n_vars, threads = arguments.n_samples, arguments.n_vars, arguments.threads
    stored = RESULTS / "genotype_files.json"
    sizes = json.loads(stored.read_text())["sizes"] if stored.exists() else {}
    rows = sizes.setdefault(f"{n_vars} variants x {n_samples} people", {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plink(folder, "--dummy", n_samples, n_vars, 0.02, "acgt", "--seed", 1, "--make-pgen", "--out", "s")
        for each in arguments.formats:
            row = compare(folder, each, n_vars * n_samples, threads, with_plink=not arguments.without_plink)
            row["threads"] = threads
            rows[each] = row
            row["command"] = f"python benchmarks/genotype_files.py --n-samples {n_samples} --n-vars {n_vars}"
            print(each, row)
            write_result("genotype_files", {"made_by": "benchmarks/genotype_files.py", "sizes": sizes})


if __name__ == "__main__":
    main()
