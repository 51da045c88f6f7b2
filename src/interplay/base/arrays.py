"""Types of arrays and their limits; ranks of values, and their distance from a uniform distribution.

Letters used for shapes: ``n_samples``; ``n_vars`` real variables; ``n_rows`` = real plus contrast variables;
``k`` = dimensions; ``n_groups`` = distinct degrees of freedom a variable can have (one, unless columns differ in
their number of levels).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
CodeArray = npt.NDArray[np.uint8]
WordArray = npt.NDArray[np.uint64]

#: Codes are bytes, so a variable has at most this many levels.
MAX_LEVELS = 256

#: Values of these types, in native byte order, can be cut by the compiled module.
COMPILED_TYPES = ("f8", "f4", "i1", "u1", "i2", "i4", "i8")

#: Upper limits of discretisations, contrast variables and permutations: a larger number is a slip, refused before it
#: fills memory.
MAX_DISCRETIZATIONS = 10**6
MAX_CONTRAST = 10**7
MAX_PERMUTATIONS = 10**7


def starts_of(sizes: IntArray) -> IntArray:
    """Return where each of some consecutive parts begins, and where the last one ends, (n_parts + 1,).

    Examples
    --------
    >>> starts_of(np.array([3, 1])).tolist()
    [0, 3, 4]
    """
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def places_of_each(keys: IntArray) -> list[IntArray]:
    """Return the places of each distinct number, or row of numbers: ascending, in the order of the keys.

    Examples
    --------
    >>> [places.tolist() for places in places_of_each(np.array([[2, 3], [2, 2], [2, 3]]))]
    [[1], [0, 2]]
    """
    if len(keys) == 0:
        return []
    rows = keys.reshape(len(keys), -1)
    if (rows == rows[0]).all():  # the usual case of shapes, and a sort takes longer than a small search
        return [np.arange(len(rows))]
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    return np.split(order, np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1)


def in_unit(values: FloatArray) -> tuple[FloatArray, float]:
    """Return numbers in a unit, a power of two, in which squares of them neither overflow nor vanish, and that unit.

    Examples
    --------
    >>> values, unit = in_unit(np.array([3.0, -1.5, np.inf]))
    >>> values.tolist(), unit
    ([0.75, -0.375, inf], 4.0)
    """
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    exponent = int(np.clip(np.frexp(largest)[1], -1021, 1023)) if largest else 0
    return np.ldexp(values, -exponent), float(np.ldexp(1.0, exponent))


def scaled_columns(columns: npt.NDArray[Any], dtype: Any = np.float64) -> npt.NDArray[Any]:
    """Return columns, (n, n_samples), centred and of length 1; missing values have the mean, constants are 0.

    Examples
    --------
    >>> scaled_columns(np.array([[1.0, np.nan, 2.0], [3.0, 3.0, 3.0]])).round(3).tolist()
    [[-0.707, 0.0, 0.707], [0.0, 0.0, 0.0]]
    """
    values = np.asarray(columns, dtype=dtype)
    known = ~np.isnan(values)
    n_known = np.maximum(known.sum(axis=1, keepdims=True), 1).astype(dtype)
    left = np.where(known, values - np.where(known, values, 0).sum(axis=1, keepdims=True) / n_known, 0)
    length = np.sqrt((left**2).sum(axis=1, keepdims=True))
    # What is left of a constant is rounding.
    is_constant = length <= 8 * np.finfo(dtype).eps * np.sqrt(
        (np.where(known, values, 0) ** 2).sum(axis=1, keepdims=True)
    )
    return np.asarray(np.where(is_constant, 0, left / np.where(is_constant, 1, length)), dtype=dtype)


def numbered(values: npt.NDArray[Any], axis: int | None = None) -> IntArray:
    """Return the number of each value, or of each row or column along `axis`, among the distinct ones, from 0."""
    if axis is None and values.dtype.kind in "iu" and values.size:
        flat = values.reshape(-1)
        if flat.min() >= 0 and int(flat.max()) <= 2 * len(flat):  # codes: counting them is faster than sorting them
            return np.asarray((np.cumsum(np.bincount(flat.astype(np.int64)) > 0) - 1)[flat], dtype=np.int64)
    return np.unique(values, axis=axis, return_inverse=True)[1].reshape(-1).astype(np.int64)


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
    n = values.shape[-1]
    rows = values.reshape(-1, n)
    order = rows.argsort(axis=1)
    order += np.arange(0, rows.size, n)[:, np.newaxis]
    in_order = rows.reshape(-1)[order]
    is_first = np.ones(rows.shape, dtype=bool)
    np.not_equal(in_order[:, 1:], in_order[:, :-1], out=is_first[:, 1:])
    starts = is_first.reshape(-1).nonzero()[0]
    sizes = np.append(starts[1:], rows.size) - starts
    ranks = np.empty(values.shape)
    ranks.reshape(-1)[order.reshape(-1)] = np.repeat(starts % n + (sizes + 1) / 2, sizes)
    return ranks


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
