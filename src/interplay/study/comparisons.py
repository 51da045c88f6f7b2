"""An outcome → comparisons, one run each: numbers; classes all at once, each pair, or each against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import cast

import numpy as np

from interplay.base.arrays import IntArray
from interplay.study.full_model import FullModel
from interplay.study.groups import Groups
from interplay.study.outcomes.classes import DecisionClasses
from interplay.study.outcomes.outcome import Outcome
from interplay.study.outcomes.targets import ClassTarget, ScoreTarget, Target
from interplay.study.outcomes.times import Survival
from interplay.study.strata import Strata
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
    outcome : ClassTarget or ScoreTarget
        As it is searched: with a `model`, the residuals of this model, unless there are more than two classes.
    strata : Strata, optional
    groups : Groups, optional
    rows : (n,) int64, optional
        Numbers of the samples; all if not given.
    model : FullModel, optional
        With covariates, an offset or times: the model that has the last word.
    original : ClassTarget or ScoreTarget, optional
        With a `model`: the outcome as users know it.
    """

    decision: str
    table: Table
    outcome: Target
    strata: Strata | None = None
    groups: Groups | None = None
    rows: IntArray | None = None
    model: FullModel | None = None
    original: Target | None = None

    @property
    def classes(self) -> ClassTarget:
        """The outcome, where it is classes."""
        assert isinstance(self.outcome, ClassTarget)
        return self.outcome

    @cached_property
    def shown(self) -> Comparison:
        """The comparison with the outcome as users know it, to count and describe: classes, numbers; times stay."""
        return self if self.original is None else replace(self, outcome=self.original)


def make_comparisons(
    table: Table,
    outcome: Target,
    strata: Strata | None,
    multiclass: str,
    groups: Groups | None = None,
    *,
    model: FullModel | None = None,
) -> tuple[Comparison, ...]:
    """Split a decision of several classes into the two-class decisions asked for; strata must fit each of them.

    With a `model`, of all samples, the residuals of numbers, times and two classes are compared.
    """
    return tuple(_adjusted(one, model) for one in _made(table, outcome, strata, multiclass, groups))


def _adjusted(comparison: Comparison, model: FullModel | None) -> Comparison:
    """Compare residuals of the model."""
    if model is None:
        return comparison
    here = model if comparison.rows is None else model.of_samples(comparison.rows)
    outcome = comparison.outcome
    if isinstance(here.outcome, ClassTarget) and isinstance(outcome, ClassTarget):
        here = replace(here, outcome=cast("Outcome", outcome))
        if outcome.n_classes > 2:
            return replace(comparison, model=here)
    if isinstance(outcome, ClassTarget) and not isinstance(here.outcome, ClassTarget):
        return replace(comparison, model=here)  # times that the user has cut
    original = None if isinstance(here.outcome, Survival) else outcome
    return replace(comparison, outcome=here.residuals(), model=here, original=original)


def _made(
    table: Table, outcome: Target, strata: Strata | None, multiclass: str, groups: Groups | None
) -> tuple[Comparison, ...]:
    if isinstance(outcome, ScoreTarget):
        if strata is not None:
            outcome.check_strata(strata)
        return (Comparison("numbers", table, outcome, strata, groups),)
    classes = outcome
    found = tuple(_comparisons(table, classes, strata, multiclass, groups))
    for one in found:
        if one.strata is not None:
            one.classes.check_strata(one.strata, "y" if one.classes is classes else f"{one.decision!r}")
    return found


def _comparisons(
    table: Table, classes: ClassTarget, strata: Strata | None, multiclass: str, groups: Groups | None
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
