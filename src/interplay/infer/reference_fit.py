"""Gains of reference variables → parameters of the null distribution, and how well these fit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.checks import warn
from interplay.base.ranks import kolmogorov_tail
from interplay.base.tails import chi2_tail
from interplay.infer.likelihood_fit import LIKELIHOOD_FITS, FittedNull, fit_likelihood
from interplay.infer.lsq_fit import MIN_REFERENCE_VARIABLES, Bounds, LsqFit, fit_lsq
from interplay.infer.p_values import NullTail, log_hazard


@dataclass(frozen=True, eq=False)
class Reference:
    """The variables to which the null distribution is fitted: contrast variables, or real ones if there are none.

    Attributes
    ----------
    statistic : (n,) float64
        Gains in the scale of χ², ascending; variables without a gain are left out.
    df : float or (n,) float64
        Degrees of freedom, in the same order.
    is_contrast : bool
        Whether all are known to be irrelevant.
    """

    statistic: FloatArray
    df: float | FloatArray
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
