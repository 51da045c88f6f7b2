"""Relevant variables → the tuples that explain them, and what parts of these tuples tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from interplay.ask.tuples.call import make_source
from interplay.ask.tuples.source import TupleSource
from interplay.ask.tuples.table import BestRows, packed_rows
from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.tuples import MaxGains
from interplay.data.codes.coded import CodedComparison, chosen_rows
from interplay.search.engines.base import Engine
from interplay.search.engines.choice import EngineChoice
from interplay.search.engines.cpu import CpuEngine
from interplay.search.settings import SearchSettings
from interplay.show.results.run import Explanations

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
