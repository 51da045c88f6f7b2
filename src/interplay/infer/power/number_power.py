"""Means or log hazards of cells → the power of the test of a tuple, for numbers and for times; what a second test
costs.
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.models.linear import spline_columns
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL
from interplay.infer.number_interaction.f_test import departure
from interplay.infer.smooth_columns import smooth_columns

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
    coding: str = "levels",
) -> float:
    """Return the chance of a p-value below the threshold, over the drawn sizes of cells.

    - `means` (levels …): means of the cells in standard deviations of the normal noise around them.
    - `counts` (n_drawn, levels …).
    - `shares` (levels …): of the cells, for the distribution of the outcome, which ranks depend on.
    - `log_threshold`: natural logarithm of the p-value.
    - `scale`: "ranks" or "values", as in `interactions`.
    - `n_smooth`: columns of smooth effects of a second test, which cut numbers must pass; 0 for none.
    - `coding`: "levels" for all cells, "dosage" for the product of the members' levels.

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
    if coding == "dosage":
        return _product_power(means, counts, log_threshold)
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


def _product_power(means: FloatArray, counts: IntArray, log_threshold: float) -> float:
    """Return the same for the coefficient of the product of two members' levels, beside linear effects.

    What the cells have beyond these effects and the product counts as noise.
    """
    from scipy.stats import f, ncf

    a, b = (values.ravel() for values in np.indices(means.shape).astype(np.float64))
    columns = np.column_stack([np.ones(len(a)), a - a.mean(), b - b.mean(), (a - a.mean()) * (b - b.mean())])
    m, far = means.ravel(), np.zeros(len(counts))
    n_left = int(counts[0].sum()) - columns.shape[1]
    if n_left < 1:
        return 0.0
    for table, weights in enumerate(counts.reshape(len(counts), -1).astype(np.float64)):
        root = np.sqrt(weights)
        basis, triangle = np.linalg.qr(columns * root[:, np.newaxis])
        if abs(triangle[-1, -1]) > 1e-9 * root.max():
            parts = basis.T @ (root * m)
            beyond = float((root * m) @ (root * m) - parts @ parts)
            far[table] = parts[-1] ** 2 / (1 + max(beyond, 0.0) / n_left)
    limit = f.isf(np.exp(log_threshold), 1, n_left)
    return float(np.clip(ncf.sf(limit, 1, n_left, np.maximum(far, 1e-12)), 0.0, 1.0).mean())


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


def time_power(log_hazards: FloatArray, counts: IntArray, *, event_share: float, log_threshold: float) -> float:
    """Return the chance of a p-value below the threshold, over the drawn sizes of cells.

    The information about a contrast of log hazards is that of the events in each cell (Schoenfeld, 1981): an event
    weighs as much as a number with a variance of 1. Exact for small effects.

    - `log_hazards` (levels …).
    - `counts` (n_drawn, levels …): samples of the cells.
    - `event_share`: share of samples whose event is seen.

    Examples
    --------
    >>> xor = np.array([[0.3, -0.3], [-0.3, 0.3]])
    >>> even = np.full((1, 2, 2), 100)
    >>> round(time_power(xor, even, event_share=0.7, log_threshold=float(np.log(0.05))), 3)
    0.999
    """
    from scipy.stats import chi2, ncx2

    events = counts * event_share
    apart = departure(np.broadcast_to(log_hazards, counts.shape), events.astype(np.float64))
    tested = apart.df > 0
    power = np.zeros(len(counts))
    limit = chi2.isf(np.exp(log_threshold), apart.df[tested])
    power[tested] = ncx2.sf(limit, apart.df[tested], np.maximum(apart.squares[tested], 1e-12))
    return float(power.mean())


def n_smooth_columns(n_levels: tuple[int, ...]) -> int:
    """Return the columns that smooth effects add to the model of a tuple of cut numbers.

    Examples
    --------
    >>> n_smooth_columns((2, 2)), n_smooth_columns((2, 2, 2))
    (8, 15)
    """
    splines = [spline_columns(np.arange(100.0))] * len(n_levels)
    return int(smooth_columns(splines, np.zeros((len(n_levels), 100), dtype=np.int64)).shape[1])


def after_second_test(far: FloatArray, *, n_samples: int, n_columns: int, gap: float = 0.0) -> FloatArray:
    """Return the noncentrality with which one test has the power of both tests.

    In independent samples, m columns that have nothing to do with the interaction take a share m/N of it. So the roots
    of both statistics differ by a normal number, with mean (1 − ρ)√λ and variance 2(1 − ρ), ρ² = 1 − m/N. The smaller
    root is below the first one by the positive part of this number: by its mean the root of the noncentrality is lower.
    Where the first test asks for a root that is larger by a `gap`, as an exact test does of few samples, only what
    exceeds the gap matters.

    Examples
    --------
    >>> after_second_test(np.array([16.0]), n_samples=300, n_columns=8).round(2).tolist()
    [15.24]
    """
    from scipy.special import ndtr

    root = np.sqrt(np.maximum(far, 0.0))
    rho = np.sqrt(max(1.0 - n_columns / n_samples, 0.0))
    mean, spread = (1 - rho) * root, np.sqrt(2 * (1 - rho))
    if spread == 0:
        return np.asarray(far)
    mean = mean - gap
    ratio = mean / spread
    lower = mean * ndtr(ratio) + spread * np.exp(-(ratio**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(np.maximum(root - lower, 0.0) ** 2)
