"""select(): arguments → study → searches → null fits → p-values → Selection."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from interplay.ask.answer import How, Question, answer
from interplay.ask.selection.best_curve import check_halves, make_best_curve, search_halves
from interplay.ask.selection.by_chromosome import select_by_chromosome
from interplay.ask.selection.runs import search_selection
from interplay.ask.selection.settings import SELECTION_ARGUMENTS, Dimensions
from interplay.ask.selection.significance import selection_from
from interplay.ask.selection.task import SelectionTask, check_selection, with_holdout
from interplay.base.arguments import checked, described_by
from interplay.base.progress import Progress, part
from interplay.data.codes.coded import SharedCodes
from interplay.data.codes.coder import Discrete
from interplay.search.checkpoint import AsCheckpoint, handing_over
from interplay.search.engines.choice import AsEngine
from interplay.show.results.selection import Selection

#: The share of the progress that is the search's; the rest is that of statistics.
SHARE_OF_SEARCH = 0.9


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
    decision_divisions: int | None = None,
    scale: str = "ranks",
    multiclass: str = "joint",
    strata: Any = None,
    groups: Any = None,
    order: Any = None,
    permutations: bool | None = None,
    n_permutations: int = 199,
    covariates: Any = None,
    offset: Any = None,
    entry: Any = None,
    stability: int | None = None,
    discrete: Discrete = "auto",
    missing: str = "auto",
    redundancy: float = 0.8,
    reference: Any = None,
    holdout: float | int | None = None,
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
    y
        ...

        A dataframe of several columns, or a list of names of columns: several outcomes, each searched in the samples in
        which it is known. The result is then `Traits`.
    offset : (n_samples,) array-like, str or DataFrame, optional
        ...

        With ``dimensions=1`` and a file of genotypes, also a table of predictions that leave out one chromosome each
        (`interplay.genetics.read_loco`, `polygenic_offsets`): a variant is tested beside that without its chromosome.
    ...

    Returns
    -------
    Selection
        The result: ``.relevant``, ``.table``, ``.summary()``, ``.plot``, ``.save()`` and more. Of several outcomes
        `Traits`, a mapping from the name of each to its Selection.

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
    arguments = dict(locals())  # first, while it holds nothing else: see interplay.base.arguments
    return answer(SELECTION, arguments)


def _search(task: SelectionTask, how: How, shared: SharedCodes | None) -> Selection:
    """Search in the samples of a task, and in halves of these where that is asked for."""
    started = time.perf_counter()
    kept = how["checkpoint"]
    plain = {name: how[name] for name in ("engine", "n_jobs", "progress")}
    if task.n_subsamples:
        check_halves(task)
    of_search = {"progress": part(how["progress"], 0.0, SHARE_OF_SEARCH)}
    found = search_selection(task, **plain | of_search, checkpoint=kept, shared=shared)
    with handing_over(lambda: found.runs[-1].gains, checkpoint=kept):
        result = selection_from(
            found.runs,
            names=list(task.study.table.names),
            settings=found.task.settings,
            provenance=found.record(started),
            data=found,
            checkpoint=kept,
            progress=part(how["progress"], SHARE_OF_SEARCH, 1 - SHARE_OF_SEARCH),
        )
    if task.n_subsamples:
        with handing_over(lambda: result, checkpoint=kept):
            of_halves = search_halves(found.task, **plain)
        result = replace(result, stability=of_halves, settings=result.settings | {"stability": task.n_subsamples})
    return replace(result, again=partial(make_best_curve, task, **plain))


#: Checks arguments of `select`; an argument that is not given has the default of `select`.
task_of = partial(checked, select, check_selection)

#: Which variables carry information?
SELECTION = Question(task_of, _search, select_by_chromosome, with_holdout)


#: Results of the last searches by `select_once`, the latest last, and how many variables they may have in all.
_KEPT: OrderedDict[tuple[str, ...], Selection] = OrderedDict()
_MAX_KEPT = 1 << 21


def select_once(
    *,
    random_state: Any,
    engine: AsEngine,
    n_jobs: int | None,
    progress: Progress,
    with_curve: bool = False,
    **arguments: Any,
) -> Selection:
    """Return what `select` does, from memory where the last calls had the same data and settings.

    Without a seed the result of such a call is taken as well, whatever seed was drawn there. The result does not hold
    the samples, but it has the curve of the best variables where that is asked for.
    """
    task = task_of(**arguments, random_state=random_state)
    how = {"engine": engine, "n_jobs": n_jobs, "progress": progress, "checkpoint": None}

    def made() -> Selection:
        result = answer(SELECTION, how, task)
        return replace(result, curve=result.best_curve if with_curve else None).without_samples()

    if random_state is not None and not isinstance(random_state, int | np.integer):  # a generator moves on
        return made()
    study = task.study
    labels = "\0".join(map(str, study.compared.labels))
    settings = repr(task.settings.to_dict() | {"random_state": random_state})
    key = (study.fingerprint(), labels, str(study.record()), settings, str(engine), str(with_curve))
    if key not in _KEPT:
        _KEPT[key] = made()
    _KEPT.move_to_end(key)
    while len(_KEPT) > 1 and sum(len(result.names) for result in _KEPT.values()) > _MAX_KEPT:
        _KEPT.popitem(last=False)
    return _KEPT[key]
