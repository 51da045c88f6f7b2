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

All pairs are first computed in single precision, whose error has a bound; exactly, only the tiles that can hold the
strongest product of a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

#: Partners of a tile that is read exactly or not, a divisor of `ROWS_AT_ONCE`; samples of a sum in single precision,
#: whose error grows with them.
_TILE, _NEAR_SAMPLES = 64, 1 << 12

#: With fewer partners, all tiles are read.
_MIN_PARTNERS = 1000

#: Half the distance of 1 and the next number in single precision.
_ROUNDING = 2.0**-24

#: Upper limit of the multiplications: with more, the test would take longer than the search of all pairs, and is left
#: out. 1900 variables with 1000 contrast variables and 2000 samples are near it.
MAX_MULTIPLICATIONS = 12 * 10**9

IntScores = npt.NDArray[np.int8]
Float32Array = npt.NDArray[np.float32]

#: A block of rows → their statistics with the partners of a tile, in single precision.
Near = Callable[[slice], Float32Array]


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

    def exactly(rows: IntArray, some: slice) -> FloatArray:
        total = np.zeros((len(rows), some.stop - some.start))
        for target, (sums_of_each, _), factor in zip(targets, of_partners, of_each, strict=True):
            product = np.zeros_like(total)
            for part in parts:
                product += scores[rows, part].astype(np.float64) @ (target[part] * scores[some, part]).T
            product -= np.outer(sums[rows] / n_samples, sums_of_each[some])
            product *= product
            product *= factor[some]
            total += product
        total *= factors[rows, np.newaxis]
        own = np.flatnonzero((rows >= some.start) & (rows < some.stop))
        total[own, rows[own] - some.start] = -1.0  # a variable is no partner of its own
        return total

    means, lengths = sums / n_samples, np.sqrt(factors)

    def nearly(columns: slice) -> tuple[Near, float]:
        """Return statistics with some partners in single precision, and by how much the root of one may be wrong.

        Residuals of all classes sum up to 0 but for their rounding: the last one follows from the others.
        """
        weights = np.array(of_each)[:, columns].T
        matrix = np.eye(len(targets))[np.newaxis] * weights[:, :, np.newaxis]
        rest = np.zeros(n_samples)
        if len(targets) > 1:
            matrix = matrix[:, :-1, :-1] + weights[:, -1:, np.newaxis]
            rest = targets.sum(axis=0)
        sizes, directions = np.linalg.eigh(matrix)
        roots = np.sqrt(np.maximum(sizes, 0.0))[:, np.newaxis] * directions  # of each partner, matrix = roots · rootsᵀ
        partners = scores[columns].astype(np.float64)
        centred = [_centred(target * partners) for target in targets[: roots.shape[1]]]
        vectors = [
            sum(roots[:, q, m, np.newaxis] * centred[q] for q in range(len(centred))) for m in range(len(centred))
        ]
        wrong = float(np.sqrt(np.max(weights[:, -1] * (_centred(rest * partners) ** 2).sum(axis=1))))
        wrong += _error(n_samples) * float(np.sqrt(np.max(sum((rows**2).sum(axis=1) for rows in vectors))))
        single = [rows.astype(np.float32) for rows in vectors]

        def near(block: slice) -> Float32Array:
            of_rows = (scores[block] - means[block, np.newaxis]) * lengths[block, np.newaxis]
            of_rows = of_rows.astype(np.float32)
            total = np.zeros((len(of_rows), len(partners)), dtype=np.float32)
            for rows in single:
                product = _single_product(of_rows, rows)
                product *= product
                total += product
            return total

        return near, float(np.sqrt(freedom)) * wrong

    with one_blas_thread():
        readable = np.flatnonzero(variances > 0)
        to_read = _to_read(nearly, n_rows, n_vars, n_threads)
        statistic, partner = _strongest(exactly, to_read, readable, n_vars, n_threads)
    partner = partner[:n_vars]
    has_scores = variances > 0
    return ProductMaxima(
        statistic=np.where(has_scores, statistic, np.nan),
        partner=np.where(has_scores[:n_vars], partner, -1),
        df=max(len(targets) - 1, 1),
    )


def _centred(rows: FloatArray) -> FloatArray:
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


def _error(n_samples: int) -> float:
    """Return by how much a product of two rows of length 1 may be wrong in single precision."""
    n_parts = -(-n_samples // _NEAR_SAMPLES)
    return (min(n_samples, _NEAR_SAMPLES) + n_parts + 6) * _ROUNDING


def _single_product(rows: Float32Array, columns: Float32Array) -> Float32Array:
    product = np.zeros((len(rows), len(columns)), dtype=np.float32)
    for start in range(0, rows.shape[1], _NEAR_SAMPLES):
        part = slice(start, start + _NEAR_SAMPLES)
        product += rows[:, part] @ columns[:, part].T
    return product


def _to_read(
    nearly: Callable[[slice], tuple[Near, float]],
    n_rows: int,
    n_vars: int,
    n_threads: int,
    *,
    share: float = 1e-5,
    is_symmetric: bool = False,
) -> BoolArray:
    """Return which tiles can hold the largest statistic of a row, (n_rows, n_tiles).

    `share` is that by which the roots of two statistics may be wrong, beside what `nearly` says of each.
    """
    if n_vars < _MIN_PARTNERS:
        return np.ones((n_rows, -(-n_vars // ROWS_AT_ONCE)), dtype=np.bool_)
    largest = np.zeros((n_rows, -(-n_vars // _TILE)), dtype=np.float32)
    blocks = _slices(n_rows, ROWS_AT_ONCE)

    def keep(values: Float32Array, here: slice, first: int) -> None:
        for start in range(0, values.shape[1], _TILE):
            tile = values[:, start : start + _TILE]
            largest[here, (first + start) // _TILE] = tile[np.arange(len(tile)), tile.argmax(axis=1)]

    def read(columns: slice) -> float:
        near, wrong = nearly(columns)
        for block in blocks:
            if is_symmetric and block.start > columns.start:
                break
            values = near(block)
            own = np.arange(max(block.start, columns.start), min(block.stop, columns.stop))
            values[own - block.start, own - columns.start] = 0.0
            keep(values, block, columns.start)
            if is_symmetric and block != columns:
                keep(values.T, columns, block.start)
        return wrong

    wrong = max(map_in_threads(read, _slices(n_vars, ROWS_AT_ONCE), n_threads))
    roots = np.sqrt(largest)
    return np.asarray(roots >= (1 - share) * roots.max(axis=1, keepdims=True) - 2 * wrong)


def _strongest(
    exactly: Callable[[IntArray, slice], FloatArray], to_read: BoolArray, rows: IntArray, n_vars: int, n_threads: int
) -> tuple[FloatArray, IntArray]:
    """Return the largest statistic of the rows in the tiles to read, and its partner, the lowest of equal ones."""
    best, partner = np.full(len(to_read), -1.0), np.full(len(to_read), -1, dtype=np.int64)
    tiles = _slices(n_vars, _TILE if n_vars >= _MIN_PARTNERS else ROWS_AT_ONCE)

    def of_tile(tile: int) -> tuple[IntArray, FloatArray, IntArray]:
        here = rows[to_read[rows, tile]]
        some = tiles[tile]
        parts = [(np.empty(0), np.empty(0, dtype=np.int64))]
        for start in range(0, len(here), ROWS_AT_ONCE):
            values = exactly(here[start : start + ROWS_AT_ONCE], some)
            parts.append((values.max(axis=1), values.argmax(axis=1) + some.start))
        of_rows, places = (np.concatenate(part) for part in zip(*parts, strict=True))
        return here, of_rows, places

    for here, values, places in map_in_threads(of_tile, range(len(tiles)), n_threads):
        larger = values > best[here]
        best[here[larger]], partner[here[larger]] = values[larger], places[larger]
    return best, partner


def _slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _sums_and_variances(parts: Iterable[FloatArray], n_samples: int) -> tuple[FloatArray, FloatArray]:
    """Return Σx and Σ(x − mean)² of each row, whose samples come in parts."""
    sums, squares = zip(*(((part.sum(axis=1)), (part**2).sum(axis=1)) for part in parts), strict=True)
    total = np.sum(sums, axis=0)
    return total, np.asarray(np.sum(squares, axis=0) - total**2 / n_samples)


#: The largest normal score is rounded to this.
_NORMAL_STEPS = 127

#: Residuals of a larger kurtosis (3 if normal) have outliers.
_MAX_KURTOSIS = 3.5

#: The variance of a product of scores, whose squares have the length 1, above which it is known in single precision.
_MIN_SPREAD = 0.05

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
        n_vars, n_samples = self._scores.shape
        share = 1e-5 + 3 * _error(n_samples) / _MIN_SPREAD
        to_read = _to_read(self._nearly, n_vars, n_vars, self._n_threads, share=share, is_symmetric=True)
        return _strongest(self._statistic, to_read, np.flatnonzero(self._varies), n_vars, self._n_threads)

    def _nearly(self, columns: slice) -> tuple[Near, float]:
        """Return statistics in single precision, and by how much the root of one may be wrong.

        Those of products that vary little are infinite: their error has no bound.
        """
        n_samples = self._scores.shape[1]
        target = self._target - self._target.mean()
        target *= np.sqrt(self._freedom) / max(float(np.sqrt(self._target @ self._target)), 1e-300)

        def scaled(rows: slice) -> FloatArray:
            """Return scores whose squares have the length 1: the mean square of a product is then at most 1."""
            known = self._scores[rows].astype(np.float64)
            squares = known**2
            length = np.sqrt(np.einsum("ij,ij->i", squares, squares))
            return np.asarray(known * np.divide(1, np.sqrt(length), out=length, where=length > 0)[:, np.newaxis])

        others = scaled(columns)
        weighted, single, squares = (rows.astype(np.float32) for rows in (target * others, others, others**2))
        # Squares of length 1 sum up to the root of the number of samples at most.
        wrong = (
            _error(n_samples) * n_samples**0.25 * float(np.sqrt(np.max((target * others) ** 2 @ np.ones(n_samples))))
        )

        def near(block: slice) -> Float32Array:
            of_rows = scaled(block).astype(np.float32)
            product, sums = _single_product(of_rows, weighted), _single_product(of_rows, single)
            spread = _single_product(of_rows**2, squares)
            sums *= sums
            sums /= n_samples
            spread -= sums
            product *= product
            product /= np.maximum(spread, _MIN_SPREAD)
            varies = np.logical_and.outer(self._varies[block], self._varies[columns])
            product[(spread < _MIN_SPREAD) & varies] = np.inf
            return product

        return near, wrong / float(np.sqrt(_MIN_SPREAD))

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
