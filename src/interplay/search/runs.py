"""A selection's data and settings → the searches they ask for, one for each comparison of classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from interplay.arrays import DecisionClasses, FloatArray, IntArray, MaxGains
from interplay.engines.base import SearchInterrupted
from interplay.engines.choice import EngineChoice
from interplay.progress import Progress
from interplay.search.checkpoint import Checkpoint
from interplay.search.coders import Coders
from interplay.search.exact_p_values import ExactPValues
from interplay.search.gains import PreparedSearch, about_search, prepare_search
from interplay.search.provenance import data_fingerprint
from interplay.search.settings import SelectionSettings, check_selection_settings
from interplay.search.tile_loop import Shard, TileLoop
from interplay.steps.comparisons import Comparison, make_comparisons
from interplay.steps.contrast import contrast_table
from interplay.steps.decision import decision_classes
from interplay.steps.named_columns import take_columns
from interplay.steps.strata import Strata, make_strata
from interplay.steps.table import Table


@dataclass(frozen=True, eq=False)
class SelectionTask:
    """Data and settings of a selection.

    Attributes
    ----------
    table : Table
    classes : DecisionClasses
    strata : Strata, optional
    settings : SelectionSettings
    comparisons : tuple of Comparison
        One for each run.
    y : object
        The decision as it was given.
    """

    table: Table
    classes: DecisionClasses
    strata: Strata | None
    settings: SelectionSettings
    comparisons: tuple[Comparison, ...]
    y: Any

    @cached_property
    def fingerprint(self) -> str:
        return data_fingerprint(self.table, self.classes, self.strata)

    @property
    def strata_sizes(self) -> dict[str, int]:
        """Samples in each stratum, by its label; nothing without strata."""
        strata = self.strata
        return {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True))

    @property
    def about(self) -> dict[str, Any]:
        """What decides the gains; how they are judged may change."""
        settings = self.settings
        search = about_search(self.table, self.classes, settings, fingerprint=self.fingerprint)
        return search | {"n_contrast": settings.n_contrast, "multiclass": settings.multiclass}


@dataclass(frozen=True)
class SearchedRun:
    """One search of a selection, before its null fit.

    Attributes
    ----------
    decision : str
        What was told apart: "all classes", "a vs b", "a vs rest".
    class_labels : list of str
    class_sizes : (n_classes,) int64
    contrast_sources : (n_contrast,) int64
    gains : MaxGains
    alone : MaxGains
        In 1D.
    exact_log_p : (n_vars + n_contrast,) float64, optional
        Natural logarithms of exact p-values, of a search in 1D; not in parts of earlier versions.
    """

    decision: str
    class_labels: list[str]
    class_sizes: IntArray
    contrast_sources: IntArray
    gains: MaxGains
    alone: MaxGains
    exact_log_p: FloatArray | None = None


def check_selection(
    X: Any, y: Any, *, strata: Any, decision: str, decision_divisions: int, **settings: Any
) -> SelectionTask:
    """Check the arguments of `select` that decide its result, against each other and the data."""
    table, y, strata = take_columns(X, y, strata)
    classes = decision_classes(y, n_samples=table.n_samples, decision=decision, decision_divisions=decision_divisions)
    within = make_strata(strata, n_samples=table.n_samples, place=table.place)
    checked = check_selection_settings(table, decision=classes.kind, decision_divisions=decision_divisions, **settings)
    comparisons = make_comparisons(table, classes, within, checked.multiclass)
    return SelectionTask(table, classes, within, checked, comparisons, y)


def search_runs(
    task: SelectionTask,
    coders: Coders,
    choice: EngineChoice,
    *,
    progress: Progress = None,
    checkpoint: Checkpoint | None = None,
    shard: Shard | None = None,
) -> Iterator[tuple[SearchedRun, TileLoop]]:
    """Search for each of the comparisons; beside what was found, the loop that found it."""
    n_runs = len(task.comparisons)
    prepare = partial(prepare_run, settings=task.settings, coders=coders, choice=choice)
    for number, comparison in enumerate(task.comparisons):
        search = prepare(comparison, shard=shard, checkpoint=checkpoint, name=f"search{number}")
        exact = ExactPValues(pseudocount=task.settings.pseudocount, has_strata=comparison.strata is not None)
        try:
            search.run(
                _share_of_runs(progress, number, n_runs),
                see_planes=exact.see_planes if _is_tested_exactly(task.settings) else None,
            )
        except SearchInterrupted as interrupt:
            done = (number + interrupt.done) / n_runs
            raise SearchInterrupted(interrupt.partial, done, interrupt.kept_in, interrupt.not_kept) from None
        run, loop = _searched(comparison, search, exact.log_p), search.loop
        del search  # what it was made from is not kept while the next run is prepared
        yield run, loop


def _is_tested_exactly(settings: SelectionSettings) -> bool:
    """Say whether p-values come from counts: in 1D, unless another fit to several discretisations was asked for."""
    return settings.dimensions == 1 and (settings.discretizations == 1 or settings.fit in ("auto", "union"))


def _searched(comparison: Comparison, search: PreparedSearch, exact_log_p: FloatArray | None) -> SearchedRun:
    found, sources = search.loop.found, search.contrast_sources
    return SearchedRun(
        decision=comparison.decision,
        class_labels=[str(label) for label in comparison.classes.labels],
        class_sizes=comparison.classes.sizes,
        contrast_sources=np.empty(0, dtype=np.int64) if sources is None else np.asarray(sources),
        gains=found[0],
        alone=found[-1],
        exact_log_p=exact_log_p,
    )


def prepare_run(
    comparison: Comparison, *, settings: SelectionSettings, coders: Coders, choice: EngineChoice, **options: Any
) -> PreparedSearch:
    """Table → codes, contrast variables → tiles: a search that is ready to run; `options` as in `prepare_search`."""
    table, strata = comparison.table, comparison.strata
    contrast = None
    if settings.n_contrast:
        groups = None if strata is None else strata.codes
        contrast = contrast_table(table, settings.n_contrast, seed=settings.random_state, strata=groups)
    return prepare_search(
        coders.of(table),
        comparison.classes,
        settings,
        choice,
        contrast=contrast,
        contrast_sources=None if contrast is None else contrast.sources,
        strata=strata,
        alone=settings.dimensions > 1,
        **options,
    )


def _share_of_runs(progress: Progress, n_done: int, n_runs: int) -> Progress:
    """Let a function that is told the share done hear of all runs together."""
    if not callable(progress):
        return progress
    tell = progress
    return lambda done: tell((n_done + done) / n_runs)
