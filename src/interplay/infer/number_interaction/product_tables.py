"""Samples and sums of scores in the levels of variables, or in cells of pairs → curvatures; tests of products.

What `dosage_test` makes of one pair, for a search: many pairs at a time, of integer scores. Tables have their cells
first and the variables or pairs last, so that each step is one operation on all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray

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

    Parameters
    ----------
    cells : CellSums
        Of one member.
    dosages : (levels, n) float64
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

    Parameters
    ----------
    cells : CellSums
        Of two members.
    first, second : (levels, n) float64
        Dosages of the members.
    squares : (n,) float64
        Of the scores of the samples in the cells, or less: ratios then are larger.

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
