"""Dosages of many variables → the tests of the products of all pairs of them, by products of matrices.

What `dosage_test` makes of the cells of one pair, here from sums over samples of products of powers of the dosages:
each sum is an entry of a matrix product. It is meant for a search: pairs near a bar are tested by their cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray

#: Pairs whose members explain each other up to this share are left to the exact test.
_COLLINEAR = 1e-7


class DosageBlock(NamedTuple):
    """Dosages of some variables, centred, 0 where they are missing, and where they are known: (n_vars, n_samples).

    `known` is 1 or 0, or None where all are known: then most sums are those of one variable.
    """

    dosages: FloatArray
    known: FloatArray | None = None

    def of_samples(self, samples: BoolArray | slice) -> DosageBlock:
        """Keep some of the samples."""
        return DosageBlock(self.dosages[:, samples], None if self.known is None else self.known[:, samples])


def product_ratios(
    first: DosageBlock, second: DosageBlock, scores: FloatArray, strata: IntArray | None = None
) -> tuple[FloatArray, BoolArray]:
    """Return squares of the product over the squares left, for each pair of a variable of `first` and one of `second`.

    Parameters
    ----------
    first, second : DosageBlock
    scores : (n_samples,) float64
    strata : (n_samples,) int64, optional
        All coefficients differ between strata; squares are summed.

    Returns
    -------
    ratio : (n_first, n_second) float64
        F times df over df_residual.
    uncertain : (n_first, n_second) bool
        Pairs with members that are nearly collinear, or constant, in a stratum: their ratio does not count.
    """
    inside = [slice(None)] if strata is None else [strata == s for s in range(int(strata.max()) + 1)]
    shape = (len(first.dosages), len(second.dosages))
    squares, rest, uncertain = np.zeros(shape), np.zeros(shape), np.zeros(shape, dtype=np.bool_)
    for samples in inside:
        z = scores[samples] - scores[samples].mean()
        of_product, left, unknown = _in_stratum(first.of_samples(samples), second.of_samples(samples), z)
        squares += of_product
        rest += left
        uncertain |= unknown
    return np.divide(squares, rest, out=np.full(shape, np.inf), where=rest > 0), uncertain


def _in_stratum(first: DosageBlock, second: DosageBlock, z: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the squares of the product, those left, and which pairs are uncertain."""
    a, b = first.dosages, second.dosages
    aa, bb, az, sum_p = a * a, b * b, a * z, a @ b.T
    if first.known is None and second.known is None:
        # Sums of one variable are columns, or rows.
        n = np.full((1, 1), float(len(z)))
        sum_a, sum_aa, sum_az = (x.sum(axis=1)[:, np.newaxis] for x in (a, aa, az))
        sum_b, sum_bb, sum_bz = (x.sum(axis=1)[np.newaxis] for x in (b, bb, b * z))
        sum_z, sum_zz = np.full((1, 1), z.sum()), np.full((1, 1), z @ z)
    else:
        m, k = (np.ones(one.dosages.shape) if one.known is None else one.known for one in (first, second))
        n = np.maximum(m @ k.T, 1.0)
        sum_a, sum_aa, sum_az = (x @ k.T for x in (a, aa, az))
        sum_b, sum_bb, sum_bz = (m @ x.T for x in (b, bb, b * z))
        sum_z, sum_zz = (m * z) @ k.T, (m * z**2) @ k.T
    s_aa, s_bb, s_zz = sum_aa - sum_a**2 / n, sum_bb - sum_b**2 / n, sum_zz - sum_z**2 / n
    s_ab = sum_p - sum_a * sum_b / n
    s_ap = aa @ b.T - sum_a * sum_p / n
    s_bp = a @ bb.T - sum_b * sum_p / n
    s_pp = aa @ bb.T - sum_p**2 / n
    s_az, s_bz = sum_az - sum_a * sum_z / n, sum_bz - sum_b * sum_z / n
    s_pz = az @ b.T - sum_p * sum_z / n
    determinant = s_aa * s_bb - s_ab**2
    known = determinant > _COLLINEAR * np.maximum(s_aa * s_bb, np.finfo(float).tiny)
    safe = np.where(known, determinant, 1.0)
    # The product, and the scores, less what both members explain.
    by_a, by_b = (s_ap * s_bb - s_bp * s_ab) / safe, (s_bp * s_aa - s_ap * s_ab) / safe
    of_p = s_pp - by_a * s_ap - by_b * s_bp
    of_z = s_zz - ((s_az * s_bb - s_bz * s_ab) * s_az + (s_bz * s_aa - s_az * s_ab) * s_bz) / safe
    along = s_pz - by_a * s_az - by_b * s_bz
    known &= of_p > _COLLINEAR * np.maximum(s_pp, np.finfo(float).tiny)
    squares = np.divide(along**2, of_p, out=np.zeros_like(of_p), where=known)
    return squares, np.maximum(of_z - squares, 0.0), ~known
