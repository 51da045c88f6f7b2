"""Tuples of an Interactions → their features in any samples: cells, values of cells, products."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from interplay.ask.estimators.fit_samples import FitSamples
from interplay.base.arrays import FloatArray, IntArray
from interplay.data.codes.cuts import NO_LEVEL, VariableCuts, number_text
from interplay.data.study.columns import ColumnKind
from interplay.data.study.outcomes.numbers import decision_numbers
from interplay.data.study.outcomes.times import make_survival, split_survival
from interplay.data.study.table import Table
from interplay.show.results.interactions import Interactions

#: Samples of the overall outcome that are added to each cell: small cells are drawn towards it.
PRIOR = 4.0


@dataclass(frozen=True, eq=False)
class Target:
    """What is added up in cells: shares of classes, or one sum over another."""

    #: "log_odds", "mean" or "log_hazard".
    kind: str
    #: Of the values of a cell.
    names: list[str]
    #: (n_samples, n_sums): classes: one column for each. Mean: the number and 1. Log hazard: events and expected
    #: events.
    sums: FloatArray


@dataclass(frozen=True, eq=False)
class CellValues:
    """The values of the cells of a tuple, (n_cells, n_values), and those of a sample in no cell, (n_values,)."""

    names: list[str]
    values: FloatArray
    elsewhere: FloatArray

    def of_cells(self, cells: IntArray) -> FloatArray:
        """Return the values of samples in these cells, (n_samples, n_values)."""
        found = self.values[np.maximum(cells, 0)]
        found[cells == NO_LEVEL] = self.elsewhere
        return found


def make_target(result: Interactions, samples: FitSamples) -> Target:
    """Return what is added up in cells for the outcome of a result."""
    y, n_samples = samples.y, samples.table.n_samples
    pair = split_survival(y)
    if pair is not None:
        survival = make_survival(*pair, n_samples=n_samples, entry=samples.beside["entry"])
        event = survival.event.astype(np.float64)
        return Target("log_hazard", ["log_hazard"], np.column_stack([event, event - survival.martingale_residuals()]))
    if not result.words.counts_classes:
        return Target("mean", ["mean"], np.column_stack([decision_numbers(y, n_samples=n_samples), np.ones(n_samples)]))
    classes = result.outcome.classes(y, n_samples=n_samples)
    labels = [str(label) for label in classes.labels]
    names = ["log_odds"] if len(labels) == 2 else [f"log_odds({label})" for label in labels]
    return Target("log_odds", names, np.eye(len(labels))[classes.codes])


def cell_values(target: Target, cells: IntArray, n_cells: int) -> CellValues:
    """Return the values of cells, from all samples."""
    summed = _summed(target, cells, n_cells)
    return CellValues(target.names, _values(target.kind, summed, target.sums.sum(axis=0)), _overall(target))


def out_of_fold(target: Target, cells: IntArray, n_cells: int, fold: IntArray) -> FloatArray:
    """Return the values of samples' cells from the samples of all other folds, (n_samples, n_values)."""
    found = np.empty((len(cells), len(target.names)))
    for one in np.unique(fold).tolist():
        inside = fold == one
        rest = Target(target.kind, target.names, target.sums[~inside])
        found[inside] = cell_values(rest, cells[~inside], n_cells).of_cells(cells[inside])
    return found


def _summed(target: Target, cells: IntArray, n_cells: int) -> FloatArray:
    known = cells != NO_LEVEL
    columns = [np.bincount(cells[known], weights=column[known], minlength=n_cells) for column in target.sums.T]
    return np.stack(columns, axis=1)


def _overall(target: Target) -> FloatArray:
    total = target.sums.sum(axis=0)
    return np.asarray(_values(target.kind, np.zeros((1, len(total))), total)[0])


def _values(kind: str, summed: FloatArray, total: FloatArray) -> FloatArray:
    """Return the values of sums, each with `PRIOR` samples of the overall outcome."""
    if kind == "log_odds":
        shares = (total + 0.5) / (total.sum() + 0.5 * len(total))
        with_prior = summed + PRIOR * shares
        log_odds = np.log(with_prior) - np.log(with_prior.sum(axis=1, keepdims=True) - with_prior)
        return np.asarray(log_odds[:, 1:] if len(total) == 2 else log_odds)
    if kind == "mean":
        overall = total[0] / total[1] if total[1] else 0.0
        return np.asarray((summed[:, :1] + PRIOR * overall) / (summed[:, 1:] + PRIOR))
    return np.asarray(np.log((summed[:, :1] + PRIOR) / (summed[:, 1:] + PRIOR)))


#: Features that a tuple can have.
ENCODINGS = ("cells", "means", "products")

#: Levels of a number that is cut once or twice.
_WORDS = {2: ["lo", "hi"], 3: ["lo", "mid", "hi"]}


@dataclass(frozen=True, eq=False)
class TupleFeatures:
    """The features of one tuple."""

    #: Numbers of the variables.
    members: tuple[int, ...]
    names: tuple[str, ...]
    discretization: int
    #: Levels of each member.
    cuts: tuple[VariableCuts, ...]
    #: (n_used,): cells that have samples of the fit: features of "cells".
    used: IntArray
    #: Of "means": log odds, means or log hazards of the cells.
    values: CellValues | None
    #: `centre`, `spread`, (k,): of "products": means and standard deviations of the members; NaN where a member has no
    #: numbers.
    centre: FloatArray
    spread: FloatArray
    encodings: tuple[str, ...]
    omit_missing: bool

    @property
    def levels(self) -> tuple[int, ...]:
        return tuple(cuts.n_levels(omit_missing=self.omit_missing) for cuts in self.cuts)

    @property
    def has_product(self) -> bool:
        return "products" in self.encodings and bool(np.isfinite(self.centre).all())

    def feature_names(self) -> list[str]:
        """Return the names of the features: "a:b=hi,lo", "a:b=log_odds", "a:b" of a product."""
        tuple_name = ":".join(self.names)
        found = []
        if "cells" in self.encodings:
            words = [level_words(cuts, self.discretization) for cuts in self.cuts]
            for cell in self.used.tolist():
                at = np.unravel_index(cell, self.levels)
                found.append(f"{tuple_name}={','.join(word[i] for word, i in zip(words, at, strict=True))}")
        if self.values is not None:
            found += [f"{tuple_name}={name}" for name in self.values.names]
        return [*found, tuple_name] if self.has_product else found

    def features(self, table: Table, *, out_of_fold: FloatArray | None = None) -> FloatArray:
        """Return the features of samples, (n_samples, n_features); `out_of_fold` replaces the values of cells."""
        parts = []
        cells = cells_of(self.members, self.cuts, table, self.discretization, omit_missing=self.omit_missing)
        if "cells" in self.encodings:
            parts.append((cells[:, np.newaxis] == self.used).astype(np.float64))
        if self.values is not None:
            parts.append(self.values.of_cells(cells) if out_of_fold is None else out_of_fold)
        if self.has_product:
            columns = [
                _numbers(table, v, cuts, self.discretization) for v, cuts in zip(self.members, self.cuts, strict=True)
            ]
            scaled = (np.stack(columns) - self.centre[:, np.newaxis]) / self.spread[:, np.newaxis]
            parts.append(np.prod(np.nan_to_num(scaled, nan=0.0), axis=0)[:, np.newaxis])
        return np.hstack(parts) if parts else np.empty((table.n_samples, 0))


def cells_of(
    members: tuple[int, ...], cuts: tuple[VariableCuts, ...], table: Table, d: int, *, omit_missing: bool
) -> IntArray:
    """Return the cell of each sample, `NO_LEVEL` where a member has no level that is known."""
    codes = [c.codes(table.column(v), d, omit_missing=omit_missing) for v, c in zip(members, cuts, strict=True)]
    known = np.all([code != NO_LEVEL for code in codes], axis=0)
    cells = np.full(table.n_samples, NO_LEVEL, dtype=np.int64)
    levels = tuple(c.n_levels(omit_missing=omit_missing) for c in cuts)
    cells[known] = np.ravel_multi_index([code[known] for code in codes], levels)
    return cells


def tuple_features(
    result: Interactions, row: int, table: Table, encodings: tuple[str, ...], cells: IntArray, values: CellValues | None
) -> TupleFeatures:
    """Return the features of the tuple in a row of a result, as they are in the samples of the fit."""
    members = tuple(int(v) for v in result.tested.tuples[row])
    d = int(result.tested.discretization[row])
    cuts = tuple(result.cuts_of(v) for v in members)
    centre, spread = np.full(len(members), np.nan), np.ones(len(members))
    if "products" in encodings:
        for place, (v, of_variable) in enumerate(zip(members, cuts, strict=True)):
            column = _numbers(table, v, of_variable, d)
            if np.isfinite(column).any():
                centre[place] = column[np.isfinite(column)].mean()
                spread[place] = column[np.isfinite(column)].std() or 1.0
    omit = result.omits_missing
    n_cells = prod(c.n_levels(omit_missing=omit) for c in cuts)
    sizes = np.bincount(cells[cells != NO_LEVEL], minlength=n_cells)
    return TupleFeatures(
        members,
        result.members_of(row),
        d,
        cuts,
        np.flatnonzero(sizes),
        values if "means" in encodings else None,
        centre,
        spread,
        encodings,
        omit,
    )


def level_words(cuts: VariableCuts, d: int) -> list[str]:
    """Return short names of the levels: lo and hi of a number that is cut, else the values.

    Examples
    --------
    >>> level_words(VariableCuts(0, np.array([[0.5]]), np.empty(0), [], False), 0)
    ['lo', 'hi']
    """
    missing = ["missing"] * cuts.missing_level
    if cuts.is_cut:
        n_ranges = cuts.thresholds.shape[1] + 1
        return _WORDS.get(n_ranges, [f"q{i + 1}" for i in range(n_ranges)]) + missing
    return (list(cuts.labels) or [number_text(value) for value in cuts.values] or ["all"] * (not missing)) + missing


def _numbers(table: Table, v: int, cuts: VariableCuts, d: int) -> FloatArray:
    """Return a member as numbers: its values, or 0 and 1 of two labels; NaN where it has none."""
    column = table.column(v)
    if column.kind != ColumnKind.LABEL:
        return column.read().astype(np.float64)
    if cuts.n_levels(omit_missing=True) != 2:
        return np.full(table.n_samples, np.nan)
    codes = cuts.codes(column, d, omit_missing=True)
    return np.where(codes == NO_LEVEL, np.nan, codes).astype(np.float64)
