"""Numbers and columns → least squares; which columns are sums of others; columns of cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, numbered

#: Columns that others explain up to this share of their squared length are left out.
_DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear model with normal errors."""

    #: (n_columns,): 0 for a column that is a sum of columns before it.
    coefficients: FloatArray
    #: (n_columns, n_columns): of the coefficients; NaN for columns that are sums of others, and where no sample is left
    #: over.
    covariance: FloatArray
    #: (n_samples,): scores minus offset minus fitted values.
    residuals: FloatArray
    #: Samples minus independent columns.
    df_residual: int


def fit_linear(scores: FloatArray, columns: FloatArray, offset: FloatArray | None = None) -> LinearFit:
    """Fit a linear model by least squares.

    - `scores` (n_samples,).
    - `columns` (n_samples, n_columns): with a constant among them, where the model shall have one.
    - `offset` (n_samples,): a known part of the mean.

    Examples
    --------
    >>> fit = fit_linear(np.array([1.0, 3.0, 6.0, 6.0]), np.column_stack([np.ones(4), np.arange(4.0)]))
    >>> fit.coefficients.round(3).tolist(), fit.residuals.round(3).tolist(), fit.df_residual
    ([1.3, 1.8], [-0.3, -0.1, 1.1, -0.7], 2)
    """
    places = independent_places(columns)
    # Columns of any unit: the largest value of each is 1.
    scale = np.abs(columns[:, places]).max(axis=0, initial=0.0)
    kept = columns[:, places] / scale
    values = scores if offset is None else scores - offset
    basis, triangle = np.linalg.qr(kept)
    parts = basis.T @ values
    residuals = values - basis @ parts
    df_residual = len(scores) - len(places)
    half = np.linalg.inv(triangle)
    variance = float(residuals @ residuals) / df_residual if df_residual > 0 else np.nan
    inverse = variance * (half @ half.T) / np.outer(scale, scale)
    coefficients, covariance = with_dependent(half @ parts / scale, inverse, places, columns.shape[1])
    return LinearFit(coefficients, covariance, np.asarray(residuals), df_residual)


def independent_columns(columns: FloatArray) -> FloatArray:
    """Leave out columns that are sums of others, in the order in which they stand."""
    return columns[:, independent_places(columns)]


def independent_places(columns: FloatArray) -> IntArray:
    """Return the places of columns that are no sums of columns before them, ascending.

    Examples
    --------
    >>> independent_places(np.array([[1.0, 2.0, 0.0, 1.0], [1.0, 2.0, 0.0, 3.0]])).tolist()
    [0, 3]
    """
    largest = np.abs(columns).max(axis=0, initial=0.0)
    places = np.flatnonzero(largest > 0)
    scaled = columns[:, places] / largest[places]
    scaled /= np.sqrt((scaled**2).sum(axis=0))
    # Of each column the part that is orthogonal to the columns kept before it: products of these parts.
    left = scaled.T @ scaled
    kept: list[int] = []
    for j in range(len(left)):
        if left[j, j] > _DEPENDENT:
            kept.append(j)
            row = left[j, j + 1 :]
            left[j + 1 :, j + 1 :] -= row[:, np.newaxis] * (row / left[j, j])
    return np.asarray(places[kept], dtype=np.int64)


def cell_columns(cells: IntArray) -> FloatArray:
    """Return a column of 0 and 1 for each cell."""
    numbers = numbered(cells)
    return np.asarray(numbers[:, np.newaxis] == np.arange(int(numbers.max()) + 1), dtype=np.float64)


def with_dependent(
    coefficients: FloatArray, covariance: FloatArray, places: IntArray, n_columns: int
) -> tuple[FloatArray, FloatArray]:
    """Put coefficients and covariance of the independent columns at their places among all columns.

    A column that is a sum of others has coefficient 0, and NaN for a covariance.
    """
    of_all, all_covariance = np.zeros(n_columns), np.full((n_columns, n_columns), np.nan)
    of_all[places] = coefficients
    all_covariance[np.ix_(places, places)] = covariance
    return of_all, all_covariance


#: Quantiles of the knots of a natural spline (Harrell's): linear beyond the outer ones, which outliers do not move.
#: Five knots are four columns, the constant aside.
KNOT_QUANTILES = (0.05, 0.275, 0.5, 0.725, 0.95)

#: The same with fewer columns, by their number.
_FEWER = {1: (0.05, 0.95), 2: (0.1, 0.5, 0.9), 3: (0.05, 0.35, 0.65, 0.95)}


def spline_columns(values: FloatArray, n_columns: int = 4) -> FloatArray:
    """Return the columns of a natural cubic spline of numbers, without the constant, (n_samples, at most `n_columns`).

    The first column is linear. Each has mean 0 and standard deviation 1. Missing values are 0, so that a level of
    their own says all about them; infinite ones are the largest or smallest of the others. Where many samples have one
    value, knots are quantiles of the different values.

    - `values` (n_samples,).
    - `n_columns`: from 1 to 4.

    Examples
    --------
    >>> spline_columns(np.arange(100.0)).shape, spline_columns(np.array([0.0, 1.0, np.nan, 1.0])).shape
    ((100, 4), (4, 1))
    """
    is_finite = np.isfinite(values)
    finite = values if is_finite.all() else values[is_finite]
    ends = np.array([finite.min(), finite.max()]) if len(finite) else np.zeros(2)
    if ends[0] == ends[1]:
        return np.empty((len(values), 0))
    # Times a power of two: cubes neither overflow nor vanish.
    exponent = -int(np.frexp(max(-ends[0], ends[1]))[1])
    known: slice | BoolArray = slice(None)
    if len(finite) == len(values):
        x = np.ldexp(values, exponent)
    else:
        known = ~np.isnan(values)
        x = np.clip(np.ldexp(np.where(known, values, finite[0]), exponent), *np.ldexp(ends, exponent))
    quantiles = np.array(_FEWER.get(n_columns, KNOT_QUANTILES))
    ascending = np.sort(x[known])
    knots = np.unique(_quantiles(ascending, quantiles))
    if len(knots) < len(quantiles):
        different = np.unique(ascending)
        knots = different if len(different) <= len(quantiles) else _quantiles(different, quantiles)
    rows = np.vstack([x - knots[0], _bends((x - knots[0]) / (knots[-1] - knots[0]), knots)])
    spread = rows[:, known].std(axis=1)
    rows, spread = rows[spread > 0], spread[spread > 0]
    rows -= rows[:, known].mean(axis=1, keepdims=True)
    rows /= spread[:, np.newaxis]
    if not isinstance(known, slice):
        rows[:, ~known] = 0.0
    return np.ascontiguousarray(rows.T)


#: Quantiles at which lines may bend, and the samples that each bend needs.
_BENDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
_SAMPLES_PER_BEND = 100


def n_bent_columns(n_informative: int) -> int:
    """Return how many columns an effect of any shape has at most."""
    return 4 + min(n_informative // _SAMPLES_PER_BEND, len(_BENDS))


def bent_columns(values: FloatArray, n_informative: int) -> FloatArray:
    """Return columns for an effect of any shape: natural splines, and lines that bend at more places in more samples.

    Each is orthogonal to those before, with mean 0 and standard deviation 1.

    - `values` (n_samples,).
    - `n_informative`: samples, or those of the smaller class, or events.

    Examples
    --------
    >>> bent_columns(np.arange(100.0), 100).shape, bent_columns(np.arange(1000.0), 500).shape
    ((100, 5), (1000, 9))
    """
    columns = spline_columns(values)
    n_bends = n_bent_columns(n_informative) - 4
    if not columns.shape[1] or not n_bends:
        return columns
    chosen = np.quantile(_BENDS, np.linspace(0, 1, n_bends), method="nearest")
    line = columns[:, 0]  # missing values are at the mean
    places = np.unique(np.quantile(line, chosen))
    bent = np.maximum(line[:, np.newaxis] - places, 0.0)
    every = np.hstack([columns, bent])
    every = independent_columns(every - every.mean(axis=0))
    return np.asarray(np.linalg.qr(every)[0] * np.sqrt(len(values)))


def _quantiles(ascending: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Return the linear quantiles of sorted values; `np.quantile` takes longer to begin than most columns to sort."""
    place = quantiles * (len(ascending) - 1)
    below = place.astype(np.int64)
    low, high, share = ascending[below], ascending[np.minimum(below + 1, len(ascending) - 1)], place - below
    return np.asarray(np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share)))


def _bends(x: FloatArray, knots: FloatArray) -> FloatArray:
    """Return the rows of a restricted cubic spline that are not linear; x is on the scale of the outer knots."""
    t = np.unique((knots - knots[0]) / (knots[-1] - knots[0]))  # beside huge ones, small knots are one
    if len(t) < 3:
        return np.empty((0, len(x)))
    # Beyond the last knot they are linear, with this slope: cubes of far values would cancel but for their rounding.
    to_last, slope = t[-1] - t[:-2, np.newaxis], 3 * (t[-1] - t[:-2]) * (t[-2] - t[:-2])
    beyond = np.maximum(np.minimum(x, t[-1]) - t[:-1, np.newaxis], 0.0)
    cubes = beyond * beyond * beyond
    linear = slope[:, np.newaxis] * np.maximum(x - t[-1], 0.0)
    return np.asarray(cubes[:-1] - cubes[-1] * (to_last / (t[-1] - t[-2])) + linear)


#: Newton's steps. Of a cell of one class only, a coefficient grows by 1 in each, and the likelihood converges.
_MAX_STEPS = 60

#: A step that raises the log-likelihood by less ends the search.
_ENOUGH = 1e-9

#: The diagonal of the information grows by this share: coefficients that grow without end leave it singular.
_RIDGE = 1e-12

#: Returns gradient and information.
Slopes = Callable[[], tuple[FloatArray, FloatArray]]

#: Coefficients, by class and column → log-likelihood, and a function that returns gradient and information there.
Likelihood = Callable[[FloatArray], tuple[float, Slopes]]


def largest_likelihood(likelihood: Likelihood, start: FloatArray) -> tuple[float, FloatArray]:
    """Climb to the top of a concave log-likelihood by Newton's method, with steps that are halved where too long."""
    b = start
    value, slopes = likelihood(b)
    for _ in range(_MAX_STEPS):
        gradient, information = slopes()
        diagonal = np.einsum("ii->i", information)  # a view
        diagonal[:] = diagonal * (1 + _RIDGE) + 1e-300
        try:
            step = np.linalg.solve(information, gradient).reshape(b.shape)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(information, gradient, rcond=None)[0].reshape(b.shape)
        for halvings in range(20):
            better, there = likelihood(b + step / 2**halvings)
            if better >= value - _ENOUGH:
                break
        else:  # no step leads up: rounding is all that is left
            return value, b
        gained, value, slopes, b = better - value, better, there, b + step / 2**halvings
        if abs(gained) < _ENOUGH:
            break
    return value, b
