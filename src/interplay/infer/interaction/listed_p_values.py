"""p-values of the tuples that are listed → adjusted for all tuples that were searched."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.checks import check_choice, check_int, check_numbers, shown
from interplay.infer.p_values import R_NAMES

#: Methods for which the p-values that are not listed need not be known.
LISTED_METHODS = ("holm", "hochberg", "bonferroni", "BH", "fdr", "BY", "none", "simes-hochberg", "fdr_bh", "fdr_by")


def adjust_listed(p_values: npt.ArrayLike, method: str = "holm", *, n_tests: int) -> FloatArray:
    """Adjust some of the p-values of `n_tests` tests for all of them.

    If the listed p-values are the smallest of all, "bonferroni" and "holm" are exact. Otherwise, and for "hochberg",
    "BH" and "BY" which look at larger p-values too, the result is never smaller than if all were known.

    Parameters
    ----------
    p_values : (n_listed,) array_like
    method : str
        As in `interplay.infer.p_values.adjust`: "holm", "hochberg", "bonferroni", "BH" or "fdr", "BY", "none".
    n_tests : int
        All tests that were made, listed or not.

    Examples
    --------
    Three of the 4950 pairs of 100 variables.

    >>> adjust_listed([1e-6, 2e-5, 0.001], "holm", n_tests=4950).round(6).tolist()
    [0.00495, 0.09898, 1.0]
    >>> adjust_listed([1e-6, 2e-5, 0.001], "BH", n_tests=4950).round(6).tolist()
    [0.00495, 0.0495, 1.0]
    """
    check_choice("p_adjust", method, LISTED_METHODS)
    p = check_numbers("p_values", p_values, (None,))
    n_tests = check_int("n_tests", n_tests, low=0)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p_values must lie between 0 and 1")
    if len(p) > n_tests:
        raise ValueError(f"n_tests must count all tests, at least the {len(p)} listed, not {shown(n_tests)}")
    method = R_NAMES.get(method, method)
    if method == "none" or len(p) == 0:
        return p
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, len(p) + 1, dtype=np.float64)
    if method == "bonferroni":
        in_order = p[order] * n_tests
    elif method == "holm":
        in_order = np.maximum.accumulate(p[order] * (n_tests - rank + 1))
    elif method == "simes-hochberg":
        in_order = _smallest_from_here(p[order] * (n_tests - rank + 1))
    else:
        factor = n_tests * (harmonic_number(n_tests) if method == "fdr_by" else 1.0)
        in_order = _smallest_from_here(p[order] * (factor / rank))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(in_order, 1.0)
    return adjusted


def _smallest_from_here(values: FloatArray) -> FloatArray:
    return np.minimum.accumulate(values[::-1])[::-1]


def harmonic_number(n: int) -> float:
    """1 + 1/2 + … + 1/n, also for the number of all tuples of a large table."""
    from scipy.special import digamma

    return float(digamma(n + 1.0)) + np.euler_gamma
