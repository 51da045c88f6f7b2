"""A cell and the number of a repetition → a table and a decision that have nothing to do with each other.

Or, where signals are planted, a decision made by known columns.
"""

from __future__ import annotations

import zlib

import numpy as np
from scipy.special import ndtr, ndtri

from .cells import Cell

BLOCK = 10

#: Columns that say something alone, and pairs of columns that do so only together.
N_ALONE, N_PAIRS = 5, 3
N_PLANTED = N_ALONE + 2 * N_PAIRS

#: A genotype counts alleles of this lowest and highest frequency.
RAREST_ALLELE, COMMONEST_ALLELE = 0.02, 0.5


def make_data(cell: Cell, repetition: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return X, (n_samples, n_vars), y, (n_samples,), and the strata, (n_samples,), or None."""
    rng = np.random.default_rng([zlib.crc32(cell.data_name.encode()), repetition])
    z = _correlated(rng, cell)
    strata = None if cell.n_strata == 1 else rng.permutation(np.arange(cell.n_samples) % cell.n_strata)
    if strata is not None and cell.batch_effect:
        batch = strata / (cell.n_strata - 1) - 0.5
        z[:, ::2] += 2 * batch[:, np.newaxis] * rng.normal(size=z[:, ::2].shape[1])
        return _as_columns(z, cell.columns, rng), (rng.random(len(z)) < 0.5 + 0.6 * batch).astype(int), strata
    X = _as_columns(z, cell.columns, rng)
    sizes = np.floor(np.cumsum(cell.shares) / sum(cell.shares) * cell.n_samples + 0.5).astype(int)
    ranks = _planted_ranks(z, rng) if cell.planted else rng.permutation(cell.n_samples)
    return X, np.searchsorted(sizes, ranks, side="right"), strata


def _correlated(rng: np.random.Generator, cell: Cell) -> np.ndarray:
    """Normal columns, in each block of ten with the same correlation between all."""
    z = rng.normal(size=(cell.n_samples, cell.n_vars))
    if cell.correlation == 0:
        return z
    shared = rng.normal(size=(cell.n_samples, -(-cell.n_vars // BLOCK)))
    block = np.arange(cell.n_vars) // BLOCK
    return np.sqrt(1 - cell.correlation) * z + np.sqrt(cell.correlation) * shared[:, block]


def _as_columns(z: np.ndarray, columns: str, rng: np.random.Generator) -> np.ndarray:
    if columns == "gaussian":
        return z
    if columns == "lognormal":
        return np.exp(1.5 * z)
    if columns == "integers":  # about a dozen values, many ties
        return np.rint(2 * z)
    if columns == "binary":
        return (z > 0).astype(float)
    if columns == "three-level":
        return np.searchsorted(ndtri([1 / 3, 2 / 3]), z).astype(float)
    if columns == "rare":  # one in twenty
        return (z > ndtri(0.95)).astype(float)
    if columns == "genotypes":
        frequency = rng.uniform(RAREST_ALLELE, COMMONEST_ALLELE, size=z.shape[1])
        return (ndtr(z) > (1 - frequency) ** 2).astype(float) + (ndtr(z) > 1 - frequency**2)
    if columns == "mixed":  # by turns, so that each block has all
        kinds = [_as_columns(z, kind, rng) for kind in ("gaussian", "three-level", "rare")]
        return np.choose(np.arange(z.shape[1]) % 3, kinds)
    raise ValueError(f"columns={columns!r} is no kind of columns")


def _planted_ranks(z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rank samples by a score that the first columns make."""
    alone, pairs = z[:, :N_ALONE], z[:, N_ALONE:N_PLANTED].reshape(len(z), N_PAIRS, 2)
    score = 0.5 * alone.sum(axis=1) + 0.8 * np.sign(pairs.prod(axis=2)).sum(axis=1) + rng.normal(size=len(z))
    return np.argsort(np.argsort(score))
