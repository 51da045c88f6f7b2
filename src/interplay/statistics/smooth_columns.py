"""Numbers of the members of a tuple → columns of a model: smooth effects of each, and products of proper subsets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray

#: Quantiles of the knots of a natural spline (Harrell's): linear beyond the outer ones, which outliers do not move.
#: Five knots are four columns, the constant aside.
KNOT_QUANTILES = (0.05, 0.275, 0.5, 0.725, 0.95)

#: Products of proper subsets beyond this number are left out, those of small subsets first come first.
MAX_PRODUCTS = 60

#: Strata have smooth effects of their own while every column has as many samples.
_SAMPLES_PER_COLUMN = 20


def spline_columns(values: FloatArray) -> FloatArray:
    """Return the columns of a natural cubic spline of numbers, without the constant, (n_samples, at most 4).

    The first column is linear. Each has mean 0 and standard deviation 1. Missing values are 0, so that a level of
    their own says all about them; infinite ones are the largest or smallest of the others. Where many samples have one
    value, knots are quantiles of the different values.

    Parameters
    ----------
    values : (n_samples,) float64

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
    knots = np.unique(np.quantile(known, KNOT_QUANTILES))
    if len(knots) < len(KNOT_QUANTILES):
        different = np.unique(known)
        few = len(different) <= len(KNOT_QUANTILES)
        knots = different if few else np.quantile(different, KNOT_QUANTILES)
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
    t = (knots - knots[0]) / (knots[-1] - knots[0])

    def cubed(u: FloatArray) -> FloatArray:
        return np.asarray(np.maximum(u, 0.0) ** 3)

    if len(t) < 3:
        return []
    last = t[-1] - t[-2]
    return [
        cubed(x - t[j]) - cubed(x - t[-2]) * (t[-1] - t[j]) / last + cubed(x - t[-1]) * (t[-2] - t[j]) / last
        for j in range(len(t) - 2)
    ]


def smooth_columns(
    splines: Sequence[FloatArray | None], levels: IntArray, stratum: IntArray | None = None
) -> FloatArray:
    """Return the smooth effects of the members of a tuple that are numbers, as columns of a model.

    The splines of each such member; and of every proper subset of two or more members with such a member, the product
    of their linear terms, for each combination of levels of its other members, `MAX_PRODUCTS` at most. In each stratum
    effects are its own, where that leaves 20 samples a column.

    Parameters
    ----------
    splines : sequence of (n_samples, n_columns) float64, or None
        As `spline_columns` makes them; None for members that are no cut numbers.
    levels : (k, n_samples) int64
        Levels of the members.
    stratum : (n_samples,) int64, optional

    Returns
    -------
    (n_samples, n_columns) float64
    """
    k, n = levels.shape
    columns = [each for each in splines if each is not None]
    room = MAX_PRODUCTS
    for size in range(2, k):
        for subset in combinations(range(k), size):
            numbers = [spline[:, 0] for i in subset if (spline := splines[i]) is not None and spline.shape[1]]
            if not numbers:
                continue
            product = np.prod(numbers, axis=0)[:, np.newaxis]
            for i in subset:
                if splines[i] is None:
                    inside = np.asarray(levels[i][:, np.newaxis] == np.unique(levels[i]), dtype=np.float64)
                    product = (product[:, :, np.newaxis] * inside[:, np.newaxis]).reshape(n, -1)
            columns.append(product[:, :room])
            room -= product.shape[1]
            if room <= 0:
                return _in_strata(np.hstack(columns), stratum)
    return _in_strata(np.hstack(columns) if columns else np.empty((n, 0)), stratum)


def _in_strata(columns: FloatArray, stratum: IntArray | None) -> FloatArray:
    if stratum is None:
        return columns
    inside = np.asarray(stratum[:, np.newaxis] == np.unique(stratum), dtype=np.float64)
    if columns.shape[1] * inside.shape[1] * _SAMPLES_PER_COLUMN > len(columns):
        return columns
    return np.asarray((columns[:, :, np.newaxis] * inside[:, np.newaxis]).reshape(len(columns), -1))
