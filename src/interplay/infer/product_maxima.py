"""Rank scores + class residuals → the strongest product of each variable with another.

Of a pair, T = Σ u·z_i·z_j, where z are rank scores and u is the residual of a class indicator after a regression on
strong variables. T is the part of an interaction that rises, or falls, with both variables; cells of two levels miss it
where an effect has no step. Under chance T is a linear permutation statistic of z_i, with the scores u·z_j. Its square
over its variance is χ² with one degree of freedom for each class but one. All pairs are computed, by matrix products.

Scores and residuals are rounded to integers, whose products are summed up exactly: the result does not depend on blocks
and threads. `number_products` has the products of a number outcome.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.files.types import Check

#: Rank scores are rounded to this many steps either side of 0, residuals to that many: sums stay far below 2**53.
_SCORE_STEPS, RESIDUAL_STEPS = 15, 1 << 15

#: Where more than about 0.58 of the samples have the same value, products of rare values with a rare class are far from
#: normal, and unlike those of other columns: these columns take no part. The variance of ranks without ties is 1/3.
_MIN_VARIANCE = 0.8 / 3

#: Rows of the matrix of all pairs, and samples, that are in memory at once as numbers of eight bytes.
ROWS_AT_ONCE, SAMPLES_AT_ONCE = 256, 1 << 14

#: Upper limit of the multiplications: with more, the test would take longer than the search of all pairs, and is left
#: out. 1900 variables with 1000 contrast variables and 2000 samples are near it.
MAX_MULTIPLICATIONS = 12 * 10**9

IntScores = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class ProductMaxima:
    """The largest statistic of each variable over all partners, on the scale of χ².

    Attributes
    ----------
    statistic : (n_vars + n_contrast,) float64
        Of a number outcome, (n_vars,). NaN where a variable has no scores, or too many equal ones.
    partner : (n_vars,) int64
        −1 where there is none.
    df : int
        Degrees of freedom.
    log_p : (n_vars,) float64, optional
        Natural logarithms of p-values of a number outcome, for all partners; NaN where there is no statistic.
    """

    statistic: Annotated[FloatArray, Check("n_products")]
    partner: Annotated[IntArray, Check("n_vars", low=-1, below="n_vars")]
    df: Annotated[int, Check(low=1)]
    log_p: Annotated[FloatArray | None, Check("n_vars", high=0, nan=True)] = None

    def is_consistent(self) -> bool:
        """Say whether there is a statistic of every variable: a file may say anything."""
        return len(self.statistic) >= len(self.partner)


def is_small_enough(n_vars: int, n_contrast: int, n_samples: int) -> bool:
    """Say whether all pairs of a table are looked at."""
    return n_vars > 1 and n_samples * (n_vars + n_contrast) * n_vars <= MAX_MULTIPLICATIONS


def int_scores(scores: FloatArray) -> IntScores:
    """Round rank scores, from −1 to 1, to few integers; those of columns without scores, or of many ties, are all 0."""
    known = np.nan_to_num(scores, nan=0.0)
    kept = is_varied(known)
    rounded: IntScores = np.rint(_SCORE_STEPS * np.where(kept[:, np.newaxis], known, 0.0)).astype(np.int8)
    return rounded


def is_varied(ranks: FloatArray) -> BoolArray:
    """Say which rows of rank scores have few enough equal ones."""
    return np.asarray(np.nan_to_num(ranks, nan=0.0).var(axis=1) >= _MIN_VARIANCE)


def product_maxima(
    scores: IntScores, residuals: FloatArray, *, n_vars: int, n_fitted: int, n_threads: int
) -> ProductMaxima:
    """Look at all pairs of a variable with a real one.

    Parameters
    ----------
    scores : (n_vars + n_contrast, n_samples) int8
        As `int_scores` gives them.
    residuals : (n_targets, n_samples) float64
        Of the second of two classes, or of each of several.
    n_fitted : int
        Degrees of freedom that the strong variables take.
    """
    n_rows, n_samples = scores.shape
    targets = np.rint(RESIDUAL_STEPS * residuals / max(float(np.abs(residuals).max()), 1e-300))
    # With several classes, the sum over them has one degree of freedom less than classes: Kruskal and Wallis.
    shares = np.ones(1) if len(targets) == 1 else 1 - (targets**2).sum(axis=1) / (targets**2).sum()
    if len(targets) > 1:
        shares *= (len(targets) - 1) / shares.sum()
    parts = [slice(start, start + SAMPLES_AT_ONCE) for start in range(0, n_samples, SAMPLES_AT_ONCE)]

    def weighted(target: FloatArray, part: slice) -> FloatArray:
        return np.asarray(target[part] * scores[:n_vars, part])

    sums, variances = _sums_and_variances((scores[:, part].astype(np.float64) for part in parts), n_samples)
    of_partners = [_sums_and_variances((weighted(target, part) for part in parts), n_samples) for target in targets]
    freedom = max(n_samples - 1 - n_fitted, 1)

    def best_of(block: slice) -> tuple[FloatArray, IntArray]:
        here = np.arange(n_rows)[block]
        total = np.zeros((len(here), n_vars))
        for share, target, (sums_of_each, variances_of_each) in zip(shares, targets, of_partners, strict=True):
            product = np.zeros_like(total)
            for part in parts:
                product += scores[block, part].astype(np.float64) @ weighted(target, part).T
            product -= np.outer(sums[block], sums_of_each) / n_samples
            variance = np.outer(variances[block], variances_of_each)
            total += share * freedom * np.divide(product**2, variance, out=np.zeros_like(product), where=variance > 0)
        real = np.flatnonzero(here < n_vars)
        total[real, here[real]] = -1.0  # a variable is no partner of its own
        return total.max(axis=1), total.argmax(axis=1)

    blocks = [slice(start, min(start + ROWS_AT_ONCE, n_rows)) for start in range(0, n_rows, ROWS_AT_ONCE)]
    with one_blas_thread():
        found = map_in_threads(best_of, blocks, n_threads)
    statistic = np.concatenate([best for best, _ in found])
    partner = np.concatenate([place for _, place in found])[:n_vars]
    has_scores = variances > 0
    return ProductMaxima(
        statistic=np.where(has_scores, statistic, np.nan),
        partner=np.where(has_scores[:n_vars], partner, -1),
        df=max(len(targets) - 1, 1),
    )


def _sums_and_variances(parts: Iterable[FloatArray], n_samples: int) -> tuple[FloatArray, FloatArray]:
    """Return Σx and Σ(x − mean)² of each row, whose samples come in parts."""
    sums, squares = zip(*(((part.sum(axis=1)), (part**2).sum(axis=1)) for part in parts), strict=True)
    total = np.sum(sums, axis=0)
    return total, np.asarray(np.sum(squares, axis=0) - total**2 / n_samples)
