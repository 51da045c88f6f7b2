"""Pure 2- to 5-way epistasis at the settings of the ReliefF papers: is the tuple found, and found alone?

    python benchmarks/published_pages.py gametes [--tables 10] [--jobs 1]

Urbanowicz and others (2018) judge Relief-based methods on sets by GAMETES: pure, strict models of two and three loci,
heritability 0.05 to 0.4, minor allele frequency 0.2 or 0.4, 200 to 3200 samples of equal classes, 20 SNPs. GAMETES
itself (Java) is not run here: `make_epistasis` makes models of the same definition, with exactly flat margins. Figures
of the ReliefF papers are pictures, and so are not copied. Peer: the ReliefF of this file, 100 neighbours, which ranks
variables and was told how many are relevant.
"""

from __future__ import annotations

import argparse
import multiprocessing
import warnings
from typing import Any

import numpy as np

import interplay
from interplay.datasets import make_epistasis

#: Dimensions, heritability, samples.
SETTINGS = [
    (2, 0.05, 400), (2, 0.05, 800), (2, 0.05, 1600), (2, 0.1, 400), (2, 0.1, 800), (2, 0.1, 1600), (2, 0.2, 400),
    (2, 0.2, 800), (3, 0.1, 800), (3, 0.1, 1600), (3, 0.2, 800), (3, 0.2, 1600), (4, 0.1, 1600), (4, 0.1, 3200),
    (5, 0.1, 3200),
]  # fmt: skip
N_VARS, FREQUENCY = 20, 0.4


def relief(X: np.ndarray, y: np.ndarray, n_neighbours: int = 100) -> np.ndarray:
    """ReliefF's weights of genotypes, from the nearest hits and misses of each sample."""
    weights = np.zeros(X.shape[1])
    distance = np.zeros((len(X), len(X)), dtype=np.int16)
    for column in X.T:
        distance += column[:, None] != column
    np.fill_diagonal(distance, 30_000)
    for i in range(len(X)):
        for q, sign in ((y[i], -1.0), (1 - y[i], 1.0)):
            rows = np.flatnonzero(y == q)
            near = rows[np.argsort(distance[i, rows], kind="stable")[:n_neighbours]]
            weights += sign * (X[near] != X[i]).mean(axis=0)
    return weights / len(X)


def one_table(job: tuple[int, int]) -> tuple[int, dict[str, float]]:
    number, seed = job
    k, heritability, n = SETTINGS[number]
    X, y, truth = make_epistasis(
        n,
        N_VARS,
        dimensions=k,
        heritability=heritability,
        cases=0.5,
        minor_allele_frequency=(0.05, 0.5),
        minor_allele_frequencies=[FREQUENCY] * k,
        random_state=1000 * number + seed,
    )
    true = set(truth.tuples[0].tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interplay.interactions(X, y, dimensions=k, n_jobs=1, progress=False)
        chosen = interplay.select(X, y, random_state=seed, n_jobs=1, progress=False)
    listed = [set(members) for members in found.tested.tuples[found.is_significant].tolist()]
    ranked = set(np.argsort(-relief(X, y.astype(int)))[:k].tolist())
    return number, {
        "tuple": float(true in listed),
        "false tuples": float(sum(members != true for members in listed)),
        "select": len(true & set(chosen.ranked.tolist())) / k,
        "select false": float(len(set(chosen.ranked.tolist()) - true)),
        "ReliefF, told how many": len(true & ranked) / k,
    }


def run(arguments: list[str]) -> tuple[dict[str, Any], str]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    found: dict[int, list[dict[str, float]]] = {number: [] for number in range(len(SETTINGS))}
    jobs = [(number, seed) for number in range(len(SETTINGS)) for seed in range(given.tables)]
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for number, row in pool.imap_unordered(one_table, jobs):
            found[number].append(row)
            print(SETTINGS[number], row, flush=True)
    rows = []
    for number, (k, heritability, n) in enumerate(SETTINGS):
        means = {name: float(np.mean([row[name] for row in found[number]])) for name in found[number][0]}
        rows.append({"dimensions": k, "heritability": heritability, "samples": n, **means})
        print(rows[-1], flush=True)
    lines = [
        "# Pure epistasis of two to five loci, as GAMETES makes it",
        "",
        f"{N_VARS} SNPs, minor allele frequency {FREQUENCY} of the loci, equal classes, {given.tables} tables each.",
        "`interactions`: share of tables in which the true tuple is listed, and false tuples per table. `select`:",
        "share of the true loci that are relevant, and false ones per table. ReliefF ranks variables; it was told how",
        "many loci are true, and each locus that it misses is replaced by a false one.",
        "",
        "| loci | heritability | samples | tuple found | false tuples | `select`, loci | false | ReliefF, loci |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["dimensions"], row["heritability"], row["samples"], f"{row['tuple']:.0%}"]
        cells += [f"{row['false tuples']:.2f}", f"{row['select']:.0%}", f"{row['select false']:.2f}"]
        lines.append("| " + " | ".join(map(str, [*cells, f"{row['ReliefF, told how many']:.0%}"])) + " |")
    lost = [row for row in rows if row["select"] < row["ReliefF, told how many"]]
    lines += [
        "",
        f"**Losses.** ReliefF, told how many loci there are, names more of them than `select` in {len(lost)} settings.",
    ]
    lines += ["A tuple whose cells have too few samples is not tested: `interactions` then lists nothing."]
    return {"tables": given.tables, "rows": rows}, "\n".join(lines) + "\n"
