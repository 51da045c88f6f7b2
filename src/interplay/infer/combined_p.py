"""p-values of several tests of each variable → one p-value: their weighted harmonic mean; weights learnt from others.

p = 1 / Σ (w / p) with Σ w = 1. It lies between the weighted Bonferroni p-value, min (p / w), and that divided by the
number of tests. Unlike Fisher's or Stouffer's sum it is governed by the smallest p-values, and so keeps about its error
rate when the tests depend on each other; unlike in Cauchy's, a p-value near 1 does not weaken the others.

*Learned weights* lean to the arms in which other variables were found. Where five variables of a table show alone, a
sixth most likely does too. With the fixed weights, some variables are found (Bonferroni, 0.05). Each variable is then
judged with weights that are drawn towards the arms of *the others* that were found: (1 − s)·fixed + s·shares of the
arms among these, s = n/(n + 1) for n of them.

Effect on errors: if nothing is found with the fixed weights, nothing changes, so that on noise the family-wise error
stays the same. A variable has no part in its own weights. The weights of an irrelevant variable are decided by others,
of which it is independent, and any weights that are fixed before a p-value is seen leave it valid.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray

#: A variable is found, for this purpose, if its p-value times the number of variables is below this.
_FOUND_P = 0.05


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


def learned_weights(log_p: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weights of all arms for each variable, (n_arms, n_vars).

    Parameters
    ----------
    log_p : (n_arms, n_vars) float64
        Natural logarithms of the p-values; NaN where an arm does not apply to a variable.
    weights : (n_arms,) float64
        The fixed weights, which sum up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> log_p = np.log([[1e-9, 0.2, 0.3], [0.5, 0.1, 0.4]])
    >>> learned_weights(log_p, np.array([0.5, 0.5])).tolist()  # the first was found: it decides for the others
    [[0.5, 0.75, 0.75], [0.5, 0.25, 0.25]]
    """
    n_arms, n_vars = log_p.shape
    combined = combined_log_p(log_p, weights)
    n_tested = int((~np.isnan(combined)).sum())
    is_found = combined + np.log(max(n_tested, 1)) < np.log(_FOUND_P)
    evidence = np.log(weights)[:, np.newaxis] - log_p
    found_in = np.argmax(np.where(np.isnan(evidence), -np.inf, evidence), axis=0)
    finds = (np.arange(n_arms)[:, np.newaxis] == found_in) & is_found
    of_others = finds.sum(axis=1, keepdims=True) - finds
    n_others = of_others.sum(axis=0)
    share = np.divide(of_others, n_others, out=np.zeros((n_arms, n_vars)), where=n_others > 0)
    drawn = n_others / (n_others + 1.0)
    return np.asarray((1 - drawn) * weights[:, np.newaxis] + drawn * share)
