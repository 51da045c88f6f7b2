"""The best n rows of each variable, or of all, from batches of any number of rows."""

from __future__ import annotations

import numpy as np

from interplay.ask.tuples.table import in_order
from interplay.base.arrays import FloatArray, IntArray, TupleRows


class BestRows:
    """Keeps the best rows seen so far, and raises the thresholds so that few others need to be listed.

    Equal values are ranked by tuple, so that what is kept does not depend on the order of the batches. Memory is
    that of what is kept and one batch.

    Parameters
    ----------
    number : int
        Rows to keep.
    by_variable : bool
        Of each variable, or of all together.
    thresholds : (n_vars,) float64
        Raised in place to just below the value of the last row kept.
    """

    def __init__(self, number: int, *, by_variable: bool, dimensions: int, thresholds: FloatArray) -> None:
        self._number = number
        self._by_variable = by_variable
        self._thresholds = thresholds
        self.rows = TupleRows.none(dimensions)

    def add(self, rows: TupleRows) -> None:
        """Look at a batch of rows that are not among those seen before."""
        tuples = np.concatenate([self.rows.tuples, rows.tuples])
        variable = np.concatenate([self.rows.variable, rows.variable])
        value = np.concatenate([self.rows.value, rows.value])
        order = in_order(tuples, variable, len(self._thresholds))
        order = order[np.argsort(-value[order], kind="stable")]
        group = variable[order] if self._by_variable else np.zeros(len(order), dtype=np.int32)
        order = order[np.argsort(group, kind="stable")]
        group = np.sort(group)
        rank = np.arange(len(order)) - np.searchsorted(group, group)
        kept = order[rank < self._number]
        self.rows = TupleRows(tuples[kept], variable[kept], value[kept], np.array([len(kept)]))
        self._raise_thresholds(order[rank == self._number - 1], variable, value)

    def _raise_thresholds(self, last: IntArray, variable: IntArray, value: FloatArray) -> None:
        """Ask for what is at least as good as the last row kept: a lower tuple may still tie with it."""
        just_below = np.nextafter(value[last], -np.inf)
        if self._by_variable:
            self._thresholds[variable[last]] = np.maximum(self._thresholds[variable[last]], just_below)
        elif len(last):
            np.maximum(self._thresholds, just_below[0], out=self._thresholds)
