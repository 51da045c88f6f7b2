"""The bit planes of a search in 1D, or its codes and numbers → exact p-values of all variables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.ask.selection.level_sums import level_sums
from interplay.base.arrays import BitPlanes, FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.study.outcomes.targets import ScoreTarget
from interplay.infer.conditional_test import conditional_log_p
from interplay.infer.correlation_test import NumberTarget, level_gain_log_p
from interplay.infer.drawn_levels import DrawnLevels
from interplay.infer.residual_test import ResidualTarget
from interplay.search.engines.tables import count_tables

#: Codes of a number outcome's variables that are in memory at once. A fixed number: results do not depend on threads.
_CODES_AT_ONCE = 1 << 22


#: Coder, discretisation, variables of as many levels → ln p of each.
_LevelTest = Callable[[Coder, int, IntArray, int], FloatArray]


class ExactPValues:
    """p-values of single variables from their counts, gathered from one discretisation after the other.

    Of several discretisations each is a test, and the smallest p-value counts, times their number (union bound).
    Contrast variables are left out unless they are asked for: only the gains of these are needed by other searches.
    """

    def __init__(self, *, pseudocount: float, has_strata: bool, with_contrast: bool = True) -> None:
        self._pseudocount = pseudocount
        self._has_strata = has_strata
        self.with_contrast = with_contrast
        self._smallest: FloatArray | None = None
        self._n_tests = 0

    def see_planes(self, planes: BitPlanes) -> None:
        """Test all variables as one discretisation has them."""
        n_rows = (planes.n_rows if self.with_contrast else planes.n_vars) - self._has_strata
        log_p = np.zeros(n_rows)
        rows = np.arange(n_rows)[:, np.newaxis]
        if self._has_strata:
            rows = np.column_stack([np.zeros_like(rows), rows + 1])
        for places, tables in count_tables(planes, rows):
            # (n, n_strata, n_levels, n_classes) → (n, n_levels, n_classes, n_strata)
            by_stratum = tables if self._has_strata else tables[:, np.newaxis]
            log_p[places] = conditional_log_p(np.moveaxis(by_stratum, 1, -1), pseudocount=self._pseudocount)
        self._smallest = log_p if self._smallest is None else np.minimum(self._smallest, log_p)
        self._n_tests += 1

    @property
    def log_p(self) -> FloatArray | None:
        """Natural logarithms, of the variables and then of the contrast ones if these count; None before any planes."""
        if self._smallest is None:
            return None
        return np.asarray(np.minimum(self._smallest + np.log(self._n_tests), 0.0))


def number_log_p(coded: CodedComparison, *, discretizations: int, with_contrast: bool) -> FloatArray:
    """Return natural logarithms of p-values of variables alone about a number outcome, as `ExactPValues` has them."""
    comparison = coded.comparison
    outcome, strata = comparison.outcome, comparison.strata
    assert isinstance(outcome, ScoreTarget)
    test = _test_of(outcome, None if strata is None else strata.codes)
    coders = [coded.coder, *([coded.contrast] if with_contrast and coded.contrast is not None else [])]
    of_each = [np.concatenate([_number_log_p(coder, d, test) for coder in coders]) for d in range(discretizations)]
    return np.asarray(np.minimum(np.min(of_each, axis=0) + np.log(discretizations), 0.0))


def _test_of(outcome: ScoreTarget, strata: IntArray | None) -> _LevelTest:
    """Return the test of numbers, or, where these are residuals, of variables in the model that they are of."""
    if outcome.model is not None:
        adjusted = ResidualTarget.of(outcome)
        return lambda coder, d, variables, n: adjusted.level_log_p(
            coder.codes_of(d, variables).codes.astype(np.int64), n
        )
    target = NumberTarget.of(outcome.scores, strata)
    drawn = DrawnLevels(target.scores)

    def test(coder: Coder, d: int, variables: IntArray, n_levels: int) -> FloatArray:
        sizes, sums = level_sums(coder, d, variables, n_levels, target)
        return level_gain_log_p(sizes, sums, target, drawn)

    return test


def _number_log_p(coder: Coder, d: int, log_p_of: _LevelTest) -> FloatArray:
    """Test all variables of a coder as one discretisation has them."""
    log_p = np.empty(coder.table.n_vars)
    n_levels = np.maximum(coder.n_levels, 2)
    size = max(1, _CODES_AT_ONCE // max(coder.table.n_samples, 1))
    jobs = [
        (number, same[begin : begin + size])
        for number in np.unique(n_levels).tolist()
        for same in [np.flatnonzero(n_levels == number)]
        for begin in range(0, len(same), size)
    ]

    def test(job: tuple[int, IntArray]) -> None:
        number, variables = job
        log_p[variables] = log_p_of(coder, d, variables, number)

    map_in_threads(test, jobs, coder.n_jobs)
    return log_p
