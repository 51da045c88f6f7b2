"""Columns → scores of their samples: mid-ranks, scaled to −1 … 1, within strata where there are any.

A score depends on the order of a column's values alone. Missing values have the score 0, which carries no information.
Labels have no order: with more than two of them a column has no scores (NaN).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray, IntScores, as_integers
from interplay.data.codes.coder import Coder

#: Scores that are in memory at once. A fixed number: where blocks end decides the last bits of sums.
_MAX_SCORES = 1 << 21

#: Scores of tables up to this size (half a gigabyte) are kept when they have been read once.
_MAX_KEPT = 1 << 26

#: Values that are sorted at a time.
_MAX_SORTED = 1 << 16


@dataclass(frozen=True, eq=False)
class RankScores:
    """The scores of a table's columns, made block by block."""

    #: Gives the values of the columns, or, for columns of few values, their levels.
    coder: Coder
    #: (n_samples,): ranks are taken within strata.
    strata: IntArray | None = None
    _kept: dict[tuple[int, int], FloatArray] = field(default_factory=dict, repr=False)

    @property
    def is_ordered(self) -> BoolArray:
        """Which columns have scores, (n_vars,): numbers, and labels of two levels."""
        return np.asarray(~self.coder.table.is_label | (self.coder.n_levels - self.coder.has_missing_level <= 2))

    def blocks(self) -> Iterator[slice]:
        """Cut the columns into blocks to be read one after the other."""
        n_vars = self.coder.table.n_vars
        size = max(1, _MAX_SCORES // max(self.coder.table.n_samples, 1))
        for start in range(0, n_vars, size):
            yield slice(start, min(start + size, n_vars))

    def read(self, rows: slice) -> FloatArray:
        """Return the scores of some columns, (n_rows, n_samples); not to be written to."""
        place = rows.start, rows.stop
        if place not in self._kept:
            scores = self._made(rows)
            if self.coder.table.n_vars * self.coder.table.n_samples > _MAX_KEPT:
                return scores
            self._kept[place] = scores
        return self._kept[place]

    def read_normal(self, rows: slice) -> FloatArray:
        """Return the quantiles of the normal distribution at these ranks; those of columns without order are 0."""
        scores = self.read(rows)
        n = scores.shape[1]
        if not self.is_ordered[rows].all():
            scores = np.nan_to_num(scores)
        if self.strata is not None or self.coder.has_missing_level[rows].any():
            return normal_scores(scores)
        # Mid-ranks of n samples have at most 2n − 1 values: a lookup is faster than computing each quantile.
        possible = normal_scores(np.arange(1, 2 * n) / n - 1)
        places = scores + 1
        places *= n
        np.rint(places, out=places)
        return np.asarray(possible[places.astype(np.int32) - 1])

    def read_integers(self, rows: slice) -> IntScores:
        """Return the scores of some columns as integers, those of each with `STEPS` as the largest."""
        n = self.coder.table.n_samples
        if self.strata is not None or self.coder.is_discrete[rows].any():
            return as_integers(np.nan_to_num(self.read(rows)))
        values, of_place = self.coder.values(rows), as_integers(_scores_of_places(n)[np.newaxis])[0]
        found = np.empty(values.shape, dtype=np.int8)
        size = max(1, _MAX_SORTED // max(n, 1))  # what is sorted stays in the cache of a core
        for begin in range(0, len(values), size):
            some = values[begin : begin + size]
            flat = np.argsort(some, axis=1)
            flat += (np.arange(len(some)) * n)[:, np.newaxis]
            ascending = some.reshape(-1)[flat]
            here = found[begin : begin + size]
            here.reshape(-1)[flat] = of_place
            tied = np.flatnonzero(~(ascending[:, 1:] > ascending[:, :-1]).all(axis=1))  # or missing
            if len(tied):
                here[tied] = as_integers(mid_rank_scores(some[tied]))
        return found

    def _made(self, rows: slice) -> FloatArray:
        coder = self.coder
        scores = np.empty((rows.stop - rows.start, coder.table.n_samples))
        is_discrete, is_ordered = coder.is_discrete[rows], self.is_ordered[rows]
        cut = np.flatnonzero(~is_discrete)
        if len(cut):
            values = coder.values(rows)
            chosen = values if len(cut) == len(values) else values[cut]
            scores[cut] = mid_rank_scores(chosen, self.strata)
        for row in np.flatnonzero(is_discrete):
            v = rows.start + int(row)
            scores[row] = self._of_levels(v) if is_ordered[row] else np.nan
        return scores

    def _of_levels(self, v: int) -> FloatArray:
        """Return the scores of a column of few levels: no need to sort its samples."""
        codes = np.empty((1, self.coder.table.n_samples), dtype=np.uint8)
        self.coder.write_block(0, slice(v, v + 1), codes)
        n_levels = int(self.coder.n_levels[v])
        is_missing = None
        if self.coder.has_missing_level[v]:
            n_levels -= 1
            is_missing = codes[0] == n_levels
        scores = np.zeros(codes.shape[1])
        for inside in _strata_of(self.strata):
            here = codes[0, inside]
            sizes = np.bincount(here, minlength=n_levels)[:n_levels]
            of_level = 2 * (np.cumsum(sizes) - 0.5 * sizes) / max(int(sizes.sum()), 1) - 1
            scores[inside] = np.append(of_level, 0.0)[here]
        if is_missing is not None:
            scores[is_missing] = 0.0
        return scores


def mid_rank_scores(values: npt.NDArray[np.generic], strata: IntArray | None = None) -> FloatArray:
    """Return the mid-ranks of each row's values, (n_rows, n_samples), scaled to −1 … 1; 0 where a value is missing.

    Examples
    --------
    >>> import numpy as np
    >>> mid_rank_scores(np.array([[10.0, 30.0, 30.0, 20.0]])).tolist()
    [[-0.75, 0.5, 0.5, -0.25]]
    """
    scores = np.empty(values.shape)
    for inside in _strata_of(strata):
        scores[:, inside] = _mid_rank_scores(values[:, inside])
    return scores


def _scores_of_places(n: int) -> FloatArray:
    """Return the scores of n different values, ascending."""
    return np.asarray((2.0 * np.arange(n) + 1) / n - 1)


def _mid_rank_scores(values: npt.NDArray[np.generic]) -> FloatArray:
    n = values.shape[1]
    order = np.argsort(values, axis=1)
    place = np.arange(n)
    flat = order + (np.arange(len(values)) * n)[:, np.newaxis]
    ascending = values.reshape(-1)[flat]
    scores = np.empty(values.shape)
    scores.reshape(-1)[flat] = _scores_of_places(n)
    is_new = ascending[:, 1:] != ascending[:, :-1]
    tied = np.flatnonzero(~is_new.all(axis=1))  # missing values are equal to none
    if len(tied):
        edge = np.ones((len(tied), 1), dtype=bool)
        first = np.maximum.accumulate(np.where(np.hstack([edge, is_new[tied]]), place, 0), axis=1)
        is_last = np.hstack([is_new[tied], edge])
        last = np.minimum.accumulate(np.where(is_last, place, n)[:, ::-1], axis=1)[:, ::-1]
        of_tied = np.empty(first.shape)
        np.put_along_axis(of_tied, order[tied], (first + last + 1.0) / n - 1, axis=1)
        scores[tied] = of_tied
    if values.dtype.kind == "f":
        n_missing = np.isnan(values).sum(axis=1)
        for row in np.flatnonzero(n_missing):
            is_missing = np.isnan(values[row])
            n_seen = n - int(n_missing[row])  # missing values come last: the ranks of the others are as without them
            scores[row] = np.where(is_missing, 0.0, (scores[row] + 1) * n / max(n_seen, 1) - 1)
    return scores


def normal_scores(scores: FloatArray) -> FloatArray:
    """Return the quantiles of the normal distribution at these ranks: scores 0 stay 0.

    Examples
    --------
    >>> import numpy as np
    >>> normal_scores(np.array([-0.5, 0.0, 0.5])).round(3).tolist()
    [-0.674, 0.0, 0.674]
    """
    from scipy.special import ndtri

    return np.asarray(ndtri(0.5 * (scores + 1)))


def _strata_of(strata: IntArray | None) -> list[slice | IntArray]:
    if strata is None:
        return [slice(None)]
    return [np.flatnonzero(strata == stratum) for stratum in range(int(strata.max(initial=0)) + 1)]
