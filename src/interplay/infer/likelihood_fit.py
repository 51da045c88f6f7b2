"""Maximum-likelihood fits of the null distribution.

In: ln T with T = −ln(1 − V) of the reference variables. Under γ independent tests T is exponential with rate γ; tests
that overlap make it a Weibull variable, P(T > t) = exp(−γ·t^δ), with δ < 1. The largest T can be censored: of these
only their number counts. So the tail is fitted at small T, where it is needed, and columns with few distinct values,
whose T is far too large for the model, have no influence on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.infer.p_values import NullTail, ShapePosterior, shape_posterior

#: The largest exponent of T^δ: sums of such powers, times their squares, are still finite.
_MAX_EXPONENT = 600.0

#: No 1 − V in double precision is smaller than exp of minus this.
_MAX_HAZARD = 745.0

#: A gain of nearly 0 with hundreds of degrees of freedom has a ln T of some thousands; gains of a damaged file any.
_MIN_LOG_HAZARD = -1e6

_MIN_UNCENSORED = 5

#: A shape above this says that the largest gains are the same but for rounding, and would overflow.
MAX_FREE_SHAPE = 20.0

#: "predictive": values come in clusters if ln T has a gap this many times as wide as those between neighbours would be
#: on average for a shape of 1, around the point of censoring. Without clusters that happens in one of twenty samples of
#: 200 to 400 values, and more often if there are more, or if the tail is heavy (half of them for a shape of 0.6): then
#: "auto" keeps this fit, and p-values become a few percent larger. A gap wider than the second number is not one
#: between clusters but between kinds of variables.
_WIDE_GAP, _TOO_WIDE_GAP = 8.0, 2.0

#: Range in which a wide gap is looked for, in multiples of the number of uncensored values.
_GAP_FROM, _GAP_TO = 0.6, 1.4


class FittedNull(NamedTuple):
    """Parameters of a fit, with their asymptotic standard errors; the defaults are those of a null that needs no fit.

    The fitted variables are those of a window: `n_irrelevant` of them, above the `n_ignored` with the lowest gains. In
    a likelihood fit, the `n_uncensored` smallest T were fitted as they are, and the `posterior` is that of the shape,
    where p-values are averaged over it. Where values come in clusters, `half_gap` is half of the distance between these
    in ln T, and p-values are those of the upper ends of clusters.
    """

    gamma: float
    gamma_error: float = math.nan
    delta: float = 1.0
    delta_error: float = math.nan
    n_irrelevant: int = 0
    n_ignored: int = 0
    min_irrelevant: int = 0
    max_ignored: int = 0
    n_uncensored: int | None = None
    sq_dev: FloatArray = np.empty(0)
    posterior: ShapePosterior | None = None
    half_gap: float = 0.0

    def tail(self, mode: str) -> NullTail:
        """Return the tail of this fit."""
        return NullTail(mode, self.gamma, self.delta, self.posterior)


class LikelihoodMethod(NamedTuple):
    """One way to fit, as `LIKELIHOOD_FITS` lists it."""

    #: How many of n reference variables are fitted by value, those with the smallest V; the others are censored.
    n_uncensored: Callable[[int], int]
    #: From ln T, ascending, how many of them are uncensored, and the largest shape.
    estimate: Callable[[FloatArray, int, float], FittedNull]
    #: Completes the report's sentence "the distribution ..., fitted ...".
    in_words: str


def fit_likelihood(log_hazard: FloatArray, *, fit: str, max_delta: float = 1.0) -> FittedNull:
    """Fit γ, and δ where the shape is free, to the logarithms of T in any order.

    Overlap between tests can only make the tail of a maximum gain heavier than exponential: a shape above 1 is then
    sampling noise, or does not last, and would make p-values too small. Only "predictive" goes up to `max_delta`.
    """
    method = LIKELIHOOD_FITS[fit]
    log_t = np.sort(np.clip(log_hazard, _MIN_LOG_HAZARD, math.log(_MAX_HAZARD)))
    n_seen = min(len(log_t), max(_MIN_UNCENSORED, method.n_uncensored(len(log_t))))
    return method.estimate(log_t, n_seen, max_delta)


def _fit_exponential(log_t: FloatArray, n_seen: int, max_delta: float) -> FittedNull:
    del max_delta  # the shape is 1
    gamma = n_seen / float(np.exp(np.minimum(log_t, log_t[n_seen - 1])).sum())
    return FittedNull(gamma, gamma / math.sqrt(n_seen), n_uncensored=n_seen)


def _fit_weibull(log_t: FloatArray, n_seen: int, max_delta: float) -> FittedNull:
    del max_delta  # a shape above 1 that is only noise would make p-values too small
    return _weibull(np.minimum(log_t, log_t[n_seen - 1]), n_seen, max_delta=1.0)


def _fit_predictive(log_t: FloatArray, n_seen: int, max_delta: float) -> FittedNull:
    """Fit a Weibull tail, and keep the posterior of its shape.

    Columns of two levels and few samples give gains that come in clusters, which stand for all values down to the next
    cluster. If the point of censoring fell somewhere in a cluster, the shape would be off by as much as the clusters
    are wide. So it moves to the middle of the widest gap nearby, and p-values are those of the upper ends of such gaps.
    """
    first, last = (min(max(int(share * n_seen), 2), len(log_t) - 1) for share in (_GAP_FROM, _GAP_TO))
    gaps = np.diff(log_t[first - 1 : last + 1])
    widest = int(np.argmax(gaps)) if len(gaps) else 0
    half_gap = 0.0
    if len(gaps) and _WIDE_GAP / (first + widest) < gaps[widest] < _TOO_WIDE_GAP:
        n_seen, half_gap = first + widest, float(gaps[widest]) / 2
    censored = log_t.copy()
    censored[n_seen:] = log_t[n_seen - 1] + half_gap
    fitted = _weibull(censored, n_seen, max_delta)
    error = fitted.delta_error
    posterior = shape_posterior(censored, n_seen, delta=fitted.delta, delta_error=error, max_delta=max_delta)
    return fitted._replace(
        gamma=fitted.gamma * math.exp(fitted.delta * half_gap),
        gamma_error=fitted.gamma_error * math.exp(fitted.delta * half_gap),
        posterior=posterior.shifted(half_gap),
        half_gap=half_gap,
    )


def _weibull(log_t: FloatArray, n_seen: int, max_delta: float) -> FittedNull:
    """Solve the profile likelihood for δ by Newton's method; γ follows.

    The log-likelihood is r·ln γ + r·ln δ + (δ − 1)·Σ_seen ln T − γ·Σ T^δ, where r variables are seen and the others
    stand at the largest seen T. Its derivative along the profile is monotone in δ, so there is one root.
    """
    if log_t[0] == log_t[n_seen - 1]:
        raise ValueError(
            "fit='weibull' and fit='predictive' cannot be used: the largest gains of the reference variables are all "
            "the same; use fit='tail'"
        )
    centre = float(log_t[:n_seen].mean())
    x = log_t - centre  # keeps T^δ in range, and makes the mean of the seen ones 0
    delta = min(1.0, _MAX_EXPONENT / float(x[-1]))
    for _ in range(100):
        power = np.exp(np.minimum(delta * x, _MAX_EXPONENT))
        mean_x = float((power * x).sum() / power.sum())
        mean_xx = float((power * x * x).sum() / power.sum())
        step = (mean_x - 1.0 / delta) / (mean_xx - mean_x**2 + 1.0 / delta**2)
        new_delta = delta - step if step < delta else 0.5 * delta
        converged = abs(new_delta - delta) <= 1e-13 * delta
        delta = new_delta
        if converged:
            break
    at_bound = delta >= max_delta
    delta = min(delta, max_delta)
    power = np.exp(delta * x)
    gamma = n_seen / float(power.sum()) * math.exp(-delta * centre)
    # Information about (ln γ, δ), from w = γ·T^δ, which sums to n_seen.
    weight = power * (n_seen / power.sum())
    cross = float((weight * log_t).sum())
    info_delta = n_seen / delta**2 + float((weight * log_t**2).sum())
    determinant = n_seen * info_delta - cross**2
    return FittedNull(
        gamma=gamma,
        gamma_error=gamma / math.sqrt(n_seen) if at_bound else gamma * math.sqrt(info_delta / determinant),
        delta=delta,
        delta_error=math.sqrt(n_seen / determinant),
        n_uncensored=n_seen,
    )


#: The likelihood fits that `fit_null` offers, by name.
LIKELIHOOD_FITS = {
    "mle": LikelihoodMethod(lambda n: n, _fit_exponential, "by maximum likelihood"),
    "weibull": LikelihoodMethod(
        # δ costs precision, so small samples keep three quarters. For large ones half is enough and nearer to the tail.
        lambda n: max(n // 2, min(3 * n // 4, 100)),
        _fit_weibull,
        "by maximum likelihood with a free shape (Weibull)",
    ),
    "tail": LikelihoodMethod(
        lambda n: n // 5,
        _fit_exponential,
        "by maximum likelihood in the upper tail (the lowest fifth of the tail probabilities)",
    ),
    "predictive": LikelihoodMethod(
        # The lowest quarter has nearly the shape of the tail beyond; the lower half has not.
        lambda n: n // 4,
        _fit_predictive,
        "by Bayesian averaging of Weibull tails over the lowest quarter of its tail probabilities",
    ),
}
