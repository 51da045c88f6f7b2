"""Rank scores + class residuals → the strongest product of each variable with another.

Of a pair, T = Σ u·z_i·z_j, where z are rank scores and u is the residual of a class indicator after a regression on
strong variables. T is the part of an interaction that rises, or falls, with both variables; cells of two levels miss it
where an effect has no step. Under chance T is a linear permutation statistic of z_i, with the scores u·z_j. Its square
over its variance is χ² with one degree of freedom for each class but one. All pairs are computed, by matrix products.

Scores and residuals are rounded to integers, whose products are summed up exactly: the result does not depend on blocks
and threads. `number_products` has the products of a number outcome.

Normal scores + residuals of a number outcome → the strongest product of each variable with another, and its p-value.

Of a pair, r is the correlation of u, the residual of the outcome's scores, with the product w = z_i·z_j. Under chance
u is exchangeable, so that r has the tail of a correlation, and the best of m partners has p = 1 − (1 − p_r)^m: no
contrast variables are needed. Two things would make r larger by chance:

- The outcome varies more where z_j is far from 0, because of another effect of j. Where u²·z_j² is clearly larger than
  it would be by chance, r² is divided by that factor. For the strongest product of j, that of u without this product
  counts.
- Outliers of u. Then r is that of z_i with u·z_j, which holds for any u, because z_i has no outliers.

All sums are of integers and exact, so that the result does not depend on blocks and threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.files.types import Check
from interplay.infer.score_test import two_sided_log_p

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
    """The largest statistic of each variable over all partners, on the scale of χ²."""

    #: (n_vars + n_contrast,): of a number outcome, (n_vars,). NaN where a variable has no scores, or too many equal
    #: ones.
    statistic: Annotated[FloatArray, Check("n_products")]
    #: (n_vars,): −1 where there is none.
    partner: Annotated[IntArray, Check("n_vars", low=-1, below="n_vars")]
    #: Degrees of freedom.
    df: Annotated[int, Check(low=1)]
    #: (n_vars,): natural logarithms of p-values of a number outcome, for all partners; NaN where there is no statistic.
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

    - `scores` (n_vars + n_contrast, n_samples): as `int_scores` gives them.
    - `residuals` (n_targets, n_samples): of the second of two classes, or of each of several.
    - `n_fitted`: degrees of freedom that the strong variables take.
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

    # Variances of 0 are those of products that say nothing.
    factors = np.divide(freedom, variances, out=np.zeros(n_rows), where=variances > 0)
    of_each = [
        np.divide(share, v, out=np.zeros(n_vars), where=v > 0)
        for share, (_, v) in zip(shares, of_partners, strict=True)
    ]

    def best_of(block: slice) -> tuple[FloatArray, IntArray]:
        here = np.arange(n_rows)[block]
        best, partner = np.full(len(here), -np.inf), np.zeros(len(here), dtype=np.int64)
        first_part = scores[block, parts[0]].astype(np.float64)
        # Tiles of a few partners stay in the cache, and are changed in place.
        for first in range(0, n_vars, ROWS_AT_ONCE):
            some = slice(first, min(first + ROWS_AT_ONCE, n_vars))
            total = np.zeros((len(here), some.stop - first))
            for target, (sums_of_each, _), factor in zip(targets, of_partners, of_each, strict=True):
                product = np.zeros_like(total)
                for part in parts:
                    of_rows = first_part if len(parts) == 1 else scores[block, part].astype(np.float64)
                    product += of_rows @ (target[part] * scores[some, part]).T
                product -= np.outer(sums[block] / n_samples, sums_of_each[some])
                product *= product
                product *= factor[some]
                total += product
            total *= factors[block, np.newaxis]
            own = np.flatnonzero((here >= first) & (here < some.stop))
            total[own, here[own] - first] = -1.0  # a variable is no partner of its own
            places = total.argmax(axis=1)
            values = total[np.arange(len(here)), places]
            larger = values > best  # the lowest of equal partners stays
            best[larger], partner[larger] = values[larger], places[larger] + first
        return best, partner

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


#: The largest normal score is rounded to this.
_NORMAL_STEPS = 127

#: Residuals of a larger kurtosis (3 if normal) have outliers.
_MAX_KURTOSIS = 3.5

#: The outcome is taken to vary with a variable from this many standard errors on.
_CLEARLY = 2.0


def int_normal_scores(scores: FloatArray, ranks: FloatArray) -> IntScores:
    """Round normal scores, (n_rows, n_samples), to integers; those of columns with many equal ranks are 0."""
    largest = max(float(np.abs(scores).max(initial=0.0)), 1e-300)
    kept = np.where(is_varied(ranks)[:, np.newaxis], scores, 0.0)
    rounded: IntScores = np.rint(_NORMAL_STEPS / largest * kept).astype(np.int8)
    return rounded


def number_products(scores: IntScores, residual: FloatArray, *, n_fitted: int, n_threads: int) -> ProductMaxima:
    """Look at all pairs of variables.

    - `scores` (n_vars, n_samples): as `int_normal_scores` gives them.
    - `residual` (n_samples,): of the outcome's scores, centred.
    - `n_fitted`: degrees of freedom that strong variables take.
    """
    n_vars, n_samples = scores.shape
    kurtosis = n_samples * float((residual**4).sum()) / max(float((residual**2).sum()) ** 2, 1e-300)
    if kurtosis > _MAX_KURTOSIS:
        found = product_maxima(scores, residual[np.newaxis], n_vars=n_vars, n_fitted=n_fitted, n_threads=n_threads)
    else:
        found = _Pairs(scores, residual, n_fitted=n_fitted, n_threads=n_threads).maxima()
    return _with_p(found, n_samples=n_samples, n_fitted=n_fitted)


class _Spreads(NamedTuple):
    """By how much u² is larger where z_j² is: of all, and without the product with the best partner of j; (n_vars,)."""

    partner: IntArray
    whole: FloatArray
    without_best: FloatArray


class _Pairs:
    """The correlations of all pairs, a tile of rows and columns at a time."""

    def __init__(self, scores: IntScores, residual: FloatArray, *, n_fitted: int, n_threads: int) -> None:
        self._scores, self._n_threads = scores, n_threads
        self._target = np.rint(RESIDUAL_STEPS * residual / max(float(np.abs(residual).max()), 1e-300))
        n_samples = scores.shape[1]
        self._parts = [slice(start, start + SAMPLES_AT_ONCE) for start in range(0, n_samples, SAMPLES_AT_ONCE)]
        self._freedom = max(n_samples - 1 - n_fitted, 1)
        self._varies = np.array([row.any() for row in scores])

    def maxima(self) -> ProductMaxima:
        """Return the strongest products."""
        with one_blas_thread():
            statistic, partner = self._best()
            spreads = self._spreads(partner)
            # Factors are 1 or more: a product that is not divided stays the largest of its variable.
            at = np.maximum(partner, 0)
            is_best = spreads.partner[at] == np.arange(len(partner))
            is_divided = (spreads.whole[at] > 1) | (is_best & (spreads.without_best[at] > 1))
            again = np.flatnonzero(is_divided & self._varies)
            statistic[again], partner[again] = self._best_divided(again, spreads)
        has_scores = self._varies & (np.count_nonzero(self._varies) > 1)
        return ProductMaxima(np.where(has_scores, statistic, np.nan), np.where(has_scores, partner, -1), df=1)

    def _best(self) -> tuple[FloatArray, IntArray]:
        """Return the largest statistic of each variable, and its partner, the lowest of equal ones."""
        n_vars = len(self._scores)
        best, partner = np.full(n_vars, -1.0), np.full(n_vars, -1, dtype=np.int64)

        def raise_to(columns: slice, values: FloatArray, places: IntArray) -> None:
            larger = values > best[columns]
            best[columns][larger], partner[columns][larger] = values[larger], places[larger]

        def best_of(tile: tuple[slice, slice]) -> list[tuple[slice, FloatArray, IntArray]]:
            rows, columns = tile
            statistic = self._statistic(rows, columns)
            found = [(columns, statistic.max(axis=0), statistic.argmax(axis=0) + rows.start)]
            if rows != columns:
                found.append((rows, statistic.max(axis=1), statistic.argmax(axis=1) + columns.start))
            return found

        # Tiles of one column of tiles after another: partners of a variable come in ascending order.
        blocks = [slice(start, min(start + ROWS_AT_ONCE, n_vars)) for start in range(0, n_vars, ROWS_AT_ONCE)]
        tiles = [(rows, columns) for place, columns in enumerate(blocks) for rows in blocks[: place + 1]]
        for found in map_in_threads(best_of, tiles, self._n_threads):
            for here, values, places in found:
                raise_to(here, values, places)
        return best, partner

    def _best_divided(self, rows: IntArray, spreads: _Spreads) -> tuple[FloatArray, IntArray]:
        """Return the largest statistics of some variables, and their partners, where those of j are divided."""

        def best_of(some: IntArray) -> tuple[FloatArray, IntArray]:
            statistic = self._statistic(some, slice(None)) / spreads.whole
            of_best, j = np.nonzero(some[:, np.newaxis] == spreads.partner)
            statistic[of_best, j] *= spreads.whole[j] / spreads.without_best[j]
            return statistic.max(axis=1), statistic.argmax(axis=1)

        blocks = [rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE)]
        found = map_in_threads(best_of, blocks, self._n_threads)
        none = [(np.empty(0), np.empty(0, dtype=np.int64))]
        best, partner = (np.concatenate(parts) for parts in zip(*(found or none), strict=True))
        return best, partner

    def _spreads(self, partner: IntArray) -> _Spreads:
        """Return the factors of each variable, by its best partner."""
        factors = np.ones((2, len(partner)))
        varied = np.flatnonzero(self._varies & (partner >= 0))
        size = max(1, SAMPLES_AT_ONCE * ROWS_AT_ONCE // (16 * max(len(self._target), 1)))
        for j in np.split(varied, range(size, len(varied), size)):
            own = self._scores[j].astype(np.float64)
            product = own * self._scores[partner[j]]
            product -= product.mean(axis=1, keepdims=True)
            length = np.array([row @ row for row in product])
            along = np.array([row @ self._target for row in product])
            slope = np.divide(along, length, out=np.zeros(len(j)), where=length > 0)
            left = self._target - slope[:, np.newaxis] * product
            factors[:, j] = [_spread(residual, own) for residual in (self._target, left)]
        return _Spreads(partner.copy(), *factors)

    def _statistic(self, rows: slice | IntArray, columns: slice) -> FloatArray:
        """Return the statistics of variables with others; −1 with itself, and of columns with many ties."""
        scores, target, n_samples = self._scores, self._target, self._scores.shape[1]
        numbers = np.arange(len(scores))
        here, there = numbers[rows], numbers[columns]
        shape = len(here), len(there)
        product, sums, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for part in self._parts:
            of_rows, others = (of[:, part].astype(np.float64) for of in (scores[rows], scores[columns]))
            product += of_rows @ (target[part] * others).T
            sums += of_rows @ others.T
            squares += (of_rows**2) @ (others**2).T
        product -= sums * (float(target.sum()) / n_samples)
        variance = (squares - sums**2 / n_samples) * float(target @ target)
        statistic = self._freedom * np.divide(product**2, variance, out=np.zeros(shape), where=variance > 0)
        statistic[here[:, np.newaxis] == there] = -1.0  # a variable is no partner of its own
        statistic[:, ~self._varies[columns]] = -1.0
        statistic[~self._varies[rows]] = -1.0
        return np.asarray(statistic)


def _spread(residual: FloatArray, scores: FloatArray) -> FloatArray:
    """Return by how much u² is larger where z² is, in shares of what it would be by chance; 1 unless clearly more.

    Of rows of scores, (n, n_samples), with residuals of each or of all.
    """
    squares, of_scores = residual**2, scores**2
    together, apart = squares * of_scores, squares.mean(axis=-1) * of_scores.mean(axis=-1)
    error = together.std(axis=-1) / np.sqrt(scores.shape[-1])
    mean = together.mean(axis=-1)
    return np.where(mean - apart > _CLEARLY * error, mean / np.where(apart > 0, apart, 1.0), 1.0)


def _with_p(maxima: ProductMaxima, *, n_samples: int, n_fitted: int) -> ProductMaxima:
    """Add p-values: of the best of all partners, each a correlation (Šidák)."""
    has_scores = ~np.isnan(maxima.statistic)
    n_partners = max(int(np.count_nonzero(has_scores)) - 1, 1)
    freedom = np.full(int(np.count_nonzero(has_scores)), float(max(n_samples - 2 - n_fitted, 1)))
    of_best = two_sided_log_p(np.sqrt(np.maximum(maxima.statistic[has_scores], 0.0)), freedom)
    log_p = np.full(len(maxima.statistic), np.nan)
    # 1 − (1 − p)^n, exact where p is tiny
    with np.errstate(divide="ignore"):
        log_none = n_partners * np.log1p(-np.minimum(np.exp(of_best), 1.0))
        log_p[has_scores] = np.where(of_best < -30, of_best + np.log(n_partners), np.log(-np.expm1(log_none)))
    return replace(maxima, log_p=np.minimum(log_p, 0.0))
