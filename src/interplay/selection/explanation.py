"""A selection and the data it was made from → what explains and checks its relevant variables.

Correlations between them, the tuples that explain them, tests, counts and curves of these, second tests with covariates
or censored times, and cautions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.codes.coders import Coders
from interplay.codes.cuts import OutcomeCuts, outcome_cuts, variable_cuts
from interplay.codes.tuple_counts import MAX_KEPT, TupleCounter, TupleCounts
from interplay.results.run import Run
from interplay.results.selection import Selection
from interplay.selection.best_tuples import explain
from interplay.selection.cautions import find_cautions, warn_of_cautions
from interplay.selection.retests import beyond_covariates, in_log_rank, retested
from interplay.selection.runs import SearchedSelection
from interplay.selection.selected_tuples import adjusted_tests, make_selected_tests
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.retest import Retest
from interplay.statistics.survival_curves import SurvivalCurves, survival_curves
from interplay.study.comparisons import Comparison
from interplay.study.table import Table

#: Correlations between relevant variables are kept for clusters and plots, unless there are very many.
_MAX_CORRELATED = 3000


def retests(data: SearchedSelection, runs: list[Run], ranked: IntArray, p_values: FloatArray) -> list[Retest]:
    """Test the variables that were found again: in a log-rank test where there are times, and with covariates."""
    study = data.task.study
    again = partial(
        retested,
        runs=runs,
        comparisons=data.task.comparisons_of(len(runs)),
        coders=data.coders,
        settings=data.task.settings,
        variables=ranked,
        p_values=p_values,
    )
    found = []
    if study.survival is not None:
        found.append(again("log_rank", [], in_log_rank(study.survival)))
    if study.covariates is not None:
        test = beyond_covariates(study.covariates, study.survival)
        found.append(again("covariates", study.covariates.names, test))
    return found


def explained(found: Selection, data: SearchedSelection) -> Selection:
    """Add correlations, tuples that explain, their tests and counts, curves and cautions.

    One comparison after the other, so that the coder of its table serves all: explanations hold the best tuples.
    """
    runs: list[Run] = []
    counted: list[TupleCounts] = []
    variables = found.ranked[:MAX_KEPT]
    task, settings = data.task, data.task.settings
    comparisons = task.comparisons_of(len(found.runs))
    for number, (run, comparison) in enumerate(zip(found.runs, comparisons, strict=True)):
        of_run = settings.of_dimension(run.dimensions)
        explanations = None
        if comparison.strata is None:  # gains within strata are not listed
            explanations = explain(comparison, of_run, data.coders, run.gains, found.ranked, engine=data.engine)
        tested: tuple[TestedTuples, ...] = ()
        if comparison.groups is None and run.dimensions > 1:  # the test takes samples as independent
            shown_here = found.ranked[found.best_run[found.ranked] == number]
            shown = [run.gains.tuples[found.ranked], found.best_tuples(shown_here, run.dimensions)]
            shown += [] if explanations is None else [explanations.tuples]
            n_families = len(task.comparisons) * (found.dimensions[-1] - 1)
            tuples = np.concatenate(shown)
            tested = make_selected_tests(comparison, of_run, data.coders, tuples, n_families=n_families)
        cuts = _cuts(data, comparison, run, tested)
        runs.append(replace(run, explanations=explanations, tested=tested, **cuts))
        counted += _tuple_counts(data.coders, comparison, found, variables, number=number)
    found = replace(
        found,
        runs=tuple(adjusted_tests(runs, settings, task.study.table.n_vars)),
        tuple_counts=tuple(counted),
        survival_curves=tuple(_survival_curves(data, comparisons, counted)),
        correlation=_correlation(task.study.table, found.ranked),
    )
    cautions = find_cautions(
        task.study,
        comparisons,
        best_run=found.best_run,
        ranked=found.ranked,
        counted=counted,
        settings=settings,
    )
    warn_of_cautions(cautions)
    return replace(found, provenance=found.provenance | ({"cautions": cautions} if cautions else {}))


def _cuts(
    data: SearchedSelection, comparison: Comparison, run: Run, tested: tuple[TestedTuples, ...]
) -> dict[str, Any]:
    """Return how the members of tested tuples and the outcome were cut, to cut new samples alike."""
    if not tested:
        return {}
    variables, classes = np.unique(tested[-1].tuples), comparison.classes
    cuts: dict[str, Any] = {"cuts": ()}
    if len(variables):
        coder = data.coders.of(comparison.table, variables)
        cuts = {"cuts": tuple(variable_cuts(coder, v) for v in variables.tolist())}
    task = data.task
    if task.study.y is not None and len(task.comparisons) == 1:
        return cuts | {"outcome": outcome_cuts(task.study.y, classes)}
    # Of a continuous outcome only the classes are at hand, not where it was cut.
    known = task.settings.decision == "classes"
    return cuts | {"outcome": OutcomeCuts(run.class_labels, np.empty(0)) if known else None}


def _tuple_counts(
    coders: Coders, comparison: Comparison, found: Selection, variables: IntArray, *, number: int
) -> Iterator[TupleCounts]:
    """Count the best tuples of those of the variables that show most clearly in the run of that number."""
    variables = variables[found.best_run[variables] == number]
    if not len(variables):
        return
    run = found.runs[number]
    tuples = found.best_tuples(variables, run.dimensions)
    counter = TupleCounter(coders.of(comparison.table, tuples[tuples >= 0]), comparison.classes)
    # Members of a tuple often have it in common: it is kept once.
    rows = np.column_stack([run.gains.discretization[variables], tuples])
    for discretization, *members in np.unique(rows, axis=0).tolist():
        counts = counter.count(np.array([m for m in members if m >= 0]), run=number, discretization=discretization)
        if counts is not None:
            yield counts


def _survival_curves(
    data: SearchedSelection, comparisons: list[Comparison], counted: list[TupleCounts]
) -> Iterator[SurvivalCurves]:
    """Return the curves of the cells of the tuples that were counted, where there are times."""
    survival = data.task.study.survival
    if survival is None:
        return
    for counts in counted:
        comparison = comparisons[counts.run]
        counter = TupleCounter(data.coders.of(comparison.table, counts.members), comparison.classes)
        here = survival if comparison.rows is None else survival.of_samples(comparison.rows)
        yield survival_curves(here.time, here.event, counter.numbered_cells(counts), counts)


def _correlation(table: Table, ranked: IntArray) -> FloatArray:
    """Pearson correlations between the relevant variables, in their order of significance."""
    if len(ranked) == 0 or len(ranked) > _MAX_CORRELATED:
        return np.empty((0, 0))
    columns = table.columns(ranked).astype(np.float64)
    observed = np.isfinite(columns)
    # Missing and infinite values count as their column's mean: they then say nothing either way.
    counts = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    means = np.where(observed, columns, 0).sum(axis=1, keepdims=True) / counts
    centred = np.where(observed, columns - means, 0)
    norms = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    scaled = np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0)
    return np.asarray(np.clip(scaled @ scaled.T, -1.0, 1.0))
