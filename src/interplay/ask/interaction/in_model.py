"""Tuples that a search of residuals left → their interactions in the full model, whose p-values count.

With covariates, an offset or times, the screen compares residuals, and lists more tuples than could be significant.
Each is then tested by the full model: linear, logistic, multinomial or Cox's, with and without the interaction. A tuple
that the screen left out has p = 1, so that p-values are valid whatever the screen does.
"""

from __future__ import annotations

import numpy as np

from interplay.ask.interaction.tuple_samples import tuple_samples
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.data.codes.coded import CodedComparison
from interplay.infer.interaction.model_test import ModelTest
from interplay.infer.interaction.tested_in_model import hazards_alone, tuple_in_model, with_model_tests
from interplay.infer.interaction.tuple_tests import METHODS, SPARSE, TupleTests

#: The screen lists p-values of residuals up to as many times the cap: more of small ones, which are far from those of
#: the full model where these are tiny. It lists these p-values, or as many tuples, in any case.
_TIMES_MORE, _TIMES_MORE_OF_SMALL, _SMALL = 3.0, 20.0, 0.01
_USUAL_P, _USUAL_TUPLES = 1e-3, 1000.0


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
) -> TupleTests:
    """Replace the tests of tuples by those of the full model of a comparison, and keep those with p ≤ `max_p`.

    `coded` has the outcome that is shown.
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

        return hazards_alone(kept, model, lambda v: int(n_levels[v]), levels_of)

    found = map_in_threads(test, range(len(tested)), n_threads)
    kept = [row for row, one in enumerate(found) if one.log_p <= bar]
    tested, found = tested.chosen(np.array(kept, dtype=np.int64)), [found[row] for row in kept]
    return with_model_tests(tested, found, model, outcome, alone, n_discretizations=n_discretizations)
