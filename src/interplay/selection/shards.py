"""A selection in parts, searched by independent jobs, and the parts → a Selection."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import groupby
from typing import Any

import numpy as np

from interplay.base.arrays import DecisionClasses
from interplay.base.checks import shown
from interplay.base.jobs import resolve_n_jobs
from interplay.base.progress import Progress, check_progress
from interplay.codes.coders import Coders
from interplay.engines.choice import AsEngine, check_engine
from interplay.engines.cpu import CpuEngine
from interplay.engines.searcher_counts import summed_counts
from interplay.results.selection import Selection
from interplay.search.checkpoint import AsCheckpoint, as_checkpoint, describe_difference, keeping
from interplay.search.loop import Shard
from interplay.search.plan import least_work
from interplay.search.settings import SelectionSettings
from interplay.selection.call import provenance_of, selection_from, task_of
from interplay.selection.explanation import SearchedData
from interplay.selection.part import Part
from interplay.selection.runs import SearchedRun, search_runs
from interplay.selection.task import with_fitting_dimensions
from interplay.study.column_subset import ColumnSubset
from interplay.study.comparisons import make_comparisons
from interplay.study.fingerprint import data_fingerprint
from interplay.study.groups import Groups
from interplay.study.provenance import now, versions
from interplay.study.strata import Strata
from interplay.study.table import Table, as_table


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
    X : table-like, (n_samples, n_vars)
        The table: one row per sample, one column per variable. A numpy array, a list of rows, a pandas, polars or
        pyarrow table, a scipy sparse matrix, an AnnData, or what `interplay.genetics`, `interplay.singlecell` and
        `interplay.parquet` read from files.
    y : (n_samples,) array-like, or str
        The outcome to explain, which the papers on the method call the *decision*: labels of any kind, or numbers (see
        `decision`). A string names a column of `X`, which is then not a variable, or a column of an AnnData's ``.obs``.
    shard : str or (int, int)
        Which part of the search to do: ``"3/64"`` or ``(3, 64)`` is the third of 64 parts.
    random_state : int, RandomState or Generator
        Seed of all random draws. The same integer gives the same thresholds as in the R package MDFS.

        All shards must be given the same seed, so None is refused.
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

        Each shard needs a checkpoint of its own.
    dimensions : "auto", int or sequence of int
        Number of variables in a tuple: 1 looks at each variable alone, 2 at all pairs, 3 at all triples, and so on.

        Several, such as ``(1, 2, 3)``, are searched in one call and give one p-value. "auto": 1, 2, 3 if there are at
        most 10⁹ triples (1818 variables), and 4 if there are at most 40 variables.
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

        Every shard does all permutations of its part of the tuples.
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
    kept = as_checkpoint(checkpoint)
    task = task_of(X, y, random_state=random_state, **settings)
    check_progress(progress)
    choice = check_engine(engine, n_jobs=n_jobs)  # one that is not there is refused before any work
    coders = Coders(task.settings, n_threads=choice.reading_threads(least_work(task.table, task.settings)))
    task = with_fitting_dimensions(task, coders)
    fingerprint = cache(partial(task.fingerprint, n_threads=coders.n_threads))
    with keeping(kept, lambda: task.about(fingerprint()) | {"shard": str(which)}):
        runs, loops = zip(
            *search_runs(task, coders, choice, progress=progress, checkpoint=kept, shard=which), strict=True
        )
    return Part(
        shard=which,
        names=list(task.table.names),
        about={
            "interplay": versions()["interplay"],
            **task.about(fingerprint()),
            "tiles": [loop.layout for loop in loops],
        },
        settings=task.settings.to_dict(),
        provenance=provenance_of(task, loops, fingerprint=fingerprint(), started=started),
        decision_codes=task.classes.codes,
        strata_codes=np.empty(0, dtype=np.int64) if task.strata is None else task.strata.codes,
        group_codes=np.empty(0, dtype=np.int64) if task.groups is None else task.groups.codes,
        runs=runs,
        covariates=task.covariates,
        survival=task.survival,
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
    if isinstance(parts, Part | str | os.PathLike):
        raise TypeError(f"parts must be a list of parts or their files, not one of them: write [{parts!r}]")
    first: Part | None = None
    name_of: dict[int, str] = {}
    merged: tuple[SearchedRun, ...] = ()
    provenances = []
    for name, part in _read(parts):
        if first is None:
            first, first_name, merged = part, name, part.runs
        else:
            _check_same_search(part, name, first, first_name)
            if part.shard.number in name_of:
                doubled = f"{part.shard} is given twice, as {name_of[part.shard.number]} and as {name}"
                raise ValueError(f"parts: {doubled}: leave one out")
            merged = tuple(_merged(a, b) for a, b in zip(merged, part.runs, strict=True))
        name_of[part.shard.number] = name
        provenances.append(part.provenance)
    if first is None:
        raise ValueError("parts is empty: give at least one part")
    if missing := sorted(set(range(1, first.shard.of + 1)) - set(name_of)):
        verb, them = ("is", "it, or add its file") if len(missing) == 1 else ("are", "them, or add their files")
        raise ValueError(f"parts: {_listed(missing)} of {first.shard.of} {verb} missing: search {them}")
    if X is None and first.survival is not None:
        raise ValueError(
            "X is needed to merge parts of a search with times (--data on the command line): the log-rank test uses it"
        )
    settings = SelectionSettings.of(first.settings)
    return selection_from(
        merged,
        names=first.names,
        settings=settings,
        provenance=first.provenance
        | {
            "date": now(),
            "engine": {
                "name": ", ".join(sorted({entry["engine"]["name"] for entry in provenances})),
                "shards": first.shard.of,
            },
            "searchers": summed_counts(entry["searchers"] for entry in provenances),
            "seconds": round(sum(entry["seconds"] for entry in provenances), 3),
        },
        data=None if X is None else _same_data(X, first, settings, n_threads=resolve_n_jobs(n_jobs)),
    )


def _read(parts: Iterable[Part | str | os.PathLike[str]]) -> Iterator[tuple[str, Part]]:
    """Give one part after the other with what to call it, so that only one is in memory."""
    if not isinstance(parts, Iterable):
        raise TypeError(f"parts must be a list of parts or their files, not {shown(parts)}")
    for part in parts:
        if isinstance(part, Part):
            yield f"part {part.shard}", part
        elif isinstance(part, str | os.PathLike):
            yield repr(os.fspath(part)), Part.load(part)
        else:
            raise TypeError(f"parts must be parts or names of their files, not {shown(part)}")


def _check_same_search(part: Part, name: str, first: Part, first_name: str) -> None:
    if part.shard.of != first.shard.of:
        raise ValueError(f"parts: {name} is {part.shard} and {first_name} is {first.shard}: merge parts of one search")
    decided = [
        each.about | each.settings | {"decisions": [run.decision for run in each.runs]} for each in (first, part)
    ]
    difference = describe_difference(*decided)
    if difference:
        difference = difference.replace(" there", f" in {first_name}").replace(" here", f" in {name}")
        raise ValueError(
            f"parts: {name} is of another search than {first_name} ({difference}): merge parts of one search"
        )


def _merged(a: SearchedRun, b: SearchedRun) -> SearchedRun:
    permuted = None if a.permuted is None or b.permuted is None else np.maximum(a.permuted, b.permuted)
    scores = a.scores if b.scores is None else b.scores
    gains, alone = a.gains.merge(b.gains), a.alone.merge(b.alone)
    return replace(a, gains=gains, alone=alone, permuted=permuted, scores=scores)


def _same_data(X: Any, part: Part, settings: SelectionSettings, *, n_threads: int) -> SearchedData:
    """Return the table that the parts were made from, as their searches saw it."""
    table: Table = as_table(X)
    if set(part.names) < set(table.names):  # y or strata were named, and are no variables
        table = ColumnSubset(table, np.array([table.names.index(name) for name in part.names]))
    classes = DecisionClasses(part.decision_codes, list(range(part.about["n_classes"])))
    codes = part.strata_codes
    strata = Strata(codes, [str(stratum) for stratum in range(codes.max() + 1)]) if len(codes) else None
    groups = Groups(part.group_codes) if len(part.group_codes) else None
    same_shape = (table.n_samples, table.n_vars) == (part.about["n_samples"], part.about["n_vars"])
    hashed = partial(data_fingerprint, table, classes, strata, groups, n_threads=n_threads)
    if not same_shape or hashed() != part.about["data fingerprint"]:
        raise ValueError("X is not the table from which the parts were made: give that table, or leave X out")
    comparisons = make_comparisons(table, classes, strata, settings.multiclass, groups)
    return SearchedData(
        table,
        comparisons,
        Coders(settings, n_threads=n_threads),
        CpuEngine(n_threads=n_threads),
        None,
        covariates=part.covariates,
        survival=part.survival,
    )


def _listed(numbers: Sequence[int]) -> str:
    """Write numbers as ranges.

    Examples
    --------
    >>> _listed([1, 2, 3, 7, 9, 10])
    '1-3, 7, 9-10'
    """
    runs = []
    for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in group]
        runs.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return ", ".join(runs[:20]) + (", …" if len(runs) > 20 else "")
