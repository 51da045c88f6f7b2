"""An outcome of numbers → its scores, its values, and its scores on the other scale."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.data.study.outcomes.numbers import number_outcome
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL, ScoreTarget
from interplay.data.study.strata import Strata
from interplay.infer.number_interaction.scale_words import OTHER_SCALE


class ScoredNumbers(NamedTuple):
    """An outcome of numbers as tests need it, each (n_samples,).

    Attributes
    ----------
    scores : float64
        What is tested.
    values : float64
        What effects are measured in.
    other : float64 or None
        Scores on the other scale; None where there are none, as of infinite values.
    fewest : int
        Samples that a cell needs to be a part of a hypothesis, by `fewest_in_cell`.
    """

    scores: FloatArray
    values: FloatArray
    other: FloatArray | None
    fewest: int = FEWEST_IN_CELL


def scored_numbers(outcome: ScoreTarget, strata: Strata | None) -> ScoredNumbers:
    """Return an outcome as tests need it; ranks are those within strata.

    Examples
    --------
    >>> numbers = scored_numbers(number_outcome(np.array([1.0, 2.0, 9.0])), None)
    >>> numbers.scores.round(2).tolist(), numbers.other.round(2).tolist()
    ([-0.97, 0.0, 0.97], [-0.84, -0.56, 1.4])
    """
    other = None
    if outcome.scale == "values" or bool(np.isfinite(outcome.values).all()):
        other = number_outcome(outcome.values, strata, scale=OTHER_SCALE[outcome.scale]).scores
    return ScoredNumbers(outcome.scores, outcome.values, other, outcome.fewest_in_cell)
