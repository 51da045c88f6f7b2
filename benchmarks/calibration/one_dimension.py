"""1D, two levels, two classes: P(any selected) by counting, without any simulation.

With columns cut into halves, all variables of a table have the same margins, and how a column meets the decision is one
number: the samples of the smaller class in the first half. Each of its values has a known probability under chance.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

import interplay
from interplay.infer.conditional_test import conditional_log_p

from .repetition import LEVEL


def any_selected(n_samples: int, n_smaller: int, n_vars: int) -> tuple[float, float]:
    """Return P(any selected) among independent variables by χ², and by the exact test, which `select` has."""
    y = np.arange(n_samples) >= n_samples - n_smaller
    first_half = n_samples // 2 + 1  # as the search cuts
    in_both = np.arange(max(0, n_smaller - (n_samples - first_half)), min(n_smaller, first_half) + 1)
    X = np.ones((n_samples, len(in_both)))
    for column, count in enumerate(in_both):
        X[: first_half - count, column] = 0
        X[n_samples - n_smaller : n_samples - n_smaller + count, column] = 0
    gains = interplay.max_information_gain(X, y, dimensions=1).gain
    by_chi2 = stats.chi2.sf(2 * np.log(2) * gains, 1)
    n_second = n_samples - first_half - n_smaller  # of the larger class, if none of the smaller is in the first half
    tables = np.array([[[first_half - n, n], [n_second + n, n_smaller - n]] for n in in_both])
    exact = np.exp(conditional_log_p(tables[..., np.newaxis], pseudocount=0.25))
    chance = stats.hypergeom.pmf(in_both, n_samples, n_smaller, first_half)
    threshold = LEVEL / n_vars
    selected = chance[by_chi2 < threshold].sum()
    exactly = chance[exact < threshold].sum()
    return 1 - (1 - selected) ** n_vars, 1 - (1 - exactly) ** n_vars
