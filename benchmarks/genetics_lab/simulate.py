"""Genotypes of three populations, by msprime; runs in the environment of requirements.txt.

    python simulate.py PEOPLE VARIANTS SEED OUT.npz

Populations of 10,000 that were one 2000 generations ago, on ten chromosomes; as many variants of each, with a frequency
of at least 0.05, evenly chosen from those of the simulation. Neighbours are in linkage disequilibrium.
"""

from __future__ import annotations

import sys

import msprime
import numpy as np

CHROMOSOMES, LEAST = 10, 0.05


def demography() -> msprime.Demography:
    made = msprime.Demography()
    for name in ("A", "B", "C", "before"):
        made.add_population(name=name, initial_size=10_000)
    made.add_population_split(time=2000, derived=["A", "B", "C"], ancestral="before")
    return made


def chromosome(n_people: int, n_variants: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the genotypes (variants, people) of one chromosome, and positions."""
    length = 3000.0 * n_variants
    while True:
        trees = msprime.sim_ancestry(
            dict.fromkeys("ABC", n_people // 3),
            demography=demography(),
            sequence_length=length,
            recombination_rate=1e-8,
            random_seed=seed,
        )
        trees = msprime.sim_mutations(trees, rate=1e-8, random_seed=seed, model=msprime.BinaryMutationModel())
        kept, positions = [], []
        for variant in trees.variants():
            dosage = variant.genotypes.reshape(-1, 2).sum(axis=1, dtype=np.int8)
            if LEAST <= dosage.mean() / 2 <= 1 - LEAST:
                kept.append(dosage)
                positions.append(int(variant.site.position) + 1)
        if len(kept) >= n_variants:
            chosen = np.linspace(0, len(kept) - 1, n_variants).astype(int)
            return np.stack([kept[v] for v in chosen]), np.array(positions)[chosen]
        length *= 1.5


def main() -> None:
    n_people, n_variants, seed, out = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    each = n_variants // CHROMOSOMES
    parts = [chromosome(n_people, each, seed + number) for number in range(1, CHROMOSOMES + 1)]
    np.savez(
        out,
        genotypes=np.concatenate([genotypes for genotypes, _ in parts]).T,
        positions=np.concatenate([positions for _, positions in parts]),
        chromosomes=np.repeat(np.arange(1, CHROMOSOMES + 1), each),
    )


if __name__ == "__main__":
    main()
