"""Gains of reference variables → parameters of the null distribution, and how well these fit.

The window search of the original method: which variables are irrelevant, and the α that they imply.

In: χ² tail probabilities V of the reference variables, sorted by ascending gain. Out: how many of the lowest gains
to ignore, how many of the following variables are irrelevant, and α fitted to these by weighted least squares.

Every window start costs O(n): all window lengths share the same cumulative sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.checks import check_int, warn
from interplay.base.ranks import kolmogorov_tail
from interplay.base.tails import chi2_tail
from interplay.infer.likelihood_fit import LIKELIHOOD_FITS, FittedNull, fit_likelihood
from interplay.infer.p_values import NullTail, log_hazard


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
