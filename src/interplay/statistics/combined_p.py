"""p-values of several tests of each variable → one p-value: their weighted harmonic mean.

p = 1 / Σ (w / p) with Σ w = 1. It lies between the weighted Bonferroni p-value, min (p / w), and that divided by the
number of tests. Unlike Fisher's or Stouffer's sum it is governed by the smallest p-values, and so keeps about its error
rate when the tests depend on each other; unlike in Cauchy's, a p-value near 1 does not weaken the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray


def combined_log_p(log_p: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """Return natural logarithms of the weighted harmonic means.

    Parameters
    ----------
    log_p : (n_tests, n_vars) array_like
        Natural logarithms of the p-values; NaN where a test does not apply to a variable, whose other tests then share
        its weight.
    weights : (n_tests,) or (n_tests, n_vars) array_like
        Not negative; their sum does not matter.

    Returns
    -------
    (n_vars,) float64
        NaN for a variable that no test applies to.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(combined_log_p(np.log([[0.01, 0.5], [1.0, 0.5]]), [1, 1])).round(4).tolist()
    [0.0198, 0.5]
    """
    log_p = np.asarray(log_p, dtype=np.float64)
    applies = ~np.isnan(log_p)
    given = np.asarray(weights, dtype=np.float64)
    weight = np.where(applies, given if given.ndim == 2 else given[:, np.newaxis], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_weight = np.log(weight / weight.sum(axis=0))
        terms = np.where(applies, log_weight - log_p, -np.inf)
        combined = -np.logaddexp.reduce(terms, axis=0)
    return np.where(applies.any(axis=0), np.minimum(combined, 0.0), np.nan)
