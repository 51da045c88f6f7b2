"""Numbers and columns → least squares; which columns are sums of others; columns of cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, numbered

#: Columns that others explain up to this share of their squared length are left out.
_DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear model with normal errors.

    Attributes
    ----------
    coefficients : (n_columns,) float64
        0 for a column that is a sum of columns before it.
    covariance : (n_columns, n_columns) float64
        Of the coefficients; NaN for columns that are sums of others, and where no sample is left over.
    residuals : (n_samples,) float64
        Scores minus offset minus fitted values.
    df_residual : int
        Samples minus independent columns.
    """

    coefficients: FloatArray
    covariance: FloatArray
    residuals: FloatArray
    df_residual: int


def fit_linear(scores: FloatArray, columns: FloatArray, offset: FloatArray | None = None) -> LinearFit:
    """Fit a linear model by least squares.

    Parameters
    ----------
    scores : (n_samples,) float64
    columns : (n_samples, n_columns) float64
        With a constant among them, where the model shall have one.
    offset : (n_samples,) float64, optional
        A known part of the mean.

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
