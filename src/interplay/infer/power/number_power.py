"""Means of cells → the power of the F test of a tuple, on ranks or on values."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL
from interplay.infer.number_interaction.departure import departure
from interplay.infer.power.second_test import after_second_test

#: Points at which a normal density is summed, from −8 to 8: the sum of a smooth function is exact to rounding.
_GRID = np.linspace(-8.0, 8.0, 641)


def number_power(
    means: FloatArray,
    counts: IntArray,
    shares: FloatArray,
    *,
    log_threshold: float,
    scale: str,
    n_smooth: int = 0,
) -> float:
    """Return the chance of a p-value below the threshold, over the drawn sizes of cells.

    Parameters
    ----------
    means : (levels …) float64
        Means of the cells in standard deviations of the normal noise around them.
    counts : (n_drawn, levels …) int64
    shares : (levels …) float64
        Of the cells, for the distribution of the outcome, which ranks depend on.
    log_threshold : float
        Natural logarithm of the p-value.
    scale : str
        "ranks" or "values", as in `interactions`.
    n_smooth : int
        Columns of smooth effects of a second test, which cut numbers must pass; 0 for none.

    Examples
    --------
    >>> xor = np.array([[0.35, -0.35], [-0.35, 0.35]])
    >>> even = np.full((1, 2, 2), 100)
    >>> number_power(xor, even, even[0] / 400, log_threshold=float(np.log(0.05)), scale="values")  # doctest: +ELLIPSIS
    0.99999...
    """
    from scipy.stats import f, ncf

    if scale == "ranks":
        means = _rank_means(means, shares)
    weights = np.where(counts >= FEWEST_IN_CELL, counts, 0).astype(np.float64)
    apart = departure(np.broadcast_to(means, counts.shape), weights)
    n_used = (counts.reshape(len(counts), -1) > 0).sum(axis=1)
    df_residual = counts.reshape(len(counts), -1).sum(axis=1) - n_used
    tested = (apart.df > 0) & (df_residual > 0)
    power = np.zeros(len(counts))
    df, rest, far = apart.df[tested], df_residual[tested], apart.squares[tested]
    if n_smooth:
        far = after_second_test(far, n_samples=int(counts[0].sum()), n_columns=n_smooth)
    limit = f.isf(np.exp(log_threshold), df, rest)
    power[tested] = ncf.sf(limit, df, rest, np.maximum(far, 1e-12))
    return float(np.clip(power, 0.0, 1.0).mean())


def _rank_means(means: FloatArray, shares: FloatArray) -> FloatArray:
    """Return means of cells on the scale of normal scores, in standard deviations within cells.

    A score is Φ⁻¹(F(y)), with F the distribution of the outcome over all cells: a mixture of normal ones.
    """
    from scipy.special import ndtr, ndtri

    flat, weights = means.ravel(), shares.ravel()
    values, cell = np.unique(flat, return_inverse=True)
    of_value = np.bincount(cell, weights=weights)
    density = np.exp(-(_GRID**2) / 2)
    density /= density.sum()
    scores = np.empty((len(values), len(_GRID)))
    for i, mean in enumerate(values):
        y = mean + _GRID
        below = (of_value[:, np.newaxis] * ndtr(y - values[:, np.newaxis])).sum(axis=0)
        above = (of_value[:, np.newaxis] * ndtr(values[:, np.newaxis] - y)).sum(axis=0)
        scores[i] = np.where(below < above, ndtri(below), -ndtri(above))
    score_mean = scores @ density
    within = (scores**2) @ density - score_mean**2
    return np.asarray((score_mean / np.sqrt(of_value @ within))[cell].reshape(means.shape))
