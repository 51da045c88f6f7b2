"""A task → what the first n variables explain, by cross-fitting: search and order repeated in parts of the samples."""

from __future__ import annotations

import warnings

import numpy as np

from interplay.ask.selection.best_order import Samples
from interplay.ask.selection.significance import selection_from
from interplay.ask.selection.stability import check_parts, parts_of_samples, search_in
from interplay.ask.selection.task import SelectionTask
from interplay.base.checks import naming_argument
from interplay.base.jobs import one_blas_thread
from interplay.base.progress import Progress, check_progress, part
from interplay.data.study.fingerprint import check_unchanged
from interplay.infer.best_curve import BestCurve, curve_of, curve_steps, fold_losses
from interplay.search.engines.choice import AsEngine

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
