"""Tests of the interactions of tuples with numbers as the outcome, one row per tuple, as results keep them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.files.types import Check
from interplay.statistics.interaction.tuple_tests import TupleTests
from interplay.statistics.number_interaction.scale_words import scale_words


@dataclass(frozen=True, eq=False)
class TestedNumbers(TupleTests):
    """Tests of tuples; beside the fields of `TupleTests`, each with one entry, or one row, per tuple:

    Attributes
    ----------
    f : (n,) float64
        F of the scores; with dosages, of one product.
    df_residual : (n,) int64
        Samples less parameters.
    robust_log_p : (n,) float64
        ln p of the same hypothesis with HC3 variances; of several discretisations, of p times their number; NaN where
        not tested.
    other_log_p : (n,) float64
        ln p of F on the other scale: of the values where scores are ranks, else of ranks.
    robust_adjusted, other_adjusted : (n,) float64
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
    robust_log_p: Annotated[FloatArray, Check("n", high=0, nan=True)]
    other_log_p: Annotated[FloatArray, Check("n", high=0, nan=True)]
    robust_adjusted: Annotated[FloatArray, Check("n")]
    other_adjusted: Annotated[FloatArray, Check("n")]
    effect: Annotated[FloatArray, Check("n")]
    effect_sd: Annotated[FloatArray, Check("n")]
    effect_alone: Annotated[FloatArray, Check("n k")]

    wide: ClassVar[tuple[str, ...]] = (*TupleTests.wide, "effect_alone")
    whole: ClassVar[tuple[str, ...]] = (*TupleTests.whole, "df_residual")

    @property
    def statistic(self) -> FloatArray:
        return self.f

    @property
    def estimate(self) -> FloatArray:
        return self.effect

    def adjusted(self, adjust: Callable[[FloatArray], FloatArray]) -> TestedNumbers:
        """Fill in the adjusted p-values, also those of the other tests of the listed tuples."""

        def of_known(p_value: FloatArray) -> FloatArray:
            known = ~np.isnan(p_value)
            return np.where(known, adjust(np.where(known, p_value, 1.0)), np.nan)

        return replace(
            super().adjusted(adjust),
            robust_adjusted=of_known(self.p_robust),
            other_adjusted=of_known(self.p_other),
        )

    def holds_robust(self, level: float) -> BoolArray:
        """Say which tuples are significant without assuming one variance."""
        return np.asarray(self.robust_adjusted < level)

    def scales(self, scale: str, level: float) -> list[str]:
        """Say on which scales each significant tuple is an interaction; see `scale_words`."""
        words = scale_words(self.p_other, self.other_adjusted, scale=scale, level=level)
        return [word if known else "" for word, known in zip(words, self.is_significant(level).tolist(), strict=True)]

    @property
    def p_robust(self) -> FloatArray:
        return np.exp(self.robust_log_p)

    @property
    def p_other(self) -> FloatArray:
        return np.exp(self.other_log_p)
