"""Classes and columns of two models → the largest log-likelihoods of logistic, multinomial and probit models."""

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

#: Coefficients, by class and column → log-likelihood, and a function that returns gradient and information there.
_Likelihood = Callable[[FloatArray], tuple[float, Callable[[], tuple[FloatArray, FloatArray]]]]


def class_likelihood_ratio(
    codes: IntArray, columns: FloatArray, n_smaller: int, n_classes: int, *, probit: bool = False
) -> float:
    """Return twice the difference of log-likelihoods: with all columns, and with the first of them.

    Log odds of the classes are linear in the columns; with `probit`, the probits of two classes.

    Parameters
    ----------
    codes : (n_samples,) int64
        Classes.
    columns : (n_samples, n_columns) float64
        Independent of each other; a constant is among sums of the first ones.
    n_smaller : int
        Columns of the smaller model.

    Examples
    --------
    Two cells of 4 samples, with one and with three of the second class: 2 Σ n ln(n/μ).

    >>> codes, cells = np.array([0, 0, 0, 1, 0, 1, 1, 1]), np.repeat([0.0, 1.0], 4)
    >>> columns = np.column_stack([np.ones(8), cells])
    >>> round(class_likelihood_ratio(codes, columns, 1, 2), 4)
    2.093
    >>> round(class_likelihood_ratio(codes, columns, 1, 2, probit=True), 4)
    2.093
    """

    def likelihood(some: FloatArray) -> _Likelihood:
        if n_classes > 2:
            return _of_several_classes(codes, some, n_classes)
        return _of_probits(codes, some) if probit else _of_two_classes(codes, some)

    smaller, b = _largest(likelihood(columns[:, :n_smaller]), np.zeros((n_classes - 1, n_smaller)))
    more = np.zeros((n_classes - 1, columns.shape[1] - n_smaller))
    larger, _ = _largest(likelihood(columns), np.hstack([b, more]))
    return max(2.0 * (larger - smaller), 0.0)


def _of_two_classes(codes: IntArray, columns: FloatArray) -> _Likelihood:
    from scipy.special import expit

    def likelihood(b: FloatArray) -> tuple[float, Callable[[], tuple[FloatArray, FloatArray]]]:
        log_odds = columns @ b[0]

        def slopes() -> tuple[FloatArray, FloatArray]:
            p = expit(log_odds)
            return columns.T @ (codes - p), columns.T @ (columns * (p * (1 - p))[:, np.newaxis])

        return float((codes * log_odds - np.logaddexp(0.0, log_odds)).sum()), slopes

    return likelihood


def _of_probits(codes: IntArray, columns: FloatArray) -> _Likelihood:
    from scipy.special import log_ndtr

    sign = np.where(codes == 1, 1.0, -1.0)

    def likelihood(b: FloatArray) -> tuple[float, Callable[[], tuple[FloatArray, FloatArray]]]:
        at = sign * (columns @ b[0])
        log_p = log_ndtr(at)

        def slopes() -> tuple[FloatArray, FloatArray]:
            ratio = np.exp(-0.5 * at * at - 0.5 * np.log(2 * np.pi) - log_p)
            weight = np.maximum(ratio * (ratio + at), 0.0)
            return columns.T @ (sign * ratio), columns.T @ (columns * weight[:, np.newaxis])

        return float(log_p.sum()), slopes

    return likelihood


def _of_several_classes(codes: IntArray, columns: FloatArray, n_classes: int) -> _Likelihood:
    m, others = columns.shape[1], n_classes - 1
    is_class = np.asarray(codes[:, np.newaxis] == np.arange(1, n_classes), dtype=np.float64)

    def likelihood(b: FloatArray) -> tuple[float, Callable[[], tuple[FloatArray, FloatArray]]]:
        log_odds = np.hstack([np.zeros((len(columns), 1)), columns @ b.T])
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

    return likelihood


def _largest(likelihood: _Likelihood, start: FloatArray) -> tuple[float, FloatArray]:
    """Climb to the top of a concave log-likelihood by Newton's method, with steps that are halved where too long."""
    b = start
    value, slopes = likelihood(b)
    for _ in range(_MAX_STEPS):
        gradient, information = slopes()
        diagonal = np.diag_indices_from(information)
        information[diagonal] = information[diagonal] * (1 + _RIDGE) + 1e-300
        try:
            step = np.linalg.solve(information, gradient).reshape(b.shape)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(information, gradient, rcond=None)[0].reshape(b.shape)
        for halvings in range(20):
            better, there = likelihood(b + step / 2**halvings)
            if better >= value - _ENOUGH:
                break
        else:  # no step leads up: rounding is all that is left
            return value, b
        gained, value, slopes, b = better - value, better, there, b + step / 2**halvings
        if abs(gained) < _ENOUGH:
            break
    return value, b
