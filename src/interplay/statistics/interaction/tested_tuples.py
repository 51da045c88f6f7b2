"""Tests of the interactions of tuples with classes as the outcome, one row per tuple, as results keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from interplay.base.arrays import FloatArray, IntArray
from interplay.files.types import Check
from interplay.statistics.interaction.additive_effect import class_scale_words
from interplay.statistics.interaction.tuple_tests import METHODS, SPARSE, TupleTests

__all__ = ["METHODS", "SPARSE", "TestedTuples"]


@dataclass(frozen=True, eq=False)
class TestedTuples(TupleTests):
    """Tests of tuples; beside the fields of `TupleTests`, each with one entry, or one row, per tuple:

    Attributes
    ----------
    chi2 : (n,) float64
        G² = 2 Σ n ln(n/μ).
    min_expected : (n,) float64
        Smallest fitted count.
    log_or : (n,) float64
        Log odds ratio of the interaction, for two levels and two classes, else NaN.
    reri, reri_low, reri_high : (n,) float64
        Relative excess risk due to interaction and its 95 % interval, for pairs of two levels and two classes, else
        NaN.
    residual_class : (n,) int64
        Class of the largest adjusted residual.
    log_or_alone : (n, k) float64
        Log odds ratio of each member by itself, for two levels and two classes, else NaN.
    """

    chi2: Annotated[FloatArray, Check("n")]
    min_expected: Annotated[FloatArray, Check("n")]
    log_or: Annotated[FloatArray, Check("n")]
    reri: Annotated[FloatArray, Check("n")]
    reri_low: Annotated[FloatArray, Check("n")]
    reri_high: Annotated[FloatArray, Check("n")]
    residual_class: Annotated[IntArray, Check("n")]
    log_or_alone: Annotated[FloatArray, Check("n k")]

    wide: ClassVar[tuple[str, ...]] = (*TupleTests.wide, "log_or_alone")
    whole: ClassVar[tuple[str, ...]] = (*TupleTests.whole, "residual_class")

    @property
    def statistic(self) -> FloatArray:
        return self.chi2

    def scales(self, level: float) -> list[str]:
        """Say on which scales each significant tuple is an interaction; see `class_scale_words`."""
        words = class_scale_words(self.log_or, self.reri, self.reri_low, self.reri_high)
        return [word if known else "" for word, known in zip(words, self.is_significant(level).tolist(), strict=True)]

    @property
    def estimate(self) -> FloatArray:
        return self.log_or
