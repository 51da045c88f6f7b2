"""Tails of the χ² and beta distributions, and so of F and t, as logarithms: also where the plain probabilities
underflow.

SciPy's special functions are imported where they are used: they take as long to import as everything else here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_SAFE_TAIL = 1e-280  # above this the ordinary tail has all its digits

FloatArray = npt.NDArray[np.float64]


def chi2_tail(x: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Return P(χ²_df > x).

    Examples
    --------
    >>> round(float(chi2_tail(5.991, 2)), 4)
    0.05
    """
    from scipy.special import gammaincc

    half_x, half_df = _halves(x, df)
    return np.asarray(gammaincc(half_df, half_x))


def log_chi2_tail(x: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Return ln P(χ²_df > x), without underflow.

    Examples
    --------
    >>> float(log_chi2_tail(10_000.0, 2))
    -5000.0
    """
    tail = chi2_tail(x, df)
    with np.errstate(divide="ignore"):
        log_tail = np.array(np.log(tail))  # of no dimensions, it must still be an array
    if (tail < _SAFE_TAIL).any():
        half_x, half_df = np.broadcast_arrays(*_halves(x, df))
        far = (tail < _SAFE_TAIL) & np.isfinite(half_x) & (half_df > 0)
        log_tail[far] = _log_tail_far(half_df[far], half_x[far])
    return log_tail


def chi2_of_log_tail(log_tail: float | FloatArray, df: int) -> float:
    """Return the value of χ² whose tail has this logarithm.

    Examples
    --------
    >>> round(chi2_of_log_tail(np.log(0.05), 2), 3), round(chi2_of_log_tail(-5000.0, 2))
    (5.991, 10000)
    """
    from scipy.optimize import brentq
    from scipy.special import gammainccinv

    if log_tail > np.log(_SAFE_TAIL):
        return float(2 * gammainccinv(df / 2, np.exp(log_tail)))
    high = -4.0 * float(log_tail) + 4.0 * df
    return float(brentq(lambda x: float(log_chi2_tail(x, df)) - float(log_tail), 0.0, high, xtol=1e-9))


def log_chi2_cdf(x: npt.ArrayLike, df: npt.ArrayLike) -> FloatArray:
    """Return ln P(χ²_df ≤ x) = ln(1 − V), without cancellation for small V.

    Examples
    --------
    >>> f"{float(log_chi2_cdf(100.0, 2)):.6g}", f"{-np.exp(-50.0):.6g}"
    ('-1.92875e-22', '-1.92875e-22')
    """
    from scipy.special import gammainc

    half_x, half_df = _halves(x, df)
    tail = chi2_tail(x, df)
    with np.errstate(divide="ignore"):
        return np.asarray(np.where(tail < 0.5, np.log1p(-np.minimum(tail, 0.5)), np.log(gammainc(half_df, half_x))))


def _halves(x: npt.ArrayLike, df: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    return np.maximum(np.asarray(x, dtype=float) / 2, 0), np.asarray(df, dtype=float) / 2


def _log_tail_far(a: FloatArray, z: FloatArray) -> FloatArray:
    """Continued fraction of Γ(a, z) / Γ(a) (Lentz), for z far beyond a."""
    from scipy.special import gammaln

    b = z + 1 - a
    c = np.full_like(b, np.inf)
    d = 1 / b
    h = d.copy()
    for i in range(1, 1000):
        an = -i * (i - a)
        b = b + 2
        d = 1 / (an * d + b)
        c = b + an / c
        step = c * d
        h *= step
        if np.all(np.abs(step - 1) < 1e-15):
            break
    return np.asarray(a * np.log(z) - z - gammaln(a) + np.log(h))


_SAFE = 1e-280  # above this the ordinary probability has all its digits


def log_beta_cdf(x: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return ln I_x(a, b), the probability that a beta variable is at most x, without underflow.

    Examples
    --------
    >>> round(float(np.exp(log_beta_cdf(0.5, 2.0, 2.0))), 6)
    0.5
    >>> round(float(log_beta_cdf(1e-10, 500.0, 0.5)), 3)
    -11516.605
    """
    from scipy.special import betainc

    at, first, second = np.broadcast_arrays(*(np.asarray(each, dtype=float) for each in (x, a, b)))
    at = np.clip(at, 0.0, 1.0)
    chance = np.asarray(betainc(first, second, at))
    with np.errstate(divide="ignore"):
        log_chance = np.array(np.log(chance))
    far = (chance < _SAFE) & (at > 0)
    if far.any():
        log_chance[far] = _log_cdf_far(at[far], first[far], second[far])
    return log_chance


def log_f_tail(f: npt.ArrayLike, df: npt.ArrayLike, df_residual: npt.ArrayLike) -> FloatArray:
    """Return ln P(F > f), with `df` and `df_residual` degrees of freedom, without underflow.

    Examples
    --------
    >>> round(float(np.exp(log_f_tail(4.0, 2, 60))), 4)
    0.0234
    """
    f, df, rest = (np.asarray(each, dtype=float) for each in (f, df, df_residual))
    return log_beta_cdf(rest / (rest + df * np.maximum(f, 0.0)), rest / 2, df / 2)


def _log_cdf_far(x: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Continued fraction of I_x(a, b) (Lentz), for x far below the mean."""
    from scipy.special import betaln

    c = np.ones_like(x)
    d = 1 / (1 - (a + b) * x / (a + 1))
    h = d.copy()
    for i in range(1, 1000):
        even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i))
        odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            h *= c * d
        if np.all(np.abs(c * d - 1) < 1e-15):
            break
    return np.asarray(a * np.log(x) + b * np.log1p(-x) - np.log(a) - betaln(a, b) + np.log(h))
