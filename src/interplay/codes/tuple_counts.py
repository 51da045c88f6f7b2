"""Samples per cell and class of a few chosen tuples, by which people see why a tuple matters.

The search counts every tuple and forgets the counts. Tables of the tuples that were found are kept with the result,
which can then show them without the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from interplay.base.arrays import IntArray
from interplay.codes.coder import Coder
from interplay.codes.cuts import variable_cuts
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
        """Say whether these are the counts of this tuple."""
        same = self.run == run and self.discretization == discretization
        return bool(same and np.array_equal(self.members, members))


def tuple_counts(
    coder: Coder, table: IntArray, members: IntArray, *, run: int, discretization: int, omit_missing: bool = False
) -> TupleCounts:
    """Return the counted `table` of a tuple, strata added up, with the names of its levels.

    With `omit_missing`, the table has no levels of missing values.
    """
    names = [variable_cuts(coder, v).level_names(discretization) for v in members.tolist()]
    if omit_missing:
        names = [levels[:-1] if levels[-1] == "missing" and len(levels) > 1 else levels for levels in names]
    while table.ndim > len(members) + 1:
        table = table.sum(axis=0)
    # A column with one value has one level here, and an empty second one in the table.
    counts = np.ascontiguousarray(table[tuple(slice(len(levels)) for levels in names)])
    return TupleCounts(np.array(members, dtype=np.int64), run, int(discretization), names, counts)
