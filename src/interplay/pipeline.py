"""select(): table → codes → planes → gains → null fit → p-values → selection."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from interplay.arrays import FloatArray, IntArray
from interplay.engines.base import Engine
from interplay.engines.choice import AsEngine, check_engine
from interplay.engines.searcher_counts import summed_counts
from interplay.progress import Progress, check_progress
from interplay.results.selection import Run, Selection
from interplay.results.tested_tuples import TestedTuples
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint, keeping
from interplay.search.coders import Coders
from interplay.search.provenance import versions
from interplay.search.runs import SearchedRun, SelectionTask, check_selection, search_runs
from interplay.search.selected_tuple_tests import adjusted_tests, make_selected_tests
from interplay.search.settings import Discrete, SelectionSettings
from interplay.statistics.null_fit import fit_null
from interplay.statistics.p_values import adjust, relevant_mask, significance_order
from interplay.steps.comparisons import Comparison
from interplay.steps.frozen_cuts import OutcomeCuts, outcome_cuts, variable_cuts
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
    """Find the variables that are informative about an outcome, alone or together with others.

    Every `dimensions`-tuple of variables is searched. Each variable gets its maximum information gain, the other
    members of the tuple in which it has that gain, and a p-value, which compares the gain with those of contrast
    variables (permuted copies).

    Parameters
    ----------
    X : table-like, (n_samples, n_vars)
        The table: one row per sample, one column per variable. A numpy array, a list of rows, a pandas, polars or
        pyarrow table, a scipy sparse matrix, an AnnData, or what `interplay.genetics`, `interplay.singlecell` and
        `interplay.parquet` read from files.
    y : (n_samples,) array-like, or str
        The outcome to explain, which the papers on the method call the *decision*: labels of any kind, or numbers (see
        `decision`). A string names a column of `X`, which is then not a variable, or a column of an AnnData's ``.obs``.
    dimensions : int
        Number of variables in a tuple: 1 looks at each variable alone, 2 at all pairs, 3 at all triples, and so on.
    divisions : int
        Number of thresholds at which each numeric variable is cut, which gives ``divisions + 1`` levels.
    discretizations : int
        Number of random sets of thresholds to try. The gain of a variable is its maximum over all of them.
    range_ : float, optional
        How much the thresholds vary between discretisations, from 0 (levels of equal size, nothing random) to 1. By
        default 0 with one discretisation, and `suggest_range` with several.
    pseudocount : float
        Added to the count of the rarest class in each cell of a tuple's table, and in proportion to the class sizes for
        the other classes.
    n_contrast : int or "auto"
        Number of contrast variables: permuted copies of real variables, whose gains show the chance level. With 0, the
        null distribution is fitted to the variables themselves, most of which must then be irrelevant. "auto": none in
        1D with one discretisation, where p-values come from an exact test; otherwise as many as there are variables,
        but at least 300 and at most 1000.
    p_adjust : str
        How p-values are adjusted for the number of variables: "holm" (default), "hochberg", "hommel", "bonferroni",
        "BH", "BY", "none", or a name that statsmodels uses.
    level : float
        A variable is relevant if its adjusted p-value is below this level.
    fit : {"auto", "lsq", "mle", "weibull", "tail", "union"}
        How the null distribution is fitted; `fit_null` describes the choices. In 1D nothing is fitted with "auto" or
        "union", or with one discretisation: p-values come from a conditional test of the counts, which is exact where
        these are small.
    decision : {"auto", "classes", "continuous"}
        Whether the values of `y` are classes or a continuous outcome, which is cut by rank into ``decision_divisions +
        1`` classes. "auto": numbers with fractional parts, and whole numbers with more than 20 distinct values, are
        continuous, unless there are only two distinct values.
    decision_divisions : int
        Number of thresholds at which a continuous outcome is cut. Classes are left as they are.
    multiclass : {"joint", "ovo", "ovr"}
        With more than two classes: one gain about all classes ("joint"), one search for each pair of classes ("ovo"),
        or one search for each class against the rest ("ovr"). With several searches, the p-value of a variable is its
        smallest one times their number.
    strata : (n_samples,) array-like, table-like, or str, optional
        Groups of samples, such as batch, sex or population, within which the outcome is to be explained. The stratum is
        one more member of every tuple: a gain is what a variable tells about the outcome beyond the other members and
        beyond the stratum. With several columns, each combination of values is a stratum. A string names a column, as
        for `y`.

        Contrast variables are permuted within strata.
    discrete : {"auto", "none", "all"} or list of columns
        Columns whose values are used as levels instead of being cut by rank. "auto": bool, categorical and text
        columns, and numeric columns with at most max(3, ``divisions + 1``) distinct values.
    missing : {"error", "level", "impute"}
        Missing values are refused ("error"), become a level of their own ("level"), or are drawn at random from the
        observed values of the column ("impute").
    random_state : int, None, RandomState or Generator
        Seed of all random draws. The same integer gives the same thresholds as in the R package MDFS.

        None draws a new seed, which the result records.
    engine : {"auto", "cpu", "cuda", "dask"}, Engine or distributed.Client
        Where to compute. All engines give exactly the same numbers. "auto" uses a GPU if there is one and the search is
        long enough to profit from it.

        "dask" uses the current Dask client.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None for one, −1 for all cores.
    progress : bool or callable, optional
        Whether to show progress. By default a bar is shown on a terminal if the search takes a while. A function is
        called with the share that is done, from 0 to 1.
    checkpoint : path-like or Checkpoint, optional
        File that keeps the state of the search. It is written at least once a minute and on Ctrl-C. The same call
        resumes from it, also after a crash, and also with another engine or number of threads. A checkpoint of another
        search is refused. The file stays when the search is done, and the same call then returns at once.

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
    check_progress(progress)
    choice = check_engine(engine, n_jobs=n_jobs)  # one that is not there is refused before any work
    coders = Coders(task.settings, n_threads=choice.n_threads)
    with keeping(kept, lambda: task.about):
        searched, loops = zip(*search_runs(task, coders, choice, progress=progress, checkpoint=kept), strict=True)
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
            "searchers": summed_counts(loop.searched for loop in loops),
            "seconds": round(time.perf_counter() - started, 3),
            "versions": versions(),
        },
        data=SearchedData(task.table, task.comparisons, coders, loops[0].engine, task.y),
    )
    warn_of_decision_in_table(task.table, task.y, found.ranked[:_MAX_COMPARED_WITH_DECISION])
    return found


_DEFAULTS = {
    name: argument.default for name, argument in signature(select).parameters.items() if name not in ("X", "y")
}

#: Arguments of `select` that do not decide its result.
_HOW = ("engine", "n_jobs", "progress", "checkpoint")


def task_of(X: Any, y: Any, **arguments: Any) -> SelectionTask:
    """Check arguments of `select`, with its defaults for those that are not given: for what does a part of its work."""
    for name in arguments:
        if name not in _DEFAULTS:
            raise TypeError(f"select() got an unexpected keyword argument {name!r}: it has {', '.join(_DEFAULTS)}")
    given = _DEFAULTS | arguments
    return check_selection(X, y, **{name: value for name, value in given.items() if name not in _HOW})


@dataclass(frozen=True, eq=False)
class SearchedData:
    """What a selection was made from, to look up more about its relevant variables.

    Attributes
    ----------
    table : Table
    comparisons : tuple of Comparison
        Those of the runs.
    coders : Coders
    engine : Engine
        That of the search.
    y : object
        The outcome as it was given; None where only its classes are known.
    """

    table: Table
    comparisons: tuple[Comparison, ...]
    coders: Coders
    engine: Engine
    y: Any


def selection_from(
    searched: Sequence[SearchedRun],
    *,
    names: list[str],
    settings: SelectionSettings,
    provenance: dict[str, Any],
    data: SearchedData | None,
) -> Selection:
    """Gains → null fit → p-values → adjustment → relevant variables.

    Without the `data`, correlations between relevant variables, counts and tests of their tuples and the tuples that
    explain them are left out.
    """
    runs = [_fitted(run, settings) for run in searched]
    log_p = _combined_log_p(runs)
    p_values = np.exp(log_p)
    p_adjusted = adjust(p_values, settings.p_adjust, level=settings.level)
    relevant = relevant_mask(p_adjusted, level=settings.level)
    order = significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0))
    ranked = order[relevant[order]]
    runs, counted = (runs, []) if data is None else _looked_up(data, runs, settings, ranked)
    fits = {run.null_fit.fit for run in runs}  # "auto" may choose another one in each comparison of classes
    return Selection(
        names=names,
        runs=tuple(runs),
        log_p=log_p,
        p_value=p_values,
        p_adjusted=p_adjusted,
        is_relevant=relevant,
        ranked=ranked,
        correlation=np.empty((0, 0)) if data is None else _correlation(data.table, ranked),
        tuple_counts=tuple(counted),
        settings=settings.to_dict() | {"fit": fits.pop() if len(fits) == 1 else settings.fit},
        provenance=provenance,
    )


def _fitted(run: SearchedRun, settings: SelectionSettings) -> Run:
    gains = run.gains
    null_fit = fit_null(
        gains.gain,
        dimensions=settings.dimensions,
        divisions=settings.divisions,
        discretizations=settings.discretizations,
        contrast_gain=gains.contrast_gain if settings.n_contrast else None,
        contrast_df=gains.contrast_df if settings.n_contrast else None,
        df=gains.df,
        fit=settings.fit,
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


def _looked_up(
    data: SearchedData, runs: list[Run], settings: SelectionSettings, ranked: IntArray
) -> tuple[list[Run], list[TupleCounts]]:
    """Add to each run the tuples that explain the relevant variables, test them, and count the best of each variable.

    One run after the other, so that the coder of its table serves both: explanations hold the best tuples.
    """
    explained: list[Run] = []
    counted: list[TupleCounts] = []
    variables = ranked[:_MAX_COUNTED]
    best_run = np.argmin([run.null_fit.log_p_values() for run in runs], axis=0)  # of a variable: its smallest p-value
    for number, (run, comparison) in enumerate(zip(runs, data.comparisons, strict=True)):
        explanations = None
        if comparison.strata is None:  # gains within strata are not listed
            explanations = explain(comparison, settings, data.coders, run.gains, ranked, engine=data.engine)
        shown = run.gains.tuples[ranked] if explanations is None else explanations.tuples
        tested = make_selected_tests(comparison, settings, data.coders, shown, n_comparisons=len(runs))
        cuts = _cuts(data, comparison, run, tested, n_runs=len(runs), kind=settings.decision)
        explained.append(replace(run, explanations=explanations, tested=tested, **cuts))
        found = variables[best_run[variables] == number]
        counted += _tuple_counts(data.coders, comparison, run, found, number=number)
    adjusted = adjusted_tests([run.tested for run in explained], settings, data.table.n_vars)
    return [replace(run, tested=tests) for run, tests in zip(explained, adjusted, strict=True)], counted


def _cuts(
    data: SearchedData, comparison: Comparison, run: Run, tested: tuple[TestedTuples, ...], *, n_runs: int, kind: str
) -> dict[str, Any]:
    """Return how the members of tested tuples and the outcome were cut, to cut new samples alike."""
    if not tested:
        return {}
    variables = np.unique(tested[-1].tuples)
    cuts: dict[str, Any] = {}
    if len(variables):  # else the table need not be looked at once more
        coder = data.coders.of(comparison.table, variables)
        cuts["cuts"] = tuple(variable_cuts(coder, v) for v in variables.tolist())
    if data.y is not None and n_runs == 1:
        return cuts | {"outcome": outcome_cuts(data.y, comparison.classes)}
    # Of a continuous outcome only the classes are at hand, not where it was cut.
    return cuts | {"outcome": OutcomeCuts(run.class_labels, np.empty(0)) if kind == "classes" else None}


def _tuple_counts(
    coders: Coders, comparison: Comparison, run: Run, variables: IntArray, *, number: int
) -> Iterator[TupleCounts]:
    """Count the best tuples of some variables in the run of that number."""
    if not len(variables):
        return
    tuples = run.gains.tuples[variables]
    counter = TupleCounter(coders.of(comparison.table, tuples.reshape(-1)), comparison.classes)
    # Members of a tuple often have it in common: it is kept once.
    rows = np.column_stack([run.gains.discretization[variables], tuples])
    for discretization, *members in np.unique(rows, axis=0).tolist():
        counts = counter.count(np.array(members), run=number, discretization=discretization)
        if counts is not None:
            yield counts


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
