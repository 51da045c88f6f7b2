"""Significant tuples tested again, with what the search does not know: covariates."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CovariateTests:
    """A second test of the tuples that are significant, one entry per listed tuple; NaN, and df 0, for the others.

    Attributes
    ----------
    about : list of str
        Names of the covariates.
    chi2, df : (n,) float64, int64
        Likelihood ratio of the interaction beside covariates, and its degrees of freedom.
    p_value : (n,) float64
        Of this test alone; where samples belong to groups, the same as `p_adjusted`.
    p_adjusted : (n,) float64
        Adjusted for all tuples that were searched, as the search does.
    """

    about: list[str]
    chi2: FloatArray
    df: IntArray
    p_value: FloatArray
    p_adjusted: FloatArray

    def holds(self, level: float) -> BoolArray:
        """Say which tuples are significant beside covariates, too."""
        return np.asarray(self.p_adjusted < level)

    def columns(self, level: float) -> dict[str, FloatArray | BoolArray]:
        """Return columns of the table of tuples."""
        return {
            "p_covariates": self.p_value,
            "p_covariates_adjusted": self.p_adjusted,
            "holds_with_covariates": self.holds(level),
        }

    def chosen(self, rows: IntArray) -> CovariateTests:
        """Keep some rows, in that order."""
        arrays = {each.name: getattr(self, each.name)[rows] for each in fields(self) if each.name != "about"}
        return CovariateTests(self.about, **arrays)

    def is_of(self, n_tuples: int) -> bool:
        """Say whether these can be tests of so many tuples: a file may say anything."""
        return all(each.shape == (n_tuples,) for each in (self.chi2, self.df, self.p_value, self.p_adjusted))
