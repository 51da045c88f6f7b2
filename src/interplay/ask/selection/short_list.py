"""Relevant variables and the data → groups of redundant variables, a representative of each, and a short list."""

from __future__ import annotations

import numpy as np

from interplay.ask.selection.runs import SearchedSelection
from interplay.ask.selection.unit_columns import UnitColumns
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import one_blas_thread
from interplay.data.study.study import Study
from interplay.data.study.table import Table
from interplay.infer.short_list import Associations, ShortList, choose_short_list
from interplay.show.results.selection import Selection

#: More relevant variables are not compared with each other: each of the others stands for itself.
_MAX_GROUPED = 3000

#: Representatives that may come into the short list, the most significant first.
_MAX_CANDIDATES = 300

#: Redundant variables that may take the place of the representative of their group.
_MAX_ALTERNATIVES = 20

#: An association of 1 may be computed as slightly less.
_ROUNDING = 1e-9

_OF_GROUPS = "samples belong to groups, and the test given others takes samples as independent"


def make_short_list(found: Selection, data: SearchedSelection) -> ShortList:
    """Group the relevant variables, and choose a short list from the representatives of groups and from tuples."""
    study, threshold = data.task.study, data.task.settings.redundancy
    representative, association = _grouped(study.table, found.ranked, threshold)
    nothing = np.empty(0, dtype=np.int64), np.empty(0)
    if study.groups is not None and study.groups.sizes.max() > 1:
        return ShortList(threshold, representative, association, *nothing, _OF_GROUPS)
    if not len(found.ranked):
        return ShortList(threshold, representative, association, *nothing)
    candidates = found.ranked[representative == found.ranked][:_MAX_CANDIDATES].tolist()
    covariates = (
        np.empty((0, study.table.n_samples)) if study.design.covariates is None else study.design.covariates.design.T
    )
    columns = UnitColumns(found, study.table, covariates)
    singles = columns.units_of(candidates)
    tuples = columns.of_tuples(dict(zip(found.ranked.tolist(), representative.tolist(), strict=True)))
    with one_blas_thread():
        listed = choose_short_list(
            singles,
            tuples,
            _targets(study),
            level=data.task.settings.level,
            beside=columns.beside,
            alternatives=lambda v: columns.units_of(
                found.ranked[(representative == v) & (found.ranked != v)][:_MAX_ALTERNATIVES]
            ),
            strata=None if study.strata is None else study.strata.codes,
            always=None if study.model is None else study.model.design.known.T,
        )
    log_p: dict[int, float] = {}
    for unit, value in listed:
        for v in unit.members:
            log_p[v] = min(value, log_p.get(v, 0.0))
    variables = np.array(list(log_p), dtype=np.int64)
    return ShortList(threshold, representative, association, variables, np.array(list(log_p.values())))


def _grouped(table: Table, ranked: IntArray, threshold: float) -> tuple[IntArray, FloatArray]:
    """Let each variable join the most similar one before it that stands for a group, or stand for a group itself."""
    representative, association = ranked.copy(), np.ones(len(ranked))
    kept = Associations(table)
    for place, v in enumerate(ranked[:_MAX_GROUPED].tolist()):
        nearest, strength = kept.strongest(v)
        if nearest >= 0 and strength >= threshold - _ROUNDING:
            representative[place], association[place] = nearest, strength
        else:
            kept.keep(v)
    return representative, association


def _targets(study: Study) -> FloatArray:
    return study.outcome.alone()
