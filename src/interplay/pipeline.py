"""select(): contrast → discretise → gains → null fit → p-values → adjustment → relevant variables."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from interplay.arrays import DecisionClasses, FloatArray, IntArray
from interplay.engines.base import AsEngine, TupleEngine, get_engine
from interplay.jobs import resolve_n_jobs
from interplay.progress import Progress
from interplay.results.selection import Run, Selection
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint
from interplay.search.provenance import versions
from interplay.search.settings import Discrete, SearchSettings
from interplay.selection_task import SearchedRun, check_selection, decisions_of, search_runs
from interplay.statistics.null_fit import fit_null
from interplay.statistics.p_values import adjust, relevant_mask, significance_order
from interplay.steps.named_columns import warn_of_decision_in_table
from interplay.steps.table import Table
from interplay.steps.tuple_counts import TupleCounter, TupleCounts
from interplay.tuples.explanations import explain

#: Correlations between relevant variables are kept for clusters and plots, unless there are very many.
_MAX_CORRELATED = 3000

#: Cells and classes of the best tuples are kept, to be looked at, for as many relevant variables.
_MAX_COUNTED = 300

#: So many of the most significant variables are compared with the decision, value by value.
_MAX_COMPARED_WITH_DECISION = 20


def select(
    X: Any,
    y: Any,
    *,
    dimensions: int = 2,
    divisions: int = 1,
    discretizations: int = 1,
    range_: float | None = None,
    pseudocount: float = 0.25,
    n_contrast: int | str = "auto",
    p_adjust: str = "holm",
    level: float = 0.05,
    fit: str = "auto",
    decision: str = "auto",
    decision_divisions: int = 1,
    multiclass: str = "joint",
    strata: Any = None,
    discrete: Discrete = "auto",
    missing: str = "error",
    random_state: Any = None,
    engine: AsEngine = "auto",
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: AsCheckpoint = None,
) -> Selection:
    """Find the variables that carry information about a decision, alone or together with others.

    Parameters
    ----------
    X, y, dimensions, divisions, discretizations, range_, pseudocount, decision, decision_divisions, discrete, missing
        As in `max_information_gain`.
    n_contrast : int or "auto"
        Contrast variables (permuted copies of real ones) that show what gains chance gives. 0: fit the null
        distribution to the variables themselves, most of which must then be irrelevant. "auto": none in 1D with one
        discretisation, whose p-values come from an exact test; else as many as there are variables, from 300 to 1000.
    p_adjust : str
        "holm" (default), "hochberg", "hommel", "bonferroni", "BH", "BY", "none", or statsmodels' names.
    level : float
        Variables whose adjusted p-value is below this are relevant.
    fit : {"auto", "lsq", "mle", "weibull", "tail", "union"}
        How the null distribution is fitted; see `fit_null`. In 1D with "auto" or "union", and with one discretisation
        always, nothing is: p-values come from a conditional test of the counts, which is exact where these are small.
    multiclass : {"joint", "ovo", "ovr"}
        With more than two classes: one gain about all classes, each pair of classes, or each class against the rest.
        The latter two run several searches; a variable's p-value is then its smallest times their number.
    strata : (n_samples,) array-like, table-like, or str, optional
        Groups of samples (batch, sex, population) within which the decision is to be explained: what follows from the
        group alone then counts for no variable. As in `max_information_gain`; contrast variables are permuted within
        strata.
    random_state : int, None, RandomState or Generator
        None draws a seed, which the result records.
    engine, n_jobs, progress, checkpoint
        As in `max_information_gain`.

    Returns
    -------
    Selection
        ``.relevant``, ``.table``, ``.summary()``, ``.plot``, ``.save()`` and more.

    Examples
    --------
    >>> import numpy as np
    >>> import interplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 11] > 0)
    >>> result = interplay.select(X, y, dimensions=2, random_state=0)
    >>> sorted(result.relevant)
    ['x11', 'x3']
    >>> result.table.loc[3, "partners"]
    ('x11',)
    """
    started = time.perf_counter()
    kept = as_checkpoint(checkpoint)
    task = check_selection(
        X,
        y,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=range_,
        pseudocount=pseudocount,
        n_contrast=n_contrast,
        p_adjust=p_adjust,
        level=level,
        fit=fit,
        decision=decision,
        decision_divisions=decision_divisions,
        multiclass=multiclass,
        strata=strata,
        discrete=discrete,
        missing=missing,
        random_state=kept.seed if random_state is None and kept is not None else random_state,
    )
    get_engine(engine, n_jobs=resolve_n_jobs(n_jobs))  # one that is not there is refused before any work
    if kept is not None:
        kept.begin(task.about)
    searched, loops = zip(
        *search_runs(task, engine=engine, n_jobs=n_jobs, progress=progress, checkpoint=kept), strict=True
    )
    if kept is not None:
        kept.finish()
    found = selection_from(
        searched,
        names=list(task.table.names),
        settings=task.settings,
        provenance={
            "n_samples": task.table.n_samples,
            "n_vars": task.table.n_vars,
            "data_fingerprint": task.fingerprint,
            "strata": task.strata_sizes,
            "engine": loops[0].engine.describe(),
            "seconds": round(time.perf_counter() - started, 3),
            "versions": versions(),
        },
        data=(task.table, task.classes),
    )
    warn_of_decision_in_table(task.table, task.y, found.ranked[:_MAX_COMPARED_WITH_DECISION])
    if task.strata is not None:  # gains within strata are not listed
        return found
    return explained(found, task.table, task.classes, task.search, engine=loops[0].engine, n_jobs=n_jobs)


def selection_from(
    searched: Sequence[SearchedRun],
    *,
    names: list[str],
    settings: dict[str, Any],
    provenance: dict[str, Any],
    data: tuple[Table, DecisionClasses] | None,
) -> Selection:
    """Gains → null fit → p-values → adjustment → relevant variables.

    Without the `data`, correlations between relevant variables and counts of their tuples are left out; the tuples that
    explain them are added by `explained`.
    """
    runs = [_fitted(run, settings) for run in searched]
    log_p = _combined_log_p(runs)
    p_values = np.exp(log_p)
    p_adjusted = adjust(p_values, settings["p_adjust"], level=settings["level"])
    relevant = relevant_mask(p_adjusted, level=settings["level"])
    order = significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0))
    ranked = order[relevant[order]]
    counted = () if data is None else _tuple_counts(*data, runs, ranked[:_MAX_COUNTED], settings)
    fits = {run.null_fit.fit for run in runs}  # "auto" may choose another one in each comparison of classes
    return Selection(
        names=names,
        runs=tuple(runs),
        log_p=log_p,
        p_value=p_values,
        p_adjusted=p_adjusted,
        is_relevant=relevant,
        ranked=ranked,
        correlation=np.empty((0, 0)) if data is None else _correlation(data[0], ranked),
        tuple_counts=counted,
        settings=settings | {"fit": fits.pop() if len(fits) == 1 else settings["fit"]},
        provenance=provenance,
    )


def explained(
    found: Selection,
    table: Table,
    classes: DecisionClasses,
    search: SearchSettings,
    *,
    engine: AsEngine = "cpu",
    n_jobs: int | None = None,
) -> Selection:
    """Add to each run the tuples that explain the relevant variables."""
    # An engine that finds only maxima leaves the few tuples of relevant variables to the processor.
    explainer = engine if isinstance(engine, TupleEngine) else "cpu"
    decisions = decisions_of(table, classes, None, found.settings["multiclass"])
    runs = tuple(
        replace(
            run,
            explanations=explain(part, part_classes, search, run.gains, found.ranked, engine=explainer, n_jobs=n_jobs),
        )
        for run, (_, part, part_classes, _) in zip(found.runs, decisions, strict=True)
    )
    return replace(found, runs=runs)


def _fitted(run: SearchedRun, settings: dict[str, Any]) -> Run:
    gains = run.gains
    null_fit = fit_null(
        gains.gain,
        dimensions=settings["dimensions"],
        divisions=settings["divisions"],
        discretizations=settings["discretizations"],
        contrast_gain=gains.contrast_gain if settings["n_contrast"] else None,
        contrast_df=gains.contrast_df if settings["n_contrast"] else None,
        df=gains.df,
        fit=settings["fit"],
        n_classes=len(run.class_labels),
    )
    return Run(
        decision=run.decision,
        class_labels=run.class_labels,
        class_sizes=run.class_sizes,
        gains=gains,
        gain_alone=run.alone.gain,
        contrast_sources=run.contrast_sources,
        null_fit=null_fit if run.exact_log_p is None else null_fit.with_exact_p(run.exact_log_p),
    )


def _combined_log_p(runs: list[Run]) -> FloatArray:
    """Smallest p over the runs, times their number (Holm over the runs); plain p for one run."""
    log_p = np.min([run.null_fit.log_p_values() for run in runs], axis=0) + np.log(len(runs))
    return np.asarray(np.minimum(log_p, 0.0))


def _tuple_counts(
    table: Table, classes: DecisionClasses, runs: list[Run], variables: IntArray, settings: dict[str, Any]
) -> tuple[TupleCounts, ...]:
    """Count the best tuples of some variables, each in the run of its smallest p-value."""
    best_run = np.argmin([run.null_fit.log_p_values() for run in runs], axis=0)
    coding = {name: settings[name] for name in ("divisions", "discretizations", "range_", "missing")}
    coding["seed"] = settings["random_state"]
    decisions = decisions_of(table, classes, None, settings["multiclass"])
    counted = []
    for number, (run, (_, part, part_classes, _)) in enumerate(zip(runs, decisions, strict=True)):
        counter = TupleCounter(part, part_classes, discrete=settings["discrete"], settings=coding)
        found = variables[best_run[variables] == number]
        # Members of a tuple often have it in common: it is kept once.
        rows = np.column_stack([run.gains.discretization[found], run.gains.tuples[found]])
        for discretization, *members in np.unique(rows, axis=0).tolist():
            counts = counter.count(np.array(members), run=number, discretization=discretization)
            if counts is not None:
                counted.append(counts)
    return tuple(counted)


def _correlation(table: Table, ranked: IntArray) -> FloatArray:
    """Pearson correlations between the relevant variables, in their order of significance."""
    if len(ranked) == 0 or len(ranked) > _MAX_CORRELATED:
        return np.empty((0, 0))
    columns = table.columns(ranked).astype(np.float64)
    observed = np.isfinite(columns)
    # Missing and infinite values count as their column's mean: they then say nothing either way.
    counts = np.maximum(observed.sum(axis=1, keepdims=True), 1)
    means = np.where(observed, columns, 0).sum(axis=1, keepdims=True) / counts
    centred = np.where(observed, columns - means, 0)
    norms = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    scaled = np.divide(centred, norms, out=np.zeros_like(centred), where=norms > 0)
    return np.asarray(np.clip(scaled @ scaled.T, -1.0, 1.0))
