"""Groups → random orders of the samples that move whole groups: contrast variables that keep groups alike."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import IntArray


class GroupOrders:
    """Random orders in which each group gets the values of another, or of itself, in random order.

    Only groups with samples in the same strata change places, and values stay in their stratum. Of unequal sizes, a
    group of n samples gets n of the other's values without repetition where there are enough, else each of them
    equally often up to one.

    Parameters
    ----------
    groups, strata : (n_samples,) int64, strata optional
        Numbers from 0 on, none missing.
    """

    def __init__(self, groups: IntArray, strata: IntArray | None = None) -> None:
        stratum = np.zeros(len(groups), dtype=np.int64) if strata is None else strata
        n_groups, n_strata = int(groups.max()) + 1, int(stratum.max()) + 1
        self._groups, self._stratum, self._n_strata = groups, stratum, n_strata
        self._cell = groups * n_strata + stratum
        self._size = np.bincount(self._cell, minlength=n_groups * n_strata)
        self._start = np.cumsum(self._size) - self._size
        by_cell = np.argsort(self._cell, kind="stable")
        self._place = np.empty(len(groups), dtype=np.int64)  # of a sample within its cell
        self._place[by_cell] = np.arange(len(groups)) - self._start[self._cell[by_cell]]
        occupied = self._size.reshape(n_groups, n_strata) > 0
        self._kind = np.unique(occupied, axis=0, return_inverse=True)[1].reshape(-1)

    def draw(self, stream: np.random.RandomState) -> IntArray:
        """Return sample numbers, (n_samples,): the sample whose value each sample gets."""
        moved = np.empty(len(self._kind), dtype=np.int64)
        moved[np.argsort(self._kind, kind="stable")] = np.lexsort((stream.random_sample(len(moved)), self._kind))
        shuffled = np.lexsort((stream.random_sample(len(self._cell)), self._cell))
        source = moved[self._groups] * self._n_strata + self._stratum
        return np.asarray(shuffled[self._start[source] + self._place % self._size[source]])
