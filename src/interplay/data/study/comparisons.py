"""An outcome → comparisons, one run each: numbers; classes all at once, each pair, or each against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import cast

import numpy as np

from interplay.base.arrays import IntArray
from interplay.data.study.design import Design, Groups, Strata
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.targets import ClassTarget, Target
from interplay.data.study.subsets import RowSubset
from interplay.data.study.table import Table

MULTICLASS_CHOICES = ("joint", "ovo", "ovr")


@dataclass(frozen=True, eq=False)
class Comparison:
    """The samples and the outcome of one run."""

    #: The comparison in words: "all classes", "a vs b", "a vs rest", "numbers".
    decision: str
    #: The samples of these classes; the same object for all comparisons that take all samples.
    table: Table
    #: As it is searched: with a `model`, the residuals of this model, unless there are more than two classes.
    outcome: Target
    #: Not given: nothing is known of the samples beside the variables.
    design: Design | None = None
    #: (n,): numbers of the samples; all if not given.
    rows: IntArray | None = None
    #: With covariates, an offset or times: the model that has the last word.
    model: FullModel | None = None
    #: With a `model`: the outcome as users know it.
    original: Target | None = None

    @property
    def strata(self) -> Strata | None:
        return None if self.design is None else self.design.strata

    @property
    def groups(self) -> Groups | None:
        return None if self.design is None else self.design.groups

    @property
    def classes(self) -> ClassTarget:
        """The outcome, where it is classes."""
        return cast("ClassTarget", self.outcome)

    @cached_property
    def shown(self) -> Comparison:
        """The comparison with the outcome as users know it, to count and describe: classes, numbers; times stay."""
        return self if self.original is None else replace(self, outcome=self.original)


def make_comparisons(
    table: Table,
    compared: Target,
    design: Design,
    multiclass: str = "joint",
    model: FullModel | None = None,
) -> tuple[Comparison, ...]:
    """Split a decision of several classes into the two-class decisions asked for; strata must fit each of them.

    With a `model`, of all samples, the residuals of numbers, times and two classes are compared.
    """
    found = tuple(_comparisons(table, compared, design, multiclass))
    for one in found:
        if one.strata is not None:
            one.outcome.check_strata(one.strata, "y" if one.outcome is compared else f"{one.decision!r}")
    return found if model is None else tuple(_adjusted(one, model) for one in found)


def _adjusted(comparison: Comparison, model: FullModel) -> Comparison:
    """Compare residuals of the model."""
    compared = comparison.outcome
    here = model if comparison.rows is None else model.of_samples(comparison.rows)
    here = replace(here, outcome=here.outcome.as_compared(compared))
    if not here.outcome.searches_residuals(compared):
        return replace(comparison, model=here)
    original = compared if here.outcome.is_target else None
    return replace(comparison, outcome=here.residuals(), model=here, original=original)


def _comparisons(table: Table, compared: Target, design: Design, multiclass: str) -> Iterator[Comparison]:
    labels, codes = compared.labels, compared.class_codes
    if not labels:
        yield Comparison("numbers", table, compared, design)
    elif multiclass == "joint" or len(labels) == 2:
        yield Comparison("all classes", table, compared, design)
    elif multiclass == "ovr":
        for q, label in enumerate(labels):
            against_rest = DecisionClasses((codes == q).astype(np.int64), ["rest", label], compared.kind)
            yield Comparison(f"{label} vs rest", table, against_rest, design)
    else:
        for a, b in combinations(range(len(labels)), 2):
            rows = np.flatnonzero((codes == a) | (codes == b))
            pair = DecisionClasses((codes[rows] == b).astype(np.int64), [labels[a], labels[b]], compared.kind)
            yield Comparison(f"{labels[a]} vs {labels[b]}", RowSubset(table, rows), pair, design.of_samples(rows), rows)
