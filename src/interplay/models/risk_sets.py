"""Times that may be censored or truncated → sums over the samples at risk at each event, all events at once.

Each quantity of Cox's model is made of two operations, which are transposes of each other: of numbers per sample, the
sum over the samples at risk at each event (`at_events`); of numbers per event, the sum over the events at which each
sample was at risk (`over_events`). Both are differences of cumulative sums over sorted times: no loop, no matrix of
samples by events.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray, numbered


class RiskSets:
    """The samples at risk at each event.

    A sample is at risk at the events of its stratum after its entry, up to and with its time. Of d events at the same
    time, Efron's method takes the shares 0, 1/d, …, (d − 1)/d of the samples that have them out of the sums, one share
    for each event; Breslow's method takes nothing out.

    Parameters
    ----------
    time : (n_samples,) float64
    event : (n_samples,) bool
    entry : (n_samples,) float64, optional
        From where on each sample was seen (left truncation); below its time.
    strata : (n_samples,) int64, optional
        Risk sets hold samples of one stratum.
    ties : str
        "efron" or "breslow".

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
        self._has_ties = ties == "efron" and bool((size > 1).any())
        self._taken_out: FloatArray = (np.arange(len(at)) - self.first_of_tie[self._tie]) / size[self._tie]

        # Samples from this place on in the order of their times are at risk, if they are of the stratum and entered.
        self._from: IntArray = np.searchsorted(stop[self._order], at)
        ends = np.cumsum(np.bincount(self.stratum, minlength=self.n_strata))
        self._to: IntArray = ends[self.stratum[self.samples]]
        self._entry_order: IntArray | None = None
        if entry is not None:
            self._entry_order = np.argsort(start, kind="stable")
            self._not_entered: IntArray = np.searchsorted(start[self._entry_order], at)
        # Events up to the time of each sample, from the first one of its stratum, or the first one after its entry.
        self._events_to: IntArray = np.searchsorted(at, stop, side="right")
        self._events_from: IntArray = np.searchsorted(at, start if entry is not None else key, side="right")

    @property
    def n_events(self) -> int:
        return len(self.samples)

    @property
    def ever_at_risk(self) -> BoolArray:
        """Whether a sample was at risk at any event; others say nothing, (n_samples,)."""
        return self._events_to > self._events_from

    def at_events(self, values: FloatArray) -> FloatArray:
        """Return sums over the samples at risk at each event: (…, n_samples) → (…, n_events)."""
        sums = _sums_from(values[..., self._order])
        found = sums[..., self._from]
        if self.n_strata > 1:
            found -= sums[..., self._to]
        if self._entry_order is not None:
            sums = _sums_from(values[..., self._entry_order])
            found -= sums[..., self._not_entered]
            if self.n_strata > 1:
                found += sums[..., self._to]
        if self._has_ties:
            found -= self._taken_out * self._of_ties(values[..., self.samples])
        return np.asarray(found)

    def over_events(self, values: FloatArray) -> FloatArray:
        """Return sums over the events at which each sample was at risk: (…, n_events) → (…, n_samples)."""
        sums = np.zeros((*values.shape[:-1], self.n_events + 1))
        np.cumsum(values, axis=-1, out=sums[..., 1:])
        found = sums[..., self._events_to]
        if self.n_strata > 1 or self._entry_order is not None:
            # A sample that enters after its last event is never at risk.
            found -= sums[..., np.minimum(self._events_from, self._events_to)]
        if self._has_ties:
            found[..., self.samples] -= self._of_ties(self._taken_out * values)
        return np.asarray(found)

    def means_of_ties(self, values: FloatArray) -> FloatArray:
        """Return the mean over all events at the time of each event: (…, n_events) → (…, n_events)."""
        size = np.diff(np.append(self.first_of_tie, self.n_events))
        return np.asarray(self._of_ties(values) / size[self._tie])

    def _of_ties(self, values: FloatArray) -> FloatArray:
        """Return the sum of all events at the time of each event: (…, n_events) → (…, n_events)."""
        return np.asarray(np.add.reduceat(values, self.first_of_tie, axis=-1)[..., self._tie])


def _sums_from(values: FloatArray) -> FloatArray:
    """Return the sum from each place on to the last one, and 0 after it: (…, n) → (…, n + 1)."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    # The last samples first: late risk sets are small, and no small sum becomes a difference of large ones.
    np.cumsum(values[..., ::-1], axis=-1, out=sums[..., -2::-1])
    return sums
