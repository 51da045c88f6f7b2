"""Levels of one tuple's members and columns of a model → the interaction of the levels, tested beside the columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from interplay.base.arrays import DecisionClasses, FloatArray, IntArray, NumberOutcome, Outcome, numbered
from interplay.statistics.class_model import class_log_likelihood, probit_log_likelihood
from interplay.statistics.covariate_test import cell_columns, independent_columns, nested_linear_test
from interplay.statistics.number_interaction.f_test import fewest_in_cell

#: Residuals beyond so many of their standard deviations, by the median, are clipped where values are tested.
_CLIPPED_AT = 2.5
_CLIPPING_ROUNDS = 20

#: The standard deviation of a normal distribution is so many times its median absolute deviation.
_MAD_TO_SD = 1.4826


def interaction_beside(
    outcome: Outcome,
    levels: IntArray,
    columns: FloatArray,
    *,
    known: IntArray | slice = slice(None),
    stratum: IntArray | None = None,
    dosages: Sequence[FloatArray] | None = None,
) -> tuple[float, int]:
    """Test whether the levels of a tuple interact, in a model that has `columns` beside.

    The smaller model has the effects of all proper subsets of the members, in each stratum its own; the larger one has
    an effect of every cell. Models are logistic, multinomial, or linear in the scores of numbers.

    Parameters
    ----------
    outcome : DecisionClasses or NumberOutcome
        Of all samples.
    levels : (k, n_known) int64
        Levels of the members.
    columns : (n_known, n_columns) float64
    known : (n_known,) int64, or slice
        The samples that `levels`, `columns`, `stratum` and `dosages` are of.
    stratum : (n_known,) int64, optional
    dosages : sequence of (n_known,) float64, optional
        For numbers: test the product of these in place of cells.

    Returns
    -------
    chi2 : float
        Twice the difference of log-likelihoods; of numbers, F on the scale of χ².
    df : int
    """
    if isinstance(outcome, NumberOutcome):
        smaller, larger, rows = _number_models(outcome, levels, columns, stratum=stratum, dosages=dosages, known=known)
        return nested_linear_test(outcome.scores[known][rows], smaller, larger)
    codes = outcome.codes[known]
    n_classes = int(codes.max(initial=0)) + 1
    smaller, larger = (independent_columns(each) for each in _cell_models(levels, columns, stratum))
    df = (larger.shape[1] - smaller.shape[1]) * (n_classes - 1)
    if df <= 0:
        return 0.0, 0
    fits = [class_log_likelihood(codes, each, n_classes) for each in (larger, smaller)]
    return max(2.0 * (fits[0] - fits[1]), 0.0), df


def probits_beside(
    outcome: DecisionClasses,
    levels: IntArray,
    columns: FloatArray,
    *,
    known: IntArray | slice = slice(None),
    stratum: IntArray | None = None,
) -> tuple[float, int]:
    """Test the same for two classes with probits in the place of log odds."""
    smaller, larger = (independent_columns(each) for each in _cell_models(levels, columns, stratum))
    df = larger.shape[1] - smaller.shape[1]
    if df <= 0:
        return 0.0, 0
    fits = [probit_log_likelihood(outcome.codes[known], each) for each in (larger, smaller)]
    return max(2.0 * (fits[0] - fits[1]), 0.0), df


def values_beside(
    outcome: NumberOutcome,
    levels: IntArray,
    columns: FloatArray,
    *,
    known: IntArray | slice = slice(None),
    stratum: IntArray | None = None,
    dosages: Sequence[FloatArray] | None = None,
) -> tuple[float, int]:
    """Test the same for the values of numbers as they were given.

    Residuals of the smaller model are clipped (Huber's pseudo-values), so that outliers do not hide an effect.
    """
    smaller, larger, rows = _number_models(outcome, levels, columns, stratum=stratum, dosages=dosages, known=known)
    values = outcome.values[known][rows]
    finite = np.isfinite(values)
    values, smaller, larger = values[finite], smaller[finite], larger[finite]
    if not len(values):
        return 0.0, 0
    values = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))
    return nested_linear_test(_clipped(values - np.median(values), independent_columns(smaller)), smaller, larger)


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


def _number_models(
    outcome: NumberOutcome,
    levels: IntArray,
    columns: FloatArray,
    *,
    known: IntArray | slice,
    stratum: IntArray | None,
    dosages: Sequence[FloatArray] | None,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the columns of both models, and the samples they are of: cells of few samples are left out."""
    if dosages is not None:
        smaller, larger = _products(dosages, stratum)
        both = np.hstack([smaller, columns]), np.hstack([smaller, larger, columns])
        return *both, np.arange(levels.shape[1])
    cells = cells_of(levels, stratum)
    # Cells of few samples are no part of the hypothesis, as in the search.
    rows = np.flatnonzero(np.bincount(cells)[cells] >= fewest_in_cell(outcome.values))
    within = None if stratum is None else stratum[rows]
    if not len(rows):
        return np.empty((0, 0)), np.empty((0, 0)), rows
    return *_cell_models(levels[:, rows], columns[rows], within), rows


def _cell_models(levels: IntArray, columns: FloatArray, stratum: IntArray | None) -> tuple[FloatArray, FloatArray]:
    parts = [cell_columns(cells_of(np.array(part), stratum)) for part in combinations(levels, len(levels) - 1)]
    return np.hstack([*parts, columns]), np.hstack([cell_columns(cells_of(levels, stratum)), columns])


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
