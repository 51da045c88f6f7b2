"""A task → the same selection in halves of its samples → Stability."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from interplay.ask.selection.runs import search_selection
from interplay.ask.selection.significance import selection_from
from interplay.ask.selection.task import SelectionTask
from interplay.base.arrays import IntArray
from interplay.base.checks import naming_argument
from interplay.base.progress import Progress, check_progress, part
from interplay.infer.stability import Stability, stability_of
from interplay.search.engines.choice import AsEngine
from interplay.show.results.selection import Selection

#: Samples of a class, or groups, that a half needs.
_FEWEST = 2


def search_halves(task: SelectionTask, *, engine: AsEngine, n_jobs: int | None, progress: Progress) -> Stability:
    """Repeat a selection in halves of the samples; contrast variables and discretisations are drawn anew in each."""
    check_progress(progress)
    n, seed = task.n_subsamples, task.settings.random_state

    def found() -> Iterator[tuple[IntArray, list[tuple[int, ...]]]]:
        for number, rows in enumerate(halves(task, seed)):
            told = part(progress, number / n, 1 / n)
            half = _select(task, rows, seed=(seed + 1 + number) % 2**32, engine=engine, n_jobs=n_jobs, progress=told)
            best = [tuple(half.best_tuple(v).tolist()) for v in half.ranked.tolist()]
            yield half.ranked, [members for members in best if len(members) > 1]

    return stability_of(found(), task.study.table.n_vars, max(task.settings.searched))


def halves(task: SelectionTask, seed: int) -> Iterator[IntArray]:
    """Yield samples of halves, the two of a pair one after the other: equal parts of each class and stratum.

    Samples that belong together stay together: whole groups are divided.
    """
    study, rng = task.study, np.random.RandomState(seed)
    if study.groups is not None:
        unit = np.unique(study.groups.codes, return_inverse=True)[1].reshape(-1)
    else:
        unit = np.arange(study.n_samples)
    first = np.unique(unit, return_index=True)[1]
    like = study.compared.class_codes[first].astype(np.int64)
    if study.strata is not None:
        like = like * study.strata.n_strata + study.strata.codes[first]
    for _ in range(task.n_subsamples // 2):
        order = rng.permutation(len(first))
        order = order[np.argsort(like[order], kind="stable")]
        in_first = np.zeros(len(first), dtype=np.bool_)
        in_first[order[rng.randint(2) :: 2]] = True
        for is_in in (in_first[unit], ~in_first[unit]):
            yield np.flatnonzero(is_in)


def _select(
    task: SelectionTask, rows: IntArray, *, seed: int, engine: AsEngine, n_jobs: int | None, progress: Progress
) -> Selection:
    settings = replace(task.settings, random_state=seed)
    with naming_argument("stability"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # halves have few samples: the whole search has told already
        study = task.study.of_samples(rows)
        half = SelectionTask(study, settings, study.comparisons(settings.multiclass))
        searched = search_selection(half, engine=engine, n_jobs=n_jobs, progress=progress, checkpoint=None)
        return selection_from(searched.runs, names=list(study.table.names), settings=settings, provenance={}, data=None)


def check_halves(task: SelectionTask) -> None:
    """Refuse outcomes whose halves would lack a class."""
    outcome = task.study.compared
    fewest = int(outcome.sizes.min())
    if outcome.labels and fewest < 2 * _FEWEST:
        label = outcome.labels[int(outcome.sizes.argmin())]
        raise ValueError(
            f"stability needs at least {2 * _FEWEST} samples of each class, as halves are searched, and class {label} "
            f"has {fewest}: leave it out, or merge classes"
        )
