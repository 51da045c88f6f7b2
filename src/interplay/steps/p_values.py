"""Gains and the parameters of a null fit → p-values, adjusted p-values, order of significance.

Nothing here subtracts from 1 what is close to 1: a p-value of 1e-200 comes out as 1e-200, and where even the smallest
double is too large (below 1e-308) the logarithms still tell the variables apart.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from interplay.arrays import BoolArray, FloatArray, IntArray
from interplay.checks import check_choice, check_real

#: Doubled nats below this count as this: a gain of 0 (or a hair below, by rounding) has a tail probability near 1.
MIN_STATISTIC = 1e-8

#: From a gain to the scale of χ².
CHI2_PER_UNIT = {"bits": 2.0 * np.log(2.0), "nats": 2.0, "chi2": 1.0}

#: Names of R's p.adjust that statsmodels calls otherwise.
R_NAMES = {"hochberg": "simes-hochberg", "BH": "fdr_bh", "fdr": "fdr_bh", "BY": "fdr_by"}

ADJUST_METHODS = (
    "holm", "hochberg", "hommel", "bonferroni", "BH", "fdr", "BY", "none",
    "sidak", "holm-sidak", "simes-hochberg", "fdr_bh", "fdr_by", "fdr_tsbh", "fdr_tsbky", "fdr_gbs",
)  # fmt: skip

# Below this the tail probability is close to the smallest double, and its logarithm is computed without it.
_TINY = 1e-290


def chi2_statistic(gains: npt.ArrayLike, *, unit: str, name: str = "gains") -> FloatArray:
    """Return the gains in the scale of χ²; NaN for variables without a gain (NaN or −∞)."""
    try:
        values = np.array(gains, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a one-dimensional array of numbers") from None
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {values.shape}")
    if np.isposinf(values).any():
        raise ValueError(f"{name} holds an infinite gain at position {int(np.argmax(np.isposinf(values)))}: remove it")
    values[np.isneginf(values)] = np.nan
    return np.maximum(CHI2_PER_UNIT[unit] * values, MIN_STATISTIC)


def chi2_tail(statistic: FloatArray, df: float | FloatArray) -> FloatArray:
    """Return V, the upper tail probability of χ²."""
    return np.asarray(special.gammaincc(0.5 * np.asarray(df), 0.5 * statistic), dtype=np.float64)


def log_chi2_tail(statistic: FloatArray, df: float | FloatArray) -> FloatArray:
    """Return ln V, also where V itself is too small for a double."""
    shape, x = np.broadcast_arrays(0.5 * np.asarray(df, dtype=np.float64), 0.5 * statistic)
    tail = np.asarray(special.gammaincc(shape, x), dtype=np.float64)
    tiny = tail < _TINY
    log_tail = np.log(np.where(tiny, 1.0, tail))
    if tiny.any():
        log_tail[tiny] = _log_tail_by_continued_fraction(shape[tiny], x[tiny])
    return log_tail


def hazard(statistic: FloatArray, df: float | FloatArray) -> FloatArray:
    """Return −ln(1 − V): what the exponential null models are about. Exact for V near 0 and near 1."""
    half_df = 0.5 * np.asarray(df, dtype=np.float64)
    tail = chi2_tail(statistic, df)
    with np.errstate(divide="ignore"):  # a cdf below 1e-308: infinite hazard, p = 1
        from_cdf = -np.log(special.gammainc(half_df, 0.5 * statistic))
    return np.asarray(np.where(tail < 0.5, -np.log1p(-np.minimum(tail, 0.5)), from_cdf), dtype=np.float64)


def log_hazard(statistic: FloatArray, df: float | FloatArray) -> FloatArray:
    """Return ln(−ln(1 − V)); equal to ln V where V is tiny."""
    log_tail = log_chi2_tail(statistic, df)
    with np.errstate(divide="ignore"):
        direct = np.log(hazard(statistic, df))
    return np.asarray(np.where(log_tail < -50.0, log_tail, direct), dtype=np.float64)


def null_p_values(
    statistic: FloatArray, df: float | FloatArray, *, mode: str, gamma: float, delta: float = 1.0
) -> FloatArray:
    """Return the probability that an irrelevant variable reaches `statistic`.

    Mode "exp": 1 − exp(−γ·(−ln(1 − V))^δ), which for δ = 1 is 1 − (1 − V)^γ. Modes "lin" and "raw": γ·V, at most 1.
    """
    if mode == "exp":
        return np.asarray(-np.expm1(-gamma * hazard(statistic, df) ** delta), dtype=np.float64)
    return np.minimum(gamma * chi2_tail(statistic, df), 1.0)


def log_null_p_values(
    statistic: FloatArray, df: float | FloatArray, *, mode: str, gamma: float, delta: float = 1.0
) -> FloatArray:
    """Return the natural logarithm of `null_p_values`, finite also where these underflow to 0."""
    if mode != "exp":
        return np.minimum(np.log(gamma) + log_chi2_tail(statistic, df), 0.0)
    log_exponent = np.log(gamma) + delta * log_hazard(statistic, df)
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
    >>> from interplay.steps.p_values import adjust
    >>> adjust([1e-300, 0.01, np.nan, 0.2], "holm").tolist()
    [3e-300, 0.02, nan, 0.2]
    """
    check_choice("p_adjust", method, ADJUST_METHODS)
    check_real("level", level, low=0.0, high=1.0, low_open=True, high_open=True)
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise ValueError(f"p_values must be one-dimensional, not of shape {p.shape}")
    adjusted = p.copy()
    tested = ~np.isnan(p)
    if ((p[tested] < 0) | (p[tested] > 1)).any():
        raise ValueError("p_values must lie between 0 and 1")
    if method == "none" or not tested.any():
        return adjusted
    from statsmodels.stats.multitest import multipletests

    adjusted[tested] = np.minimum(multipletests(p[tested], alpha=level, method=R_NAMES.get(method, method))[1], 1.0)
    return adjusted


def relevant_mask(p_adjusted: npt.ArrayLike, *, level: float = 0.05) -> BoolArray:
    """Say which variables are relevant: adjusted p below `level`; untested (NaN) ones are not.

    Examples
    --------
    >>> from interplay.steps.p_values import relevant_mask
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
    >>> from interplay.steps.p_values import significance_order
    >>> significance_order([0.5, 0.0, float("nan"), 0.0], [3.0, 200.0, 0.0, 900.0]).tolist()
    [3, 1, 0, 2]
    """
    p = np.asarray(p_values, dtype=np.float64)
    gain = np.zeros_like(p) if gains is None else np.asarray(gains, dtype=np.float64)
    if gain.shape != p.shape:
        raise ValueError(f"gains must have one entry per p-value: {gain.shape} and {p.shape} differ")
    return np.lexsort((-gain, p)).astype(np.int64)


def _log_tail_by_continued_fraction(shape: FloatArray, x: FloatArray) -> FloatArray:
    """Return ln Q(shape, x) for x far in the tail (x > shape + 1), by Legendre's fraction (modified Lentz)."""
    b = x + 1.0 - shape
    c = np.full_like(b, np.inf)
    d = 1.0 / b
    fraction = d
    for i in range(1, 1000):
        numerator = -i * (i - shape)
        b = b + 2.0
        d = 1.0 / (numerator * d + b)
        c = b + numerator / c
        factor = c * d
        fraction = fraction * factor
        if np.all(np.abs(factor - 1.0) < 1e-15):
            break
    return np.asarray(shape * np.log(x) - x - special.gammaln(shape) + np.log(fraction), dtype=np.float64)
