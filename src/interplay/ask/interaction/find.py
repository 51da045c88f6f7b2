"""Screen → tests → adjustment → Interactions; again with a wider screen where the first could list too little."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from interplay.ask.interaction.beside_columns import beside_columns
from interplay.ask.interaction.beside_smooth import beside_smooth
from interplay.ask.interaction.bulk_tests import doubts, is_sparse, warn_of_sparse_tuples
from interplay.ask.interaction.in_model import in_model, screen_cap
from interplay.ask.interaction.product_screen import check_products
from interplay.ask.interaction.products import Products
from interplay.ask.interaction.prospects import MAX_LISTED, PValueCaps
from interplay.ask.interaction.screen import ScreenedTuples, screen_tuples
from interplay.ask.interaction.target_tests import TargetTests, kept_counts, target_tests
from interplay.ask.interaction.task import InteractionTask
from interplay.ask.interaction.tests import Asked, best_discretizations
from interplay.ask.interaction.tuple_samples import tuple_samples
from interplay.ask.variants import make_variants
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import one_blas_thread
from interplay.base.progress import Progress, part, show_progress
from interplay.data.codes.coded import CodedComparison, SharedCodes, code_comparison
from interplay.data.codes.cuts import outcome_cuts, variable_cuts
from interplay.data.codes.survey import warn_of_empty
from interplay.data.codes.tuple_counts import MAX_KEPT, TupleCounts
from interplay.data.study.outcomes.times import Survival
from interplay.infer.interaction.tested_in_model import with_other_scale
from interplay.infer.interaction.tuple_tests import METHODS, TupleTests, adjust_listed, corrected_p_values
from interplay.infer.linkage import Linkage, make_linkage
from interplay.infer.survival.survival_curves import MAX_TUPLES, SurvivalCurves, tuple_curves
from interplay.search.checkpoint import Checkpoint, handing_over, keeping
from interplay.search.engines.choice import EngineChoice
from interplay.search.plan import about_search
from interplay.show.results.interactions import Interactions
from interplay.show.results.provenance import search_record

#: p-values of χ² up to this one are corrected by a bootstrap where there is no exact test, whether or not they could be
#: significant: those of sparse tables can be too small by a factor of ten.
_BOOTSTRAP_BELOW = 1e-3

#: The share of the progress that is the search's; the rest is that of the tests.
SHARE_OF_SCREEN = 0.9

#: The share of the tests that those of residuals have, where full models follow.
_SHARE_OF_RESIDUALS = 0.1

#: Tuples with the smallest p-values that are kept where nothing is significant, of searches of at most so many tuples
#: times samples: a fraction of a second. Tests by a full model take longer than the search.
_N_SMALLEST = 5
_SHORT_SEARCH, _SHORT_SEARCH_IN_MODEL = 10**9, 10**6

#: Fewer tests than this are done before a progress bar could be read.
_MANY_TESTS = 1000


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
    if shared is None:
        coded = code_comparison(task.comparison, settings, n_threads=choice.n_threads)
    else:
        coded = shared.of(settings, n_threads=choice.n_threads).of(task.comparison)
    check_products(coded, task.coding, settings.dimensions)
    tests = target_tests(coded, omit_missing=task.omits_missing, coding=task.level_coding)
    shown, shown_tests = shown_outcome(task, coded, tests)
    products = Products(task, shown, shown_tests, choice.n_threads) if task.tests_products else None
    products = products if products is not None and products.are_there else None
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
            screened = screen_tuples(
                coded,
                settings,
                choice,
                tests.survivors(
                    settings.dimensions,
                    cap_in_each(searched_cap, settings.discretizations),
                    max_listed=MAX_LISTED,
                    n_threads=choice.n_threads,
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
                shown_tests.tested,
                of_each,
                caps,
                seed=task.settings.random_state,
                n_samples=task.study.n_samples,
                is_part=task.shard is not None,
                n_threads=choice.n_threads,
                by_model=None if task.comparison.model is None else partial(_in_model, task, shown, choice.n_threads),
                several_ways=products is not None,
            )
            # Products alone are searched within: nothing is there before their tests.
            done = 0.0 if only_products else 1.0
            with handing_over(partial(_itself, screened), done=done, checkpoint=checkpoint):
                found = test.adjusted(cap, part(progress, SHARE_OF_SCREEN, 1 - SHARE_OF_SCREEN))
                if products is not None:
                    found = _with_products(task, found, products, cap)
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
        wanted = _beside_others(task, shown, wanted, choice.n_threads, told, products)
        return named_result(
            task,
            wanted,
            shown,
            shown_tests,
            settings=task.recorded_settings(),
            provenance={
                **task.study.record(n_threads=choice.n_threads),
                **search_record(screened.engine, screened.searched, started=started),
                "searched_up_to_p": cap,
                "tested": len(screened.tuples),
                "layout": screened.layout,
                **(doubts(task, coded, tests) if (wanted.p_adjusted < caps.level).any() else {}),
            },
        )


def shown_outcome(
    task: InteractionTask, coded: CodedComparison, tests: TargetTests
) -> tuple[CodedComparison, TargetTests]:
    """Return the comparison with the outcome as users know it, where residuals are searched, and tests of it."""
    comparison = coded.comparison.shown
    if comparison is coded.comparison:
        return coded, tests
    shown = CodedComparison(comparison, lambda: coded.coder)
    return shown, target_tests(shown, omit_missing=task.omits_missing, coding=task.level_coding)


def _in_model(
    task: InteractionTask,
    coded: CodedComparison,
    n_threads: int,
    found: TupleTests,
    max_p: float,
    progress: Progress,
) -> TupleTests:
    """Test tuples by the full model, and keep those with p ≤ `max_p`, each in its best discretisation, by p-value."""
    options: dict[str, Any] = {"omit_missing": task.omits_missing, "coding": task.level_coding, "n_threads": n_threads}
    options["progress"] = progress
    return best_discretizations(in_model(found, coded, max_p=max_p, **options)).by_p_value()


def _with_products(task: InteractionTask, levels: TupleTests, products: Products, cap: float) -> TupleTests:
    """Return tuples with p ≤ `cap` in the better of all ways, p-values times the number of ways, adjusted."""
    if task.coding == "product":
        found = products.tested(cap)
    else:
        levels = levels.multiplied(np.log(products.n_ways(levels.tuples)))
        levels = levels.chosen(np.flatnonzero((levels.p_value <= cap) | (cap >= 1)))
        # Of a part, other shards may have the better way of a tuple.
        found = best_discretizations(TupleTests.joined([levels.of_way("levels"), products.tested(cap)]))
    adjust = partial(adjust_listed, method=task.caps.method, n_tests=task.caps.n_tests)
    return found.by_p_value().adjusted(adjust)


def _beside_others(
    task: InteractionTask,
    coded: CodedComparison,
    wanted: TupleTests,
    n_threads: int,
    progress: Progress,
    products: Products | None,
) -> TupleTests:
    """Test significant tuples again, beside smooth effects of cut numbers, and beside other columns of the table.

    Of a part, all tuples that may be significant in the whole.
    """
    caps, discretizations = task.caps, task.settings.discretizations

    def may_be(tested: TupleTests) -> BoolArray:
        is_one = tested.is_significant(caps.level)
        return is_one if task.shard is None else is_one | (tested.p_value <= caps.significant_up_to())

    def p_values(again: TupleTests, chi2: FloatArray, df: IntArray) -> FloatArray:
        n_ways = 1 if products is None else products.n_ways(again.tuples)
        return corrected_p_values(again, chi2, df, discretizations * n_ways)

    adjust = partial(adjust_listed, method=caps.method, n_tests=caps.n_tests)
    if products is not None:
        wanted = _products_on_other_scale(wanted, products, np.flatnonzero(may_be(wanted) & wanted.are_products))
        wanted = wanted.adjusted(adjust)
    again = beside_smooth(
        coded,
        wanted,
        np.flatnonzero(may_be(wanted) & ~wanted.are_products),
        p_values,
        level=caps.level,
        omit_missing=task.omits_missing,
        coding=task.level_coding,
        n_threads=n_threads,
        progress=progress,
    )
    again = again.smooth_judged(adjust, caps.level)
    # Products are tested beside splines of their members alone.
    rows = np.flatnonzero(may_be(again) & ~again.are_products)
    again = beside_columns(task, coded, again, rows, p_values, n_threads=n_threads)
    return again.beside_judged(adjust, caps.level)


def _products_on_other_scale(wanted: TupleTests, products: Products, rows: IntArray) -> TupleTests:
    """Test some products on the other scale of the outcome, where they have to be significant as well."""
    if not len(rows):
        return wanted
    found = [products.log_p_on_other_scale(wanted.tuples[row]) for row in rows.tolist()]
    return with_other_scale(wanted, rows, found, np.log(products.n_ways(wanted.tuples[rows])))


def cap_in_each(cap: float, discretizations: int) -> float:
    """Return the p-value up to which tuples have to be found in each discretisation; p = 1 is that of any tuple."""
    return cap / discretizations if cap < 1 else 1.0


def _itself(screened: ScreenedTuples) -> ScreenedTuples:
    return screened


class TestsOfScreen:
    """The tests of the tuples that one screen has left.

    Parameters
    ----------
    tested : callable
        Tests tuples, as `TargetTests.tested`.
    tuples : list of (n, k) int64
        Of each discretisation.
    caps : PValueCaps
    seed : int
        Of bootstraps.
    n_samples : int
        Of the whole table.
    is_part : bool
        Whether other shards have tuples too.
    several_ways : bool
        Whether tuples are tested in another way, too.
    """

    __test__ = False  # pytest: no test

    def __init__(
        self,
        tested: Callable[[list[IntArray], Asked], TupleTests],
        tuples: list[IntArray],
        caps: PValueCaps,
        *,
        seed: int,
        n_samples: int,
        is_part: bool = False,
        n_threads: int = 1,
        by_model: Callable[[TupleTests, float, Progress], TupleTests] | None = None,
        several_ways: bool = False,
    ) -> None:
        self._tested, self._tuples, self._caps, self._n_threads = tested, tuples, caps, n_threads
        self._seed, self._n_samples = seed, n_samples
        # Of several discretisations, some may be in other shards.
        self._of_part = is_part and len(tuples) > 1
        self._by_model = by_model
        # A model orders tuples anew, and so does another way to test them.
        is_all = self._of_part or self._caps.is_step_up or by_model is not None or several_ways
        self._n_wanted = None if is_all else self._caps.top

    def adjusted(self, cap: float, progress: Progress) -> TupleTests:
        """Return all tuples with p up to `cap`, adjusted for all that were searched."""
        caps = self._caps
        if self._by_model is not None:
            listed = self._test(self._tuples, 1.0, 0.0, part(progress, 0.0, _SHARE_OF_RESIDUALS))
            told = part(progress, _SHARE_OF_RESIDUALS, 1 - _SHARE_OF_RESIDUALS)
            return self._adjust(self._by_model(listed, cap, told))
        bootstrap_below = max(_BOOTSTRAP_BELOW, caps.significant_up_to(), cap if caps.is_default else 0.0)
        found = self._adjust(self._test(self._tuples, cap, bootstrap_below, progress))
        # Where very many are significant, so are p-values that were not thought of.
        rough = found.is_significant(caps.level) & (found.method == METHODS.index("chi2"))
        if rough.any() and bootstrap_below < caps.level and self._n_wanted is not None:
            return self._adjust(self._test(self._tuples, cap, caps.level, progress))
        if rough.any() and bootstrap_below < caps.level:
            again = found.chosen(np.flatnonzero(found.p_value <= caps.level))
            tuples = [again.tuples[again.discretization == d] for d in range(len(self._tuples))]
            rest = found.chosen(np.flatnonzero(found.p_value > caps.level))
            corrected = self._test(tuples, cap, caps.level, progress)
            found = self._adjust(TupleTests.joined([corrected, rest]).by_p_value())
        return found

    def _test(self, tuples: list[IntArray], cap: float, bootstrap_below: float, progress: Progress) -> TupleTests:
        n_tuples = max(sum(map(len, tuples)), 1)
        n_done = 0
        what = f"testing {n_tuples} tuples"
        with show_progress(progress, n_tuples=n_tuples, what=what, min_tuples=_MANY_TESTS) as show:

            def tell(more: int) -> None:
                nonlocal n_done
                n_done += more
                if show is not None:
                    show(n_done)

            asked = Asked(
                max_p=cap,
                bootstrap_below=bootstrap_below,
                seed=self._seed,
                n_samples=self._n_samples,
                n_wanted=self._n_wanted,
                of_part=self._of_part,
                of_each=self._by_model is not None,
                n_threads=self._n_threads,
                tell=tell,
            )
            found = self._tested(tuples, asked)
            tell(n_tuples - n_done)  # a tuple is tested in one of the discretisations
            return found

    def _adjust(self, found: TupleTests) -> TupleTests:
        return found.adjusted(partial(adjust_listed, method=self._caps.method, n_tests=self._caps.n_tests))


def wanted_tuples(found: TupleTests, caps: PValueCaps, *, is_part: bool = False, keeps_all: bool = False) -> TupleTests:
    """Leave out tuples that were found and not asked for.

    Of a part nobody knows yet which are significant in the whole; nor, of several discretisations (`keeps_all`) or
    where larger p-values matter, which of the smallest are needed.
    """
    if caps.top is not None and not (is_part and (caps.is_step_up or keeps_all)):
        return found.chosen(np.arange(min(caps.top, len(found))))
    if caps.max_p is not None or is_part:
        return found
    # Tuples that another test refuses stay, so that the result can say so.
    return found.chosen(np.flatnonzero(found.p_adjusted < caps.level))


def named_result(
    task: InteractionTask,
    tested: TupleTests,
    coded: CodedComparison,
    tests: TargetTests,
    *,
    settings: dict[str, Any],
    provenance: dict[str, Any],
) -> Interactions:
    """Give the tuples names, cells and cuts."""
    study, coder = task.study, coded.coder
    outcome = outcome_cuts(study.y, study.compared)
    sizes = study.compared.sizes[: len(outcome.labels)]
    cuts = [variable_cuts(coder, v) for v in np.unique(tested.tuples).tolist()]
    first, where = tested.tuples[:MAX_KEPT], tested.discretization[:MAX_KEPT].tolist()
    counts = list(kept_counts(tests, first, where))
    return Interactions(
        names=list(study.table.names),
        tested=replace(tested, tuples=task.numbers(tested.tuples)),
        n_tests=task.caps.n_tests,
        outcome=outcome,
        class_sizes=dict(zip(outcome.labels, sizes.tolist(), strict=True)),
        cuts=tuple(replace(cut, variable=int(task.numbers(np.array(cut.variable)))) for cut in cuts),
        counts=tuple(replace(one, members=task.numbers(one.members)) for one in counts),
        survival_curves=_curves(task, coded, counts[:MAX_TUPLES]),
        settings=settings,
        provenance=provenance | coder.record(omit_missing=task.omits_missing),
        linkage=_linkage(task, tested, coded),
        variants=make_variants(study, task.numbers(np.unique(tested.tuples))),
    )


def _curves(task: InteractionTask, coded: CodedComparison, counts: list[TupleCounts]) -> tuple[SurvivalCurves, ...]:
    """Return the curves of the cells of tuples that were counted, where there are times."""
    if not task.study.outcome.words.has_curves:
        return ()
    times = cast("Survival", task.study.outcome)
    found = []
    for one in counts:
        samples = tuple_samples(coded, one.members, one.discretization, omit_missing=task.omits_missing)
        curves = tuple_curves(times, samples.known, samples.levels, one)
        found.append(replace(curves, members=task.numbers(curves.members)))
    return tuple(found)


def _linkage(task: InteractionTask, tested: TupleTests, coded: CodedComparison) -> Linkage | None:
    """Compare the members of the listed tuples with each other; not of a part, whose tuples are not all."""
    if task.shard is not None:
        return None
    variables = np.unique(tested.tuples)
    by_rank = ~coded.coder.is_discrete[variables]
    return make_linkage(coded.coder.table, variables, task.numbers(variables), by_rank, task.family.positions)
