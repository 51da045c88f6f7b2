"""Data and settings of a selection → its searches, by comparison of classes and size of tuples, and tests of scores."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from interplay.ask.relabelings import allowed_relabelings, search_permuted, within_groups
from interplay.ask.selection.settings import SelectionSettings
from interplay.ask.selection.task import SelectionTask
from interplay.ask.selection.variable_tests import VariableTests, variable_tests
from interplay.base.arrays import FloatArray
from interplay.base.jobs import map_in_threads, one_blas_thread
from interplay.base.progress import Progress, check_progress, part
from interplay.base.tuples import MaxGains
from interplay.data.codes.coded import CodedComparison, CodedStudy, SharedCodes, coder_for
from interplay.data.codes.coder import Coder
from interplay.data.codes.contrast import contrast_table
from interplay.data.codes.rank_scores import RankScores
from interplay.data.codes.survey import warn_of_empty
from interplay.data.study.comparisons import Comparison
from interplay.files.types import Check
from interplay.infer.arms import WEIGHTS, weighted_tests
from interplay.infer.given_test import choose_strong
from interplay.infer.p_values import CHI2_PER_UNIT
from interplay.infer.product_maxima import ProductMaxima, is_small_enough
from interplay.search.checkpoint import Checkpoint, handing_over, keeping
from interplay.search.engines.base import Engine, SearchInterrupted
from interplay.search.engines.choice import AsEngine, EngineChoice, check_engine
from interplay.search.engines.routing import SearcherCounts, summed_counts
from interplay.search.loop import Shard, TileLoop
from interplay.search.plan import PreparedSearch, least_work, prepare_search
from interplay.show.results.provenance import search_record
from interplay.show.results.run import RunGains


@dataclass(frozen=True, eq=False)
class ScoreTests:
    """What rank scores say about each variable."""

    #: (n_vars,): natural logarithms of p-values, NaN where a test does not apply. A shift between classes, or the
    #: correlation of a number outcome with ranks.
    rank: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: A difference in spread, or the correlation with squares (a U shape).
    spread: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: Differences between the eighths of a variable: any shape.
    shape: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: Of a number outcome: the correlation of its distance from the middle with ranks.
    noise: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: As `rank`, given other variables.
    given: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: None where pairs were not asked for, are too many, or have no column that was cut.
    product: ProductMaxima | None


def run_score_tests(
    scores: RankScores, tests: VariableTests, *, names: Collection[str], contrast: RankScores | None = None
) -> ScoreTests:
    """Test every variable by its scores, as far as the tests in `names` need it.

    `contrast` are the scores of the contrast variables, for products.
    """
    coder = scores.coder
    n_vars, n_samples = coder.table.n_vars, coder.table.n_samples
    blocks = list(scores.blocks())
    sources = [scores, *([contrast] if contrast is not None and tests.needs_contrast else [])]
    n_contrast = sum(source.coder.table.n_vars for source in sources[1:])
    wants_product = (
        "product 2" in names and not coder.is_discrete.all() and is_small_enough(n_vars, n_contrast, n_samples)
    )
    nothing = np.full(n_vars, np.nan)
    if not ({"rank", "given"} & set(names) or wants_product):
        return ScoreTests(nothing, nothing, nothing, nothing, nothing, None)
    alone = np.hstack(map_in_threads(partial(tests.alone, scores), blocks, coder.n_jobs))
    rank = alone[0]
    strong = choose_strong(rank, n_samples)
    strong_scores = np.array([scores.read_normal(slice(v, v + 1))[0] for v in strong.tolist()])
    strong_scores = strong_scores.reshape(len(strong), n_samples)
    with one_blas_thread():
        given_others = tests.given(strong_scores, scores.strata)
        given = nothing
        if "given" in names:
            parts_given = map_in_threads(
                lambda rows: given_others.log_p(scores.read_normal(rows)), blocks, coder.n_jobs
            )
            given = np.where(np.isnan(rank), np.nan, np.concatenate(parts_given))
            given[strong[given_others.is_kept]] = given_others.log_p_of_kept()
    spread, shape, noise = alone[1:]
    product = tests.products(sources, given_others) if wants_product else None
    return ScoreTests(rank, spread, shape, noise, given, product)


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
    within : (n_permutations + 1, n_vars) float64, optional
        Squared correlations within groups, where the outcome varies there: of the data, and of the relabelings.
    are_swapped : bool
        Whether relabelings swap the names of labels, such as before and after.
    inflation : float, optional
        With groups and without permutations: how many times as large as those of independent samples gains are.
    scores : ScoreTests, optional
        Tests of rank scores, beside the search in 1D of several; of shards, the first has them.
    """

    exact_log_p: Annotated[FloatArray | None, Check("n_exact", high=0)] = None
    permuted: Annotated[FloatArray | None, Check("n_permutations n_permuted n_groups", below=np.inf)] = None
    within: Annotated[FloatArray | None, Check("n_labelings n_permuted", low=0, below=np.inf, nan=True)] = None
    are_swapped: bool = False
    inflation: Annotated[float | None, Check(low=1)] = None
    scores: ScoreTests | None = None

    def is_consistent(self) -> bool:
        """Say whether all is of the same variables: a file may say anything."""
        n_vars, of_all = self.gains.n_vars, self.gains.gain_by_group.shape
        return (
            super().is_consistent()
            and (self.exact_log_p is None or len(self.exact_log_p) in (n_vars, of_all[0]))
            and (self.permuted is None or (len(self.permuted) > 0 and self.permuted.shape[1:] == of_all))
            and (self.within is None or (self.permuted is not None and len(self.within) > len(self.permuted)))
        )


@dataclass(frozen=True, eq=False)
class SearchedSelection:
    """The searches of a selection, done, and the data they were made in."""

    task: SelectionTask
    coded: CodedStudy
    runs: tuple[SearchedRun, ...]
    #: Of several searches, that of the largest.
    engine: Engine
    #: Tiles and tuples by searcher, of all searches.
    searched: SearcherCounts = field(default_factory=dict)
    #: How many columns were cut into levels, and how many have missing values, for the provenance.
    columns: dict[str, Any] = field(default_factory=dict)
    #: How the tiles of each search were cut: shards of one selection agree in it.
    layouts: tuple[str, ...] = ()

    def record(self, started: float) -> dict[str, Any]:
        """Return the provenance of a result that was begun at `started`."""
        search = search_record(self.engine.describe(), self.searched, started=started)
        return self.task.record(n_threads=self.coded.n_threads) | search | self.columns


def search_selection(
    task: SelectionTask,
    *,
    engine: AsEngine,
    n_jobs: int | None,
    progress: Progress,
    checkpoint: Checkpoint | None,
    shard: Shard | None = None,
    shared: SharedCodes | None = None,
) -> SearchedSelection:
    """Do all searches of a task, or one shard of each; codes may be `shared` with searches for other outcomes."""
    check_progress(progress)
    choice = check_engine(engine, n_jobs=n_jobs)  # an engine that is not there is refused before any work
    n_threads = choice.reading_threads(least_work(task.study.table, task.settings))
    make_coded = CodedStudy if shared is None else shared.of
    coded = make_coded(task.settings, n_threads=n_threads)
    task = task.with_fitting_dimensions(coded)
    coder = coded.of(task.comparisons[0]).coder
    warn_of_empty(coder.table, coder.n_missing)
    columns = coder.record()
    of_shard = {} if shard is None else {"shard": str(shard)}
    with keeping(checkpoint, lambda: task.about(n_threads=coded.n_threads) | of_shard):
        runs, loops = zip(*_search_runs(task, coded, choice, progress, checkpoint, shard), strict=True)
    return SearchedSelection(
        task,
        coded,
        runs,
        loops[-1].engine,
        summed_counts(loop.searched for loop in loops),
        columns,
        tuple(loop.layout for loop in loops),
    )


def _search_runs(
    task: SelectionTask,
    coded_study: CodedStudy,
    choice: EngineChoice,
    progress: Progress,
    checkpoint: Checkpoint | None,
    shard: Shard | None,
) -> Iterator[tuple[SearchedRun, TileLoop]]:
    """Search for each of the comparisons, in each of the dimensions; beside each run, the loop of its search."""
    several = task.settings.all_dimensions is not None
    shares = _shares(task)
    for number, comparison in enumerate(task.comparisons):
        coded = _with_contrast(coded_study.of(comparison), task.settings)
        names = [f"search{number}" + f"_{k}D" * several for k in task.settings.searched]
        # All are prepared first: a GPU compiles for large tuples while small ones are searched.
        prepared = [
            prepare_search(
                coded,
                task.settings.of_dimension(k),
                choice,
                alone=k > 1 and not several,
                shard=shard,
                checkpoint=checkpoint,
                name=name,
            )
            for k, name in zip(task.settings.searched, names, strict=True)
        ]
        alone: MaxGains | None = None
        for name in names:
            search = prepared.pop(0)  # its tiles are not kept when it is done
            settings = task.settings.of_dimension(search.settings.dimensions)
            before, share = next(shares)
            told = part(progress, before, share)
            try:
                kept: dict[str, Any] = {"checkpoint": checkpoint, "name": name}
                run = _run_search(search, settings, told, with_contrast=not several, may_stop=shard is None, **kept)
            except SearchInterrupted as interrupt:
                done = before + share * interrupt.done
                raise SearchInterrupted(interrupt.partial, done, interrupt.kept_in, interrupt.not_kept) from None
            with handing_over(partial(getattr, run, "gains"), done=before + share, checkpoint=checkpoint):
                if coded.contrast is not None and comparison.groups is not None:
                    run = replace(run, inflation=_inflation(comparison, settings, coded.contrast, choice))
                if several and search.settings.dimensions == 1:
                    alone = run.gains
                    if shard is None or shard.number == 1:
                        run = replace(run, scores=_score_tests(coded, task.settings))
            yield run if alone is None else replace(run, alone=alone), search.loop


def _run_search(
    search: PreparedSearch,
    settings: SelectionSettings,
    progress: Progress,
    *,
    with_contrast: bool,
    may_stop: bool,
    checkpoint: Checkpoint | None,
    name: str,
) -> SearchedRun:
    """Search the data, and all relabelings of them where p-values come from permutations."""
    comparison = search.coded.comparison
    # The search of the data is one of so many.
    n_searches = 1 + allowed_relabelings(comparison).n_used(settings.n_permutations) if settings.permutations else 1
    exact = None
    if _is_tested_exactly(settings):
        exact = variable_tests(comparison).exact(search.coded, settings, with_contrast=with_contrast)
    see_planes = exact.see_planes if exact is not None and exact.needs_planes else None
    try:
        search.run(part(progress, 0.0, 1 / n_searches), see_planes=see_planes)
    except SearchInterrupted as interrupt:
        done = interrupt.done / n_searches
        raise SearchInterrupted(interrupt.partial, done, interrupt.kept_in, interrupt.not_kept) from None
    run = _searched(search, None if exact is None else exact.log_p())
    if not settings.permutations:
        return run
    within = within_groups(search.coded, settings)
    permuted = search_permuted(
        search,
        comparison,
        settings,
        observed=search.loop.found[0],
        within=within,
        progress=part(progress, 1 / n_searches, 1 - 1 / n_searches),
        may_stop=may_stop,
        checkpoint=checkpoint,
        name=name,
    )
    are_swapped = allowed_relabelings(comparison).are_swapped
    return replace(run, permuted=permuted, within=within, are_swapped=are_swapped)


def _shares(task: SelectionTask) -> Iterator[tuple[float, float]]:
    """Yield for each search the share of the whole work, in tuples, that comes before it, and its own."""
    n_tuples = [float(n) for n in task.n_tuples()] * len(task.comparisons)
    ends = np.cumsum([0.0, *n_tuples])
    for begin, end in pairwise((ends / ends[-1]).tolist()):
        yield begin, end - begin


def _is_tested_exactly(settings: SelectionSettings) -> bool:
    """Say whether p-values come from counts: in 1D, unless another fit to several discretisations was asked for."""
    if settings.permutations:
        return False
    return settings.dimensions == 1 and (settings.discretizations == 1 or settings.fit in ("auto", "union"))


def _searched(search: PreparedSearch, exact_log_p: FloatArray | None) -> SearchedRun:
    comparison, sources, found = search.coded.comparison, search.coded.contrast_sources, search.loop.found
    return SearchedRun(
        decision=comparison.decision,
        class_labels=[str(label) for label in comparison.shown.outcome.labels],
        class_sizes=comparison.shown.outcome.sizes,
        contrast_sources=np.empty(0, dtype=np.int64) if sources is None else np.asarray(sources),
        gains=found[0],
        alone=found[-1],
        of_numbers=comparison.outcome.are_ordered,
        exact_log_p=exact_log_p,
    )


def prepare_largest(
    task: SelectionTask, coded: CodedStudy, choice: EngineChoice, *, shard: Shard | None = None
) -> PreparedSearch:
    """Prepare the search of the largest tuples for the first comparison, to see what it takes."""
    settings = task.settings.of_dimension(task.settings.searched[-1])
    alone = settings.dimensions > 1 and task.settings.all_dimensions is None
    here = _with_contrast(coded.of(task.comparisons[0]), settings)
    return prepare_search(here, settings, choice, alone=alone, shard=shard)


def _with_contrast(coded: CodedComparison, settings: SelectionSettings) -> CodedComparison:
    """Add the contrast variables of a comparison, the same for all its searches: within strata, by whole groups."""
    if settings.n_contrast and coded.contrast is None:
        comparison = coded.comparison
        strata, groups = comparison.strata, comparison.groups
        contrast = contrast_table(
            comparison.table,
            settings.n_contrast,
            seed=settings.random_state,
            strata=None if strata is None else strata.codes,
            groups=None if groups is None else groups.codes,
        )
        coded.add_contrast(contrast, settings, sources=contrast.sources)
    return coded


def _inflation(comparison: Comparison, settings: SelectionSettings, contrast: Coder, choice: EngineChoice) -> float:
    """Return λ: the mean 1D gain of group contrast variables, in χ² per degree of freedom, at least 1."""
    once = replace(settings, dimensions=1, discretizations=1)
    survey = partial(coder_for, contrast.table, once, n_threads=choice.n_threads, discrete=contrast.is_discrete)
    coded = CodedComparison(replace(comparison, table=contrast.table), survey)
    (found,) = prepare_search(coded, once, choice).run(False)
    return max(float(np.mean(CHI2_PER_UNIT["bits"] * found.gain / found.df)), 1.0)


def _score_tests(coded: CodedComparison, settings: SelectionSettings) -> ScoreTests:
    comparison = coded.comparison
    assert settings.all_dimensions is not None
    assert settings.arms is not None
    scores, *contrast = coded.rank_scores()
    return run_score_tests(
        scores,
        variable_tests(comparison),
        names={
            test.name
            for test in weighted_tests(settings.all_dimensions, settings.arms, WEIGHTS[False], samples_per_column=1)
        },
        contrast=contrast[0] if contrast else None,
    )
