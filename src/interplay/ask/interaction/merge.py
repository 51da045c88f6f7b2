"""Interactions of all shards of a search → those of the whole search.

A search for each set of chromosomes, beside an offset that leaves the set out → one list of all tuples.

A tuple is tested beside a prediction that leaves out the chromosomes of all its members: what the variants of a
chromosome predict would hide their own effects.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from interplay.ask.answer import check_list_of_parts, parts_of_one_search
from interplay.ask.interaction.find import find_once
from interplay.ask.interaction.listed_tests import wanted_tuples
from interplay.ask.interaction.task import InteractionTask
from interplay.ask.tuple_tests.prospects import PValueCaps, best_discretizations
from interplay.base.progress import Progress, part
from interplay.data.codes.tuple_counts import MAX_KEPT
from interplay.infer.interaction.tuple_tests import MAX_BESIDE, TupleTests, adjust_listed
from interplay.infer.linkage import make_linkage
from interplay.infer.survival.survival_curves import MAX_TUPLES
from interplay.search.engines.choice import EngineChoice
from interplay.search.loop import Shard
from interplay.show.results.interactions import Interactions
from interplay.show.results.provenance import merged_record
from interplay.show.results.result import Traits
from interplay.show.results.saved import is_saved_traits, load
from interplay.show.results.variants import joined_variants


def merge_interactions(parts: Iterable[Interactions | str | os.PathLike[str]]) -> Interactions:
    """Merge the parts of all shards of a search for interactions.

    Parameters
    ----------
    parts : iterable of Interactions or path-like
        What `interactions` returned for each `shard`, or the files it was saved to, in any order. Each shard must be
        given exactly once, and all must be of the same search.

    Returns
    -------
    Interactions, or Traits of several outcomes
        The same as from one call without `shard`. (Where more than a tenth of all tuples are significant, or more than
        200 by "BH" or "BY", it may call fewer of them significant.)

    Examples
    --------
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
    >>> parts = [interplay.interactions(X, y, shard=(i, 3)) for i in (1, 2, 3)]
    >>> interplay.merge_interactions(parts).significant
    [('x3', 'x11')]
    """
    check_list_of_parts(parts, Interactions)
    whole = [load(part) if isinstance(part, str | os.PathLike) and is_saved_traits(part) else part for part in parts]
    if any(isinstance(part, Traits) for part in whole):
        traits: Interactions = _merged_traits(whole)  # typed as what one outcome gives
        return traits
    return merged_parts([part for _, part in parts_of_one_search(whole, Interactions, _load, _about)])


def _merged_traits(parts: list[Any]) -> Any:
    """Merge the parts of a search for several outcomes."""
    first = next(part for part in parts if isinstance(part, Traits))
    if any(not isinstance(part, Traits) or part.names != first.names for part in parts):
        raise ValueError("parts: some are of other outcomes: merge parts of one search")
    return Traits(first.names, tuple(merge_interactions([part[name] for part in parts]) for name in first.names))


def merged_parts(parts: list[Interactions]) -> Interactions:
    """Merge the parts of one search, each searched up to the p-value that the whole needs."""
    first = parts[0]
    s = first.settings
    caps = PValueCaps(s["p_adjust"], s["level"], first.n_tests, s["max_p"], s["top"])
    everything = best_discretizations(TupleTests.joined([part.tested for part in parts]))
    cap = _searched_up_to(caps, everything, [part.provenance["searched_up_to_p"] for part in parts])
    inside = everything.chosen(np.flatnonzero(everything.p_value <= cap)).by_p_value()
    adjust = partial(adjust_listed, method=caps.method, n_tests=caps.n_tests)
    inside = inside.adjusted(adjust)
    # Parts test more tuples beside smooth effects, and products on the other scale, than are significant in the whole.
    is_one = inside.is_significant(caps.level)
    again = {"smooth_log_p": np.where(is_one, inside.smooth_log_p, np.nan)}
    if inside.other_log_p is not None:
        again["other_log_p"] = np.where(is_one | ~inside.are_products, inside.other_log_p, np.nan)
    inside = inside.with_fields(**again).adjusted(adjust)
    # A tuple that is significant only by cutting numbers stays listed, as it does where nothing is merged.
    found = wanted_tuples(inside, caps).smooth_judged(adjust, caps.level)
    is_one = found.is_significant(caps.level)
    is_one &= np.cumsum(is_one) <= MAX_BESIDE
    by = np.where(is_one[:, np.newaxis], found.explained_by, -1)
    found = found.with_fields(beside_log_p=np.where(is_one, found.beside_log_p, np.nan), explained_by=by)
    found = found.beside_judged(adjust, caps.level)
    variables = set(found.tuples.ravel().tolist())
    cuts = {cut.variable: cut for part in parts for cut in part.cuts if cut.variable in variables}
    counts = {(one.discretization, *one.members.tolist()): one for part in parts for one in part.counts}
    curves = {(one.discretization, *one.members.tolist()): one for part in parts for one in part.survival_curves}
    listed = [tuple(row) for row in np.column_stack([found.discretization, found.tuples]).tolist()]
    provenance = merged_record([part.provenance for part in parts]) | {
        "tested": sum(part.provenance["tested"] for part in parts),
        "searched_up_to_p": cap,
    }
    return replace(
        first,
        tested=found,
        cuts=tuple(cuts[v] for v in sorted(cuts)),
        counts=tuple(counts[row] for row in listed if row in counts)[:MAX_KEPT],
        survival_curves=tuple(curves[row] for row in listed if row in curves)[:MAX_TUPLES],
        variants=joined_variants([part.variants for part in parts]),
        settings=s | {"shard": None},
        provenance=provenance,
    )


def _searched_up_to(caps: PValueCaps, found: TupleTests, of_parts: list[float]) -> float:
    """Return the p-value up to which one search of all tuples would have listed: parts went as far, or further."""
    if caps.top is None:
        return max(of_parts)
    cap, most = caps.first(), min(of_parts)
    while cap < most and (wider := caps.following(cap, found.chosen(np.flatnonzero(found.p_value <= cap)))) is not None:
        cap = min(wider, most)
    return cap


def _load(path: str | os.PathLike[str]) -> Interactions:
    found: Any = load(path)
    is_part = isinstance(found, Interactions) and found.settings.get("shard") is not None
    return found if is_part else _no_part(repr(os.fspath(path)))


def _no_part(name: str) -> Interactions:
    raise ValueError(f"parts: {name} is not a part of a search for interactions: make it with interactions(shard=…)")


def _about(part: Interactions) -> dict[str, Any]:
    """Return what parts of one search have in common, and the shard."""
    settings = part.settings
    if settings.get("shard") is None:
        _no_part("an entry")
    layout = {"data fingerprint": part.provenance["data_fingerprint"], "tiles": part.provenance["layout"]}
    return {"tuples": part.n_tests} | settings | layout | {"shard": Shard.parse(settings["shard"])}


def find_by_chromosome(task: InteractionTask, choice: EngineChoice, *, progress: Progress) -> Interactions:
    """Search the tuples of each set of chromosomes beside the offset without it; p-values are adjusted for all tuples.

    Chromosomes of one size: searches of all sets count about 1.5 times the pairs of one search, or 3 times the triples.
    """
    assert task.offsets is not None
    searches = list(_searches(task))
    found = [
        find_once(
            search,
            choice,
            checkpoint=None,
            progress=part(progress, number / len(searches), 1 / len(searches)),
            warns=number == 0,
        )
        for number, search in enumerate(searches)
    ]
    whole = merged_parts(found)
    variables = np.unique(whole.tested.tuples)
    by_rank = np.array([whole.cuts_of(v).is_cut for v in variables.tolist()], dtype=bool)
    where = task.family.positions if task.family.columns is None else None
    engine = {**found[0].provenance["engine"], "searches": len(found)}
    return replace(
        whole,
        settings=task.recorded_settings(),
        provenance=whole.provenance | {"engine": engine, "offset by chromosome": task.offsets.labels},
        linkage=make_linkage(task.study.table, variables, variables, by_rank, where),
    )


def _searches(task: InteractionTask) -> Iterator[InteractionTask]:
    """Yield the task of each set of chromosomes, as a part of the whole."""
    offsets, study = task.offsets, task.study
    assert offsets is not None
    # One hash of the data, with the prediction that leaves nothing out, for all parts.
    hashed = [study.with_offset(offsets.without(())).fingerprint()]
    for some in offsets.sets(task.settings.dimensions):
        family = task.family.spanning(offsets.chromosome, some)
        if family is not None:
            here = replace(study.with_offset(offsets.without(some)), _fingerprint=hashed)
            yield replace(task, study=here, family=family, shard=Shard(1, 1), offsets=None)
