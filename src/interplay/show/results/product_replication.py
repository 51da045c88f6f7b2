"""Tuples that were tested by products, and new samples → members with scores there, and tests of their products."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from interplay.base.arrays import IntArray
from interplay.data.codes.cuts import NO_LEVEL, VariableCuts
from interplay.data.study.columns import Column
from interplay.data.study.full_model import FullModel
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.study import Study
from interplay.infer.interaction.product_test import (
    Freedom,
    Member,
    product_models,
    product_test,
    second_test,
)
from interplay.infer.interaction.tested_in_model import with_product_tests, with_second_tests
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.show.results.cut_samples import cut_samples

if TYPE_CHECKING:
    from interplay.show.results.interactions import Interactions


def product_member(cuts: VariableCuts, column: Column, codes: IntArray, freedom: Freedom) -> Member:
    """Return a member with scores in new samples; `codes` are its levels there."""
    if cuts.is_cut:
        return Member.of_number(column.read().astype(np.float64), freedom)
    return Member(np.where(codes == NO_LEVEL, 0.0, cuts.dosages()[codes]), None)


def replicated_products(first: Interactions, tested: TupleTests, study: Study, number_of: dict[str, int]) -> TupleTests:
    """Replace tests of levels by those of products, where products were found; ranks are those of the new samples."""
    if first.tested.way is None:
        return tested
    tested, rows = tested.of_way("levels"), np.flatnonzero(first.tested.are_products)
    if not len(rows):
        return tested
    table, strata = study.table, study.strata
    model = study.model or FullModel.of(cast("Outcome", study.compared), study.design)
    freedom = Freedom.of(model.outcome.n_informative, first.dimensions)
    groups = None if study.groups is None else study.groups.codes
    found, again = [], []
    for row in rows.tolist():
        cuts = [first.cuts_of(v) for v in tested.tuples[row].tolist()]
        columns = [table.column(number_of[first.names[one.variable]]) for one in cuts]
        codes = [one.codes(of, 0, omit_missing=True) for one, of in zip(cuts, columns, strict=True)]
        samples = cut_samples(cuts, codes, strata)
        members = [
            product_member(*each, freedom).of_samples(samples.known) for each in zip(cuts, columns, codes, strict=True)
        ]
        is_shape = bool(first.tested.are_shapes[row])
        models, product = product_models(members, samples, model, is_shape=is_shape)
        found.append(product_test(model, models, product, groups=groups))
        flexible, _ = product_models(members, samples, model, is_shape=is_shape, is_flexible=True)
        again.append(second_test(model, flexible, groups))
    products = with_product_tests(tested.chosen(rows), found, model, study.compared, first.tested.way[rows])
    products = with_second_tests(products, np.arange(len(rows)), again)
    both = TupleTests.joined([tested, products])
    order = np.arange(len(tested))
    order[rows] = len(tested) + np.arange(len(rows))
    return both.chosen(order)
