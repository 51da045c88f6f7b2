"""Relevant variables tested again, with data that the search does not use: covariates, censored times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check


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

    kind: Annotated[str, Check(among=("covariates", "log_rank"))]
    about: list[str]
    variable: Annotated[IntArray, Check("n", low=0, below="n_vars")]
    chi2: Annotated[FloatArray, Check("n")]
    df: Annotated[IntArray, Check("n")]
    p_value: Annotated[FloatArray, Check("n")]
    p_adjusted: Annotated[FloatArray, Check("n")]

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
