"""Outcome of samples in cells → log odds, means or log hazards of the cells, also out of fold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.ask.estimators.fit_samples import FitSamples
from interplay.base.arrays import FloatArray, IntArray
from interplay.data.codes.cuts import NO_LEVEL
from interplay.data.study.outcomes.numbers import decision_numbers
from interplay.data.study.outcomes.times import make_survival, split_survival
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
    if result.scale is not None:
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
