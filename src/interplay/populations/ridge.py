"""Ridge regression in two levels, cross-fitted in folds: blocks of variants → predictions → one prediction.

Level 0: of each block of variants, ridge regressions at several penalties; a sample's predictions are made without its
fold. Level 1: a ridge regression on all these predictions, by the likelihood of the outcome, again without the fold of
the sample that it predicts (Mbatchou et al. 2021, REGENIE). Penalties are those of a heritability h²: effects of m
standardised columns, each of variance h²/m beside noise of variance 1 − h², have the penalty m(1 − h²)/h².
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray

#: Heritabilities whose penalties are tried, at both levels.
HERITABILITIES = (0.01, 0.25, 0.5, 0.75, 0.99)

#: Newton's steps of level 1, and the change of a prediction, in its standard deviations, that ends them.
_MAX_STEPS, _TOLERANCE = 30, 1e-5

#: Known parts of some samples, (n,), → slopes of the log-likelihood there, and minus the second derivatives.
Slopes = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def penalties(n_columns: int) -> FloatArray:
    """Return the penalties of so many standardised columns, by heritability.

    Examples
    --------
    >>> penalties(100).round(1).tolist()
    [9900.0, 300.0, 100.0, 33.3, 1.0]
    """
    h2 = np.array(HERITABILITIES)
    return np.asarray(n_columns * (1 - h2) / h2)


def fold_predictions(columns: FloatArray, target: FloatArray, folds: list[slice], strengths: FloatArray) -> FloatArray:
    """Return predictions of ridge regressions, each fold's from the other folds, (n_samples, n_strengths).

    - `columns` (n_columns, n_samples): centred.
    - `target` (n_samples,): centred.
    - `folds`: samples of each fold; together all.
    - `strengths` (n_strengths,): penalties.
    """
    from scipy.linalg import cho_factor, cho_solve

    grams = [columns[:, fold] @ columns[:, fold].T for fold in folds]
    moments = [columns[:, fold] @ target[fold] for fold in folds]
    gram, moment = np.sum(grams, axis=0), np.sum(moments, axis=0)
    found = np.empty((columns.shape[1], len(strengths)))
    diagonal = np.arange(len(columns))
    for fold, of_fold, moment_of_fold in zip(folds, grams, moments, strict=True):
        others = gram - of_fold
        for place, strength in enumerate(strengths.tolist()):
            raised = others.copy()
            raised[diagonal, diagonal] += strength
            factor = cho_factor(raised, lower=True, overwrite_a=True, check_finite=False)
            effects = cho_solve(factor, moment - moment_of_fold, check_finite=False)
            found[fold, place] = effects @ columns[:, fold]
    return found


def level_one(
    predictors: FloatArray, folds: list[slice], slopes: Slopes, slopes_of_rows: Callable[[IntArray], Slopes]
) -> FloatArray:
    """Return coefficients of level 1 for each fold, fitted to the other folds, (n_folds, n_predictors).

    All are 0 where no penalty predicts better than nothing does.

    - `predictors` (n_samples, n_predictors): predictions of level 0, standardised.
    - `slopes`: of all samples.
    - `slopes_of_rows`: returns those of some samples.
    """
    n_samples, m = predictors.shape
    left, curvature = slopes(np.zeros(n_samples))
    strengths = penalties(m) * float(curvature.mean())
    chosen = _best_strength(predictors, folds, left, curvature, strengths)
    coefficients = np.zeros((len(folds), m))
    if chosen is None:
        return coefficients
    for number, fold in enumerate(folds):
        rows = np.flatnonzero(_outside(fold, n_samples))
        coefficients[number] = _fitted(predictors[rows], slopes_of_rows(rows), chosen)
    return coefficients


def _best_strength(
    predictors: FloatArray, folds: list[slice], left: FloatArray, curvature: FloatArray, strengths: FloatArray
) -> float | None:
    """Return the penalty whose predictions of the other folds are best by the likelihood, to the second order."""
    loss = np.zeros(len(strengths))
    for fold in folds:
        known = _outside(fold, len(left))
        gram = (predictors[known] * curvature[known, np.newaxis]).T @ predictors[known]
        values, vectors = np.linalg.eigh(gram)
        moment = vectors.T @ (predictors[known].T @ left[known])
        effects = vectors @ (moment[:, np.newaxis] / (np.maximum(values, 0)[:, np.newaxis] + strengths))
        fitted = predictors[fold] @ effects
        loss += curvature[fold] @ fitted**2 - 2 * (left[fold] @ fitted)
    best = int(loss.argmin())
    return float(strengths[best]) if loss[best] < 0 else None


def _fitted(predictors: FloatArray, slopes: Slopes, strength: float) -> FloatArray:
    """Return the coefficients of a ridge regression by Newton's steps."""
    effects: FloatArray = np.zeros(predictors.shape[1])
    known: FloatArray = np.zeros(len(predictors))
    penalty = strength * np.eye(len(effects))
    for _ in range(_MAX_STEPS):
        left, curvature = slopes(known)
        weighted = predictors * curvature[:, np.newaxis]
        effects = np.asarray(
            np.linalg.solve(weighted.T @ predictors + penalty, weighted.T @ known + predictors.T @ left)
        )
        before, known = known, predictors @ effects
        if np.abs(known - before).max() <= _TOLERANCE * max(float(known.std()), 1e-300):
            break
    return np.asarray(effects)


def slope_of(prediction: FloatArray, slopes: Slopes) -> float:
    """Return the coefficient of predictions that were made in other folds, by the likelihood; 0 where it is negative.

    Level 1 is fitted to predictions of level 0 that have seen the fold it predicts, so that its own are somewhat large:
    by up to a quarter for classes of 600 samples. Where the known part is too large, variances p(1 − p) are too small.
    """
    slope = 1.0
    if not prediction.any():
        return slope
    for _ in range(_MAX_STEPS):
        left, curvature = slopes(slope * prediction)
        step = float(prediction @ left) / float(curvature @ prediction**2)
        slope += step
        if abs(step) < _TOLERANCE:
            break
    return max(slope, 0.0)


def _outside(fold: slice, n_samples: int) -> BoolArray:
    outside = np.ones(n_samples, dtype=np.bool_)
    outside[fold] = False
    return outside
