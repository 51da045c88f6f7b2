"""Levels of one tuple's members and columns of a model → the interaction of the levels, tested beside the columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, in_unit, numbered
from interplay.models.classes import class_likelihood_ratio
from interplay.models.linear import cell_columns, independent_columns
from interplay.statistics.model_fit import linear_ratio
from interplay.statistics.number_interaction.f_test import fewest_in_cell
from interplay.study.outcomes.classes import DecisionClasses
from interplay.study.outcomes.numbers import NumberOutcome
from interplay.study.outcomes.outcome import Outcome

#: Residuals beyond so many of their standard deviations, by the median, are clipped where values are tested.
_CLIPPED_AT = 2.5
_CLIPPING_ROUNDS = 20

#: The standard deviation of a normal distribution is so many times its median absolute deviation.
_MAD_TO_SD = 1.4826


class NestedModels(NamedTuple):
    """Columns of two models of a tuple, the interaction of its levels in the larger one alone.

    Attributes
    ----------
    columns : (n, n_columns) float64
        Of the larger model; none is a sum of others.
    n_smaller : int
        The first ones are those of the smaller model.
    rows : (n,) int64
        Numbers of their samples.
    """

    columns: FloatArray
    n_smaller: int
    rows: IntArray

    @property
    def df(self) -> int:
        return int(self.columns.shape[1]) - self.n_smaller


def nested_models(
    outcome: Outcome,
    levels: IntArray,
    columns: FloatArray,
    *,
    known: IntArray | None = None,
    stratum: IntArray | None = None,
    dosages: Sequence[FloatArray] | None = None,
) -> NestedModels:
    """Return models with and without the interaction of a tuple, which both have `columns` beside.

    The smaller model has the effects of all proper subsets of the members, in each stratum its own; the larger one has
    an effect of every cell. Of numbers, samples in cells of few samples are left out, as in the search.

    Parameters
    ----------
    outcome : DecisionClasses or NumberOutcome
        Of all samples.
    levels : (k, n_known) int64
        Levels of the members.
    columns : (n_known, n_columns) float64
    known : (n_known,) int64, optional
        The samples that `levels`, `columns`, `stratum` and `dosages` are of; all if not given.
    stratum : (n_known,) int64, optional
    dosages : sequence of (n_known,) float64, optional
        For numbers: test the product of these in place of cells.
    """
    known = np.arange(levels.shape[1]) if known is None else known
    if dosages is not None:
        smaller, larger = _products(dosages, stratum)
        return models_of(np.hstack([smaller, columns]), larger, known)
    cells = cells_of(levels, stratum)
    if isinstance(outcome, NumberOutcome):
        rows = np.flatnonzero(np.bincount(cells)[cells] >= fewest_in_cell(outcome.values))
        levels, columns, known, cells = levels[:, rows], columns[rows], known[rows], cells[rows]
        stratum = None if stratum is None else stratum[rows]
    if not len(known):
        return NestedModels(np.empty((0, 0)), 0, known)
    parts = [cell_columns(cells_of(np.array(part), stratum)) for part in combinations(levels, len(levels) - 1)]
    return models_of(np.hstack([*parts, columns]), cell_columns(cells), known)


def models_of(smaller: FloatArray, more: FloatArray, rows: IntArray) -> NestedModels:
    """Return two models by their columns, those of the smaller one and those that the larger one has beside."""
    smaller = independent_columns(smaller)
    return NestedModels(independent_columns(np.hstack([smaller, more])), smaller.shape[1], rows)


def interaction_beside(outcome: Outcome, models: NestedModels) -> tuple[float, int]:
    """Test whether the levels of a tuple interact: by logistic, multinomial, or linear models of scores.

    Returns
    -------
    chi2 : float
        Twice the difference of log-likelihoods; of numbers, F on the scale of χ².
    df : int
    """
    if isinstance(outcome, NumberOutcome):
        return linear_ratio(outcome.scores[models.rows], models.columns, models.n_smaller)
    return _of_classes(outcome.codes[models.rows], models)


def probits_beside(
    outcome: DecisionClasses, models: NestedModels, offset: FloatArray | None = None
) -> tuple[float, int]:
    """Test the same for two classes with probits in the place of log odds, of which an `offset` may be known."""
    # A logit is about 1.7 times as large as the probit of the same probability.
    known = None if offset is None else offset[models.rows] / 1.7
    return _of_classes(outcome.codes[models.rows], models, probit=True, offset=known)


def values_beside(outcome: NumberOutcome, models: NestedModels) -> tuple[float, int]:
    """Test the same for the values of numbers as they were given.

    Residuals of the smaller model are clipped (Huber's pseudo-values), so that outliers do not hide an effect.
    """
    values = outcome.values[models.rows]
    finite = np.isfinite(values)
    if not finite.all():
        kept = models.columns[finite]
        models, values = (
            models_of(kept[:, : models.n_smaller], kept[:, models.n_smaller :], models.rows),
            values[finite],
        )
    if not len(values) or models.df <= 0:
        return 0.0, 0
    values, _ = in_unit(values)
    clipped = _clipped(values - np.median(values), models.columns[:, : models.n_smaller])
    return linear_ratio(clipped, models.columns, models.n_smaller)


def _of_classes(
    codes: IntArray, models: NestedModels, *, probit: bool = False, offset: FloatArray | None = None
) -> tuple[float, int]:
    n_classes = int(codes.max(initial=0)) + 1
    df = models.df * (n_classes - 1)
    if df <= 0:
        return 0.0, 0
    ratio = class_likelihood_ratio(codes, models.columns, models.n_smaller, n_classes, probit=probit, offset=offset)
    return ratio, df


def _clipped(values: FloatArray, columns: FloatArray) -> FloatArray:
    """Move values to where their residuals in a model of the columns are clipped."""
    basis = np.linalg.qr(columns)[0]
    moved = values
    for _ in range(_CLIPPING_ROUNDS):
        fitted = basis @ (basis.T @ moved)
        residuals = values - fitted
        limit = _CLIPPED_AT * _MAD_TO_SD * float(np.median(np.abs(residuals)))
        if limit <= 0:  # most samples have one value
            return values
        again = fitted + np.clip(residuals, -limit, limit)
        if np.abs(again - moved).max() <= 1e-6 * limit:
            return again
        moved = again
    return moved


def _products(dosages: Sequence[FloatArray], stratum: IntArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the products of dosages of proper subsets, the constant among them, and that of all; in each stratum."""
    centred = [x - x.mean() for x in dosages]
    inside = np.ones((len(dosages[0]), 1)) if stratum is None else np.eye(int(stratum.max()) + 1)[stratum]
    subsets = [some for size in range(len(dosages) + 1) for some in combinations(centred, size)]
    columns = [inside * np.prod([np.ones(len(inside)), *some], axis=0)[:, np.newaxis] for some in subsets]
    return np.hstack(columns[:-1]), columns[-1]


def cells_of(levels: IntArray, stratum: IntArray | None = None) -> IntArray:
    """Number the combinations of levels, (k, n_samples), within strata."""
    cells = np.zeros(levels.shape[1], dtype=np.int64) if stratum is None else numbered(stratum)
    for codes in levels:
        cells = numbered(cells * (int(codes.max(initial=0)) + 1) + codes)
    return cells
