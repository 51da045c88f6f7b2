"""Minor allele frequencies, blocks and linkage → genotypes of all columns, around columns that are given."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray

Genotypes = npt.NDArray[np.int8]


def linked_genotypes(
    given: dict[int, Genotypes],
    *,
    n_samples: int,
    block: IntArray,
    minor_allele_frequency: FloatArray,
    ploidy: int,
    linkage: float,
    rng: np.random.RandomState,
) -> Genotypes:
    """Return the genotypes of all columns, (n_samples, n_vars).

    Alleles of neighbours in a block are a Markov chain on each of `ploidy` chromosomes, in both directions from a given
    column, or from the first one of a block without any: an allele is that of the neighbour with probability `linkage`,
    and otherwise a new draw. So neighbours have this correlation, columns at distance d its d-th power, and each column
    its minor allele frequency.

    Parameters
    ----------
    given : dict
        Genotypes of some columns by number, at most one in each block.
    block : (n_vars,) int64
        The block of each column, ascending. All columns of a block have one minor allele frequency.
    minor_allele_frequency : (n_vars,) float64
    """
    n_vars = len(block)
    genotypes = np.empty((n_samples, n_vars), dtype=np.int8, order="F")
    starts = np.flatnonzero(np.diff(block, prepend=-1))
    for first, end in zip(starts.tolist(), [*starts[1:].tolist(), n_vars], strict=True):
        q = float(minor_allele_frequency[first])
        anchor = next((v for v in range(first, end) if v in given), first)
        if anchor in given:
            genotypes[:, anchor] = given[anchor]
        else:
            genotypes[:, anchor] = rng.binomial(ploidy, q, size=n_samples)
        if end - first == 1:
            continue
        alleles = _phased(genotypes[:, anchor], ploidy, rng)
        for side in (range(anchor + 1, end), range(anchor - 1, first - 1, -1)):
            chain = alleles
            for v in side:
                chain = np.where(rng.random_sample(chain.shape) < linkage, chain, rng.random_sample(chain.shape) < q)
                genotypes[:, v] = chain.sum(axis=0)
    return genotypes


def _phased(genotypes: Genotypes, ploidy: int, rng: np.random.RandomState) -> npt.NDArray[np.bool_]:
    """Return which chromosomes have the minor allele, (ploidy, n_samples); each arrangement is as likely."""
    order = rng.random_sample((ploidy, len(genotypes))).argsort(axis=0)
    return np.asarray(order < genotypes)
