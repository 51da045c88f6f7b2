"""Tests of the interactions of tuples with times as the outcome, one row per tuple, as results keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from interplay.base.arrays import FloatArray
from interplay.files.types import Check
from interplay.statistics.interaction.tuple_tests import RobustTupleTests


@dataclass(frozen=True, eq=False)
class TestedTimes(RobustTupleTests):
    """Tests of tuples; beside the fields of `RobustTupleTests`, each with one entry, or one row, per tuple:

    Attributes
    ----------
    chi2 : (n,) float64
        Likelihood ratio of Cox's model with the interaction and without.
    log_hr : (n,) float64
        Log hazard ratio of the interaction, for two levels each, or of the product of dosages, else NaN.
    log_hr_alone : (n, k) float64
        Log hazard ratio of each member of two levels by itself, else NaN.
    """

    chi2: Annotated[FloatArray, Check("n")]
    log_hr: Annotated[FloatArray, Check("n")]
    log_hr_alone: Annotated[FloatArray, Check("n k")]

    wide: ClassVar[tuple[str, ...]] = (*RobustTupleTests.wide, "log_hr_alone")

    @property
    def statistic(self) -> FloatArray:
        return self.chi2

    @property
    def estimate(self) -> FloatArray:
        return self.log_hr
