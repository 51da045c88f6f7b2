"""Margins of a table of levels by classes → mean and variance of its gain under chance, exactly.

The gain of a table n is Σ f_q(n_lq) and terms of its margins, with f_q(x) = (x + δ_q) log₂(x + δ_q) and pseudocounts
δ_q. Under chance a cell n_lq is hypergeometric, and so is the cell of another level given it. Two levels of a and b
samples share the covariance K(a, b), which depends on their sizes alone: it is computed once for all variables.

f_q is taken less its tangent at the expected count μ = a N_q / N. The slope of a tangent, log₂ a + log₂(N_q / N) and a
constant, adds up to the same number in all tables with these margins: over classes the first part, over levels the
second. What is left is small, so that no digits cancel in the variance.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from interplay.base.arrays import FloatArray, IntArray

#: Counts further from their mean than this many standard deviations, and a few more, have no probability to speak of.
_DEVIATIONS, _FEW = 12.0, 12


class GainMoments:
    """Means and variances of the gains of tables with given classes.

    Parameters
    ----------
    class_sizes : (n_classes,) int64
        None of them 0.
    added : (n_classes,) float64
        Pseudocounts.
    """

    def __init__(self, class_sizes: IntArray, added: FloatArray) -> None:
        from scipy.special import gammaln

        self._class_sizes, self._added = class_sizes, added
        self._n_samples = int(class_sizes.sum())
        self._log_factorial = np.asarray(gammaln(np.arange(self._n_samples + 1) + 1.0))
        self._cells: dict[tuple[int, int], tuple[IntArray, FloatArray, FloatArray]] = {}
        self._sums_given: dict[tuple[int, int], FloatArray] = {}
        self._of_level: dict[int, tuple[float, float]] = {}
        self._covariance: dict[tuple[int, int], float] = {}

    def of(self, level_sizes: IntArray) -> tuple[float, float]:
        """Return mean and variance of the gain, in bits times samples, of tables with levels of these sizes."""
        sizes, times = np.unique(level_sizes, return_counts=True)
        n_levels = len(level_sizes)
        totals = self._class_sizes + n_levels * self._added
        mean = float(_x_log_x(totals.sum()) - _x_log_x(totals).sum())
        variance = 0.0
        for a, n_a in zip(sizes.tolist(), times.tolist(), strict=True):
            of_level, own = self._level(a)
            expected = a * self._class_sizes / self._n_samples + self._added
            mean += n_a * (of_level + float(_x_log_x(expected).sum() - _x_log_x(a + self._added.sum())))
            variance += n_a * own
            for b, n_b in zip(sizes.tolist(), times.tolist(), strict=True):
                n_pairs = n_a * (n_a - 1) if a == b else n_a * n_b
                if n_pairs:
                    variance += n_pairs * self._pair(min(a, b), max(a, b))
        return mean, max(variance, 0.0)

    def _level(self, a: int) -> tuple[float, float]:
        """Return mean and variance of Σ_q f_q(n_q) of a level of `a` samples, tangents left out."""
        if a not in self._of_level:
            mean = square = 0.0
            for q in range(len(self._class_sizes)):
                _, chance, values = self._cell(q, a)
                mean += float(chance @ values)
                square += float(chance @ (values * self._sums(q, a)))
            self._of_level[a] = mean, square - mean**2
        return self._of_level[a]

    def _pair(self, a: int, b: int) -> float:
        """Return K(a, b): the covariance of the sums of two levels of these sizes."""
        if (a, b) not in self._covariance:
            product, n = 0.0, self._n_samples
            for q, size in enumerate(self._class_sizes.tolist()):
                counts, chance, values = self._cell(q, a)
                # The cell of the other level, given this one: from the samples that this level leaves.
                given = self._chances(n - a, size - counts[:, np.newaxis], b, self._cell(q, b)[0][np.newaxis])
                product += float((chance * values) @ (given @ self._sums(q, b)))
            self._covariance[a, b] = product - self._level(a)[0] * self._level(b)[0]
        return self._covariance[a, b]

    def _cell(self, q: int, a: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the likely counts of class `q` in a level of `a` samples, their probabilities, and f_q there.

        f_q is less its tangent at the expected count.
        """
        if (q, a) in self._cells:
            return self._cells[q, a]
        n, size, added = self._n_samples, int(self._class_sizes[q]), self._added[q]
        mean = a * size / n
        deviation = np.sqrt(mean * (1 - size / n) * (n - a) / max(n - 1, 1))
        low = max(0, a + size - n, int(mean - _DEVIATIONS * deviation) - _FEW)
        high = min(a, size, int(mean + _DEVIATIONS * deviation) + _FEW)
        counts = np.arange(low, high + 1)
        tangent = _x_log_x(mean + added) + (np.log2(mean) + 1 / np.log(2)) * (counts - mean)
        values = np.asarray(_x_log_x(counts + added) - tangent)
        self._cells[q, a] = counts, self._chances(n, np.array(size), a, counts), values
        return self._cells[q, a]

    def _sums(self, q: int, a: int) -> FloatArray:
        """Return the expected sum over all classes of a level of `a` samples, for each of its counts of class `q`."""
        if (q, a) not in self._sums_given:
            counts, _, total = self._cell(q, a)
            n, size = self._n_samples, int(self._class_sizes[q])
            for r, other in enumerate(self._class_sizes.tolist()):
                if r != q:
                    there, _, values = self._cell(r, a)
                    # Samples of the level that are not of class q are drawn from all samples that are not.
                    chance = self._chances(n - size, np.array(other), a - counts[:, np.newaxis], there[np.newaxis])
                    total = total + chance @ values
            self._sums_given[q, a] = total
        return self._sums_given[q, a]

    def _chances(self, n: int, marked: IntArray, drawn: int | IntArray, counts: IntArray) -> FloatArray:
        """Return hypergeometric probabilities of `counts` marked samples among the drawn ones of `n` samples."""
        unmarked = n - marked
        rest, left = drawn - counts, marked - counts
        possible = (counts >= 0) & (rest >= 0) & (left >= 0) & (unmarked - rest >= 0) & (marked >= 0)

        def factorial(x: int | IntArray) -> FloatArray:
            return np.asarray(self._log_factorial[np.clip(x, 0, self._n_samples)])

        log_chance = factorial(marked) + factorial(unmarked) + factorial(drawn) + factorial(n - np.asarray(drawn))
        log_chance = log_chance - factorial(n) - factorial(counts) - factorial(left) - factorial(rest)
        return np.where(possible, np.exp(log_chance - factorial(unmarked - rest)), 0.0)


@lru_cache(maxsize=8)
def gain_moments(class_sizes: tuple[int, ...], added: tuple[float, ...]) -> GainMoments:
    """Return the moments for these classes; covariances of pairs of levels are shared by all who ask."""
    return GainMoments(np.array(class_sizes), np.array(added))


def _x_log_x(x: FloatArray | float) -> FloatArray:
    x = np.asarray(x, dtype=np.float64)
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))
