"""Models of disease: the probability of being ill for each genotype at two or three loci.

A genotype is the number of minor alleles, 0, 1 or 2, and a table of penetrance has an axis of three for each locus.
"""

from __future__ import annotations

import numpy as np


def genotype_shares(maf: float) -> np.ndarray:
    """Shares of 0, 1 and 2 minor alleles in Hardy–Weinberg equilibrium."""
    return np.array([(1 - maf) ** 2, 2 * maf * (1 - maf), maf**2])


def joint_shares(n_loci: int, maf: float) -> np.ndarray:
    """Shares of all combinations of genotypes at independent loci, as a table of n_loci axes."""
    alone = genotype_shares(maf)
    joint = np.ones(())
    for _ in range(n_loci):
        joint = np.multiply.outer(joint, alone)
    return joint


def _from_odds(odds: np.ndarray) -> np.ndarray:
    return odds / (1 + odds)


def multiplicative(n_loci: int, effect: float, baseline: float = 0.1) -> np.ndarray:
    """Marchini et al. (2005), model 2: odds grow with every combination of one minor allele of each locus."""
    doses = np.ones(())
    for _ in range(n_loci):
        doses = np.multiply.outer(doses, np.arange(3))
    return _from_odds(baseline * (1 + effect) ** doses)


def threshold(n_loci: int, effect: float, baseline: float = 0.1) -> np.ndarray:
    """Marchini et al. (2005), model 3: odds grow, once, where every locus has a minor allele."""
    carried = np.ones(())
    for _ in range(n_loci):
        carried = np.multiply.outer(carried, [0, 1, 1])
    return _from_odds(baseline * (1 + effect) ** carried)


def pure(n_loci: int, maf: float, heritability: float, prevalence: float, rng: np.random.RandomState) -> np.ndarray:
    """A random table without any effect of fewer than all loci, in the manner of Velez et al. (2007).

    Centring a table along each axis, weighted by the genotypes' shares, takes away every effect of fewer loci.
    Heritability is the variance of penetrance over that of being ill.
    """
    shares = genotype_shares(maf)
    joint = joint_shares(n_loci, maf)
    while True:
        table = rng.standard_normal((3,) * n_loci)
        for axis in range(n_loci):
            table -= np.expand_dims(np.tensordot(table, shares, axes=(axis, 0)), axis)
        spread = np.sqrt((joint * table**2).sum())
        penetrance = prevalence + table / spread * np.sqrt(heritability * prevalence * (1 - prevalence))
        # Most draws ask of some genotype a probability that is none.
        if penetrance.min() >= 0 and penetrance.max() <= 1:
            return penetrance


def draw_cases_and_controls(
    penetrance: np.ndarray, maf: float, n_samples: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Genotypes at the loci of a table, for as many controls (0) as cases (1)."""
    y = np.arange(n_samples) % 2
    joint = joint_shares(penetrance.ndim, maf)
    genotypes = np.empty((n_samples, penetrance.ndim))
    for label, weight in ((0, 1 - penetrance), (1, penetrance)):
        shares = (joint * weight).ravel()
        cell = rng.choice(shares.size, size=(y == label).sum(), p=shares / shares.sum())
        genotypes[y == label] = np.column_stack(np.unravel_index(cell, penetrance.shape))
    return genotypes, y
