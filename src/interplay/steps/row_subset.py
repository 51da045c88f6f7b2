"""Some of a table's samples, as a table."""

from __future__ import annotations

import numpy as np

from interplay.arrays import IntArray
from interplay.steps.table import Table, Values, Which


class RowSubset(Table):
    """A table with only the samples `rows`, read from the whole table block by block."""

    def __init__(self, table: Table, rows: IntArray) -> None:
        super().__init__(len(rows), table.names, table.kinds, table.dtype)
        self._table = table
        self._rows = rows

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        return np.ascontiguousarray(self._table.columns(which)[:, self._rows])

    def level_names(self, number: int) -> list[str] | None:
        return self._table.level_names(number)
