"""Classes and columns of a model → the largest log-likelihood of the logistic, multinomial or probit model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.base.arrays import FloatArray, IntArray

#: Newton's steps. Of a cell of one class only, a coefficient grows by 1 in each, and the likelihood converges.
_MAX_STEPS = 60

#: A step that raises the log-likelihood by less ends the search.
_ENOUGH = 1e-9

#: The diagonal of the information grows by this share: coefficients that grow without end leave it singular.
_RIDGE = 1e-12

#: Coefficients → log-likelihood, and a function that returns gradient and information there.
_Likelihood = Callable[[FloatArray], tuple[float, Callable[[], tuple[FloatArray, FloatArray]]]]


def class_log_likelihood(codes: IntArray, columns: FloatArray, n_classes: int) -> float:
    """Return the largest log-likelihood of the model in which log odds of classes are linear in the columns.

    Parameters
    ----------
    codes : (n_samples,) int64
        Classes.
    columns : (n_samples, n_columns) float64
        Independent of each other; a constant is among their sums.

    Examples
    --------
    >>> codes, ones = np.array([0, 0, 1, 2]), np.ones((4, 1))
    >>> round(class_log_likelihood(codes, ones, 3), 6)  # 2 ln(1/2) + 2 ln(1/4)
    -4.158883
    """
    m, others = columns.shape[1], n_classes - 1
    is_class = np.asarray(codes[:, np.newaxis] == np.arange(1, n_classes), dtype=np.float64)

    def likelihood(b: FloatArray) -> tuple[float, Callable[[], tuple[FloatArray, FloatArray]]]:
        log_odds = np.hstack([np.zeros((len(columns), 1)), columns @ b.reshape(others, m).T])
        log_odds -= log_odds.max(axis=1, keepdims=True)
        odds = np.exp(log_odds)
        total = odds.sum(axis=1, keepdims=True)
        own = np.take_along_axis(log_odds, codes[:, np.newaxis], axis=1)

        def slopes() -> tuple[FloatArray, FloatArray]:
            p = odds[:, 1:] / total
            information = np.empty((others, m, others, m))
            for q in range(others):
                for r in range(q, others):
                    weight = p[:, q] * ((q == r) - p[:, r])
                    information[q, :, r] = information[r, :, q] = columns.T @ (columns * weight[:, np.newaxis])
            return (columns.T @ (is_class - p)).T.ravel(), information.reshape(others * m, others * m)

        return float((own - np.log(total)).sum()), slopes

    return _largest(likelihood, m * others)


def probit_log_likelihood(codes: IntArray, columns: FloatArray) -> float:
    """Return the largest log-likelihood of the model of two classes whose probits are linear in the columns.

    Examples
    --------
    >>> round(probit_log_likelihood(np.array([0, 0, 0, 1]), np.ones((4, 1))), 6)
    -2.249341
    """
    from scipy.special import log_ndtr

    sign = np.where(codes == 1, 1.0, -1.0)

    def likelihood(b: FloatArray) -> tuple[float, Callable[[], tuple[FloatArray, FloatArray]]]:
        at = sign * (columns @ b)
        log_p = log_ndtr(at)

        def slopes() -> tuple[FloatArray, FloatArray]:
            ratio = np.exp(-0.5 * at * at - 0.5 * np.log(2 * np.pi) - log_p)
            weight = np.maximum(ratio * (ratio + at), 0.0)
            return columns.T @ (sign * ratio), columns.T @ (columns * weight[:, np.newaxis])

        return float(log_p.sum()), slopes

    return _largest(likelihood, columns.shape[1])


def _largest(likelihood: _Likelihood, n_coefficients: int) -> float:
    """Climb to the top of a concave log-likelihood by Newton's method, with steps that are halved where too long."""
    b = np.zeros(n_coefficients)
    value, slopes = likelihood(b)
    for _ in range(_MAX_STEPS):
        gradient, information = slopes()
        diagonal = np.diag_indices_from(information)
        information[diagonal] = information[diagonal] * (1 + _RIDGE) + 1e-300
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(information, gradient, rcond=None)[0]
        for halvings in range(20):
            better, there = likelihood(b + step / 2**halvings)
            if better >= value - _ENOUGH:
                break
        else:
            return value  # no step leads up: rounding is all that is left
        gained, value, slopes, b = better - value, better, there, b + step / 2**halvings
        if abs(gained) < _ENOUGH:
            break
    return value
