"""Gains of reference variables → parameters of the null distribution, and how well these fit.

The window search of the original method: which variables are irrelevant, and the α that they imply.

In: χ² tail probabilities V of the reference variables, sorted by ascending gain. Out: how many of the lowest gains
to ignore, how many of the following variables are irrelevant, and α fitted to these by weighted least squares.

Every window start costs O(n): all window lengths share the same cumulative sums.

By maximum likelihood: ln T with T = −ln(1 − V). Under γ independent tests T is exponential with rate γ; tests that
overlap make it a Weibull variable, P(T > t) = exp(−γ·t^δ), with δ < 1. The largest T can be censored: of these only
their number counts. So the tail is fitted at small T, where it is needed, and columns with few distinct values, whose T
is far too large for the model, have no influence on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, kolmogorov_tail
from interplay.base.checks import check_int, warn
from interplay.base.tails import chi2_tail
from interplay.infer.p_values import NullTail, ShapePosterior, log_hazard, shape_posterior

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


@dataclass(frozen=True, eq=False)
class Reference:
    """The variables to which the null distribution is fitted: contrast variables, or real ones if there are none."""

    #: (n,): gains in the scale of χ², ascending; variables without a gain are left out.
    statistic: FloatArray
    #: float or (n,): degrees of freedom, in the same order.
    df: float | FloatArray
    #: Whether all are known to be irrelevant.
    is_contrast: bool

    @classmethod
    def of(cls, statistic: FloatArray, df: float | FloatArray, *, is_contrast: bool) -> Reference:
        """Keep the variables with a gain and at least one degree of freedom, and sort them by their gains."""
        kept = np.flatnonzero(statistic > 0)
        order = kept[np.argsort(statistic[kept], kind="stable")]
        return cls(statistic[order], df[order] if isinstance(df, np.ndarray) else df, is_contrast=is_contrast)

    def __len__(self) -> int:
        return len(self.statistic)

    @property
    def n_contrast(self) -> int:
        """How many contrast variables there are with a gain."""
        return len(self) if self.is_contrast else 0

    def p_values(self, tail: NullTail) -> FloatArray:
        """Return the p-values of the variables, in their order."""
        return tail.p_values(self.statistic, self.df)

    @property
    def in_words(self) -> str:
        """Name of the variables in messages."""
        return "contrast variables" if self.is_contrast else "variables"


def fit_reference(
    reference: Reference,
    *,
    fit: str,
    mode: str,
    bounds: Bounds,
    search_points: int,
    max_delta: float,
) -> FittedNull:
    """Find the irrelevant variables by the search of "lsq", then fit the wanted distribution to them."""
    lsq = fit_lsq(
        chi2_tail(reference.statistic, reference.df),
        mode=mode,
        whole_window=reference.is_contrast,
        bounds=bounds,
        search_points=search_points,
    )
    if mode != "raw":  # there the p-values do not depend on the search
        _warn_at_borders(lsq, reference.in_words)
    if not lsq.alpha**2 > 0:  # γ and its error are divided by these
        raise ValueError(
            "the null fit fails (alpha is not positive): check the unit, lower n_ignored, or use fit='union'"
        )
    window: dict[str, Any] = {
        "n_irrelevant": lsq.n_irrelevant,
        "n_ignored": lsq.n_ignored,
        "min_irrelevant": bounds.min_irrelevant,
        "max_ignored": bounds.max_ignored,
    }
    if fit not in LIKELIHOOD_FITS or mode == "raw":
        return FittedNull(1.0 / lsq.alpha, lsq.alpha_error / lsq.alpha**2, sq_dev=lsq.sq_dev, **window)
    log_t = log_hazard(reference.statistic, reference.df)[lsq.n_ignored :][: lsq.n_irrelevant]
    return fit_likelihood(log_t, fit=fit, max_delta=max_delta)._replace(**window)


def is_one_heavy_tail(reference: Reference, found: FittedNull) -> bool:
    """Say whether the values may have one heavy tail: most of them then show its shape more precisely.

    Several degrees of freedom are evidence against it, because they are several distributions; so are values that come
    in clusters, and a shape that is above 1 by more than two standard errors.
    """
    return (
        not isinstance(reference.df, np.ndarray) and not found.half_gap and found.delta <= 1.0 + 2.0 * found.delta_error
    )


def goodness_of_fit(reference: Reference, found: FittedNull, *, mode: str) -> float:
    """Return the Kolmogorov–Smirnov p of the fitted variables' p-values; NaN if these are too few."""
    reference_p = reference.p_values(found.tail(mode))
    window = reference_p[found.n_ignored :][: found.n_irrelevant]
    if len(window) < MIN_REFERENCE_VARIABLES:
        return math.nan
    if found.n_uncensored is None:
        # The original also counts the first variable above the window.
        return _ks_uniform(reference_p[found.n_ignored :][: found.n_irrelevant + 1])
    # Given the largest of the uncensored p-values, the smaller ones are uniform below it.
    seen = np.sort(window)[: found.n_uncensored]
    if found.half_gap and found.posterior is not None:
        # Each value stands for all of its cluster, down to the lower end of the gap below.
        at_lower_ends = found._replace(posterior=found.posterior.shifted(-2 * found.half_gap))
        lower = np.sort(reference.p_values(at_lower_ends.tail(mode))[found.n_ignored :][: found.n_irrelevant])
        return _ks_uniform(seen[:-1] / seen[-1], lower[: found.n_uncensored - 1] / seen[-1])
    return _ks_uniform(window) if found.n_uncensored == len(window) else _ks_uniform(seen[:-1] / seen[-1])


def _ks_uniform(sample: FloatArray, lower: FloatArray | None = None) -> float:
    """Two-sided; exact for fewer than 100 values without ties, as in R.

    Values that are only known to lie between `lower` and `sample`, both ascending, count where they are nearest.
    """
    ordered = np.sort(sample)
    n = len(ordered)
    rank = np.arange(n)
    above = ordered if lower is None else lower
    distance = float(max((above - rank / n).max(), ((rank + 1) / n - ordered).max()))
    if n < 100 and (np.diff(ordered) > 0).all():
        return kolmogorov_tail(distance, n)
    from scipy.special import kolmogorov

    return float(kolmogorov(distance * math.sqrt(n)))


def _warn_at_borders(lsq: LsqFit, kind: str) -> None:
    if lsq.ignored_at_border:
        warn(
            f"the null fit ignores {lsq.n_ignored} {kind} of low gain, the largest number allowed, so it may be "
            "inaccurate: remove constant and nearly constant columns, raise max_ignored, or use fit='union'"
        )
    if lsq.irrelevant_at_border:
        warn(
            f"the null fit takes only {lsq.n_irrelevant} variables as irrelevant, the smallest number allowed, so it "
            "may be inaccurate: use contrast variables, lower min_irrelevant, or use fit='union'"
        )


#: With fewer reference variables the search for the ignored ones has no candidates.
MIN_REFERENCE_VARIABLES = 6


@dataclass(frozen=True)
class LsqFit:
    """A fitted window."""

    #: `alpha`, `alpha_error`: the parameter and its error, 1 and the spread around it in mode "raw".
    alpha: float
    alpha_error: float
    #: `n_ignored`, `n_irrelevant`: the window is ``n_ignored : n_ignored + n_irrelevant`` of the sorted variables.
    n_ignored: int
    n_irrelevant: int
    #: (n − n_ignored,): mean squared deviation if the window held 0, 1, … variables, which the search minimises. One
    #: undefined value (0/0) of mode "lin" is NaN.
    sq_dev: FloatArray
    #: `ignored_at_border`, `irrelevant_at_border`: the search stopped where it was not allowed to go on.
    ignored_at_border: bool
    irrelevant_at_border: bool


class Bounds(NamedTuple):
    """Limits of the search, all checked against the number of variables; None means: to be searched."""

    n_irrelevant: int | None
    n_ignored: int | None
    min_irrelevant: int
    max_ignored: int


def check_bounds(
    n: int,
    *,
    n_irrelevant: int | None = None,
    n_ignored: int | None = None,
    min_irrelevant: int | None = None,
    max_ignored: int | None = None,
) -> Bounds:
    """Fill in the defaults for `n` reference variables, and refuse numbers that do not fit."""
    if n_ignored is not None:
        n_ignored = check_int("n_ignored", n_ignored, low=0, high=n - 2)
    if n_irrelevant is not None:
        n_irrelevant = check_int("n_irrelevant", n_irrelevant, low=2, high=n - (n_ignored or 0))
    if min_irrelevant is None:
        min_irrelevant = min(n // 3, 30, n - (n_ignored or 0))
    else:
        min_irrelevant = check_int("min_irrelevant", min_irrelevant, low=2, high=n - (n_ignored or 0))
    needed = n_irrelevant if n_irrelevant is not None and n_ignored is None else min_irrelevant
    if max_ignored is None:
        max_ignored = min(n // 3, n - needed)
    else:
        max_ignored = check_int("max_ignored", max_ignored, low=0, high=n - needed)
    return Bounds(n_irrelevant, n_ignored, min_irrelevant, max_ignored)


def fit_lsq(tail_p: FloatArray, *, mode: str, whole_window: bool, bounds: Bounds, search_points: int) -> LsqFit:
    """Search the window of irrelevant variables and fit α to it.

    - `tail_p` (n,): V of the reference variables, by ascending gain.
    - `mode` ({"raw", "lin", "exp"}).
    - `whole_window`: everything that is not ignored is irrelevant: true of contrast variables.
    - `search_points`: window starts tried in each pass; each pass refines the best start of the one before.
    """
    windows = _Windows(tail_p, mode=mode, whole_window=whole_window, bounds=bounds)
    last_start = max(0, bounds.max_ignored - 2)  # the original's range for the 1-based start is [1, max_ignored)
    if bounds.n_ignored is not None:
        best = windows.fit(bounds.n_ignored)
    else:
        best = _search_start(windows, max_ignored=bounds.max_ignored, search_points=search_points)
    return LsqFit(
        alpha=best.alpha,
        alpha_error=best.alpha_error,
        n_ignored=best.start,
        n_irrelevant=best.length,
        sq_dev=best.sq_dev,
        ignored_at_border=bounds.n_ignored is None and 0 < last_start == best.start,
        irrelevant_at_border=bounds.n_irrelevant is None and not whole_window and best.length == bounds.min_irrelevant,
    )


class _Window(NamedTuple):
    start: int
    length: int
    deviation: float
    alpha: float
    alpha_error: float
    sq_dev: FloatArray


class _Windows:
    """Fits of all window lengths for one start; the start is 0-based, so it is the number of ignored variables."""

    def __init__(self, tail_p: FloatArray, *, mode: str, whole_window: bool, bounds: Bounds) -> None:
        n = len(tail_p)
        rank = np.arange(1.0, n + 1.0)
        self.tail_p = tail_p
        self.mode = mode
        self.whole_window = whole_window
        self.bounds = bounds
        # Weights are inverse variances of the order statistics, in the scale of the fit.
        self.abscissa = a = np.log(rank) if mode == "exp" else rank
        w = rank / (n - rank + 1.0) if mode == "exp" else 1.0 / (rank * (n - rank + 1.0))
        self.weighted = np.stack([w, w * a, w * a * a, w * tail_p, w * tail_p * a, w * tail_p * tail_p])

    def fit(self, start: int) -> _Window:
        v, weighted = self.tail_p[start:], self.weighted[:, start:]
        n_left = len(v)
        # The end of a window is measured by its length, not by its place among all variables: as in the original.
        end = self.abscissa[:n_left]
        sum_w, sum_wa, sum_waa, sum_wv, sum_wva, sum_wvv = np.cumsum(weighted, axis=1)
        # The model is V = α·z with z = end − a (exp) or 1 − a/end (lin, raw); s_zz = Σ w z², s_vz = Σ w v z.
        if self.mode == "exp":
            s_zz = sum_waa - 2 * end * sum_wa + end**2 * sum_w
            s_vz = end * sum_wv - sum_wva
            alpha = np.cumsum(v) / np.arange(1.0, n_left + 1.0)
        else:
            s_zz = sum_w - 2 * sum_wa / end + sum_waa / end**2
            s_vz = sum_wv - sum_wva / end
            with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 in a window of the first variable alone
                alpha = s_vz / s_zz if self.mode == "lin" else np.ones(n_left)
        residual = sum_wvv - 2 * alpha * s_vz + alpha**2 * s_zz
        # Beyond the window the model says V = 0: all of V there counts as deviation.
        beyond = np.cumsum(weighted[-1, ::-1])[::-1]
        sq_dev = (np.concatenate(([0.0], residual[:-1])) + beyond) / sum_w[-1]

        bounds = self.bounds
        if bounds.n_irrelevant is not None:
            last = bounds.n_irrelevant - 1
        elif self.whole_window:
            last = n_left - 1
        else:
            first = bounds.min_irrelevant - 1
            last = first + int(np.argmin(np.where(np.isnan(sq_dev), np.inf, sq_dev)[first:]))
        with np.errstate(invalid="ignore", divide="ignore"):
            error = float(np.sqrt(np.abs(residual[last] / s_zz[last])))
        return _Window(start, last + 1, float(sq_dev[last]), float(alpha[last]), error, sq_dev)


def _search_start(windows: _Windows, *, max_ignored: int, search_points: int) -> _Window:
    """Coarse to fine over the number of ignored variables; the first of equal deviations wins."""
    best = windows.fit(0)
    low, high = 1, max_ignored
    while True:
        step = max(1, round((high - low) / search_points))
        for start in range(low, high, step):
            candidate = windows.fit(start - 1)
            if candidate.deviation < best.deviation:
                best = candidate
        if step == 1:
            return best
        low, high = max(1, best.start + 1 - step), min(max_ignored, best.start + 1 + step)
