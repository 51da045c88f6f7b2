"""Gains and the parameters of a null fit → p-values, adjusted p-values, order of significance.

No number close to 1 is subtracted from 1 here: a p-value of 1e-200 comes out as 1e-200, and where even the smallest
double is too large (below 1e-308) the logarithms still distinguish the variables.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.checks import check_choice, check_numbers, check_real, shown
from interplay.base.tails import chi2_tail, log_chi2_cdf, log_chi2_tail
from interplay.infer.shape_posterior import ShapePosterior

#: Doubled nats below this count as this: a gain of 0 (or a little below, by rounding) has a tail probability near 1.
MIN_STATISTIC = 1e-8

#: From a gain to the scale of χ².
CHI2_PER_UNIT = {"bits": 2.0 * np.log(2.0), "nats": 2.0, "chi2": 1.0}

#: Names of R's p.adjust that statsmodels calls otherwise.
R_NAMES = {"hochberg": "simes-hochberg", "BH": "fdr_bh", "fdr": "fdr_bh", "BY": "fdr_by"}

ADJUST_METHODS = (
    "holm", "hochberg", "hommel", "bonferroni", "BH", "fdr", "BY", "none",
    "sidak", "holm-sidak", "simes-hochberg", "fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky", "fdr_gbs",
)  # fmt: skip


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

    Parameters
    ----------
    p_values : (n_vars,) array_like
        NaN (a variable that was not tested) stays NaN and is not counted as a test.
    method : str
        R's names "holm", "hochberg", "hommel", "bonferroni", "BH" or "fdr", "BY", "none", or statsmodels' names
        "sidak", "holm-sidak", "simes-hochberg", "fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky", "fdr_gbs". Under an
        unknown dependence between the tests, which is the case here, "holm" bounds the probability of any false
        selection and "BY" the share of false ones.
    level : float
        Only the two-stage methods ("fdr_tsbh", "fdr_tsbky") depend on it.

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
        result = multipletests(p[tested], alpha=level, method=R_NAMES.get(method, method))[1]
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
