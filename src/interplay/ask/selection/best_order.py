"""A selection and its data → an order of variables for models: the statistics are in `infer/best_order.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.jobs import one_blas_thread
from interplay.data.codes.rank_scores import mid_rank_scores, normal_scores
from interplay.data.study.study import Study
from interplay.data.study.table import Table, Values
from interplay.infer.arms import ALONE, GIVEN, found_in_words
from interplay.infer.best_order import BestOrder, choose_order, relevance
from interplay.infer.given_test import centred_within
from interplay.infer.short_list import beyond, orthonormal
from interplay.show.results.selection import Selection

#: Variables that are ordered; those after them follow by their p-values.
_MAX_ORDERED = 100

#: Samples that likeness and the relevance for each class are taken from, at most, and scores that are in memory.
_MAX_SAMPLES, _MAX_SCORES = 1 << 13, 1 << 22

#: Bytes of values that a result may hold a copy of, until its order is asked for.
_MAX_COPIED = 1 << 23

#: Relevant variables that may bring in their tuples.
_MAX_TUPLES = 1000

#: Levels of a label: of more, as identifiers have, all but the most frequent are one.
_MAX_LEVELS = 40

#: Values that are read at once.
_BLOCK = 1 << 21

_WITHOUT_PARTNERS = {found_in_words(ALONE), found_in_words(GIVEN)}


def with_order(found: Selection, study: Study) -> Selection:
    """Add the order of the first variables; of few values it is made when it is asked for, from a copy of these."""
    rows = np.arange(study.n_samples)
    if len(rows) > _MAX_SAMPLES:  # the same ones in each run
        rows = np.sort(np.random.RandomState(0).permutation(len(rows))[:_MAX_SAMPLES])
    read = _read_variables(found, max(_MAX_SCORES // len(rows), _MAX_ORDERED))
    table = study.table
    if len(read) * len(rows) * table.dtype.itemsize > _MAX_COPIED:
        return replace(found, ordered=_make_best_order(found, study, rows, read))

    def copied() -> Values:
        return np.array(_values(table, rows, read))  # the table may change until then

    # Outcomes of one table have one copy of all variables.
    values = table.once(("copied", len(rows)), copied) if len(read) == table.n_vars else copied()
    return replace(found, order=cache(partial(_make_best_order, found, study, rows, read, values)))


def _values(table: Table, rows: IntArray, variables: IntArray) -> Values:
    return np.asarray(table.columns(variables))[:, rows]


def _make_best_order(
    found: Selection, study: Study, rows: IntArray, read: IntArray, copied: Values | None = None
) -> BestOrder:
    """Order the variables `read`, of which there may be a copy, by what each adds to those before it."""
    tuples = _tuples(found)
    place = {v: row for row, v in enumerate(read.tolist())}
    with one_blas_thread():
        samples = Samples(study, rows, None if copied is None else lambda some: copied[np.searchsorted(read, some)])
        scores, levels = samples.scores_of(read)
        alone = relevance(scores, samples.targets, samples.n_free, levels)
        # Of a part of the samples, p-values are as much larger.
        evidence = -np.where(found.is_relevant[read], found.log_p[read], 0.0) * (len(rows) / study.n_samples)
        bar = np.log(len(found.names) / found.asked.level)
        in_tuple_only = {place[v]: members for v, members in tuples.items() if alone.alone[place[v]] < bar}
        order = choose_order(
            scores,
            alone,
            evidence,
            {row: [place[u] for u in members] for row, members in in_tuple_only.items()},
            _MAX_ORDERED,
            n_vars=len(found.names),
            level=found.asked.level,
        )
    return BestOrder(read[order.variable], order.unit, order.turn)


def _tuples(found: Selection) -> dict[int, list[int]]:
    """Return the partners of relevant variables that were found in a tuple; relevant ones where there are any."""
    partners: dict[int, list[int]] = {}
    for v in found.ranked[:_MAX_TUPLES].tolist():
        if found.found[v] not in _WITHOUT_PARTNERS:
            others = [u for u in found.best_tuple(v).tolist() if u != v]
            partners[v] = [u for u in others if found.is_relevant[u]] or others
    return partners


def _read_variables(found: Selection, most: int) -> IntArray:
    """Return the numbers of the variables that are read, ascending: the most significant, and all members of tuples."""
    if len(found.names) <= most:
        return np.arange(len(found.names))
    members = [u for v, others in _tuples(found).items() for u in (v, *others)]
    return np.unique(np.concatenate([found.by_significance[:most], np.array(members, dtype=np.int64)]))


class Samples:
    """Targets and scores in some samples, within strata and beyond covariates; values are read from the table or so."""

    def __init__(self, study: Study, rows: IntArray, reading: Callable[[IntArray], Values] | None = None) -> None:
        n = len(rows)
        self._n_samples, self._is_label = study.n_samples, study.table.is_label
        self._read = reading or partial(_values, study.table, rows)
        self._strata = np.zeros(n, dtype=np.int64) if study.strata is None else study.strata.codes[rows]
        known = np.empty((0, n)) if study.model is None else study.model.design.known.T[:, rows]
        self._known = orthonormal(centred_within(known, self._strata))
        self.n_free = n - int(self._strata.max(initial=0)) - 1 - len(self._known)
        self.targets = self._beyond_design(study.outcome.alone()[:, rows])

    def _beyond_design(self, columns: FloatArray) -> FloatArray:
        return beyond(centred_within(columns, self._strata), self._known)

    def scores_of(
        self, variables: IntArray, here: BoolArray | slice = slice(None)
    ) -> tuple[FloatArray, dict[int, FloatArray]]:
        """Return the scores of variables, in rows of length 1; of labels without an order, those of their levels.

        Levels have the scores that go with the outcome most, of the samples `here`; beside these, by row, orthonormal
        columns.
        """
        scores = np.empty((len(variables), self.targets.shape[1]))
        size = max(1, _BLOCK // self._n_samples)
        for start in range(0, len(variables), size):
            block = slice(start, start + size)
            scores[block] = self._beyond_design(normal_scores(mid_rank_scores(self._read(variables[block]))))
        levels: dict[int, FloatArray] = {}
        for row in np.flatnonzero(self._is_label[variables]).tolist():
            values = self._read(variables[row : row + 1])[0]
            _, codes, sizes = np.unique(values, return_inverse=True, return_counts=True)
            frequent = np.arange(1, len(sizes)) if len(sizes) <= _MAX_LEVELS else np.argsort(-sizes)[: _MAX_LEVELS - 1]
            indicators = codes.reshape(-1) == frequent[:, np.newaxis]
            basis = orthonormal(self._beyond_design(indicators.astype(np.float64)))
            if len(basis):
                levels[row] = basis
                leading = np.linalg.svd(self.targets[:, here] @ basis[:, here].T, full_matrices=False)[2][0]
                scores[row] = leading @ basis
        lengths = np.sqrt((scores**2).sum(axis=1, keepdims=True))
        return np.divide(scores, lengths, out=np.zeros_like(scores), where=lengths > 1e-9), levels
