"""Times that may be censored or truncated → sums over the samples at risk at each event, all events at once.

Each quantity of Cox's model is made of two operations, which are transposes of each other: of numbers per sample, the
sum over the samples at risk at each event (`at_events`); of numbers per event, the sum over the events at which each
sample was at risk (`over_events`). Both are cumulative sums over sorted times, less those before an entry: no loop, no
matrix of samples by events. Each stratum has sums of its own: where coefficients grow, hazards of one stratum are lost
in the rounding of another's.

Risk sets, and columns of which many samples have equal values → sums over the cells that these samples form.

Columns of a tuple of levels have a few different rows: its cells. All samples of a cell have one hazard, so that each
sum over samples at risk is a product with the numbers of samples of each cell at risk at each event. These numbers are
counted once, and a step of Newton's method costs cells × events, not columns × samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray, numbered


class RiskSets:
    """The samples at risk at each event.

    A sample is at risk at the events of its stratum after its entry, up to and with its time. Of d events at the same
    time, Efron's method takes the shares 0, 1/d, …, (d − 1)/d of the samples that have them out of the sums, one share
    for each event; Breslow's method takes nothing out.

    - `time` (n_samples,), `event` (n_samples,).
    - `entry` (n_samples,): from where on each sample was seen (left truncation); below its time.
    - `strata` (n_samples,): risk sets hold samples of one stratum.
    - `ties`: "efron" or "breslow".

    Attributes
    ----------
    samples : (n_events,) int64
        The sample of each event: by stratum, then by time.
    first_of_tie : (n_ties,) int64
        The first event of each distinct time of a stratum.
    stratum : (n_samples,) int64
        Strata, numbered from 0.

    Examples
    --------
    >>> sets = RiskSets(np.array([1.0, 2.0, 2.0, 3.0]), np.array([True, True, True, False]))
    >>> sets.at_events(np.ones(4)).tolist()
    [4.0, 3.0, 2.0]
    >>> sets.over_events(np.ones(3)).tolist()
    [1.0, 2.5, 2.5, 3.0]
    """

    def __init__(
        self,
        time: npt.NDArray[Any],
        event: npt.NDArray[Any],
        *,
        entry: npt.NDArray[Any] | None = None,
        strata: npt.NDArray[Any] | None = None,
        ties: str = "efron",
    ) -> None:
        n = len(time)
        self.event: BoolArray = np.asarray(event, dtype=bool)
        self.stratum = np.zeros(n, dtype=np.int64) if strata is None else numbered(strata)
        self.n_strata = int(self.stratum.max(initial=-1)) + 1
        # Ranks of all times, so that a stratum and a time become one number: strata stay apart in one sort.
        stops = np.asarray(time, dtype=np.float64)
        starts = np.full(n, -np.inf) if entry is None else np.asarray(entry, dtype=np.float64)
        moments, rank = np.unique(np.concatenate([stops, starts]), return_inverse=True)
        key = self.stratum * np.int64(len(moments) + 1)
        stop, start = key + rank.reshape(-1)[:n], key + rank.reshape(-1)[n:]

        self._order: IntArray = np.argsort(stop, kind="stable")
        self.samples: IntArray = self._order[self.event[self._order]]
        at = stop[self.samples]
        is_first = np.concatenate([[True], at[1:] != at[:-1]]) if len(at) else np.empty(0, dtype=bool)
        self.first_of_tie: IntArray = np.flatnonzero(is_first)
        self._tie: IntArray = np.cumsum(is_first) - 1
        size = np.diff(np.append(self.first_of_tie, len(at)))
        self._any_tied = bool((size > 1).any())
        self._has_ties = ties == "efron" and self._any_tied
        self._taken_out: FloatArray = (np.arange(len(at)) - self.first_of_tie[self._tie]) / size[self._tie]

        # Samples from this place on in the order of their times, up to the last of the stratum, are at risk.
        of_event = self.stratum[self.samples]
        self._samples_from = _SumsInStrata(np.bincount(self.stratum, minlength=self.n_strata), from_end=True)
        self._from: IntArray = np.searchsorted(stop[self._order], at) + of_event
        self._entry_order: IntArray | None = None
        if entry is not None:
            self._entry_order = np.argsort(start, kind="stable")
            self._not_entered: IntArray = np.searchsorted(start[self._entry_order], at) + of_event
        # Events up to the time of each sample, from the first one of its stratum, or the first one after its entry.
        self._events_before = _SumsInStrata(np.bincount(of_event, minlength=self.n_strata), from_end=False)
        self._events_to: IntArray = np.searchsorted(at, stop, side="right") + self.stratum
        events_from = np.searchsorted(at, start if entry is not None else key, side="right") + self.stratum
        # A sample that enters after its last event is never at risk.
        self._events_from: IntArray = np.minimum(events_from, self._events_to)

    @property
    def n_events(self) -> int:
        return len(self.samples)

    @property
    def ever_at_risk(self) -> BoolArray:
        """Whether a sample was at risk at any event; others say nothing, (n_samples,)."""
        return self._events_to > self._events_from

    @property
    def n_ever_at_risk(self) -> FloatArray:
        """1 for a sample that was at risk at any event, else 0: with cells, the samples of a cell, (n_samples,)."""
        return self.ever_at_risk.astype(np.float64)

    def at_events(self, values: FloatArray | BoolArray) -> FloatArray:
        """Return sums over the samples at risk at each event: (…, n_samples) → (…, n_events).

        Of booleans they are numbers of samples: cumulative sums of whole numbers take a fifth of the time.
        """
        # `take` keeps the rows of many tables one after the other, which all that follows is faster with.
        sums = self._samples_from(np.take(values, self._order, axis=-1))
        found = np.take(sums, self._from, axis=-1).astype(np.float64, copy=False)
        if self._entry_order is not None:
            found -= self._samples_from(values[..., self._entry_order])[..., self._not_entered]
        if self._has_ties:
            found -= self._taken_out * self._of_ties(values[..., self.samples].astype(np.float64))
        return np.asarray(found)

    def hazards_at_risk(self, hazard: FloatArray) -> FloatArray:
        """Return sums of hazards over the samples at risk at each event: no less than those of the event's own samples.

        With entries, a sum is a difference, and rounding can make it less.
        """
        own = hazard[..., self.samples]
        own = self._of_ties(own) * (1 - self._taken_out) if self._has_ties else own
        return np.asarray(np.maximum(self.at_events(hazard), own))

    def over_events(self, values: FloatArray) -> FloatArray:
        """Return sums over the events at which each sample was at risk: (…, n_events) → (…, n_samples)."""
        sums = self._events_before(values)
        found = np.take(sums, self._events_to, axis=-1)
        if self._entry_order is not None:
            found -= sums[..., self._events_from]
        if self._has_ties:
            found[..., self.samples] -= self._of_ties(self._taken_out * values)
        return np.asarray(found)

    def means_of_ties(self, values: FloatArray) -> FloatArray:
        """Return the mean over all events at the time of each event: (…, n_events) → (…, n_events)."""
        if not self._any_tied:
            return values
        size = np.diff(np.append(self.first_of_tie, self.n_events))
        return np.asarray(self._of_ties(values) / size[self._tie])

    def _of_ties(self, values: FloatArray) -> FloatArray:
        """Return the sum of all events at the time of each event: (…, n_events) → (…, n_events)."""
        return np.asarray(np.add.reduceat(values, self.first_of_tie, axis=-1)[..., self._tie])


class _SumsInStrata:
    """Cumulative sums that begin anew in each of the strata, which stand one after the other.

    Of n values in s strata there are n + s sums: in each stratum one for each place, and one for its other end, 0.

    - `sizes` (n_strata,).
    - `from_end`: whether sums are those of the values from each place on, or of the values before it. The last samples
      are added first: late risk sets are small, and no small sum becomes a difference of large ones.

    Examples
    --------
    >>> _SumsInStrata(np.array([3, 1]), from_end=True)(np.array([1.0, 2.0, 4.0, 8.0])).tolist()
    [7.0, 6.0, 4.0, 0.0, 8.0, 0.0]
    >>> _SumsInStrata(np.array([3, 1]), from_end=False)(np.array([1.0, 2.0, 4.0, 8.0])).tolist()
    [0.0, 1.0, 3.0, 7.0, 0.0, 8.0]
    """

    def __init__(self, sizes: IntArray, *, from_end: bool) -> None:
        n = int(sizes.sum())
        self._from_end = from_end
        first = np.cumsum(sizes) - sizes
        self._n_sums = n + len(sizes)
        self._parts: list[tuple[IntArray, IntArray, BoolArray]] = []
        # Strata of about one size are the rows of a matrix, in which they take at most twice their places.
        width_of = 2 ** np.ceil(np.log2(np.maximum(sizes, 1))).astype(np.int64)
        for width in np.unique(width_of[sizes > 0]).tolist() if len(sizes) > 1 else ():
            rows = np.flatnonzero((width_of == width) & (sizes > 0))
            step, size, begin = np.arange(width), sizes[rows, np.newaxis], first[rows, np.newaxis]
            is_in = step < size
            place = begin + (size - 1 - step if from_end else step)
            sum_at = begin + rows[:, np.newaxis] + (size - 1 - step if from_end else step + 1)
            self._parts.append((np.where(is_in, place, 0), sum_at[is_in], is_in))

    def __call__(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sums of values: (…, n) → (…, n + n_strata); whole numbers of booleans."""
        sums = np.zeros((*values.shape[:-1], self._n_sums), dtype=np.int32 if values.dtype == np.bool_ else np.float64)
        if not self._parts and self._from_end:
            np.cumsum(values[..., ::-1], axis=-1, out=sums[..., -2::-1])
        elif not self._parts:
            np.cumsum(values, axis=-1, out=sums[..., 1:])
        for places, sum_at, is_in in self._parts:
            sums[..., sum_at] = np.cumsum(values[..., places], axis=-1)[..., is_in]
        return sums


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
    n_ever_at_risk : (n_cells,) float64
        Samples of each cell that were at risk at any event.
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
        self._at_risk: FloatArray = sets.at_events(cell == np.arange(n_cells)[:, np.newaxis])
        self.samples: IntArray = cell[sets.samples]
        self.event: FloatArray = np.bincount(self.samples, minlength=n_cells).astype(np.float64)
        self.n_ever_at_risk: FloatArray = np.asarray(
            np.bincount(cell, weights=sets.n_ever_at_risk, minlength=n_cells), dtype=np.float64
        )
        self.ever_at_risk: BoolArray = self.n_ever_at_risk > 0
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
    key = columns @ np.sqrt(np.arange(2.0, 2.0 + columns.shape[1]))
    known, first = np.unique(key[:_FIRST_SAMPLES], return_index=True)
    if len(known) > _MAX_CELLS:
        return None
    of_sample = np.minimum(np.searchsorted(known, key), len(known) - 1)
    if not np.array_equal(known[of_sample], key):  # cells that the first samples lack
        _, first, of_sample = np.unique(key, return_index=True, return_inverse=True)
    if len(first) > min(_MAX_CELLS, len(columns) // 2):
        return None
    of_sample = of_sample.reshape(-1)
    return Cells(first, of_sample) if np.array_equal(columns, columns[first][of_sample]) else None
