"""Scores of a number outcome → the integers that a search sums, and the orders in which samples lie in bit planes.

Sums of integers are exact in any order of addition, so that every engine has the same bits. Samples are sorted by
score. Up to eight neighbours, whose scores differ little, share one integer; equal scores always do. A sample's integer
is written in digits, and samples come once for each digit, sorted by it: the sum over some samples then follows from
counts of samples with the same digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, NumberOutcome

#: Neighbours that share an integer: at most so many samples, within so large a difference of scores.
_SHARED = 8
_MAX_SPAN = 0.2

#: Integers of scores by ranks are at most this, in absolute value.
_MOST = 127
#: Those of values with outliers, where the former would lose more of the variance than the share.
_MOST_WITH_OUTLIERS = 32767
_MAX_LOST = 0.01

#: A sum over all samples is below this: engines keep 32 bits, with a sign.
_MAX_SUM = 2**31 - 1

#: Digits are in one of these bases. The larger one needs fewer digits, each with more runs of samples to be counted:
#: from this many samples on, fewer digits pay.
_RADIX, _LARGE_RADIX = 16, 256
_MANY_SAMPLES = 8192


@dataclass(frozen=True, eq=False)
class SearchScores:
    """Integer scores of samples, and the samples in each of their orders.

    Attributes
    ----------
    scores : (n_samples,) int32
    orders : (n_orders, n_samples) int64
        Numbers of the samples; the first order is ascending in the whole score.
    radix : int
        Base of the digits: the first order has the highest, the second the lowest, the third the next higher one.
    """

    scores: np.ndarray[tuple[int], np.dtype[np.int32]]
    orders: IntArray
    radix: int

    @property
    def n_samples(self) -> int:
        return len(self.scores)

    @property
    def in_orders(self) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        """Scores of the samples of each order, (n_orders, n_samples) int32."""
        return np.ascontiguousarray(self.scores[self.orders])


def search_scores(outcome: NumberOutcome) -> SearchScores:
    """Return the integers of a number outcome and their orders.

    Examples
    --------
    >>> import numpy as np
    >>> found = search_scores(NumberOutcome(np.arange(3.0), np.array([-1.0, 0.0, 1.0])))
    >>> found.scores.tolist(), found.orders.shape, found.radix
    ([-127, 0, 127], (2, 3), 16)
    """
    scores = integer_scores(outcome.scores)
    n_samples = len(scores)
    above = scores.astype(np.int64) - int(scores.min())
    radix = _LARGE_RADIX if n_samples >= _MANY_SAMPLES else _RADIX
    highest = int(above.max())
    n_orders = 1
    while radix**n_orders <= highest:
        n_orders += 1
    # Ties in the order of the samples: gains depend on counts and sums alone.
    keys = [above, *(above // radix**digit % radix for digit in range(n_orders - 1))]
    orders = np.stack([np.argsort(key, kind="stable") for key in keys])
    return SearchScores(scores, orders, radix)


def integer_scores(z: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """Return the integer of each sample: c times the mean score of the samples that share it, rounded."""
    shared = _shared_means(z)
    largest = float(np.abs(z).max())
    for most in (_MOST, _MOST_WITH_OUTLIERS):
        limit = min(most, _MAX_SUM // len(z))
        scores = np.rint(shared * (limit / largest))
        if lost_share(z, scores) <= _MAX_LOST:
            break
    return np.asarray(scores, dtype=np.int32)


def lost_share(z: FloatArray, scores: FloatArray | IntArray) -> float:
    """Return the share of the variance of scores that integers do not explain: 1 − r²."""
    correlation = np.corrcoef(z, scores)[0, 1]
    return float(1 - correlation**2)


def _shared_means(z: FloatArray) -> FloatArray:
    """Return the mean score of the neighbours that share an integer, for each sample.

    Groups of equal scores stay whole: they join the neighbours before them while these are at most eight and near
    enough, and larger groups stay alone. The result then does not depend on the order of the samples.
    """
    order = np.argsort(z, kind="stable")
    values, start, sizes = np.unique(z[order], return_index=True, return_counts=True)
    first_of = np.empty(len(values), dtype=np.int64)  # the first group of those that share with each
    first = n_shared = 0
    for group, (value, size) in enumerate(zip(values.tolist(), sizes.tolist(), strict=True)):
        if group == 0 or n_shared + size > _SHARED or value - values[first] > _MAX_SPAN:
            first, n_shared = group, 0
        first_of[group] = first
        n_shared += size
    firsts = np.unique(first_of)
    means = np.add.reduceat(z[order], start[firsts]) / np.add.reduceat(sizes, firsts)
    shared = np.empty(len(z))
    shared[order] = np.repeat(means[np.searchsorted(firsts, first_of)], sizes)
    return shared
