"""arguments of `select` → SelectionTask: its data and settings, checked against each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np

from interplay.base.arrays import DecisionClasses
from interplay.codes.coders import Coders
from interplay.search.permutations import about_relabelings, allowed_relabelings
from interplay.search.plan import about_search
from interplay.search.settings import SelectionSettings, check_selection_settings
from interplay.statistics.arms import arms_of
from interplay.statistics.permutations.reach import check_reach
from interplay.study.clustered_samples import warn_of_clusters
from interplay.study.comparisons import Comparison, make_comparisons
from interplay.study.covariates import Covariates, make_covariates
from interplay.study.fingerprint import data_fingerprint
from interplay.study.groups import Groups, make_groups
from interplay.study.named_columns import take_named
from interplay.study.outcome import decision_classes
from interplay.study.strata import Strata, make_strata
from interplay.study.survival import Survival, make_survival, split_survival, survival_classes, warn_of_censoring
from interplay.study.table import Table

#: Larger tuples are left out of "auto": few of so many cells have samples. Pairs never have more.
_MAX_CELLS_OF_AUTO = 2**16


@dataclass(frozen=True, eq=False)
class SelectionTask:
    """Data and settings of a selection.

    Attributes
    ----------
    table : Table
    classes : DecisionClasses
    strata : Strata, optional
    groups : Groups, optional
    settings : SelectionSettings
    comparisons : tuple of Comparison
        One for each run.
    y : object
        The decision as it was given; the residuals of times that may be censored.
    has_auto_dimensions : bool
        Whether the sizes of tuples were left to the program.
    target : str or None
        What the outcome is called: the column that was named, or the name of a pandas or polars Series.
    covariates : Covariates, optional
        With which the variables that are found are tested again.
    survival : Survival, optional
        The times, where the decision is made of such.
    """

    table: Table
    classes: DecisionClasses
    strata: Strata | None
    groups: Groups | None
    settings: SelectionSettings
    comparisons: tuple[Comparison, ...]
    y: Any
    target: str | None
    has_auto_dimensions: bool
    covariates: Covariates | None = None
    survival: Survival | None = None

    def fingerprint(self, *, n_threads: int) -> str:
        """Return the hash of all data; see `data_fingerprint`."""
        return data_fingerprint(self.table, self.classes, self.strata, self.groups, n_threads=n_threads)

    @property
    def strata_sizes(self) -> dict[str, int]:
        """Samples in each stratum, by its label; nothing without strata."""
        strata = self.strata
        return {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True))

    def about(self, fingerprint: str) -> dict[str, Any]:
        """Return what decides the gains; how they are judged may change."""
        settings = self.settings
        search = about_search(self.table, self.classes, settings, fingerprint=fingerprint)
        search |= {"n_contrast": settings.n_contrast, "multiclass": settings.multiclass}
        if settings.permutations:
            search["permutations"] = settings.n_permutations
        if settings.all_dimensions is not None:
            # Which arms are combined decides which dimensions are searched, and nothing else here.
            search["dimensions"] = settings.searched
        return search

    @property
    def study(self) -> dict[str, Any]:
        """What a record should say of covariates and censored times; nothing where there are neither."""
        about: dict[str, Any] = {}
        if self.covariates is not None:
            about["covariates"] = self.covariates.names
        if self.survival is not None:
            about["survival"] = {"n_events": int(self.survival.event.sum()), "last": float(self.survival.time.max())}
        return about

    @property
    def exchanged(self) -> dict[str, Any]:
        """What a record should say of groups and permutations; nothing where there are neither."""
        if self.groups is None and not self.settings.permutations:
            return {}
        return about_relabelings(
            self.comparisons[0],
            self.groups,
            n_permutations=self.settings.n_permutations if self.settings.permutations else None,
            n_runs=len(self.comparisons),
        )


def check_selection(
    X: Any,
    y: Any,
    *,
    strata: Any,
    groups: Any,
    covariates: Any,
    decision: str,
    decision_divisions: int,
    **settings: Any,
) -> SelectionTask:
    """Check the arguments of `select` that decide its result, against each other and the data."""
    times = split_survival(y)
    y, event = (y, None) if times is None else times
    target = y if isinstance(y, str) else getattr(y, "name", None)
    taken = [given for given in (y, event, strata, covariates) if isinstance(given, str)]
    taken += covariates if isinstance(covariates, list) else []
    y_name = y if isinstance(y, str) else None
    table, (y, event, strata, groups, covariates) = take_named(
        X, y=y, event=event, strata=strata, groups=groups, covariates=covariates
    )
    n_samples = table.n_samples
    survival = None if times is None else make_survival(y, event, n_samples=n_samples)
    how: dict[str, Any] = {"decision": decision, "decision_divisions": decision_divisions}
    if survival is None:
        classes = decision_classes(y, n_samples=n_samples, **how)
        warn_of_censoring(table, y, classes, name=y_name)
    else:
        classes = survival_classes(survival, **how)
        y = survival.residuals()
    known = make_covariates(covariates, n_samples=n_samples)
    within = make_strata(strata, n_samples=n_samples, place=table.place)
    together = make_groups(groups, n_samples=n_samples)
    checked = check_selection_settings(
        table,
        decision=classes.kind,
        decision_divisions=decision_divisions,
        has_groups=together is not None,
        **settings,
    )
    comparisons = make_comparisons(table, classes, within, checked.multiclass, together)
    if checked.permutations or together is not None:
        for comparison in comparisons:
            check_reach(
                allowed_relabelings(comparison),
                level=checked.level,
                n_permutations=checked.n_permutations,
                n_runs=len(comparisons),
                what=comparison.decision if len(comparisons) > 1 else "",
            )
    if together is None:
        warn_of_clusters(table, classes, within, taken=taken)
    return SelectionTask(
        table,
        classes,
        within,
        together,
        checked,
        comparisons,
        y,
        None if target is None else str(target),
        has_auto_dimensions=isinstance(settings["dimensions"], str),
        covariates=known,
        survival=survival,
    )


def with_fitting_dimensions(task: SelectionTask, coders: Coders) -> SelectionTask:
    """With dimensions="auto", leave out sizes of tuples that would have too many cells for samples to tell anything.

    A column of many labels then does not stop the rest of the search.
    """
    settings = task.settings
    if not task.has_auto_dimensions or settings.all_dimensions is None or settings.arms is None:
        return task
    n_levels = np.sort(coders.of(task.comparisons[0].table).n_levels)[::-1].astype(float)
    kept = tuple(k for k in settings.all_dimensions if k <= 2 or np.prod(n_levels[:k]) <= _MAX_CELLS_OF_AUTO)
    arms = tuple(arm for arm in arms_of(kept) if arm in settings.arms)
    if kept == settings.all_dimensions or not arms:
        return task
    return replace(task, settings=replace(settings, dimensions=kept[-1], all_dimensions=kept, arms=arms))


def n_tuples_of(task: SelectionTask) -> list[int]:
    """Return how many tuples each search of a comparison looks at, those of contrast variables too."""
    n_vars, n_contrast = task.table.n_vars, task.settings.n_contrast
    return [comb(n_vars, k) + n_contrast * comb(n_vars, k - 1) for k in task.settings.searched]
