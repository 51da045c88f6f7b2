"""Shares of levels → how many samples the cells of a tuple may have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.base.arrays import FloatArray, IntArray

#: Numbers of samples in cells that a power is averaged over. They leave an error of half a point at most.
N_DRAWN = 1024

#: With more samples than this, margins that are fixed and margins that are drawn give the same power.
_MANY_SAMPLES = 2000

#: Sizes of cells are drawn with this seed: a power is a function of its arguments.
_SEED = 20_011


def drawn_cell_counts(
    shares: Sequence[FloatArray], n_samples: int, *, is_cut: bool, n_drawn: int = N_DRAWN
) -> IntArray:
    """Return samples of the cells of independent members, (n_drawn, levels …).

    Parameters
    ----------
    shares : list of (n_levels,) float64
    is_cut : bool
        Whether levels come from cuts of numbers at quantiles: then each level has its share of the samples exactly.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> counts = drawn_cell_counts([half, half], 40, is_cut=True)
    >>> counts.shape, counts.sum(axis=2)[0].tolist()
    ((1024, 2, 2), [20, 20])
    """
    rng = np.random.RandomState(_SEED)
    levels = tuple(len(share) for share in shares)
    if not is_cut or n_samples > _MANY_SAMPLES:
        chances = np.ones(())
        for share in shares:
            chances = np.multiply.outer(chances, share)
        return rng.multinomial(n_samples, chances.ravel(), size=n_drawn).reshape(n_drawn, *levels).astype(np.int64)
    cells = np.zeros((n_drawn, n_samples), dtype=np.int64)
    for share in shares:
        ends = np.round(np.cumsum(share) * n_samples).astype(np.int64)
        codes = np.searchsorted(ends[:-1], np.arange(n_samples), side="right")
        cells = cells * len(share) + codes[rng.random_sample(cells.shape).argsort(axis=1)]
    n_cells = int(np.prod(levels))
    cells += n_cells * np.arange(n_drawn)[:, np.newaxis]
    return np.bincount(cells.ravel(), minlength=n_drawn * n_cells).reshape(n_drawn, *levels).astype(np.int64)
