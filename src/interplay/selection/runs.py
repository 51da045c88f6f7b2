"""A selection's data and settings → the searches they ask for, by comparison of classes and size of tuples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, MaxGains
from interplay.base.progress import Progress
from interplay.codes.coder import Coder
from interplay.codes.coders import Coders, coder_for, contrast_coder
from interplay.codes.contrast import ContrastTable, contrast_table
from interplay.codes.rank_scores import RankScores
from interplay.engines.base import SearchInterrupted
from interplay.engines.choice import EngineChoice
from interplay.files.types import Check
from interplay.results.run import RunGains
from interplay.search.checkpoint import Checkpoint
from interplay.search.loop import Shard, TileLoop
from interplay.search.permutations import allowed_relabelings, search_permuted
from interplay.search.plan import PreparedSearch, least_work, prepare_search
from interplay.search.settings import SelectionSettings
from interplay.selection.exact_p_values import ExactPValues
from interplay.selection.score_tests import ScoreTests, run_score_tests
from interplay.selection.task import SelectionTask, n_tuples_of
from interplay.statistics.arms import tests_of
from interplay.statistics.p_values import CHI2_PER_UNIT
from interplay.study.comparisons import Comparison


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchedRun(RunGains):
    """One search of a selection, with all that its p-values are made of.

    Attributes
    ----------
    decision, class_labels, class_sizes, contrast_sources, gains, alone
        As in `RunGains`.
    exact_log_p : (n_vars + n_contrast,) float64, optional
        Natural logarithms of exact p-values, of a search in 1D. Of several dimensions in one call, (n_vars,): of the
        variables alone.
    permuted : (n_permutations, n_vars, n_groups) float64, optional
        Maxima of the variables under relabelings of the samples, by degrees of freedom as `gains` has them.
    inflation : float, optional
        With groups and without permutations: how many times as large as those of independent samples gains are.
    scores : ScoreTests, optional
        Tests of rank scores, beside the search in 1D of several; of shards, the first has them.
    """

    exact_log_p: Annotated[FloatArray | None, Check("n_exact", high=0)] = None
    permuted: Annotated[FloatArray | None, Check("n_permutations n_permuted n_groups", below=np.inf)] = None
    inflation: Annotated[float | None, Check(low=1)] = None
    scores: ScoreTests | None = None

    def is_consistent(self) -> bool:
        """Say whether all is of the same variables: a file may say anything."""
        n_vars, of_all = self.gains.n_vars, self.gains.gain_by_group.shape
        return (
            super().is_consistent()
            and (self.exact_log_p is None or len(self.exact_log_p) in (n_vars, of_all[0]))
            and (self.permuted is None or (len(self.permuted) > 0 and self.permuted.shape[1:] == of_all))
        )


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
