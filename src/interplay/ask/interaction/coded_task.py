"""A task and the codes of its table → tests of its tuples, tests beside others, and the named result.

What the search of independent samples and that of groups have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from interplay.ask.interaction.beside_columns import beside_columns
from interplay.ask.interaction.products import Products
from interplay.ask.interaction.task import InteractionTask
from interplay.ask.tuple_tests.beside_smooth import PValues, Splines, beside_smooth, tuple_samples
from interplay.ask.tuple_tests.in_model import in_model
from interplay.ask.tuple_tests.product_screen import check_products
from interplay.ask.tuple_tests.target_tests import TargetTests, kept_counts, target_tests
from interplay.ask.variants import make_variants
from interplay.base.arrays import BoolArray, FloatArray
from interplay.base.progress import Progress, unfinished
from interplay.data.codes.coded import CodedComparison, SharedCodes, code_comparison
from interplay.data.codes.cuts import outcome_cuts, variable_cuts
from interplay.data.codes.tuple_counts import MAX_KEPT, TupleCounts
from interplay.data.study.outcomes.times import Survival
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.linkage import Linkage, make_linkage
from interplay.infer.survival.survival_curves import MAX_TUPLES, SurvivalCurves, tuple_curves
from interplay.show.results.interactions import Interactions


@dataclass(frozen=True, eq=False)
class CodedTask:
    """A task and the codes of its table."""

    task: InteractionTask
    #: With the outcome that is searched: residuals, where there is a model.
    coded: CodedComparison
    n_threads: int

    @classmethod
    def of(cls, task: InteractionTask, n_threads: int, shared: SharedCodes | None = None) -> CodedTask:
        """Code the table of a task; codes may be `shared` with searches for other outcomes."""
        settings = task.search_settings
        if shared is None:
            coded = code_comparison(task.comparison, settings, n_threads=n_threads)
        else:
            coded = shared.of(settings, n_threads=n_threads).of(task.comparison)
        check_products(coded, task.coding, settings.dimensions)
        return cls(task, coded, n_threads)

    @cached_property
    def tests(self) -> TargetTests:
        """Tests of the outcome that is searched."""
        return self._tests_of(self.coded)

    @cached_property
    def shown(self) -> CodedComparison:
        """The comparison with the outcome as users know it, where residuals are searched."""
        comparison = self.coded.comparison.shown
        if comparison is self.coded.comparison:
            return self.coded
        return self.coded.of_outcome(comparison)

    @cached_property
    def shown_tests(self) -> TargetTests:
        """Tests of the outcome as users know it."""
        return self.tests if self.shown is self.coded else self._tests_of(self.shown)

    @cached_property
    def products(self) -> Products | None:
        """The products of scores, where these are tested and there are any."""
        if not self.task.tests_products:
            return None
        products = Products(self.task, self.shown, self.shown_tests, self.n_threads)
        return products if products.are_there else None

    def in_model(self, found: TupleTests, max_p: float = 1.0, progress: Progress = False) -> TupleTests:
        """Test tuples by the full model, and keep those with p ≤ `max_p`."""
        options: dict[str, Any] = {"omit_missing": self.task.omits_missing, "coding": self.task.level_coding}
        options |= {"n_threads": self.n_threads, "progress": progress}
        return in_model(found, self.shown, max_p=max_p, **options)

    def beside(
        self,
        wanted: TupleTests,
        may_be: Callable[[TupleTests], BoolArray],
        p_values: PValues,
        adjust: Callable[[FloatArray], FloatArray],
        progress: Progress = False,
    ) -> TupleTests:
        """Test tuples that `may_be` significant beside smooth effects of cut numbers, and beside other columns.

        Products have been tested beside flexible effects of their members.
        """
        if not may_be(wanted).any():
            return wanted
        task, level = self.task, self.task.caps.level
        splines = Splines(self.shown.coder)

        def judged(tested: TupleTests) -> TupleTests:
            return tested.smooth_judged(adjust, level)

        with unfinished(judged):
            again = judged(
                beside_smooth(
                    self.shown,
                    wanted,
                    np.flatnonzero(may_be(wanted) & ~wanted.are_products),
                    p_values,
                    level=level,
                    omit_missing=task.omits_missing,
                    coding=task.level_coding,
                    splines=splines,
                    n_threads=self.n_threads,
                    progress=progress,
                )
            )
        rows = np.flatnonzero(may_be(again))
        again = beside_columns(
            task, self.shown, again, rows, p_values, splines=splines, products=self.products, n_threads=self.n_threads
        )
        return again.beside_judged(adjust, level)

    def named(self, tested: TupleTests, *, settings: dict[str, Any], provenance: dict[str, Any]) -> Interactions:
        """Give the tuples names, cells and cuts."""
        task, study, coder = self.task, self.task.study, self.coded.coder
        outcome = outcome_cuts(study.y, study.compared)
        sizes = study.compared.sizes[: len(outcome.labels)]
        cuts = [variable_cuts(coder, v) for v in np.unique(tested.tuples).tolist()]
        first, where = tested.tuples[:MAX_KEPT], tested.discretization[:MAX_KEPT].tolist()
        counts = list(kept_counts(self.shown_tests, first, where))
        return Interactions(
            names=list(study.table.names),
            tested=replace(tested, tuples=task.numbers(tested.tuples)),
            n_tests=task.caps.n_tests,
            outcome=outcome,
            class_sizes=dict(zip(outcome.labels, sizes.tolist(), strict=True)),
            cuts=tuple(replace(cut, variable=int(task.numbers(np.array(cut.variable)))) for cut in cuts),
            counts=tuple(replace(one, members=task.numbers(one.members)) for one in counts),
            survival_curves=self._curves(counts[:MAX_TUPLES]),
            settings=settings,
            provenance=provenance | coder.record(omit_missing=task.omits_missing),
            linkage=self._linkage(tested),
            variants=make_variants(study, task.numbers(np.unique(tested.tuples))),
        )

    def _tests_of(self, coded: CodedComparison) -> TargetTests:
        return target_tests(coded, omit_missing=self.task.omits_missing, coding=self.task.level_coding)

    def _curves(self, counts: list[TupleCounts]) -> tuple[SurvivalCurves, ...]:
        """Return the curves of the cells of tuples that were counted, where there are times."""
        task = self.task
        if not task.study.outcome.words.has_curves:
            return ()
        times = cast("Survival", task.study.outcome)
        found = []
        for one in counts:
            samples = tuple_samples(self.shown, one.members, one.discretization, omit_missing=task.omits_missing)
            curves = tuple_curves(times, samples.known, samples.levels, one)
            found.append(replace(curves, members=task.numbers(curves.members)))
        return tuple(found)

    def _linkage(self, tested: TupleTests) -> Linkage | None:
        """Compare the members of the listed tuples with each other; not of a part, whose tuples are not all."""
        task, coder = self.task, self.coded.coder
        if task.shard is not None:
            return None
        variables = np.unique(tested.tuples)
        by_rank = ~coder.is_discrete[variables]
        return make_linkage(coder.table, variables, task.numbers(variables), by_rank, task.family.positions)
