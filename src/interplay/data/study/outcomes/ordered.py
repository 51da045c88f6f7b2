"""Ordered classes (grades, stages, answers) → OrderedClasses: searched by scores, tested by proportional odds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_encodable, shown
from interplay.data.models.linear import Likelihood, Slopes, independent_places, largest_likelihood, with_dependent
from interplay.data.study.columns import ColumnKind, check_length, decision_column
from interplay.data.study.design import Design, Strata
from interplay.data.study.outcomes.classes import check_not_missing
from interplay.data.study.outcomes.numbers import NumberOutcome, decision_numbers, is_number, number_outcome
from interplay.data.study.outcomes.outcome import (
    Coefficients,
    Fits,
    Fitted,
    Outcome,
    check_left,
    effective_size,
    log_p_of_classes,
    standardised,
)
from interplay.data.study.outcomes.targets import ScoreTarget, Target, target_scores
from interplay.data.study.outcomes.words import ORDERED, Words

#: More values than this are a number, not classes with an order.
_MAX_ORDERED = 50


@dataclass(frozen=True)
class OrderedClasses(ScoreTarget, Outcome):
    """Classes with an order; `values` are their numbers, and `scores` normal scores of mid-ranks."""

    #: Names of the classes, the lowest first.
    order: tuple[str, ...] = ()

    kind: ClassVar[str] = "ordered"
    model_kind: ClassVar[str] = "ordered"
    model_name: ClassVar[str] = "proportional-odds"
    words: ClassVar[Words] = ORDERED
    needs_model: ClassVar[bool] = True

    @property
    def n_informative(self) -> int:
        """Samples beyond those of the largest class: what logistic models count where there are two."""
        return len(self.values) - int(np.bincount(self._codes).max())

    @property
    def _codes(self) -> IntArray:
        return self.values.astype(np.int64)

    def is_of(self, n_samples: int) -> bool:
        in_order = set(np.unique(self.values).tolist()) <= set(range(len(self.order)))
        return super().is_of(n_samples) and in_order

    def of_samples(self, rows: IntArray) -> OrderedClasses:
        return _of_codes(self._codes[rows], self.order)

    def made_again(
        self, rows: IntArray, y: Any, strata: Strata | None, compared: Target
    ) -> tuple[Any, OrderedClasses, Target]:
        column = decision_column(y)
        found = _of_codes(self._codes[rows], self.order, strata)
        return replace(column, read=lambda: decision_column(y).read()[rows]), found, found

    def check_part(self, holdout: Any, rows: IntArray, what: str) -> None:
        if len(np.unique(self.values[rows])) < 2:
            raise ValueError(f"holdout={shown(holdout)} leaves one class of y to {what}: use another share")

    def alone(self) -> FloatArray:
        return self.scores[np.newaxis]

    def measured(self) -> dict[str, Any]:
        return {"numbers": self.values}

    def about(self) -> dict[str, Any]:
        """Return the entries of a record: the classes in their order."""
        return {"kind": self.words.kind, "order": list(self.order)}

    def residuals(self, columns: FloatArray, design: Design, *, has_more: bool = False) -> ScoreTarget:
        """Return the slopes of the log-likelihood: how far a sample lies above the class that its model expects."""
        fit = fit_ordered(self._codes, columns, design.offset)
        below = np.column_stack([np.zeros(len(columns)), fit.at_most, np.ones(len(columns))])
        slopes, chances = below[:, 1:] + below[:, :-1] - 1, np.diff(below, axis=1)
        left = slopes[np.arange(len(columns)), numbered_classes(self._codes)]
        check_left(left, self.values)
        variances, thirds = ((slopes**power * chances).sum(axis=1) for power in (2, 3))
        return standardised("logistic", left, columns, variances, thirds)

    def fits(self, design: Design, rows: IntArray | None = None) -> Fits:
        every = slice(None) if rows is None else rows
        return _OrderedFits(self._codes[every], None if design.offset is None else design.offset[every])

    def coefficients(self, columns: FloatArray, design: Design, clusters: IntArray | None = None) -> Coefficients:
        fit = fit_ordered(self._codes, columns, design.offset)
        return Coefficients(fit.coefficients, fit.covariance)


class OrderedFit(NamedTuple):
    """A model of proportional odds at the maximum of its likelihood."""

    #: (n_columns,): log odds ratios of a higher class; 0 for a constant and for sums of columns before it.
    coefficients: FloatArray
    covariance: FloatArray  #: (n_columns, n_columns)
    #: (n_samples, n_classes − 1): chance of each class or a lower one, but the highest.
    at_most: FloatArray
    log_likelihood: float


def fit_ordered(codes: IntArray, columns: FloatArray, offset: FloatArray | None = None) -> OrderedFit:
    """Fit log odds of a higher class that are linear in the columns, with the same slopes at each threshold.

    - `codes` (n_samples,): classes, in their order.
    - `columns` (n_samples, n_columns): constants among their sums are left out: thresholds are constants.
    - `offset` (n_samples,): a known part of the log odds.

    Examples
    --------
    Of two classes it is the logistic model.

    >>> columns = np.column_stack([np.ones(8), np.repeat([0.0, 1.0], 4)])
    >>> fit = fit_ordered(np.array([0, 0, 0, 1, 0, 1, 1, 1]), columns)
    >>> fit.coefficients.round(4).tolist(), fit.at_most[[0, 7], 0].round(4).tolist()
    ([0.0, 2.1972], [0.75, 0.25])
    """
    classes, places = numbered_classes(codes), _beside_thresholds(columns)
    # Columns of any unit: the largest value of each is 1.
    scale = np.abs(columns[:, places]).max(axis=0, initial=0.0)
    kept = columns[:, places] / scale
    likelihood = _proportional_odds(classes, kept, offset)
    value, b = largest_likelihood(likelihood, _start(classes, len(places)))
    n_thresholds = b.shape[1] - len(places)
    inverse = np.linalg.pinv(likelihood(b)[1]()[1], hermitian=True)[n_thresholds:, n_thresholds:]
    coefficients, covariance = with_dependent(
        b[0, n_thresholds:] / scale, inverse / np.outer(scale, scale), places, columns.shape[1]
    )
    known = 0.0 if offset is None else offset
    at_most = _logistic(b[0, :n_thresholds] - (kept @ b[0, n_thresholds:] + known)[:, np.newaxis])
    return OrderedFit(coefficients, covariance, at_most, value)


class _OrderedFits(Fits):
    """Models of proportional odds."""

    def __init__(self, codes: IntArray, offset: FloatArray | None) -> None:
        self._classes, self._offset = numbered_classes(codes), offset  # some samples may lack a class

    def fit(self, columns: FloatArray, smaller: Fitted | None = None) -> Fitted:
        places = _beside_thresholds(columns)
        start = _start(self._classes, len(places))
        if smaller is not None:
            start[:, : smaller.start.shape[1]] = smaller.start
        value, b = largest_likelihood(_proportional_odds(self._classes, columns[:, places], self._offset), start)
        return Fitted(value, columns.shape[1], b)

    def ratio_log_p(self, chi2: float, df: int, n_columns: int) -> float:
        return log_p_of_classes(chi2, df, effective_size(self._classes), n_columns)


def numbered_classes(codes: IntArray) -> IntArray:
    """Number the classes that there are, from 0, in their order."""
    return np.asarray(np.unique(codes, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _beside_thresholds(columns: FloatArray) -> IntArray:
    """Return the places of columns that are no sums of columns before them and of a constant."""
    return independent_places(np.column_stack([np.ones(len(columns)), columns]))[1:] - 1


def _start(classes: IntArray, n_columns: int) -> FloatArray:
    """Return the thresholds of a model without columns, and zeros for these, (1, n_thresholds + n_columns)."""
    at_most = np.cumsum(np.bincount(classes))[:-1] / len(classes)
    return np.concatenate([np.log(at_most / (1 - at_most)), np.zeros(n_columns)])[np.newaxis]


def _logistic(x: FloatArray) -> FloatArray:
    from scipy.special import expit

    return np.asarray(expit(x))


def _proportional_odds(classes: IntArray, columns: FloatArray, offset: FloatArray | None) -> Likelihood:
    """Return the likelihood: thresholds θ come first among the coefficients, the slopes of columns behind them.

    ln P(class) = ln F(upper) + ln(1 − F(lower)) + ln(1 − exp(θ_lower − θ_upper)), F the logistic function, where the
    parts of the lowest and the highest class that are infinite are 0. Each part is concave.
    """
    sizes = np.bincount(classes).astype(np.float64)
    n_thresholds = len(sizes) - 1
    has_upper, has_lower = classes < n_thresholds, classes > 0
    upper_is = np.asarray(classes[:, np.newaxis] == np.arange(n_thresholds), dtype=np.float64)
    lower_is = np.asarray(classes[:, np.newaxis] == np.arange(1, n_thresholds + 1), dtype=np.float64)
    known = 0.0 if offset is None else offset

    def likelihood(b: FloatArray) -> tuple[float, Slopes]:
        thresholds, centre = b[0, :n_thresholds], columns @ b[0, n_thresholds:] + known
        gaps = np.diff(thresholds)
        if (gaps <= 0).any():
            return -np.inf, lambda: (np.empty(0), np.empty((0, 0)))
        upper = np.where(has_upper, upper_is @ thresholds - centre, np.inf)
        lower = np.where(has_lower, lower_is @ thresholds - centre, -np.inf)
        of_gaps = sizes[1:-1] * np.log(-np.expm1(-gaps))
        value = float(of_gaps.sum() - np.logaddexp(0.0, -upper).sum() - np.logaddexp(0.0, lower).sum())

        def slopes() -> tuple[FloatArray, FloatArray]:
            above, below = _logistic(-upper), _logistic(lower)  # chances beyond both ends of the class
            of_upper, of_lower = above * (1 - above), below * (1 - below)
            between = -np.expm1(-gaps)
            pull = sizes[1:-1] * np.exp(-gaps) / between
            of_thresholds = upper_is.T @ above - lower_is.T @ below
            of_thresholds[1:] += pull
            of_thresholds[:-1] -= pull
            stiff = pull / between
            square = np.diag(upper_is.T @ of_upper + lower_is.T @ of_lower)
            for k, more in enumerate(stiff):
                square[k : k + 2, k : k + 2] += more * np.array([[1.0, -1.0], [-1.0, 1.0]])
            across = -(upper_is * of_upper[:, np.newaxis] + lower_is * of_lower[:, np.newaxis]).T @ columns
            inner = columns.T @ ((of_upper + of_lower)[:, np.newaxis] * columns)
            return (
                np.concatenate([of_thresholds, columns.T @ (below - above)]),
                np.block([[square, across], [across.T, inner]]),
            )

        return value, slopes

    return likelihood


def _of_codes(codes: IntArray, order: tuple[str, ...], strata: Strata | None = None) -> OrderedClasses:
    values = codes.astype(np.float64)
    return OrderedClasses(values, target_scores(values, strata, "ranks"), "ranks", order=order)


def scored_again(
    y: Any, *, n_samples: int, strata: Strata | None, scale: str | None, order: list[str]
) -> NumberOutcome | OrderedClasses:
    """Return the outcome of new samples as that of the first ones: classes in the same order, or numbers."""
    if order:
        found = ordered_classes(y, n_samples=n_samples, decision="ordered", strata=strata, order=tuple(order))
        assert found is not None
        return found
    is_number(y, "number")  # refuses labels
    return number_outcome(decision_numbers(y, n_samples=n_samples), strata, scale=scale or "ranks")


def ordered_classes(
    y: Any, *, n_samples: int, decision: str, strata: Strata | None = None, order: tuple[str, ...] = ()
) -> OrderedClasses | None:
    """Return an outcome of ordered classes; None where it is none, or has two classes.

    - `y`: an ordered categorical; with ``decision="ordered"`` also numbers, each of which is a class.
    - `order`: the classes of the first samples, which new ones must be among.

    Examples
    --------
    >>> ordered_classes([1, 3, 2, 3], n_samples=4, decision="ordered").order
    ('1', '2', '3')
    >>> ordered_classes([1, 3, 2, 3], n_samples=4, decision="auto") is None
    True
    """
    column = decision_column(y)
    if not order and decision != "ordered" and not (decision == "auto" and column.is_ordered):
        return None
    values = column.read()
    check_length("y", values, n_samples)
    check_not_missing(values)
    if column.kind == ColumnKind.LABEL and not (column.is_ordered or order):
        raise ValueError(
            "decision='ordered' needs numbers or ordered categories in y, not labels without an order: give a pandas "
            "Categorical with ordered=True, or numbers, or use decision='classes'"
        )
    used, codes = np.unique(values, return_inverse=True)
    # 15 digits: 0.1 + 0.2 and 0.3 of another file have one name.
    names = [f"{value:.15g}" if column.levels is None else str(column.levels[int(value)]) for value in used.tolist()]
    check_encodable("a label of y", names)
    if doubled := [name for name, n in Counter(names).items() if n > 1]:
        raise ValueError(
            f"y has several classes {shown(doubled[0])}, which have to be one: round the numbers, or rename categories"
        )
    if order:
        unknown = [name for name in names if name not in order]
        if unknown:
            raise ValueError(f"y has a class {shown(unknown[0])}, which the first samples do not have: leave it out")
        if len(used) < 2:
            raise ValueError(f"y has one class only: every sample is {shown(names[0])}: two or more classes are needed")
        return _of_codes(np.array([order.index(name) for name in names])[codes.reshape(-1)], order, strata)
    if len(used) > _MAX_ORDERED:
        advice = "merge some" if column.kind == ColumnKind.LABEL else "use decision='number'"
        raise ValueError(f"decision='ordered' is for few classes, and y has {len(used)} values: {advice}")
    if len(used) <= 2:
        return None
    return _of_codes(codes.reshape(-1).astype(np.int64), tuple(names), strata)
