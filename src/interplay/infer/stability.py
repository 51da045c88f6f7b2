"""Finds in halves of the samples → how often each variable and tuple comes back (stability selection).

Subsamples are complementary pairs, as Shah and Samworth (2013) propose: each pair is a random division of the samples
into two halves. Their bound needs no assumption about the variables: of those that chance finds in a half at most as
often as on average, the expected number that is found in more than a share τ of all halves is at most q²/p/(2τ − 1),
with q the mean number of variables found in a half, of p.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_real
from interplay.files.types import Check

#: Tuples that are kept, the most frequent first.
MAX_KEPT = 1000


@dataclass(frozen=True, eq=False)
class Stability:
    """How often variables and tuples were found in halves of the samples."""

    #: Number of halves, two of each division of the samples.
    n_subsamples: Annotated[int, Check(low=2)]
    #: (n_vars,): share of the halves in which each variable is relevant.
    frequency: Annotated[FloatArray, Check("n_vars", low=0, high=1)]
    #: (n_tuples, k): best tuples of the relevant variables of all halves, the most frequent first; −1 fills smaller
    #: ones.
    tuples: Annotated[IntArray, Check("n_tuples k", low=-1, below="n_vars")]
    #: (n_tuples,): share of the halves in which each is the best tuple of a relevant member.
    tuple_frequency: Annotated[FloatArray, Check("n_tuples", low=0, high=1)]

    @property
    def mean_found(self) -> float:
        """Mean number of variables that are found in a half."""
        return float(self.frequency.sum())

    def expected_false(self, threshold: float = 0.9) -> float:
        """Return the bound of the expected number of variables that chance brings back in more than this share.

        Examples
        --------
        >>> found = Stability(100, np.array([1.0, 1.0] + [0.02] * 98), np.empty((0, 2), dtype=np.int64), np.empty(0))
        >>> round(found.expected_false(0.9), 3)
        0.196
        """
        threshold = check_real("threshold", threshold, low=0.5, high=1, low_open=True)
        return self.mean_found**2 / len(self.frequency) / (2 * threshold - 1)


def stability_of(found: Iterable[tuple[IntArray, Iterable[tuple[int, ...]]]], n_vars: int, k: int) -> Stability:
    """Count what was found in each half: the relevant variables, and their best tuples of at most `k` members."""
    of_variables = np.zeros(n_vars)
    of_tuples: Counter[tuple[int, ...]] = Counter()
    n = 0
    for variables, tuples in found:
        of_variables[variables] += 1
        of_tuples.update(set(tuples))
        n += 1
    first = sorted(of_tuples.items(), key=lambda item: (-item[1], item[0]))[:MAX_KEPT]
    tuples_found = np.full((len(first), k), -1, dtype=np.int64)
    for row, (members, _) in zip(tuples_found, first, strict=True):
        row[: len(members)] = members
    return Stability(n, of_variables / n, tuples_found, np.array([count / n for _, count in first]))
