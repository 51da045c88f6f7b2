"""Relevant variables and the data → groups of redundant variables, a representative of each, and a short list."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, NumberOutcome
from interplay.base.jobs import one_blas_thread
from interplay.codes.cuts import VariableCuts
from interplay.codes.rank_scores import mid_rank_scores, normal_scores
from interplay.results.selection import Selection
from interplay.selection.runs import SearchedSelection
from interplay.statistics.association import Associations
from interplay.statistics.given_test import centred_within
from interplay.statistics.score_test import class_targets
from interplay.statistics.short_list import ShortList, Unit, choose_short_list
from interplay.statistics.smooth_columns import spline_columns
from interplay.statistics.verdicts import INTERACTION
from interplay.study.study import Study
from interplay.study.table import Table

#: More relevant variables are not compared with each other: each of the others stands for itself.
_MAX_GROUPED = 3000

#: Representatives and tuples that may come into the short list, the most significant first.
_MAX_CANDIDATES, _MAX_TUPLES = 300, 100

#: Redundant variables that may take the place of the representative of their group.
_MAX_ALTERNATIVES = 20

#: Levels and cells that a unit may have.
_MAX_COLUMNS = 64

#: Covariates with more different values have splines.
_FEW_VALUES = 5

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
    singles = columns.units_of(candidates)
    tuples = columns.of_tuples(dict(zip(found.ranked.tolist(), representative.tolist(), strict=True)))
    design = np.empty((0, study.table.n_samples)) if study.covariates is None else study.covariates.design.T
    beside = {v: _with_products(columns.of_variable(v), design) for unit in tuples for v in unit.members}
    with one_blas_thread():
        listed = choose_short_list(
            singles,
            tuples,
            _targets(study),
            level=data.task.settings.level,
            beside=beside,
            alternatives={
                v: columns.units_of(found.ranked[(representative == v) & (found.ranked != v)][:_MAX_ALTERNATIVES])
                for v in candidates
            },
            strata=None if study.strata is None else study.strata.codes,
            always=None if study.covariates is None else _smooth(study.covariates.design),
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


def _smooth(design: FloatArray) -> FloatArray:
    """Return the columns of covariates and the bends of their splines: an effect of theirs may be no straight line."""
    bends = [spline_columns(column).T[1:] for column in design.T if len(np.unique(column)) > _FEW_VALUES]
    return np.vstack([design.T, *bends])


def _with_products(rows: FloatArray, design: FloatArray) -> FloatArray:
    """Return the columns of a variable, and their products with covariates.

    A variable that resembles a covariate would else be listed for an interaction of the covariate with a partner.
    """
    if not 0 < len(rows) * len(design) <= _MAX_COLUMNS:
        return rows
    products = (rows[:, np.newaxis] * centred_within(design, np.zeros(design.shape[1], dtype=np.int64))).reshape(
        -1, rows.shape[1]
    )
    return np.vstack([rows, products])


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

    def units_of(self, variables: Iterable[int]) -> list[Unit]:
        """Return the variables as units, those with too many levels left out."""
        return [
            Unit((int(v),), rows, self.bends_of(int(v))) for v in variables if len(rows := self.of_variable(int(v)))
        ]

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

    def bends_of(self, v: int) -> FloatArray | None:
        """Return the columns of a spline of a number, without its linear one, and one of missing values."""
        if self._table.is_label[v]:
            return None
        values = self._table.columns(slice(v, v + 1))[0]
        spline = spline_columns(normal_scores(mid_rank_scores(values[np.newaxis]))[0])
        is_missing = np.isnan(values.astype(np.float64))[np.newaxis]
        return np.vstack([spline.T[1:], is_missing]) if is_missing.any() else np.asarray(spline.T[1:])

    def _is_u_shaped(self, v: int) -> bool:
        effects = self._found.effects
        row = -1 if effects is None else effects.main_of(v)
        return effects is not None and row >= 0 and effects.direction[row].startswith("U-shaped")

    def of_tuples(self, representative: dict[int, int]) -> list[Unit]:
        """Return the interacting tuples, those with the smallest p-values first; of redundant tuples only one.

        Parameters
        ----------
        representative : dict
            Of each relevant variable, the one that stands for its group. Tuples of the same groups are redundant.
        """
        found: dict[tuple[int, ...], tuple[float, int, int]] = {}
        for v in self._found.ranked.tolist():
            verdict = self._found.verdicts[v]
            if verdict.verdict == INTERACTION:
                run = int(self._found.best_run[v])
                found.setdefault(verdict.members, (verdict.p_value, run, verdict.cell.discretization))
        by_groups: dict[frozenset[int], tuple[int, ...]] = {}
        for members in sorted(found, key=lambda each: found[each]):
            by_groups.setdefault(frozenset(representative.get(v, v) for v in members), members)
        units = []
        for members in list(by_groups.values())[:_MAX_TUPLES]:
            _, run, d = found[members]
            columns = self._cells(members, self._found.runs[run].cuts, d)
            if len(columns):
                units.append(Unit(members, columns, self._finer_cells(members)))
        return units

    def _finer_cells(self, members: tuple[int, ...]) -> FloatArray:
        """Return columns for the cells of quarters of numbers and of levels, and the splines of the members."""
        cell = np.zeros(self._table.n_samples, dtype=np.int64)
        smooth = []
        for v in members:
            values = self._table.columns(slice(v, v + 1))[0].astype(np.float64)
            if (bends := self.bends_of(v)) is None:
                codes = np.unique(values, return_inverse=True)[1].reshape(-1)
            else:
                quarter = np.searchsorted(np.nanquantile(values, (0.25, 0.5, 0.75)), values)
                codes = np.where(np.isnan(values), 4, quarter)
                smooth += [self.of_variable(v), bends]
            cell = cell * (int(codes.max()) + 1) + codes
        return np.vstack([_of_cells(cell), *smooth])

    def _cells(self, members: tuple[int, ...], cuts: tuple[VariableCuts, ...], d: int) -> FloatArray:
        by_variable = {each.variable: each for each in cuts}
        cell = np.zeros(self._table.n_samples, dtype=np.int64)
        for v in members:
            codes = by_variable[v].codes(self._table.column(v), d)
            cell = cell * (by_variable[v].n_levels() + 1) + codes + 1
        return _of_cells(cell)


def _of_cells(cell: IntArray) -> FloatArray:
    used, codes = np.unique(cell, return_inverse=True)
    return _indicators(codes.reshape(-1).astype(np.int64), len(used))


def _indicators(codes: IntArray, n_levels: int) -> FloatArray:
    """Return a column for each level but the first; none where they are too many."""
    if not 2 <= n_levels <= _MAX_COLUMNS:
        return np.empty((0, len(codes)))
    return np.asarray(codes == np.arange(1, n_levels)[:, np.newaxis], dtype=np.float64)
