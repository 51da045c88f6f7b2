"""The cell of each sample in each tuple + numbers of the samples → samples, sums and squares of each cell."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL, ScoreTarget


@dataclass(frozen=True, eq=False)
class CellMoments:
    """Samples of each cell, and sums of their numbers; each field is (n_tuples, n_strata, levels …)."""

    #: Samples.
    n: FloatArray
    #: Σ z.
    total: FloatArray
    #: Σ (z − mean of the cell)²; of tuples, (n_tuples,), where only its sum over cells is known.
    within: FloatArray

    def chosen(self, rows: IntArray) -> CellMoments:
        """Keep some of the tuples."""
        return CellMoments(self.n[rows], self.total[rows], self.within[rows])

    @property
    def mean(self) -> FloatArray:
        """Means of the cells; 0 in empty ones."""
        return np.divide(self.total, self.n, out=np.zeros_like(self.total), where=self.n > 0)

    @property
    def levels(self) -> tuple[int, ...]:
        return self.n.shape[2:]

    @property
    def rss(self) -> FloatArray:
        """RSS(T): the squares within all cells of each tuple, (n_tuples,)."""
        return self.within if self.within.ndim == 1 else _summed(self.within)

    @property
    def n_samples(self) -> IntArray:
        """Samples of each tuple, (n_tuples,)."""
        return np.asarray(np.rint(_summed(self.n)), dtype=np.int64)

    @property
    def n_cells(self) -> IntArray:
        """Cells of each tuple that are not empty, (n_tuples,)."""
        return np.asarray(_summed((self.n > 0).astype(np.float64)), dtype=np.int64)


def cell_moments(
    cells: npt.NDArray[np.integer],
    scores: FloatArray,
    levels: tuple[int, ...],
    *,
    n_strata: int = 1,
    by_cell: bool = True,
) -> CellMoments:
    """Sum numbers over the cells of tuples of one shape.

    - `cells` (n_tuples, n_samples) int: the number of each sample's cell: its stratum, then the levels of the members,
      the last one fastest. A sample with the number n_strata · Π levels belongs to no cell.
    - `scores` (n_samples,).
    - `by_cell`: whether the squares within each cell are needed, or only their sum; that is twice as fast.

    Examples
    --------
    >>> moments = cell_moments(np.array([[0, 0, 1, 3]]), np.array([1.0, 3.0, 5.0, 7.0]), (2, 2))
    >>> moments.mean.tolist(), moments.rss.tolist()
    ([[[[2.0, 5.0], [0.0, 7.0]]]], [2.0])
    """
    n_tuples, n_samples = cells.shape
    n_cells = n_strata * prod(levels)
    # One number more: samples that belong to no cell.
    flat = (cells + np.arange(n_tuples, dtype=np.int64)[:, np.newaxis] * (n_cells + 1)).ravel()
    size = n_tuples * (n_cells + 1)
    # Numbers are taken from their mean, so that squares of large numbers keep their digits.
    middle = float(scores.mean()) if n_samples else 0.0
    z = scores - middle

    shape = (n_tuples, n_strata, *levels)
    n = np.bincount(flat, minlength=size).reshape(n_tuples, n_cells + 1).astype(np.float64)
    total = np.bincount(flat, np.tile(z, n_tuples), minlength=size).reshape(n_tuples, n_cells + 1)
    between = np.divide(total**2, n, out=np.zeros_like(total), where=n > 0)
    if by_cell:
        mean = np.divide(total, n, out=np.zeros_like(total), where=n > 0)
        rest = np.broadcast_to(z, cells.shape) - np.take_along_axis(mean, cells, axis=1)
        squares = np.bincount(flat, (rest**2).ravel(), minlength=size)
        within = squares.reshape(n_tuples, n_cells + 1)[:, :-1].reshape(shape)
    else:
        squares = np.full(n_tuples, float(z @ z))
        if n[:, -1].any():
            rows, samples = np.nonzero(cells == n_cells)
            squares -= np.bincount(rows, (z**2)[samples], minlength=n_tuples)
        within = np.maximum(squares - between[:, :-1].sum(axis=1), 0.0)
    n, total = n[:, :-1].reshape(shape), total[:, :-1].reshape(shape)
    return CellMoments(n, total + middle * n, within)


def _summed(of_cells: FloatArray) -> FloatArray:
    """Return the sum over the cells of each tuple."""
    return np.asarray(of_cells.sum(axis=tuple(range(1, of_cells.ndim))))


class ScoredNumbers(NamedTuple):
    """An outcome of numbers as tests need it, each (n_samples,)."""

    #: What is tested.
    scores: FloatArray
    #: What effects are measured in.
    values: FloatArray
    #: Scores on the other scale; None where there are none, as of infinite values.
    other: FloatArray | None
    #: Samples that a cell needs to be a part of a hypothesis, by `fewest_in_cell`.
    fewest: int = FEWEST_IN_CELL


def scored_numbers(outcome: ScoreTarget, strata: Strata | None) -> ScoredNumbers:
    """Return an outcome as tests need it; ranks are those within strata.

    Examples
    --------
    >>> numbers = scored_numbers(number_outcome(np.array([1.0, 2.0, 9.0])), None)
    >>> numbers.scores.round(2).tolist(), numbers.other.round(2).tolist()
    ([-0.97, 0.0, 0.97], [-0.84, -0.56, 1.4])
    """
    other = None
    if outcome.scale == "values" or bool(np.isfinite(outcome.values).all()):
        other = number_outcome(outcome.values, strata, scale=OTHER_SCALE[outcome.scale]).scores
    return ScoredNumbers(outcome.scores, outcome.values, other, outcome.fewest_in_cell)


#: Significant on the other scale, too, after adjustment for all tuples.
BOTH = "both"
#: Between: less than significant after adjustment, more than nothing.
UNCLEAR = "unclear"

#: The other scale of each.
OTHER_SCALE = {"ranks": "values", "values": "ranks"}


def scale_words(p_other: FloatArray, p_other_adjusted: FloatArray, *, scale: str, level: float) -> list[str]:
    """Return for each tuple "both", "ranks only" (or "values only") or "unclear"; "" where the other is not known.

    An interaction is "ranks only" where its p-value on values, not adjusted, is above the significance level.

    Examples
    --------
    >>> scale_words(np.array([1e-9, 0.01, 0.3]), np.array([1e-5, 1.0, 1.0]), scale="ranks", level=0.05)
    ['both', 'unclear', 'ranks only']
    """
    words = []
    for p, adjusted in zip(p_other.tolist(), p_other_adjusted.tolist(), strict=True):
        if np.isnan(p):
            words.append("")
        else:
            words.append(BOTH if adjusted < level else f"{scale} only" if p > level else UNCLEAR)
    return words
