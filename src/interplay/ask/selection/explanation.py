"""A selection and the data it was made from → what explains and checks its relevant variables.

Correlations between them, the tuples that explain them, tests, counts and curves of these, and cautions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from interplay.ask.new_samples.variables import found_test
from interplay.ask.selection.best_order import with_order
from interplay.ask.selection.best_tuples import adjusted_tests, explain, make_selected_tests
from interplay.ask.selection.cautions import find_cautions, warn_of_cautions
from interplay.ask.selection.runs import SearchedSelection
from interplay.ask.selection.short_list import make_short_list
from interplay.ask.selection.task import SelectionTask
from interplay.ask.selection.variable_effects import variable_effects
from interplay.ask.tuple_tests.target_tests import TargetTests, kept_counts, target_tests
from interplay.ask.variants import make_variants
from interplay.base.arrays import FloatArray, IntArray, in_unit
from interplay.base.progress import Progress, Unfinished, part, unfinished
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import OutcomeCuts, VariableCuts, outcome_cuts, variable_cuts
from interplay.data.codes.tuple_counts import MAX_KEPT, TupleCounts
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.outcomes.times import Survival
from interplay.data.study.table import Table
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.linkage import make_linkage
from interplay.infer.survival.survival_curves import SurvivalCurves, tuple_curves
from interplay.show.results.run import Run, are_compared_by_rank
from interplay.show.results.selection import Selection

#: Correlations between relevant variables are kept for clusters and plots, unless there are very many.
_MAX_CORRELATED = 3000


def explained(found: Selection, data: SearchedSelection, progress: Progress = False) -> Selection:
    """Add correlations, explaining tuples, tests and counts of these, curves, cautions, effects, short list, order.

    On Ctrl-C, `Unfinished` has what is finished of that.
    """
    task = data.task
    runs: list[Run] = []
    counted: list[TupleCounts] = []
    curves: list[SurvivalCurves] = []
    try:
        for number, searched, coded, tests, tested in _codes_and_tests(found, data):
            told = part(progress, number / len(found.runs), 1 / len(found.runs))
            run = _explained_run(found, number, data, searched, coded, tested, told)
            cells = list(_best_counts(found, number, tests))
            curves += _survival_curves(task.study.outcome, coded, cells)
            counted += cells
            runs.append(run)
    except KeyboardInterrupt as stopped:
        runs += [stopped.done] if isinstance(stopped, Unfinished) else []
        raise Unfinished(_with_tests(found, runs, task)) from None
    found = replace(_with_tests(found, runs, task), tuple_counts=tuple(counted), survival_curves=tuple(curves))
    try:
        cautions = find_cautions(
            task.study,
            [comparison.shown for comparison in task.comparisons_of(len(found.runs))],
            best_run=found.best_run,
            ranked=found.ranked,
            counted=counted,
            settings=task.settings,
        )
        warn_of_cautions(cautions)
        found = replace(found, provenance=found.provenance | ({"cautions": cautions} if cautions else {}))
        found = replace(linked(found, task.study.table), variants=make_variants(task.study))
        found = replace(found, effects=variable_effects(found, data))  # directions depend on verdicts on tuples
        found = replace(found, shortened=make_short_list(found, data))
        found = with_order(found, task.study)
    except KeyboardInterrupt:
        raise Unfinished(found) from None
    if callable(progress):
        progress(1.0)
    return found


def _codes_and_tests(
    found: Selection, data: SearchedSelection
) -> Iterator[tuple[int, CodedComparison, CodedComparison, TargetTests, TargetTests]]:
    """Yield each run: its number, the codes that were searched, those that are shown, and tests of their tuples.

    The second tests leave out missing values where the selection does.
    """
    task = data.task
    n_sizes = len(found.runs) // len(task.comparisons)
    for number, comparison in enumerate(task.comparisons):
        # One comparison after the other, so that its codes, planes and tables serve the runs of all sizes.
        numbers = range(number * n_sizes, (number + 1) * n_sizes)
        involved = _involved(found, numbers)
        searched = data.coded.of(comparison, involved)
        coded = searched if comparison.shown is comparison else data.coded.of(comparison.shown, involved)
        tests = target_tests(coded)
        tested = tests
        if len(involved) and task.settings.omits_missing and coded.has_missing_level.any():
            tested = target_tests(coded, omit_missing=True)
        yield from ((number, searched, coded, tests, tested) for number in numbers)


def _with_tests(found: Selection, runs: list[Run], task: SelectionTask) -> Selection:
    """Put the first runs into their places, and adjust the p-values of their tuples."""
    every = [*runs, *found.runs[len(runs) :]]
    return replace(found, runs=tuple(adjusted_tests(every, task.settings, task.study.table.n_vars)))


def _involved(found: Selection, numbers: range) -> IntArray:
    """Return the variables of all tuples that explain relevant variables in some runs, ascending."""
    tuples = [found.runs[number].gains.tuples[found.ranked].ravel() for number in numbers]
    tuples += [found.best_tuple(v) for v in found.ranked.tolist() if found.best_run[v] in numbers]
    variables = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *tuples]))
    return variables[variables >= 0]


def _explained_run(
    found: Selection,
    number: int,
    data: SearchedSelection,
    searched: CodedComparison,
    coded: CodedComparison,
    tests: TargetTests,
    progress: Progress,
) -> Run:
    """Add the tuples that explain relevant variables, their tests, and how their members were cut.

    `searched` has the outcome that was searched, `coded` and `tests` the one that is shown and tested.
    """
    run, task, comparison = found.runs[number], data.task, coded.comparison
    settings = task.settings.of_dimension(run.dimensions)
    explanations = None
    if comparison.strata is None:  # gains within strata are not listed
        explanations = explain(searched, settings, run.gains, found.ranked, engine=data.engine)
    if comparison.groups is not None or run.dimensions == 1:  # the test takes samples as independent
        return replace(run, explanations=explanations, cuts=_cuts_of_gains(found, number, coded))
    shown_here = found.ranked[found.best_run[found.ranked] == number]
    shown = [run.gains.tuples[found.ranked], found.best_tuples(shown_here, run.dimensions)]
    shown += [] if explanations is None else [explanations.tuples]
    n_families = len(task.comparisons) * (found.dimensions[-1] - 1)

    def with_tests(tested: tuple[TupleTests, ...]) -> Run:
        members = np.unique(np.concatenate([some.tuples.ravel() for some in tested]))
        cuts = tuple(variable_cuts(coded.coder, v) for v in members.tolist())
        return replace(run, explanations=explanations, tested=tested, cuts=cuts, outcome=outcome)

    outcome: OutcomeCuts | None
    if not comparison.outcome.labels or (task.study.y is not None and len(task.comparisons) == 1):
        outcome = outcome_cuts(task.study.y, comparison.outcome)
    else:  # of a continuous outcome only the classes are at hand, not where it was cut
        outcome = OutcomeCuts(run.class_labels, np.empty(0)) if settings.decision == "classes" else None
    with unfinished(with_tests):
        return with_tests(
            make_selected_tests(coded, tests, settings, np.concatenate(shown), n_families, progress=progress)
        )


def _cuts_of_gains(found: Selection, number: int, coded: CodedComparison) -> tuple[VariableCuts, ...]:
    """Return how the members of tuples were cut in which variables were found by their gains: replications need it."""
    tests = (found_test(found, v) for v in found.ranked[:MAX_KEPT].tolist())
    members = {u for test in tests if test.run == number and " " in test.name for u in test.members.tolist()}
    return tuple(variable_cuts(coded.coder, u) for u in sorted(members))


def _best_counts(found: Selection, number: int, tests: TargetTests) -> Iterator[TupleCounts]:
    """Yield the tables of the best tuples of the first variables that show most clearly in a run."""
    variables = found.ranked[:MAX_KEPT]
    variables = variables[found.best_run[variables] == number]
    if not len(variables):
        return
    run = found.runs[number]
    # Members of a tuple often have it in common: it is kept once.
    rows = np.column_stack([run.gains.discretization[variables], found.best_tuples(variables, run.dimensions)])
    rows = np.unique(rows, axis=0)
    tuples = (members[members >= 0] for members in rows[:, 1:])
    yield from kept_counts(tests, tuples, rows[:, 0].tolist(), run=number)


def _survival_curves(outcome: Outcome, coded: CodedComparison, counted: list[TupleCounts]) -> Iterator[SurvivalCurves]:
    """Yield the curves of the cells of tuples that were counted, where there are times."""
    if not outcome.words.has_curves:
        return
    survival = cast("Survival", outcome)
    rows = coded.comparison.rows
    here = survival if rows is None else survival.of_samples(rows)
    for counts in counted:
        codes = coded.coder.codes_of(counts.discretization, counts.members).codes.astype(np.int64)
        yield tuple_curves(here, np.arange(codes.shape[1]), codes, counts)


def linked(found: Selection, table: Table) -> Selection:
    """Compare the relevant variables, and the members of all tuples that were tested, with each other."""
    members = [tested.tuples.ravel() for run in found.runs for tested in run.tested]
    variables = np.unique(np.concatenate([found.ranked, *members]))
    linkage = make_linkage(table, variables, variables, are_compared_by_rank(found.runs, variables))
    return replace(found, correlation=_correlation(table, found.ranked), linkage=linkage)


def _correlation(table: Table, ranked: IntArray) -> FloatArray:
    """Pearson correlations between the relevant variables, in their order of significance."""
    if len(ranked) == 0 or len(ranked) > _MAX_CORRELATED:
        return np.empty((0, 0))
    columns = np.stack([in_unit(column)[0] for column in table.columns(ranked).astype(np.float64)])
    observed = np.isfinite(columns)
    # Missing and infinite values count as their column's mean: they then say nothing either way.
    counts = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    means = np.where(observed, columns, 0).sum(axis=1, keepdims=True) / counts
    centred = np.where(observed, columns - means, 0)
    norms = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    scaled = np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0)
    return np.asarray(np.clip(scaled @ scaled.T, -1.0, 1.0))
