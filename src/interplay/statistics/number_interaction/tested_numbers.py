"""Tests of the interactions of tuples with numbers as the outcome, one row per tuple, as results keep them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.files.types import Check
from interplay.statistics.interaction.tuple_tests import RobustTupleTests, adjusted_known
from interplay.statistics.number_interaction.scale_words import scale_words


@dataclass(frozen=True, eq=False)
class TestedNumbers(RobustTupleTests):
    """Tests of tuples; beside the fields of `RobustTupleTests`, each with one entry, or one row, per tuple:

    Attributes
    ----------
    f : (n,) float64
        F of the scores; with dosages, of one product.
    df_residual : (n,) int64
        Samples less parameters.
    other_log_p : (n,) float64
        ln p of F on the other scale: of the values where scores are ranks, else of ranks.
    other_adjusted : (n,) float64
        These p-values, adjusted as those of F; NaN before that.
    effect : (n,) float64
        In the unit of the outcome: the difference of differences, for two levels each; with dosages the coefficient of
        their product; else NaN.
    effect_sd : (n,) float64
        The same in standard deviations of the outcome.
    effect_alone : (n, k) float64
        Difference of means between the two levels of each member by itself, in the unit of the outcome, else NaN.
    """

    f: Annotated[FloatArray, Check("n")]
    df_residual: Annotated[IntArray, Check("n", low=0)]
    other_log_p: Annotated[FloatArray, Check("n", high=0, nan=True)]
    other_adjusted: Annotated[FloatArray, Check("n")]
    effect: Annotated[FloatArray, Check("n")]
    effect_sd: Annotated[FloatArray, Check("n")]
    effect_alone: Annotated[FloatArray, Check("n k")]

    wide: ClassVar[tuple[str, ...]] = (*RobustTupleTests.wide, "effect_alone")
    whole: ClassVar[tuple[str, ...]] = (*RobustTupleTests.whole, "df_residual")

    @property
    def statistic(self) -> FloatArray:
        return self.f

    @property
    def estimate(self) -> FloatArray:
        return self.effect

    def adjusted(self, adjust: Callable[[FloatArray], FloatArray]) -> TestedNumbers:
        """Fill in the adjusted p-values, also those of the other tests of the listed tuples."""
        return replace(super().adjusted(adjust), other_adjusted=adjusted_known(self.p_other, adjust))

    def scales(self, scale: str, level: float) -> list[str]:
        """Say on which scales each significant tuple is an interaction; see `scale_words`."""
        words = scale_words(self.p_other, self.other_adjusted, scale=scale, level=level)
        return [word if known else "" for word, known in zip(words, self.is_significant(level).tolist(), strict=True)]

    @property
    def p_other(self) -> FloatArray:
        return np.exp(self.other_log_p)
