"""What a tuple of a selection is: an interaction, effects that add up, or not known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.arrays import IntArray
from interplay.chi_squared import log_chi2_tail
from interplay.results.tested_tuples import TestedTuples

if TYPE_CHECKING:
    from interplay.results.selection import Selection

#: A significant interaction, after adjustment for all tuples of the search.
INTERACTION = "interaction"
#: No interaction was found, and every member is relevant and tells something by itself: their effects add up.
ADDITIVE = "additive"
#: No interaction was found, but not every member tells something by itself: a partner by chance, or an interaction too
#: weak to be shown.
UNCLEAR = "unclear"
#: Not tested: cells were not kept, or there were too many tuples.
UNTESTED = "untested"


class Verdict(NamedTuple):
    """What is known of one tuple.

    Attributes
    ----------
    verdict : str
        One of "interaction", "additive", "unclear", "untested".
    p_value, p_adjusted : float
        Of the interaction, before and after adjustment for all tuples of the search; NaN where not tested.
    log_or, ci_low, ci_high : float
        Its log odds ratio and 95 % interval, for two levels and two classes, else NaN.
    """

    verdict: str = UNTESTED
    p_value: float = math.nan
    p_adjusted: float = math.nan
    log_or: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan


def verdicts_of(selection: Selection, run: int, tuples: IntArray) -> list[Verdict]:
    """Return what is known of some tuples of a run, by the numbers of their members, ascending."""
    tested = selection.runs[run].tested
    if tested is None:
        return [Verdict()] * len(tuples)
    words = _words(selection, tested)
    return [
        Verdict()
        if row < 0
        else Verdict(
            words[row],
            float(tested.p_value[row]),
            float(tested.p_adjusted[row]),
            float(tested.log_or[row]),
            float(tested.ci_low[row]),
            float(tested.ci_high[row]),
        )
        for row in tested.rows_of(tuples).tolist()
    ]


def _words(selection: Selection, tested: TestedTuples) -> list[str]:
    level = selection.settings["level"]
    log_p_alone = log_chi2_tail(2 * math.log(2) * tested.gain_alone, np.maximum(tested.df_alone, 1))
    matters = (tested.df_alone > 0) & (log_p_alone < math.log(level)) & selection.is_relevant[tested.tuples]
    without = np.where(matters.all(axis=1), ADDITIVE, UNCLEAR)
    return [str(word) for word in np.where(tested.is_significant(level), INTERACTION, without)]
