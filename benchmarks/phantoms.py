"""How often is the shadow of one cause called an interaction, and how often is a true one kept?

python -m benchmarks.phantoms --tables 200 --jobs 16 --out benchmarks/results/phantoms.json
python -m benchmarks.phantoms --truths "coalescent typed" "coalescent hidden" --keep --out …   # pip install msprime
python -m benchmarks.phantoms --page --out benchmarks/results/phantoms.json

Genotypes are made of two haplotypes each. Cells, by the truth:

- typed:     the cause is on most haplotypes with both of two markers, and is in the table
- hidden:    the cause is the haplotype of two markers, and is not in the table
- unlinked:  two markers that are not linked interact; both have neighbours
- linked:    two markers that tag a third, which is in the table and has no effect, interact
- coalescent typed, coalescent hidden, coalescent pairs: the same with haplotypes of msprime, with and without the
  cause, and true pairs of two regions (needs msprime: pip install msprime)

Counted are leads of the search: verdicts "holds", "explained", "cannot be told". Leads with a member that has nothing
to do with the outcome are errors of the search, and are counted apart.
"""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import interplay

SIZES = (500, 2000, 10_000)
LINKAGE = (0.3, 0.6, 0.95)
SMALL_LINKAGE = (0.0, 0.03, 0.3)
OUTCOMES = ("classes", "numbers")
N_NOISE = 10
VERDICTS = ("explained", "cannot be told", "holds")


def tag_of(cause: np.ndarray, r2: float, rng: np.random.Generator) -> np.ndarray:
    """Return haplotypes that have this r² with others, and their frequency."""
    frequency = cause.mean()
    copied = rng.random(cause.shape) < np.sqrt(r2)
    return np.where(copied, cause, rng.random(cause.shape) < frequency)


def dosage(haplotypes: np.ndarray) -> np.ndarray:
    return haplotypes.reshape(-1, 2).sum(axis=1)


def outcome_of(signal: np.ndarray, kind: str, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return numbers of which the signal is this share of the variance, or classes at their median."""
    signal = (signal - signal.mean()) / max(signal.std(), 1e-12)
    numbers = np.sqrt(share) * signal + np.sqrt(1 - share) * rng.normal(size=len(signal))
    return numbers if kind == "numbers" else np.where(numbers > np.median(numbers), "ill", "well")


def share_at(n: int) -> float:
    """A share of the variance that makes phantoms significant at this number of samples."""
    return {500: 0.6, 2000: 0.4}.get(n, 0.15)


def drawn(n: int, rng: np.random.Generator, frequency: float = 0.35) -> np.ndarray:
    return rng.random(2 * n) < frequency


def noise(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    return [dosage(drawn(n, rng, rng.uniform(0.15, 0.5))) for _ in range(N_NOISE)]


def typed(n: int, r2: float, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    one = drawn(n, rng, 0.4)
    other = tag_of(one, r2, rng)
    cause = one & other & (rng.random(2 * n) < 0.9)
    y = outcome_of(dosage(cause), kind, share_at(n), rng)
    return np.column_stack([dosage(one), dosage(other), dosage(cause), *noise(n, rng)]), y


def hidden(n: int, r2: float, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    one = drawn(n, rng, 0.4)
    other = tag_of(one, r2, rng)
    y = outcome_of(dosage(one & other), kind, share_at(n), rng)
    return np.column_stack([dosage(one), dosage(other), *noise(n, rng)]), y


def unlinked(n: int, r2: float, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    members = [drawn(n, rng, 0.4) for _ in range(2)]
    near = [dosage(tag_of(each, strength, rng)) for each in members for strength in (r2, r2 / 2, 0.9 * r2)]
    a, b = (dosage(each) for each in members)
    signal = (a - a.mean()) * (b - b.mean()) + 0.5 * a
    return np.column_stack([a, b, *near, *noise(n, rng)]), outcome_of(signal, kind, share_at(n), rng)


def linked(n: int, r2: float, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    middle = drawn(n, rng, 0.4)
    a, b = (dosage(tag_of(middle, r2, rng)) for _ in range(2))
    signal = (a - a.mean()) * (b - b.mean()) + 0.5 * a
    return np.column_stack([a, b, dosage(middle), *noise(n, rng)]), outcome_of(signal, kind, share_at(n), rng)


def region(n: int, seed: int, length: float = 4e5) -> tuple[np.ndarray, np.ndarray]:
    """Return haplotypes of common variants of a region, (n_variants, 2 n), and their positions, from msprime."""
    try:
        import msprime
    except ImportError:
        raise SystemExit("cells with 'coalescent' need msprime: pip install msprime") from None

    tree = msprime.sim_ancestry(
        n, sequence_length=length, recombination_rate=1e-8, population_size=10_000, random_seed=seed
    )
    found = msprime.sim_mutations(tree, rate=1.2e-8, random_seed=seed, model=msprime.BinaryMutationModel())
    haplotypes = found.genotype_matrix().astype(bool)
    frequency = haplotypes.mean(axis=1)
    common = np.minimum(frequency, 1 - frequency) > 0.05
    return haplotypes[common], found.tables.sites.position[common]


def coalescent(
    n: int, is_typed: bool, kind: str, rng: np.random.Generator, n_typed: int = 25
) -> tuple[np.ndarray, np.ndarray]:
    """One cause of a region; every few variants are typed, the cause only if `is_typed`."""
    haplotypes, _ = region(n, int(rng.integers(1, 2**31)))
    cause = int(rng.integers(len(haplotypes)))
    others = np.setdiff1d(np.arange(len(haplotypes)), cause)
    chosen = np.sort(rng.choice(others, min(n_typed, len(others)), replace=False))
    columns = [dosage(haplotypes[v]) for v in (*chosen, *([cause] if is_typed else []))]
    y = outcome_of(dosage(haplotypes[cause]), kind, share_at(n), rng)
    return np.column_stack([*columns, *noise(n, rng)]), y


def coalescent_pairs(n: int, kind: str, rng: np.random.Generator, n_typed: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Two variants of two regions interact; both are typed, first in the table."""
    members, near = [], []
    for _ in range(2):
        haplotypes, _ = region(n, int(rng.integers(1, 2**31)))
        frequency = haplotypes.mean(axis=1)
        one = int(rng.choice(np.flatnonzero(np.minimum(frequency, 1 - frequency) > 0.2)))
        others = np.setdiff1d(np.arange(len(haplotypes)), one)
        members.append(dosage(haplotypes[one]))
        near += [dosage(haplotypes[v]) for v in rng.choice(others, min(n_typed, len(others)), replace=False)]
    a, b = members
    signal = (a - a.mean()) * (b - b.mean()) + 0.5 * a
    return np.column_stack([a, b, *near, *noise(n, rng)]), outcome_of(signal, kind, share_at(n), rng)


def table_of(cell: tuple[str, int, float, str], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    truth, n, r2, kind = cell
    if truth == "coalescent pairs":
        return coalescent_pairs(n, kind, rng)
    if truth.startswith("coalescent"):
        return coalescent(n, truth.endswith("typed"), kind, rng)
    return {"typed": typed, "hidden": hidden, "unlinked": unlinked, "linked": linked}[truth](n, r2, kind, rng)


def run_cell(work: tuple[tuple[str, int, float, str], int, int]) -> dict[str, object]:
    """Judge the leads of some tables."""
    cell, n_tables, seed = work
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    of_noise: Counter[str] = Counter()
    of_true: Counter[str] = Counter()
    of_tables = Counter({"any lead": 0, "any holds": 0})
    is_true = cell[0] in ("unlinked", "linked", "coalescent pairs")
    for number in range(n_tables):
        rng = np.random.default_rng([seed, number, *map(ord, "".join(map(str, cell)))])
        X, y = table_of(cell, rng)
        found = interplay.interactions(X, y, discrete="all", coding="levels")
        if not len(found.significant):
            continue
        verdicts = found.tagging(X, y)
        is_noise = [any(int(name[1:]) >= X.shape[1] - N_NOISE for name in members) for members in verdicts["members"]]
        of_noise.update(verdicts["verdict"][is_noise])
        verdicts = verdicts[~np.array(is_noise)]
        if not len(verdicts):
            continue
        counts.update(verdicts["verdict"])
        reasons.update(verdicts["verdict"] + ": " + verdicts["reason"].str.replace(r" \(.*?\)", "", regex=True))
        of_tables["any lead"] += 1
        of_tables["any holds"] += "holds" in set(verdicts["verdict"])
        if is_true:
            first = verdicts[[set(members) == {"x0", "x1"} for members in verdicts["members"]]]
            of_true.update(first["verdict"])
    truth, n, r2, kind = cell
    about: dict[str, object] = {"truth": truth, "n": n, "r2": r2, "outcome": kind, "tables": n_tables}
    about |= {
        "leads": dict(counts),
        "reasons": dict(reasons),
        "leads with noise": dict(of_noise),
        "tables with": dict(of_tables),
    }
    return about | ({"true pair": dict(of_true)} if is_true else {})


def cells(truths: Sequence[str], sizes: Sequence[int]) -> list[tuple[str, int, float, str]]:
    found: list[tuple[str, int, float, str]] = []
    for truth in truths:
        if truth.startswith("coalescent"):
            linkage: Sequence[float] = (0.0,)
        else:
            linkage = {"hidden": SMALL_LINKAGE, "typed": (0.03, *LINKAGE)}.get(truth, LINKAGE)
        found += [(truth, n, r2, kind) for n, r2, kind in product(sizes, linkage, OUTCOMES)]
    return found


def main() -> None:
    truths = ("typed", "hidden", "unlinked", "linked", "coalescent typed", "coalescent hidden", "coalescent pairs")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--truths", nargs="+", default=truths[:4], choices=truths)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", action="store_true", help="keep the cells of the file that are not run again")
    parser.add_argument("--page", action="store_true", help="print the file as the table of docs/referee.md")
    asked = parser.parse_args()
    before = json.loads(asked.out.read_text(encoding="utf-8")) if asked.out and (asked.keep or asked.page) else None
    if asked.page:
        print_page(before["cells"])
        return
    started = time.perf_counter()
    work = [(cell, asked.tables, asked.seed) for cell in cells(asked.truths, asked.sizes)]
    found = []
    with ProcessPoolExecutor(asked.jobs) as workers:
        for row in workers.map(run_cell, work):
            found.append(row)
            print(json.dumps(row), flush=True)
            write(asked.out, found, before, time.perf_counter() - started)


def write(path: Path | None, found: list[dict[str, object]], before: dict[str, Any] | None, seconds: float) -> None:
    """Write all cells that are done, with how they were made, after those of runs before."""
    if path is not None:
        about = {
            "command": " ".join(["python -m benchmarks.phantoms", *map(shlex.quote, sys.argv[1:])]),
            "interplay": interplay.__version__,
            "python": platform.python_version(),
            "seconds": round(seconds, 1),
        }
        again = {key_of(cell) for cell in found}
        runs, kept = (before["runs"], before["cells"]) if before else ([], [])
        kept = [cell for cell in kept if key_of(cell) not in again]
        content = (before or {}) | {"runs": [*runs, about], "cells": [*kept, *found]}
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def key_of(cell: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(cell[name] for name in ("truth", "n", "r2", "outcome"))


def print_page(found: list[dict[str, Any]]) -> None:
    print("| truth | N | tables | with a lead | leads explained | cannot be told | hold | true pairs that hold |")
    print("|---|---|---|---|---|---|---|---|")
    for truth, n in dict.fromkeys((cell["truth"], cell["n"]) for cell in found):
        some = [cell for cell in found if (cell["truth"], cell["n"]) == (truth, n)]
        leads = [sum(cell["leads"].get(verdict, 0) for cell in some) for verdict in VERDICTS]
        pairs = [cell["true pair"] for cell in some if "true pair" in cell]
        kept, listed = (
            sum(sum(pair.get(name, 0) for name in names) for pair in pairs) for names in (["holds"], VERDICTS)
        )
        tables, with_lead = sum(cell["tables"] for cell in some), sum(cell["tables with"]["any lead"] for cell in some)
        share = f"{kept} of {listed}" if pairs else ""
        print(f"| {truth} | {n:,} | {tables} | {with_lead} | {' | '.join(map(str, leads))} | {share} |")


if __name__ == "__main__":
    main()
