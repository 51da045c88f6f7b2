"""A selection's data and settings → the searches they ask for, by comparison of classes and size of tuples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Any

import numpy as np

from interplay.arrays import DecisionClasses, FloatArray, IntArray, MaxGains
from interplay.engines.base import SearchInterrupted
from interplay.engines.choice import EngineChoice
from interplay.progress import Progress
from interplay.search.checkpoint import Checkpoint
from interplay.search.coders import Coders, contrast_coder
from interplay.search.exact_p_values import ExactPValues
from interplay.search.gains import PreparedSearch, about_search, prepare_search
from interplay.search.provenance import data_fingerprint
from interplay.search.score_tests import ScoreTests, run_score_tests
from interplay.search.settings import SelectionSettings, check_selection_settings
from interplay.search.tile_loop import Shard, TileLoop
from interplay.statistics.arms import tests_of
from interplay.steps.comparisons import Comparison, make_comparisons
from interplay.steps.contrast import ContrastTable, contrast_table
from interplay.steps.decision import decision_classes
from interplay.steps.discrete_codes import Coder
from interplay.steps.named_columns import take_columns
from interplay.steps.rank_scores import RankScores
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
        search |= {"n_contrast": settings.n_contrast, "multiclass": settings.multiclass}
        if settings.all_dimensions is not None:
            # Which arms are combined decides which dimensions are searched, and nothing else here.
            search["dimensions"] = settings.searched
        return search


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
        In 1D; of the contrast variables too where several dimensions are searched in one call.
    exact_log_p : (n_vars + n_contrast,) float64, optional
        Natural logarithms of exact p-values, of a search in 1D; not in parts of earlier versions. Of several dimensions
        in one call, (n_vars,): of the variables alone.
    scores : ScoreTests, optional
        Tests of rank scores, beside the search in 1D of several; of shards, the first has them.
    """

    decision: str
    class_labels: list[str]
    class_sizes: IntArray
    contrast_sources: IntArray
    gains: MaxGains
    alone: MaxGains
    exact_log_p: FloatArray | None = None
    scores: ScoreTests | None = None


def check_selection(
    X: Any, y: Any, *, strata: Any, decision: str, decision_divisions: int, **settings: Any
) -> SelectionTask:
    """Check the arguments of `select` that decide its result, against each other and the data."""
    table, y, strata = take_columns(X, y, strata)
    classes = decision_classes(y, n_samples=table.n_samples, decision=decision, decision_divisions=decision_divisions)
    within = make_strata(strata, n_samples=table.n_samples)
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
    """Search for each of the comparisons, in each of the dimensions; beside what was found, the loop that found it."""
    several = task.settings.all_dimensions is not None
    shares = _Shares(task)
    for number, comparison in enumerate(task.comparisons):
        coder = coders.of(comparison.table)
        contrast = _contrast_of(comparison, task.settings, coder)
        alone: MaxGains | None = None
        for k in task.settings.searched:
            settings = task.settings.of_dimension(k)
            search = prepare_run(
                comparison,
                settings=settings,
                coder=coder,
                contrast=contrast,
                choice=choice,
                alone=k > 1 and not several,
                shard=shard,
                checkpoint=checkpoint,
                name=f"search{number}" + f"_{k}D" * several,
            )
            exact = ExactPValues(
                pseudocount=settings.pseudocount,
                has_strata=comparison.strata is not None,
                with_contrast=not several,
            )
            try:
                search.run(
                    shares.of_next(progress),
                    see_planes=exact.see_planes if _is_tested_exactly(settings) else None,
                )
            except SearchInterrupted as interrupt:
                done = shares.before + shares.size * interrupt.done
                raise SearchInterrupted(interrupt.partial, done, interrupt.kept_in, interrupt.not_kept) from None
            run, loop = _searched(comparison, search, exact.log_p), search.loop
            del search  # what it was made from is not kept while the next run is prepared
            if several and k == 1:
                alone = run.gains
                if shard is None or shard.number == 1:
                    run = replace(run, scores=_score_tests(comparison, task.settings, coder, contrast))
            yield run if alone is None else replace(run, alone=alone), loop
        del coder, contrast  # nor is this, while those of the next comparison are made


def n_tuples_of(task: SelectionTask) -> list[int]:
    """Return how many tuples each search of a comparison looks at, those of contrast variables too."""
    n_vars, n_contrast = task.table.n_vars, task.settings.n_contrast
    return [comb(n_vars, k) + n_contrast * comb(n_vars, k - 1) for k in task.settings.searched]


class _Shares:
    """The share of the whole work, in tuples, that each search is; so a function that is told of it hears of all."""

    def __init__(self, task: SelectionTask) -> None:
        n_tuples = n_tuples_of(task)
        self._shares = [n / (sum(n_tuples) * len(task.comparisons)) for n in n_tuples] * len(task.comparisons)
        self._n_begun = 0
        self.before, self.size = 0.0, 0.0

    def of_next(self, progress: Progress) -> Progress:
        """Begin with the next search; return what it tells of its own progress."""
        self.before, self.size = sum(self._shares[: self._n_begun]), self._shares[self._n_begun]
        self._n_begun += 1
        if not callable(progress):
            return progress
        tell, before, size = progress, self.before, self.size
        is_last = self._n_begun == len(self._shares)
        return lambda done: tell(1.0 if is_last and done == 1.0 else before + size * done)


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
    comparison: Comparison,
    *,
    settings: SelectionSettings,
    coder: Coder,
    contrast: Coder | None,
    choice: EngineChoice,
    alone: bool,
    **options: Any,
) -> PreparedSearch:
    """Codes of variables and contrast variables → tiles: a search ready to run; `options` as in `prepare_search`."""
    return prepare_search(
        coder,
        comparison.classes,
        settings,
        choice,
        contrast=contrast,
        contrast_sources=None if contrast is None else _sources(contrast),
        strata=comparison.strata,
        alone=alone,
        **options,
    )


def prepare_largest(
    task: SelectionTask, coders: Coders, choice: EngineChoice, *, shard: Shard | None = None
) -> PreparedSearch:
    """Prepare the search of the largest tuples for the first comparison, to see what it takes."""
    comparison, settings = task.comparisons[0], task.settings.of_dimension(task.settings.searched[-1])
    coder = coders.of(comparison.table)
    contrast = _contrast_of(comparison, settings, coder)
    return prepare_run(
        comparison,
        settings=settings,
        coder=coder,
        contrast=contrast,
        choice=choice,
        alone=settings.dimensions > 1 and task.settings.all_dimensions is None,
        shard=shard,
    )


def _contrast_of(comparison: Comparison, settings: SelectionSettings, coder: Coder) -> Coder | None:
    """Make the contrast variables of a comparison, the same for all its searches."""
    if not settings.n_contrast:
        return None
    groups = None if comparison.strata is None else comparison.strata.codes
    contrast = contrast_table(comparison.table, settings.n_contrast, seed=settings.random_state, strata=groups)
    return contrast_coder(coder, contrast, settings, sources=contrast.sources)


def _sources(contrast: Coder) -> IntArray:
    assert isinstance(contrast.table, ContrastTable)
    return contrast.table.sources


def _score_tests(
    comparison: Comparison, settings: SelectionSettings, coder: Coder, contrast: Coder | None
) -> ScoreTests:
    strata = None if comparison.strata is None else comparison.strata.codes
    assert settings.all_dimensions is not None
    assert settings.arms is not None
    return run_score_tests(
        RankScores(coder, strata),
        comparison.classes,
        names={test.name for test in tests_of(settings.all_dimensions, settings.arms)},
        contrast=None if contrast is None else RankScores(contrast, strata),
    )
