"""X, y, strata, groups, covariates, offset → Study: the data of a call, checked once, read by every later step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_choice
from interplay.study.clustered_samples import warn_of_clusters
from interplay.study.columns import decision_column
from interplay.study.comparisons import Comparison, make_comparisons
from interplay.study.covariates import Covariates, make_covariates
from interplay.study.design import Design
from interplay.study.fingerprint import data_fingerprint
from interplay.study.full_model import FullModel
from interplay.study.groups import Groups, in_order, make_groups
from interplay.study.named_columns import take_named
from interplay.study.offset import make_offset
from interplay.study.outcomes.classes import DECISION_CHOICES, decision_classes, one_class
from interplay.study.outcomes.event_values import named_event
from interplay.study.outcomes.numbers import (
    SCALE_CHOICES,
    about_numbers,
    decision_numbers,
    is_number,
    note_on_counts,
    number_outcome,
)
from interplay.study.outcomes.outcome import Outcome
from interplay.study.outcomes.targets import ClassTarget, ScoreTarget, Target
from interplay.study.outcomes.times import Survival, make_survival, split_survival, survival_classes, warn_of_censoring
from interplay.study.strata import Strata, make_strata
from interplay.study.subsets import RowSubset
from interplay.study.table import Table


@dataclass(frozen=True, eq=False)
class Study:
    """Samples with their variables, outcome, strata, groups and covariates.

    Attributes
    ----------
    table : Table
        The variables: columns of X that are not named for another purpose.
    y : object
        The outcome as it was given; the residuals of times that may be censored; None where only classes are known.
    outcome : ClassTarget or ScoreTarget
        The outcome as it was given; residuals of times. Without an outcome, all samples are of one class. With
        covariates or an offset, comparisons have its residuals.
    strata : Strata, optional
    groups : Groups, optional
    covariates : Covariates, optional
    survival : Survival, optional
        The times, where the outcome is made of times.
    offset : (n_samples,) float64, optional
        The known part of the outcome: means, log odds of the second class, or log hazards.
    target : str or None
        Name of the outcome: the column that was named, or the name of a pandas or polars Series.
    named : tuple of str
        Columns that the call names for another purpose than as variables.
    note : str
        Why an outcome that looks like classes is taken as numbers; empty if it does not.
    """

    table: Table
    y: Any
    outcome: Target
    strata: Strata | None = None
    groups: Groups | None = None
    covariates: Covariates | None = None
    survival: Survival | None = None
    offset: FloatArray | None = None
    target: str | None = None
    named: tuple[str, ...] = ()
    note: str = ""
    _fingerprint: list[str] = field(default_factory=list, repr=False)

    @property
    def n_samples(self) -> int:
        return self.table.n_samples

    @property
    def classes(self) -> ClassTarget:
        """The outcome, where it is classes."""
        assert isinstance(self.outcome, ClassTarget)
        return self.outcome

    def asked_outcome(self, decision_divisions: int | None) -> dict[str, Any]:
        """Return the arguments about the outcome for the record: its kind, how it was cut, or how it is compared."""
        if isinstance(self.outcome, ScoreTarget):
            return {"decision": self.outcome.kind, "decision_divisions": None, "scale": self.outcome.scale}
        was_cut = self.outcome.kind == "continuous" and decision_divisions is None  # times
        return {
            "decision": self.outcome.kind,
            "decision_divisions": 1 if was_cut else decision_divisions,
            "scale": None,
        }

    def comparisons(self, multiclass: str = "joint") -> tuple[Comparison, ...]:
        """Return the comparisons of classes, one run each; strata must fit each of them."""
        return make_comparisons(self.table, self.outcome, self.strata, multiclass, self.groups, model=self.model)

    @cached_property
    def model(self) -> FullModel | None:
        """The model of times, covariates and offset, which has the last word; None without any of these."""
        if self.covariates is None and self.offset is None and self.survival is None:
            return None
        outcome = cast("Outcome", self.outcome) if self.survival is None else self.survival
        return FullModel.of(outcome, self.design)

    @property
    def design(self) -> Design:
        return Design(self.n_samples, self.strata, self.groups, self.covariates, self.offset)

    def check_offset(self) -> None:
        """Refuse an offset for more than two classes."""
        outcome = self.outcome
        if self.offset is None or self.survival is not None or not isinstance(outcome, ClassTarget):
            return
        if outcome.n_classes > 2:
            raise ValueError(
                f"offset is one number per sample, and y has {outcome.n_classes} classes: use it with two classes, "
                "numbers or times"
            )

    def of_samples(self, rows: IntArray) -> Study:
        """Keep some of the samples; numbers are cut or ranked anew, and times have residuals, from these alone."""
        strata = None if self.strata is None else self.strata.of_samples(rows)
        survival = None if self.survival is None else self.survival.of_samples(rows)
        outcome: Target = self.outcome
        y: Any
        if survival is not None:
            y = survival.martingale_residuals()
        else:
            column = decision_column(self.y)
            y = replace(column, read=lambda: column.read()[rows])
        if isinstance(outcome, ScoreTarget):
            outcome = (
                number_outcome(outcome.values[rows], strata, scale=outcome.scale)
                if survival is None
                else FullModel(survival, Design(len(rows), strata)).residuals()
            )
        elif survival is not None:
            outcome = survival_classes(survival, decision="auto", decision_divisions=outcome.n_classes - 1)
        else:
            # Fewer samples might look as if their outcome were of another kind.
            kind, divisions = outcome.kind, outcome.n_classes - 1
            outcome = decision_classes(y, n_samples=len(rows), decision=kind, decision_divisions=divisions)
        return replace(
            self,
            table=RowSubset(self.table, rows),
            y=y,
            outcome=outcome,
            strata=strata,
            groups=None if self.groups is None else self.groups.of_samples(rows),
            covariates=None if self.covariates is None else self.covariates.of_samples(rows),
            survival=survival,
            offset=None if self.offset is None else self.offset[rows],
            _fingerprint=[],
        )

    def fingerprint(self, *, n_threads: int = 1) -> str:
        """Return the hash of names, values, outcome, strata, groups and model, made once; see `data_fingerprint`."""
        if not self._fingerprint:
            made = data_fingerprint(self.table, self.outcome, self.strata, self.groups, self.model, n_threads=n_threads)
            self._fingerprint.append(made)
        return self._fingerprint[0]

    def record(self, *, n_threads: int = 1) -> dict[str, Any]:
        """Return the entries about the data that a result keeps in its provenance."""
        strata = self.strata
        about: dict[str, Any] = {
            "target": self.target,
            "n_samples": self.n_samples,
            "samples_left_out": self.table.samples_left_out,
            "n_vars": self.table.n_vars,
            "data_fingerprint": self.fingerprint(n_threads=n_threads),
            "strata": {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True)),
        }
        if isinstance(self.outcome, ScoreTarget):
            about["outcome"] = about_numbers(self.outcome) | ({"note": self.note} if self.note else {})
        return about | self.model_record()

    def model_record(self) -> dict[str, Any]:
        """Return the entries about covariates, offset and times; none without a model."""
        about: dict[str, Any] = {}
        if self.covariates is not None:
            about["covariates"] = self.covariates.names
        if self.offset is not None:
            about["offset"] = True
        if self.model is not None:
            about["model"] = self.model.outcome.model_name
        if self.survival is not None:
            times = self.survival
            about["survival"] = {"n_events": int(times.event.sum()), "last": float(times.time.max())}
        return about

    def warn_of_clusters(self) -> None:
        """Warn where samples look as if they belonged together, unless groups say which do."""
        if self.groups is None:
            warn_of_clusters(self.table, self.outcome, self.strata, taken=list(self.named))


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
    needs_outcome: bool = True,
) -> Study:
    """Check the data of a call against each other.

    Numbers, and times, are cut into classes where `decision_divisions` is given, and stay as they are otherwise. With
    `times`, the outcome may be a pair (time, event). Unless `needs_outcome`, `y` may be None.
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
    table, (y, event, strata, groups, order, covariates, offset, entry) = take_named(
        X,
        y=y,
        event=event,
        strata=strata,
        groups=groups,
        order=order,
        covariates=covariates,
        offset=offset,
        entry=entry,
    )
    n_samples = table.n_samples
    survival = None
    strata = make_strata(strata, n_samples=n_samples, place=table.place)
    check_choice("decision", decision, DECISION_CHOICES)
    check_choice("scale", scale, SCALE_CHOICES)
    how: dict[str, Any] = {
        "decision": decision,
        "decision_divisions": 1 if decision_divisions is None else decision_divisions,
    }
    note = ""
    outcome: Target
    if survival_pair is not None:
        survival = make_survival(
            y, event, n_samples=n_samples, entry=entry, event_name=event_name, event_value=event_value
        )
        y = survival.martingale_residuals()
        if decision == "classes":
            raise ValueError("decision='classes' does not go with times: leave it out")
        outcome = (
            FullModel(survival, Design(n_samples, strata)).residuals()
            if decision_divisions is None
            else survival_classes(survival, **how)
        )
    elif y is None and not needs_outcome:
        outcome = one_class(n_samples)
    elif decision_divisions is None and is_number(y, decision):
        outcome = number_outcome(decision_numbers(y, n_samples=n_samples), strata, scale=scale)
        note = note_on_counts(outcome.values, decision)
        warn_of_censoring(table, y, outcome, name=target if isinstance(target, str) else None)
    else:
        outcome = decision_classes(y, n_samples=n_samples, **how)
        warn_of_censoring(table, y, outcome, name=target if isinstance(target, str) else None)
    study = Study(
        table=table,
        y=y,
        outcome=outcome,
        strata=strata,
        groups=in_order(make_groups(groups, n_samples=n_samples, order=order), table, outcome.exchanged),
        covariates=make_covariates(covariates, n_samples=n_samples),
        survival=survival,
        offset=make_offset(offset, n_samples=n_samples),
        target=None if target is None else str(target),
        named=tuple(named),
        note=note,
    )
    study.check_offset()
    return study
