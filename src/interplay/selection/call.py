"""select(): table → codes → planes → gains → null fit → p-values → selection."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from inspect import signature
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray
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
from interplay.selection.arm_tests import arm_p_values
from interplay.selection.explanation import SearchedData, looked_up, retests
from interplay.selection.runs import SearchedRun, search_runs
from interplay.selection.task import SelectionTask, check_selection, with_fitting_dimensions
from interplay.statistics.arm_p_values import ArmPValues, log_p_of_all
from interplay.statistics.null_fit import NullFit, fit_null
from interplay.statistics.p_values import adjust, relevant_mask, significance_order
from interplay.statistics.permutations.permutation_null import permutation_null
from interplay.study.provenance import now, versions


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
    X : table-like, (n_samples, n_vars)
        The table: one row per sample, one column per variable. A numpy array, a list of rows, a pandas, polars or
        pyarrow table, a scipy sparse matrix, an AnnData, or what `interplay.genetics`, `interplay.singlecell` and
        `interplay.parquet` read from files.
    y : (n_samples,) array-like, or str
        The outcome to explain, which the papers on the method call the *decision*: labels of any kind, or numbers (see
        `decision`). A string names a column of `X`, which is then not a variable, or a column of an AnnData's ``.obs``.

        Times that may be censored are given as ``(time, event)``, two arrays or names, or as a structured array like
        scikit-survival's. Their martingale residuals are cut by rank, and variables that are found must pass a log-rank
        test.
    dimensions : "auto", int or sequence of int
        Number of variables in a tuple: 1 looks at each variable alone, 2 at all pairs, 3 at all triples, and so on.

        Several, such as ``(1, 2, 3)``, are searched in one call and give one p-value. "auto": 1, 2, 3 if there are at
        most 10⁹ triples (1818 variables), and 4 if there are at most 40 variables, unless columns of many
        labels give tuples of more than 65,536 cells; with groups or permutations, whose p-values are those of one size
        of tuples, 2.
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
        A variable is relevant if its adjusted p-value is below this significance level.
    fit : {"auto", "lsq", "mle", "weibull", "tail", "predictive", "union"}
        How the null distribution is fitted; `fit_null` describes the choices. In 1D nothing is fitted with "auto" or
        "union", or with one discretisation: p-values come from a conditional test of the counts, which is exact where
        these are small.
    arms : sequence of str, optional
        With several dimensions, the arms whose p-values are combined: "alone" and "given" (given other variables that
        are strong by themselves) in 1D, "pairs" in 2D, "triples" in 3D, "quadruples" in 4D. By default all of them.
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
        Groups of samples, such as batch, sex or population, within which the outcome is analysed. The stratum is one
        more member of every tuple: a gain is the information of a variable about the outcome beyond the other members
        and beyond the stratum. With several columns, each combination of values is a stratum. A string names a column,
        as for `y`.

        Contrast variables are permuted within strata.
    groups : (n_samples,) array-like, table-like, or str, optional
        Samples that belong together and are not independent of each other: the donor of each cell, the family or
        patient of each sample. p-values then come from permutations of the labels of whole groups, where each group has
        one class; where classes vary within groups, labels are permuted between groups of the same size and within
        groups. A string names a column, as for `y`.
    permutations : bool, optional
        Whether p-values come from permutations of the outcome instead of contrast variables: Westfall and Young's
        step-down maxT, which adjusts p-values for all variables without fitting anything. By default with `groups`
        only, unless `n_permutations` times the number of tuples exceeds 1e12: then, and with False, whole groups are
        permuted in the contrast variables, and gains are divided by their inflation.
    n_permutations : int
        Number of permutations. If fewer are possible, each is done once. No p-value is below
        ``1 / (n_permutations + 1)``.
    covariates : table-like, (n_samples,) array-like, str or list of str, optional
        Covariates of each sample (age, sex, principal components), as values or as names of columns, which are then not
        variables. The search does not use them: what it finds is tested again by the likelihood ratio of logistic
        models with covariates. The columns ``p_covariates`` and ``holds_with_covariates`` of the table give the result.

        Relevant variables are tested, each in its best tuple, by models with and without the variable.
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
    >>> result = interplay.select(X, y, random_state=0)
    >>> sorted(result.relevant)
    ['x11', 'x3']
    >>> result.table.loc[3, ["found", "partners"]].to_list()
    ['in pairs', ('x11',)]
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
        arms=arms,
        decision=decision,
        decision_divisions=decision_divisions,
        multiclass=multiclass,
        strata=strata,
        groups=groups,
        permutations=permutations,
        n_permutations=n_permutations,
        covariates=covariates,
        discrete=discrete,
        missing=missing,
        random_state=kept.seed if random_state is None and kept is not None else random_state,
    )
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
            **({} if coders.n_cut is None else {"n_cut": coders.n_cut}),
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
