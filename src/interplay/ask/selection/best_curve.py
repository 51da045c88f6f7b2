"""A task, repeated in parts of its samples → Stability; what the first n variables of the order explain."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from interplay.ask.selection.best_order import Samples
from interplay.ask.selection.runs import SearchedSelection, search_selection
from interplay.ask.selection.significance import selection_from
from interplay.ask.selection.task import SelectionTask
from interplay.base.arrays import IntArray
from interplay.base.checks import naming_argument
from interplay.base.jobs import one_blas_thread
from interplay.base.progress import Progress, check_progress, part
from interplay.data.study.fingerprint import check_unchanged
from interplay.data.study.study import Study
from interplay.infer.best_curve import BestCurve, curve_of, curve_steps, fold_losses
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
    rng = np.random.RandomState(seed)
    for _ in range(task.n_subsamples // 2):
        of_sample = parts_of_samples(task.study, 2, rng)
        yield from (np.flatnonzero(of_sample == number) for number in range(2))


def parts_of_samples(study: Study, n_parts: int, rng: np.random.RandomState) -> IntArray:
    """Return the part of each sample: equal shares of each class and stratum; groups stay whole."""
    if study.groups is not None:
        unit = np.unique(study.groups.codes, return_inverse=True)[1].reshape(-1)
    else:
        unit = np.arange(study.n_samples)
    first = np.unique(unit, return_index=True)[1]
    like = study.compared.class_codes[first].astype(np.int64)
    if study.strata is not None:
        like = like * study.strata.n_strata + study.strata.codes[first]
    order = rng.permutation(len(first))
    order = order[np.argsort(like[order], kind="stable")]
    of_unit = np.empty(len(first), dtype=np.int64)
    of_unit[order] = (np.arange(len(first)) - rng.randint(n_parts)) % n_parts
    return of_unit[unit]


def _select(
    task: SelectionTask, rows: IntArray, *, seed: int, engine: AsEngine, n_jobs: int | None, progress: Progress
) -> Selection:
    with naming_argument("stability"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # halves have few samples: the whole search has told already
        searched = search_in(task, rows, seed=seed, engine=engine, n_jobs=n_jobs, progress=progress)
        settings, names = searched.task.settings, list(searched.task.study.table.names)
        return selection_from(searched.runs, names=names, settings=settings, provenance={}, data=None)


def search_in(
    task: SelectionTask, rows: IntArray, *, seed: int, engine: AsEngine, n_jobs: int | None, progress: Progress
) -> SearchedSelection:
    """Do the searches of a task in some of its samples."""
    settings = replace(task.settings, random_state=seed)
    study = task.study.of_samples(rows)
    part_of = SelectionTask(study, settings, study.comparisons(settings.multiclass))
    return search_selection(part_of, engine=engine, n_jobs=n_jobs, progress=progress, checkpoint=None)


def check_halves(task: SelectionTask) -> None:
    """Refuse outcomes whose halves would lack a class."""
    check_parts(task, 2 * _FEWEST, "stability", "halves are searched")


def check_parts(task: SelectionTask, n_needed: int, what: str, reason: str) -> None:
    """Refuse outcomes with a class of fewer samples than `what` needs."""
    outcome = task.study.compared
    fewest = int(outcome.sizes.min())
    if outcome.labels and fewest < n_needed:
        label = outcome.labels[int(outcome.sizes.argmin())]
        raise ValueError(
            f"{what} needs at least {n_needed} samples of each class, as {reason}, and class {label} has {fewest}: "
            "leave it out, or merge classes"
        )


#: Parts of the samples, each of which is left out once.
_FOLDS = 5


def make_best_curve(
    task: SelectionTask, *, engine: AsEngine = "auto", n_jobs: int | None = None, progress: Progress = None
) -> BestCurve:
    """Repeat search and order without each part of the samples, and judge the first variables in it."""
    check_progress(progress)
    check_parts(task, 3, "best('auto')", "parts of the samples are left out")
    study, seed = task.study, task.settings.random_state
    check_unchanged(study.table)
    steps = curve_steps(study.table.n_vars)
    n_parts = min(_FOLDS, max(int(study.compared.sizes.min()), 2))
    fold = parts_of_samples(study, n_parts, np.random.RandomState(seed % 2**32))
    samples = Samples(study, np.arange(study.n_samples))
    losses, total = np.empty((len(steps), study.n_samples)), np.empty(study.n_samples)
    for number in range(n_parts):
        is_held = fold == number
        told = part(progress, number / n_parts, 1 / n_parts)
        with naming_argument("best"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # parts have few samples: the whole search has told already
            found = search_in(
                task,
                np.flatnonzero(~is_held),
                seed=(seed + 1 + number) % 2**32,
                engine=engine,
                n_jobs=n_jobs,
                progress=told,
            )
            made = selection_from(
                found.runs,
                names=list(study.table.names),
                settings=found.task.settings,
                provenance=found.record(0.0),
                data=found,
            )
        order = made.best_order
        assert order is not None  # made with its data
        scores, _ = samples.scores_of(order.variable, ~is_held)
        with one_blas_thread():
            losses[:, is_held], total[is_held] = fold_losses(order, scores, samples.targets, is_held, steps.tolist())
    return curve_of(losses, total, steps)
