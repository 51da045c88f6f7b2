"""Samples and sums of scores in the levels of variables, or in cells of pairs → curvatures; tests of products.

What `dosage_test` makes of one pair, for a search: many pairs at a time, of integer scores. Tables have their cells
first and the variables or pairs last, so that each step is one operation on all of them.

The p-value that tuples may have → the gain that engines ask of every member, in bits times samples.

For a tuple T and a member i, gain_i = (N/2) log₂(RSS(T − i)/RSS(T)) ≥ (N/2) log₂(RSS(H0)/RSS(T)): what a part of the
members explains, H0 explains, too. So p ≤ `max_p` needs of every member (N/2) log₂(1 + d·F/(N − cells)), F the
quantile at d degrees of freedom.

Engines know the scores z as integers t, z = a + b·t + e, where σ² = 1 − r² of the variance of z is that of e. Rounding
does not know the cells, so that the part of e in d directions is taken to be at most σ(√d + 8): eight standard
deviations more than expected. Within cells, z is taken to have at least a quarter of its variance: to explain more than
three quarters, effects would have to be of another kind than those that a search is for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.infer.number_interaction.cell_moments import CellMoments
from interplay.infer.number_interaction.f_test import FTest, f_log_p

#: Pairs whose members explain each other up to this share are left to the exact test.
_COLLINEAR = 1e-7

#: Where members explain no more of each other than this share, a product with less left than `_ALIASED` has no effect.
_APART = 1e-3
_ALIASED = 1e-9

_TINY = np.finfo(np.float64).tiny


class CellSums(NamedTuple):
    """Samples of cells, and the sums of their scores: (n_strata, levels of each member …, n) float64 both."""

    n: FloatArray
    total: FloatArray

    def in_known(self, *known: FloatArray) -> CellSums:
        """Empty the cells of some levels; `known` of each member, (levels, n), is 1 or 0."""
        kept: FloatArray = np.ones(1)
        for axis, of_member in enumerate(known):
            shape = [1] * len(known)
            shape[axis] = len(of_member)
            kept = kept * of_member.reshape(*shape, -1)
        return CellSums(self.n * kept, self.total * kept)

    def squares(self) -> FloatArray:
        """Return the squares that all cells explain, (n,)."""
        of_cells = np.divide(self.total**2, self.n, out=np.zeros_like(self.total), where=self.n > 0)
        return np.asarray(of_cells.sum(axis=tuple(range(self.n.ndim - 1))))


def curved_squares(cells: CellSums, dosages: FloatArray) -> FloatArray:
    """Return the squares that the levels of each variable explain beyond a line through its dosages, (n,).

    - `cells`: of one member.
    - `dosages` (levels, n).
    """
    n, total = cells.n.sum(axis=1), cells.total.sum(axis=1)
    a, aa, az = ((values * x).sum(axis=1) for values, x in _powers(cells, dosages))
    safe = np.maximum(n, 1.0)
    s_aa, s_az = aa - a**2 / safe, az - a * total / safe
    slope = np.divide(s_az**2, s_aa, out=np.zeros_like(s_aa), where=s_aa > _ALIASED * np.maximum(aa, _TINY))
    line = (total**2 / safe + slope).sum(axis=0)
    return np.asarray(np.maximum(cells.squares() - line, 0.0))


def _powers(cells: CellSums, dosages: FloatArray) -> tuple[tuple[FloatArray, FloatArray], ...]:
    return (cells.n, dosages), (cells.n, dosages**2), (cells.total, dosages)


def _n_levels(n: FloatArray) -> FloatArray:
    """Return how many levels have samples, (n_strata, n), of (n_strata, levels, n)."""
    return np.asarray((n > 0).sum(axis=1))


def product_ratios(
    cells: CellSums, first: FloatArray, second: FloatArray, squares: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return squares of the product over the squares left, for each pair.

    All coefficients differ between strata; squares are summed.

    - `cells`: of two members.
    - `first`, `second` (levels, n): dosages of the members.
    - `squares` (n,): of the scores of the samples in the cells, or less: ratios then are larger.

    Returns
    -------
    ratio : (n,) float64
        F times df over df_residual; infinite where nothing is left.
    uncertain : (n,) bool
        Pairs with members that are nearly collinear, or constant, in a stratum: their ratio does not count.
    """
    # Sums over samples of aⁱ·bʲ, and of aⁱ·bʲ·score: over the levels of the second member, then of the first.
    by_b = [cells.n.sum(axis=2), *((cells.n * power).sum(axis=2) for power in (second, second**2))]
    n, b, bb = (one.sum(axis=1) for one in by_b)
    a, ab, abb = ((one * first).sum(axis=1) for one in by_b)
    aa, aab, aabb = ((one * first**2).sum(axis=1) for one in by_b)
    z_by_b = [cells.total.sum(axis=2), (cells.total * second).sum(axis=2)]
    z, bz = (one.sum(axis=1) for one in z_by_b)
    az, abz = ((one * first).sum(axis=1) for one in z_by_b)
    n = np.maximum(n, 1.0)
    s_aa, s_bb, s_ab = aa - a * a / n, bb - b * b / n, ab - a * b / n
    s_ap, s_bp, s_pp = aab - a * ab / n, abb - b * ab / n, aabb - ab * ab / n
    s_az, s_bz, s_pz = az - a * z / n, bz - b * z / n, abz - ab * z / n
    both = np.maximum(s_aa * s_bb, _TINY)
    determinant = s_aa * s_bb - s_ab**2
    known = determinant > _COLLINEAR * both
    safe = np.where(known, determinant, 1.0)
    # The product, and the scores, less what both members explain.
    of_a, of_b = (s_ap * s_bb - s_bp * s_ab) / safe, (s_bp * s_aa - s_ap * s_ab) / safe
    of_p = s_pp - of_a * s_ap - of_b * s_bp
    by_members = ((s_az * s_bb - s_bz * s_ab) * s_az + (s_bz * s_aa - s_az * s_ab) * s_bz) / safe
    # Beside a member of one level, the product is the other member.
    is_line = _n_levels(by_b[0]) < 2, _n_levels(cells.n.sum(axis=1)) < 2
    if is_line[0].any() or is_line[1].any():
        of_line = [np.divide(xz**2, xx, out=np.zeros_like(xx), where=xx > 0) for xz, xx in ((s_bz, s_bb), (s_az, s_aa))]
        by_members = np.where(is_line[0], of_line[0], np.where(is_line[1], of_line[1], by_members))
    has_effect = known & ~is_line[0] & ~is_line[1] & (of_p > _COLLINEAR * np.maximum(s_pp, _TINY))
    along = s_pz - of_a * s_az - of_b * s_bz
    of_product = np.divide(along**2, of_p, out=np.zeros_like(of_p), where=has_effect)
    left = squares - (z * z / n + by_members + of_product).sum(axis=0)
    aliased = (determinant > _APART * both) & (of_p <= _ALIASED * np.maximum(s_pp, _TINY))
    aliased |= is_line[0] | is_line[1]
    uncertain = (~has_effect & ~aliased).any(axis=0)
    explained = of_product.sum(axis=0)
    return np.divide(explained, left, out=np.full_like(left, np.inf), where=left > 0), uncertain


#: Share of the variance of scores that is left within cells, at least.
_LEAST_WITHIN = 0.25

#: Standard deviations that rounding of scores may be beyond its expectation.
_SLACK = 8.0

#: What rounding of gains may take, in bits.
_ROUNDING = 1e-6


def number_bars(
    max_p: float,
    *,
    n_samples: int,
    max_df: int,
    n_cells: float,
    lost_share: float,
    pseudocount: float,
    omitted_squares: float = 0.0,
) -> FloatArray:
    """Return the least gain of every member, by degrees of freedom, (max_df + 1,).

    Cells of few samples are no part of a test, so that it may have one degree of freedom only, whatever engines count:
    the bar is that of one degree of freedom for all. More degrees of freedom need more.

    - `max_p`: tuples with p-values up to this must pass.
    - `max_df`: the most degrees of freedom that a tuple can have.
    - `n_cells`: the most cells that a tuple can have.
    - `lost_share`: 1 − r² of scores and integers.
    - `pseudocount`: of engines: they add this share of the mean square of scores to RSS.
    - `omitted_squares`: squares of the scores, at most, of samples that tests leave out and engines do not.

    Examples
    --------
    >>> bars = dict(n_samples=1000, max_df=2, n_cells=4, pseudocount=1e-6)
    >>> number_bars(1e-6, lost_share=0.0, **bars).round(2).tolist()
    [17.29, 17.29, 17.29]
    >>> number_bars(1e-6, lost_share=0.001, **bars).round(2).tolist()
    [12.68, 12.68, 12.68]
    """
    if max_p >= 1:
        return np.full(max_df + 1, -1.0)
    df_residual = n_samples - 1  # of more cells, the bar is higher
    root_f = _t_quantile(max_p, df_residual)
    effect = max(root_f - _rounding_of_effect(lost_share, 1), 0.0) ** 2 / df_residual
    larger = _larger_rest(lost_share, n_samples, min(n_cells, n_samples))
    larger += (pseudocount + omitted_squares) / (_LEAST_WITHIN * n_samples)
    return np.full(max_df + 1, n_samples / 2 * np.log2(1 + effect / larger) - _ROUNDING)


def most_f(
    squares: FloatArray,
    df: IntArray,
    rss: FloatArray,
    moments: CellMoments,
    lost_share: float,
    *,
    n_fitted: int | None = None,
) -> FTest:
    """Return the F tests that scores can have, at most, where those of their integers are known.

    - `squares`, `df`: of the hypothesis, of integers, (n_tuples,).
    - `rss`: squares that the cells leave, of integers, or less.
    - `moments`: samples of the cells.
    - `lost_share`: 1 − r² of scores and integers.
    - `n_fitted`: columns of the model, at least; as many as cells if not given.
    """
    n, n_cells = moments.n_samples, moments.n_cells
    df_residual = np.maximum(n - (n_cells if n_fitted is None else n_fitted), 0)
    ratio = np.divide(squares, rss, out=np.full(len(squares), np.inf), where=rss > 0)
    root = np.sqrt(ratio * _larger_rest(lost_share, np.maximum(n, 1), n_cells) * df_residual)
    root += _rounding_of_effect(lost_share, df)
    f = root**2 / df
    return FTest(f, df, df_residual, np.where(np.isfinite(f), f_log_p(np.minimum(f, 1e300), df, df_residual), -np.inf))


def _rounding_of_effect(lost_share: float, df: Any) -> Any:
    """Return by how much the root of F · df of scores may be beyond that of integers."""
    return np.sqrt(lost_share / _LEAST_WITHIN) * (np.sqrt(df) + _SLACK)


def _larger_rest(lost_share: float, n_samples: Any, n_cells: Any) -> Any:
    """Return by how much RSS(T) of integers may be larger than that of scores: 2⟨P t, P e⟩, P onto the cells."""
    explained = np.sqrt((1 - _LEAST_WITHIN) / _LEAST_WITHIN)
    rounding = np.sqrt(lost_share / _LEAST_WITHIN)
    return 1 + 2 * explained * rounding * (np.sqrt(n_cells) + _SLACK) / np.sqrt(n_samples)


def _t_quantile(max_p: float, df: int) -> float:
    """Return t with P(|T| > t) = `max_p`."""
    from scipy.special import stdtrit

    return float(-stdtrit(df, max_p / 2))
