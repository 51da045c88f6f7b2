"""Times that may be censored or truncated → Kaplan and Meier's estimate, with Greenwood's intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray


class KaplanMeier(NamedTuple):
    """The share of samples without the event, from each time on.

    Attributes
    ----------
    time, survival : (n_times,) float64
        Times of events, and the share after each; before the first it is 1.
    low, high : (n_times,) float64
        Pointwise interval, on the scale of log(−log(share)); NaN where the share is 0.
    last : float
        The last time at which a sample was seen.
    """

    time: FloatArray
    survival: FloatArray
    low: FloatArray
    high: FloatArray
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
