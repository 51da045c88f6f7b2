"""Tuples of variables that are not cut → the test of each product, or shape, by the full model, and again.

Searches test the products that their screen has left, new samples those that were found in the first ones.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, cast

import numpy as np

from interplay.ask.tuple_tests.beside_smooth import tuple_samples
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.cuts import variable_cuts
from interplay.data.study.design import Design
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import Outcome
from interplay.infer.interaction.beside_test import ModelTest, NestedModels, TupleSamples
from interplay.infer.interaction.product_test import (
    Freedom,
    Member,
    SecondTest,
    product_log_p,
    product_models,
    product_test,
    second_test,
)
from interplay.infer.interaction.tuple_tests import TupleTests

#: The full model is fitted where ln p of the linear model is at least this share of ln p of the bar: of numbers both
#: are the same, of classes and times they differ.
_SHARE = 0.5

#: Members that are kept, in bytes.
_MAX_KEPT_BYTES = 1 << 28


class ProductTests:
    """Tests of products of the scores of members, one tuple at a time.

    Parameters
    ----------
    coded : CodedComparison
        With the outcome as it is shown.
    dimensions : int
        Members of a tuple.
    omit_missing : bool
        Whether samples that lack a member are left out.
    n_threads : int

    Attributes
    ----------
    model : FullModel
    """

    def __init__(self, coded: CodedComparison, dimensions: int, *, omit_missing: bool, n_threads: int = 1) -> None:
        self._coded, self._omits, self._n_threads = coded, omit_missing, n_threads
        comparison = coded.comparison
        design = Design(coded.coder.table.n_samples) if comparison.design is None else comparison.design
        self.model = comparison.model or FullModel.of(cast("Outcome", comparison.outcome), design)
        self._freedom = Freedom.of(self.model.outcome.n_informative, dimensions)
        self._kept: dict[int, Member] = {}

    def test(self, members: IntArray, *, is_shape: bool, max_log_p: float = 0.0) -> ModelTest:
        """Test one product or shape; it is left to the linear model where that says enough."""
        models, product = self._models(members, is_shape=is_shape)
        if max_log_p < 0:
            log_p = product_log_p(models, self._responses)
            if log_p > _SHARE * max_log_p:
                return ModelTest(0.0, 0, 0.0)
        if self.model.design.covariates is not None:
            models, product = self._models(members, self.model, is_shape=is_shape)
        return product_test(self.model, models, product, max_log_p=max_log_p, groups=self._groups)

    def second_tests(self, tests: TupleTests) -> list[SecondTest]:
        """Test products and shapes again, beside flexible effects of their members."""

        def test(row: int) -> SecondTest:
            is_shape = bool(tests.are_shapes[row])
            models, _ = self._models(tests.tuples[row], self.model, is_shape=is_shape, is_flexible=True)
            return second_test(self.model, models, self._groups)

        return map_in_threads(test, range(len(tests)), self._n_threads)

    def members(self, members: IntArray, known: IntArray, *, is_flexible: bool = False) -> list[Member]:
        """Return the members of a tuple as products have them, in some samples."""
        return [self._member(v, is_flexible=is_flexible).of_samples(known) for v in members.tolist()]

    @property
    def _groups(self) -> IntArray | None:
        groups = self._coded.comparison.groups
        return None if groups is None else groups.codes

    @cached_property
    def _responses(self) -> FloatArray:
        """What linear models explain in place of the outcome, without the columns of the design, (n_samples, n)."""
        model = self.model
        responses = model.outcome.responses(model.design)
        basis = np.linalg.qr(model.columns())[0]
        return np.asarray(responses - basis @ (basis.T @ responses))

    def _member(self, v: int, *, is_flexible: bool = False) -> Member:
        """Return a variable as products have it, with its flexible effect if that is needed."""
        kept = self._kept.get(v)
        if kept is not None and (kept.flexible is not None or not is_flexible):
            return kept
        coder = self._coded.coder
        if coder.is_discrete[v]:
            codes = coder.codes_of(0, np.array([v])).codes[0].astype(np.int64)
            is_known = codes < coder.n_levels[v] - coder.has_missing_level[v]
            of_levels = variable_cuts(coder, v).dosages()
            values = np.where(is_known, of_levels[np.minimum(codes, len(of_levels) - 1)], 0.0)
            mean = values[is_known].sum() / max(int(is_known.sum()), 1)
            found = Member(np.where(is_known, values - mean, 0.0), None)
        else:
            values = coder.values(slice(v, v + 1))[0].astype(np.float64)
            found = Member.of_number(values, self._freedom, is_flexible=is_flexible)
            if len(self._kept) * 13 * found.score.nbytes < _MAX_KEPT_BYTES:
                self._kept[v] = found
        return found

    def _samples(self, members: IntArray) -> TupleSamples:
        return tuple_samples(self._coded, members, 0, omit_missing=self._omits)

    def _models(
        self, members: IntArray, model: FullModel | None = None, **options: Any
    ) -> tuple[NestedModels, FloatArray]:
        samples = self._samples(members)
        is_flexible = options.get("is_flexible", False)
        of_members = self.members(members, samples.known, is_flexible=is_flexible)
        return product_models(of_members, samples, model, **options)
