"""Samples per cell and class, or the numbers in each cell, of a few chosen tuples: people see why a tuple matters.

The search counts every tuple and forgets the counts. Tables of the tuples that were found are kept with the result,
which can then show them without the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, in_unit
from interplay.data.codes.coder import Coder
from interplay.data.codes.cuts import variable_cuts
from interplay.files.types import Check

#: Upper limits of the tuples whose counts a result keeps, and of the numbers of one table (cells times classes): no
#: picture could show more.
MAX_KEPT = 300
MAX_NUMBERS = 2048


@dataclass(frozen=True, eq=False)
class TupleCounts:
    """How the samples of each class are spread over the cells of one tuple.

    Attributes
    ----------
    members : (k,) int64
        Numbers of the variables, ascending.
    run, discretization : int
        The run and the discretisation the tuple was found in.
    level_names : list of list of str
        Names of the levels of each member: "≤ 0.37", "> 0.37", or the values themselves.
    counts : (n_levels of member 0, …, n_levels of member k − 1, n_classes) int64
        Of a number outcome, all samples of a cell: the last axis has one entry.
    numbers : (n_levels of member 0, …, n_levels of member k − 1, 6) float64, optional
        Of a number outcome, its distribution in each cell: lower whisker, lower quartile, median, upper quartile, upper
        whisker, mean. NaN where a cell is empty.
    """

    members: Annotated[IntArray, Check("k", low=0, below="n_vars")]
    run: Annotated[int, Check(low=0)]
    discretization: int
    level_names: Annotated[list[list[str]], Check("k")]
    counts: IntArray
    numbers: FloatArray | None = None

    def is_consistent(self) -> bool:
        """Say whether the counts are of these levels: a file may say anything."""
        shape = tuple(len(names) for names in self.level_names)
        expected = {"counts": (*shape, 1), "numbers": (*shape, 6)}
        if self.counts.shape[-1:] != (1,):
            expected = {"counts": (*shape, *self.counts.shape[-1:])}
        return {name: array.shape for name, array in self.arrays.items()} == expected

    @property
    def sizes(self) -> IntArray:
        """Samples of each cell."""
        return np.asarray(self.counts.sum(axis=-1))

    @property
    def figure(self) -> FloatArray | None:
        """What a cell shows: the mean of numbers, or the share of the second of two classes; NaN where it is empty."""
        if self.numbers is not None:
            return np.asarray(self.numbers[..., 5])
        if self.counts.shape[-1] != 2:
            return None
        with np.errstate(invalid="ignore"):
            return np.asarray(self.counts[..., 1] / self.sizes)

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays that there are, by name: counts, and numbers."""
        both = {"counts": self.counts, "numbers": self.numbers}
        return {name: array for name, array in both.items() if array is not None}

    def is_of(self, members: IntArray, run: int, discretization: int) -> bool:
        """Say whether these are the counts of this tuple."""
        same = self.run == run and self.discretization == discretization
        return bool(same and np.array_equal(self.members, members))


def tuple_counts(coder: Coder, table: IntArray, members: IntArray, *, run: int, discretization: int) -> TupleCounts:
    """Return the counted `table` of a tuple, strata added up, with the names of its levels."""
    names = _level_names(coder, members, discretization, table.shape[-1 - len(members) : -1])
    while table.ndim > len(members) + 1:
        table = table.sum(axis=0)
    # A column with one value has one level here, and an empty second one in the table.
    counts = np.ascontiguousarray(table[tuple(slice(len(levels)) for levels in names)])
    return TupleCounts(np.array(members, dtype=np.int64), run, int(discretization), names, counts)


def number_counts(
    coder: Coder,
    values: FloatArray,
    members: IntArray,
    *,
    run: int,
    discretization: int,
    omit_missing: bool = False,
) -> TupleCounts | None:
    """Return the distribution of a number outcome, (n_samples,), in the cells of a tuple; None if they are too many.

    With `omit_missing`, samples that lack a value of a member are in no cell.
    """
    n_levels = np.maximum(coder.n_levels - (coder.has_missing_level & omit_missing), 1)[members].tolist()
    names = _level_names(coder, members, discretization, n_levels)
    shape = tuple(len(levels) for levels in names)
    if 6 * prod(shape) > MAX_NUMBERS:
        return None
    codes = coder.codes_of(discretization, members).codes.astype(np.int64)
    known = (codes < np.array(shape)[:, np.newaxis]).all(axis=0)
    return replace(counts_in_cells(list(codes[:, known]), values[known], names, members, discretization), run=run)


def _level_names(coder: Coder, members: IntArray, d: int, n_levels: Sequence[int]) -> list[list[str]]:
    """Return the names of the levels of each member that are counted, the first ones."""
    each = zip(members.tolist(), n_levels, strict=True)
    return [variable_cuts(coder, v).level_names(d)[:n] for v, n in each]


def counts_in_cells(
    codes: list[IntArray], values: FloatArray, names: list[list[str]], members: IntArray, discretization: int
) -> TupleCounts:
    """Return the distribution of numbers in the cells of a tuple, of samples with these levels of the members."""
    shape = tuple(len(levels) for levels in names)
    cells = np.ravel_multi_index(tuple(codes), shape)
    sizes = np.bincount(cells, minlength=prod(shape))
    numbers = np.full((len(sizes), 6), np.nan)
    for cell in np.flatnonzero(sizes).tolist():
        numbers[cell] = distribution(values[cells == cell])
    return TupleCounts(
        np.array(members, dtype=np.int64),
        0,
        int(discretization),
        names,
        sizes.reshape(*shape, 1).astype(np.int64),
        numbers.reshape(*shape, 6),
    )


def distribution(values: FloatArray) -> FloatArray:
    """Return lower whisker, lower quartile, median, upper quartile, upper whisker and mean of some numbers.

    A whisker ends at the last value within 1.5 times the distance of the quartiles (Tukey).

    Examples
    --------
    >>> distribution(np.array([1.0, 2, 3, 4, 5, 30])).tolist()
    [1.0, 2.25, 3.5, 4.75, 5.0, 7.5]
    """
    finite, unit = in_unit(values[np.isfinite(values)])
    if not len(finite):
        return np.full(6, values[0])
    low, median, high = np.quantile(finite, [0.25, 0.5, 0.75])
    reach = 1.5 * (high - low)
    whiskers = finite[finite >= low - reach].min(), finite[finite <= high + reach].max()
    return np.array([whiskers[0], low, median, high, whiskers[1], finite.mean()]) * unit
