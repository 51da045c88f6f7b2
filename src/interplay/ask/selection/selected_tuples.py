"""The tuples that a selection shows → tests of their interactions, adjusted for all tuples of its search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from interplay.ask.selection.settings import SelectionSettings
from interplay.ask.tuple_tests.beside_smooth import beside_smooth
from interplay.ask.tuple_tests.in_model import in_model
from interplay.ask.tuple_tests.prospects import Asked, PValueCaps, best_discretizations, listed_method
from interplay.ask.tuple_tests.target_tests import TargetTests
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.progress import Progress, Unfinished, part, unfinished
from interplay.data.codes.coded import CodedComparison
from interplay.infer.interaction.tuple_tests import TupleTests, adjust_listed, corrected_p_values
from interplay.show.results.run import Run

#: Tuples that are tested, those of the most significant variables first: a thousand take a fraction of a second.
MAX_TESTED = 3000

#: The share of the tests' progress that full models have; the rest is of tests beside smooth effects.
_SHARE_OF_MODELS = 0.5

#: Tables of more numbers than this, cells times classes and strata, are not counted: few of their cells have samples.
_MAX_NUMBERS = 2**16


def n_tests_of(n_vars: int, dimensions: int, n_families: int) -> int:
    """Return how many tests p-values are adjusted for: one for each tuple of a size, of each family.

    Families are the comparisons of classes, times the sizes of tuples that were searched: each size gets an equal share
    of the error rate (Bonferroni), so that pairs do not pay for the number of triples.
    """
    return comb(n_vars, dimensions) * n_families


def make_selected_tests(
    coded: CodedComparison,
    tests: TargetTests,
    settings: SelectionSettings,
    tuples: IntArray,
    n_families: int,
    *,
    progress: Progress = False,
) -> tuple[TupleTests, ...]:
    """Test tuples and their parts in all discretisations of a run; p-values are not adjusted yet.

    - `tests`: one for each discretisation.
    - `tuples` (n, k): those of the most significant variables first; the same may be there more than once, and ones
      that are not all there (−1).

    Returns
    -------
    tuple of TupleTests
        Those of two members, of three, … and of k; nothing where tuples have one member. On Ctrl-C, `Unfinished` has
        those that were tested in all ways.
    """
    known = tuples[(tuples >= 0).all(axis=1)]
    sizes = range(2, settings.dimensions + 1)
    share = 1 / max(len(sizes), 1)
    found: list[TupleTests] = []
    try:
        for place, size in enumerate(sizes):
            told = part(progress, place * share, share)
            found.append(_tests_of_size(coded, tests, settings, _parts(known, size), n_families, told))
    except KeyboardInterrupt as stopped:
        found += [stopped.done] if isinstance(stopped, Unfinished) else []
        raise Unfinished((*found, *(_none(coded, size) for size in sizes[len(found) :]))) from None
    return tuple(found)


def _none(coded: CodedComparison, size: int) -> TupleTests:
    comparison = coded.comparison
    of_what = comparison.outcome if comparison.model is None else comparison.model.outcome
    return TupleTests.none(of_what.words.kind, size)


def _parts(tuples: IntArray, size: int) -> IntArray:
    """Return all tuples of so many members that the tuples hold, those of the first of them first."""
    places = list(combinations(range(tuples.shape[1]), size))
    return np.stack([tuples[:, list(place)] for place in places], axis=1).reshape(-1, size)


def _tests_of_size(
    coded: CodedComparison,
    tests: TargetTests,
    settings: SelectionSettings,
    tuples: IntArray,
    n_families: int,
    progress: Progress,
) -> TupleTests:
    comparison = coded.comparison
    n_vars, size = comparison.table.n_vars, tuples.shape[1]
    _, first = np.unique(tuples, axis=0, return_index=True)
    chosen = tuples[np.sort(first)[:MAX_TESTED]]
    if len(chosen) == 0:
        return _none(coded, size)
    n_numbers = coded.n_levels[chosen].astype(float).prod(axis=1) * (comparison.outcome.df + 1)
    n_numbers *= 1 if comparison.strata is None else comparison.strata.n_strata
    chosen = chosen[n_numbers <= _MAX_NUMBERS]
    caps = PValueCaps(
        listed_method(settings.p_adjust), settings.level, n_tests_of(n_vars, size, n_families), None, None
    )
    asked = Asked(
        bootstrap_below=caps.significant_up_to() if comparison.model is None else 0.0,
        seed=settings.random_state,
        of_each=comparison.model is not None,
    )
    tested = tests.tested([chosen] * settings.discretizations, asked)

    def may_be(tested: TupleTests) -> BoolArray:
        # Of several comparisons, only all together tell which are significant.
        here = adjust_listed(tested.p_value, caps.method, n_tests=comb(n_vars, size)) < settings.level
        return np.asarray(here | (tested.p_value <= caps.significant_up_to()))

    def best(tested: TupleTests) -> TupleTests:
        return best_discretizations(tested).by_p_value()

    if comparison.model is not None:
        options: dict[str, Any] = {"omit_missing": settings.omits_missing, "n_threads": coded.coder.n_jobs}
        # What would be tested beside smooth effects is not finished before.
        with unfinished(lambda tested: (some := best(tested)).chosen(np.flatnonzero(~may_be(some)))):
            tested = best(in_model(tested, coded, **options, progress=part(progress, 0.0, _SHARE_OF_MODELS)))
    return beside_smooth(
        coded,
        tested,
        np.flatnonzero(may_be(tested)),
        partial(corrected_p_values, discretizations=settings.discretizations),
        level=settings.level,
        omit_missing=settings.omits_missing,
        n_threads=coded.coder.n_jobs,
        progress=part(progress, _SHARE_OF_MODELS, 1 - _SHARE_OF_MODELS),
    )


def _judged(some: list[TupleTests], adjust: Callable[[FloatArray], FloatArray], level: float) -> list[TupleTests]:
    """Adjust the p-values beside smooth effects, over the tuples of all comparisons."""
    joined = TupleTests.joined(some).smooth_judged(adjust, level)
    ends = np.cumsum([len(tested) for tested in some])
    of_each = np.split(joined.smooth_adjusted, ends[:-1])
    return [replace(tested, smooth_adjusted=p) for tested, p in zip(some, of_each, strict=True)]


def adjusted_tests(runs: Sequence[Run], settings: SelectionSettings, n_vars: int) -> list[Run]:
    """Adjust p-values for all tuples of as many members, of all comparisons, with an equal share for each size."""
    n_sizes = max(run.dimensions for run in runs) - 1
    adjusted = list(runs)
    for k in {run.dimensions for run in runs}:
        numbers = [number for number, run in enumerate(runs) if run.dimensions == k and run.tested]
        for size in range(2, k + 1) if numbers else ():
            some = [runs[number].tested[size - 2] for number in numbers]
            n_comparisons = sum(run.dimensions == k for run in runs)
            adjust = partial(
                adjust_listed,
                method=listed_method(settings.p_adjust),
                n_tests=n_tests_of(n_vars, size, n_comparisons * n_sizes),
            )
            p_adjusted = adjust(np.concatenate([tested.p_value for tested in some]))
            ends = np.cumsum([len(tested) for tested in some])
            for number, tested, of_run in zip(numbers, some, np.split(p_adjusted, ends[:-1]), strict=True):
                by_size = list(adjusted[number].tested)
                # Numbers and times are one comparison, with other tests beside; classes may be several.
                has_more = tested.robust_log_p is not None
                by_size[size - 2] = tested.adjusted(adjust) if has_more else replace(tested, p_adjusted=of_run)
                adjusted[number] = replace(adjusted[number], tested=tuple(by_size))
            judged = _judged([adjusted[number].tested[size - 2] for number in numbers], adjust, settings.level)
            for number, tested in zip(numbers, judged, strict=True):
                by_size = list(adjusted[number].tested)
                by_size[size - 2] = tested
                adjusted[number] = replace(adjusted[number], tested=tuple(by_size))
    return adjusted
