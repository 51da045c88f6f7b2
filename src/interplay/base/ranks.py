"""Values → their ranks, and the chance of a distance between ranks and a uniform distribution."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray

IntScores = npt.NDArray[np.int8]

#: Scores are rounded to this many steps either side of 0.
STEPS = 127

#: From this n·d² on, both one-sided distances are exceeded together in less than 1e-10 of the one-sided cases.
_ONE_SIDE_ONLY = 4.0


def mid_ranks(values: npt.NDArray[np.generic]) -> FloatArray:
    """Return the ranks of values along the last axis, from 1; equal values have the mean of their ranks.

    `scipy.stats.rankdata` gives the same, and takes half a second to import.

    `values` (..., n): without NaN.

    Examples
    --------
    >>> mid_ranks(np.array([10.0, 30.0, 30.0, 20.0])).tolist()
    [1.0, 3.5, 3.5, 2.0]
    """
    if not values.size:
        return np.empty(values.shape)
    rows = values.reshape(-1, values.shape[-1])
    order = np.argsort(rows, axis=1)
    in_order = np.take_along_axis(rows, order, axis=1)
    is_first = np.ones(rows.shape, dtype=bool)
    np.not_equal(in_order[:, 1:], in_order[:, :-1], out=is_first[:, 1:])
    starts = np.flatnonzero(is_first)
    sizes = np.diff(starts, append=rows.size)
    ranks = np.empty(rows.shape)
    of_groups = starts % rows.shape[1] + (sizes + 1) / 2
    np.put_along_axis(ranks, order, np.repeat(of_groups, sizes).reshape(rows.shape), axis=1)
    return ranks.reshape(values.shape)


def normal_scores(values: FloatArray) -> FloatArray:
    """Return Φ⁻¹((r − ½)/N) of the mid-ranks r of N values."""
    from scipy.special import ndtri

    return np.asarray(ndtri((mid_ranks(values) - 0.5) / len(values)))


def as_integers(values: FloatArray) -> IntScores:
    """Round rows of numbers to integers, the largest of each to `STEPS`.

    Examples
    --------
    >>> as_integers(np.array([[-1.0, 0.25, 0.5]])).tolist()
    [[-127, 32, 64]]
    """
    largest = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300)
    rounded: IntScores = np.rint(values * (STEPS / largest)).astype(np.int8)
    return rounded


def kolmogorov_tail(distance: float, n: int) -> float:
    """Return the exact chance of this two-sided Kolmogorov–Smirnov distance, or more, for n ≤ 100 uniform values.

    The matrix of Marsaglia, Tsang and Wang (2003), or twice the one-sided chance where both sides hardly meet.

    Examples
    --------
    >>> round(kolmogorov_tail(0.274, 10), 4)
    0.3715
    """
    from scipy.special import gamma, smirnov

    if n * distance**2 > _ONE_SIDE_ONLY:
        return float(min(2 * smirnov(n, min(distance, 1.0)), 1.0))
    k = math.ceil(n * distance)
    if k == 0:
        return 1.0
    h = k - n * distance
    place = np.arange(2 * k - 1)
    steps = place[:, np.newaxis] - place + 1
    matrix = np.where(steps >= 0, 1.0, 0.0)
    powers = h ** (place + 1)
    matrix[:, 0] -= powers
    matrix[-1] -= powers[::-1]
    matrix[-1, 0] += max(2 * h - 1, 0.0) ** len(place)
    matrix /= gamma(np.maximum(steps, 0) + 1.0)
    central = np.linalg.matrix_power(matrix, n)[k - 1, k - 1]
    # n! / nⁿ; of 100 values, powers of the matrix stay below 1e50.
    return float(np.clip(1.0 - central * np.prod(np.arange(1, n + 1) / n), 0.0, 1.0))
