"""Values or levels of a variable + two classes → AUC and odds ratio, with intervals."""

from __future__ import annotations

import math

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.ranks import mid_ranks
from interplay.infer.effects.estimate import Estimate, normal_quantile, strata_rows

#: Added to all counts of a table in which one is 0 (Haldane, Anscombe).
_ADDED = 0.5

#: Areas this far from 0 and 1 are told apart from these.
_BESIDE = 1e-12


def auc(values: FloatArray, is_case: BoolArray, strata: IntArray | None = None) -> Estimate:
    """Return the probability that a case has the larger value, ties counted half, with DeLong's interval.

    The interval is that of the logit. Where the classes do not overlap, DeLong's variance is 0, and the interval is
    Newcombe's (2006, his method 5). Within strata, the areas are averaged with van Elteren's weights.

    Parameters
    ----------
    values : (n_samples,) float64
    is_case : (n_samples,) bool
    strata : (n_samples,) int64, optional

    Examples
    --------
    >>> import numpy as np
    >>> found = auc(np.array([1.0, 2.0, 3.0, 2.5, 4.0, 5.0]), np.array([False] * 3 + [True] * 3))
    >>> round(found.value, 3), found.low < 0.8 < found.high
    (0.889, True)
    """
    weights, areas, variances = [], [], []
    for rows in strata_rows(strata, len(values)):
        n_cases = int(is_case[rows].sum())
        n_controls = len(rows) - n_cases
        if n_cases and n_controls:
            area, variance = _area(values[rows], is_case[rows])
            areas.append(area)
            variances.append(variance)
            weights.append(n_cases * n_controls / len(rows))
    if not weights:
        return Estimate()
    share = np.array(weights) / sum(weights)
    value, variance = float(share @ areas), float(share**2 @ variances)
    if variance <= 0 or not 0 < value < 1:
        return Estimate(value, *_newcombe(value, int(is_case.sum()), int((~is_case).sum())))
    reach = normal_quantile() * math.sqrt(variance) / (value * (1 - value))
    logit = math.log(value / (1 - value))
    return Estimate(value, _logistic(logit - reach), _logistic(logit + reach))


def _area(values: FloatArray, is_case: BoolArray) -> tuple[float, float]:
    """Return the area and DeLong's variance, from the places of each sample among all and in its own class."""
    cases, controls = values[is_case], values[~is_case]
    ranks = mid_ranks(np.concatenate([cases, controls]))
    of_cases = (ranks[: len(cases)] - mid_ranks(cases)) / len(controls)
    of_controls = 1 - (ranks[len(cases) :] - mid_ranks(controls)) / len(cases)
    area = float(of_cases.mean())
    if min(len(cases), len(controls)) < 2:
        return area, area * (1 - area)  # van Dantzig's bound
    return area, float(of_cases.var(ddof=1) / len(cases) + of_controls.var(ddof=1) / len(controls))


def _newcombe(value: float, n_cases: int, n_controls: int) -> tuple[float, float]:
    """Return the areas whose score statistic just reaches the normal quantile."""
    from scipy.optimize import brentq

    n_mean = (n_cases + n_controls) / 2

    def departure(area: float) -> float:
        more = (n_mean - 1) * ((1 - area) / (2 - area) + area / (1 + area))
        return normal_quantile() * math.sqrt(area * (1 - area) * (1 + more) / (n_cases * n_controls))

    # The ends 0 and 1 solve the equations as well, where they are the value itself: roots are searched beside them.
    low = brentq(lambda area: value - area - departure(area), 0.0, value - _BESIDE) if value > _BESIDE else 0.0
    high = brentq(lambda area: area - value - departure(area), value + _BESIDE, 1.0) if value < 1 - _BESIDE else 1.0
    return float(low), float(high)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


def odds_ratio(has_level: BoolArray, is_case: BoolArray, strata: IntArray | None = None) -> Estimate:
    """Return the odds of a case with a level over those without it: Woolf's interval, Mantel–Haenszel within strata.

    Half a sample is added to all counts of a table in which one is 0. The variance within strata is that of Robins,
    Breslow and Greenland.

    Examples
    --------
    >>> import numpy as np
    >>> level, case = np.repeat([True, False], [40, 60]), np.tile([True, True, False, False], 25)
    >>> round(odds_ratio(level, case).value, 3)
    1.0
    """
    tables = []
    for rows in strata_rows(strata, len(is_case)):
        counts = np.bincount(2 * has_level[rows] + is_case[rows], minlength=4).astype(np.float64)
        tables.append([counts[3], counts[2], counts[1], counts[0]])  # with and without the level: cases, controls
    all_counts = np.array(tables)
    if (all_counts.sum(axis=0)[[0, 1]].sum() == 0) or (all_counts.sum(axis=0)[[2, 3]].sum() == 0):
        return Estimate()
    if len(all_counts) == 1:
        counts = all_counts[0] + (_ADDED if (all_counts == 0).any() else 0.0)
        log_ratio = float(np.log(counts[0] * counts[3] / (counts[1] * counts[2])))
        error = math.sqrt(float((1 / counts).sum()))
    else:
        log_ratio, error = _mantel_haenszel(all_counts)
    reach = normal_quantile() * error
    return Estimate(math.exp(log_ratio), math.exp(log_ratio - reach), math.exp(log_ratio + reach))


def _mantel_haenszel(tables: FloatArray) -> tuple[float, float]:
    a, b, c, d = tables.T
    n = np.maximum(tables.sum(axis=1), 1)
    if not (a * d).any() or not (b * c).any():
        a, b, c, d = (column + _ADDED for column in (a, b, c, d))
        n = n + 4 * _ADDED
    agree, differ = a * d / n, b * c / n
    p, q = (a + d) / n, (b + c) / n
    total, other = agree.sum(), differ.sum()
    variance = (
        (p * agree).sum() / (2 * total**2)
        + (p * differ + q * agree).sum() / (2 * total * other)
        + (q * differ).sum() / (2 * other**2)
    )
    return float(np.log(total / other)), math.sqrt(float(variance))
