"""Cells of samples and an outcome of numbers → tests of tuples of one shape.

Moments of cells + dosages of levels → the test of one product: one degree of freedom in each stratum.

The model has the products of the members' dosages of all proper subsets, the constant among them; for pairs it is
linear in both members. The hypothesis adds the product of all dosages. Dosages are functions of cells, so that moments
are enough: RSS = squares within cells + Σ n (mean − fit)². Centring changes no test and no coefficient of the product.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, in_unit
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL
from interplay.infer.interaction.effect import Effect, LargestResidual, no_effects
from interplay.infer.interaction.tuple_tests import MAX_EXPLAINING, METHODS, SPARSE, TupleTests
from interplay.infer.number_interaction.cell_moments import CellMoments, ScoredNumbers, cell_moments
from interplay.infer.number_interaction.effect import (
    difference_of_differences,
    effect_in_cell,
    interval,
    is_two_level,
    johansen_log_p,
    largest_residual,
    robust_test,
)
from interplay.infer.number_interaction.f_test import FTest, f_log_p_below, f_test, f_test_of


def first_test(
    cells: npt.NDArray[np.integer],
    scores: FloatArray,
    levels: tuple[int, ...],
    *,
    n_strata: int = 1,
    dosages: FloatArray | None = None,
    fewest: int = FEWEST_IN_CELL,
) -> FTest:
    """Return the F tests of tuples alone; arguments as in `number_tests`."""
    moments = cell_moments(cells, scores, levels, n_strata=n_strata, by_cell=False)
    return f_test(moments, fewest=fewest) if dosages is None else dosage_test(moments, dosages).f


def log_p_below(
    cells: npt.NDArray[np.integer],
    scores: FloatArray,
    levels: tuple[int, ...],
    log_p: float,
    *,
    n_strata: int = 1,
    dosages: FloatArray | None = None,
    fewest: int = FEWEST_IN_CELL,
) -> FloatArray:
    """Return ln p of tuples, as a search needs them: 0 where it is more than `log_p` anyway."""
    moments = cell_moments(cells, scores, levels, n_strata=n_strata, by_cell=False)
    if dosages is not None:
        return dosage_test(moments, dosages).f.log_p
    return f_log_p_below(moments, log_p, fewest=fewest)


def number_tests(
    cells: npt.NDArray[np.integer],
    numbers: ScoredNumbers,
    tuples: IntArray,
    levels: tuple[int, ...],
    *,
    n_strata: int = 1,
    dosages: FloatArray | None = None,
) -> TupleTests:
    """Test tuples of one shape; p-values are those of one discretisation, not adjusted.

    - `cells` (n, n_samples) int: as in `cell_moments`.
    - `tuples` (n, k): numbers of the members.
    - `dosages` (n, k, most levels): what the levels stand for: then products are tested, as in `dosage_test`.
    """
    n, k = tuples.shape
    fewest = numbers.fewest
    moments = cell_moments(cells, numbers.scores, levels, n_strata=n_strata)
    values, unit = in_unit(numbers.values)
    in_units = cell_moments(cells, values, levels, n_strata=n_strata) if np.isfinite(values).all() else None
    residual = LargestResidual(np.full(n, np.nan), np.full(n, -1), np.full((n, k), -1))
    in_cell = no_effects(n)
    if dosages is None:
        tests, robust_log_p = f_test(moments, fewest=fewest), robust_test(moments, fewest=fewest).log_p
        effect = no_effects(n) if in_units is None else difference_of_differences(in_units, fewest=fewest)
        if not is_two_level(levels):
            residual = largest_residual(moments, fewest=fewest)
            in_cell = no_effects(n) if in_units is None else effect_in_cell(in_units, residual, fewest=fewest)
    else:
        of_scores = dosage_test(moments, dosages)
        tests, robust_log_p = of_scores.f, of_scores.robust_log_p
        effect = no_effects(n) if in_units is None else dosage_test(in_units, dosages).effect
    other_log_p = np.full(n, np.nan)
    if numbers.other is not None:
        other_log_p = first_test(cells, numbers.other, levels, n_strata=n_strata, dosages=dosages, fewest=fewest).log_p
    is_tested = tests.df > 0
    spread = float(values.std(ddof=1)) if in_units is not None and len(values) > 1 else np.nan
    gain, alone, df_alone = number_gains(moments)
    return TupleTests(
        kind="numbers",
        tuples=np.asarray(tuples, dtype=np.int64),
        discretization=np.zeros(n, dtype=np.int64),
        n_samples=moments.n_samples,
        df=tests.df,
        log_p=tests.log_p,
        p_adjusted=np.full(n, np.nan),
        method=np.where(is_tested, METHODS.index("f"), METHODS.index(SPARSE)),
        residual=residual.value,
        residual_cell=residual.cell,
        residual_stratum=residual.stratum,
        cell_effect=in_cell.estimate * unit,
        cell_low=in_cell.low * unit,
        cell_high=in_cell.high * unit,
        gain=gain,
        gain_alone=alone,
        df_alone=df_alone,
        smooth_log_p=np.full(len(tuples), np.nan),
        smooth_adjusted=np.full(len(tuples), np.nan),
        beside_log_p=np.full(len(tuples), np.nan),
        beside_adjusted=np.full(len(tuples), np.nan),
        explained_by=np.full((len(tuples), MAX_EXPLAINING), -1),
        statistic=tests.f,
        df_residual=tests.df_residual,
        robust_log_p=np.where(is_tested, robust_log_p, np.nan),
        other_log_p=np.where(is_tested, other_log_p, np.nan),
        robust_adjusted=np.full(n, np.nan),
        other_adjusted=np.full(n, np.nan),
        estimate=effect.estimate * unit,
        ci_low=effect.low * unit,
        ci_high=effect.high * unit,
        estimate_sd=effect.estimate / spread,
        estimate_alone=np.full((n, k), np.nan) if in_units is None else _effects_alone(in_units) * unit,
    )


def _effects_alone(moments: CellMoments) -> FloatArray:
    """Return the difference of means between the levels of each member of two, (n_tuples, k); strata by their sizes."""
    k = len(moments.levels)
    found = np.full((len(moments.n), k), np.nan)
    for member in range(k):
        if moments.levels[member] != 2:
            continue
        others = tuple(2 + i for i in range(k) if i != member)
        n, total = moments.n.sum(axis=others), moments.total.sum(axis=others)
        both = (n > 0).all(axis=2)
        # Inverse variances of the difference, but for a common factor.
        weight = np.where(both, n.prod(axis=2) / np.maximum(n.sum(axis=2), 1), 0.0)
        mean = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
        summed = weight.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[:, member] = (weight * (mean[:, :, 1] - mean[:, :, 0])).sum(axis=1) / summed
    return found


def number_gains(moments: CellMoments) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the gain of every member in the tuple and by itself, bits × samples, and the latter's df: (n, k) each.

    Examples
    --------
    >>> from interplay.infer.number_interaction.cell_moments import cell_moments
    >>> gain, alone, df = number_gains(cell_moments(np.array([[0, 0, 1, 1, 2, 2, 3, 3]]), np.arange(8.0), (2, 2)))
    >>> alone.round(3).tolist(), df.tolist()
    ([[8.282, 1.219]], [[1, 1]])
    """
    n_tuples, k = len(moments.n), len(moments.levels)
    rss = moments.rss
    between = _between(moments.n, moments.total)
    # Squares that are 0 but for rounding.
    least = np.maximum((rss + between - _between_of(moments, ())) * 1e-12, np.finfo(float).tiny)
    bits = moments.n_samples / 2

    def of(ratio_of: FloatArray, to: FloatArray) -> FloatArray:
        return np.asarray(bits * np.log2(np.maximum(ratio_of, least) / np.maximum(to, least)))

    total = rss + between
    gain, alone, df = (np.zeros((n_tuples, k)) for _ in range(3))
    for member in range(k):
        others = tuple(i for i in range(k) if i != member)
        gain[:, member] = of(total - _between_of(moments, others), rss)
        alone[:, member] = of(total - _between_of(moments, ()), total - _between_of(moments, (member,)))
        n = _margin(moments.n, (member,))
        df[:, member] = np.maximum((n > 0).sum(axis=2) - 1, 0).sum(axis=1)
    return np.maximum(gain, 0.0), np.maximum(alone, 0.0), df.astype(np.int64)


def _margin(numbers: FloatArray, members: tuple[int, ...]) -> FloatArray:
    axes = tuple(2 + i for i in range(numbers.ndim - 2) if i not in members)
    return np.asarray(numbers.sum(axis=axes))


def _between_of(moments: CellMoments, members: tuple[int, ...]) -> FloatArray:
    return _between(_margin(moments.n, members), _margin(moments.total, members))


def _between(n: FloatArray, total: FloatArray) -> FloatArray:
    """Return Σ (Σz)²/n over cells, (n_tuples,)."""
    squares = np.divide(total**2, n, out=np.zeros_like(total), where=n > 0)
    return np.asarray(squares.reshape(len(n), -1).sum(axis=1))


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

    - `moments`: with the squares within each cell where the effect and the robust test are read, else their sum will
      do.
    - `dosages` (n_tuples, k, most levels): the number that each level of each member stands for; entries beyond a
      member's levels are not used.

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
