"""Samples per cell and class of a few chosen tuples: what a person looks at to see why a tuple matters.

The search counts every tuple and forgets the counts. Those of the tuples that were found are counted again here, column
by column, so that the result can show them without the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from interplay.base.arrays import DecisionClasses, IntArray
from interplay.codes.coder import Coder
from interplay.codes.cuts import variable_cuts
from interplay.files.types import Check

#: A result keeps the counts of so many tuples, and not of those with more numbers than this (cells times classes),
#: which no picture could show.
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
        What the levels of each member mean: "≤ 0.37", "> 0.37", or the values themselves.
    counts : (n_levels of member 0, …, n_levels of member k − 1, n_classes) int64
    """

    members: Annotated[IntArray, Check("k", low=0, below="n_vars")]
    run: Annotated[int, Check(low=0)]
    discretization: int
    level_names: Annotated[list[list[str]], Check("k")]
    counts: IntArray

    def is_consistent(self) -> bool:
        """Say whether the counts are of these levels: a file may say anything."""
        return self.counts.shape[:-1] == tuple(len(names) for names in self.level_names)

    def is_of(self, members: IntArray, run: int, discretization: int) -> bool:
        """Say whether this is the tuple asked for."""
        same = self.run == run and self.discretization == discretization
        return bool(same and np.array_equal(self.members, members))


class TupleCounter:
    """Counts tuples as a search saw them: from the coder of its table, and its classes."""

    def __init__(self, coder: Coder, classes: DecisionClasses) -> None:
        self._coder = coder
        self._classes = classes

    def count(self, members: IntArray, *, run: int, discretization: int) -> TupleCounts | None:
        """Return the counts of a tuple, or None if they are too many to look at."""
        numbers = members.tolist()
        shape = (*self._n_levels(numbers), self._classes.n_classes)
        if np.prod([float(size) for size in shape]) > MAX_NUMBERS:
            return None
        codes = [self._codes(v, discretization) for v in numbers]
        cell = np.ravel_multi_index((*codes, self._classes.codes), shape)
        return TupleCounts(
            members=np.array(members, dtype=np.int64),
            run=run,
            discretization=int(discretization),
            level_names=[variable_cuts(self._coder, v).level_names(discretization) for v in numbers],
            counts=np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64),
        )

    def cells(self, members: IntArray, discretization: int) -> IntArray:
        """Return the number of each sample's cell in a tuple, (n_samples,)."""
        cell = np.zeros(self._coder.table.n_samples, dtype=np.int64)
        for v in members.tolist():
            cell = cell * max(int(self._coder.n_levels[v]), 1) + self._codes(v, discretization)
            cell = np.unique(cell, return_inverse=True)[1].reshape(-1).astype(np.int64)  # keeps numbers small
        return cell

    def numbered_cells(self, counts: TupleCounts) -> IntArray:
        """Return the number of each sample's cell, as the flattened cells of `counts` are numbered, (n_samples,)."""
        numbers = counts.members.tolist()
        codes = tuple(self._codes(v, counts.discretization) for v in numbers)
        return np.asarray(np.ravel_multi_index(codes, self._n_levels(numbers)), dtype=np.int64)

    def _n_levels(self, numbers: Sequence[int]) -> tuple[int, ...]:
        return tuple(max(int(self._coder.n_levels[v]), 1) for v in numbers)

    def _codes(self, v: int, discretization: int) -> IntArray:
        codes = np.empty((1, self._coder.table.n_samples), dtype=np.uint8)
        self._coder.write_block(discretization, slice(v, v + 1), codes)
        return np.asarray(codes[0], dtype=np.int64)
