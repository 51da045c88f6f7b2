"""Significant tuples tested again, with data that the search does not use: covariates."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check


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
    chi2: Annotated[FloatArray, Check("n_tested")]
    df: Annotated[IntArray, Check("n_tested")]
    p_value: Annotated[FloatArray, Check("n_tested")]
    p_adjusted: Annotated[FloatArray, Check("n_tested")]

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
