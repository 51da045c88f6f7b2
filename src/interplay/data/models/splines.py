"""Numbers → the columns of a natural cubic spline."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray

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

    Parameters
    ----------
    values : (n_samples,) float64
    n_columns : int
        From 1 to 4.

    Examples
    --------
    >>> spline_columns(np.arange(100.0)).shape, spline_columns(np.array([0.0, 1.0, np.nan, 1.0])).shape
    ((100, 4), (4, 1))
    """
    finite = values[np.isfinite(values)]
    if not len(finite) or finite.min() == finite.max():
        return np.empty((len(values), 0))
    is_missing = np.isnan(values)
    # Times a power of two: cubes neither overflow nor vanish.
    exponent = -int(np.frexp(np.abs(finite).max())[1])
    x = np.clip(np.ldexp(np.where(is_missing, finite[0], values), exponent), *np.ldexp(_ends(finite), exponent))
    known = x[~is_missing]
    quantiles = _FEWER.get(n_columns, KNOT_QUANTILES)
    knots = np.unique(np.quantile(known, quantiles))
    if len(knots) < len(quantiles):
        different = np.unique(known)
        few = len(different) <= len(quantiles)
        knots = different if few else np.quantile(different, quantiles)
    columns = [x - knots[0], *_bends((x - knots[0]) / (knots[-1] - knots[0]), knots)]
    scaled = []
    for column in columns:
        spread = column[~is_missing].std()
        if spread > 0:
            scaled.append(np.where(is_missing, 0.0, (column - column[~is_missing].mean()) / spread))
    return np.column_stack(scaled)


def _ends(values: FloatArray) -> FloatArray:
    return np.array([values.min(), values.max()])


def _bends(x: FloatArray, knots: FloatArray) -> list[FloatArray]:
    """Return the columns of a restricted cubic spline that are not linear; x is on the scale of the outer knots."""
    t = np.unique((knots - knots[0]) / (knots[-1] - knots[0]))  # beside huge ones, small knots are one

    def cubed(u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, 0.0) ** 3)

    if len(t) < 3:
        return []
    last = t[-1] - t[-2]
    return [
        cubed(x - t[j]) - cubed(x - t[-2]) * (t[-1] - t[j]) / last + cubed(x - t[-1]) * (t[-2] - t[j]) / last
        for j in range(len(t) - 2)
    ]
