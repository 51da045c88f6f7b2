"""A selection and the data it was made from → what explains and checks its relevant variables.

Correlations between them, the tuples that explain them, tests, counts and curves of these, second tests with covariates
or censored times, and cautions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.codes.coders import Coders
from interplay.codes.cuts import OutcomeCuts, outcome_cuts, variable_cuts
from interplay.codes.tuple_counts import MAX_KEPT, TupleCounter, TupleCounts
from interplay.engines.base import Engine
from interplay.results.run import Run
from interplay.results.selection import Selection
from interplay.search.settings import SelectionSettings
from interplay.selection.best_tuples import explain
from interplay.selection.cautions import find_cautions, warn_of_cautions
from interplay.selection.retests import beyond_covariates, in_log_rank, retested
from interplay.selection.selected_tuples import adjusted_tests, make_selected_tests
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.retest import Retest
from interplay.statistics.survival_curves import SurvivalCurves, survival_curves
from interplay.study.comparisons import Comparison
from interplay.study.covariates import Covariates
from interplay.study.survival import Survival
from interplay.study.table import Table

#: Correlations between relevant variables are kept for clusters and plots, unless there are very many.
_MAX_CORRELATED = 3000


@dataclass(frozen=True, eq=False)
class SearchedData:
    """What a selection was made from, to look up more about its relevant variables.

    Attributes
    ----------
    table : Table
    comparisons : tuple of Comparison
    coders : Coders
    engine : Engine
        That of the search.
    y : object
        The outcome as it was given; None where only its classes are known.
    covariates : Covariates, optional
    survival : Survival, optional
    """

    table: Table
    comparisons: tuple[Comparison, ...]
    coders: Coders
    engine: Engine
    y: Any
    covariates: Covariates | None = None
    survival: Survival | None = None

    def comparisons_of(self, n_runs: int) -> list[Comparison]:
        """Return the comparison of each run: of each comparison, the runs of all sizes of tuples."""
        n_sizes = n_runs // len(self.comparisons)
        return [comparison for comparison in self.comparisons for _ in range(n_sizes)]


def retests(
    data: SearchedData, runs: list[Run], settings: SelectionSettings, ranked: IntArray, p_values: FloatArray
) -> list[Retest]:
    """Test the variables that were found again: in a log-rank test where there are times, and with covariates."""
    again = partial(
        retested,
        runs=runs,
        comparisons=data.comparisons_of(len(runs)),
        coders=data.coders,
        settings=settings,
        variables=ranked,
        p_values=p_values,
    )
    found = []
    if data.survival is not None:
        found.append(again("log_rank", [], in_log_rank(data.survival)))
    if data.covariates is not None:
        test = beyond_covariates(data.covariates, data.survival)
        found.append(again("covariates", data.covariates.names, test))
    return found


def looked_up(found: Selection, data: SearchedData, settings: SelectionSettings) -> Selection:
    """Add correlations, tuples that explain, their tests and counts, curves and cautions.

    One comparison after the other, so that the coder of its table serves all: explanations hold the best tuples.
    """
    runs: list[Run] = []
    counted: list[TupleCounts] = []
    variables = found.ranked[:MAX_KEPT]
    comparisons = data.comparisons_of(len(found.runs))
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
            n_families = len(data.comparisons) * (found.dimensions[-1] - 1)
            tuples = np.concatenate(shown)
            tested = make_selected_tests(comparison, of_run, data.coders, tuples, n_families=n_families)
        cuts = _cuts(data, comparison, run, tested, kind=settings.decision)
        runs.append(replace(run, explanations=explanations, tested=tested, **cuts))
        counted += _tuple_counts(data.coders, comparison, found, variables, number=number)
    found = replace(
        found,
        runs=tuple(adjusted_tests(runs, settings, data.table.n_vars)),
        tuple_counts=tuple(counted),
        survival_curves=tuple(_survival_curves(data, comparisons, counted)),
        correlation=_correlation(data.table, found.ranked),
    )
    cautions = find_cautions(
        data.table,
        comparisons,
        best_run=found.best_run,
        ranked=found.ranked,
        counted=counted,
        settings=settings,
        y=data.y,
    )
    warn_of_cautions(cautions)
    return replace(found, provenance=found.provenance | ({"cautions": cautions} if cautions else {}))


def _cuts(
    data: SearchedData, comparison: Comparison, run: Run, tested: tuple[TestedTuples, ...], *, kind: str
) -> dict[str, Any]:
    """Return how the members of tested tuples and the outcome were cut, to cut new samples alike."""
    if not tested:
        return {}
    variables, classes = np.unique(tested[-1].tuples), comparison.classes
    cuts: dict[str, Any] = {"cuts": ()}
    if len(variables):
        coder = data.coders.of(comparison.table, variables)
        cuts = {"cuts": tuple(variable_cuts(coder, v) for v in variables.tolist())}
    if data.y is not None and len(data.comparisons) == 1:
        return cuts | {"outcome": outcome_cuts(data.y, classes)}
    # Of a continuous outcome only the classes are at hand, not where it was cut.
    return cuts | {"outcome": OutcomeCuts(run.class_labels, np.empty(0)) if kind == "classes" else None}


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
    data: SearchedData, comparisons: list[Comparison], counted: list[TupleCounts]
) -> Iterator[SurvivalCurves]:
    """Return the curves of the cells of the tuples that were counted, where there are times."""
    if data.survival is None:
        return
    for counts in counted:
        comparison = comparisons[counts.run]
        counter = TupleCounter(data.coders.of(comparison.table, counts.members), comparison.classes)
        here = data.survival if comparison.rows is None else data.survival.of_samples(comparison.rows)
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
