"""Means of cells with weights → the weighted sum of squares by which they depart from H0, and its degrees of freedom.

The sum of squares is the smallest Σ w (m − μ)² over all μ that H0 allows, over the cells that have a weight. With
weights n it is RSS(H0) − RSS(T); with weights 1/V, V the variances of the means, it is Wald's statistic.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.infer.number_interaction.interaction_contrasts import (
    by_pattern,
    contrast_values,
    contrasts_between,
    full_contrasts,
    n_contrasts,
    null_columns,
)

#: Up to this number of contrasts, many tables are solved at a time by their contrasts; beyond it, one by one by H0.
MAX_CONTRASTS = 128

#: Numbers that the contrasts, or the columns of H0, of one table may hold: 128 MB.
_MAX_NUMBERS = 2**24


#: Weight of a cell that is left out, beside the smallest of the others, where all cells are solved at a time; and the
#: share that rounding may take of the squares then.
_TINY_WEIGHT, _ROUNDING = 1e-7, 1e-5


class Departure(NamedTuple):
    """How far tables of means are from H0: `squares` (n_tables,) float64, `df` (n_tables,) int64."""

    squares: FloatArray
    df: IntArray


def departure(means: FloatArray, weights: FloatArray) -> Departure:
    """Return the departure of each table from H0.

    Parameters
    ----------
    means, weights : (n_tables, levels of member 1, …, levels of member k) float64
        Cells with weight 0 are left out; their means must be finite.

    Examples
    --------
    >>> means = np.array([[[0.0, 1.0], [2.0, 5.0]]])
    >>> departure(means, np.ones((1, 2, 2))).squares.round(12).tolist()
    [1.0]
    """
    n_tables, levels = len(means), means.shape[1:]
    m, w = means.reshape(n_tables, prod(levels)), weights.reshape(n_tables, prod(levels))
    kept: BoolArray = w > 0
    found = Departure(np.zeros(n_tables), np.zeros(n_tables, dtype=np.int64))
    if n_contrasts(levels) == 0:
        return found
    if n_contrasts(levels) > MAX_CONTRASTS:
        for table in range(n_tables):
            found.squares[table], found.df[table] = _beyond_null_columns(levels, m[table], w[table], kept[table])
        return found
    if prod(levels) == 2 ** len(levels):
        return _of_two_levels(m, w, kept, full_contrasts(levels)[:, 0])
    for pattern, tables in by_pattern(kept):
        contrasts = contrasts_between(levels, pattern)[pattern]
        found.df[tables] = contrasts.shape[1]
        if contrasts.shape[1]:
            values = contrast_values(m[np.ix_(tables, np.flatnonzero(pattern))], contrasts)
            variance = 1 / w[np.ix_(tables, np.flatnonzero(pattern))]
            information = np.matmul(contrasts.T, variance[:, :, np.newaxis] * contrasts)
            solved = np.linalg.solve(information, values[:, :, np.newaxis])[:, :, 0]
            found.squares[tables] = np.maximum((values * solved).sum(axis=1), 0.0)
    return found


def departure_at_most(means: FloatArray, weights: FloatArray) -> Departure:
    """Return bounds of `departure`, many tables at a time whatever cells they leave out.

    `squares` are at least, and nearly, those of `departure`: a cell that is left out has a tiny weight instead of none.
    `df` are at most its degrees of freedom, or 1: a cell takes one away at most. For decisions of a search.
    """
    n_tables, levels = len(means), means.shape[1:]
    if n_contrasts(levels) > MAX_CONTRASTS or prod(levels) == 2 ** len(levels):
        return departure(means, weights)
    m, w = means.reshape(n_tables, prod(levels)), weights.reshape(n_tables, prod(levels))
    kept = w > 0
    df = np.where(kept.any(axis=1), np.maximum(n_contrasts(levels) - (~kept).sum(axis=1), 1), 0)
    contrasts = full_contrasts(levels)
    smallest = np.min(np.where(kept, w, np.inf), axis=1, initial=np.inf, keepdims=True)
    variance = 1 / np.where(kept, w, _TINY_WEIGHT * np.where(np.isfinite(smallest), smallest, 1.0))
    values = contrast_values(np.where(kept, m, 0.0), contrasts)
    information = np.matmul(contrasts.T, variance[:, :, np.newaxis] * contrasts)
    solved = np.linalg.solve(information, values[:, :, np.newaxis])[:, :, 0]
    squares = np.maximum((values * solved).sum(axis=1), 0.0) * (1 + _ROUNDING)
    return Departure(squares, df)


def _of_two_levels(m: FloatArray, w: FloatArray, kept: BoolArray, parity: FloatArray) -> Departure:
    """Do the same where each member has two levels: one contrast, or none where a cell is left out."""
    full = np.asarray(kept.all(axis=1))
    variance = np.divide(parity**2, w, out=np.ones_like(w), where=kept).sum(axis=1)
    return Departure(np.where(full, (m * parity).sum(axis=1) ** 2 / variance, 0.0), full.astype(np.int64))


def _beyond_null_columns(levels: tuple[int, ...], m: FloatArray, w: FloatArray, kept: BoolArray) -> tuple[float, int]:
    """Do the same for one table with many contrasts, by least squares of H0's columns in the kept cells."""
    n_columns = prod(levels) - n_contrasts(levels)
    if prod(levels) * n_columns > _MAX_NUMBERS:
        raise ValueError(f"a tuple with {' × '.join(map(str, levels))} levels has too many cells: use fewer divisions")
    if not kept.any():
        return 0.0, 0
    root = np.sqrt(w[kept])
    columns = null_columns(levels)[kept]
    solution, _, rank, _ = np.linalg.lstsq(root[:, np.newaxis] * columns, root * m[kept], rcond=1e-10)
    rest = root * (m[kept] - columns @ solution)
    return float(rest @ rest), int(kept.sum() - rank)
