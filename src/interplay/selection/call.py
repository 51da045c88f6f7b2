"""select(): table → codes → planes → gains → null fit → p-values → selection."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from interplay.base.arguments import described_by
from interplay.base.arrays import FloatArray
from interplay.base.calls import checked
from interplay.base.progress import Progress, check_progress
from interplay.codes.coder import Discrete
from interplay.codes.coders import Coders
from interplay.engines.choice import AsEngine, check_engine
from interplay.engines.searcher_counts import summed_counts
from interplay.results.run import Run, smallest_log_p
from interplay.results.selection import Selection
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint, keeping
from interplay.search.dimensions import Dimensions
from interplay.search.plan import least_work
from interplay.search.settings import SelectionSettings
from interplay.selection.arguments import SELECTION_ARGUMENTS
from interplay.selection.arm_tests import arm_p_values
from interplay.selection.explanation import SearchedData, looked_up, retests
from interplay.selection.runs import SearchedRun, search_runs
from interplay.selection.task import check_selection, with_fitting_dimensions
from interplay.statistics.arm_p_values import ArmPValues, log_p_of_all
from interplay.statistics.null_fit import NullFit, fit_null
from interplay.statistics.p_values import adjust, relevant_mask, significance_order
from interplay.statistics.permutations.permutation_null import permutation_null
from interplay.study.provenance import now, versions


@described_by(SELECTION_ARGUMENTS)
def select(
    X: Any,
    y: Any,
    *,
    dimensions: Dimensions = "auto",
    divisions: int = 1,
    discretizations: int = 1,
    range_: float | None = None,
    pseudocount: float = 0.25,
    n_contrast: int | str = "auto",
    p_adjust: str = "holm",
    level: float = 0.05,
    fit: str = "auto",
    arms: Sequence[str] | None = None,
    decision: str = "auto",
    decision_divisions: int = 1,
    multiclass: str = "joint",
    strata: Any = None,
    groups: Any = None,
    permutations: bool | None = None,
    n_permutations: int = 199,
    covariates: Any = None,
    discrete: Discrete = "auto",
    missing: str = "error",
    random_state: Any = None,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: AsCheckpoint = None,
) -> Selection:
    """Find the variables that are informative about an outcome, alone or together with others.

    Variables are tested alone, given other strong variables, in all pairs and in all triples. Each variable gets one
    p-value over all of these, the way in which it was found, and its partners. With `dimensions` a number, only tuples
    of that size are searched, and the p-value compares the maximum information gain of a variable with those of
    contrast variables (permuted copies).

    Parameters
    ----------
    ...

    Returns
    -------
    Selection
        The result: ``.relevant``, ``.table``, ``.summary()``, ``.plot``, ``.save()`` and more.

    Examples
    --------
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
    >>> result = interplay.select(X, y, random_state=0)
    >>> sorted(result.relevant)
    ['x11', 'x3']
    >>> result.table.loc[3, ["found", "partners"]].to_list()
    ['in pairs', ('x11',)]
    """
    arguments = dict(locals())  # first, while it holds nothing else: see interplay.base.calls
    started = time.perf_counter()
    kept = as_checkpoint(checkpoint)
    if random_state is None and kept is not None:
        arguments["random_state"] = kept.seed
    task = task_of(**arguments)
    check_progress(progress)
    choice = check_engine(engine, n_jobs=n_jobs)  # one that is not there is refused before any work
    coders = Coders(task.settings, n_threads=choice.reading_threads(least_work(task.table, task.settings)))
    task = with_fitting_dimensions(task, coders)
    fingerprint = cache(partial(task.fingerprint, n_threads=coders.n_threads))
    with keeping(kept, lambda like: task.about(fingerprint(like))):
        searched, loops = zip(*search_runs(task, coders, choice, progress=progress, checkpoint=kept), strict=True)
    return selection_from(
        searched,
        names=list(task.table.names),
        settings=task.settings,
        provenance={
            "date": now(),
            "target": task.target,
            "n_samples": task.table.n_samples,
            "samples_left_out": task.table.samples_left_out,
            "n_vars": task.table.n_vars,
            "data_fingerprint": fingerprint(None),
            "strata": task.strata_sizes,
            "groups": task.exchanged,
            **task.study,
            "engine": loops[-1].engine.describe(),  # of several searches, that of the largest
            "searchers": summed_counts(loop.searched for loop in loops),
            "seconds": round(time.perf_counter() - started, 3),
            "versions": versions(),
        },
        data=SearchedData(
            task.table,
            task.comparisons,
            coders,
            loops[-1].engine,
            task.y,
            covariates=task.covariates,
            survival=task.survival,
        ),
    )


#: Checks arguments of `select`, with its defaults for those that are not given.
task_of = partial(checked, select, check_selection)


def selection_from(
    searched: Sequence[SearchedRun],
    *,
    names: list[str],
    settings: SelectionSettings,
    provenance: dict[str, Any],
    data: SearchedData | None,
) -> Selection:
    """Gains → null fit → p-values → adjustment → relevant variables.

    Without the `data`, what `looked_up` adds is left out.
    """
    tests: tuple[ArmPValues, ...] = ()
    if settings.permutations:
        nulls = [permutation_null(run.gains, _permuted(run)) for run in searched]
        runs = [_run(run, null.null_fit) for run, null in zip(searched, nulls, strict=True)]
        log_p = smallest_log_p(runs)
        p_values, p_adjusted = (
            np.minimum(np.min(each, axis=0) * len(nulls), 1.0)
            for each in ([null.p_value for null in nulls], [null.p_adjusted for null in nulls])
        )
        p_adjusted = p_values if settings.p_adjust == "none" else p_adjusted
        order = significance_order(p_adjusted, np.max([null.evidence for null in nulls], axis=0))
    else:
        runs = [_fitted(run, settings) for run in searched]
        if settings.all_dimensions is None:
            log_p = smallest_log_p(runs)
        else:
            tests = arm_p_values(searched, runs, settings)
            log_p = log_p_of_all(tests)
            runs = [run for run in runs if run.dimensions in settings.all_dimensions]
        p_values = np.exp(log_p)
        p_adjusted = adjust(p_values, settings.p_adjust, level=settings.level)
        order = significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0))
    relevant = relevant_mask(p_adjusted, level=settings.level)
    second = [] if data is None else retests(data, runs, settings, order[relevant[order]], p_values)
    for retest in second:
        if retest.kind == "log_rank":  # what follows from censoring alone is no find
            relevant[retest.failed(settings.level)] = False
    # "auto" may choose another one in each comparison of classes; with permutations nothing is fitted
    fits = {settings.fit if run.null_fit.is_permuted else run.null_fit.fit for run in runs}
    found = Selection(
        names=names,
        runs=tuple(runs),
        log_p=log_p,
        p_value=p_values,
        p_adjusted=p_adjusted,
        is_relevant=relevant,
        ranked=order[relevant[order]],
        correlation=np.empty((0, 0)),
        retests=tuple(second),
        settings=settings.to_dict() | {"fit": fits.pop() if len(fits) == 1 and not tests else settings.fit},
        provenance=provenance,
        tests=tests,
    )
    return found if data is None else looked_up(found, data, settings)


def _fitted(run: SearchedRun, settings: SelectionSettings) -> Run:
    gains = run.gains
    inflation = 1.0 if run.inflation is None else run.inflation
    null_fit = fit_null(
        gains.gain / inflation,
        dimensions=gains.dimensions,
        divisions=settings.divisions,
        discretizations=settings.discretizations,
        contrast_gain=gains.contrast_gain / inflation if settings.n_contrast else None,
        contrast_df=gains.contrast_df if settings.n_contrast else None,
        df=gains.df,
        # That of group contrast variables is known to hold once gains are divided; the others are not.
        fit="weibull" if run.inflation is not None and settings.fit == "auto" else settings.fit,
        n_classes=len(run.class_labels),
    )
    null_fit = replace(null_fit, inflation=inflation)
    return _run(run, null_fit if run.exact_log_p is None else null_fit.with_exact_p(run.exact_log_p))


def _run(run: SearchedRun, null_fit: NullFit) -> Run:
    return Run(
        decision=run.decision,
        class_labels=run.class_labels,
        class_sizes=run.class_sizes,
        gains=run.gains,
        gain_alone=run.alone.gain,
        df_alone=run.alone.df,
        contrast_sources=run.contrast_sources,
        null_fit=null_fit,
    )


def _permuted(run: SearchedRun) -> FloatArray:
    assert run.permuted is not None  # where settings ask for permutations
    return run.permuted
