"""Log hazards of cells → the power of a likelihood ratio of Cox's model with and without the interaction."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.number_interaction.departure import departure


def time_power(log_hazards: FloatArray, counts: IntArray, *, event_share: float, log_threshold: float) -> float:
    """Return the chance of a p-value below the threshold, over the drawn sizes of cells.

    The information about a contrast of log hazards is that of the events in each cell (Schoenfeld, 1981): an event
    weighs as much as a number with a variance of 1. Exact for small effects.

    Parameters
    ----------
    log_hazards : (levels …) float64
    counts : (n_drawn, levels …) int64
        Samples of the cells.
    event_share : float
        Share of samples whose event is seen.

    Examples
    --------
    >>> xor = np.array([[0.3, -0.3], [-0.3, 0.3]])
    >>> even = np.full((1, 2, 2), 100)
    >>> round(time_power(xor, even, event_share=0.7, log_threshold=float(np.log(0.05))), 3)
    0.999
    """
    from scipy.stats import chi2, ncx2

    events = counts * event_share
    apart = departure(np.broadcast_to(log_hazards, counts.shape), events.astype(np.float64))
    tested = apart.df > 0
    power = np.zeros(len(counts))
    limit = chi2.isf(np.exp(log_threshold), apart.df[tested])
    power[tested] = ncx2.sf(limit, apart.df[tested], np.maximum(apart.squares[tested], 1e-12))
    return float(power.mean())
