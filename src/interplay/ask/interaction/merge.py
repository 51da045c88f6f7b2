"""Interactions of all shards of a search → those of the whole search."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from interplay.ask.interaction.best_discretization import best_discretizations
from interplay.ask.interaction.find import wanted_tuples
from interplay.ask.interaction.p_value_caps import PValueCaps
from interplay.base.checks import shown
from interplay.data.codes.tuple_counts import MAX_KEPT
from interplay.infer.interaction.tuple_tests import TupleTests, adjust_listed
from interplay.infer.survival.survival_curves import MAX_TUPLES
from interplay.search.checkpoint import describe_difference
from interplay.search.loop import Shard
from interplay.show.results.interactions import Interactions
from interplay.show.results.provenance import merged_record
from interplay.show.results.saved import load


def merge_interactions(parts: Iterable[Interactions | str | os.PathLike[str]]) -> Interactions:
    """Merge the parts of all shards of a search for interactions.

    Parameters
    ----------
    parts : iterable of Interactions or path-like
        What `interactions` returned for each `shard`, or the files it was saved to, in any order. Each shard must be
        given exactly once, and all must be of the same search.

    Returns
    -------
    Interactions
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
    if isinstance(parts, Interactions | str | os.PathLike):
        raise TypeError(f"parts must be a list of parts or their files, not one of them: write [{shown(parts)}]")
    read = [_read(part) for part in parts]
    if not read:
        raise ValueError("parts is empty: give at least one part")
    first_name, first, first_shard = read[0]
    name_of: dict[int, str] = {}
    for name, part, shard in read:
        if difference := describe_difference(_about(first, first_shard), _about(part, shard)):
            raise ValueError(f"parts: {first_name} and {name} are of different searches ({difference}): leave one out")
        if shard.number in name_of:
            raise ValueError(f"parts: {shard} is given twice, as {name_of[shard.number]} and as {name}: leave one out")
        name_of[shard.number] = name
    n_shards = first_shard.of
    if missing := sorted(set(range(1, n_shards + 1)) - set(name_of)):
        listed = ", ".join(map(str, missing[:10])) + ", …" * (len(missing) > 10)
        raise ValueError(f"parts: {listed} of {n_shards} missing: search them, or add their files")
    return merged_parts([part for _, part, _ in read])


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
    # Parts test more tuples beside smooth effects than are significant in the whole.
    smooth = np.where(inside.is_significant(caps.level), inside.smooth_log_p, np.nan)
    # A tuple that is significant only by cutting numbers stays listed, as it does where nothing is merged.
    found = wanted_tuples(replace(inside, smooth_log_p=smooth), caps).smooth_judged(adjust, caps.level)
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


def _read(part: Interactions | str | os.PathLike[str]) -> tuple[str, Interactions, Shard]:
    read: Any = part if isinstance(part, Interactions) else load(part)
    name = "an entry" if isinstance(part, Interactions) else repr(os.fspath(part))
    if not isinstance(read, Interactions) or read.settings.get("shard") is None:
        raise ValueError(
            f"parts: {name} is not a part of a search for interactions: make it with interactions(shard=…)"
        )
    shard = Shard.parse(read.settings["shard"])
    return (f"part {shard}" if read is part else name), read, shard


def _about(part: Interactions, shard: Shard) -> dict[str, Any]:
    """Return what parts of one search have in common."""
    decides = {name: value for name, value in part.settings.items() if name != "shard"}
    layout = {"data fingerprint": part.provenance["data_fingerprint"], "tiles": part.provenance["layout"]}
    return {"shards": shard.of, "tuples": part.n_tests, **decides, **layout}
