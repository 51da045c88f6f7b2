"""Maximum-likelihood fits of the null distribution.

In: ln T with T = −ln(1 − V) of the reference variables. Under γ independent tests T is exponential with rate γ; tests
that overlap make it a Weibull variable, P(T > t) = exp(−γ·t^δ), with δ < 1. The largest T can be censored: of these
only their number counts. A tail probability that is wanted at small T is so fitted at small T, and columns of little
variety, whose T is far too large for the model, do no harm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from interplay.arrays import FloatArray

#: No 1 − V in double precision is smaller than exp of minus this.
_MAX_HAZARD = 745.0

_MIN_UNCENSORED = 5


class LikelihoodFit(NamedTuple):
    """Parameters with their asymptotic standard errors; the `n_uncensored` smallest T were fitted as they are."""

    gamma: float
    gamma_error: float
    delta: float
    delta_error: float
    n_uncensored: int


class LikelihoodMethod(NamedTuple):
    """One way to fit, as `LIKELIHOOD_FITS` lists it.

    Attributes
    ----------
    n_uncensored : callable
        How many of n reference variables are fitted by value, those with the smallest V; the others are censored.
    estimate : callable
        From ln T, ascending, the censored ones at the largest uncensored value, and the number of uncensored ones.
    in_words : str
        Completes the report's sentence "the distribution ..., fitted ...".
    """

    n_uncensored: Callable[[int], int]
    estimate: Callable[[FloatArray, int], LikelihoodFit]
    in_words: str


def fit_likelihood(log_hazard: FloatArray, *, fit: str) -> LikelihoodFit:
    """Fit γ, and δ for "weibull", to the logarithms of T in any order."""
    method = LIKELIHOOD_FITS[fit]
    log_t = np.sort(np.minimum(log_hazard, math.log(_MAX_HAZARD)))
    n_seen = min(len(log_t), max(_MIN_UNCENSORED, method.n_uncensored(len(log_t))))
    return method.estimate(np.minimum(log_t, log_t[n_seen - 1]), n_seen)


def _fit_exponential(log_t: FloatArray, n_seen: int) -> LikelihoodFit:
    gamma = n_seen / float(np.exp(log_t).sum())
    return LikelihoodFit(gamma, gamma / math.sqrt(n_seen), 1.0, math.nan, n_seen)


def _fit_weibull(log_t: FloatArray, n_seen: int) -> LikelihoodFit:
    """Solve the profile likelihood for δ ≤ 1 by Newton's method; γ follows.

    The log-likelihood is r·ln γ + r·ln δ + (δ − 1)·Σ_seen ln T − γ·Σ T^δ, where r variables are seen and the others
    stand at the largest seen T. Its derivative along the profile is monotone in δ, so there is one root. A root above 1
    is sampling noise, as overlap can only make the tail heavier than exponential, and would make p-values too small:
    then δ = 1.
    """
    if log_t[0] == log_t[n_seen - 1]:
        raise ValueError("fit='weibull' cannot be used: the reference variables all have the same gain; use fit='tail'")
    centre = float(log_t[:n_seen].mean())
    x = log_t - centre  # keeps T^δ in range, and makes the mean of the seen ones 0
    delta = 1.0
    for _ in range(100):
        power = np.exp(delta * x)
        mean_x = float((power * x).sum() / power.sum())
        mean_xx = float((power * x * x).sum() / power.sum())
        step = (mean_x - 1.0 / delta) / (mean_xx - mean_x**2 + 1.0 / delta**2)
        new_delta = delta - step if step < delta else 0.5 * delta
        converged = abs(new_delta - delta) <= 1e-13 * delta
        delta = new_delta
        if converged:
            break
    at_bound = delta >= 1.0
    delta = min(delta, 1.0)
    power = np.exp(delta * x)
    gamma = n_seen / float(power.sum()) * math.exp(-delta * centre)
    # Information about (ln γ, δ), from w = γ·T^δ, which sums to n_seen.
    weight = power * (n_seen / power.sum())
    cross = float((weight * log_t).sum())
    info_delta = n_seen / delta**2 + float((weight * log_t**2).sum())
    determinant = n_seen * info_delta - cross**2
    return LikelihoodFit(
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
}
