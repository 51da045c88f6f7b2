"""Tests of tuples → verdicts: an interaction, effects that add up, or not known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.tails import log_chi2_tail
from interplay.data.study.outcomes.words import WORDS, Words
from interplay.infer.interaction.tuple_tests import TupleTests

#: A significant interaction of all members or of some, after adjustment for all tuples of as many members.
INTERACTION = "interaction"
#: Cut numbers must interact beside their smooth effects too.
#: No interaction was found, and every member is relevant and has an effect by itself: the effects add up.
ADDITIVE = "additive"
#: No interaction was found, but not every member has an effect by itself: a partner by chance, or an interaction too
#: weak to be shown.
UNCLEAR = "unclear"
#: Not tested: cells were not kept, or there were too many tuples.
UNTESTED = "untested"


class CellEffect(NamedTuple):
    """The cell of a tuple that departs most from separate effects of its members; NaN where it is not known."""

    #: `members`, `levels`: numbers of the variables, and of their levels in the cell.
    members: tuple[int, ...] = ()
    levels: tuple[int, ...] = ()
    discretization: int = 0
    #: Of an outcome of classes, the class that departs; else −1.
    class_: int = -1
    #: `effect`, `low`, `high`: log odds ratio of the class there, or difference of means in the unit of the outcome,
    #: with its 95 % interval.
    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def is_known(self) -> bool:
        return not math.isnan(self.effect)


class Verdict(NamedTuple):
    """What is known of one tuple.

    Attributes
    ----------
    verdict : str
        One of "interaction", "additive", "unclear", "untested".
    members : tuple of int
        Numbers of the members that interact: of all, or of a part of the tuple. Empty without an interaction.
    p_value, p_adjusted : float
        Of the interaction, before and after adjustment for all tuples of the search; NaN where not tested. Where a
        significant tuple of cut numbers was tested beside smooth effects too, the larger adjusted one.
    estimate : float
        Its effect for two levels each, as `TupleTests` has it: a log odds ratio of two classes, a difference of
        differences of numbers, a log hazard ratio of times; else NaN.
    ci_low, ci_high : float
        Its 95 % interval.
    cell : CellEffect
        Of more levels or classes: the cell of the interacting members that departs most from their separate effects.
    kind : str
        Of the outcome.
    """

    verdict: str = UNTESTED
    members: tuple[int, ...] = ()
    p_value: float = math.nan
    p_adjusted: float = math.nan
    estimate: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    cell: CellEffect = CellEffect()
    kind: str = "classes"

    @property
    def words(self) -> Words:
        """The words of the kind of outcome."""
        return WORDS[self.kind]


def verdicts_of(
    by_size: Sequence[TupleTests], tuples: IntArray, *, level: float, is_relevant: BoolArray
) -> list[Verdict]:
    """Return the verdicts on some tuples, given by the numbers of their members, ascending.

    An interaction is that of the whole tuple, if it is significant, or else of its part with the smallest adjusted
    p-value. Without one, p-values are those of the whole tuple.

    - `by_size`: tests of these tuples, after tests of their parts, by size; empty where nothing was tested.
    - `tuples` (n, k).
    - `level`: significance level.
    - `is_relevant` (n_vars,).
    """
    if not by_size:
        return [Verdict()] * len(tuples)
    tested = by_size[-1]
    parts = [_Lookup(of_size, of_size.is_significant(level)) for of_size in by_size[:-1]]
    significant, words = tested.is_significant(level), _words(tested, level, is_relevant)
    verdicts = []
    for members, row in zip(tuples.tolist(), tested.rows_of(tuples).tolist(), strict=True):
        if row < 0:
            verdicts.append(Verdict())
            continue
        found = None if significant[row] else _best_part(parts, members)
        if significant[row]:
            verdicts.append(_verdict(INTERACTION, tested, row, tuple(members)))
        elif found is not None:
            part, at = found
            verdicts.append(_verdict(INTERACTION, part, at, tuple(part.tuples[at].tolist())))
        else:
            verdicts.append(_verdict(words[row], tested, row, ()))
    return verdicts


class _Lookup:
    """The significant ones among tests of tuples, by their members."""

    def __init__(self, tested: TupleTests, significant: BoolArray) -> None:
        self.tested = tested
        rows = np.flatnonzero(significant).tolist()
        self.row_of = {tuple(tested.tuples[row].tolist()): row for row in rows}


def _best_part(parts: list[_Lookup], members: list[int]) -> tuple[TupleTests, int] | None:
    found = [
        (float(one.tested.p_adjusted[row]), one.tested, row)
        for one in parts
        if one.row_of
        for part in combinations(members, one.tested.tuples.shape[1])
        if (row := one.row_of.get(part)) is not None
    ]
    if not found:
        return None
    _, tested, row = min(found, key=lambda entry: entry[0])
    return tested, row


def _verdict(word: str, tested: TupleTests, row: int, members: tuple[int, ...]) -> Verdict:
    return Verdict(
        word,
        members,
        float(tested.p_value[row]),
        float(tested.p_decisive[row]),
        float(tested.estimate[row]),
        float(tested.ci_low[row]),
        float(tested.ci_high[row]),
        _cell_effect(tested, row),
        tested.kind,
    )


def _cell_effect(tested: TupleTests, row: int) -> CellEffect:
    return CellEffect(
        tuple(tested.tuples[row].tolist()),
        tuple(tested.residual_cell[row].tolist()),
        int(tested.discretization[row]),
        -1 if tested.residual_class is None else int(tested.residual_class[row]),
        float(tested.cell_effect[row]),
        float(tested.cell_low[row]),
        float(tested.cell_high[row]),
    )


def _words(tested: TupleTests, level: float, is_relevant: BoolArray) -> list[str]:
    """Return the verdicts on tuples that do not interact."""
    log_p_alone = log_chi2_tail(2 * math.log(2) * tested.gain_alone, np.maximum(tested.df_alone, 1))
    matters = (tested.df_alone > 0) & (log_p_alone < math.log(level))
    matters &= is_relevant[tested.tuples]
    return [ADDITIVE if row.all() else UNCLEAR for row in matters]
