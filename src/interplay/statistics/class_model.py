"""Classes and columns of a model → the largest log-likelihood of the logistic, or multinomial, model."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray

#: Newton's steps. Of a cell of one class only, a coefficient grows by 1 in each, and the likelihood converges.
_MAX_STEPS = 60

#: A step that raises the log-likelihood by less ends the search.
_ENOUGH = 1e-9

#: Added to the information's diagonal, as a share of it: coefficients that grow without end leave it singular.
_RIDGE = 1e-12


def class_log_likelihood(codes: IntArray, columns: FloatArray, n_classes: int) -> float:
    """Return the largest log-likelihood of the model in which log odds of classes are linear in the columns.

    Parameters
    ----------
    codes : (n_samples,) int64
        Classes.
    columns : (n_samples, n_columns) float64
        Independent of each other; a constant is among their sums.

    Returns
    -------
    float
        NaN where Newton's method does not converge.

    Examples
    --------
    >>> codes, ones = np.array([0, 0, 1, 2]), np.ones((4, 1))
    >>> round(class_log_likelihood(codes, ones, 3), 6), round(2 * np.log(0.5) + 2 * np.log(0.25), 6)
    (-4.158883, -4.158883)
    """
    n, m = columns.shape
    others = n_classes - 1
    is_class = np.asarray(codes[:, np.newaxis] == np.arange(1, n_classes), dtype=np.float64)
    b = np.zeros((m, others))
    value, p = _likelihood(columns, b, codes)
    for _ in range(_MAX_STEPS):
        gradient = columns.T @ (is_class - p)
        information = np.empty((others, m, others, m))
        for q in range(others):
            for r in range(q, others):
                weight = p[:, q] * ((q == r) - p[:, r])
                information[q, :, r] = information[r, :, q] = columns.T @ (columns * weight[:, np.newaxis])
        flat = information.reshape(others * m, others * m)
        flat[np.diag_indices_from(flat)] *= 1 + _RIDGE
        flat[np.diag_indices_from(flat)] += 1e-300
        try:
            step = np.linalg.solve(flat, gradient.T.ravel()).reshape(others, m).T
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(flat, gradient.T.ravel(), rcond=None)[0].reshape(others, m).T
        size = 1.0
        while size > 1e-6:
            better, p_there = _likelihood(columns, b + size * step, codes)
            if better >= value - _ENOUGH:
                break
            size /= 2
        else:
            return value  # no direction leads up: rounding is all that is left
        gained = better - value
        b, value, p = b + size * step, better, p_there
        if abs(gained) < _ENOUGH:
            return value
    return value if np.isfinite(value) else float("nan")


def _likelihood(columns: FloatArray, b: FloatArray, codes: IntArray) -> tuple[float, FloatArray]:
    """Return the log-likelihood, and the probabilities of all classes but the first, (n_samples, n_classes − 1)."""
    log_odds = np.hstack([np.zeros((len(columns), 1)), columns @ b])
    log_odds -= log_odds.max(axis=1, keepdims=True)
    odds = np.exp(log_odds)
    total = odds.sum(axis=1, keepdims=True)
    own = np.take_along_axis(log_odds, codes[:, np.newaxis], axis=1)
    value = float((own - np.log(total)).sum())
    return (value if np.isfinite(value) else -np.inf), odds[:, 1:] / total
