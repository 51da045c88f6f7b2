"""Significant tuples of cut numbers → levels of samples → a second test, beside smooth effects of the numbers.

Effects that add up in two numbers do not add up in their levels where the numbers are skewed or correlated: how high a
number is within a level then depends on the other number. Natural splines in the model take this effect up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import map_in_threads
from interplay.base.progress import Progress, Unfinished, map_shown
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import Coder
from interplay.data.codes.cuts import variable_cuts
from interplay.data.models.linear import spline_columns
from interplay.infer.interaction.beside_test import TupleSamples, smooth_log_p, smooth_test
from interplay.infer.interaction.tuple_tests import TupleTests


def tuple_samples(
    coded: CodedComparison, members: IntArray, d: int, *, omit_missing: bool, coding: str = "levels"
) -> TupleSamples:
    """Return the samples of a tuple in a discretisation; with `omit_missing`, without missing values of a member."""
    coder, comparison = coded.coder, coded.comparison
    levels = coder.codes_of(d, members).codes.astype(np.int64)
    has_gaps = coded.has_missing_level & omit_missing
    gaps = [(levels[i] == coder.n_levels[v] - 1) & has_gaps[v] for i, v in enumerate(members.tolist())]
    known = np.flatnonzero(~np.any(gaps, axis=0))
    levels = levels[:, known]
    dosages = None
    if coding == "dosage" and comparison.outcome.are_ordered:
        dosages = [variable_cuts(coder, v).dosages()[of] for v, of in zip(members.tolist(), levels, strict=True)]
    strata = comparison.strata
    return TupleSamples(known, levels, None if strata is None else strata.codes[known], dosages)


#: Tests of the search, statistics and degrees of freedom of second tests → their p-values.
PValues = Callable[[TupleTests, FloatArray, IntArray], FloatArray]

#: Splines that are kept, in bytes.
_MAX_KEPT_BYTES = 1 << 28


def beside_smooth(
    coded: CodedComparison,
    tested: TupleTests,
    rows: IntArray,
    p_values: PValues,
    *,
    level: float,
    omit_missing: bool = False,
    coding: str = "levels",
    splines: Splines | None = None,
    n_threads: int = 1,
    progress: Progress = False,
) -> TupleTests:
    """Fill in the p-values beside smooth effects of some rows; members are numbered as in `coded`.

    `splines`: of the variables that are coded so, if there are any already.
    On Ctrl-C, `Unfinished` has the tuples without the rows that were not tested yet.
    """
    is_cut = ~coded.coder.is_discrete
    rows = rows[is_cut[tested.tuples[rows]].any(axis=1)]
    if not len(rows):
        return tested
    splines = splines or Splines(coded.coder)
    outcome = coded.comparison.outcome
    again = tested.chosen(rows)
    splines.make(np.unique(again.tuples), n_threads)

    def test(place: int) -> tuple[tuple[float, int], tuple[float, int] | None]:
        members, d = again.tuples[place], int(again.discretization[place])
        samples = tuple_samples(coded, members, d, omit_missing=omit_missing, coding=coding)
        of_members = [splines.of(v)[samples.known] if is_cut[v] else None for v in members.tolist()]
        return smooth_test(outcome, samples, of_members, model=coded.comparison.model)

    found: list[tuple[tuple[float, int], tuple[float, int] | None]] = []

    def finished() -> TupleTests:
        done = rows[: len(found)]
        some = again.chosen(np.arange(len(done)))
        p = p_values(some, np.array([one[0][0] for one in found]), np.array([one[0][1] for one in found]))
        log_p = tested.smooth_log_p.copy()
        log_p[done] = smooth_log_p(p, [other for _, other in found], level)
        return replace(tested, smooth_log_p=log_p)

    what = "tests beside smooth effects of"
    try:
        map_shown(test, range(len(rows)), n_threads, progress=progress, what=what, into=found)
    except KeyboardInterrupt:
        left_out = np.isin(np.arange(len(tested)), rows[len(found) :])
        raise Unfinished(finished().chosen(np.flatnonzero(~left_out))) from None
    return finished()


class Splines:
    """Columns of splines of variables, made once while they fit into memory."""

    def __init__(self, coder: Coder) -> None:
        self._coder = coder
        self._kept: dict[int, FloatArray] = {}

    def make(self, variables: IntArray, n_threads: int) -> None:
        """Make the splines of the first of these variables, as many as are kept."""
        some = [v for v in variables.tolist() if not self._coder.is_discrete[v]]
        some = some[: _MAX_KEPT_BYTES // max(32 * self._coder.table.n_samples, 1)]
        kept = {v: self._kept[v] for v in some if v in self._kept}
        new = [v for v in some if v not in kept]
        self._kept = kept | dict(zip(new, map_in_threads(self._made, new, n_threads), strict=True))

    def of(self, variable: int) -> FloatArray:
        """Return the columns of a variable, (n_samples, n_columns)."""
        return self._kept[variable] if variable in self._kept else self._made(variable)

    def _made(self, variable: int) -> FloatArray:
        return spline_columns(self._coder.values(slice(variable, variable + 1))[0].astype(np.float64))
