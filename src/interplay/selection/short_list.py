"""Relevant variables and the data → groups of redundant variables, a representative of each, and a short list."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, NumberOutcome
from interplay.base.jobs import one_blas_thread
from interplay.codes.cuts import VariableCuts
from interplay.codes.rank_scores import mid_rank_scores, normal_scores
from interplay.results.selection import Selection
from interplay.selection.runs import SearchedSelection
from interplay.statistics.association import Associations
from interplay.statistics.score_test import class_targets
from interplay.statistics.short_list import ShortList, Unit, choose_short_list
from interplay.statistics.verdicts import INTERACTION
from interplay.study.study import Study
from interplay.study.table import Table

#: More relevant variables are not compared with each other: each of the others stands for itself.
_MAX_GROUPED = 3000

#: Representatives and tuples that may come into the short list, the most significant first.
_MAX_CANDIDATES, _MAX_TUPLES = 300, 100

#: Levels and cells that a unit may have.
_MAX_COLUMNS = 64

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
    columns = _Columns(found, study.table)
    singles = [Unit((v,), rows) for v in candidates if len(rows := columns.of_variable(v))]
    tuples = columns.of_tuples()
    beside = {v: columns.of_variable(v) for unit in tuples for v in unit.members}
    with one_blas_thread():
        listed = choose_short_list(
            singles,
            tuples,
            _targets(study),
            level=data.task.settings.level,
            beside=beside,
            strata=None if study.strata is None else study.strata.codes,
            always=None if study.covariates is None else study.covariates.design.T,
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
    if study.survival is not None:
        residuals = study.survival.residuals()
        return np.asarray(residuals)[np.newaxis]
    if isinstance(study.outcome, NumberOutcome):
        return study.outcome.scores[np.newaxis]
    return class_targets(study.outcome.codes, study.outcome.n_classes)


class _Columns:
    """Columns of variables and of tuples: normal scores of numbers, indicators of levels and cells."""

    def __init__(self, found: Selection, table: Table) -> None:
        self._found, self._table = found, table
        self._kept: dict[int, FloatArray] = {}

    def of_variable(self, v: int) -> FloatArray:
        """Return the columns of a variable, (n_columns, n_samples); none where it has too many levels."""
        if v not in self._kept:
            self._kept[v] = self._made(v)
        return self._kept[v]

    def _made(self, v: int) -> FloatArray:
        values = self._table.columns(slice(v, v + 1))[0]
        if not self._table.is_label[v]:
            scores = normal_scores(mid_rank_scores(values[np.newaxis]))
            # A variable found by its spread has no trend: its distance from the median stands beside.
            return np.vstack([scores, scores**2]) if self._is_u_shaped(v) else scores
        levels, codes = np.unique(values.astype(np.float64), return_inverse=True)
        return _indicators(codes.reshape(-1).astype(np.int64), len(levels))

    def _is_u_shaped(self, v: int) -> bool:
        effects = self._found.effects
        row = -1 if effects is None else effects.main_of(v)
        return effects is not None and row >= 0 and effects.direction[row].startswith("U-shaped")

    def of_tuples(self) -> list[Unit]:
        """Return the interacting tuples, those with the smallest p-values first."""
        found: dict[tuple[int, ...], tuple[float, int, int]] = {}
        for v in self._found.ranked.tolist():
            verdict = self._found.verdicts[v]
            if verdict.verdict == INTERACTION:
                run = int(self._found.best_run[v])
                found.setdefault(verdict.members, (verdict.p_value, run, verdict.cell.discretization))
        units = []
        for members, (_, run, d) in sorted(found.items(), key=lambda entry: entry[1])[:_MAX_TUPLES]:
            columns = self._cells(members, self._found.runs[run].cuts, d)
            if len(columns):
                units.append(Unit(members, columns))
        return units

    def _cells(self, members: tuple[int, ...], cuts: tuple[VariableCuts, ...], d: int) -> FloatArray:
        by_variable = {each.variable: each for each in cuts}
        cell = np.zeros(self._table.n_samples, dtype=np.int64)
        for v in members:
            codes = by_variable[v].codes(self._table.column(v), d)
            cell = cell * (by_variable[v].n_levels() + 1) + codes + 1
        used, codes = np.unique(cell, return_inverse=True)
        return _indicators(codes.reshape(-1).astype(np.int64), len(used))


def _indicators(codes: IntArray, n_levels: int) -> FloatArray:
    """Return a column for each level but the first; none where they are too many."""
    if not 2 <= n_levels <= _MAX_COLUMNS:
        return np.empty((0, len(codes)))
    return np.asarray(codes == np.arange(1, n_levels)[:, np.newaxis], dtype=np.float64)
