"""The arguments of select(), checked → the searches they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from interplay.arrays import MAX_CONTRAST, DecisionClasses, FloatArray, IntArray, MaxGains
from interplay.checks import check_choice, check_int, check_real, shown
from interplay.engines.base import AsEngine, SearchInterrupted
from interplay.progress import Progress
from interplay.search.checkpoint import Checkpoint
from interplay.search.exact_p_values import ExactPValues
from interplay.search.gains import about_search, search_tiles
from interplay.search.provenance import data_fingerprint
from interplay.search.settings import Discrete, SearchSettings, check_search_settings
from interplay.search.tile_loop import Shard, TileLoop
from interplay.statistics.lsq_fit import MIN_REFERENCE_VARIABLES
from interplay.statistics.null_fit import FITS
from interplay.statistics.p_values import ADJUST_METHODS
from interplay.steps.contrast import contrast_table
from interplay.steps.decision import decision_classes
from interplay.steps.named_columns import take_columns
from interplay.steps.row_subset import RowSubset
from interplay.steps.strata import Strata, check_strata, make_strata
from interplay.steps.table import Table

#: "auto" takes as many contrast variables as there are variables, within these bounds: fewer leave the null fit
#: imprecise (γ varies by half with 30, by a fifth with 300: docs/calibration.md), more cost time and gain little.
_AUTO_CONTRAST_BOUNDS = (300, 1000)


@dataclass(frozen=True)
class SelectionTask:
    """Data and settings of a selection.

    Attributes
    ----------
    table : Table
    classes : DecisionClasses
    search : SearchSettings
    settings : dict
        Every argument as it will be used; what ``Selection.settings`` becomes.
    strata : Strata, optional
    y : object
        The decision as it was given.
    """

    table: Table
    classes: DecisionClasses
    search: SearchSettings
    settings: dict[str, Any]
    strata: Strata | None
    y: Any

    @cached_property
    def fingerprint(self) -> str:
        return data_fingerprint(self.table, self.classes, self.strata)

    @property
    def strata_sizes(self) -> dict[str, int]:
        """Samples in each stratum, by its label; nothing without strata."""
        strata = self.strata
        return {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True))

    @property
    def about(self) -> dict[str, Any]:
        """What decides the gains; how they are judged may change."""
        search = about_search(self.table, self.classes, self.search, fingerprint=self.fingerprint)
        return search | {name: self.settings[name] for name in ("n_contrast", "multiclass")}


@dataclass(frozen=True)
class SearchedRun:
    """One search of a selection, before its null fit.

    Attributes
    ----------
    decision : str
        What was told apart: "all classes", "a vs b", "a vs rest".
    class_labels : list of str
    class_sizes : (n_classes,) int64
    contrast_sources : (n_contrast,) int64
    gains : MaxGains
    alone : MaxGains
        In 1D.
    exact_log_p : (n_vars + n_contrast,) float64, optional
        Natural logarithms of exact p-values, of a search in 1D; not in parts of earlier versions.
    """

    decision: str
    class_labels: list[str]
    class_sizes: IntArray
    contrast_sources: IntArray
    gains: MaxGains
    alone: MaxGains
    exact_log_p: FloatArray | None = None


def check_selection(
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
) -> SelectionTask:
    """Check the arguments of `select` against each other and the data."""
    table, y, strata = take_columns(X, y, strata)
    classes = decision_classes(y, n_samples=table.n_samples, decision=decision, decision_divisions=decision_divisions)
    within = make_strata(strata, n_samples=table.n_samples)
    search = check_search_settings(
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
    settings = {
        "dimensions": search.dimensions,
        "divisions": search.divisions,
        "discretizations": search.discretizations,
        "range_": search.range_,
        "pseudocount": search.pseudocount,
        "n_contrast": _check_n_contrast(n_contrast, table.n_vars, search),
        "p_adjust": check_choice("p_adjust", p_adjust, ADJUST_METHODS),
        "level": check_real("level", level, low=0.0, high=1.0, low_open=True, high_open=True),
        "fit": check_choice("fit", fit, FITS),
        "decision": classes.kind,
        "decision_divisions": decision_divisions,
        "multiclass": check_choice("multiclass", multiclass, ("joint", "ovo", "ovr")),
        "discrete": search.discrete,
        "missing": search.missing,
        "random_state": search.seed,
    }
    for what, _, part_classes, part_strata in decisions_of(table, classes, within, multiclass):
        if part_strata is not None:
            check_strata(part_strata, part_classes, "y" if part_classes is classes else f"{what!r}")
    return SelectionTask(table, classes, search, settings, within, y)


def search_runs(
    task: SelectionTask,
    *,
    engine: AsEngine,
    n_jobs: int | None = None,
    progress: Progress = None,
    checkpoint: Checkpoint | None = None,
    shard: Shard | None = None,
) -> Iterator[tuple[SearchedRun, TileLoop]]:
    """Search for each of the decisions; beside what was found, the loop that found it."""
    n_contrast = task.settings["n_contrast"]
    decisions = list(decisions_of(task.table, task.classes, task.strata, task.settings["multiclass"]))
    for number, (what, part, classes, strata) in enumerate(decisions):
        contrast = None
        if n_contrast:
            groups = None if strata is None else strata.codes
            contrast = contrast_table(part, n_contrast, seed=task.search.seed, strata=groups)
        exact = ExactPValues(pseudocount=task.search.pseudocount, has_strata=strata is not None)
        try:
            loop = search_tiles(
                part,
                classes,
                task.search,
                contrast=contrast,
                contrast_sources=None if contrast is None else contrast.sources,
                strata=strata,
                alone=task.search.dimensions > 1,
                engine=engine,
                n_jobs=n_jobs,
                progress=_share_of_runs(progress, number, len(decisions)),
                shard=shard,
                checkpoint=checkpoint,
                name=f"search{number}",
                see_planes=exact.see_planes if _is_tested_exactly(task) else None,
            )
        except SearchInterrupted as interrupt:
            done = (number + interrupt.done) / len(decisions)
            raise SearchInterrupted(interrupt.partial, done, interrupt.kept_in) from None
        run = SearchedRun(
            decision=what,
            class_labels=[str(label) for label in classes.labels],
            class_sizes=classes.sizes,
            contrast_sources=np.empty(0, dtype=np.int64) if contrast is None else contrast.sources,
            gains=loop.found[0],
            alone=loop.found[-1],
            exact_log_p=exact.log_p,
        )
        yield run, loop


def _is_tested_exactly(task: SelectionTask) -> bool:
    """Say whether p-values come from counts: in 1D, unless another fit to several discretisations was asked for."""
    only_one = task.search.discretizations == 1 or task.settings["fit"] in ("auto", "union")
    return task.search.dimensions == 1 and only_one


def _check_n_contrast(n_contrast: int | str, n_vars: int, settings: SearchSettings) -> int:
    if isinstance(n_contrast, str) and n_contrast == "auto":
        if settings.dimensions == 1 and settings.discretizations == 1:
            return 0
        low, high = _AUTO_CONTRAST_BOUNDS
        return min(max(n_vars, low), high)
    if isinstance(n_contrast, str):
        raise ValueError(f"n_contrast must be 'auto' or a whole number, not {shown(n_contrast)}")
    number = check_int("n_contrast", n_contrast, low=0, high=MAX_CONTRAST)
    if 0 < number < MIN_REFERENCE_VARIABLES:
        raise ValueError(
            f"n_contrast must be 0 or at least {MIN_REFERENCE_VARIABLES}, not {number}: "
            "fewer cannot show what chance gives"
        )
    return number


def decisions_of(
    table: Table, classes: DecisionClasses, strata: Strata | None, multiclass: str
) -> Iterator[tuple[str, Table, DecisionClasses, Strata | None]]:
    """Split a decision of several classes into the two-class decisions asked for."""
    if multiclass == "joint" or classes.n_classes == 2:
        yield "all classes", table, classes, strata
    elif multiclass == "ovr":
        for q, label in enumerate(classes.labels):
            one = (classes.codes == q).astype(np.int64)
            yield f"{label} vs rest", table, DecisionClasses(one, ["rest", label], classes.kind), strata
    else:
        for a, b in combinations(range(classes.n_classes), 2):
            rows = np.flatnonzero((classes.codes == a) | (classes.codes == b))
            labels = [classes.labels[a], classes.labels[b]]
            pair = DecisionClasses((classes.codes[rows] == b).astype(np.int64), labels, classes.kind)
            part_strata = None if strata is None else strata.of_samples(rows)
            yield f"{labels[0]} vs {labels[1]}", RowSubset(table, rows), pair, part_strata


def _share_of_runs(progress: Progress, n_done: int, n_runs: int) -> Progress:
    """Let a function that is told the share done hear of all runs together."""
    if not callable(progress):
        return progress
    tell = progress
    return lambda done: tell((n_done + done) / n_runs)
