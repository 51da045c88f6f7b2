"""Kaplan and Meier's curves of the cells of a tuple, kept with the result to be looked at without the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check

if TYPE_CHECKING:
    from interplay.data.codes.tuple_counts import TupleCounts
    from interplay.data.study.outcomes.times import Survival


#: A curve has no more steps than this: more cannot be seen.
MAX_STEPS = 200

#: Tuples of a list whose curves are kept: a report draws fewer, and a file of more would be large.
MAX_TUPLES = 60


@dataclass(frozen=True, eq=False)
class SurvivalCurves:
    """The share of samples without the event, over time, in each cell of one tuple.

    Attributes
    ----------
    members : (k,) int64
        Numbers of the variables, ascending.
    run, discretization : int
        As in the `TupleCounts` of the tuple.
    cell : (n_curves,) int64
        Number of each curve's cell among those of the tuple, the last member running fastest; empty cells have none.
    n_samples, n_events : (n_curves,) int64
    start : (n_curves + 1,) int64
        Steps of curve i are ``start[i] : start[i + 1]``.
    time, survival : (n_steps,) float64
        Times of steps, and the share from there on. The first step is at 0 (at the first entry, where samples have
        one), the last one where the last sample was seen.
    low, high : (n_steps,) float64
        Pointwise 95 % interval of the share; the share itself where there is none (before the first event, and at 0).
    """

    members: Annotated[IntArray, Check("k", low=0, below="n_vars")]
    run: Annotated[int, Check(low=0)]
    discretization: int
    cell: Annotated[IntArray, Check("n")]
    n_samples: Annotated[IntArray, Check("n")]
    n_events: Annotated[IntArray, Check("n")]
    start: Annotated[IntArray, Check("n+1", low=0)]
    time: Annotated[FloatArray, Check("n_steps", above=-np.inf, below=np.inf)]
    survival: Annotated[FloatArray, Check("n_steps", low=0, high=1)]
    low: Annotated[FloatArray, Check("n_steps", low=0, high=1)]
    high: Annotated[FloatArray, Check("n_steps", low=0, high=1)]

    def is_of(self, members: IntArray, run: int, discretization: int) -> bool:
        """Say whether this is the tuple asked for."""
        same = self.run == run and self.discretization == discretization
        return bool(same and np.array_equal(self.members, members))

    def is_consistent(self) -> bool:
        """Say whether the steps are cut into curves: a file may say anything."""
        ascending = bool((np.diff(self.start) >= 0).all())
        return ascending and int(self.start[0]) == 0 and int(self.start[-1]) == len(self.time)


def tuple_curves(survival: Survival, known: IntArray, levels: IntArray, counts: TupleCounts) -> SurvivalCurves:
    """Make the curves of a tuple that was counted.

    - `survival`: of all samples.
    - `known` (n_known,): the samples that have a level of every member.
    - `levels` (k, n_known).
    """
    times = survival.of_samples(known)
    cells = np.ravel_multi_index(tuple(levels), counts.counts.shape[:-1])
    return survival_curves(times.time, times.event, np.asarray(cells), counts, times.entry)


def survival_curves(
    time: FloatArray, event: BoolArray, cells: IntArray, counts: TupleCounts, entry: FloatArray | None = None
) -> SurvivalCurves:
    """Make the curves of the cells of a tuple that was counted; `cells` are numbered as these counts are.

    With `entry`, samples count from where they were first seen.
    """
    used = np.unique(cells)
    first = 0.0 if entry is None else float(entry.min(initial=np.inf))
    # Members that no sample has values of together have no curves.
    times: list[FloatArray] = [np.empty(0)]
    shares: list[FloatArray] = [np.empty((3, 0))]  # (3, n_steps): share, and the ends of its interval
    starts, sizes, n_events = [0], [], []
    for cell in used:
        members = cells == cell
        curve = kaplan_meier(time[members], event[members], None if entry is None else entry[members])
        n_steps = min(len(curve.time), MAX_STEPS)
        steps = np.linspace(0, max(len(curve.time) - 1, 0), n_steps).astype(np.int64)
        times.append(np.concatenate([[first], curve.time[steps], [curve.last]]))
        known = ~np.isnan(curve.low)
        ends = (np.where(known, each, curve.survival) for each in (curve.low, curve.high))
        share = np.array([curve.survival, *ends])[:, steps]
        share = np.hstack([np.ones((3, 1)), share])
        shares.append(np.hstack([share, share[:, -1:]]))
        starts.append(starts[-1] + len(times[-1]))
        sizes.append(int(members.sum()))
        n_events.append(int(event[members].sum()))
    joined = np.ascontiguousarray(np.hstack(shares))
    return SurvivalCurves(
        members=counts.members,
        run=counts.run,
        discretization=counts.discretization,
        cell=used.astype(np.int64),
        n_samples=np.array(sizes, dtype=np.int64),
        n_events=np.array(n_events, dtype=np.int64),
        start=np.array(starts, dtype=np.int64),
        time=np.concatenate(times),
        survival=joined[0],
        low=joined[1],
        high=joined[2],
    )


class KaplanMeier(NamedTuple):
    """The share of samples without the event, from each time on."""

    #: `time`, `survival`, (n_times,): times of events, and the share after each; before the first it is 1.
    time: FloatArray
    survival: FloatArray
    #: `low`, `high`, (n_times,): pointwise interval, on the scale of log(−log(share)); NaN where the share is 0.
    low: FloatArray
    high: FloatArray
    #: The last time at which a sample was seen.
    last: float


def kaplan_meier(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    entry: npt.NDArray[Any] | None = None,
    *,
    confidence: float = 0.95,
) -> KaplanMeier:
    """Return the product-limit estimate; with `entry`, of samples that were seen from there on.

    The variance is Greenwood's. Intervals are those of ``survfit(…, conf.type = "log-log")`` in R, and of lifelines.

    Examples
    --------
    >>> import numpy as np
    >>> kaplan_meier(np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, False, True, False])).survival.tolist()
    [0.75, 0.375]
    """
    from scipy.special import ndtri

    times = np.unique(time[event]).astype(np.float64)
    at_risk = len(time) - np.searchsorted(np.sort(time), times)
    if entry is not None:  # a sample that enters at the time of an event is not at risk there
        at_risk = at_risk - (len(time) - np.searchsorted(np.sort(entry), times))
    died = np.bincount(np.searchsorted(times, time[event]), minlength=len(times))
    survival = np.cumprod(1.0 - died / at_risk)
    with np.errstate(divide="ignore", invalid="ignore"):  # after the last sample's event nothing is known
        variance = np.cumsum(died / (at_risk * (at_risk - died)))
        log_share = np.log(survival)
        half = float(ndtri((1 + confidence) / 2)) * np.sqrt(variance) / np.abs(log_share)
        low, high = (np.exp(log_share * np.exp(sign * half)) for sign in (1, -1))
    known = survival > 0
    low, high = (np.where(known, each, np.nan) for each in (low, high))
    return KaplanMeier(times, np.asarray(survival), np.asarray(low), np.asarray(high), float(time.max()))
