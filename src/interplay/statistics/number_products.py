"""Normal scores + residuals of a number outcome → the strongest product of each variable with another, and its p-value.

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

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.statistics.product_maxima import (
    RESIDUAL_STEPS,
    ROWS_AT_ONCE,
    SAMPLES_AT_ONCE,
    IntScores,
    ProductMaxima,
    is_varied,
    product_maxima,
)
from interplay.statistics.score_test import two_sided_log_p

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

    Parameters
    ----------
    scores : (n_vars, n_samples) int8
        As `int_normal_scores` gives them.
    residual : (n_samples,) float64
        Of the outcome's scores, centred.
    n_fitted : int
        Degrees of freedom that strong variables take.
    """
    n_vars, n_samples = scores.shape
    kurtosis = n_samples * float((residual**4).sum()) / max(float((residual**2).sum()) ** 2, 1e-300)
    if kurtosis > _MAX_KURTOSIS:
        found = product_maxima(scores, residual[np.newaxis], n_vars=n_vars, n_fitted=n_fitted, n_threads=n_threads)
    else:
        pairs = _Pairs(scores, residual, n_fitted=n_fitted, n_threads=n_threads)
        _, partner = pairs.best(None)
        found = pairs.maxima(_Spreads(partner, *pairs.spreads(partner)))
    return _with_p(found, n_samples=n_samples, n_fitted=n_fitted)


class _Spreads(NamedTuple):
    """By how much u² is larger where z_j² is: of all, and without the product with the best partner of j; (n_vars,)."""

    partner: IntArray
    whole: FloatArray
    without_best: FloatArray


class _Pairs:
    """The correlations of all pairs, a block of variables at a time."""

    def __init__(self, scores: IntScores, residual: FloatArray, *, n_fitted: int, n_threads: int) -> None:
        self._scores, self._n_threads = scores, n_threads
        self._target = np.rint(RESIDUAL_STEPS * residual / max(float(np.abs(residual).max()), 1e-300))
        n_samples = scores.shape[1]
        self._parts = [slice(start, start + SAMPLES_AT_ONCE) for start in range(0, n_samples, SAMPLES_AT_ONCE)]
        self._freedom = max(n_samples - 1 - n_fitted, 1)
        self._varies = np.array([row.any() for row in scores])

    def best(self, spreads: _Spreads | None) -> tuple[FloatArray, IntArray]:
        """Return the largest statistic of each variable, and its partner; those of partner j are divided."""
        n_vars = len(self._scores)
        blocks = [slice(start, min(start + ROWS_AT_ONCE, n_vars)) for start in range(0, n_vars, ROWS_AT_ONCE)]
        with one_blas_thread():
            found = map_in_threads(lambda block: self._best_of(block, spreads), blocks, self._n_threads)
        return np.concatenate([best for best, _ in found]), np.concatenate([place for _, place in found])

    def maxima(self, spreads: _Spreads) -> ProductMaxima:
        """Return the strongest products."""
        statistic, partner = self.best(spreads)
        several = np.count_nonzero(self._varies) > 1
        has_scores = self._varies & several
        return ProductMaxima(np.where(has_scores, statistic, np.nan), np.where(has_scores, partner, -1), df=1)

    def spreads(self, partner: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the factors of `_Spreads`."""
        factors = np.ones((2, len(partner)))
        for j in np.flatnonzero(self._varies & (partner >= 0)).tolist():
            own = self._scores[j].astype(np.float64)
            product = own * self._scores[partner[j]]
            product -= product.mean()
            length = float(product @ product)
            left = self._target - (float(product @ self._target) / length if length > 0 else 0.0) * product
            factors[:, j] = [_spread(residual, own) for residual in (self._target, left)]
        return factors[0], factors[1]

    def _best_of(self, block: slice, spreads: _Spreads | None) -> tuple[FloatArray, IntArray]:
        scores, target, n_samples = self._scores, self._target, self._scores.shape[1]
        here = np.arange(len(scores))[block]
        shape = len(here), len(scores)
        product, sums, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for part in self._parts:
            rows, others = (of[:, part].astype(np.float64) for of in (scores[block], scores))
            product += rows @ (target[part] * others).T
            sums += rows @ others.T
            squares += (rows**2) @ (others**2).T
        product -= sums * (float(target.sum()) / n_samples)
        variance = (squares - sums**2 / n_samples) * float(target @ target)
        statistic = self._freedom * np.divide(product**2, variance, out=np.zeros(shape), where=variance > 0)
        if spreads is not None:
            statistic /= spreads.whole
            of_block = np.flatnonzero((spreads.partner >= block.start) & (spreads.partner < block.stop))
            with_best = spreads.partner[of_block] - block.start, of_block
            statistic[with_best] *= (spreads.whole / spreads.without_best)[of_block]
        statistic[np.arange(len(here)), here] = -1.0  # a variable is no partner of its own
        statistic[:, ~self._varies] = -1.0
        return statistic.max(axis=1), statistic.argmax(axis=1)


def _spread(residual: FloatArray, scores: FloatArray) -> float:
    """Return by how much u² is larger where z² is, in shares of what it would be by chance; 1 unless clearly more."""
    squares, of_scores = residual**2, scores**2
    together, apart = squares * of_scores, float(squares.mean()) * float(of_scores.mean())
    error = float(together.std()) / np.sqrt(len(scores))
    mean = float(together.mean())
    return mean / apart if mean - apart > _CLEARLY * error else 1.0


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
