"""Gains and the parameters of a null fit → p-values, adjusted p-values, order of significance.

No number close to 1 is subtracted from 1 here: a p-value of 1e-200 comes out as 1e-200, and where even the smallest
double is too large (below 1e-308) the logarithms still distinguish the variables.

Censored values of a Weibull tail → the posterior of its shape → the probability that a further value is as small.

A fitted tail is known only as well as its reference variables are many, and the farther a p-value lies beyond them the
more this matters. Instead of taking the most likely shape for the true one, the p-value is averaged over all shapes, by
how well they explain the reference variables. ln T of a Weibull variable has a location and a scale. With the invariant
prior of these (uniform in the location and in the logarithm of the scale) such averages are exact: of values that truly
are Weibull distributed, a share α gets p ≤ α, with any number of reference variables.

Given the shape δ, the rate γ can be integrated by hand: with r values seen and S the sum of T^δ over all, the censored
ones at the point of censoring, p = 1 − (1 + T^δ / S)^(−r). The shape is left to a sum over nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, check_numbers, check_real, shown
from interplay.base.tails import chi2_tail, log_chi2_cdf, log_chi2_tail

#: Doubled nats below this count as this: a gain of 0 (or a little below, by rounding) has a tail probability near 1.
MIN_STATISTIC = 1e-8

#: From a gain to the scale of χ².
CHI2_PER_UNIT = {"bits": 2.0 * np.log(2.0), "nats": 2.0, "chi2": 1.0}


class Adjustment(NamedTuple):
    """A way to adjust p-values for the number of tests."""

    #: As papers name it.
    words: str
    #: As statsmodels names it.
    method: str
    #: Whether it bounds the share of false discoveries, not the chance of any.
    bounds_share: bool = False
    #: What takes its place where only the smallest p-values are known; None where these suffice.
    of_smallest: str | None = None


_BH = Adjustment("the Benjamini–Hochberg method", "fdr_bh", bounds_share=True)
_BY = Adjustment("the Benjamini–Yekutieli method", "fdr_by", bounds_share=True)
_HOCHBERG = Adjustment("Hochberg's method", "simes-hochberg")

#: By what users write: R's names, and those of statsmodels.
ADJUSTMENTS = {
    "holm": Adjustment("Holm's method", "holm"),
    "hochberg": _HOCHBERG,
    "hommel": Adjustment("Hommel's method", "hommel", of_smallest="holm"),
    "bonferroni": Adjustment("Bonferroni's method", "bonferroni"),
    "BH": _BH,
    "fdr": _BH,
    "BY": _BY,
    "none": Adjustment("no method", "none"),
    "sidak": Adjustment("Šidák's method", "sidak", of_smallest="bonferroni"),
    "holm-sidak": Adjustment("the Holm–Šidák method", "holm-sidak", of_smallest="holm"),
    "simes-hochberg": _HOCHBERG,
    "fdr_bh": _BH,
    "fdr_by": _BY,
    "fdr_tsbh": Adjustment("the two-stage Benjamini–Hochberg method", "fdr_tsbh", True, "BH"),
    "fdr_tsbky": Adjustment("the two-stage Benjamini–Krieger–Yekutieli method", "fdr_tsbky", True, "BH"),
    "fdr_gbs": Adjustment(
        "the adaptive step-down method of Gavrilov, Benjamini and Sarkar", "fdr_gbs", True, of_smallest="BH"
    ),
}

ADJUST_METHODS = tuple(ADJUSTMENTS)

#: Methods for which the p-values that are not listed need not be known.
LISTED_METHODS = tuple(name for name, each in ADJUSTMENTS.items() if each.of_smallest is None)


def chi2_statistic(gains: npt.ArrayLike, *, unit: str, name: str = "gains") -> FloatArray:
    """Return the gains in the scale of χ²; NaN for variables without a gain (NaN or −∞)."""
    values = check_numbers(name, gains, (None,))
    if len(values) == 0 and name == "gains":
        raise ValueError("gains must hold at least one gain; it is empty")
    if np.isposinf(values).any():
        raise ValueError(f"{name} holds an infinite gain at position {int(np.argmax(np.isposinf(values)))}: remove it")
    values[np.isneginf(values)] = np.nan
    statistic: FloatArray = np.maximum(CHI2_PER_UNIT[unit] * values, MIN_STATISTIC)
    return statistic


def with_df(name: str, statistic: FloatArray, df: float | npt.ArrayLike) -> tuple[FloatArray, float | FloatArray]:
    """Check df and make it one number if it can be.

    Variables without degrees of freedom, which have one level, get a statistic of 0: V = 1.
    """
    try:
        values = np.array(df, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or one number per gain, not {shown(df)}") from None
    has_gain = ~np.isnan(statistic)
    if values.ndim == 0:
        if not (np.isfinite(values) and values >= 1e-6):
            raise ValueError(f"{name} must be positive, not {values:g}")
        return statistic, float(values)
    if values.shape != statistic.shape:
        raise ValueError(f"{name} must be one number or one per gain: {len(statistic)} gains, shape {values.shape}")
    if not (np.isfinite(values[has_gain]) & (values[has_gain] >= 0)).all():
        raise ValueError(f"{name} must be finite and not negative for every variable with a gain")
    one_level = has_gain & (values == 0)
    statistic = np.where(one_level, 0.0, statistic)
    counted = values[has_gain & ~one_level]
    if len(counted) == 0:
        return statistic, 1.0
    if (counted == counted[0]).all():
        return statistic, float(counted[0])
    return statistic, np.where(has_gain & ~one_level, values, 1.0)


def hazard(statistic: FloatArray, df: float | FloatArray) -> FloatArray:
    """Return −ln(1 − V), the variable of the exponential null models. Exact for V near 0 and near 1."""
    return -log_chi2_cdf(statistic, df)


def log_hazard(statistic: FloatArray, df: float | FloatArray) -> FloatArray:
    """Return ln(−ln(1 − V)); it is ln V where V is tiny, also where V itself is too small for a double."""
    log_tail = log_chi2_tail(statistic, df)
    with np.errstate(divide="ignore"):
        direct = np.log(hazard(statistic, df))
    return np.where(log_tail < -50.0, log_tail, direct)


class NullTail(NamedTuple):
    """The tail of the distribution of gains of irrelevant variables.

    Mode "exp": p = 1 − exp(−γ·(−ln(1 − V))^δ), which for δ = 1 is 1 − (1 − V)^γ; with a `posterior` of the shape, its
    mean over γ and δ. Modes "lin" and "raw": γ·V, at most 1.
    """

    mode: str
    gamma: float
    delta: float = 1.0
    posterior: ShapePosterior | None = None

    def p_values(self, statistic: FloatArray, df: float | FloatArray) -> FloatArray:
        """Return the probability that an irrelevant variable reaches `statistic`."""
        if self.posterior is not None:
            return np.asarray(np.exp(self.posterior.log_p(log_hazard(statistic, df))))
        if self.mode == "exp":
            return np.asarray(-np.expm1(-self.gamma * hazard(statistic, df) ** self.delta), dtype=np.float64)
        return np.asarray(np.minimum(self.gamma * chi2_tail(statistic, df), 1.0))

    def log_p_values(self, statistic: FloatArray, df: float | FloatArray) -> FloatArray:
        """Return the natural logarithms of the p-values, finite also where these underflow to 0."""
        if self.posterior is not None:
            return self.posterior.log_p(log_hazard(statistic, df))
        if self.mode != "exp":
            return np.asarray(np.minimum(np.log(self.gamma) + log_chi2_tail(statistic, df), 0.0))
        log_exponent = np.log(self.gamma) + self.delta * log_hazard(statistic, df)
        with np.errstate(over="ignore"):
            direct = np.log(-np.expm1(-np.exp(np.maximum(log_exponent, -40.0))))
        return np.asarray(np.where(log_exponent < -40.0, log_exponent, direct), dtype=np.float64)


def adjust(p_values: npt.ArrayLike, method: str = "holm", *, level: float = 0.05) -> FloatArray:
    """Adjust p-values for the number of tests.

    - `p_values` (n_vars,) array_like: NaN (a variable that was not tested) stays NaN and is not counted as a test.
    - `method`: R's names "holm", "hochberg", "hommel", "bonferroni", "BH" or "fdr", "BY", "none", or statsmodels' names
      "sidak", "holm-sidak", "simes-hochberg", "fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky", "fdr_gbs". Under an unknown
      dependence between the tests, which is the case here, "holm" bounds the probability of any false selection and
      "BY" the share of false ones.
    - `level`: only the two-stage methods ("fdr_tsbh", "fdr_tsbky") depend on it.

    Returns
    -------
    (n_vars,) float64

    Examples
    --------
    >>> import numpy as np
    >>> from interplay.infer.p_values import adjust
    >>> adjust([1e-300, 0.01, np.nan, 0.2], "holm").tolist()
    [3e-300, 0.02, nan, 0.2]
    """
    check_choice("p_adjust", method, ADJUST_METHODS)
    check_real("level", level, low=0.0, high=1.0, low_open=True, high_open=True)
    p = check_numbers("p_values", p_values, (None,))
    adjusted = p.copy()
    tested = ~np.isnan(p)
    if ((p[tested] < 0) | (p[tested] > 1)).any():
        raise ValueError("p_values must lie between 0 and 1")
    if method == "none" or not tested.any():
        return adjusted
    if method == "holm":
        adjusted[tested] = _holm(p[tested])
        return adjusted
    from statsmodels.stats.multitest import multipletests

    with np.errstate(divide="ignore"):  # "fdr_gbs" divides by 1 − p
        result = multipletests(p[tested], alpha=level, method=ADJUSTMENTS[method].method)[1]
    adjusted[tested] = np.minimum(result, 1.0)
    return adjusted


def relevant_mask(p_adjusted: npt.ArrayLike, *, level: float = 0.05) -> BoolArray:
    """Say which variables are relevant: adjusted p below `level`; untested (NaN) ones are not.

    Examples
    --------
    >>> from interplay.infer.p_values import relevant_mask
    >>> relevant_mask([0.01, 0.05, float("nan")], level=0.05).tolist()
    [True, False, False]
    """
    level = check_real("level", level, low=0.0, high=1.0, low_open=True)
    return np.asarray(np.asarray(p_adjusted, dtype=np.float64) < level, dtype=np.bool_)


def significance_order(p_values: npt.ArrayLike, gains: npt.ArrayLike | None = None) -> IntArray:
    """Order variables by p, then by gain (larger first), then as they came; untested (NaN) ones last.

    `p_values` may be logarithms: then p-values that underflow to 0 are told apart even where gains are not comparable.

    Examples
    --------
    >>> from interplay.infer.p_values import significance_order
    >>> significance_order([0.5, 0.0, float("nan"), 0.0], [3.0, 200.0, 0.0, 900.0]).tolist()
    [3, 1, 0, 2]
    """
    p = np.asarray(p_values, dtype=np.float64)
    gain = np.zeros_like(p) if gains is None else np.asarray(gains, dtype=np.float64)
    if gain.shape != p.shape:
        raise ValueError(f"gains must have one entry per p-value: {gain.shape} and {p.shape} differ")
    return np.lexsort((-gain, p)).astype(np.int64)


def _holm(p: FloatArray) -> FloatArray:
    """The default method, without the second that importing statsmodels takes."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


#: Number of nodes, evenly spaced in ln δ, and standard errors to each side. The error of the sum is below 1e-6.
_N_NODES = 41
_N_ERRORS = 6.0


@dataclass(frozen=True, eq=False)
class ShapePosterior:
    """Shapes of the tail, and how likely they are."""

    #: (n_nodes,): shapes, ascending.
    delta: FloatArray
    #: (n_nodes,): ln S of each.
    log_sum: FloatArray
    #: (n_nodes,): their posterior probabilities.
    weight: FloatArray
    #: Reference variables that were not censored, r.
    n_seen: int

    def is_consistent(self) -> bool:
        """Say whether the arrays belong together: a file may say anything."""
        return (
            self.delta.ndim == 1
            and len(self.delta) > 0
            and self.delta.shape == self.log_sum.shape == self.weight.shape
            and bool(np.isfinite([self.delta, self.log_sum, self.weight]).all())
            and bool((self.delta > 0).all() and (self.weight >= 0).all())
            and abs(float(self.weight.sum()) - 1.0) < 1e-6
            and self.n_seen > 0
        )

    def to_array(self) -> FloatArray:
        """Return shapes, ln S and weights, (3, n_nodes)."""
        return np.stack([self.delta, self.log_sum, self.weight])

    def shifted(self, by: float) -> ShapePosterior:
        """Return the same for T larger by a factor, of which this is the logarithm."""
        return replace(self, log_sum=self.log_sum - self.delta * by)

    def log_p(self, log_t: FloatArray) -> FloatArray:
        """Return ln of the probability that a further value is at most T, from ln T; finite however small it is."""
        with np.errstate(divide="ignore"):
            log_weight = np.log(self.weight)
        total = np.full(np.shape(log_t), -np.inf)
        for delta, log_sum, log_w in zip(self.delta, self.log_sum, log_weight, strict=True):
            log_u = delta * log_t - log_sum
            direct = np.log(-np.expm1(-self.n_seen * np.log1p(np.exp(np.clip(log_u, -40.0, 700.0)))))
            # Of 1 − (1 + u)^(−r), r·u remains where u is tiny, and can be told where u itself is 0 as a double.
            log_p = np.where(log_u < -40.0, np.log(self.n_seen) + log_u, direct)
            with np.errstate(invalid="ignore"):  # NaN stands for a variable without a gain
                total = np.logaddexp(total, log_w + log_p)
        return np.where(np.isposinf(log_t), 0.0, np.minimum(total, 0.0))  # V = 1 is no evidence at all


def shape_posterior(
    log_t: FloatArray, n_seen: int, *, delta: float, delta_error: float, max_delta: float = np.inf
) -> ShapePosterior:
    """Return the posterior of the shape around its most likely value.

    - `log_t` (n,): ln T, ascending; those after the first `n_seen` all at the point of censoring.
    - `delta`, `delta_error`: the most likely shape and its standard error.
    - `max_delta`: larger shapes are ruled out.
    """
    cut = log_t[-1]
    x = log_t[:n_seen] - cut
    width = _N_ERRORS * min(delta_error / delta, 0.5)
    highest = min(np.log(delta) + width, np.log(max_delta))
    nodes = np.exp(np.linspace(np.log(delta) - width, highest, _N_NODES))
    log_sum = np.log(np.exp(np.multiply.outer(nodes, x)).sum(axis=1) + (len(log_t) - n_seen))
    # The invariant prior of ln T's location and scale is 1/(γ·δ²) in γ and δ; nodes are even in ln δ, hence one δ less.
    log_weight = (n_seen - 1) * np.log(nodes) + nodes * x.sum() - n_seen * log_sum
    weight = np.exp(log_weight - log_weight.max())
    weight[[0, -1]] /= 2  # trapezoids
    return ShapePosterior(nodes, log_sum + nodes * cut, weight / weight.sum(), n_seen)
