"""Gains of a selection → null fits → p-values → adjustment → relevant variables → Selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from interplay.ask.selection.arm_tests import arm_p_values
from interplay.ask.selection.confirmation import Confirmation, has_long_tails
from interplay.ask.selection.explanation import explained
from interplay.ask.selection.runs import SearchedRun, SearchedSelection
from interplay.ask.selection.settings import SelectionSettings
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import one_blas_thread
from interplay.base.progress import Progress
from interplay.infer.arms import ArmPValues, log_p_of_all
from interplay.infer.null_fit import fit_null, guarded
from interplay.infer.p_values import adjust, relevant_mask, significance_order
from interplay.infer.permutations.permutation_null import permutation_null
from interplay.search.checkpoint import Checkpoint, handing_over
from interplay.show.results.run import Run, smallest_log_p
from interplay.show.results.selection import Selection


@one_blas_thread()  # products here are small: threads that wait for work took three times the seconds
def selection_from(
    searched: Sequence[SearchedRun],
    *,
    names: list[str],
    settings: SelectionSettings,
    provenance: dict[str, Any],
    data: SearchedSelection | None,
    checkpoint: Checkpoint | None = None,
    progress: Progress = False,
) -> Selection:
    """Gains → null fit → p-values → adjustment → relevant variables.

    Without the `data`, the result lacks what explains its variables: correlations, tuples, their tests and counts.
    """
    tests: tuple[ArmPValues, ...] = ()
    confirmation = confirmation_of(data)
    if settings.permutations:
        nulls = [permutation_null(run.gains, _permuted(run)) for run in searched]
        runs = [Run.of(run, null.null_fit) for run, null in zip(searched, nulls, strict=True)]
        log_p = smallest_log_p(runs)
        p_values, p_adjusted = (
            np.minimum(np.min(each, axis=0) * len(nulls), 1.0)
            for each in ([null.p_value for null in nulls], [null.p_adjusted for null in nulls])
        )
        p_adjusted = p_values if settings.p_adjust == "none" else p_adjusted
        order = significance_order(p_adjusted, np.max([null.evidence for null in nulls], axis=0))
    else:
        runs = [fitted_run(run, settings) for run in searched]
        if settings.all_dimensions is None:
            log_p = smallest_log_p(runs)
            if confirmation is not None:
                log_p = _confirmed(log_p, runs, confirmation, settings)
        else:
            tests = arm_p_values(searched, runs, settings)
            tests = tests if confirmation is None else confirmation.over_arms(tests)
            log_p = log_p_of_all(tests)
            runs = [run for run in runs if run.dimensions in settings.all_dimensions]
        p_values = np.exp(log_p)
        p_adjusted = adjust(p_values, settings.p_adjust, level=settings.level)
        order = significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0))
    relevant = relevant_mask(p_adjusted, level=settings.level)
    if confirmation is not None and settings.permutations:
        found_now = np.flatnonzero(relevant)
        p_values, p_adjusted = (each.copy() for each in (p_values, p_adjusted))
        of_model = np.exp(confirmation.of_runs(runs, found_now))
        p_adjusted[found_now] = np.maximum(p_adjusted[found_now], of_model)
        relevant = relevant_mask(p_adjusted, level=settings.level)
    found = made_selection(
        runs,
        log_p,
        p_values,
        p_adjusted,
        order,
        names=names,
        settings=settings,
        provenance=provenance,
        tests=tests,
    )
    if data is not None and confirmation is not None:
        found = in_model(found, data, confirmation)
    if data is None:
        return found
    with handing_over(lambda: found, checkpoint=checkpoint):
        return explained(found, data, progress)


def made_selection(
    runs: Sequence[Run],
    log_p: FloatArray,
    p_values: FloatArray,
    p_adjusted: FloatArray,
    order: IntArray,
    *,
    names: list[str],
    settings: SelectionSettings,
    provenance: dict[str, Any],
    tests: tuple[ArmPValues, ...] = (),
) -> Selection:
    """Return the selection of the variables whose adjusted p-values are small enough."""
    relevant = relevant_mask(p_adjusted, level=settings.level)
    # "auto" may choose another one in each comparison of classes; with permutations nothing is fitted
    fits = {settings.fit if run.null_fit.is_permuted else run.null_fit.fit for run in runs}
    return Selection(
        names=names,
        runs=tuple(runs),
        log_p=log_p,
        p_value=p_values,
        p_adjusted=p_adjusted,
        is_relevant=relevant,
        ranked=order[relevant[order]],
        correlation=np.empty((0, 0)),
        settings=settings.to_dict() | {"fit": fits.pop() if len(fits) == 1 and not tests else settings.fit},
        provenance=provenance,
        tests=tests,
    )


def confirmation_of(data: SearchedSelection | None) -> Confirmation | None:
    """Return the tests by full models, where there are covariates, an offset or times, and of sparse tuples."""
    if data is None:
        return None
    is_sparse = not data.task.settings.permutations and any(map(has_long_tails, data.task.comparisons))
    if data.task.study.model is None and not is_sparse:
        return None
    return Confirmation(data.coded, data.task.comparisons, data.task.settings)


def _confirmed(
    log_p: FloatArray, runs: Sequence[Run], confirmation: Confirmation, settings: SelectionSettings
) -> FloatArray:
    """Replace the p-values of relevant variables by those of full models, where these are larger."""
    confirmed = log_p.copy()
    p_adjusted = adjust(np.exp(log_p), settings.p_adjust, level=settings.level)
    found = np.flatnonzero(relevant_mask(p_adjusted, level=settings.level))
    confirmed[found] = np.maximum(log_p[found], confirmation.of_runs(runs, found))
    return confirmed


def in_model(found: Selection, data: SearchedSelection, confirmation: Confirmation) -> Selection:
    """Add the tests of the relevant variables by the full model, where there is one."""
    model, covariates = data.task.study.model, data.task.study.design.covariates
    if model is None:
        return found
    about = [] if covariates is None else covariates.names
    tests = confirmation.record(model.outcome.model_kind, about, found.ranked, found.p_adjusted)
    return replace(found, in_model=tests)


def fitted_run(run: SearchedRun, settings: SelectionSettings) -> Run:
    """Return a search with the null fit of its gains, or its exact p-values."""
    gains = run.gains
    inflation = 1.0 if run.inflation is None else run.inflation
    null_fit = fit_null(
        gains.gain / inflation,
        dimensions=gains.dimensions,
        divisions=settings.divisions,
        discretizations=settings.discretizations,
        contrast_gain=gains.contrast_gain / inflation if settings.n_contrast else None,
        contrast_df=gains.contrast_df if settings.n_contrast else None,
        df=gains.df,
        # That of group contrast variables is known to hold once gains are divided; the others are not.
        fit="weibull" if run.inflation is not None and settings.fit == "auto" else settings.fit,
        n_classes=run.n_classes,
    )
    if run.inflation is not None:
        null_fit = replace(null_fit, inflation=inflation)
    if run.weights.are_guarded and settings.n_contrast:
        null_fit = guarded(null_fit, gains.contrast_gain / inflation, gains.contrast_df.astype(np.float64))
    return Run.of(run, null_fit if run.exact_log_p is None else null_fit.with_exact_p(run.exact_log_p))


def _permuted(run: SearchedRun) -> FloatArray:
    assert run.permuted is not None  # where settings ask for permutations
    return run.permuted
