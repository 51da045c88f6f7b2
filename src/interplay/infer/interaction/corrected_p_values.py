"""Statistics of second tests of tuples → p-values, where each G² or likelihood ratio is corrected as in the search."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.interaction_test import chi2_log_tail
from interplay.infer.interaction.tuple_tests import TupleTests


def corrected_p_values(again: TupleTests, chi2: FloatArray, df: IntArray, discretizations: int) -> FloatArray:
    """Return p-values of second tests, where each G², or likelihood ratio of times, is corrected as in the search."""
    factor = np.ones(len(chi2))
    if again.words.corrected:
        factor = _correction(again, discretizations)
    return np.asarray(np.minimum(np.exp(chi2_log_tail(chi2 * np.minimum(factor, 1.0), df)) * discretizations, 1.0))


def _correction(again: TupleTests, discretizations: int) -> FloatArray:
    """Return what exact tests or bootstraps made of each G², or F of the events of times, as a factor."""
    from scipy.special import chdtri

    p_in_one = np.exp(again.log_p) / discretizations
    # What exact test, bootstrap or F make of G², as a G² of χ²'s distribution; p-values that underflow stay.
    corrected = chdtri(np.maximum(again.df, 1), np.minimum(p_in_one, 1.0))
    return np.where(
        np.isfinite(corrected) & (again.statistic > 0), corrected / np.maximum(again.statistic, 1e-300), 1.0
    )
