"""Relevant variables tested again, with what the search does not know: covariates, times that are censored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Retest:
    """A second test of the variables that the search found, each in its best tuple.

    Attributes
    ----------
    kind : str
        "covariates" or "log_rank".
    about : list of str
        Names of the covariates.
    variable : (n_tested,) int64
        Numbers of the variables.
    chi2, df : (n_tested,) float64, int64
        The statistic, and its degrees of freedom.
    p_value : (n_tested,) float64
        Of this test alone; where samples belong to groups, as the search's null distribution has it.
    p_adjusted : (n_tested,) float64
        Allows for the choice of the best tuple, as the search does, and for the number of variables.
    """

    kind: str
    about: list[str]
    variable: IntArray
    chi2: FloatArray
    df: IntArray
    p_value: FloatArray
    p_adjusted: FloatArray

    def columns(self, n_vars: int, level: float) -> dict[str, FloatArray | BoolArray]:
        """Return columns of the table of all variables: p-values, NaN where not tested, and whether they hold."""
        p_value, p_adjusted = np.full(n_vars, np.nan), np.full(n_vars, np.nan)
        p_value[self.variable], p_adjusted[self.variable] = self.p_value, self.p_adjusted
        return {
            f"p_{self.kind}": p_value,
            f"p_{self.kind}_adjusted": p_adjusted,
            f"holds_{'with_covariates' if self.kind == 'covariates' else 'in_log_rank'}": p_adjusted < level,
        }

    def failed(self, level: float) -> IntArray:
        """Return the variables that do not hold."""
        return self.variable[~(self.p_adjusted < level)]

    def is_of(self, n_vars: int) -> bool:
        """Say whether the arrays belong together: a file may say anything."""
        n = len(self.variable)
        return (
            self.kind in ("covariates", "log_rank")
            and all(each.shape == (n,) for each in (self.chi2, self.df, self.p_value, self.p_adjusted))
            and bool(((self.variable >= 0) & (self.variable < n_vars)).all())
        )
