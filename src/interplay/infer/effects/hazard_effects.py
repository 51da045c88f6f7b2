"""Scores or levels of a variable + times that may be censored → the hazard ratio of Cox's model, with its interval."""

from __future__ import annotations

import math

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.data.models.cox import fit_cox
from interplay.infer.effects.estimate import Estimate, normal_quantile


def hazard_ratio(scores: FloatArray, time: FloatArray, event: BoolArray, strata: IntArray | None = None) -> Estimate:
    """Return the hazard ratio of one unit of the scores, with Wald's interval.

    Strata have baseline hazards of their own. NaN where the model has no finite fit, as with a level without events.

    Examples
    --------
    >>> import numpy as np
    >>> time, event = np.arange(1.0, 41.0), np.tile([True, True, False, True], 10)
    >>> found = hazard_ratio(np.tile([1.0, 0.0], 20), time, event)
    >>> found.low < found.value < found.high
    True
    """
    if np.ptp(scores) == 0 or not event.any():
        return Estimate()
    fit = fit_cox(time, event, scores[:, np.newaxis], strata=strata)
    log_ratio, error = float(fit.coefficients[0]), math.sqrt(max(float(fit.covariance[0, 0]), 0.0))
    if not (math.isfinite(log_ratio) and math.isfinite(error)) or abs(log_ratio) > 20 or error > 20:
        return Estimate()
    reach = normal_quantile() * error
    return Estimate(math.exp(log_ratio), math.exp(log_ratio - reach), math.exp(log_ratio + reach))
