"""Screen → tests → adjustment → Interactions; again with a wider screen where the first could list too little."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from interplay.ask.interaction.bulk_tests import doubts, is_sparse, warn_of_sparse_tuples
from interplay.ask.interaction.coded_task import CodedTask
from interplay.ask.interaction.listed_tests import TestsOfScreen, wanted_tuples
from interplay.ask.interaction.products import Products
from interplay.ask.interaction.task import InteractionTask
from interplay.ask.tuple_tests.in_model import screen_cap
from interplay.ask.tuple_tests.prospects import MAX_LISTED, best_discretizations
from interplay.ask.tuple_tests.screen import ScreenedTuples, screen_tuples
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import one_blas_thread
from interplay.base.progress import Progress, part, unfinished
from interplay.data.codes.coded import SharedCodes
from interplay.data.codes.survey import warn_of_empty
from interplay.infer.interaction.tested_in_model import with_second_tests
from interplay.infer.interaction.tuple_tests import TupleTests, adjust_listed, corrected_p_values
from interplay.search.checkpoint import Checkpoint, handing_over, keeping
from interplay.search.engines.choice import EngineChoice
from interplay.search.plan import about_search
from interplay.show.results.interactions import Interactions
from interplay.show.results.provenance import search_record

#: The share of the progress that is the search's; the rest is that of the tests.
SHARE_OF_SCREEN = 0.9

#: The share of tests of levels in the progress after the search, where tests of products follow them.
_SHARE_OF_LEVELS = 0.2

#: Tuples with the smallest p-values that are kept where nothing is significant, of searches of at most so many tuples
#: times samples: a fraction of a second. Tests by a full model take longer than the search.
_N_SMALLEST = 5
_SHORT_SEARCH, _SHORT_SEARCH_IN_MODEL = 10**9, 10**6


@one_blas_thread()
def find_interactions(
    task: InteractionTask,
    choice: EngineChoice,
    *,
    checkpoint: Checkpoint | None,
    progress: Progress,
    shared: SharedCodes | None = None,
) -> Interactions:
    """Search all tuples of the family, test the tuples that the screen leaves, and list the tuples of `task.caps`.

    Where nothing is significant, and nothing else was asked for, a short search is done again for the smallest
    p-values: a reader wants to know how near the tuples came. Codes may be `shared` with searches for other outcomes.
    """
    found = find_once(task, choice, checkpoint=checkpoint, progress=progress, shared=shared)
    caps, is_whole = task.caps, task.shard is None
    bound = _SHORT_SEARCH if task.comparison.model is None else _SHORT_SEARCH_IN_MODEL
    is_short = caps.n_tests * task.study.n_samples <= bound
    # Nothing is, where no tuple has enough samples.
    is_searched = bool(found.provenance["searchers"]) or task.tests_products
    if len(found) or not (caps.is_default and is_whole and is_short and is_searched) or caps.method == "none":
        return found
    nearest = replace(task, caps=replace(caps, top=_N_SMALLEST))
    again = find_once(nearest, choice, checkpoint=None, progress=False, warns=False, shared=shared)
    return replace(found, smallest=again.tested)


def find_once(
    task: InteractionTask,
    choice: EngineChoice,
    *,
    checkpoint: Checkpoint | None,
    progress: Progress,
    warns: bool = True,
    shared: SharedCodes | None = None,
) -> Interactions:
    """Search once, or more often where the first screen listed too little."""
    started = time.perf_counter()
    settings, caps = task.search_settings, task.caps
    made = CodedTask.of(task, choice.n_threads, shared)
    coded, products = made.coded, made.products
    only_products = products is not None and task.coding == "product"
    if warns:
        warn_of_sparse_tuples(task, coded)
        warn_of_empty(coded.coder.table, coded.coder.n_missing)

    def about() -> dict[str, Any]:
        asked = {
            name: task.asked[name] for name in task.asked if name not in ("decision", "decision_divisions", "scale")
        }
        return about_search(task.study, task.settings, n_threads=choice.n_threads) | asked

    with keeping(checkpoint, about):
        any_tested = not only_products and not is_sparse(task, coded, least=True)
        # Where all p-values are 1, only a list of these needs a search.
        is_short = not any_tested and caps.top is not None and caps.max_p in (None, 1.0) and task.shard is None
        is_short &= products is None
        cap, n_screens = 1.0 if is_short else caps.first(), 0
        progress = part(progress)  # a wider screen tells nothing until it is as far
        while True:
            searched_cap = cap if task.comparison.model is None else screen_cap(cap, caps.n_tests)
            in_cells = products is not None and any_tested and products.are_in_cells(cap)
            screened = screen_tuples(
                coded,
                settings,
                choice,
                made.tests.survivors(
                    settings.dimensions,
                    cap_in_each(searched_cap, settings.discretizations),
                    max_listed=MAX_LISTED,
                    n_threads=choice.n_threads,
                    with_products=in_cells,
                ),
                asked_for=task.family.asked_for,
                require=task.family.require,
                shard=task.shard,
                checkpoint=checkpoint,
                name=f"screen{n_screens}",
                progress=part(progress, 0.0, SHARE_OF_SCREEN),
                is_needed=any_tested or (cap >= 1 and not is_short and not only_products),
            )
            if is_short:
                of_each = [task.family.first_tuples(caps.top or 0)] * settings.discretizations
            else:
                inside = task.family.holds(screened.tuples)
                tuples, where = screened.tuples[inside], screened.discretization[inside]
                of_each = [tuples[where == d] for d in range(settings.discretizations)]
                if task.comparison.model is not None:  # residuals say little about which one is the best
                    of_each = [np.unique(tuples, axis=0)] * settings.discretizations
            test = TestsOfScreen(
                made.shown_tests.tested,
                of_each,
                caps,
                seed=task.settings.random_state,
                n_samples=task.study.n_samples,
                is_part=task.shard is not None,
                n_threads=choice.n_threads,
                by_model=None if task.comparison.model is None else partial(_in_model, made),
                several_ways=products is not None,
            )
            # Products alone are searched within: nothing is there before their tests.
            done = 0.0 if only_products else 1.0
            with handing_over(partial(_itself, screened), done=done, checkpoint=checkpoint):
                # Tests of products come after those of levels.
                share = (1 - SHARE_OF_SCREEN) * (1.0 if products is None else _SHARE_OF_LEVELS)
                with unfinished(partial(_of_levels, task, products)):
                    found = test.adjusted(cap, part(progress, SHARE_OF_SCREEN, share))
                if products is not None:
                    told = part(progress, SHARE_OF_SCREEN + share, 1 - SHARE_OF_SCREEN - share)
                    found = _with_products(task, found, products, cap, of_each[0] if in_cells else None, told)
            wider = caps.following(cap, found, is_part=task.shard is not None)
            if wider is None:
                break
            cap, n_screens = wider, n_screens + 1
    wanted = wanted_tuples(
        found, caps, is_part=task.shard is not None, keeps_all=settings.discretizations > 1 or products is not None
    )
    with handing_over(lambda: wanted, checkpoint=checkpoint):
        # A function that is told shares was told of the end.
        told = False if callable(progress) else progress
        wanted = _beside_others(made, wanted, told)
        return made.named(
            wanted,
            settings=task.recorded_settings(),
            provenance={
                **task.study.record(n_threads=choice.n_threads),
                **search_record(screened.engine, screened.searched, started=started),
                "searched_up_to_p": cap,
                "tested": len(screened.tuples),
                "layout": screened.layout,
                **(doubts(task, coded, made.tests) if (wanted.p_adjusted < caps.level).any() else {}),
            },
        )


def _in_model(made: CodedTask, found: TupleTests, max_p: float, progress: Progress) -> TupleTests:
    """Test tuples by the full model, and keep those with p ≤ `max_p`, each in its best discretisation, by p-value."""

    def best(tested: TupleTests) -> TupleTests:
        return best_discretizations(tested).by_p_value()

    with unfinished(best):
        return best(made.in_model(found, max_p, progress))


def _of_levels(task: InteractionTask, products: Products | None, levels: TupleTests) -> TupleTests:
    """Return tests of levels, p-values times the number of ways, adjusted."""
    if products is None:
        return levels
    return _adjusted(task, levels.multiplied(np.log(products.n_ways(levels.tuples))).of_way("levels"))


def _with_products(
    task: InteractionTask,
    levels: TupleTests,
    products: Products,
    cap: float,
    listed: IntArray | None,
    progress: Progress,
) -> TupleTests:
    """Return tuples with p ≤ `cap` in the better of all ways, p-values times the number of ways, adjusted.

    `listed` as in `Products.tested`.
    """
    found = products.tested(cap, listed, progress)
    if task.coding == "auto":
        levels = _of_levels(task, products, levels)
        levels = levels.chosen(np.flatnonzero((levels.p_value <= cap) | (cap >= 1)))
        # Of a part, other shards may have the better way of a tuple.
        found = best_discretizations(TupleTests.joined([levels, found]))
    return _adjusted(task, found)


def _adjusted(task: InteractionTask, found: TupleTests) -> TupleTests:
    """Return tuples by p-value, adjusted for all of the search."""
    adjust = partial(adjust_listed, method=task.caps.method, n_tests=task.caps.n_tests)
    return found.by_p_value().adjusted(adjust)


def _beside_others(made: CodedTask, wanted: TupleTests, progress: Progress) -> TupleTests:
    """Test significant tuples again, products on the other scale, levels beside smooth effects and other columns.

    Of a part, all tuples that may be significant in the whole.
    """
    task, caps, products = made.task, made.task.caps, made.products

    def may_be(tested: TupleTests) -> BoolArray:
        is_one = tested.is_significant(caps.level)
        return is_one if task.shard is None else is_one | (tested.p_value <= caps.significant_up_to())

    def p_values(again: TupleTests, chi2: FloatArray, df: IntArray) -> FloatArray:
        n_ways = 1 if products is None else products.n_ways(again.tuples)
        return corrected_p_values(again, chi2, df, task.settings.discretizations * n_ways)

    adjust = partial(adjust_listed, method=caps.method, n_tests=caps.n_tests)
    if products is not None:
        rows = np.flatnonzero(may_be(wanted) & wanted.are_products)
        wanted = with_second_tests(wanted, rows, products.second_tests(wanted.chosen(rows))).adjusted(adjust)
    return made.beside(wanted, may_be, p_values, adjust, progress)


def cap_in_each(cap: float, discretizations: int) -> float:
    """Return the p-value up to which tuples have to be found in each discretisation; p = 1 is that of any tuple."""
    return cap / discretizations if cap < 1 else 1.0


def _itself(screened: ScreenedTuples) -> ScreenedTuples:
    return screened
