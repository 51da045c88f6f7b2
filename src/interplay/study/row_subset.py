"""Some of a table's samples, as a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from interplay.base.arrays import IntArray
from interplay.study.columns import Column
from interplay.study.number_texts import LabelDoubt
from interplay.study.table import Table, Values, Which


class RowSubset(Table):
    """A table with only the samples `rows`, read from the whole table block by block."""

    def __init__(self, table: Table, rows: IntArray) -> None:
        super().__init__(len(rows), table.names, table.kinds, table.dtype)
        self._table = table
        self._rows = rows
        self.samples_left_out = table.samples_left_out

    @property
    def positions(self) -> list[tuple[str, float]] | None:
        """Chromosome and position of each variable, where they are known."""
        return self._table.positions

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        return np.ascontiguousarray(self._table.columns(which)[:, self._rows])

    def column(self, v: int) -> Column:
        """Return variable `v` with what its levels are called; some of them may have no sample here."""
        whole = self._table.column(v)
        return replace(whole, read=lambda: whole.read()[self._rows])

    def place(self, sample: int) -> str:
        """Say where a sample is in the whole table."""
        return self._table.place(int(self._rows[sample]))

    @property
    def doubts(self) -> dict[str, LabelDoubt]:
        """Why the labels of text variables may be none."""
        return self._table.doubts
