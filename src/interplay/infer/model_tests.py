"""Relevant variables in the full model: with covariates, an offset or times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.files.types import Check


@dataclass(frozen=True, eq=False)
class ModelTests:
    """Tests of the relevant variables by the full model, each in the way in which it was found.

    Attributes
    ----------
    kind : str
        The model, as its outcome names it: "linear", "logistic", "cox" or "ordered".
    about : list of str
        Names of the covariates.
    variable : (n_tested,) int64
        Numbers of the variables.
    chi2, df : (n_tested,) float64, int64
        The likelihood ratio, and its degrees of freedom.
    p_value : (n_tested,) float64
        Of this test alone.
    p_adjusted : (n_tested,) float64
        Of the variable, over all its tests, for the choice of the best tuple and for the number of variables.
    concordance, p_proportional : (n_tested,) float64, optional
        Of times: Harrell's C of the variable by itself, and the p-value of the test of proportional hazards
        (Schoenfeld residuals, beside covariates); NaN for variables without an order.
    """

    kind: str
    about: list[str]
    variable: Annotated[IntArray, Check("n", low=0, below="n_vars")]
    chi2: Annotated[FloatArray, Check("n")]
    df: Annotated[IntArray, Check("n")]
    p_value: Annotated[FloatArray, Check("n")]
    p_adjusted: Annotated[FloatArray, Check("n")]
    concordance: Annotated[FloatArray | None, Check("n", nan=True)] = None
    p_proportional: Annotated[FloatArray | None, Check("n", nan=True)] = None

    def columns(self, n_vars: int) -> dict[str, FloatArray]:
        """Return columns for the table of all variables, NaN where not tested."""
        found = {"p_model": self.p_value, "concordance": self.concordance, "p_proportional": self.p_proportional}
        columns = {}
        for name, values in found.items():
            if values is not None:
                columns[name] = np.full(n_vars, np.nan)
                columns[name][self.variable] = values
        return columns
