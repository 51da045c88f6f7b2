"""Moments of cells → Fisher's F test of the interaction of tuples of one shape."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_f_tail
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL
from interplay.infer.number_interaction.cell_moments import CellMoments
from interplay.infer.number_interaction.departure import departure, departure_at_most

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
    n_tuples, n_strata = moments.n.shape[:2]
    tables = (n_tuples * n_strata, *moments.levels)
    weights = np.where(moments.n >= fewest, moments.n, 0.0)
    bound = departure_at_most(moments.mean.reshape(tables), weights.reshape(tables))
    squares = bound.squares.reshape(n_tuples, n_strata).sum(axis=1)
    # One degree of freedom is the fewest that a test can have, in all strata together.
    df = np.maximum((bound.df.reshape(n_tuples, n_strata) - 1).sum(axis=1) + 1, 1) if n_strata > 1 else bound.df
    least = f_test_of(squares, np.maximum(df, 1), moments.rss, moments.n_samples - moments.n_cells).log_p
    some = np.flatnonzero(least <= log_p + _NEAR)
    found = np.zeros(n_tuples)
    found[some] = f_test(moments.chosen(some), fewest=fewest).log_p
    return found


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
