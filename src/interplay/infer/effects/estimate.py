"""Values or levels of a variable + an outcome → numbers with their 95 % intervals: AUC, odds ratio, correlation,
hazard ratio.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, in_unit, mid_ranks
from interplay.data.models.cox import fit_cox
from interplay.infer.given_test import centred_within

#: Coverage of all intervals; of those of several effects that are compared with each other, all at once.
CONFIDENCE = 0.95

AUC = "AUC"
ODDS_RATIO = "odds ratio"
CLIFF = "Cliff's delta"
RHO = "Spearman's rho"
PARTIAL_RHO = "rank correlation"
MEAN_DIFFERENCE = "difference in means"
HAZARD_RATIO = "hazard ratio"
HAZARD_RATIO_PER_SD = "hazard ratio per SD"
HAZARD_RATIO_PER_UNIT = "hazard ratio per unit"
#: Of variables found in tuples: the effect of the interaction, of all cells or in the one that departs most.
ODDS_RATIO_TOGETHER = "odds ratio of the interaction"
DIFFERENCE_TOGETHER = "difference of differences"
HAZARD_RATIO_TOGETHER = "hazard ratio of the interaction"
ODDS_RATIO_IN_CELL = "odds ratio in one cell"
DIFFERENCE_IN_CELL = "difference of means in one cell"

#: The value of each kind where a variable has no effect.
NO_EFFECT = {
    AUC: 0.5,
    ODDS_RATIO: 1.0,
    CLIFF: 0.0,
    RHO: 0.0,
    PARTIAL_RHO: 0.0,
    MEAN_DIFFERENCE: 0.0,
    HAZARD_RATIO: 1.0,
    HAZARD_RATIO_PER_SD: 1.0,
    HAZARD_RATIO_PER_UNIT: 1.0,
    ODDS_RATIO_TOGETHER: 1.0,
    DIFFERENCE_TOGETHER: 0.0,
    HAZARD_RATIO_TOGETHER: 1.0,
    ODDS_RATIO_IN_CELL: 1.0,
    DIFFERENCE_IN_CELL: 0.0,
}


class Estimate(NamedTuple):
    """A number with its 95 % interval; NaN where it cannot be told."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan

    def includes(self, value: float) -> bool:
        """Say whether the interval includes a value, or is not known."""
        return not (self.low > value or self.high < value)


def normal_quantile(confidence: float = CONFIDENCE) -> float:
    """Return the quantile of the normal distribution that bounds the intervals."""
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))


def simultaneous(n_compared: int) -> float:
    """Return the coverage of each of several intervals that cover together: Šidák's, whatever their correlation.

    Examples
    --------
    >>> round(simultaneous(2), 4)
    0.9747
    """
    return float(CONFIDENCE ** (1 / max(n_compared, 1)))


def strata_rows(strata: IntArray | None, n_samples: int) -> list[IntArray]:
    """Return the numbers of the samples of each stratum; of all, where there are none."""
    if strata is None:
        return [np.arange(n_samples)]
    return [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]


#: Added to all counts of a table in which one is 0 (Haldane, Anscombe).
_ADDED = 0.5

#: Areas this far from 0 and 1 are told apart from these.
_BESIDE = 1e-12


def auc(
    values: FloatArray, is_case: BoolArray, strata: IntArray | None = None, *, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the probability that a case has the larger value, ties counted half, with DeLong's interval.

    The interval is that of the logit. Where the classes do not overlap, DeLong's variance is 0, and the interval is
    Newcombe's (2006, his method 5). Within strata, the areas are averaged with van Elteren's weights.

    `values` (n_samples,), `is_case` (n_samples,), `strata` (n_samples,).

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
        return Estimate(
            value, *_newcombe(value, int(is_case.sum()), int((~is_case).sum()), normal_quantile(confidence))
        )
    reach = normal_quantile(confidence) * math.sqrt(variance) / (value * (1 - value))
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


def _newcombe(value: float, n_cases: int, n_controls: int, quantile: float) -> tuple[float, float]:
    """Return the areas whose score statistic just reaches the normal quantile."""
    from scipy.optimize import brentq

    n_mean = (n_cases + n_controls) / 2

    def departure(area: float) -> float:
        more = (n_mean - 1) * ((1 - area) / (2 - area) + area / (1 + area))
        return quantile * math.sqrt(area * (1 - area) * (1 + more) / (n_cases * n_controls))

    # The ends 0 and 1 solve the equations as well, where they are the value itself: roots are searched beside them.
    low = brentq(lambda area: value - area - departure(area), 0.0, value - _BESIDE) if value > _BESIDE else 0.0
    high = brentq(lambda area: area - value - departure(area), value + _BESIDE, 1.0) if value < 1 - _BESIDE else 1.0
    return float(low), float(high)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0


def odds_ratio(
    has_level: BoolArray, is_case: BoolArray, strata: IntArray | None = None, *, confidence: float = CONFIDENCE
) -> Estimate:
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
    reach = normal_quantile(confidence) * error
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


def spearman(
    values: FloatArray, numbers: FloatArray, strata: IntArray | None = None, *, confidence: float = CONFIDENCE
) -> Estimate:
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
    return correlation(x, y, n_fitted=len(parts) - 1, confidence=confidence)


def correlation(x: FloatArray, y: FloatArray, *, n_fitted: int = 0, confidence: float = CONFIDENCE) -> Estimate:
    """Return the correlation of centred scores, `n_fitted` of whose degrees of freedom are taken, with its interval."""
    length = math.sqrt(float(x @ x) * float(y @ y))
    free = len(x) - n_fitted - 3
    if length <= 0 or free < 1:
        return Estimate()
    value = min(max(float(x @ y) / length, -1.0), 1.0)
    if abs(value) == 1:
        return Estimate(value, value, value)
    z, reach = math.atanh(value), normal_quantile(confidence) * math.sqrt((1 + value**2 / 2) / free)
    return Estimate(value, math.tanh(z - reach), math.tanh(z + reach))


def mean_difference(
    has_level: BoolArray, numbers: FloatArray, strata: IntArray | None = None, *, confidence: float = CONFIDENCE
) -> Estimate:
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
    if not np.isfinite(numbers).all():  # neither have a mean
        return Estimate()
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
    reach = float(stdtrit(sum(freedoms), (1 + confidence) / 2)) * error
    return Estimate(value * unit, (value - reach) * unit, (value + reach) * unit)


def hazard_ratio(
    scores: FloatArray,
    time: FloatArray,
    event: BoolArray,
    strata: IntArray | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Return the hazard ratio of one unit of the scores, with an interval of t.

    Its degrees of freedom are the events of the samples that are compared, less 2: those of a level and of the
    reference, where the other columns are the other levels. Wald's interval is too short with tens of events. Strata
    have baseline hazards of their own. NaN where the model has no finite fit, as with a level without events.

    Examples
    --------
    >>> import numpy as np
    >>> time, event = np.arange(1.0, 41.0), np.tile([True, True, False, True], 10)
    >>> found = hazard_ratio(np.tile([1.0, 0.0], 20), time, event)
    >>> found.low < found.value < found.high
    True
    """
    from scipy.special import stdtrit

    columns = scores.reshape(len(scores), -1)
    if not np.ptp(columns, axis=0).all() or not event.any():
        return Estimate()
    fit = fit_cox(time, event, columns, strata=strata)
    log_ratio, error = float(fit.coefficients[0]), math.sqrt(max(float(fit.covariance[0, 0]), 0.0))
    if not (math.isfinite(log_ratio) and math.isfinite(error)) or abs(log_ratio) > 20 or error > 20:
        return Estimate()
    n_events = int(event[~columns[:, 1:].any(axis=1)].sum())
    reach = float(stdtrit(max(n_events - 2, 1), (1 + confidence) / 2)) * error
    low, high = (math.exp(min(max(bound, -700.0), 700.0)) for bound in (log_ratio - reach, log_ratio + reach))
    return Estimate(math.exp(log_ratio), low, high)


def correlation_given(
    scores: FloatArray,
    others: FloatArray,
    target: FloatArray,
    strata: IntArray | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Return the partial correlation of scores, (n_samples,), with a target, given others, (n_others, n_samples).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 500))
    >>> round(correlation_given(a, b[np.newaxis], a + 3 * b).value, 6)
    1.0
    """
    codes = np.zeros(len(scores), dtype=np.int64) if strata is None else strata
    x, *rest, y = centred_within(np.vstack([scores, others, target]), codes)
    if rest:
        basis = np.linalg.qr(np.array(rest).T)[0].T
        x, y = (row - (row @ basis.T) @ basis for row in (x, y))
    return correlation(x, y, n_fitted=len(rest) + int(codes.max(initial=0)), confidence=confidence)


#: More groups than this are put together into this many blocks of equal numbers of groups.
_MAX_BLOCKS = 40

#: Fewer groups give no interval.
_FEWEST_BLOCKS = 4


def grouped_interval(
    measure: Callable[[IntArray], float], groups: IntArray, scale: str, *, confidence: float = CONFIDENCE
) -> Estimate:
    """Return an effect with an interval by the jackknife over groups.

    - `measure`: numbers of samples → the effect in these.
    - `groups` (n_samples,).
    - `scale` ("logit", "log", "fisher", "plain"): the scale on which the effect is about normal.

    Examples
    --------
    >>> import numpy as np
    >>> numbers, groups = np.arange(40.0), np.repeat(np.arange(10), 4)
    >>> found = grouped_interval(lambda rows: float(numbers[rows].mean()), groups, "plain")
    >>> found.value, round(found.low, 1), round(found.high, 1)
    (19.5, 10.8, 28.2)
    """
    from scipy.special import stdtrit

    forth, back = _SCALES[scale]
    value = measure(np.arange(len(groups)))
    _, number = np.unique(groups, return_inverse=True)
    n_blocks = min(int(number.max(initial=-1)) + 1, _MAX_BLOCKS)
    if not math.isfinite(value) or n_blocks < _FEWEST_BLOCKS:
        return Estimate(value)
    block = number.reshape(-1) % n_blocks
    parts = [measure(np.flatnonzero(block != left_out)) for left_out in range(n_blocks)]
    scaled = np.array([forth(part) for part in parts if math.isfinite(part)])
    centre = forth(value)
    if len(scaled) < _FEWEST_BLOCKS or not np.isfinite(scaled).all() or not math.isfinite(centre):
        return Estimate(value)
    error = math.sqrt((len(scaled) - 1) / len(scaled) * float(((scaled - scaled.mean()) ** 2).sum()))
    reach = float(stdtrit(len(scaled) - 1, (1 + confidence) / 2)) * error
    return Estimate(value, back(centre - reach), back(centre + reach))


def _logit(value: float) -> float:
    return math.log(value / (1 - value)) if 0 < value < 1 else math.inf


def _clipped_logistic(value: float) -> float:
    return 1 / (1 + math.exp(-min(max(value, -700.0), 700.0)))


def _same(value: float) -> float:
    return value


_SCALES: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "logit": (_logit, _clipped_logistic),
    "log": (lambda value: math.log(value) if value > 0 else math.inf, math.exp),
    "fisher": (lambda value: math.atanh(value) if abs(value) < 1 else math.inf, math.tanh),
    "plain": (_same, _same),
}
