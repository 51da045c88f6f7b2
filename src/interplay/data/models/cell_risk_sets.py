"""Risk sets, and columns of which many samples have equal values → sums over the cells that these samples form.

Columns of a tuple of levels have a few different rows: its cells. All samples of a cell have one hazard, so that each
sum over samples at risk is a product with the numbers of samples of each cell at risk at each event. These numbers are
counted once, and a step of Newton's method costs cells × events, not columns × samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.data.models.risk_sets import RiskSets

#: More cells are no cells: the columns are numbers.
_MAX_CELLS = 256

#: Numbers are recognised by these first samples.
_FIRST_SAMPLES = 4 * _MAX_CELLS


class CellRiskSets:
    """The part of `RiskSets` that a fit needs, for cells in the place of samples.

    Attributes
    ----------
    samples : (n_events,) int64
        The cell of each event.
    event : (n_cells,) float64
        Events of each cell.
    ever_at_risk : (n_cells,) bool
    stratum : (n_cells,) int64
        0: cells are those of one stratum.

    Examples
    --------
    >>> sets = RiskSets(np.array([1.0, 2.0, 2.0, 3.0]), np.array([True, True, True, False]))
    >>> by_cell = CellRiskSets(sets, np.array([0, 1, 0, 1]), 2)
    >>> by_cell.at_events(np.array([1.0, 10.0])).tolist(), by_cell.event.tolist()
    ([22.0, 21.0, 15.5], [2.0, 1.0])
    """

    n_strata = 1

    def __init__(self, sets: RiskSets, cell: IntArray, n_cells: int) -> None:
        self._at_risk: FloatArray = sets.at_events((cell == np.arange(n_cells)[:, np.newaxis]).astype(np.float64))
        self.samples: IntArray = cell[sets.samples]
        self.event: FloatArray = np.bincount(self.samples, minlength=n_cells).astype(np.float64)
        self.ever_at_risk: BoolArray = np.bincount(cell[sets.ever_at_risk], minlength=n_cells) > 0
        self.stratum: IntArray = np.zeros(n_cells, dtype=np.int64)

    def at_events(self, values: FloatArray) -> FloatArray:
        """Return sums over the samples at risk at each event: (…, n_cells) → (…, n_events)."""
        return np.asarray(values @ self._at_risk)

    hazards_at_risk = at_events  # numbers at risk times hazards: no differences, which rounding could make too small

    def over_events(self, values: FloatArray) -> FloatArray:
        """Return sums over the samples of a cell and the events at which each was at risk: (n_events,) → (n_cells,)."""
        return np.asarray(self._at_risk @ values)


class Cells(NamedTuple):
    """Samples with equal rows: the first sample of each cell, and the cell of each sample."""

    first: IntArray
    of_sample: IntArray


def cells_of(columns: FloatArray) -> Cells | None:
    """Return the cells that samples with equal columns form, or None if there are too many of them.

    Examples
    --------
    >>> found = cells_of(np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]]))
    >>> columns = np.random.default_rng(0).normal(size=(300, 2))
    >>> found.first.tolist(), found.of_sample.tolist(), cells_of(columns)
    ([0, 1], [0, 1, 0, 0], None)
    """
    # One number for each row, by weights that no two rows of a design share; whether it tells is checked below.
    weights = np.sqrt(np.arange(2.0, 2.0 + columns.shape[1]))
    if len(np.unique(columns[:_FIRST_SAMPLES] @ weights)) > _MAX_CELLS:
        return None
    _, first, of_sample = np.unique(columns @ weights, return_index=True, return_inverse=True)
    if len(first) > min(_MAX_CELLS, len(columns) // 2):
        return None
    of_sample = of_sample.reshape(-1)
    return Cells(first, of_sample) if np.array_equal(columns, columns[first][of_sample]) else None
