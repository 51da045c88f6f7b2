"""X, y, strata, groups, covariates → Study: the data of a call, checked once, read by every later step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from interplay.base.arrays import DecisionClasses, IntArray
from interplay.study.clustered_samples import warn_of_clusters
from interplay.study.comparisons import Comparison, make_comparisons
from interplay.study.covariates import Covariates, make_covariates
from interplay.study.fingerprint import data_fingerprint
from interplay.study.groups import Groups, make_groups
from interplay.study.named_columns import take_named
from interplay.study.outcome import decision_classes, decision_column, one_class
from interplay.study.strata import Strata, make_strata
from interplay.study.subsets import RowSubset
from interplay.study.survival import Survival, make_survival, split_survival, survival_classes, warn_of_censoring
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
    classes : DecisionClasses
        The outcome as the search compares it. Without an outcome, all samples are of one class.
    strata : Strata, optional
    groups : Groups, optional
    covariates : Covariates, optional
    survival : Survival, optional
        The times, where the outcome is made of times.
    target : str or None
        Name of the outcome: the column that was named, or the name of a pandas or polars Series.
    named : tuple of str
        Columns that the call names for another purpose than as variables.
    """

    table: Table
    y: Any
    classes: DecisionClasses
    strata: Strata | None = None
    groups: Groups | None = None
    covariates: Covariates | None = None
    survival: Survival | None = None
    target: str | None = None
    named: tuple[str, ...] = ()
    _fingerprint: list[str] = field(default_factory=list, repr=False)

    @property
    def n_samples(self) -> int:
        return self.table.n_samples

    def comparisons(self, multiclass: str = "joint") -> tuple[Comparison, ...]:
        """Return the comparisons of classes, one run each; strata must fit each of them."""
        return make_comparisons(self.table, self.classes, self.strata, multiclass, self.groups)

    def of_samples(self, rows: IntArray, *, decision_divisions: int) -> Study:
        """Keep some of the samples; a continuous outcome is cut anew, from these alone."""
        column = decision_column(self.y)
        y = replace(column, read=lambda: column.read()[rows])
        # Fewer samples might look as if their outcome were of another kind.
        kind = self.classes.kind
        return replace(
            self,
            table=RowSubset(self.table, rows),
            y=y,
            classes=decision_classes(y, n_samples=len(rows), decision=kind, decision_divisions=decision_divisions),
            strata=None if self.strata is None else self.strata.of_samples(rows),
            groups=None if self.groups is None else self.groups.of_samples(rows),
            _fingerprint=[],
        )

    def fingerprint(self, *, n_threads: int = 1) -> str:
        """Return the hash of names, values, outcome, strata and groups, made once; see `data_fingerprint`."""
        if not self._fingerprint:
            made = data_fingerprint(self.table, self.classes, self.strata, self.groups, n_threads=n_threads)
            self._fingerprint.append(made)
        return self._fingerprint[0]

    def record(self, *, n_threads: int = 1) -> dict[str, Any]:
        """Return the entries about the data that a result keeps in its provenance."""
        strata, survival = self.strata, self.survival
        about: dict[str, Any] = {
            "target": self.target,
            "n_samples": self.n_samples,
            "samples_left_out": self.table.samples_left_out,
            "n_vars": self.table.n_vars,
            "data_fingerprint": self.fingerprint(n_threads=n_threads),
            "strata": {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True)),
        }
        if self.covariates is not None:
            about["covariates"] = self.covariates.names
        if survival is not None:
            about["survival"] = {"n_events": int(survival.event.sum()), "last": float(survival.time.max())}
        return about

    def warn_of_clusters(self) -> None:
        """Warn where samples look as if they belonged together, unless groups say which do."""
        if self.groups is None:
            warn_of_clusters(self.table, self.classes, self.strata, taken=list(self.named))


def make_study(
    X: Any,
    y: Any,
    *,
    strata: Any = None,
    groups: Any = None,
    covariates: Any = None,
    decision: str = "auto",
    decision_divisions: int = 1,
    times: bool = False,
    needs_outcome: bool = True,
) -> Study:
    """Check the data of a call against each other.

    With `times`, the outcome may be a pair (time, event). Unless `needs_outcome`, `y` may be None.
    """
    survival_pair = split_survival(y) if times else None
    y, event = (y, None) if survival_pair is None else survival_pair
    target = y if isinstance(y, str) else getattr(y, "name", None)
    named = [given for given in (y, event, strata, covariates) if isinstance(given, str)]
    named += covariates if isinstance(covariates, list) else []
    table, (y, event, strata, groups, covariates) = take_named(
        X, y=y, event=event, strata=strata, groups=groups, covariates=covariates
    )
    n_samples = table.n_samples
    survival = None
    how: dict[str, Any] = {"decision": decision, "decision_divisions": decision_divisions}
    if survival_pair is not None:
        survival = make_survival(y, event, n_samples=n_samples)
        classes, y = survival_classes(survival, **how), survival.residuals()
    elif y is None and not needs_outcome:
        classes = one_class(n_samples)
    else:
        classes = decision_classes(y, n_samples=n_samples, **how)
        warn_of_censoring(table, y, classes, name=target if isinstance(target, str) else None)
    return Study(
        table=table,
        y=y,
        classes=classes,
        strata=make_strata(strata, n_samples=n_samples, place=table.place),
        groups=make_groups(groups, n_samples=n_samples),
        covariates=make_covariates(covariates, n_samples=n_samples),
        survival=survival,
        target=None if target is None else str(target),
        named=tuple(named),
    )
