"""The decision, from labels or numbers of any kind to classes numbered from 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray, numbered
from interplay.base.checks import check_choice, check_encodable, check_int, shown, warn
from interplay.data.models.classes import class_likelihood, class_likelihood_ratio, fit_classes
from interplay.data.models.per_unit import PerUnit, logistic_per_unit
from interplay.data.study.columns import (
    EXACT_FLOAT_LIMIT,
    Column,
    ColumnKind,
    check_length,
    decision_column,
    stands_for_missing,
    tidy,
)
from interplay.data.study.design import Design, Strata
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
from interplay.data.study.outcomes.targets import ClassTarget, ScoreTarget, Target
from interplay.data.study.rank_thresholds import even_ranks

DECISION_CHOICES = ("auto", "classes", "number", "ordered", "continuous")

#: Under "auto", whole numbers with more distinct values than this are continuous.
MAX_AUTO_CLASSES = 20

#: Whole numbers that lie this close together are numbered without sorting: flags, and classes numbered already.
MAX_SPAN_COUNTED = 1024

#: A class with fewer samples than this says nothing about variation within it.
MIN_CLASS_SIZE = 2


@dataclass(frozen=True)
class DecisionClasses(ClassTarget, Outcome):
    """The decision, as classes numbered from 0: a target as it is."""

    model_kind: ClassVar[str] = "logistic"
    model_name: ClassVar[str] = "logistic"

    def of_samples(self, rows: IntArray) -> DecisionClasses:
        return DecisionClasses(self.codes[rows], self.labels, self.kind)

    def made_again(
        self, rows: IntArray, y: Any, strata: Strata | None, compared: Target
    ) -> tuple[Any, DecisionClasses, Target]:
        column = decision_column(y)
        column = replace(column, read=lambda: decision_column(y).read()[rows])
        # Fewer samples might look as if their outcome were of another kind.
        found = decision_classes(
            column, n_samples=len(rows), decision=self.kind, decision_divisions=max(self.n_classes - 1, 1)
        )
        return column, found, found

    def as_compared(self, compared: Target) -> DecisionClasses:
        return DecisionClasses(compared.class_codes, compared.labels, compared.kind)

    def searches_residuals(self, compared: Target) -> bool:
        """Say whether there are two classes; several are compared as they are."""
        return len(compared.labels) == 2

    def check_part(self, holdout: Any, rows: IntArray, what: str) -> None:
        sizes = np.bincount(self.codes[rows], minlength=self.n_classes)
        if sizes.min() < MIN_CLASS_SIZE:
            label = shown(self.labels[int(sizes.argmin())])
            raise ValueError(
                f"holdout={shown(holdout)} leaves fewer than {MIN_CLASS_SIZE} samples of class {label} to {what}: "
                "use another share"
            )

    def alone(self) -> FloatArray:
        """Return indicators of the second of two classes, or of each."""
        return np.array([self.codes == q for q in range(self.n_classes == 2, self.n_classes)], dtype=np.float64)

    def measured(self) -> dict[str, Any]:
        return {"codes": self.codes, "labels": tuple(str(label) for label in self.labels)}

    def check_offset(self) -> None:
        if self.n_classes > 2:
            raise ValueError(
                f"offset is one number per sample, and y has {self.n_classes} classes: use it with two classes, "
                "numbers or times"
            )

    def residuals(self, columns: FloatArray, design: Design, *, has_more: bool = False) -> ScoreTarget:
        """Return the residuals of a logistic model; several classes are compared one by one."""
        assert self.n_classes == 2
        p = fit_classes(self.codes, columns, 2, offset=design.offset).probabilities[:, 1]
        left = self.codes - p
        check_left(left, self.codes.astype(np.float64))
        variances = p * (1 - p)
        return standardised("logistic", left, columns, variances, variances * (1 - 2 * p))

    def responses(self, design: Design) -> FloatArray:
        if design.offset is not None:
            return super().responses(design)
        return np.asarray(self.codes[:, np.newaxis] == np.arange(1, self.n_classes), dtype=np.float64)

    @property
    def n_informative(self) -> int:
        return int(self.sizes.min())

    def fits(self, design: Design, rows: IntArray | None = None) -> Fits:
        every = slice(None) if rows is None else rows
        return _ClassFits(self.codes[every], self.n_classes, None if design.offset is None else design.offset[every])

    def coefficients(self, columns: FloatArray, design: Design, clusters: IntArray | None = None) -> Coefficients:
        assert self.n_classes == 2
        fit = fit_classes(self.codes, columns, 2, offset=design.offset)
        return Coefficients(fit.coefficients[0], fit.covariance)

    def effects(self, columns: FloatArray, design: Design, clusters: IntArray | None = None) -> Coefficients | None:
        return self.coefficients(columns, design) if self.n_classes == 2 else None

    def per_unit(self, variables: FloatArray, design: Design) -> PerUnit | None:
        if self.n_classes != 2:
            return None
        return logistic_per_unit(variables, self.codes == 1, design.columns(), design.offset)

    def nested_ratio(self, columns: FloatArray, n_smaller: int, rows: IntArray) -> tuple[float, int]:
        return class_likelihood_ratio(self.codes[rows], columns, n_smaller)

    def ratio_on_other_scale(
        self, columns: FloatArray, n_smaller: int, rows: IntArray, offset: FloatArray | None
    ) -> tuple[float, int] | None:
        """Compare models of two classes with probits in the place of log odds, of which an `offset` may be known."""
        if self.n_classes > 2:
            return None
        # A logit is about 1.7 times as large as the probit of the same probability.
        known = None if offset is None else offset[rows] / 1.7
        return class_likelihood_ratio(self.codes[rows], columns, n_smaller, probit=True, offset=known)


class _ClassFits(Fits):
    """Logistic models, multinomial ones of more than two classes."""

    def __init__(self, codes: IntArray, n_classes: int, offset: FloatArray | None) -> None:
        self._codes, self._n_classes, self._offset = codes, 2, offset
        if n_classes > 2:  # some samples may lack a class
            self._codes = numbered(codes)
            self._n_classes = max(int(self._codes.max(initial=0)) + 1, 2)
        self.n_each = self._n_classes - 1

    def fit(self, columns: FloatArray, smaller: Fitted | None = None) -> Fitted:
        m = columns.shape[1]
        start = np.zeros((self._n_classes - 1, m))
        if smaller is not None:
            start[:, : smaller.start.shape[1]] = smaller.start
        value, b = class_likelihood(self._codes, columns, self._n_classes, start=start, offset=self._offset)
        return Fitted(value, m, b)

    def ratio_log_p(self, chi2: float, df: int, n_columns: int) -> float:
        return log_p_of_classes(chi2, df, effective_size(self._codes), n_columns)


def decision_classes(y: Any, *, n_samples: int, decision: str = "auto", decision_divisions: int = 1) -> DecisionClasses:
    """Return the decision as classes numbered from 0.

    - `y`, array-like, (n_samples,) or (n_samples, 1): labels or numbers: bool, whole numbers, floats, text or
      categorical, in an array, list, or any series that narwhals knows.
    - `n_samples`: samples of X, which `y` must match.
    - `decision` ("auto", "classes", "number" or "continuous"): whether values are classes, or numbers to be split by
      rank into `decision_divisions` + 1 classes. "auto": numbers with fractional parts, and whole numbers with more
      than 20 distinct values, are continuous, unless there are only two distinct values.

    Returns
    -------
    DecisionClasses
        Classes in the order of their values, or of the categories.

    Examples
    --------
    >>> decision_classes(["well", "ill", "ill", "well"], n_samples=4)
    DecisionClasses(codes=array([1, 0, 0, 1]), labels=['ill', 'well'], kind='classes')
    >>> decision_classes([0.3, 2.5, 1.5, 0.1, 7.0, 2.0], n_samples=6).labels
    ['y <= 2', 'y > 2']
    """
    check_choice("decision", decision, DECISION_CHOICES)
    decision_divisions = check_int("decision_divisions", decision_divisions, low=1, high=255)
    column = decision_column(y)
    values = column.read()
    check_length("y", values, n_samples)
    check_not_missing(values)
    _warn_of_odd_classes(column)
    if decision in ("number", "continuous") and column.kind == ColumnKind.LABEL:
        raise ValueError(f"decision={decision!r} needs numbers in y, not labels: use decision='classes'")
    if decision in ("number", "continuous") or (
        decision == "auto" and column.kind == ColumnKind.NUMBER and is_continuous(values)
    ):
        classes = _classes_by_rank(values, decision_divisions)
    else:
        classes = _classes_by_value(values, column.levels)
    _check_classes(classes)
    if classes.kind == "continuous" and classes.n_classes <= decision_divisions:
        warn(
            f"decision_divisions: equal values in y leave {classes.n_classes} of {decision_divisions + 1} classes: "
            "use a smaller decision_divisions, or decision='classes'"
        )
    return classes


def one_class(n_samples: int) -> DecisionClasses:
    """Return the classes of samples without an outcome: all of one class."""
    return DecisionClasses(np.zeros(n_samples, dtype=np.int64), ["all"])


def check_not_missing(values: npt.NDArray[Any]) -> None:
    """Refuse an outcome with missing values."""
    if values.dtype.kind != "f":
        return
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        plural = "s" * (len(missing) > 1)
        raise ValueError(
            f"y has {len(missing)} missing value{plural} (the first at sample {missing[0]}): leave those samples out"
        )


def _warn_of_odd_classes(column: Column) -> None:
    """Warn of classes such as "?", and of numbers that are classes because of a slip among them."""
    if column.kind != ColumnKind.LABEL or column.levels is None:
        return
    odd = [level for level in column.levels if stands_for_missing(tidy(level), among_numbers=False)]
    if odd:
        warn(f"y has a class {shown(odd[0])}, which usually stands for a missing value: if so, leave those samples out")
    elif column.doubt is not None and column.doubt.strays:
        warn(
            f"y is text and taken as classes, although {column.doubt.reason}: convert it to numbers if it is a "
            "measurement"
        )


def is_continuous(values: npt.NDArray[Any]) -> bool:
    """Say whether "auto" takes numbers as continuous: fractions, or many different whole numbers."""
    if values.dtype.kind in "biu" and (not len(values) or int(values.max()) - int(values.min()) < MAX_AUTO_CLASSES):
        return False
    # Counted, so that numpy sorts: its hashing (from 2.3 on) aborts a program that ends while a daemon thread is in it.
    distinct = np.unique(values, return_counts=True)[0]
    # Two values are two classes however they are written; a split by rank could only give the same, or fail.
    if len(distinct) <= 2:
        return False
    if values.dtype.kind == "f":
        finite = distinct[np.isfinite(distinct)]
        if bool((finite != np.floor(finite)).any()):
            return True
    return len(distinct) > MAX_AUTO_CLASSES


def _classes_by_value(values: npt.NDArray[Any], levels: list[Any] | None) -> DecisionClasses:
    used, codes = _numbered(values)
    if used.dtype.kind == "f" and np.isfinite(used).all() and (used == np.floor(used)).all():
        used = used.astype(np.int64) if np.abs(used).max(initial=0) < EXACT_FLOAT_LIMIT else used  # 1, not 1.0
    labels = used.tolist() if levels is None else [levels[int(number)] for number in used]
    check_encodable("a label of y", labels)
    if [str(label).lower() for label in labels] == ["case", "control"]:  # effects are those of cases
        return DecisionClasses(1 - codes.astype(np.int64), labels[::-1])
    return DecisionClasses(codes.astype(np.int64), labels)


def _numbered(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Return the distinct values in order, and each value's number among them."""
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < MAX_SPAN_COUNTED and abs(high) < 2**62:
            above_low = values.astype(np.int64) - low
            is_used = np.bincount(above_low) > 0
            used = np.flatnonzero(is_used) + low
            return used.astype(values.dtype), np.cumsum(is_used)[above_low] - 1
    used, codes = np.unique(values, return_inverse=True)
    return used, codes


def _classes_by_rank(values: npt.NDArray[Any], divisions: int) -> DecisionClasses:
    """Split numbers by rank into classes of equal size, as a variable with range 0; equal values stay together."""
    thresholds = np.sort(values)[even_ranks(len(values), divisions)]
    levels: IntArray = np.searchsorted(thresholds, values, side="left").astype(np.int64)
    used, codes = np.unique(levels, return_inverse=True)
    # Only the thresholds between classes that occur bound them.
    bounds = thresholds[used[:-1]].astype(np.float64)
    return DecisionClasses(codes.astype(np.int64), _range_labels(bounds), "continuous")


def _range_labels(bounds: FloatArray) -> list[str]:
    if not len(bounds):
        return ["y"]
    middle = [f"{low:g} < y <= {high:g}" for low, high in pairwise(bounds)]
    return [f"y <= {bounds[0]:g}", *middle, f"y > {bounds[-1]:g}"]


def _check_classes(classes: DecisionClasses) -> None:
    continuous = classes.kind == "continuous"
    if classes.n_classes < 2:
        if continuous:
            reason = "too many samples share the highest value to split it by rank: use decision='classes'"
        else:
            reason = f"every sample is {shown(classes.labels[0])}: two or more classes are needed"
        raise ValueError(f"y has one class only: {reason}")
    small = np.flatnonzero(classes.sizes < MIN_CLASS_SIZE)
    if len(small):
        advice = (
            "use a smaller decision_divisions"
            if continuous
            else "leave it out (on the command line with --min-class), merge it with another"
        )
        if not continuous and all(isinstance(label, int | float) for label in classes.labels):
            advice += ", or use decision='number' if the values have an order"
        raise ValueError(
            f"y has a class with fewer than {MIN_CLASS_SIZE} samples, {shown(str(classes.labels[small[0]]))}: {advice}"
        )
