"""select(): contrast → discretise → gains → null fit → p-values → adjustment → relevant variables."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from interplay.arrays import DecisionClasses, FloatArray, IntArray
from interplay.checks import check_choice, check_int, check_real
from interplay.engines.base import Engine, TupleEngine, get_engine
from interplay.explanations import explain
from interplay.jobs import resolve_n_jobs
from interplay.provenance import data_fingerprint, versions
from interplay.result import Run, Selection
from interplay.search import Discrete, SearchSettings, check_search_settings, search
from interplay.steps.contrast import contrast_table
from interplay.steps.decision import decision_classes
from interplay.steps.lsq_fit import MIN_REFERENCE_VARIABLES
from interplay.steps.null_fit import FITS, fit_null
from interplay.steps.p_values import ADJUST_METHODS, adjust, relevant_mask, significance_order
from interplay.steps.row_subset import RowSubset
from interplay.steps.table import Table, as_table

#: "auto" takes as many contrast variables as there are variables, within these bounds: fewer leave the null fit
#: imprecise (its relative error is about 1/√n), more cost time and gain little.
_AUTO_CONTRAST_BOUNDS = (300, 1000)

#: Correlations between relevant variables are kept for clusters and plots, unless there are very many.
_MAX_CORRELATED = 3000


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
    discrete: Discrete = "auto",
    missing: str = "error",
    random_state: Any = None,
    engine: str | Engine = "auto",
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Selection:
    """Find the variables that carry information about a decision, alone or together with others.

    Parameters
    ----------
    X, y, dimensions, divisions, discretizations, range_, pseudocount, decision, decision_divisions, discrete, missing
        As in `max_information_gain`.
    n_contrast : int or "auto"
        Contrast variables (permuted copies of real ones) that show what gains chance gives. 0: fit the null
        distribution to the variables themselves, most of which must then be irrelevant. "auto": none in 1D with one
        discretisation, where χ² needs no help; else as many as there are variables, from 300 to 1000.
    p_adjust : str
        "holm" (default), "hochberg", "hommel", "bonferroni", "BH", "BY", "none", or statsmodels' names.
    level : float
        Variables whose adjusted p-value is below this are relevant.
    fit : {"auto", "lsq", "mle", "weibull", "tail", "union"}
        How the null distribution is fitted; see `fit_null`.
    multiclass : {"joint", "ovo", "ovr"}
        With more than two classes: one gain about all classes, each pair of classes, or each class against the rest.
        The latter two run several searches; a variable's p-value is then its smallest times their number.
    random_state : int, None, RandomState or Generator
        None draws a seed, which the result records.
    engine, n_jobs, progress
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
    table = as_table(X)
    classes = decision_classes(y, n_samples=table.n_samples, decision=decision, decision_divisions=decision_divisions)
    settings = check_search_settings(
        table,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=range_,
        pseudocount=pseudocount,
        discrete=discrete,
        missing=missing,
        random_state=random_state,
    )
    contrast_number = _check_n_contrast(n_contrast, table.n_vars, settings)
    check_choice("p_adjust", p_adjust, ADJUST_METHODS)
    level = check_real("level", level, low=0.0, high=1.0, low_open=True, high_open=True)
    check_choice("fit", fit, FITS)
    check_choice("multiclass", multiclass, ("joint", "ovo", "ovr"))
    worker = get_engine(engine, n_jobs=resolve_n_jobs(n_jobs))
    # An engine that finds only maxima leaves the few tuples of relevant variables to the processor.
    explainer = worker if isinstance(worker, TupleEngine) else "cpu"

    runs, parts = [], []
    for what, part, part_classes in _decisions(table, classes, multiclass):
        contrast = contrast_table(part, contrast_number, seed=settings.seed) if contrast_number else None
        gains, *alone = search(
            part,
            part_classes,
            settings,
            contrast=contrast,
            contrast_sources=None if contrast is None else contrast.sources,
            alone=settings.dimensions > 1,
            engine=worker,
            n_jobs=n_jobs,
            progress=progress,
        )
        null_fit = fit_null(
            gains.gain,
            dimensions=settings.dimensions,
            divisions=settings.divisions,
            discretizations=settings.discretizations,
            contrast_gain=gains.contrast_gain if contrast_number else None,
            contrast_df=gains.contrast_df if contrast_number else None,
            df=gains.df,
            fit=fit,
            n_classes=part_classes.n_classes,
        )
        parts.append((part, part_classes))
        runs.append(
            Run(
                decision=what,
                class_labels=[str(label) for label in part_classes.labels],
                class_sizes=part_classes.sizes,
                gains=gains,
                gain_alone=(alone[0] if alone else gains).gain,
                contrast_sources=np.empty(0, dtype=np.int64) if contrast is None else contrast.sources,
                null_fit=null_fit,
            )
        )

    log_p = _combined_log_p(runs)
    p_values = np.exp(log_p)
    p_adjusted = adjust(p_values, p_adjust, level=level)
    relevant = relevant_mask(p_adjusted, level=level)
    order = significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0))
    ranked = order[relevant[order]]
    explained = [
        replace(run, explanations=explain(*part, settings, run.gains, ranked, engine=explainer, n_jobs=n_jobs))
        for run, part in zip(runs, parts, strict=True)
    ]
    return Selection(
        names=list(table.names),
        runs=tuple(explained),
        log_p=log_p,
        p_value=p_values,
        p_adjusted=p_adjusted,
        is_relevant=relevant,
        ranked=ranked,
        correlation=_correlation(table, ranked),
        settings={
            "dimensions": settings.dimensions,
            "divisions": settings.divisions,
            "discretizations": settings.discretizations,
            "range_": settings.range_,
            "pseudocount": settings.pseudocount,
            "n_contrast": contrast_number,
            "p_adjust": p_adjust,
            "level": level,
            "fit": runs[0].null_fit.fit,
            "decision": classes.kind,
            "decision_divisions": decision_divisions,
            "multiclass": multiclass,
            "discrete": settings.discrete,
            "missing": missing,
            "random_state": settings.seed,
        },
        provenance={
            "n_samples": table.n_samples,
            "n_vars": table.n_vars,
            "data_fingerprint": data_fingerprint(table, classes),
            "engine": worker.describe(),
            "seconds": round(time.perf_counter() - started, 3),
            "versions": versions(),
        },
    )


def _check_n_contrast(n_contrast: int | str, n_vars: int, settings: SearchSettings) -> int:
    if isinstance(n_contrast, str) and n_contrast == "auto":
        if settings.dimensions == 1 and settings.discretizations == 1:
            return 0
        low, high = _AUTO_CONTRAST_BOUNDS
        return min(max(n_vars, low), high)
    if isinstance(n_contrast, str):
        raise ValueError(f"n_contrast must be 'auto' or a whole number, not {n_contrast!r}")
    number = check_int("n_contrast", n_contrast, low=0)
    if 0 < number < MIN_REFERENCE_VARIABLES:
        raise ValueError(
            f"n_contrast must be 0 or at least {MIN_REFERENCE_VARIABLES}, not {number}: "
            "fewer cannot show what chance gives"
        )
    return number


def _decisions(table: Table, classes: DecisionClasses, multiclass: str) -> Iterator[tuple[str, Table, DecisionClasses]]:
    """Split a decision of several classes into the two-class decisions asked for."""
    if multiclass == "joint" or classes.n_classes == 2:
        yield "all classes", table, classes
    elif multiclass == "ovr":
        for q, label in enumerate(classes.labels):
            one = (classes.codes == q).astype(np.int64)
            yield f"{label} vs rest", table, DecisionClasses(one, ["rest", label], classes.kind)
    else:
        for a, b in combinations(range(classes.n_classes), 2):
            rows = np.flatnonzero((classes.codes == a) | (classes.codes == b))
            labels = [classes.labels[a], classes.labels[b]]
            pair = DecisionClasses((classes.codes[rows] == b).astype(np.int64), labels, classes.kind)
            yield f"{labels[0]} vs {labels[1]}", RowSubset(table, rows), pair


def _combined_log_p(runs: list[Run]) -> FloatArray:
    """Smallest p over the runs, times their number (Holm over the runs); plain p for one run."""
    log_p = np.min([run.null_fit.log_p_values() for run in runs], axis=0) + np.log(len(runs))
    return np.asarray(np.minimum(log_p, 0.0))


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
