"""A search for each set of chromosomes, beside an offset that leaves the set out → one list of all tuples.

A tuple is tested beside a prediction that leaves out the chromosomes of all its members: what the variants of a
chromosome predict would hide their own effects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from interplay.ask.interaction.find import find_once
from interplay.ask.interaction.merge import merged_parts
from interplay.ask.interaction.task import InteractionTask
from interplay.base.progress import Progress, part
from interplay.infer.linkage import make_linkage
from interplay.search.engines.choice import EngineChoice
from interplay.search.loop import Shard
from interplay.show.results.interactions import Interactions


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
