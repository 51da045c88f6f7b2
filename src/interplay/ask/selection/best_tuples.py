"""Relevant variables → the tuples that explain them, what parts of these tell, and tests of their interactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from interplay.ask.tuples.call import make_source
from interplay.ask.tuples.source import TupleSource
from interplay.ask.tuples.table import BestRows, packed_rows
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.progress import Progress, Unfinished, part, unfinished
from interplay.base.tuples import MaxGains
from interplay.data.codes.coded import CodedComparison, chosen_rows
from interplay.infer.interaction.tuple_tests import TupleTests, adjust_listed, corrected_p_values
from interplay.search.engines.base import Engine
from interplay.search.engines.choice import EngineChoice
from interplay.search.engines.cpu import CpuEngine
from interplay.search.settings import SearchSettings
from interplay.show.results.run import Explanations, Run

#: Tuples kept of each relevant variable.
TUPLES_PER_VARIABLE = 10

#: Only tuples of relevant variables and their best partners are looked at, as many variables at a time as make at most
#: this share of the tuples of the search, within these bounds: little time beside that of the search itself.
_SHARE_OF_SEARCH = 0.02
_TUPLES_BOUNDS = (100_000, 20_000_000)

#: So many tuples the processor lists, whichever engine searched.
_FEW_TUPLES = 1_000_000


def explain(
    coded: CodedComparison,
    settings: SearchSettings,
    gains: MaxGains,
    ranked: IntArray,
    *,
    engine: Engine,
) -> Explanations | None:
    """Return the best tuples of each relevant variable among relevant variables and their best partners.

    - `coded`: the comparison that was searched, without strata.
    - `gains`: of this comparison: the best tuple of a variable names its partners.
    - `ranked` (n_relevant,): the relevant variables, most significant first.
    - `engine`: one that finds only maxima leaves these tuples to the processor; where they are few, each does.
    """
    if settings.dimensions < 2:
        return None
    groups = list(_groups(gains.tuples, ranked))
    if not groups:
        k = settings.dimensions
        none, no_gain = np.empty(0, dtype=np.int64), np.empty(0)
        return Explanations(np.empty((0, k), dtype=np.int64), none, no_gain, no_gain, none)
    involved = np.unique(np.concatenate([members for _, members in groups]))
    coder = coded.coder
    # A device would take longer to begin than the processor takes for few tuples.
    most = max(comb(len(members), settings.dimensions) for _, members in groups)
    lister = engine if "list" in engine.kinds and most > _FEW_TUPLES else CpuEngine(n_threads=coder.n_jobs)
    choice = EngineChoice(lister, coder.n_jobs)
    everything = make_source(coded, settings, choice, columns=involved)
    parts = []
    for relevant, members in groups:
        rows = np.searchsorted(involved, members)
        source = replace(everything, planes=[chosen_rows(planes, rows) for planes in everything.planes])
        parts.append(_explain_group(source, np.isin(members, relevant), members, coded.comparison.outcome.df))
    return Explanations(
        tuples=np.concatenate([part.tuples for part in parts]),
        variable=np.concatenate([part.variable for part in parts]),
        gain=np.concatenate([part.gain for part in parts]),
        sub_gain=np.concatenate([part.sub_gain for part in parts]),
        df=np.concatenate([part.df for part in parts]),
    )


def _groups(best_tuples: IntArray, ranked: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Cut the relevant variables into groups small enough to look at all their tuples, with their partners."""
    n_vars, k = best_tuples.shape
    most = float(np.clip(_SHARE_OF_SEARCH * comb(n_vars, k), *_TUPLES_BOUNDS))
    relevant: list[int] = []
    members: set[int] = set()
    for v in ranked.tolist():
        more = members.union(m for m in best_tuples[v].tolist() if m >= 0)
        if relevant and comb(len(more), k) > most:
            yield np.array(relevant), np.array(sorted(members))
            relevant, more = [], {m for m in best_tuples[v].tolist() if m >= 0}
        relevant.append(v)
        members = more
    if relevant:
        yield np.array(relevant), np.array(sorted(members))


def _explain_group(source: TupleSource, is_relevant: BoolArray, members: IntArray, outcome_df: int) -> Explanations:
    """Find the best tuples of a group's relevant variables; the source numbers the group's members anew."""
    thresholds = np.where(is_relevant, -np.inf, np.inf)
    best = BestRows(TUPLES_PER_VARIABLE, by_variable=True, dimensions=source.dimensions, thresholds=thresholds)
    for batch in source.batches(source.tiles(1.0), thresholds):
        best.add(batch)
    tuples, variable = best.rows.tuples.astype(np.int64), best.rows.variable.astype(np.int64)
    levels = source.planes[0].n_levels
    cells = levels[tuples].prod(axis=1)
    return Explanations(
        tuples=members[tuples],
        variable=members[variable],
        gain=best.rows.value,
        sub_gain=_best_of_parts(source, tuples, variable),
        df=outcome_df * (levels[variable] - 1) * (cells // levels[variable]),
    )


def _best_of_parts(source: TupleSource, tuples: IntArray, variable: IntArray) -> FloatArray:
    """Return the largest gain of each row's variable in the smaller tuples that hold it, all members from its tuple."""
    best = np.full(len(tuples), -np.inf)
    for size in range(1, source.dimensions):
        smaller = replace(source, dimensions=size)
        everything = np.full(source.n_vars, -np.inf)
        batches = list(smaller.batches(smaller.tiles(1.0), everything))
        keys = np.concatenate([packed_rows(rows.tuples, rows.variable, source.n_vars) for rows in batches])
        values = np.concatenate([rows.value for rows in batches])
        order = np.argsort(keys)
        keys, values = keys[order], values[order]
        for places in combinations(range(source.dimensions), size):
            part = tuples[:, places]
            holds = (part == variable[:, np.newaxis]).any(axis=1)
            wanted = packed_rows(part[holds], variable[holds], source.n_vars)
            best[holds] = np.maximum(best[holds], values[np.searchsorted(keys, wanted)])
    return best


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
