"""Tuples that a search of residuals left → their interactions in the full model, whose p-values count.

With covariates, an offset or times, the screen compares residuals, and lists more tuples than could be significant.
Each is then tested by the full model: linear, logistic, multinomial or Cox's, with and without the interaction. A tuple
that the screen left out has p = 1, so that p-values are valid whatever the screen does.
"""

from __future__ import annotations

import math

import numpy as np

from interplay.ask.tuple_tests.beside_smooth import tuple_samples
from interplay.base.arrays import BoolArray, FloatArray, IntArray, places_of_each
from interplay.base.progress import Progress, Unfinished, map_shown, part
from interplay.data.codes.coded import CodedComparison
from interplay.infer.interaction.beside_test import ModelTest, models_of_cells
from interplay.infer.interaction.null_model import null_design
from interplay.infer.interaction.tested_in_model import effects_alone, tuple_in_model, with_model_tests
from interplay.infer.interaction.tuple_tests import METHODS, SPARSE, TupleTests

#: The screen lists p-values of residuals up to as many times the cap: more of small ones, which are far from those of
#: the full model where these are tiny. It lists these p-values, or as many tuples, in any case.
_TIMES_MORE, _TIMES_MORE_OF_SMALL, _SMALL = 3.0, 20.0, 0.01
_USUAL_P, _USUAL_TUPLES = 1e-3, 1000.0

#: In front of a number of tuples.
_WHAT = "tests by models of"

#: Tuples of more cells are tested one by one; and numbers in memory at once, of cells by samples.
_MAX_CELLS, _AT_ONCE = 32, 1 << 22


def screen_cap(cap: float, n_tests: int) -> float:
    """Return the p-value of residuals up to which tuples are listed, where the full model's are wanted up to `cap`.

    Examples
    --------
    >>> screen_cap(1e-6, 100_000), screen_cap(1e-8, 10_000_000)
    (0.001, 0.0001)
    """
    more = max(_TIMES_MORE * cap, min(_TIMES_MORE_OF_SMALL * cap, _SMALL))
    return min(1.0, max(more, min(_USUAL_P, _USUAL_TUPLES / n_tests)))


def in_model(
    tested: TupleTests,
    coded: CodedComparison,
    *,
    max_p: float = 1.0,
    omit_missing: bool = False,
    coding: str = "levels",
    n_threads: int = 1,
    progress: Progress = False,
) -> TupleTests:
    """Replace the tests of tuples by those of the full model of a comparison, and keep those with p ≤ `max_p`.

    `coded` has the outcome that is shown. On Ctrl-C, `Unfinished` has the tuples that were tested.
    """
    model, outcome = coded.comparison.model, coded.comparison.outcome
    assert model is not None
    n_discretizations = coded.coder.discretizations
    groups = None if coded.comparison.groups is None else coded.comparison.groups.codes
    bar = np.log(max_p / n_discretizations) if max_p < 1 else 0.0
    # A missing value that is left out is no level.
    n_levels = np.maximum(coded.coder.n_levels, 2) - (coded.has_missing_level & omit_missing)

    def test(row: int) -> ModelTest:
        if tested.method[row] == METHODS.index(SPARSE):  # of classes: no χ² holds in the model, either
            return ModelTest(0.0, 0, 0.0)
        members, d = tested.tuples[row], int(tested.discretization[row])
        samples = tuple_samples(coded, members, d, omit_missing=omit_missing, coding=coding)
        return tuple_in_model(model, outcome, samples, n_levels[members], max_log_p=bar, groups=groups)

    def alone(kept: TupleTests) -> FloatArray:
        def levels_of(v: int, d: int) -> IntArray:
            return np.asarray(coded.coder.codes_of(d, np.array([v])).codes[0], dtype=np.int64)

        return effects_alone(kept, model, lambda v: int(n_levels[v]), levels_of)

    at_once: list[dict[int, ModelTest]] = []
    rows: list[int] = []
    one_by_one: list[ModelTest] = []

    def finished() -> TupleTests:
        known = _joined(at_once) | dict(zip(rows, one_by_one, strict=False))
        kept = {row: known[row] for row in sorted(known) if known[row].log_p <= bar}
        chosen, found = tested.chosen(np.array(list(kept), dtype=np.int64)), list(kept.values())
        return with_model_tests(chosen, found, model, outcome, alone, n_discretizations=n_discretizations)

    try:
        if coding == "levels" and groups is None:
            has_gaps = coded.has_missing_level & omit_missing
            _test_at_once(bar, tested, coded, n_levels, has_gaps=has_gaps, progress=progress, into=at_once)
        known = _joined(at_once)
        rows += [row for row in range(len(tested)) if row not in known]
        told = part(progress, len(known) / max(len(tested), 1), len(rows) / max(len(tested), 1))
        map_shown(test, rows, n_threads, progress=told, what=_WHAT, into=one_by_one)
    except KeyboardInterrupt:
        raise Unfinished(finished()) from None
    return finished()


def _joined(some: list[dict[int, ModelTest]]) -> dict[int, ModelTest]:
    return {row: one for part in some for row, one in part.items()}


def _test_at_once(
    bar: float,
    tested: TupleTests,
    coded: CodedComparison,
    n_levels: IntArray,
    *,
    has_gaps: BoolArray,
    progress: Progress,
    into: list[dict[int, ModelTest]],
) -> None:
    """Add the tests, by row, of tuples that the outcome tests many at once: those of all samples, with full tables.

    One by one, 1,063 pairs of 300 times take 3 s.
    """
    model, outcome = coded.comparison.model, coded.comparison.outcome
    assert model is not None
    if (of_cells := model.outcome.tests_of_cells(model.design)) is None:
        return
    whole = np.flatnonzero(~has_gaps[tested.tuples].any(axis=1))
    parts: list[IntArray] = []  # of tuples of equal levels, as many as fit into memory
    for places in places_of_each(np.column_stack([tested.discretization, n_levels[tested.tuples]])[whole]):
        rows = whole[places]
        n_cells = math.prod(n_levels[tested.tuples[rows[0]]].tolist())
        if n_cells <= _MAX_CELLS:
            size = max(1, _AT_ONCE // (n_cells * model.n_samples))
            parts += np.split(rows, range(size, len(rows), size))

    def test(some: IntArray) -> dict[int, ModelTest]:
        assert model is not None
        levels, d = tuple(n_levels[tested.tuples[some[0]]].tolist()), int(tested.discretization[some[0]])
        variables, members = np.unique(tested.tuples[some], return_inverse=True)
        codes = coded.coder.codes_of(d, variables).codes[members.reshape(len(some), -1)].astype(np.int64)
        cells = np.ravel_multi_index(tuple(codes.swapaxes(0, 1)), levels)
        counts = np.stack([(cells == cell).sum(axis=1) for cell in range(math.prod(levels))])
        full = np.flatnonzero(counts.min(axis=0) >= max(outcome.fewest_in_cell, 1))
        tests = of_cells(cells[full], null_design((*levels, 2))[:, 1, 1:])
        found = zip(some[full].tolist(), models_of_cells(tests, levels, bar), strict=True)
        return {row: one for row, one in found if not np.isnan(one.log_p)}

    if parts:
        told = part(progress, 0.0, sum(map(len, parts)) / len(tested))
        map_shown(test, parts, 1, progress=told, what=_WHAT, sizes=list(map(len, parts)), into=into)
