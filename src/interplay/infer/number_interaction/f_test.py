"""Moments of cells → Fisher's F test of the interaction of tuples of one shape.

Means of cells with weights → the weighted sum of squares by which they depart from H0, and its degrees of freedom.

The sum of squares is the smallest Σ w (m − μ)² over all μ that H0 allows, over the cells that have a weight. With
weights n it is RSS(H0) − RSS(T); with weights 1/V, V the variances of the means, it is Wald's statistic.

The cells of a tuple → contrasts of their means that are 0 wherever parts of the tuple explain all of its effect.

H0: the mean of a cell is a sum of functions of proper subsets of the members. On a full table of cells the contrasts
are the products of one contrast per member. Where cells are left out, contrasts must be 0 there: what is left of their
space is orthogonal to H0 in the other cells, and its dimension is the number of these cells less the rank of H0 there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.tails import log_f_tail
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL
from interplay.infer.interaction.null_model import kronecker, null_columns
from interplay.infer.number_interaction.cell_moments import CellMoments

#: Bounds of ln p are compared with a bar up to this.
_NEAR = 1e-6


class FTest(NamedTuple):
    """F tests of tuples, each (n_tuples,): `f`, `df`, `df_residual`, `log_p` (natural logarithms of p-values).

    `df` is 0, and the p-value 1, where too few cells have enough samples.
    """

    f: FloatArray
    df: IntArray
    df_residual: IntArray
    log_p: FloatArray


def f_test(moments: CellMoments, *, fewest: int = FEWEST_IN_CELL) -> FTest:
    """Test H0: the mean of a cell is a sum of functions of proper subsets of the members, in each stratum its own.

    F = ((RSS(H0) − RSS(T))/df) / (RSS(T)/df_residual). The numerator is over cells of at least `fewest` samples: df is
    the number of these cells less the rank of H0 there. RSS(T) is over all cells, df_residual the number of samples
    less that of cells with samples. Both parts are independent, so that F has its distribution for normal errors of one
    variance, and leaving cells out never raises the numerator, as a search needs.

    Examples
    --------
    >>> from interplay.infer.number_interaction.cell_moments import cell_moments
    >>> cells, z = np.repeat([[0, 1, 2, 3]], 5, axis=1), np.arange(20.0) % 5 + np.repeat([0, 1, 1, 5], 5)
    >>> tests = f_test(cell_moments(cells, z, (2, 2)))
    >>> tests.f.round(6).tolist(), tests.df.tolist(), tests.df_residual.tolist()
    ([4.5], [1], [16])
    """
    n_tuples, n_strata = moments.n.shape[:2]
    weights = np.where(moments.n >= fewest, moments.n, 0.0)
    tables = (n_tuples * n_strata, *moments.levels)
    of_tables = departure(moments.mean.reshape(tables), weights.reshape(tables))
    squares = of_tables.squares.reshape(n_tuples, n_strata).sum(axis=1)
    df = of_tables.df.reshape(n_tuples, n_strata).sum(axis=1)
    return f_test_of(squares, df, moments.rss, moments.n_samples - moments.n_cells)


def f_log_p_below(moments: CellMoments, log_p: float, *, fewest: int = FEWEST_IN_CELL) -> FloatArray:
    """Return ln p of `f_test` where it may be at most `log_p`, and 0 elsewhere: most tuples of a search need no more.

    Tables that leave out other cells are bounded together; `f_test` takes them pattern by pattern.
    """
    squares, df = most_squares(moments, fewest=fewest)
    least = f_test_of(squares, df, moments.rss, moments.n_samples - moments.n_cells).log_p
    some = np.flatnonzero(least <= log_p + _NEAR)
    found = np.zeros(len(moments.n))
    found[some] = f_test(moments.chosen(some), fewest=fewest).log_p
    return found


def most_squares(moments: CellMoments, *, fewest: int = FEWEST_IN_CELL) -> tuple[FloatArray, IntArray]:
    """Return the squares of H0 of each tuple, or nearly so many, and the fewest degrees of freedom they can have."""
    n_tuples, n_strata = moments.n.shape[:2]
    tables = (n_tuples * n_strata, *moments.levels)
    weights = np.where(moments.n >= fewest, moments.n, 0.0)
    bound = departure_at_most(moments.mean.reshape(tables), weights.reshape(tables))
    # One degree of freedom is the fewest that a test can have, in all strata together.
    df = (bound.df.reshape(n_tuples, n_strata) - 1).sum(axis=1) + 1 if n_strata > 1 else bound.df
    return bound.squares.reshape(n_tuples, n_strata).sum(axis=1), np.maximum(df, 1)


def f_test_of(squares: FloatArray, df: IntArray, rss: FloatArray, df_residual: IntArray) -> FTest:
    """Compare squares of a hypothesis with those of the rest; without degrees of freedom of either, F is 0."""
    tested = (df > 0) & (df_residual > 0)
    effect = np.divide(squares, df, out=np.zeros(len(squares)), where=tested)
    error = np.divide(rss, df_residual, out=np.ones(len(squares)), where=tested)
    with np.errstate(divide="ignore"):
        f = np.divide(effect, error, out=np.zeros(len(squares)), where=effect > 0)
    df = np.where(tested, df, 0)
    df_residual = np.maximum(df_residual, 0)
    return FTest(f, df, df_residual, f_log_p(f, df, df_residual))


def f_log_p(f: npt.ArrayLike, df: npt.ArrayLike, df_residual: npt.ArrayLike) -> FloatArray:
    """Return ln P(F > f); 0 where either number of degrees of freedom is not positive.

    Examples
    --------
    >>> f_log_p([3.0, 1e6, 3.0], [2, 1, 0], [100, 400, 100]).round(4).tolist()
    [-2.9134, -1568.1111, 0.0]
    """
    f, df, df_residual = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (f, df, df_residual)))
    known = (df > 0) & (df_residual > 0)
    log_p = log_f_tail(np.where(known, f, 0.0), np.where(known, df, 1.0), np.where(known, df_residual, 1.0))
    return np.where(known, np.minimum(log_p, 0.0), 0.0)


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

    `means`, `weights` (n_tables, levels of member 1, …, levels of member k): cells with weight 0 are left out; their
    means must be finite.

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


#: Singular values of contrasts with orthonormal columns: below this they are 0 but for rounding.
_ZERO = 1e-9


@lru_cache(maxsize=32)
def full_contrasts(levels: tuple[int, ...]) -> FloatArray:
    """Return orthonormal contrasts of a full table, (cells, Π(levels − 1)); two levels each give the parity of a cell.

    Examples
    --------
    >>> (2 * full_contrasts((2, 2))).round(12).ravel().tolist()
    [1.0, -1.0, -1.0, 1.0]
    """
    contrasts = kronecker([_contrasts_of_levels(c) for c in levels])
    contrasts.flags.writeable = False
    return contrasts


def _contrasts_of_levels(n_levels: int) -> FloatArray:
    """Return orthonormal contrasts of the levels of one member (Helmert's), (n_levels, n_levels − 1)."""
    below = np.tri(n_levels, k=-1)[:, : n_levels - 1]
    contrasts = below - np.diag(np.arange(n_levels - 1, -1, -1.0))[:, : n_levels - 1]
    # The sign is that of the highest level: higher means more.
    return np.asarray(contrasts / np.linalg.norm(contrasts, axis=0))


def contrasts_between(levels: tuple[int, ...], kept: BoolArray) -> FloatArray:
    """Return orthonormal contrasts of the `kept` cells, (cells, degrees of freedom), 0 in the cells that are left out.

    Examples
    --------
    One of nine cells takes one of four degrees of freedom; one of four cells takes the only one.

    >>> kept = np.ones(9, dtype=bool)
    >>> kept[0] = False
    >>> contrasts_between((3, 3), kept).shape, contrasts_between((2, 2), kept[:4]).shape
    ((9, 3), (4, 0))
    """
    full = full_contrasts(levels)
    if kept.all():
        return full
    left_out = full[~kept]
    if len(left_out) > full.shape[1]:  # without the square of the number of cells
        left_out = np.linalg.qr(left_out)[1]
    _, sizes, directions = np.linalg.svd(left_out, full_matrices=True)
    return np.asarray(full @ directions[int((sizes > _ZERO).sum()) :].T)


def by_pattern(kept: BoolArray) -> Iterator[tuple[BoolArray, IntArray]]:
    """Yield each pattern of kept cells, and the numbers of the tables that have it; `kept` is (n_tables, cells)."""
    if len(kept) == 0:
        return
    if kept.all():
        yield kept[0], np.arange(len(kept))
        return
    packed = np.packbits(kept, axis=1)
    as_bytes = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(as_bytes, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    starts = np.flatnonzero(np.diff(which[order], prepend=-1))
    for number, tables in enumerate(np.split(order, starts[1:])):
        yield kept[first[number]], tables


def contrast_values(means: FloatArray, contrasts: FloatArray) -> FloatArray:
    """Return the contrasts of each table of means, (n_tables, n_contrasts), each table by itself.

    The product of two matrices would round a table differently among others than alone.
    """
    return np.asarray(np.matmul(means[:, np.newaxis], contrasts)[:, 0])


def n_contrasts(levels: tuple[int, ...]) -> int:
    """Return the degrees of freedom of a full table."""
    return prod(c - 1 for c in levels)
