"""Tails of the beta distribution, and so of F and t, on the scale of logarithms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_SAFE = 1e-280  # above this the ordinary probability has all its digits

FloatArray = npt.NDArray[np.float64]


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
