"""Some of a table's variables, as a table."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import IntArray
from interplay.study.columns import Column
from interplay.study.number_texts import LabelDoubt
from interplay.study.table import Table, Values, Which


class ColumnSubset(Table):
    """A table with only the variables `kept`, read from the whole table block by block.

    With `keeps_numbers`, draws for a variable, such as those of its thresholds, are the same as in the whole table.
    """

    def __init__(self, table: Table, kept: IntArray, *, keeps_numbers: bool = False) -> None:
        super().__init__(table.n_samples, [table.names[v] for v in kept], table.kinds[kept], table.dtype)
        self._table = table
        self._kept = kept
        self._keeps_numbers = keeps_numbers
        self.samples_left_out = table.samples_left_out

    @property
    def numbers(self) -> IntArray:
        """The variables' numbers in the streams of random numbers."""
        return self._table.numbers[self._kept] if self._keeps_numbers else super().numbers

    @property
    def positions(self) -> list[tuple[str, float]] | None:
        """Chromosome and position of each variable, where they are known."""
        known = self._table.positions
        return None if known is None else [known[v] for v in self._kept.tolist()]

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        chosen = self._kept[which]
        if len(chosen) and bool((np.diff(chosen) == 1).all()):  # read faster, and perhaps without a copy
            return self._table.columns(slice(int(chosen[0]), int(chosen[-1]) + 1))
        return self._table.columns(chosen)

    def column(self, v: int) -> Column:
        """Return one column with what its levels are called."""
        return self._table.column(int(self._kept[v]))

    def place(self, sample: int) -> str:
        """Say where a sample is."""
        return self._table.place(sample)

    @property
    def doubts(self) -> dict[str, LabelDoubt]:
        """Why the labels of text variables may be none, by the names of those in doubt."""
        found = self._table.doubts
        return {name: found[name] for name in self.names if name in found} if found else {}
