"""Times and risks → Harrell's concordance, in N log N steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, numbered, places_of_each


def concordance(
    time: npt.NDArray[Any],
    event: npt.NDArray[Any],
    risk: FloatArray,
    *,
    entry: npt.NDArray[Any] | None = None,
    strata: npt.NDArray[Any] | None = None,
) -> float:
    """Return Harrell's C of risks, higher ones expected to have their event earlier; NaN where no pair is comparable.

    The share of comparable pairs (the event is seen in one sample while the other one is at risk, and stays without it)
    in which the sample with the higher risk has its event first; pairs of equal risks count one half.

    - `time`, `event`, `entry`, `strata`: as in `fit_cox`. Pairs of different strata are not compared.
    - `risk` (n_samples,).

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, False, True])
    >>> round(concordance(time, event, np.array([3.0, 1.0, 2.0, 1.0])), 3)
    0.7
    """
    n = len(time)
    pairs = np.zeros((3, n), dtype=np.int64)
    strata = np.zeros(n, dtype=np.int64) if strata is None else numbered(strata)
    for rows in places_of_each(strata):
        pairs[:, rows] = _pairs_of_each(time[rows], event[rows], risk[rows], None if entry is None else entry[rows])
    concordant, discordant, comparable = pairs
    # Each pair was counted at both of its samples.
    total = int(comparable.sum()) // 2
    if not total:
        return float("nan")
    return 0.5 + float((concordant - discordant).sum()) / (4.0 * total)


def _pairs_of_each(
    time: npt.NDArray[Any], event: npt.NDArray[Any], risk: FloatArray, entry: npt.NDArray[Any] | None
) -> IntArray:
    """Return the concordant, discordant and all comparable pairs of each sample, (3, n)."""
    event = np.asarray(event, dtype=bool)
    n = len(time)
    moments = numbered(np.concatenate([time, time if entry is None else entry]).astype(np.float64))
    # A time that is censored where an event is seen lies after the event; two events at the same time have no order.
    stop = 2 * moments[:n] + ~event
    rank = numbered(risk)
    at = np.flatnonzero(event)
    found = np.zeros((3, n), dtype=np.int64)

    # Where no risks are equal, pairs that are not concordant are discordant.
    all_differ = int(rank.max(initial=-1)) + 1 == n

    def add(later: IntArray, sign: int) -> None:
        for row, ranks in enumerate((rank, -rank, None)):
            if row == 1 and all_differ:
                continue
            of_events, of_later = _after_and_below(stop[at], later, at, ranks)
            found[row, at] += sign * of_events
            found[row] += sign * of_later

    add(stop, 1)
    if entry is not None:  # a sample that enters at the time of the event, or after it, is not at risk
        add(2 * moments[n:] + 1, -1)
    if all_differ:
        found[1] = found[2] - found[0]
    return found


def _after_and_below(
    moment: IntArray, later: IntArray, at: IntArray, rank: IntArray | None
) -> tuple[IntArray, IntArray]:
    """Count pairs of an event and a sample that lies after it and has a lower rank, of each event and each sample.

    - `moment` (n_events,).
    - `later` (n_samples,): moments of the samples, to be compared with those of events.
    - `at` (n_events,): sample of each event.
    - `rank` (n_samples,): without ranks, all pairs with the sample after the event.
    """
    if rank is None:
        of_events = len(later) - np.searchsorted(np.sort(later), moment, side="right")
        return of_events, np.searchsorted(np.sort(moment), later)
    n_events = len(moment)
    n = n_events + len(later)
    is_sample = np.arange(n) >= n_events
    # Equal moments: the sample first, which is not after the event. Equal ranks: the event first, which is not above.
    by_moment = np.lexsort((~is_sample, np.concatenate([moment, later])))
    by_rank = np.lexsort((is_sample, np.concatenate([rank[at], rank])))
    place = np.empty(n, dtype=np.int64)
    place[by_moment] = np.arange(n)
    counts = np.zeros(n, dtype=np.int64)
    # Halves of halves of the order of moments, each with its members in the order of ranks: pairs of an event in the
    # first half and a sample in the second one are counted by cumulative sums, and the halves become the wholes.
    members = by_rank
    for bit in reversed(range(max(n - 1, 0).bit_length())):
        in_second = (place[members] >> bit & 1).astype(bool)
        start = np.arange(n) >> (bit + 1) << (bit + 1)
        end = np.minimum(start + (2 << bit), n)
        samples, events = (
            np.concatenate([[0], np.cumsum(each)])
            for each in (in_second & is_sample[members], ~in_second & ~is_sample[members])
        )
        here = np.arange(n)
        counts[members] += np.where(
            is_sample[members],
            np.where(in_second, events[end] - events[here], 0),
            np.where(in_second, 0, samples[here] - samples[start]),
        )
        second_before = np.concatenate([[0], np.cumsum(in_second)])
        n_second = second_before[here] - second_before[start]
        first_size = np.minimum(1 << bit, end - start)
        goes_to = np.where(in_second, start + first_size + n_second, start + (here - start) - n_second)
        moved = np.empty(n, dtype=np.int64)
        moved[goes_to] = members
        members = moved
    return counts[:n_events], counts[n_events:]
