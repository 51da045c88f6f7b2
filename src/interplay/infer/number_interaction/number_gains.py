"""Moments of cells → information of the members about a number outcome: (N/2) log₂ of ratios of squares."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.number_interaction.cell_moments import CellMoments


def number_gains(moments: CellMoments) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the gain of every member in the tuple and by itself, bits × samples, and the latter's df: (n, k) each.

    Examples
    --------
    >>> from interplay.infer.number_interaction.cell_moments import cell_moments
    >>> gain, alone, df = number_gains(cell_moments(np.array([[0, 0, 1, 1, 2, 2, 3, 3]]), np.arange(8.0), (2, 2)))
    >>> alone.round(3).tolist(), df.tolist()
    ([[8.282, 1.219]], [[1, 1]])
    """
    n_tuples, k = len(moments.n), len(moments.levels)
    rss = moments.rss
    between = _between(moments.n, moments.total)
    # Squares that are 0 but for rounding.
    least = np.maximum((rss + between - _between_of(moments, ())) * 1e-12, np.finfo(float).tiny)
    bits = moments.n_samples / 2

    def of(ratio_of: FloatArray, to: FloatArray) -> FloatArray:
        return np.asarray(bits * np.log2(np.maximum(ratio_of, least) / np.maximum(to, least)))

    total = rss + between
    gain, alone, df = (np.zeros((n_tuples, k)) for _ in range(3))
    for member in range(k):
        others = tuple(i for i in range(k) if i != member)
        gain[:, member] = of(total - _between_of(moments, others), rss)
        alone[:, member] = of(total - _between_of(moments, ()), total - _between_of(moments, (member,)))
        n = _margin(moments.n, (member,))
        df[:, member] = np.maximum((n > 0).sum(axis=2) - 1, 0).sum(axis=1)
    return np.maximum(gain, 0.0), np.maximum(alone, 0.0), df.astype(np.int64)


def _margin(numbers: FloatArray, members: tuple[int, ...]) -> FloatArray:
    axes = tuple(2 + i for i in range(numbers.ndim - 2) if i not in members)
    return np.asarray(numbers.sum(axis=axes))


def _between_of(moments: CellMoments, members: tuple[int, ...]) -> FloatArray:
    return _between(_margin(moments.n, members), _margin(moments.total, members))


def _between(n: FloatArray, total: FloatArray) -> FloatArray:
    """Return Σ (Σz)²/n over cells, (n_tuples,)."""
    squares = np.divide(total**2, n, out=np.zeros_like(total), where=n > 0)
    return np.asarray(squares.reshape(len(n), -1).sum(axis=1))
