"""Values or levels of a variable + an outcome of numbers → rank correlation and difference in means, with intervals."""

from __future__ import annotations

import math

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, in_unit
from interplay.base.ranks import mid_ranks
from interplay.infer.effects.estimate import CONFIDENCE, Estimate, normal_quantile, strata_rows


def spearman(values: FloatArray, numbers: FloatArray, strata: IntArray | None = None) -> Estimate:
    """Return Spearman's ρ with Bonett and Wright's interval: that of Fisher's z, of variance (1 + ρ²/2)/(n − 3).

    Within strata, ranks are those in the stratum, less their mean.

    Examples
    --------
    >>> import numpy as np
    >>> found = spearman(np.arange(10.0), np.array([0.0, 2, 1, 3, 5, 4, 6, 8, 7, 9]))
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2)
    (0.964, 0.8, 0.99)
    """
    parts = strata_rows(strata, len(values))
    x, y = np.zeros(len(values)), np.zeros(len(values))
    for rows in parts:
        for ranks, of_stratum in ((x, values), (y, numbers)):
            ranks[rows] = (mid_ranks(of_stratum[rows]) - (len(rows) + 1) / 2) / len(rows)
    return correlation(x, y, n_fitted=len(parts) - 1)


def correlation(x: FloatArray, y: FloatArray, *, n_fitted: int = 0) -> Estimate:
    """Return the correlation of centred scores, `n_fitted` of whose degrees of freedom are taken, with its interval."""
    length = math.sqrt(float(x @ x) * float(y @ y))
    free = len(x) - n_fitted - 3
    if length <= 0 or free < 1:
        return Estimate()
    value = min(max(float(x @ y) / length, -1.0), 1.0)
    if abs(value) == 1:
        return Estimate(value, value, value)
    z, reach = math.atanh(value), normal_quantile() * math.sqrt((1 + value**2 / 2) / free)
    return Estimate(value, math.tanh(z - reach), math.tanh(z + reach))


def mean_difference(has_level: BoolArray, numbers: FloatArray, strata: IntArray | None = None) -> Estimate:
    """Return the mean with a level less that without it, with Welch's interval; strata by their inverse variances.

    Examples
    --------
    >>> import numpy as np
    >>> found = mean_difference(np.repeat([False, True], 4), np.array([1.0, 2, 3, 4, 3, 4, 5, 6]))
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (2.0, -0.234, 4.234)
    """
    from scipy.special import stdtrit

    numbers, unit = in_unit(numbers)
    differences, variances, freedoms = [], [], []
    for rows in strata_rows(strata, len(numbers)):
        one, other = numbers[rows][has_level[rows]], numbers[rows][~has_level[rows]]
        if min(len(one), len(other)) < 2:
            continue
        parts = [float(side.var(ddof=1)) / len(side) for side in (one, other)]
        if sum(parts) > 0:
            differences.append(float(one.mean() - other.mean()))
            variances.append(sum(parts))
            share = parts[0] / sum(parts)
            freedoms.append(1 / (share**2 / (len(one) - 1) + (1 - share) ** 2 / (len(other) - 1)))
    if not differences:
        return Estimate()
    weights = min(variances) / np.array(variances)
    value, error = float(weights @ differences / weights.sum()), math.sqrt(min(variances) / float(weights.sum()))
    reach = float(stdtrit(sum(freedoms), (1 + CONFIDENCE) / 2)) * error
    return Estimate(value * unit, (value - reach) * unit, (value + reach) * unit)
