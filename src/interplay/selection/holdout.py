"""A study and a share → samples to search in and samples held out, in which relevant variables are tested."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray, NumberOutcome
from interplay.base.checks import check_int, check_real, shown
from interplay.results.replication import replicate_in
from interplay.results.selection import Selection
from interplay.results.variable_replication import replicate_in_table
from interplay.study.number_outcome import number_outcome
from interplay.study.outcome import decision_classes, decision_column
from interplay.study.sample_split import split_samples
from interplay.study.study import Study
from interplay.study.subsets import RowSubset
from interplay.study.survival import survival_classes


def split_study(study: Study, holdout: Any, *, seed: int) -> tuple[IntArray, IntArray]:
    """Return the samples to search in and those held out; whole groups stay together."""
    if study.groups is None:
        return split_samples(holdout, study.outcome, study.strata, seed=seed)
    n_samples, n_groups = study.n_samples, study.groups.n_groups
    if isinstance(holdout, float | np.floating):
        share = check_real("holdout", float(holdout), low=0.0, high=1.0, low_open=True, high_open=True)
    else:
        share = check_int("holdout", holdout, low=1, high=n_samples - 1) / n_samples
    order = np.random.RandomState(seed % 2**32).permutation(n_groups)
    n_held = round(share * n_groups)
    if not 1 < n_held < n_groups - 1:
        raise ValueError(f"holdout={shown(holdout)} leaves too few of {n_groups} groups on one side: use another share")
    is_held = np.isin(study.groups.codes, order[:n_held])
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def samples_of(study: Study, rows: IntArray) -> Study:
    """Keep some samples; numbers are ranked, and numbers that are cut and times are cut, from these alone."""
    strata = None if study.strata is None else study.strata.of_samples(rows)
    survival = None if study.survival is None else study.survival.of_samples(rows)
    outcome, y = study.outcome, study.y
    if survival is not None:
        n_classes = study.classes.n_classes
        outcome = survival_classes(survival, decision="auto", decision_divisions=n_classes - 1)
        y = survival.residuals()
    elif isinstance(outcome, NumberOutcome):
        outcome = number_outcome(outcome.values[rows], strata, scale=outcome.scale)
        y = outcome.values
    else:
        column = decision_column(study.y)
        y = replace(column, read=lambda: column.read()[rows])
        outcome = decision_classes(
            y, n_samples=len(rows), decision=outcome.kind, decision_divisions=outcome.n_classes - 1
        )
    return replace(
        study,
        table=RowSubset(study.table, rows),
        y=y,
        outcome=outcome,
        strata=strata,
        groups=None if study.groups is None else study.groups.of_samples(rows),
        covariates=None if study.covariates is None else study.covariates.of_samples(rows),
        survival=survival,
        _fingerprint=[],
    )


def with_holdout(found: Selection, held_out: Study) -> Selection:
    """Test the relevant variables in the samples that were held out."""
    survival = held_out.survival
    tuples = None
    if held_out.groups is None and found.has_tested_tuples and len(found.comparisons) == 1:
        listed = found.interactions().only_significant()
        tuples = replicate_in(listed, held_out.table, held_out.y, held_out.strata)
    replication = replicate_in_table(
        found,
        held_out.table,
        held_out.y if survival is None else (survival.time, survival.event),
        strata=held_out.strata,
        groups=held_out.groups,
        covariates=held_out.covariates,
        tuples=tuples,
    )
    return replace(found, replication=replication)
