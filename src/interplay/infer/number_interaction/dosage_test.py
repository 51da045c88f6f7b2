"""Moments of cells + dosages of levels → the test of one product: one degree of freedom in each stratum.

The model has the products of the members' dosages of all proper subsets, the constant among them; for pairs it is
linear in both members. The hypothesis adds the product of all dosages. Dosages are functions of cells, so that moments
are enough: RSS = squares within cells + Σ n (mean − fit)². Centring changes no test and no coefficient of the product.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.infer.number_interaction.cell_moments import CellMoments
from interplay.infer.number_interaction.effect import Effect, interval
from interplay.infer.number_interaction.f_test import FTest, f_test_of
from interplay.infer.number_interaction.robust_test import johansen_log_p

#: A product that other products explain up to this share has no coefficient of its own.
_ALIASED = 1e-9

#: Leverages nearer to 1 than this leave a sample no residual.
_FULL_LEVERAGE = 1e-9


class DosageTest(NamedTuple):
    """Tests of products: `f` as in `f_test`; `effect` (n_tuples,), coefficients; `robust_log_p` (n_tuples,), of HC3."""

    f: FTest
    effect: Effect
    robust_log_p: FloatArray


def dosage_test(moments: CellMoments, dosages: FloatArray, *, confidence: float = 0.95) -> DosageTest:
    """Test the products of the members' dosages.

    Parameters
    ----------
    moments : CellMoments
        With the squares within each cell where the effect and the robust test are read, else their sum will do.
    dosages : (n_tuples, k, most levels) float64
        The number that each level of each member stands for; entries beyond a member's levels are not used.

    Examples
    --------
    >>> from interplay.infer.number_interaction.cell_moments import cell_moments
    >>> cells, y = np.repeat([[0, 1, 2, 3]], 5, axis=1), np.arange(20.0) % 5 + np.repeat([0, 1, 1, 5], 5)
    >>> tests = dosage_test(cell_moments(cells, y, (2, 2)), np.array([[[0.0, 1.0], [0.0, 1.0]]]))
    >>> tests.f.f.round(6).tolist(), tests.effect.estimate.round(6).tolist()
    ([4.5], [3.0])
    """
    n_tuples, n_strata = moments.n.shape[:2]
    n_cells = int(np.prod(moments.levels))
    n = moments.n.reshape(n_tuples, n_strata, n_cells)
    mean = moments.mean.reshape(n.shape)
    others, product = _products(moments, dosages)
    weighted = np.sqrt(n)[..., np.newaxis]
    design = weighted * others[:, np.newaxis]
    basis, sizes, _ = np.linalg.svd(design, full_matrices=False)
    largest = sizes.max(axis=-1, keepdims=True, initial=0.0)
    inside = (sizes > _ALIASED * np.maximum(largest, np.finfo(float).tiny)) & (largest > 0)
    basis = basis * inside[..., np.newaxis, :]
    rank = inside.sum(axis=-1)

    def beyond(column: FloatArray) -> FloatArray:
        fitted = np.matmul(basis, np.matmul(np.swapaxes(basis, -1, -2), column[..., np.newaxis]))
        return np.asarray(column - fitted[..., 0])

    of_product = np.sqrt(n) * product[:, np.newaxis]
    rest = beyond(of_product)
    left = (rest**2).sum(axis=-1)
    known = left > _ALIASED * (of_product**2).sum(axis=-1)
    of_mean = beyond(np.sqrt(n) * mean)
    slope = np.divide((rest * of_mean).sum(axis=-1), left, out=np.zeros_like(left), where=known)
    squares = slope**2 * left
    rss = np.maximum(moments.rss + ((of_mean**2).sum(axis=-1) - squares).sum(axis=1), 0.0)
    df_residual = moments.n_samples - (rank + known).sum(axis=1)
    f = f_test_of(squares.sum(axis=1), known.sum(axis=1), rss, df_residual)
    if moments.within.ndim == 1:
        unknown = np.full(n_tuples, np.nan)
        return DosageTest(f, Effect(unknown, unknown, unknown), unknown)
    # HC3: squared residuals over (1 − leverage)², which all samples of a cell share.
    residual = of_mean - slope[..., np.newaxis] * rest
    in_cell = moments.within.reshape(n.shape) + residual**2
    of_rest = np.divide(rest**2, left[..., np.newaxis], out=np.zeros_like(rest), where=known[..., np.newaxis])
    leverage = np.divide((basis**2).sum(axis=-1) + of_rest, n, out=np.zeros_like(n), where=n > 0)
    free = 1 - leverage > _FULL_LEVERAGE
    pooled = (rss / np.maximum(df_residual, 1))[:, np.newaxis, np.newaxis] * n
    in_cell = np.where(free, in_cell / np.where(free, 1 - leverage, 1.0) ** 2, pooled)
    each = np.divide(rest**2, n, out=np.zeros_like(rest), where=n > 0) * in_cell
    variance = np.divide(each.sum(axis=-1), left**2, out=np.full_like(left, np.inf), where=known & (left > 0))
    weight = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
    total = weight.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate, error = (weight * slope).sum(axis=1) / total, 1 / np.sqrt(total)
    effect = interval(estimate, error, df_residual.astype(np.float64), confidence)
    wald = (slope**2 * weight).sum(axis=1)
    a = known.sum(axis=1) / np.maximum(df_residual, 1)
    return DosageTest(f, effect, johansen_log_p(wald, known.sum(axis=1).astype(np.float64), a))


def _products(moments: CellMoments, dosages: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return products of centred dosages in cells: of proper subsets, (n_tuples, cells, 2^k − 1), and of all members.

    Centred and scaled by each tuple's samples, except for the product of all: its coefficient is that of the dosages.
    """
    n_tuples, levels = len(moments.n), moments.levels
    k = len(levels)
    n = moments.n.sum(axis=1)
    of_member = []
    for member, c in enumerate(levels):
        margin = n.sum(axis=tuple(1 + other for other in range(k) if other != member))
        x = dosages[:, member, :c]
        centre = (margin * x).sum(axis=1) / np.maximum(margin.sum(axis=1), 1)
        shape = [1] * k
        shape[member] = c
        of_member.append((x - centre[:, np.newaxis]).reshape(n_tuples, *shape))
    scale = [np.maximum(np.abs(x).reshape(n_tuples, -1).max(axis=1), np.finfo(float).tiny) for x in of_member]
    columns = []
    for size in range(k):
        for members in combinations(range(k), size):
            column = np.ones((n_tuples, *levels))
            for member in members:
                column = column * (of_member[member] / scale[member].reshape(-1, *(1,) * k))
            columns.append(column.reshape(n_tuples, -1))
    product = np.ones((n_tuples, *levels))
    for x in of_member:
        product = product * x
    return np.stack(columns, axis=2), product.reshape(n_tuples, -1)
