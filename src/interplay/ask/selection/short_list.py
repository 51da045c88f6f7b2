"""Relevant variables and the data → groups of redundant variables, columns by which they are tested, a short list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from interplay.ask.selection.runs import SearchedSelection
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import one_blas_thread
from interplay.data.codes.cuts import VariableCuts, cells_as_cut
from interplay.data.codes.rank_scores import mid_rank_scores, normal_scores
from interplay.data.models.linear import spline_columns
from interplay.data.study.study import Study
from interplay.data.study.table import Table
from interplay.infer.given_test import centred_within
from interplay.infer.short_list import Associations, ShortList, Unit, choose_short_list, orthonormal, pillai_log_p
from interplay.infer.verdicts import INTERACTION
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


#: Tuples that may come into the short list, the most significant first.
_MAX_TUPLES = 100

#: Levels and cells that a unit may have.
_MAX_COLUMNS = 64

#: Cells are made of quarters of numbers, or of halves where quarters make more columns, as a share of the samples.
_MAX_CELL_SHARE = 0.125

#: Covariates with more different values are numbers: they are cut.
_FEW_VALUES = 5


class UnitColumns:
    """Columns of variables and of tuples: normal scores of numbers, indicators of levels and cells.

    `covariates` (n_covariates, n_samples): they have the numbers after those of the variables.
    """

    def __init__(self, found: Selection, table: Table, covariates: FloatArray) -> None:
        self._found, self._table, self._covariates = found, table, covariates
        self._kept: dict[int, FloatArray] = {}
        self._bases: dict[int, FloatArray] = {}
        self._beside: dict[tuple[tuple[int, ...], tuple[int, ...]], FloatArray] = {}

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
        if v >= self._table.n_vars:
            return np.asarray(self._covariates[v - self._table.n_vars][np.newaxis])
        if not self._table.is_label[v]:
            # Not as floats, of which two large whole numbers may be the same.
            scores = normal_scores(mid_rank_scores(self._table.columns(slice(v, v + 1))))
            # A variable found by its spread has no trend: its distance from the median stands beside.
            return np.vstack([scores, scores**2]) if self._is_u_shaped(v) else scores
        levels, codes = np.unique(self._values(v), return_inverse=True)
        return _indicators(codes.reshape(-1).astype(np.int64), len(levels))

    def bends_of(self, v: int) -> FloatArray | None:
        """Return the columns of a spline of a number, without its linear one, and one of missing values."""
        if self._table.is_label[v]:
            return None
        spline = spline_columns(self.of_variable(v)[0])
        is_missing = np.isnan(self._values(v))[np.newaxis]
        return np.vstack([spline.T[1:], is_missing]) if is_missing.any() else np.asarray(spline.T[1:])

    def _is_u_shaped(self, v: int) -> bool:
        effects = self._found.effects
        row = -1 if effects is None else effects.main_of(v)
        return effects is not None and row >= 0 and effects.direction[row].startswith("U-shaped")

    def of_tuples(self, representative: dict[int, int]) -> list[Unit]:
        """Return the interacting tuples, those with the smallest p-values first; of redundant tuples only one.

        `representative`: of each relevant variable, the one that stands for its group. Tuples of the same groups are
        redundant.
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
                further = np.vstack([self._finer_cells(members), *self._splines(members)])
                units.append(Unit(members, columns, further))
        return units

    def beside(self, members: tuple[int, ...], chosen: Sequence[int]) -> FloatArray:
        """Return columns that a tuple is tested given, beside those of chosen units.

        Its members; and the tuple in which each member that is not chosen is replaced by the chosen variable or the
        covariate that resembles it most. An interaction of causes, or of a cause and a covariate, would else list
        copies of them.
        """
        others = [*chosen, *range(self._table.n_vars, self._table.n_vars + len(self._covariates))]
        replaced = tuple(v if v in chosen else self._most_similar(v, others) for v in members) if others else members
        # Two members may resemble the same variable, whose own columns are given.
        if len(set(replaced)) < len(replaced):
            replaced = members
        if (members, replaced) not in self._beside:
            own = [self.of_variable(v) for v in members]
            finer = [] if replaced == members else [self._finer_cells(replaced)]
            self._beside[members, replaced] = np.vstack([*own, *finer])
        return self._beside[members, replaced]

    def _most_similar(self, v: int, others: Sequence[int]) -> int:
        products = [self._basis(v) @ self._basis(other).T for other in others]
        return others[int(np.argmin([pillai_log_p(each, self._table.n_samples - 1) for each in products]))]

    def _basis(self, v: int) -> FloatArray:
        if v not in self._bases:
            one_stratum = np.zeros(self._table.n_samples, dtype=np.int64)
            self._bases[v] = orthonormal(centred_within(self.of_variable(v), one_stratum))
        return self._bases[v]

    def _splines(self, members: tuple[int, ...]) -> list[FloatArray]:
        numbers = [(v, bends) for v in members if (bends := self.bends_of(v)) is not None]
        return [rows for v, bends in numbers for rows in (self.of_variable(v), bends)]

    def _finer_cells(self, members: tuple[int, ...]) -> FloatArray:
        """Return columns for the cells of parts of numbers and of levels, and products of splines of numbers."""
        room = _MAX_CELL_SHARE * self._table.n_samples
        n_parts, n_bends = (4, 3) if 4 ** len(members) + 3 ** len(members) <= room else (2, 1)
        cell = np.zeros(self._table.n_samples, dtype=np.int64)
        for v in members:
            codes = self._parts(v, n_parts)
            cell = cell * (int(codes.max()) + 1) + codes
        if any(self._has_levels(v) for v in members):
            return _of_cells(cell)
        splines = [spline_columns(self.of_variable(v)[0]).T[:n_bends] for v in members]
        return np.vstack([_of_cells(cell), _products(splines)])

    def _values(self, v: int) -> FloatArray:
        n_vars = self._table.n_vars
        values = self._table.columns(slice(v, v + 1))[0] if v < n_vars else self._covariates[v - n_vars]
        return np.asarray(values, dtype=np.float64)

    def _has_levels(self, v: int) -> bool:
        if v < self._table.n_vars:
            return bool(self._table.is_label[v])
        return len(np.unique(self._values(v))) <= _FEW_VALUES

    def _parts(self, v: int, n_parts: int) -> IntArray:
        """Return the level of each sample: of labels as they are, of numbers as many parts of equal size."""
        values = self._values(v)
        if self._has_levels(v):
            return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)
        part = np.searchsorted(np.nanquantile(values, np.arange(1, n_parts) / n_parts), values)
        return np.where(np.isnan(values), n_parts, part).astype(np.int64)

    def _cells(self, members: tuple[int, ...], cuts: tuple[VariableCuts, ...], d: int) -> FloatArray:
        by_variable = {each.variable: each for each in cuts}
        return _of_cells(cells_as_cut([by_variable[v] for v in members], self._table, members, d))


def _products(factors: Sequence[FloatArray]) -> FloatArray:
    """Return the products of a row of each factor, in all combinations."""
    rows = factors[0]
    for factor in factors[1:]:
        rows = (rows[:, np.newaxis] * factor).reshape(-1, rows.shape[1])
    return rows


def _of_cells(cell: IntArray) -> FloatArray:
    used, codes = np.unique(cell, return_inverse=True)
    return _indicators(codes.reshape(-1).astype(np.int64), len(used))


def _indicators(codes: IntArray, n_levels: int) -> FloatArray:
    """Return a column for each level but the first; none where they are too many."""
    if not 2 <= n_levels <= _MAX_COLUMNS:
        return np.empty((0, len(codes)))
    return np.asarray(codes == np.arange(1, n_levels)[:, np.newaxis], dtype=np.float64)
