"""Significant tuples → each tested again beside the effects of other columns of the table, if its members tag these.

Two columns that are correlated with a cause show an interaction that does not exist, where the effect of the cause is
no sum of effects of the two. Beside the cause itself, in the same model, it vanishes. The cause need not be known:
columns that are correlated with a member, and have an effect beside all that the members can say, stand in for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from interplay.ask.interaction.products import Products
from interplay.ask.interaction.task import InteractionTask
from interplay.ask.tuple_tests.beside_smooth import PValues, Splines, tuple_samples
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.data.codes.coded import CodedComparison
from interplay.data.study.full_model import FullModel
from interplay.data.study.subsets import ColumnSubset
from interplay.infer.interaction.beside_test import smooth_log_p, smooth_test
from interplay.infer.interaction.tuple_tests import MAX_BESIDE, TupleTests
from interplay.infer.linkage import linkage_rows
from interplay.infer.neighbour_screen import log_p_alone, responses
from interplay.infer.neighbours import ColumnPool, find_neighbours
from interplay.infer.proxies import MemberEffects, explaining_columns
from interplay.infer.tagging import LEFT_BELOW

#: Columns that are tried beside a tuple, of those correlated with a member: as many as leave all tuples together so
#: many values to be read, within these limits.
_FEWEST, _MOST, _MAX_VALUES = 20, 200, 1e9

#: In larger tables, columns are looked for near the members only: this many on each side.
_MAX_SEARCHED, _NEXT_TO = 4e9, 500

#: Smooth effects of columns that are kept.
_KEPT_COLUMNS = 200


def beside_columns(
    task: InteractionTask,
    coded: CodedComparison,
    tested: TupleTests,
    rows: IntArray,
    p_values: PValues,
    *,
    splines: Splines,
    products: Products | None = None,
    n_threads: int = 1,
) -> TupleTests:
    """Fill in the p-values of some rows beside other columns, and which; members are numbered as in `coded`.

    Of very many rows, of the first `MAX_BESIDE`: tuples are in the order of their p-values.
    """
    rows = rows[:MAX_BESIDE]
    if not len(rows):
        return tested
    level, discretizations = task.caps.level, task.settings.discretizations
    again = tested.chosen(rows)
    finder = _Columns(task, coded, np.unique(again.tuples), len(rows))
    splines.make(np.unique(again.tuples), n_threads)
    is_cut = ~coded.coder.is_discrete
    outcome, study = coded.comparison.outcome, task.study
    model = study.model or FullModel(study.outcome, study.design)
    response = responses(model)
    near = finder.near(task.numbers(again.tuples), response)
    log_left = float(np.log(min(LEFT_BELOW * discretizations, 1.0)))

    def explained(
        place: int, effects: MemberEffects, log_p_beside: Callable[[IntArray], float]
    ) -> tuple[float, IntArray]:
        columns = finder.pool.effects(near[place])
        some, log_p = explaining_columns(model, response, effects, columns, log_p_beside, log_left=log_left)
        return log_p, near[place][some]

    def test(place: int) -> tuple[float, IntArray]:
        if not len(near[place]):
            return np.nan, near[place]
        members, d = again.tuples[place], int(again.discretization[place])
        if products is not None and again.are_products[place]:
            is_shape = bool(again.are_shapes[place])

            def product_beside(some: IntArray) -> float:
                """Return ln p of the product or shape beside some columns."""
                known = products.samples(members)
                more = np.hstack([finder.smooth(c)[known] for c in near[place][some].tolist()])
                return products.log_p_beside(members, more, is_shape=is_shape)

            return explained(place, products.effects(members), product_beside)
        samples = tuple_samples(coded, members, d, omit_missing=task.omits_missing, coding=task.level_coding)
        of_members = [splines.of(v)[samples.known] if is_cut[v] else None for v in members.tolist()]

        def log_p_beside(some: IntArray) -> float:
            """Return ln p of the interaction beside some columns."""
            found, other = smooth_test(
                outcome,
                samples,
                of_members,
                model=coded.comparison.model,
                robust_in=study.design if again.words.needs_robust else None,
                more=np.hstack([finder.smooth(c)[samples.known] for c in near[place][some].tolist()]),
            )
            p = p_values(again.chosen(np.array([place])), np.array([found[0]]), np.array([found[1]]))
            return float(smooth_log_p(p, [other if is_cut[members].any() else None], level)[0])

        return explained(place, MemberEffects.of(outcome, samples, of_members, model), log_p_beside)

    found = map_in_threads(test, range(len(rows)), n_threads)
    log_p, by = tested.beside_log_p.copy(), tested.explained_by.copy()
    for row, (one, columns) in zip(rows.tolist(), found, strict=True):
        log_p[row] = one
        by[row] = -1
        by[row, : len(columns)] = finder.numbers[columns]
    return tested.with_fields(beside_log_p=log_p, explained_by=by)


class _Columns:
    """The other columns of the table: which are correlated with members, and their effects."""

    def __init__(self, task: InteractionTask, coded: CodedComparison, variables: IntArray, n_tuples: int) -> None:
        table, members = task.study.table, task.numbers(variables)
        self.numbers = np.arange(table.n_vars)
        if table.n_vars * table.n_samples > _MAX_SEARCHED:
            next_to = (members[:, np.newaxis] + np.arange(-_NEXT_TO, _NEXT_TO + 1)).ravel()
            self.numbers = np.unique(np.clip(next_to, 0, table.n_vars - 1))
            table = ColumnSubset(table, self.numbers, keeps_numbers=True)
        self.pool = ColumnPool([table], [None], [""])
        self._table, self._members = table, members
        self._by_rank = ~coded.coder.is_discrete[variables]
        self._n_most = int(np.clip(_MAX_VALUES / (n_tuples * table.n_samples), _FEWEST, _MOST))
        n_informative = task.study.outcome.n_informative
        self.smooth = lru_cache(_KEPT_COLUMNS)(lambda c: self.pool.smooth(c, n_informative))

    def near(self, tuples: IntArray, response: FloatArray) -> list[IntArray]:
        """Return the columns to be tried beside each tuple, as numbers in the pool: correlated, with an effect."""
        places = np.searchsorted(self.numbers, self._members)
        rows, first = linkage_rows(self._table, places, self._by_rank, n_used=self._table.n_samples)
        of_tuples = np.searchsorted(self._members, tuples)

        def strength(some: IntArray) -> FloatArray:
            return -log_p_alone(response, self.pool.effects(some))

        # All of few columns are tried, however strong.
        few = self._table.n_vars <= self._n_most
        n_most, of_strength = self._n_most, None if few else strength
        return find_neighbours(
            self.pool, of_tuples, places, rows, first, None, window=None, n_most=n_most, strength_of=of_strength
        )
