"""Scores of a number outcome → the integers that a search sums, and the place of each sample in bit planes.

Sums of integers are exact in any order of addition, so that every engine has the same bits. Samples are sorted by
score. Up to eight neighbours, whose scores differ little, share one integer and a byte of the planes; equal scores
always share an integer. A sum over some samples then is a popcount of bytes, weighted by their integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, WordArray

if TYPE_CHECKING:
    from interplay.data.study.outcomes.targets import ScoreTarget

#: Neighbours that share an integer: the largest number of samples, and the largest difference of their scores.
_SHARED = 8
_MAX_SPAN = 0.2

#: Integers are at most this, in absolute value.
_MOST = 127
#: Those of values with outliers: where scores are larger than this, or the former would lose more of the variance than
#: this share.
_MOST_WITH_OUTLIERS = 32639
_OUTLIER = 6.0
_MAX_LOST = 0.01

#: A sum over all samples is below this: engines keep 32 bits, with a sign.
_MAX_SUM = 2**31 - 1


@dataclass(frozen=True, eq=False)
class SearchScores:
    """Integer scores of samples, and their places in planes."""

    scores: npt.NDArray[np.int32]  #: (n_samples,)
    #: (n_slots,): sample of each bit of a plane, ascending in score; −1 for a bit that is no sample. Whole bytes.
    slots: IntArray
    #: (n_slots / 8,): integer that the samples of each byte share.
    of_bytes: npt.NDArray[np.int32]

    def padded(self, n_words: int) -> tuple[IntArray, npt.NDArray[np.int32], WordArray]:
        """Return slots, integers of bytes and the bits that are samples, for planes of `n_words` words."""
        slots = np.full(64 * n_words, -1, dtype=np.int64)
        slots[: len(self.slots)] = self.slots
        of_bytes = np.zeros(8 * n_words, dtype=np.int32)
        of_bytes[: len(self.of_bytes)] = self.of_bytes
        samples = np.packbits(slots >= 0, bitorder="little").view("<u8").astype(np.uint64)
        return slots, of_bytes, samples


def search_scores(outcome: ScoreTarget) -> SearchScores:
    """Return the integers of a number outcome and the places of its samples.

    Examples
    --------
    >>> import numpy as np
    >>> from interplay.data.study.outcomes.numbers import number_outcome
    >>> found = search_scores(number_outcome(np.arange(3.0)))
    >>> found.scores.tolist(), found.of_bytes.tolist()
    ([-127, 0, 127], [-127, 0, 127])
    """
    z = outcome.scores
    order = np.argsort(z, kind="stable")
    start = _shared_from(z[order])
    sizes = np.diff(np.append(start, len(z)))
    means = np.add.reduceat(z[order], start) / sizes
    integers = _rounded(z[order], means, sizes)
    # A group of equal scores may take several bytes; another byte begins with each group of neighbours.
    n_bytes = -(-sizes // _SHARED)
    first_slot = _SHARED * (np.cumsum(n_bytes) - n_bytes)
    slots = np.full(_SHARED * int(n_bytes.sum()), -1, dtype=np.int64)
    slots[np.repeat(first_slot - start, sizes) + np.arange(len(z))] = order
    scores = np.empty(len(z), dtype=np.int32)
    scores[order] = np.repeat(integers, sizes)
    return SearchScores(scores, slots, np.repeat(integers, n_bytes))


def _rounded(z: FloatArray, means: FloatArray, sizes: IntArray) -> npt.NDArray[np.int32]:
    """Return the integers of neighbours with these means: c times the mean, as c times the largest score allows."""
    largest = float(np.abs(z).max())
    for most in (_MOST, _MOST_WITH_OUTLIERS):
        limit = min(most, _MAX_SUM // len(z))
        integers = np.rint(means * (limit / largest))
        if largest <= _OUTLIER and lost_share(z, np.repeat(integers, sizes)) <= _MAX_LOST:
            break
    return np.asarray(integers, dtype=np.int32)


def lost_share(z: FloatArray, scores: FloatArray | IntArray) -> float:
    """Return the share of the variance of scores that integers do not explain: 1 − r²."""
    correlation = np.corrcoef(z, scores)[0, 1]
    return float(1 - correlation**2)


def _shared_from(z: FloatArray) -> IntArray:
    """Return where neighbours that share an integer begin, in sorted scores.

    Groups of equal scores stay whole: they join the neighbours before them while these are at most eight and near
    enough, and larger groups stay alone. The result then does not depend on the order of the samples.
    """
    values, begin, sizes = np.unique(z, return_index=True, return_counts=True)
    start = []
    first, n_shared = -np.inf, 0
    for value, at, size in zip(values.tolist(), begin.tolist(), sizes.tolist(), strict=True):
        if n_shared + size > _SHARED or value - first > _MAX_SPAN:
            start.append(at)
            first, n_shared = value, 0
        n_shared += size
    return np.array(start, dtype=np.int64)
