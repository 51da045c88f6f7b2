"""X, y, strata, groups, covariates, offset → Study: the data of a call, checked once, read by every later step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, cast

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_choice
from interplay.data.study.clustered_samples import warn_of_clusters
from interplay.data.study.comparisons import Comparison, make_comparisons
from interplay.data.study.design import (
    Design,
    Groups,
    Strata,
    in_order,
    make_covariates,
    make_groups,
    make_offset,
    make_strata,
)
from interplay.data.study.fingerprint import data_fingerprint
from interplay.data.study.full_model import FullModel
from interplay.data.study.named_columns import take_named
from interplay.data.study.outcomes.classes import DECISION_CHOICES, decision_classes, one_class
from interplay.data.study.outcomes.numbers import (
    SCALE_CHOICES,
    decision_numbers,
    is_number,
    note_on_counts,
    number_outcome,
)
from interplay.data.study.outcomes.ordered import ordered_classes
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.outcomes.targets import ClassTarget, Target
from interplay.data.study.outcomes.times import make_survival, named_event, split_survival, warn_of_censoring
from interplay.data.study.subsets import RowSubset
from interplay.data.study.table import Table
from interplay.data.study.table_checks import ROWS_IN_ORDER, rows_are_in_order


@dataclass(frozen=True, eq=False)
class Study:
    """Samples with their variables, outcome, strata, groups and covariates."""

    #: The variables: columns of X that are not named for another purpose.
    table: Table
    #: The outcome as it was given; the residuals of times that may be censored; None where only classes are known.
    y: Any
    #: Without an outcome, all samples are of one class.
    outcome: Outcome
    #: The outcome as it is compared without covariates and offset: itself, or residuals of times. With these,
    #: comparisons have the residuals of the model.
    compared: Target
    #: Strata, groups, covariates and offset.
    design: Design
    #: Name of the outcome: the column that was named, or the name of a pandas or polars Series.
    target: str | None = None
    #: Columns that the call names for another purpose than as variables.
    named: tuple[str, ...] = ()
    #: Why an outcome that looks like classes is taken as numbers; empty if it does not.
    note: str = ""
    _fingerprint: list[str] = field(default_factory=list, repr=False)

    @property
    def n_samples(self) -> int:
        return self.table.n_samples

    @property
    def strata(self) -> Strata | None:
        return self.design.strata

    @property
    def groups(self) -> Groups | None:
        return self.design.groups

    @property
    def classes(self) -> ClassTarget:
        """The outcome as it is compared, where it is classes."""
        return cast("ClassTarget", self.compared)

    def comparisons(self, multiclass: str = "joint") -> tuple[Comparison, ...]:
        """Return the comparisons of classes, one run each; strata must fit each of them."""
        return make_comparisons(self.table, self.compared, self.design, multiclass, self.model)

    @cached_property
    def model(self) -> FullModel | None:
        """The model of times, covariates and offset, which has the last word; None without any of these."""
        if not self.outcome.needs_model and not self.design.adjusts:
            return None
        return FullModel.of(self.outcome, self.design)

    def of_outcome(self, outcome: Outcome, compared: Target) -> Study:
        """Return the same samples with another outcome, which must go with the offset."""
        if self.design.offset is not None:
            outcome.check_offset()
        return replace(self, outcome=outcome, compared=compared, _fingerprint=[])

    def with_offset(self, offset: FloatArray) -> Study:
        """Return the same samples with another offset."""
        return replace(self, design=replace(self.design, offset=offset), _fingerprint=[])

    def of_samples(self, rows: IntArray) -> Study:
        """Keep some of the samples; numbers are cut or ranked anew, and times have residuals, from these alone."""
        design = self.design.of_samples(rows)
        y, outcome, compared = self.outcome.made_again(rows, self.y, design.strata, self.compared)
        table = RowSubset(self.table, rows)
        return replace(self, table=table, y=y, outcome=outcome, compared=compared, design=design, _fingerprint=[])

    def fingerprint(self, *, n_threads: int = 1) -> str:
        """Return the hash of names, values, outcome, strata, groups and model, made once; see `data_fingerprint`."""
        if not self._fingerprint:
            made = data_fingerprint(
                self.table, self.compared, self.strata, self.groups, self.model, self.design.offset, n_threads=n_threads
            )
            self._fingerprint.append(made)
        return self._fingerprint[0]

    @cached_property
    def _rows_are_in_order(self) -> bool:
        strata = None if self.strata is None else self.strata.codes
        return rows_are_in_order(self.table, self.compared.exchanged, strata)

    def record(self, *, n_threads: int = 1) -> dict[str, Any]:
        """Return the entries about the data that a result keeps in its provenance."""
        strata = self.strata
        labels = {name: self.table.labels[name] for name in self.table.names if name in self.table.labels}
        about: dict[str, Any] = {
            "target": self.target,
            "n_samples": self.n_samples,
            "samples_left_out": self.table.samples_left_out,
            "n_vars": self.table.n_vars,
            **({"filters": dict(self.table.filters)} if self.table.filters else {}),
            **({"labels": labels} if labels else {}),
            "data_fingerprint": self.fingerprint(n_threads=n_threads),
            "strata": {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True)),
        }
        if compared := self.compared.about():
            about["outcome"] = compared | ({"note": self.note} if self.note else {})
        if self.groups is None and self._rows_are_in_order:
            about["rows"] = ROWS_IN_ORDER
        return about | self.model_record()

    def model_record(self) -> dict[str, Any]:
        """Return the entries about covariates, offset and times; none without a model."""
        about: dict[str, Any] = {}
        if self.design.covariates is not None:
            about["covariates"] = self.design.covariates.names
        if self.design.offset is not None:
            about["offset"] = True
        if self.model is not None:
            about["model"] = self.model.outcome.model_name
        return about | self.outcome.about()

    def warn_of_clusters(self) -> None:
        """Warn where samples look as if they belonged together, unless groups say which do."""
        if self.groups is None:
            warn_of_clusters(self.table, self.compared, self.strata, taken=list(self.named))


def make_study(
    X: Any,
    y: Any,
    *,
    strata: Any = None,
    groups: Any = None,
    order: Any = None,
    covariates: Any = None,
    offset: Any = None,
    entry: Any = None,
    decision: str = "auto",
    decision_divisions: int | None = None,
    scale: str = "ranks",
    times: bool = False,
    reading: Literal["now", "if given", "later"] = "now",
) -> Study:
    """Check the data of a call against each other.

    Numbers, and times, are cut into classes where `decision_divisions` is given, and stay as they are otherwise. With
    `times`, the outcome may be a pair (time, event). Where it is read "if given", `y` may be None. Read "later", as
    that of new samples is, it is one class until `Study.of_outcome` has it; times are read in any case.
    """
    survival_pair = split_survival(y) if times else None
    y, event = (y, None) if survival_pair is None else survival_pair
    if entry is not None and survival_pair is None:
        raise ValueError("entry is for times: give y=(time, event), or leave entry out")
    event, event_value = named_event(event, X)
    event_name = event if isinstance(event, str) else getattr(event, "name", None)
    target = y if isinstance(y, str) else getattr(y, "name", None)
    named = [given for given in (y, event, strata, covariates, offset, entry) if isinstance(given, str)]
    named += covariates if isinstance(covariates, list) else []
    places = None if order is False else order
    table, (y, event, strata, groups, places, covariates, offset, entry) = take_named(
        X,
        y=y,
        event=event,
        strata=strata,
        groups=groups,
        order=places,
        covariates=covariates,
        offset=offset,
        entry=entry,
    )
    n_samples = table.n_samples
    strata = make_strata(strata, n_samples=n_samples, place=table.place)
    check_choice("decision", decision, DECISION_CHOICES)
    check_choice("scale", scale, SCALE_CHOICES)
    note = ""
    outcome: Outcome
    compared: Target
    if survival_pair is not None:
        outcome = make_survival(
            y, event, n_samples=n_samples, entry=entry, event_name=event_name, event_value=event_value
        )
        y = outcome.martingale_residuals()
        if decision == "classes":
            raise ValueError("decision='classes' does not go with times: leave it out")
        compared = outcome.compared(strata, decision_divisions, decision=decision)
    elif reading == "later" or (y is None and reading == "if given"):
        outcome = compared = one_class(n_samples)
    elif decision_divisions is None and (
        ordered := ordered_classes(y, n_samples=n_samples, decision=decision, strata=strata)
    ):
        outcome = compared = ordered
    elif decision_divisions is None and is_number(y, decision):
        outcome = compared = number_outcome(decision_numbers(y, n_samples=n_samples), strata, scale=scale)
        note = note_on_counts(compared.values, decision)
    else:
        divisions = 1 if decision_divisions is None else decision_divisions
        outcome = compared = decision_classes(y, n_samples=n_samples, decision=decision, decision_divisions=divisions)
    if y is not None and survival_pair is None and reading != "later":
        warn_of_censoring(table, y, compared, name=target if isinstance(target, str) else None)
    of_groups = make_groups(groups, n_samples=n_samples, order=places)
    design = Design(
        n_samples,
        strata,
        of_groups if order is False else in_order(of_groups, table, compared.exchanged),
        make_covariates(covariates, n_samples=n_samples),
        make_offset(offset, n_samples=n_samples),
    )
    if design.offset is not None:
        outcome.check_offset()
    return Study(
        table=table,
        y=y,
        outcome=outcome,
        compared=compared,
        design=design,
        target=None if target is None else str(target),
        named=tuple(named),
        note=note,
    )
