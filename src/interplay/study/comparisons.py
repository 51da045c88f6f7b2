"""An outcome → comparisons, one run each: numbers; classes all at once, each pair, or each against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from interplay.base.arrays import DecisionClasses, IntArray, NumberOutcome, Outcome
from interplay.study.groups import Groups
from interplay.study.strata import Strata, check_number_strata, check_strata
from interplay.study.subsets import RowSubset
from interplay.study.table import Table

MULTICLASS_CHOICES = ("joint", "ovo", "ovr")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The samples and the outcome of one run.

    Attributes
    ----------
    decision : str
        The comparison in words: "all classes", "a vs b", "a vs rest", "numbers".
    table : Table
        The samples of these classes; the same object for all comparisons that take all samples.
    outcome : DecisionClasses or NumberOutcome
    strata : Strata, optional
    groups : Groups, optional
    rows : (n,) int64, optional
        Numbers of the samples; all if not given.
    """

    decision: str
    table: Table
    outcome: Outcome
    strata: Strata | None = None
    groups: Groups | None = None
    rows: IntArray | None = None

    @property
    def classes(self) -> DecisionClasses:
        """The outcome, where it is classes."""
        assert isinstance(self.outcome, DecisionClasses)
        return self.outcome


def make_comparisons(
    table: Table, outcome: Outcome, strata: Strata | None, multiclass: str, groups: Groups | None = None
) -> tuple[Comparison, ...]:
    """Split a decision of several classes into the two-class decisions asked for; strata must fit each of them."""
    if isinstance(outcome, NumberOutcome):
        if strata is not None:
            check_number_strata(strata, outcome)
        return (Comparison("numbers", table, outcome, strata, groups),)
    classes = outcome
    found = tuple(_comparisons(table, classes, strata, multiclass, groups))
    for one in found:
        if one.strata is not None:
            check_strata(one.strata, one.classes, "y" if one.classes is classes else f"{one.decision!r}")
    return found


def _comparisons(
    table: Table, classes: DecisionClasses, strata: Strata | None, multiclass: str, groups: Groups | None
) -> Iterator[Comparison]:
    if multiclass == "joint" or classes.n_classes == 2:
        yield Comparison("all classes", table, classes, strata, groups)
    elif multiclass == "ovr":
        for q, label in enumerate(classes.labels):
            one = (classes.codes == q).astype(np.int64)
            against_rest = DecisionClasses(one, ["rest", label], classes.kind)
            yield Comparison(f"{label} vs rest", table, against_rest, strata, groups)
    else:
        for a, b in combinations(range(classes.n_classes), 2):
            rows = np.flatnonzero((classes.codes == a) | (classes.codes == b))
            labels = [classes.labels[a], classes.labels[b]]
            pair = DecisionClasses((classes.codes[rows] == b).astype(np.int64), labels, classes.kind)
            part_strata = None if strata is None else strata.of_samples(rows)
            part_groups = None if groups is None else groups.of_samples(rows)
            yield Comparison(
                f"{labels[0]} vs {labels[1]}", RowSubset(table, rows), pair, part_strata, part_groups, rows
            )
