"""Margins of a table of levels by classes → every table with these margins: its probability under chance, its gain.

Under chance, with the sizes of levels and classes as they are, a table n has the probability
Π rows! · Π columns! / (N! · Π n!). Its gain is that of the search, with pseudocounts, so that tables are ordered by the
gains that users see. Where there are too many tables to list, a gamma distribution stands for them, with the mean and
the variance of their gains (`gain_moments`). Its p-values are too large rather than too small: on tables of 10
by 2 to 5 by 4 cells that expect 2 to 10 samples, significance levels of 0.01 to 1e-5 are reached 0.2 to 1.06 times as
often as they should be.

Margins of a table of levels by classes → mean and variance of its gain under chance, exactly.

The gain of a table n is Σ f_q(n_lq) and terms of its margins, with f_q(x) = (x + δ_q) log₂(x + δ_q) and pseudocounts
δ_q. Under chance a cell n_lq is hypergeometric, and so is the cell of another level given it. Two levels of a and b
samples share the covariance K(a, b), which depends on their sizes alone: it is computed once for all variables.

f_q is taken less its tangent at the expected count μ = a N_q / N. The slope of a tangent, log₂ a + log₂(N_q / N) and a
constant, adds up to the same number in all tables with these margins: over classes the first part, over levels the
second. What is left is small, so that no digits cancel in the variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray

#: Gains that are equal but for rounding count as equal: relative to the sums whose difference a gain is.
_ROUNDING = 1e-13

#: Up to this many gains are compared with all tables one by one.
_FEW = 8


def class_pseudocounts(class_sizes: IntArray, pseudocount: float) -> FloatArray:
    """Return the pseudocounts of a cell by class: `pseudocount` for the rarest class, in proportion for the others."""
    return np.asarray(pseudocount * class_sizes / max(int(class_sizes.min()), 1), dtype=np.float64)


def table_gains(counts: IntArray, added: FloatArray) -> FloatArray:
    """Return the gains of tables (…, n_levels, n_classes), in bits times samples; `added` are the pseudocounts.

    Levels without samples count as if they were not there.
    """
    n_classes = counts.shape[-1]
    of_levels, of_classes = counts.sum(axis=-1), counts.sum(axis=-2)
    largest = int(of_classes.sum(axis=-1).max(initial=0))
    by_class = [_x_log_x(np.arange(largest + 1) + extra) for extra in added]
    by_level = _x_log_x(np.arange(largest + 1) + added.sum())
    # Levels and classes are few: adding up one after the other is quicker than sums over short axes.
    n_levels = np.count_nonzero(of_levels, axis=-1)
    gains = _x_log_x(of_classes.sum(axis=-1) + n_levels * added.sum())
    for q in range(n_classes):
        gains -= _x_log_x(of_classes[..., q] + n_levels * added[q])
    for level in range(counts.shape[-2]):
        of_level = -by_level[of_levels[..., level]]
        for q in range(n_classes):
            of_level += by_class[q][counts[..., level, q]]
        gains += np.where(of_levels[..., level] > 0, of_level, 0.0)
    return np.asarray(gains)


def smallest_expected(counts: IntArray) -> FloatArray:
    """Return the expected number of samples in the smallest cell of tables (…, n_levels, n_classes).

    Levels and classes without samples do not count; a table with one level expects any number.
    """
    of_levels, of_classes = counts.sum(axis=-1), counts.sum(axis=-2)
    any_number = np.iinfo(np.int64).max
    rarest = [np.where(sizes > 0, sizes, any_number).min(axis=-1) for sizes in (of_levels, of_classes)]
    expected = rarest[0] * (rarest[1] / np.maximum(of_classes.sum(axis=-1), 1))
    return np.where(np.count_nonzero(of_levels, axis=-1) > 1, expected, np.inf)


def rounding_of(n_samples: float) -> float:
    """Return by how much the gains of equal tables may differ."""
    return _ROUNDING * (n_samples + 1) * (1 + float(np.log2(n_samples + 1)))


@dataclass(frozen=True, eq=False)
class CellTerms:
    """Contributions of a cell to the gain of a table and to the logarithm of its probability, by the cell's samples."""

    #: list of (n_samples + 1,): for each class; the rest of the gain is the same in all tables with the same margins.
    gain: list[FloatArray]
    log_factorial: FloatArray  #: (n_samples + 1,)

    @classmethod
    def of(cls, n_samples: int, added: FloatArray) -> CellTerms:
        from scipy.special import gammaln

        counts = np.arange(n_samples + 1)
        return cls([_x_log_x(counts + extra) for extra in added], np.asarray(gammaln(counts + 1.0)))


@dataclass(frozen=True, eq=False)
class GainNull:
    """Null distribution of the gain: all tables with given margins, and their probabilities."""

    gain: FloatArray  #: (n_tables,)
    #: (n_tables,): natural logarithms of the probabilities.
    log_chance: FloatArray
    #: Gains that differ by no more are equal.
    rounding: float

    def log_p(self, observed: FloatArray) -> FloatArray:
        """Return ln P(gain ≥ observed)."""
        if len(observed) <= _FEW:  # to add up is quicker than to sort
            above = [self.log_chance[self.gain >= gain - self.rounding] for gain in observed.tolist()]
            log_p = np.array([np.logaddexp.reduce(chances) if len(chances) else -np.inf for chances in above])
        else:
            order = np.argsort(self.gain)
            log_tail = np.logaddexp.accumulate(self.log_chance[order[::-1]])[::-1]
            first = np.searchsorted(self.gain[order], observed - self.rounding, side="left")
            log_p = np.append(log_tail, -np.inf)[first]
        return np.asarray(np.minimum(log_p, 0.0))


@dataclass(frozen=True, eq=False)
class GammaNull:
    """Null distribution of the gain where tables are too many: a gamma distribution of the same mean and variance."""

    shape: float
    scale: float

    def log_p(self, observed: FloatArray) -> FloatArray:
        """Return ln P(gain ≥ observed)."""
        from interplay.base.tails import log_chi2_tail

        return log_chi2_tail(2 * np.maximum(observed, 0.0) / self.scale, 2 * self.shape)


def listed_null(level_sizes: IntArray, class_sizes: IntArray, added: FloatArray, *, max_tables: int) -> GainNull | None:
    """Return the null distribution of the gain given margins, none of which is 0; None if tables are too many."""
    listed = _all_tables(np.sort(level_sizes), class_sizes, added, max_tables=max_tables)
    return None if listed is None else GainNull(*listed, rounding_of(int(level_sizes.sum())))


def matched_null(level_sizes: IntArray, class_sizes: IntArray, added: FloatArray) -> GammaNull:
    """Return the gamma distribution for margins with too many tables; not all levels have one sample."""
    mean, variance = gain_moments(tuple(class_sizes.tolist()), tuple(added.tolist())).of(level_sizes)
    return GammaNull(shape=mean**2 / variance, scale=variance / mean)


def _all_tables(
    level_sizes: IntArray, class_sizes: IntArray, added: FloatArray, *, max_tables: int
) -> tuple[FloatArray, FloatArray] | None:
    """Return gains and logarithms of chances of all tables with these margins; None if there are more than allowed.

    Cells are filled one after the other. Of each partial table, only the samples left of each class and the sums over
    its cells are kept. Levels of one sample are filled together: which of them has which class makes no difference.
    `level_sizes` ascend.
    """
    terms = CellTerms.of(int(level_sizes.sum()), added)
    log_factorial = terms.log_factorial
    n_single = int(np.searchsorted(level_sizes, 2))
    in_one = np.arange(n_single + 1)
    of_singles = [of_class[0] * (n_single - in_one) + of_class[1] * in_one for of_class in terms.gain]
    filled = ([(n_single, of_singles)] if n_single else []) + [(n, terms.gain) for n in level_sizes[n_single:].tolist()]
    totals = class_sizes + len(level_sizes) * added
    margins = _x_log_x(totals.sum()) - _x_log_x(totals).sum() - _x_log_x(level_sizes + added.sum()).sum()
    gain = np.array([margins])
    log_ways = sum(log_factorial[size] for size, _ in filled)
    log_chance = np.array([log_ways + log_factorial[class_sizes].sum() - log_factorial[-1]])
    left = [np.array([size]) for size in class_sizes.tolist()]
    for size, of_cell in filled[:-1]:
        open_ = np.full(len(gain), size)  # samples of this level that are in no cell yet
        for q in range(len(left) - 1):
            choices = next_choices(open_, left[q], sum(left[q + 1 :]), max_tables=max_tables)
            if choices is None:
                return None
            parent, chosen = choices
            gain = gain[parent] + of_cell[q][chosen]
            log_chance = log_chance[parent] - log_factorial[chosen]
            left = [of_class[parent] for of_class in left]
            left[q] = left[q] - chosen
            open_ = open_[parent] - chosen
        gain = gain + of_cell[-1][open_]
        log_chance = log_chance - log_factorial[open_]
        left[-1] = left[-1] - open_
    for of_class, cells in zip(left, filled[-1][1], strict=True):
        gain = gain + cells[of_class]
        log_chance = log_chance - log_factorial[of_class]
    return gain, log_chance


def next_choices(
    samples: IntArray, room: IntArray | int, room_behind: IntArray | int, *, max_tables: int
) -> tuple[IntArray, IntArray] | None:
    """Return all counts of the next cell of partial tables, with the number of the partial table of each.

    Of the `samples` to be placed, at most `room` fit into the cell and `room_behind` into the cells after it. None if
    there are more than `max_tables` choices.
    """
    lowest = np.maximum(0, samples - room_behind)
    n_choices = np.minimum(room, samples) - lowest + 1
    n_tables = int(n_choices.sum())
    if n_tables > max_tables:
        return None
    parent = np.repeat(np.arange(len(samples)), n_choices)
    return parent, np.arange(n_tables) + (lowest - np.cumsum(n_choices) + n_choices)[parent]


def _x_log_x(x: npt.ArrayLike) -> FloatArray:
    x = np.asarray(x, dtype=np.float64)
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))


#: Counts further from their mean than this many standard deviations, and a few more, have no probability to speak of.
_DEVIATIONS, _FEW_TABLES = 12.0, 12


class GainMoments:
    """Means and variances of the gains of tables with given classes.

    - `class_sizes` (n_classes,): None of them 0.
    - `added` (n_classes,): pseudocounts.
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
        low = max(0, a + size - n, int(mean - _DEVIATIONS * deviation) - _FEW_TABLES)
        high = min(a, size, int(mean + _DEVIATIONS * deviation) + _FEW_TABLES)
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
