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
from interplay.search.coders import Coders, coder_for, contrast_coder
from interplay.search.exact_p_values import ExactPValues
from interplay.search.gains import PreparedSearch, about_search, least_work, prepare_search
from interplay.search.permuted_gains import about_relabelings, allowed_relabelings, search_permuted
from interplay.search.provenance import data_fingerprint
from interplay.search.score_tests import ScoreTests, run_score_tests
from interplay.search.settings import SelectionSettings, check_selection_settings
from interplay.search.tile_loop import Shard, TileLoop
from interplay.statistics.arms import arms_of, tests_of
from interplay.statistics.p_values import CHI2_PER_UNIT
from interplay.statistics.permutations.reach import check_reach
from interplay.steps.clustered_samples import warn_of_clusters
from interplay.steps.comparisons import Comparison, make_comparisons
from interplay.steps.contrast import ContrastTable, contrast_table
from interplay.steps.covariates import Covariates, make_covariates
from interplay.steps.decision import decision_classes
from interplay.steps.discrete_codes import Coder
from interplay.steps.groups import Groups, make_groups
from interplay.steps.named_columns import take_named
from interplay.steps.rank_scores import RankScores
from interplay.steps.strata import Strata, make_strata
from interplay.steps.survival import Survival, make_survival, split_survival, survival_classes, warn_of_censoring
from interplay.steps.table import Table

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
    n_threads : int
        Threads that read the table once more, for its fingerprint.
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
    n_threads: int = 1

    @cached_property
    def fingerprint(self) -> str:
        return data_fingerprint(self.table, self.classes, self.strata, self.groups, n_jobs=self.n_threads)

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
    permuted : (n_permutations, n_vars, n_groups) float64, optional
        Maxima of the variables under relabelings of the samples, by degrees of freedom as `gains` has them.
    inflation : float, optional
        With groups and without permutations: how many times as large as those of independent samples gains are.
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
    permuted: FloatArray | None = None
    inflation: float | None = None
    scores: ScoreTests | None = None


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
        if several and number == 0:
            _begin_on_gpu(comparison, task.settings, coder, contrast, choice)
        for k in task.settings.searched:
            settings = task.settings.of_dimension(k)
            kept: dict[str, Any] = {"checkpoint": checkpoint, "name": f"search{number}" + f"_{k}D" * several}
            search = prepare_run(
                comparison,
                settings=settings,
                coder=coder,
                contrast=contrast,
                choice=choice,
                alone=k > 1 and not several,
                shard=shard,
                **kept,
            )
            told = shares.of_next(progress)
            try:
                exact = ExactPValues(
                    pseudocount=settings.pseudocount,
                    has_strata=comparison.strata is not None,
                    with_contrast=not several,
                )
                run = _run_search(search, comparison, settings, told, exact=exact, may_stop=shard is None, **kept)
            except SearchInterrupted as interrupt:
                done = shares.before + shares.size * interrupt.done
                raise SearchInterrupted(interrupt.partial, done, interrupt.kept_in, interrupt.not_kept) from None
            loop = search.loop
            del search  # what it was made from is not kept while the next run is prepared
            if contrast is not None and comparison.groups is not None:
                run = replace(run, inflation=_inflation(comparison, settings, contrast, choice))
            if several and k == 1:
                alone = run.gains
                if shard is None or shard.number == 1:
                    run = replace(run, scores=_score_tests(comparison, task.settings, coder, contrast))
            yield run if alone is None else replace(run, alone=alone), loop
        del coder, contrast  # nor is this, while those of the next comparison are made


def _begin_on_gpu(
    comparison: Comparison, settings: SelectionSettings, coder: Coder, contrast: Coder | None, choice: EngineChoice
) -> None:
    """Have a GPU compile for all sizes of tuples that it will search, while smaller ones are searched."""
    for of_size in (settings.of_dimension(k) for k in settings.searched if k > 1):
        if choice.expects_gpu(least_work(comparison.table, of_size)):
            prepare_run(comparison, settings=of_size, coder=coder, contrast=contrast, choice=choice, alone=False)


def _run_search(
    search: PreparedSearch,
    comparison: Comparison,
    settings: SelectionSettings,
    progress: Progress,
    *,
    exact: ExactPValues,
    may_stop: bool,
    checkpoint: Checkpoint | None,
    name: str,
) -> SearchedRun:
    """Search the data, and all relabelings of them where p-values come from permutations."""
    # The search of the data is one of so many.
    n_searches = 1 + allowed_relabelings(comparison).n_used(settings.n_permutations) if settings.permutations else 1
    try:
        search.run(
            _share_of(progress, 0.0, 1 / n_searches),
            see_planes=exact.see_planes if _is_tested_exactly(settings) else None,
        )
    except SearchInterrupted as interrupt:
        done = interrupt.done / n_searches
        raise SearchInterrupted(interrupt.partial, done, interrupt.kept_in, interrupt.not_kept) from None
    run = _searched(comparison, search, exact.log_p)
    if not settings.permutations:
        return run
    permuted = search_permuted(
        search,
        comparison,
        settings,
        observed=search.loop.found[0],
        progress=_share_of(progress, 1 / n_searches, 1 - 1 / n_searches),
        may_stop=may_stop,
        checkpoint=checkpoint,
        name=name,
    )
    return replace(run, permuted=permuted)


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
    if settings.permutations:
        return False
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
    """Make the contrast variables of a comparison, the same for all its searches: within strata, by whole groups."""
    if not settings.n_contrast:
        return None
    strata, groups = comparison.strata, comparison.groups
    contrast = contrast_table(
        comparison.table,
        settings.n_contrast,
        seed=settings.random_state,
        strata=None if strata is None else strata.codes,
        groups=None if groups is None else groups.codes,
    )
    return contrast_coder(coder, contrast, settings, sources=contrast.sources)


def _inflation(comparison: Comparison, settings: SelectionSettings, contrast: Coder, choice: EngineChoice) -> float:
    """Return λ: the mean 1D gain of group contrast variables, in χ² per degree of freedom, at least 1."""
    once = replace(settings, dimensions=1, discretizations=1)
    coder = coder_for(contrast.table, once, n_threads=choice.n_threads, discrete=contrast.is_discrete)
    (found,) = prepare_search(coder, comparison.classes, once, choice, strata=comparison.strata).run(False)
    return max(float(np.mean(CHI2_PER_UNIT["bits"] * found.gain / found.df)), 1.0)


def _share_of(progress: Progress, begin: float, share: float) -> Progress:
    """Let a function that is told the share done of a run hear of a part of it."""
    if not callable(progress) or share == 1:
        return progress
    tell = progress
    return lambda done: tell(begin + share * done)


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
