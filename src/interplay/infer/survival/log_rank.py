"""Times, events, cells → the log-rank test."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, numbered

#: Eigenvalues of the covariance below this share of the largest one count as 0.
_SINGULAR = 1e-9


def log_rank(
    time: FloatArray, event: npt.NDArray[Any], cells: IntArray, entry: FloatArray | None = None
) -> tuple[float, int]:
    """Return the log-rank statistic of several cells, and its degrees of freedom (Mantel 1966, Peto and Peto 1972).

    Parameters
    ----------
    time : (n_samples,) float64
    event : (n_samples,) bool
        Whether the event was seen at that time; else the time is censored.
    cells : (n_samples,) int64
        Number of the cell of each sample.
    entry : (n_samples,) float64, optional
        From where on each sample was seen.

    Examples
    --------
    >>> import numpy as np
    >>> chi2, df = log_rank(np.arange(1.0, 9.0), np.ones(8, dtype=bool), np.array([0, 0, 1, 0, 1, 1, 0, 1]))
    >>> round(chi2, 3), df
    (0.974, 1)
    """
    number = numbered(cells)
    times = np.unique(time[event])
    if number.max() == 0 or len(times) == 0:
        return 0.0, 0
    n_cells = int(number.max()) + 1
    at_risk = np.empty((len(times), n_cells))
    n_events = np.empty((len(times), n_cells))
    for cell in range(n_cells):
        members = number == cell
        at_risk[:, cell] = members.sum() - np.searchsorted(np.sort(time[members]), times)
        if entry is not None:  # a sample that enters at the time of an event is not at risk there
            at_risk[:, cell] -= members.sum() - np.searchsorted(np.sort(entry[members]), times)
        n_events[:, cell] = np.bincount(np.searchsorted(times, time[members & event]), minlength=len(times))
    total, died = at_risk.sum(axis=1), n_events.sum(axis=1)
    share = at_risk / total[:, np.newaxis]
    difference = (n_events - died[:, np.newaxis] * share).sum(axis=0)
    weight = died * np.divide(total - died, total - 1, out=np.zeros_like(total), where=total > 1)
    covariance = np.diag(weight @ share) - share.T @ (weight[:, np.newaxis] * share)
    values, vectors = np.linalg.eigh(covariance)
    used = values > _SINGULAR * max(float(values.max()), 1e-300)
    along = vectors.T @ difference
    return float((along[used] ** 2 / values[used]).sum()), int(used.sum())
