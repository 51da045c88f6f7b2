"""Tuples of variables that are not cut → tests of their products.

A screen of all products (`interplay.infer.product_pairs`) leaves far more tuples than could be significant. Each is
tested in a linear model of the outcome's residuals, and what may still be significant by the full model, which has the
last word.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, cast

import numpy as np

from interplay.ask.interaction.task import InteractionTask
from interplay.ask.tuple_tests.prospects import MAX_LISTED
from interplay.ask.tuple_tests.screen import check_listed
from interplay.ask.tuple_tests.target_tests import TargetTests
from interplay.ask.tuple_tests.tests import Asked
from interplay.ask.tuple_tests.tuple_samples import tuple_samples
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import variable_cuts
from interplay.data.codes.rank_scores import RankScores
from interplay.data.study.design import Design
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import Outcome
from interplay.infer.interaction.model_test import ModelTest
from interplay.infer.interaction.product_test import (
    Member,
    n_spline_columns,
    on_other_scale,
    product_log_p,
    product_models,
    product_test,
)
from interplay.infer.interaction.tested_in_model import with_product_tests
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.product_pairs import IntScores, as_integers, product_tuples

#: The screen lists products whose p-value is up to this multiple of the one that is asked for. It lists those up to the
#: second p-value, or this number of products, in any case.
_TIMES_MORE, _USUAL_P, _USUAL_TUPLES = 100.0, 1e-3, 100.0

#: The full model is fitted where ln p of the linear model is at least this share of ln p of the bar: of numbers both
#: are the same, of classes and times they differ.
_SHARE = 0.5

#: Members that are kept, in bytes.
_MAX_KEPT_BYTES = 1 << 28


class Products:
    """The products of the tuples of a task.

    Parameters
    ----------
    task : InteractionTask
    coded : CodedComparison
        With the outcome as it is shown.
    tests : TargetTests
        Of the levels of these tuples, which describe what is found.
    n_threads : int
    """

    def __init__(self, task: InteractionTask, coded: CodedComparison, tests: TargetTests, n_threads: int) -> None:
        self._task, self._coded, self._tests, self._n_threads = task, coded, tests, n_threads
        comparison, coder = coded.comparison, coded.coder
        n = coder.table.n_samples
        design = Design(n) if comparison.design is None else comparison.design
        self._model = comparison.model or FullModel.of(cast("Outcome", comparison.outcome), design)
        self._n_columns = n_spline_columns(self._model.outcome.n_informative, task.settings.dimensions)
        gaps = coder.has_missing_level
        tested = coder.n_levels - gaps
        self.has_scores: BoolArray = RankScores(coder).is_ordered & (tested > 1) & (coder.n_missing < n)
        if not task.omits_missing:
            self.has_scores &= ~gaps
        # Of two levels a product says what levels say.
        self._has_more = self.has_scores & (~coder.is_discrete | (tested > 2))
        self._kept: dict[int, Member] = {}

    @property
    def are_there(self) -> bool:
        """Whether any tuple has a product that is not the interaction of its levels."""
        return self._task.coding == "product" or bool(self._has_more.any())

    def has_product(self, tuples: IntArray) -> BoolArray:
        """Say which tuples have a product to be tested."""
        has_product = self.has_scores[tuples].all(axis=1)
        if self._task.coding == "product":
            return np.asarray(has_product)
        return np.asarray(has_product & self._has_more[tuples].any(axis=1))

    def n_ways(self, tuples: IntArray) -> IntArray:
        """Return in how many ways each tuple is tested."""
        if self._task.coding == "product":
            return np.ones(len(tuples), dtype=np.int64)
        return 1 + self.has_product(tuples).astype(np.int64)

    def tested(self, max_p: float) -> TupleTests:
        """Return the tests of products, of the task or its shard, with p ≤ `max_p`; p times the number of ways."""
        tuples = self._screened(max_p)
        tuples = tuples[self.has_product(tuples)]
        bar = math.log(max_p) if max_p < 1 else 0.0
        bars = bar - np.log(self.n_ways(tuples))

        def test(row: int) -> ModelTest:
            return self._test(tuples[row], float(bars[row]) if max_p < 1 else 0.0)

        found = map_in_threads(test, range(len(tuples)), self._n_threads)
        kept = np.array([one.log_p <= at for one, at in zip(found, bars.tolist(), strict=True)], dtype=np.bool_)
        rows = np.arange(len(tuples)) if max_p >= 1 else np.flatnonzero(kept)
        tests = self._as_tests(tuples[rows], [found[row] for row in rows.tolist()])
        return tests.multiplied(np.log(self.n_ways(tests.tuples)))

    def log_p_on_other_scale(self, members: IntArray) -> float | None:
        """Return ln p of a product on the other scale of the outcome; None where it has no other."""
        models, _ = self._models(members, self._model)
        return on_other_scale(self._model, models)

    def _screened(self, max_p: float) -> IntArray:
        """Return tuples whose products may have p ≤ `max_p`, in order."""
        task, k = self._task, self._task.settings.dimensions
        family, shard = task.family, task.shard
        of_part = (0, 1) if shard is None else (shard.number - 1, shard.of)
        from scipy.special import chdtri

        screened = max(_TIMES_MORE * max_p, min(_USUAL_P, _USUAL_TUPLES / task.caps.n_tests))
        if screened >= 1:
            return family.first_tuples(family.n_tuples())[of_part[0] :: of_part[1]]
        bar = float(chdtri(len(self._targets), screened))
        parts, n_listed = [np.empty((0, k), dtype=np.int64)], 0
        for some in product_tuples(
            self._scores,
            self._targets,
            k,
            bar,
            asked_for=family.asked_for,
            require=family.require,
            part=of_part,
            n_threads=self._n_threads,
        ):
            parts.append(some[family.holds(some)])
            n_listed += len(parts[-1])
            check_listed(n_listed, MAX_LISTED)
        tuples = np.concatenate(parts)
        return tuples[np.lexsort(tuples.T[::-1])]

    @cached_property
    def _responses(self) -> FloatArray:
        """What linear models explain in place of the outcome, without the columns of the design, (n_samples, n)."""
        model = self._model
        responses = model.outcome.responses(model.design)
        basis = np.linalg.qr(model.columns())[0]
        return np.asarray(responses - basis @ (basis.T @ responses))

    @cached_property
    def _targets(self) -> FloatArray:
        basis, triangle = np.linalg.qr(self._responses)
        sizes = np.abs(np.diag(triangle))
        kept = sizes > 1e-9 * max(float(sizes.max(initial=0.0)), 1e-300)
        return np.ascontiguousarray(basis[:, kept].T) * math.sqrt(len(basis))

    @cached_property
    def _scores(self) -> IntScores:
        """The scores of all variables as integers; zeros of variables without."""
        coder, of_ranks = self._coded.coder, RankScores(self._coded.coder)

        def of_block(rows: slice) -> IntScores:
            scores = np.zeros((rows.stop - rows.start, coder.table.n_samples))
            usable, few = self.has_scores[rows], coder.is_discrete[rows]
            if (usable & ~few).any():
                cut = usable & ~few
                scores[cut] = of_ranks.read(rows)[cut]
            for row in np.flatnonzero(usable & few).tolist():
                scores[row] = self._member(rows.start + row).score
            return as_integers(scores)

        size = max(1, (1 << 20) // max(coder.table.n_samples, 1))
        n_vars = coder.table.n_vars
        blocks = [slice(begin, min(begin + size, n_vars)) for begin in range(0, n_vars, size)]
        return np.concatenate(map_in_threads(of_block, blocks, self._n_threads))

    def _member(self, v: int) -> Member:
        """Return a variable as products have it."""
        if v in self._kept:
            return self._kept[v]
        coder = self._coded.coder
        if coder.is_discrete[v]:
            codes = coder.codes_of(0, np.array([v])).codes[0].astype(np.int64)
            is_known = codes < coder.n_levels[v] - coder.has_missing_level[v]
            of_levels = variable_cuts(coder, v).dosages()
            values = np.where(is_known, of_levels[np.minimum(codes, len(of_levels) - 1)], 0.0)
            found = Member(np.where(is_known, values - values[is_known].mean(), 0.0), None)
        else:
            found = Member.of_number(coder.values(slice(v, v + 1))[0].astype(np.float64), self._n_columns)
            if len(self._kept) * 8 * found.score.nbytes < _MAX_KEPT_BYTES:
                self._kept[v] = found
        return found

    def _models(self, members: IntArray, model: FullModel | None = None) -> Any:
        samples = tuple_samples(self._coded, members, 0, omit_missing=self._task.omits_missing)
        of_members = [self._member(v).of_samples(samples.known) for v in members.tolist()]
        return product_models(of_members, samples, model)

    def _test(self, members: IntArray, max_log_p: float) -> ModelTest:
        """Test one product; it is left to the linear model where that says enough."""
        models, product = self._models(members)
        if max_log_p < 0:
            log_p = product_log_p(models, self._responses)
            if log_p > _SHARE * max_log_p:
                return ModelTest(0.0, 0, 0.0)
        if self._model.design.covariates is not None:
            models, product = self._models(members, self._model)
        groups = self._coded.comparison.groups
        return product_test(
            self._model, models, product, max_log_p=max_log_p, groups=None if groups is None else groups.codes
        )

    def _as_tests(self, tuples: IntArray, found: list[ModelTest]) -> TupleTests:
        """Return tests of products, with samples and gains of the levels of the same tuples."""
        of_each = [tuples, *[tuples[:0]] * (self._coded.coder.discretizations - 1)]
        of_levels = self._tests.tested(of_each, Asked(of_each=True))
        of_levels = of_levels.chosen(of_levels.rows_of(tuples))
        return with_product_tests(of_levels, found, self._model, self._coded.comparison.outcome)
