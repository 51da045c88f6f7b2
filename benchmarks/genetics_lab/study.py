"""A study as a lab has it, searched by PLINK 1.9 and by interplay from the same .bed files: CPU seconds and MiB.

    python -m benchmarks.genetics_lab.study [--people 3000] [--variants 6000] [--repeats 2] [--only TEXT]

Genotypes are of msprime, three populations (simulate.py, in an environment of its own under build/). Outcomes, each as
a number and as cases (its upper half):

- noise: nothing of the genotypes;
- polygenic: 500 causes, three pairs, age and sex; populations differ;
- hits: products of 30 variants with 30 others, on chromosomes 1 and 2.

Each is searched on complete genotypes and with 2 % missing, by one thread, in turns; the smallest CPU seconds of whole
processes count, and the largest memory of these. The same test: of cases, all nine cells (`--fast-epistasis boost`); of
numbers, the product of dosages beside both (`--epistasis`, `--coding dosage --scale values`). "all": what
`interplay interactions` does by default, which PLINK has no counterpart of. Writes results/study.json, by size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.compare_plink import find_plink
from benchmarks.genetics_lab.rows import RESULTS
from benchmarks.machine import stamp

HERE = Path(__file__).resolve().parent
BUILD = HERE.parents[1] / "build" / "genetics-lab"
OUTCOMES = ("noise", "polygenic", "hits")
#: A run that takes longer is stopped; its time then is "more than".
LIMIT = 3000


def python_of_msprime() -> Path:
    """Return the interpreter of an environment that has msprime."""
    python = BUILD / "environment" / "bin" / "python"
    wanted, ready = (HERE / "requirements.txt").read_text(), BUILD / "environment" / "ready"
    if not ready.exists() or ready.read_text() != wanted:
        venv.create(BUILD / "environment", with_pip=True, clear=True)
        command = [python, "-m", "pip", "install", "--quiet", "-r", HERE / "requirements.txt"]
        subprocess.run(command, check=True)
        ready.write_text(wanted)
    return python


def simulated(n_people: int, n_variants: int, seed: int = 1) -> Any:
    """Return genotypes, chromosomes and positions, kept under build/."""
    path = BUILD / f"{n_people}x{n_variants}.{seed}.npz"
    if not path.exists():
        script = [python_of_msprime(), HERE / "simulate.py", n_people, n_variants, seed, path]
        subprocess.run([str(part) for part in script], check=True)
    return np.load(path)


def scaled(values: Any) -> Any:
    return (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-9)


def outcomes(X: Any, chromosomes: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Return the numbers of all outcomes, by name."""
    n, p = X.shape
    population = np.repeat([-1.0, 0.0, 1.0], n // 3)
    age, sex = rng.normal(size=n), rng.integers(0, 2, n)
    causes = rng.choice(p, 500, replace=False)
    y = np.sqrt(0.4) * scaled(scaled(X[:, causes].astype(float)) @ rng.normal(size=500))
    y += 0.3 * population + 0.3 * age + 0.2 * sex
    for first, second in np.reshape(rng.choice(p, 6, replace=False), (3, 2)):
        y += 0.25 * scaled(X[:, first].astype(float)) * scaled(X[:, second].astype(float))
    sides = [scaled(X[:, rng.choice(np.flatnonzero(chromosomes == c), 30)].astype(float)).sum(axis=1) for c in (1, 2)]
    hits = 1.5 * scaled(sides[0] * sides[1])
    return {name: of + rng.normal(size=n) for name, of in zip(OUTCOMES, (0 * y, y, hits), strict=True)}


def write_study(folder: Path, n_people: int, n_variants: int, missing: float) -> dict[str, Any]:
    """Write study.bed with a table of phenotypes; return the genotypes and the outcomes."""
    from bed_reader import to_bed

    made = simulated(n_people, n_variants)
    X = made["genotypes"]
    rng = np.random.default_rng(2)
    Y = outcomes(X, made["chromosomes"], rng)
    G = X.astype(np.int8)
    G[rng.random(X.shape) < missing] = -127
    people = [f"p{i}" for i in range(len(X))]
    properties = {
        "fid": people, "iid": people, "sid": [f"rs{v}" for v in range(X.shape[1])],
        "chromosome": made["chromosomes"], "bp_position": made["positions"],
        "allele_1": ["T"] * X.shape[1], "allele_2": ["C"] * X.shape[1],
    }  # fmt: skip
    to_bed(folder / "study.bed", G, properties=properties)
    names = [f"{name}_{kind}" for name in Y for kind in ("number", "classes")]
    with open(folder / "traits.txt", "w", encoding="utf-8") as file:
        print("FID", "IID", *names, file=file)
        cases = {name: 1 + (y > np.median(y)) for name, y in Y.items()}
        for i, person in enumerate(people):
            values = [part for name, y in Y.items() for part in (f"{y[i]:.6f}", cases[name][i])]
            print(person, person, *values, file=file)
    return {"X": X, **Y}


#: Runs a command, and prints its CPU seconds, KiB and exit status. In a process of its own, as the memory of a process
#: before it became the command counts, too.
_MEASURED = """
import os, subprocess, sys
with open("said", "w") as said:
    process = subprocess.Popen(sys.argv[1:], stdout=said, stderr=subprocess.STDOUT)
_, status, used = os.wait4(process.pid, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


def measured(command: list[str], folder: Path) -> tuple[float, float, bool]:
    """Return CPU seconds and MiB of a process, and whether it ended within the limit."""
    limited = [sys.executable, "-S", "-c", _MEASURED, "timeout", str(LIMIT), *command]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(limited, cwd=folder, capture_output=True, text=True, env=environment, check=True)
    seconds, kib, code = map(float, done.stdout.split())
    if code not in (0, 124):
        raise RuntimeError(f"{' '.join(command)}: {(folder / 'said').read_text()[-2000:]}")
    return seconds, kib / 1024, code == 0


def commands(plink: str, outcome: str, kind: str) -> dict[str, list[str]]:
    """Return the same search by PLINK and here, and the default one."""
    name = f"{outcome}_{kind}"
    common = ["--bfile", "study", "--pheno", "traits.txt", "--pheno-name", name]
    theirs = ["--fast-epistasis", "boost"] if kind == "classes" else ["--epistasis"]
    program = [sys.executable, "-m", "interplay", "interactions", *common, "--jobs", "1", "--seed", "0"]
    program += ["--out", "pairs.csv"]
    same = ["--coding", "levels"] if kind == "classes" else ["--coding", "dosage", "--scale", "values"]
    return {
        "PLINK": [plink, *common, *theirs, "--threads", "1", "--allow-no-sex", "--out", "plink"],
        "interplay": [*program, *same],
        "all": program,
    }


def found_pairs(folder: Path, who: str) -> int:
    """Return how many pairs the last run of a program listed."""
    if who != "PLINK":
        return len((folder / "pairs.csv").read_text(encoding="utf-8").splitlines()) - 1
    listed = [path for path in folder.glob("plink.epi.*") if path.suffix != ".summary"]
    n_pairs = len(listed[0].read_text(encoding="utf-8").splitlines()) - 1
    listed[0].unlink()
    return n_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=3000)
    parser.add_argument("--variants", type=int, default=6000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", default="", help="rows whose names have this text")
    given = parser.parse_args()
    plink = find_plink()
    if plink is None:
        raise SystemExit("PLINK 1.9 is not installed: apt-get install plink1.9")
    BUILD.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "study.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    rows = kept.setdefault(f"{given.people} people x {given.variants} variants", {})
    for missing in (0.0, 0.02):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write_study(folder, given.people, given.variants, missing)
            for outcome in OUTCOMES:
                for kind in ("classes", "number"):
                    row = f"{outcome}, {kind}, {'2 % missing' if missing else 'complete'}"
                    if given.only not in row:
                        continue
                    best: dict[str, Any] = {}
                    for _ in range(given.repeats):
                        for who, command in commands(plink, outcome, kind).items():
                            seconds, memory, ended = measured(command, folder)
                            one = {"CPU seconds": round(seconds, 2), "MiB": round(memory), "ended": ended}
                            one["pairs"] = found_pairs(folder, who) if ended else None
                            if who not in best or one["CPU seconds"] < best[who]["CPU seconds"]:
                                best[who] = one
                    ratio = best["PLINK"]["CPU seconds"] / best["interplay"]["CPU seconds"]
                    rows[row] = best | {"PLINK / interplay": round(ratio, 2)}
                    print(row, json.dumps(rows[row]), flush=True)
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(json.dumps(kept | {"machine": stamp()}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
