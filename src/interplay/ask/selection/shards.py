"""A selection in parts, searched by independent jobs, and the parts → a Selection."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

import numpy as np

from interplay.ask.answer import check_list_of_parts, parts_of_one_search
from interplay.ask.selection.call import select, task_of
from interplay.ask.selection.part import Part
from interplay.ask.selection.runs import SearchedRun, SearchedSelection, search_selection
from interplay.ask.selection.settings import SELECTION_ARGUMENTS, SelectionSettings
from interplay.ask.selection.significance import selection_from
from interplay.ask.selection.task import SelectionTask
from interplay.base.arguments import ARGUMENTS, described_by
from interplay.base.jobs import resolve_n_jobs
from interplay.base.progress import Progress
from interplay.data.codes.coded import CodedStudy
from interplay.data.study.design import Design, Groups, Strata
from interplay.data.study.study import Study
from interplay.data.study.subsets import ColumnSubset
from interplay.data.study.table import Table, as_table
from interplay.infer.permutations.permutation_null import decided_after
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint
from interplay.search.engines.choice import AsEngine
from interplay.search.engines.cpu import CpuEngine
from interplay.search.loop import Shard
from interplay.show.results.provenance import merged_record, versions
from interplay.show.results.selection import Selection


@described_by(SELECTION_ARGUMENTS | {"random_state": ARGUMENTS["random_state"]}, rest=select)
def search_shard(
    X: Any,
    y: Any,
    *,
    shard: str | tuple[int, int],
    random_state: Any = 0,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: AsCheckpoint = None,
    **settings: Any,
) -> Part:
    """Do one of several equal parts of a selection, for jobs that do not communicate.

    Call it once for each part, for instance in a job array, with the same data and settings and another `shard`, and
    save each part. `merge_parts` then gives exactly the Selection that one call of `select` would have given.

    Parameters
    ----------
    random_state : int, RandomState or Generator
        ...

        All shards must be given the same seed, so None is refused.
    checkpoint
        ...

        Each shard needs a checkpoint of its own.
    permutations
        ...

        Every shard does all permutations of its part of the tuples.
    stability
        ...

        Not with shards.
    ...

    Returns
    -------
    Part
        The maxima over the tuples of this part, with ``.save()``.

    Examples
    --------
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
    >>> parts = [interplay.search_shard(X, y, shard=(i, 3), dimensions=2) for i in (1, 2, 3)]
    >>> sorted(interplay.merge_parts(parts).relevant)
    ['x11', 'x3']
    """
    started = time.perf_counter()
    if random_state is None:
        raise ValueError("random_state must be the same number for all shards, not None")
    which = Shard.parse(shard)
    if settings.get("holdout") is not None:
        raise ValueError("holdout does not go with shards: leave it out, and test the merged result by .replicate()")
    kept = as_checkpoint(checkpoint)
    task = task_of(X, y, random_state=random_state, **settings)
    if task.offsets is not None:
        raise ValueError("shard does not go with an offset for each chromosome: search chromosomes by themselves")
    if task.n_subsamples:
        raise ValueError("stability does not go with shards: repeat the selection in halves without shards")
    found = search_selection(task, engine=engine, n_jobs=n_jobs, progress=progress, checkpoint=kept, shard=which)
    study, checked = task.study, found.task.settings
    about = found.task.about(n_threads=found.coded.n_threads)
    none = np.empty(0, dtype=np.int64)
    return Part(
        shard=which,
        names=list(study.table.names),
        about={"interplay": versions()["interplay"], **about, "tiles": list(found.layouts)},
        settings=checked.to_dict(),
        provenance=found.record(started),
        decision_codes=study.compared.class_codes if study.compared.labels else none,
        strata_codes=none if study.strata is None else study.strata.codes,
        group_codes=none if study.groups is None else study.groups.codes,
        runs=found.runs,
        covariates=study.design.covariates,
        given=None if study.outcome.is_target and study.compared.labels else cast(Any, study.outcome),
        offset=study.design.offset,
    )


def merge_parts(
    parts: Iterable[Part | str | os.PathLike[str]], *, X: Any = None, n_jobs: int | None = None
) -> Selection:
    """Merge the parts of all shards into a Selection.

    Parameters
    ----------
    parts : iterable of Part or path-like
        What `search_shard` returned, or the files it was saved to, in any order. Each shard must be given exactly once,
        and all must be of the same search.
    X : table-like, optional
        The table. With it, the result also holds the correlations and clusters of the relevant variables, the counts in
        the cells of their tuples, and their synergies.
    n_jobs : int, optional
        Number of threads for the synergies: None for one, −1 for all cores.

    Returns
    -------
    Selection
        The same as from one call of `select`; without `X`, it lacks what is listed there.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 30)), rng.integers(0, 2, 100)
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> interplay.search_shard(X, y, shard="1/2").save(folder / "part1")
    >>> interplay.search_shard(X, y, shard="2/2").save(folder / "part2")
    >>> merged = interplay.merge_parts(folder.glob("part*"))
    >>> bool((merged.p_value == interplay.select(X, y, random_state=0).p_value).all())
    True
    >>> interplay.merge_parts([folder / "part2"])
    Traceback (most recent call last):
        ...
    ValueError: parts: 1 of 2 is missing: search it, or add its file
    """
    check_list_of_parts(parts, Part)
    first: Part | None = None
    merged: tuple[SearchedRun, ...] = ()
    provenances = []
    for _, part in parts_of_one_search(parts, Part, Part.load, _about):
        first = first or part
        merged = tuple(_merged(a, b) for a, b in zip(merged, part.runs, strict=True)) if merged else part.runs
        provenances.append(part.provenance)
    assert first is not None
    if X is None and "model" in first.provenance:
        raise ValueError(
            "X is needed to merge parts of a search with covariates, an offset or times, or of ordered classes (--data "
            "on the command line): the full model has the last word"
        )
    settings = SelectionSettings.of(first.settings)
    merged = tuple(_as_far_as_select(run, settings.level) for run in merged)
    return selection_from(
        merged,
        names=first.names,
        settings=settings,
        provenance=merged_record(provenances),
        data=None if X is None else _same_data(X, first, merged, n_threads=resolve_n_jobs(n_jobs)),
    )


def _about(part: Part) -> dict[str, Any]:
    """Return what parts of one search have in common, and the shard."""
    return part.about | part.settings | {"decisions": [run.decision for run in part.runs], "shard": part.shard}


def _merged(a: SearchedRun, b: SearchedRun) -> SearchedRun:
    permuted = None if a.permuted is None or b.permuted is None else np.maximum(a.permuted, b.permuted)
    scores = a.scores if b.scores is None else b.scores
    gains, alone = a.gains.merge(b.gains), a.alone.merge(b.alone)
    return replace(a, gains=gains, alone=alone, permuted=permuted, scores=scores)


def _as_far_as_select(run: SearchedRun, level: float) -> SearchedRun:
    """Leave out the relabelings that `select` does not search, once nothing can be significant: shards do all."""
    if run.permuted is None:
        return run
    return replace(run, permuted=run.permuted[: decided_after(run.gains, run.permuted, run.within, level)])


def _same_data(X: Any, part: Part, runs: tuple[SearchedRun, ...], *, n_threads: int) -> SearchedSelection:
    """Return the data that the parts were made from, as their searches saw them."""
    table: Table = as_table(X)
    if set(part.names) < set(table.names):  # y or strata were named, and are no variables
        table = ColumnSubset(table, np.array([table.names.index(name) for name in part.names]))
    codes, settings = part.strata_codes, SelectionSettings.of(part.settings)
    strata = Strata(codes, [str(stratum) for stratum in range(codes.max() + 1)]) if len(codes) else None
    outcome, compared = part.outcome(strata)
    groups = Groups(part.group_codes) if len(part.group_codes) else None
    design = Design(table.n_samples, strata, groups, part.covariates, part.offset)
    study = Study(table, None, outcome, compared, design)
    same_shape = (table.n_samples, table.n_vars) == (part.about["n_samples"], part.about["n_vars"])
    if not same_shape or study.fingerprint(n_threads=n_threads) != part.about["data fingerprint"]:
        raise ValueError("X is not the table from which the parts were made: give that table, or leave X out")
    task = SelectionTask(study, settings, study.comparisons(settings.multiclass))
    coded = CodedStudy(settings, n_threads=n_threads)
    return SearchedSelection(task, coded, runs, CpuEngine(n_threads=n_threads))
