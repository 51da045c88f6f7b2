"""Classes and columns → logistic and multinomial models; likelihood ratios of two models, also of probits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.models.linear import Likelihood, Slopes, independent_places, largest_likelihood, with_dependent


@dataclass(frozen=True, eq=False)
class ClassFit:
    """A logistic or multinomial model of classes, at the maximum of its likelihood."""

    #: (n_classes − 1, n_columns): log odds of classes 1, 2, … against class 0; 0 for a column that is a sum of columns
    #: before it. A coefficient of which the likelihood grows without end stops where it hardly grows any more.
    coefficients: FloatArray
    #: ((n_classes − 1) · n_columns, (n_classes − 1) · n_columns): of the coefficients, class by class; NaN for columns
    #: that are sums of others.
    covariance: FloatArray
    log_likelihood: float
    probabilities: FloatArray  #: (n_samples, n_classes)


def fit_classes(codes: IntArray, columns: FloatArray, n_classes: int, offset: FloatArray | None = None) -> ClassFit:
    """Fit a model in which log odds of the classes are linear in the columns.

    - `codes` (n_samples,): classes, from 0.
    - `columns` (n_samples, n_columns): with a constant among them, where the model shall have one.
    - `offset` (n_samples,) or (n_samples, n_classes − 1): known parts of the log odds, for each class but class 0.

    Examples
    --------
    >>> columns = np.column_stack([np.ones(8), np.repeat([0.0, 1.0], 4)])
    >>> fit = fit_classes(np.array([0, 0, 0, 1, 0, 1, 1, 1]), columns, 2)
    >>> fit.coefficients.round(4).tolist(), fit.probabilities[[0, 7], 1].round(4).tolist()
    ([[-1.0986, 2.1972]], [0.25, 0.75])
    """
    n, m = columns.shape
    known = np.zeros((n, n_classes - 1)) if offset is None else np.asarray(offset, dtype=np.float64).reshape(n, -1)
    places = independent_places(columns)
    # Columns of any unit: the largest value of each is 1.
    scale = np.abs(columns[:, places]).max(axis=0, initial=0.0)
    scaled = columns[:, places] / scale
    likelihood = _logits(codes, scaled, known, n_classes)
    value, b = largest_likelihood(likelihood, np.zeros((n_classes - 1, len(places))))
    information = likelihood(b)[1]()[1]
    units = np.tile(scale, n_classes - 1)
    inverse = np.linalg.pinv(information, hermitian=True) / np.outer(units, units)
    of_classes = (np.arange(n_classes - 1)[:, np.newaxis] * m + places).reshape(-1)
    coefficients, covariance = with_dependent((b / scale).reshape(-1), inverse, of_classes, (n_classes - 1) * m)
    log_odds = np.hstack([np.zeros((n, 1)), known + scaled @ b.T])
    odds = np.exp(log_odds - log_odds.max(axis=1, keepdims=True))
    return ClassFit(coefficients.reshape(n_classes - 1, m), covariance, value, odds / odds.sum(axis=1, keepdims=True))


def class_likelihood_ratio(
    codes: IntArray,
    columns: FloatArray,
    n_smaller: int,
    *,
    probit: bool = False,
    offset: FloatArray | None = None,
) -> tuple[float, int]:
    """Return twice the difference of log-likelihoods, with all columns and with the first of them; and its df.

    Log odds of the classes are linear in the columns; with `probit`, the probits of two classes. An `offset`,
    (n_samples,), is a known part of the log odds or probits of two classes.

    - `codes` (n_samples,): classes.
    - `columns` (n_samples, n_columns): independent of each other; a constant is among sums of the first ones.
    - `n_smaller`: columns of the smaller model.

    Examples
    --------
    Two cells of 4 samples, with one and with three of the second class: 2 Σ n ln(n/μ).

    >>> codes, cells = np.array([0, 0, 0, 1, 0, 1, 1, 1]), np.repeat([0.0, 1.0], 4)
    >>> columns = np.column_stack([np.ones(8), cells])
    >>> [round(class_likelihood_ratio(codes, columns, 1, probit=probit)[0], 4) for probit in (False, True)]
    [2.093, 2.093]
    """
    n_each, n_more = int(codes.max(initial=0)), columns.shape[1] - n_smaller
    if n_each * n_more <= 0:
        return 0.0, 0
    model = partial(_probits, codes, known=offset) if probit else partial(_logits, codes, known=_of_each(offset))
    smaller, b = largest_likelihood(model(columns=columns[:, :n_smaller]), np.zeros((n_each, n_smaller)))
    larger, _ = largest_likelihood(model(columns=columns), np.hstack([b, np.zeros((n_each, n_more))]))
    return max(2.0 * (larger - smaller), 0.0), n_each * n_more


def class_likelihood(
    codes: IntArray, columns: FloatArray, n_classes: int, *, start: FloatArray, offset: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Return the log-likelihood of the model with all columns at its maximum, and the coefficients there.

    Arguments are those of `class_likelihood_ratio`; `start`, (n_classes − 1, n_columns), are coefficients to begin at.

    Examples
    --------
    >>> value, b = class_likelihood(np.array([0, 1, 1, 1]), np.ones((4, 1)), 2, start=np.zeros((1, 1)))
    >>> round(value, 4), b.round(4).tolist()
    (-2.2493, [[1.0986]])
    """
    return largest_likelihood(_logits(codes, columns, _of_each(offset), n_classes), start)


def _of_each(offset: FloatArray | None) -> FloatArray | None:
    return None if offset is None else offset[:, np.newaxis]


def _logits(codes: IntArray, columns: FloatArray, known: FloatArray | None, n_classes: int | None = None) -> Likelihood:
    """Return the likelihood of the logistic or multinomial model; `known` are parts of its log odds."""
    n_classes = int(codes.max(initial=0)) + 1 if n_classes is None else n_classes
    if n_classes > 2:
        return _of_several_classes(codes, columns, n_classes, known)
    from scipy.special import expit

    def likelihood(b: FloatArray) -> tuple[float, Slopes]:
        log_odds = columns @ b[0] if known is None else columns @ b[0] + known[:, 0]

        def slopes() -> tuple[FloatArray, FloatArray]:
            p = expit(log_odds)
            return columns.T @ (codes - p), columns.T @ (columns * (p * (1 - p))[:, np.newaxis])

        return float((codes * log_odds - np.logaddexp(0.0, log_odds)).sum()), slopes

    return likelihood


def _probits(codes: IntArray, columns: FloatArray, known: FloatArray | None) -> Likelihood:
    from scipy.special import log_ndtr

    sign = np.where(codes == 1, 1.0, -1.0)

    def likelihood(b: FloatArray) -> tuple[float, Slopes]:
        at = sign * (columns @ b[0] if known is None else columns @ b[0] + known)
        log_p = log_ndtr(at)

        def slopes() -> tuple[FloatArray, FloatArray]:
            ratio = np.exp(-0.5 * at * at - 0.5 * np.log(2 * np.pi) - log_p)
            weight = np.maximum(ratio * (ratio + at), 0.0)
            return columns.T @ (sign * ratio), columns.T @ (columns * weight[:, np.newaxis])

        return float(log_p.sum()), slopes

    return likelihood


def _of_several_classes(codes: IntArray, columns: FloatArray, n_classes: int, known: FloatArray | None) -> Likelihood:
    m, others = columns.shape[1], n_classes - 1
    is_class = np.asarray(codes[:, np.newaxis] == np.arange(1, n_classes), dtype=np.float64)

    def likelihood(b: FloatArray) -> tuple[float, Slopes]:
        of_others = columns @ b.T if known is None else columns @ b.T + known
        log_odds = np.hstack([np.zeros((len(columns), 1)), of_others])
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
