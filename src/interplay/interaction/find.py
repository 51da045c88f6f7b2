"""Screen → tests → adjustment → Interactions; again with a wider screen where the first could list too little."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray, NumberOutcome
from interplay.base.progress import Progress, part, show_progress
from interplay.codes.coded import CodedComparison, code_comparison
from interplay.codes.cuts import OutcomeCuts, outcome_cuts, variable_cuts
from interplay.codes.tuple_counts import MAX_KEPT
from interplay.engines.choice import EngineChoice
from interplay.interaction.beside_covariates import as_the_search, beside_covariates
from interplay.interaction.beside_smooth import beside_smooth
from interplay.interaction.p_value_caps import PValueCaps
from interplay.interaction.product_screen import check_products
from interplay.interaction.screen import ScreenedTuples, screen_tuples
from interplay.interaction.sparse_tuples import is_sparse, warn_of_sparse_tuples
from interplay.interaction.task import InteractionTask
from interplay.interaction.tests import Tables, kept_counts, make_tuple_tests, tuple_tables
from interplay.results.interactions import Interactions
from interplay.results.provenance import search_record
from interplay.search.checkpoint import Checkpoint, handing_over, keeping
from interplay.search.plan import about_search
from interplay.statistics.interaction.corrected_p_values import corrected_p_values
from interplay.statistics.interaction.covariate_tests import CovariateTests
from interplay.statistics.interaction.listed_p_values import adjust_listed
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.interaction.tuple_tests import METHODS, TupleTests
from interplay.statistics.linkage import Linkage, make_linkage
from interplay.statistics.number_interaction.tested_numbers import TestedNumbers

#: p-values of χ² up to this one are corrected by a bootstrap where there is no exact test, whether or not they could be
#: significant: those of sparse tables can be too small by a factor of ten.
_BOOTSTRAP_BELOW = 1e-3

#: The share of the progress that is the search's; the rest is that of the tests.
_SHARE_OF_SCREEN = 0.9

#: Fewer tests than this are done before a progress bar could be read.
_MANY_TESTS = 1000


def find_interactions(
    task: InteractionTask, choice: EngineChoice, *, checkpoint: Checkpoint | None, progress: Progress
) -> Interactions:
    """Search all tuples of the family, test the tuples that the screen leaves, and list the tuples of `task.caps`."""
    started = time.perf_counter()
    settings, caps = task.search_settings, task.caps
    coded = code_comparison(task.comparison, settings, n_threads=choice.n_threads)
    check_products(coded, task.coding, settings.dimensions)
    tables = tuple_tables(coded, omit_missing=task.omits_missing, coding=task.coding)
    warn_of_sparse_tuples(task, coded)

    def about() -> dict[str, Any]:
        asked = {
            name: task.asked[name] for name in task.asked if name not in ("decision", "decision_divisions", "scale")
        }
        return about_search(task.study, task.settings, n_threads=choice.n_threads) | asked

    with keeping(checkpoint, about):
        any_tested = not is_sparse(task, coded, least=True)
        # Where all p-values are 1, only a list of these needs a search.
        is_short = not any_tested and caps.top is not None and caps.max_p in (None, 1.0) and task.shard is None
        cap, n_screens = 1.0 if is_short else caps.first(), 0
        progress = part(progress)  # a wider screen tells nothing until it is as far
        while True:
            screened = screen_tuples(
                coded,
                settings,
                choice,
                max_p=cap_in_each(cap, settings.discretizations),
                tables=tables,
                omit_missing=task.omits_missing,
                asked_for=task.family.asked_for,
                require=task.family.require,
                shard=task.shard,
                checkpoint=checkpoint,
                name=f"screen{n_screens}",
                progress=part(progress, 0.0, _SHARE_OF_SCREEN),
                is_needed=any_tested or (cap >= 1 and not is_short),
            )
            if is_short:
                of_each = [task.family.first_tuples(caps.top or 0)] * len(tables)
            else:
                inside = task.family.holds(screened.tuples)
                tuples, where = screened.tuples[inside], screened.discretization[inside]
                of_each = [tuples[where == d] for d in range(len(tables))]
            test = _Tests(task, tables, screened, of_each, choice.n_threads)
            with handing_over(partial(getattr, test, "screened"), checkpoint=checkpoint):
                found = test.adjusted(cap, part(progress, _SHARE_OF_SCREEN, 1 - _SHARE_OF_SCREEN))
            wider = caps.following(cap, found, is_part=task.shard is not None)
            if wider is None:
                break
            cap, n_screens = wider, n_screens + 1
    wanted = wanted_tuples(found, caps, is_part=task.shard is not None, keeps_all=len(tables) > 1)
    with handing_over(lambda: wanted, checkpoint=checkpoint):
        wanted = _beside_smooth(task, coded, wanted, choice.n_threads)
        return named_result(
            task,
            wanted,
            coded,
            tables,
            with_covariates=beside_covariates(task, coded, wanted, as_the_search(caps, settings.discretizations)),
            settings=task.recorded_settings(),
            provenance={
                **task.study.record(n_threads=choice.n_threads),
                **search_record(screened.engine, screened.searched, started=started),
                "searched_up_to_p": cap,
                "tested": len(screened.tuples),
                "layout": screened.layout,
            },
        )


def _beside_smooth(task: InteractionTask, coded: CodedComparison, wanted: TupleTests, n_threads: int) -> TupleTests:
    """Test significant tuples of cut numbers again; of a part, all tuples that may be significant in the whole."""
    caps, discretizations = task.caps, task.settings.discretizations
    may_be = wanted.is_significant(caps.level)
    if task.shard is not None:
        may_be |= wanted.p_value <= caps.significant_up_to()
    again = beside_smooth(
        coded,
        wanted,
        np.flatnonzero(may_be),
        partial(corrected_p_values, discretizations=discretizations),
        level=caps.level,
        omit_missing=task.omits_missing,
        coding=task.coding,
        n_threads=n_threads,
    )
    return again.smooth_judged(partial(adjust_listed, method=caps.method, n_tests=caps.n_tests), caps.level)


def cap_in_each(cap: float, discretizations: int) -> float:
    """Return the p-value up to which tuples have to be found in each discretisation; p = 1 is that of any tuple."""
    return cap / discretizations if cap < 1 else 1.0


class _Tests:
    """The tests of the tuples that one screen has left, by discretisation."""

    def __init__(
        self,
        task: InteractionTask,
        tables: Tables,
        screened: ScreenedTuples,
        tuples: list[IntArray],
        n_threads: int,
    ) -> None:
        self.screened = screened
        self._tables, self._tuples, self._caps, self._n_threads = tables, tuples, task.caps, n_threads
        self._seed, self._n_samples = task.settings.random_state, task.study.n_samples
        # Of several discretisations, some may be in other shards.
        self._of_part = task.shard is not None and len(tables) > 1
        self._n_wanted = None if self._of_part or self._caps.is_step_up else self._caps.top

    def adjusted(self, cap: float, progress: Progress) -> TupleTests:
        """Return all tuples with p up to `cap`, adjusted for all that were searched."""
        caps = self._caps
        bootstrap_below = max(_BOOTSTRAP_BELOW, caps.significant_up_to(), cap if caps.is_default else 0.0)
        found = self._adjust(self._test(self._tuples, cap, bootstrap_below, progress))
        # Where very many are significant, so are p-values that were not thought of.
        rough = found.is_significant(caps.level) & (found.method == METHODS.index("chi2"))
        if rough.any() and bootstrap_below < caps.level and self._n_wanted is not None:
            return self._adjust(self._test(self._tuples, cap, caps.level, progress))
        if rough.any() and bootstrap_below < caps.level:
            again = found.chosen(np.flatnonzero(found.p_value <= caps.level))
            tuples = [again.tuples[again.discretization == d] for d in range(len(self._tables))]
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

            found = make_tuple_tests(
                self._tables,
                tuples,
                max_p=cap,
                bootstrap_below=bootstrap_below,
                seed=self._seed,
                n_samples=self._n_samples,
                n_wanted=self._n_wanted,
                of_part=self._of_part,
                n_threads=self._n_threads,
                tell=tell,
            )
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
    return found.chosen(np.flatnonzero(found.is_significant(caps.level)))


def named_result(
    task: InteractionTask,
    tested: TupleTests,
    coded: CodedComparison,
    tables: Tables,
    *,
    settings: dict[str, Any],
    provenance: dict[str, Any],
    with_covariates: CovariateTests | None,
) -> Interactions:
    """Give the tuples names, cells and cuts."""
    assert isinstance(tested, TestedTuples | TestedNumbers)
    study, coder = task.study, coded.coder
    outcome, sizes = OutcomeCuts([], np.empty(0)), study.outcome.sizes[:0]
    if not isinstance(study.outcome, NumberOutcome):
        outcome, sizes = outcome_cuts(study.y, study.outcome), study.outcome.sizes
    cuts = [variable_cuts(coder, v) for v in np.unique(tested.tuples).tolist()]
    first, where = tested.tuples[:MAX_KEPT], tested.discretization[:MAX_KEPT].tolist()
    return Interactions(
        names=list(study.table.names),
        tested=replace(tested, tuples=task.numbers(tested.tuples)),
        n_tests=task.caps.n_tests,
        outcome=outcome,
        class_sizes=dict(zip(outcome.labels, sizes.tolist(), strict=True)),
        cuts=tuple(replace(cut, variable=int(task.numbers(np.array(cut.variable)))) for cut in cuts),
        counts=tuple(
            replace(counts, members=task.numbers(counts.members))
            for counts in kept_counts(coder, tables, first, where, omit_missing=task.omits_missing)
        ),
        settings=settings,
        provenance=provenance,
        with_covariates=with_covariates,
        linkage=_linkage(task, tested, coded),
    )


def _linkage(task: InteractionTask, tested: TupleTests, coded: CodedComparison) -> Linkage | None:
    """Compare the members of the listed tuples with each other; not of a part, whose tuples are not all."""
    if task.shard is not None:
        return None
    variables = np.unique(tested.tuples)
    by_rank = ~coded.coder.is_discrete[variables]
    return make_linkage(coded.coder.table, variables, task.numbers(variables), by_rank, task.family.positions)
