"""How much memory does a genome-wide table need? 200 000 variants of 1 000 people, in 2D, from a .bed file.

python benchmarks/bed_memory.py [--n-vars 200000] [--n-samples 1000] [--search-seconds 60]

Two measurements, each in a process of its own, of the peak beyond what the interpreter and the imports take:
all pairs that hold one of a few variants, to the end; and `select` over all pairs (with contrast variables, gains alone
and so on), stopped after a while, since 2·10¹⁰ pairs of variables with four levels (one of them "missing") take long.
With --search-seconds inf it goes on to the end.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

#: Two bits a genotype: 0, 1 and 2 copies of allele 1, and missing.
CODES = np.array([0b11, 0b10, 0b00, 0b01], dtype=np.uint8)
VARIANTS_AT_ONCE = 2000


def write_study(path: Path, n_samples: int, n_vars: int) -> None:
    """Write a .bed file with its .bim and .fam; 1 % of genotypes missing, two variants that decide together."""
    rng = np.random.default_rng(0)
    n_bytes = -(-n_samples // 4)
    decisive = {}
    with path.open("wb") as file:
        file.write(bytes([0x6C, 0x1B, 0x01]))
        for start in range(0, n_vars, VARIANTS_AT_ONCE):
            n = min(VARIANTS_AT_ONCE, n_vars - start)
            frequency = rng.uniform(0.2, 0.5, size=(n, 1))
            genotypes = rng.binomial(2, frequency, size=(n, n_samples))
            for v in (10, n_vars // 2):
                if start <= v < start + n:
                    decisive[v] = genotypes[v - start].copy()
            genotypes[rng.random(genotypes.shape) < 0.01] = 3
            padded = np.zeros((n, 4 * n_bytes), dtype=np.uint8)
            padded[:, :n_samples] = CODES[genotypes]
            file.write((padded.reshape(n, n_bytes, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(
                axis=2, dtype=np.uint8).tobytes())  # fmt: skip
    first, second = decisive.values()
    ill = (first > 0) ^ (second > 0) ^ (rng.random(n_samples) < 0.2)
    path.with_suffix(".bim").write_text("".join(f"1\trs{v}\t0\t{v + 1}\tA\tG\n" for v in range(n_vars)))
    fam = (f"f{i} i{i} 0 0 {i % 2 + 1} {2 if sick else 1}\n" for i, sick in enumerate(ill))
    path.with_suffix(".fam").write_text("".join(fam))


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def measure(path: Path, what: str, search_seconds: float) -> dict[str, float]:
    """Run one measurement in this process."""
    import bed_reader  # noqa: F401
    import pandas  # noqa: F401
    import scipy.stats  # noqa: F401
    import statsmodels.stats.multitest  # noqa: F401

    import interplay

    before = peak_mib()
    started = time.perf_counter()
    study = interplay.genetics.read_bed(path)
    share = 1.0
    if what == "some pairs":
        chosen = [10, *range(1000, 1019)]
        found = interplay.max_information_gain(
            study, "phenotype", dimensions=2, missing="level", variables=chosen, n_jobs=-1
        )
        assert set(found.tuples[10]) == {10, study.n_vars // 2}
    else:

        def stop_in_time(done: float) -> None:
            nonlocal share
            share = done
            if time.perf_counter() - started > search_seconds and done < 1:
                raise KeyboardInterrupt

        try:
            result = interplay.select(
                study, "phenotype", dimensions=2, missing="level", random_state=0, n_jobs=-1, progress=stop_in_time
            )
            assert set(result.relevant) >= {"rs10", f"rs{study.n_vars // 2}"}
        except KeyboardInterrupt:
            pass
    return {
        "seconds": round(time.perf_counter() - started, 1),
        "share_of_search": share,
        "peak_mib_of_process": round(peak_mib()),
        "peak_mib_beyond_interpreter": round(peak_mib() - before),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-vars", type=int, default=200_000)
    parser.add_argument("--n-samples", type=int, default=1000)
    parser.add_argument("--search-seconds", type=float, default=60)
    parser.add_argument("--measure", nargs=2, metavar=("FILE", "WHAT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        file, what = arguments.measure
        print(json.dumps(measure(Path(file), what, arguments.search_seconds)))
        return

    from machine import write_result

    name = f"bed_memory_{arguments.n_vars}x{arguments.n_samples}"
    result: dict[str, object] = {"n_vars": arguments.n_vars, "n_samples": arguments.n_samples}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.bed"
        write_study(path, arguments.n_samples, arguments.n_vars)
        result["file_mib"] = round(path.stat().st_size / 2**20, 1)
        for what in ("some pairs", "select"):
            command = [sys.executable, __file__, "--measure", str(path), what]
            command += ["--search-seconds", str(arguments.search_seconds)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            result[what] = json.loads(done.stdout)
            print(what, result[what])
    print("written:", write_result(name, result).name)


if __name__ == "__main__":
    main()
