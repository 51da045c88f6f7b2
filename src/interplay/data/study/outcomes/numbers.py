"""Numbers that are not cut → NumberOutcome: their scores, by ranks or by values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, in_unit
from interplay.base.checks import check_choice, shown
from interplay.base.tails import chi2_of_log_tail, log_f_tail
from interplay.data.models.linear import fit_linear, independent_columns, independent_places
from interplay.data.models.per_unit import PerUnit, linear_per_unit
from interplay.data.study.columns import ColumnKind, check_length, decision_column
from interplay.data.study.design import Design, Strata
from interplay.data.study.outcomes.classes import MIN_CLASS_SIZE, check_not_missing, is_continuous
from interplay.data.study.outcomes.outcome import Coefficients, Fits, Fitted, Outcome, SecondTest, check_left
from interplay.data.study.outcomes.targets import ResidualModel, ScoreTarget, Target, target_scores

SCALE_CHOICES = ("ranks", "values")

#: Residuals beyond so many of their standard deviations, by the median, are clipped where values are tested.
_CLIPPED_AT = 2.5
_CLIPPING_ROUNDS = 20

#: The standard deviation of a normal distribution is so many times its median absolute deviation.
_MAD_TO_SD = 1.4826

#: Residuals with less than this share of the variance of values leave nothing to search where ranks are compared: a
#: few outliers may have nearly all of the variance.
_NO_VALUES_LEFT = 1e-12

#: Under "auto", whole numbers with more values than this are numbers where some values are too rare to be classes.
_MANY_VALUES = 5

#: A class with fewer samples is too rare at the ends of the order, where counts and grades thin out.
_FEW_AT_AN_END = 5


@dataclass(frozen=True)
class NumberOutcome(ScoreTarget, Outcome):
    """An outcome of numbers that are not cut: a target as it is."""

    model_kind: ClassVar[str] = "linear"
    model_name: ClassVar[str] = "linear"

    def of_samples(self, rows: IntArray) -> NumberOutcome:
        """Return the numbers of some samples, ranked among themselves."""
        return number_outcome(self.values[rows], None, scale=self.scale)

    @property
    def n_informative(self) -> int:
        return len(self.values)

    def made_again(
        self, rows: IntArray, y: Any, strata: Strata | None, compared: Target
    ) -> tuple[Any, NumberOutcome, Target]:
        column = decision_column(y)
        found = number_outcome(self.values[rows], strata, scale=self.scale)
        return replace(column, read=lambda: decision_column(y).read()[rows]), found, found

    def check_part(self, holdout: Any, rows: IntArray, what: str) -> None:
        if len(np.unique(self.values[rows])) < 2:
            raise ValueError(f"holdout={shown(holdout)} leaves one value of y to {what}: use another share")

    def alone(self) -> FloatArray:
        return self.scores[np.newaxis]

    def measured(self) -> dict[str, Any]:
        return {"numbers": self.values}

    def beyond(self, design: Design) -> tuple[Outcome, Design]:
        if design.offset is None:
            return self, design
        left = number_outcome(self.values - design.offset, design.strata, scale=self.scale)
        return left, replace(design, offset=None)

    def residuals(self, columns: FloatArray, design: Design, *, has_more: bool = False) -> ScoreTarget:
        left = fit_linear(self.scores, columns).residuals
        check_left(left, self.scores)
        if not has_more and self.scale == "ranks":
            # Ranks are not linear in the covariates even where the values are: check the values too.
            values, _ = in_unit(self.values)
            check_left(fit_linear(values, columns).residuals, values, share=_NO_VALUES_LEFT)
        found = number_outcome(left, design.strata, scale=self.scale)
        n = len(left)
        return ScoreTarget(left, found.scores, self.scale, ResidualModel("linear", columns, np.ones(n), np.zeros(n)))

    def in_unit(self) -> tuple[Outcome, float]:
        values, unit = in_unit(self.values)
        return replace(self, values=values), unit

    def slopes(self, columns: FloatArray, design: Design) -> tuple[FloatArray, FloatArray]:
        return fit_linear(self.values, columns, design.offset).residuals, np.ones(len(self.values))

    def responses(self, design: Design) -> FloatArray:
        return self.scores[:, np.newaxis]

    def fits(self, design: Design, rows: IntArray | None = None) -> Fits:
        return _LinearFits(self.scores if rows is None else self.scores[rows])

    def coefficients(self, columns: FloatArray, design: Design, clusters: IntArray | None = None) -> Coefficients:
        return _coefficients(self.scores, columns)

    def effects(self, columns: FloatArray, design: Design, clusters: IntArray | None = None) -> Coefficients | None:
        values, unit = in_unit(self.values)
        return _coefficients(values, columns)._replace(unit=unit) if np.isfinite(values).all() else None

    def per_unit(self, variables: FloatArray, design: Design) -> PerUnit | None:
        values = self.values if design.offset is None else self.values - design.offset
        if not np.isfinite(values).all():
            return None
        scaled, unit = in_unit(values)
        found = linear_per_unit(variables, scaled, design.columns())
        return found._replace(estimate=found.estimate * unit, error=found.error * unit)

    def second_test(
        self, design: Design, smaller: FloatArray, larger: FloatArray, rows: IntArray, groups: IntArray | None
    ) -> SecondTest:
        """Return F of the added columns, ln p of Wald's test with HC3 variances, and residual degrees of freedom."""
        scores = self.scores[rows]
        known = np.hstack([design.columns()[rows], smaller])
        columns = np.hstack([known, larger])
        places = independent_places(columns)
        columns = columns[:, places]
        is_added = places >= known.shape[1]
        df, df_residual = int(is_added.sum()), len(scores) - len(places)
        if df == 0 or df_residual <= 0:
            return SecondTest(df_residual=max(df_residual, 0))
        basis, triangle = np.linalg.qr(columns)
        parts = basis.T @ scores
        left = scores - basis @ parts
        # Added columns stand last, so that their parts are those beyond the others.
        explained = float((parts[is_added] ** 2).sum())
        f = explained / df / max(float(left @ left) / df_residual, 1e-300)
        leverage = np.clip((basis**2).sum(axis=1), 0.0, 1 - 1e-10)
        inverse = np.linalg.inv(triangle)
        coefficients = inverse @ parts
        half = inverse @ (basis * (left / (1 - leverage))[:, np.newaxis]).T
        covariance = (half @ half.T)[np.ix_(is_added, is_added)]
        wald = float(coefficients[is_added] @ np.linalg.pinv(covariance, hermitian=True) @ coefficients[is_added])
        return SecondTest(f, float(log_f_tail(wald / df, df, df_residual)), df_residual)

    def nested_ratio(self, columns: FloatArray, n_smaller: int, rows: IntArray) -> tuple[float, int]:
        return linear_ratio(self.scores[rows], columns, n_smaller)

    def ratio_on_other_scale(
        self, columns: FloatArray, n_smaller: int, rows: IntArray, offset: FloatArray | None
    ) -> tuple[float, int] | None:
        """Compare linear models of the values as they were given, where the scores are those of ranks.

        Residuals of the smaller model are clipped (Huber's pseudo-values), so that outliers do not hide an effect.
        """
        if self.scale != "ranks":
            return None
        values = self.values[rows]
        finite = np.isfinite(values)
        if not finite.all():
            kept, values = columns[finite], values[finite]
            smaller = independent_columns(kept[:, :n_smaller])
            columns = independent_columns(np.hstack([smaller, kept[:, n_smaller:]]))
            n_smaller = smaller.shape[1]
        if not len(values) or columns.shape[1] <= n_smaller:
            return 0.0, 0
        values, _ = in_unit(values)
        clipped = _clipped(values - np.median(values), columns[:, :n_smaller])
        return linear_ratio(clipped, columns, n_smaller)


def _coefficients(scores: FloatArray, columns: FloatArray) -> Coefficients:
    fit = fit_linear(scores, columns)
    return Coefficients(fit.coefficients, fit.covariance, fit.df_residual)


class _LinearFits(Fits):
    """Linear models; the value of a fit is the sum of squares that is left."""

    def __init__(self, scores: FloatArray) -> None:
        self._scores = scores

    def fit(self, columns: FloatArray, smaller: Fitted | None = None) -> Fitted:
        basis = np.linalg.qr(columns)[0]
        left = self._scores - basis @ (basis.T @ self._scores)
        return Fitted(float(left @ left), columns.shape[1], np.empty((0, columns.shape[1])))

    def df(self, smaller: Fitted, larger: Fitted) -> int:
        return 0 if len(self._scores) <= larger.rank else super().df(smaller, larger)

    def ratio(self, smaller: Fitted, larger: Fitted) -> tuple[float, int]:
        df = self.df(smaller, larger)
        if not df:
            return 0.0, 0
        return f_as_chi2(max(smaller.value - larger.value, 0.0), larger.value, df, len(self._scores) - larger.rank), df

    def log_p(self, smaller: Fitted, larger: Fitted) -> float:
        df = self.df(smaller, larger)
        if not df or larger.value <= 0:
            return super().log_p(smaller, larger)
        df_residual = len(self._scores) - larger.rank
        f = max(smaller.value - larger.value, 0.0) / df / (larger.value / df_residual)
        return float(log_f_tail(f, df, df_residual))


def linear_ratio(scores: FloatArray, columns: FloatArray, n_smaller: int) -> tuple[float, int]:
    """Compare linear models of scores, with all columns and with the first ones: F on the scale of χ², and its df."""
    df, df_residual = columns.shape[1] - n_smaller, len(scores) - columns.shape[1]
    if df <= 0 or df_residual <= 0:
        return 0.0, 0
    basis = np.linalg.qr(columns)[0]
    parts = basis.T @ scores
    left = float(((scores - basis @ parts) ** 2).sum())
    return f_as_chi2(float((parts[n_smaller:] ** 2).sum()), left, df, df_residual), df


def f_as_chi2(explained: float, left: float, df: int, df_residual: int) -> float:
    """Return the χ² that has the p-value of F, of sums of squares that are explained and left."""
    if left <= 0:
        return float((df_residual + df) * 50.0)
    f = explained / df / (left / df_residual)
    return float(chi2_of_log_tail(log_f_tail(f, df, df_residual), df))


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


def is_number(y: Any, decision: str) -> bool:
    """Say whether an outcome is one of numbers, by its values or because `decision` says so.

    Examples
    --------
    >>> is_number([0.3, 2.5, 1.5], "auto"), is_number([0, 1, 1], "auto")
    (True, False)
    """
    column = decision_column(y)
    if decision in ("number", "continuous"):
        if column.kind == ColumnKind.LABEL:
            raise ValueError(f"decision={decision!r} needs numbers in y, not labels: use decision='classes'")
        return True
    if decision == "classes" or column.kind != ColumnKind.NUMBER:
        return False
    values = column.read()
    if is_continuous(values):
        return True
    used, sizes = np.unique(values, return_counts=True)
    if len(used) <= _MANY_VALUES:
        return False
    return int(sizes.min()) < MIN_CLASS_SIZE or min(int(sizes[0]), int(sizes[-1])) < _FEW_AT_AN_END


def note_on_counts(values: FloatArray, decision: str) -> str:
    """Say why whole numbers that "auto" would take as classes are numbers; nothing if they look like numbers.

    Examples
    --------
    >>> note_on_counts(np.array([0.0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 9]), "auto")
    'y has 7 whole numbers, some of them rare, and is taken as numbers, not as classes'
    """
    if decision != "auto" or is_continuous(values):
        return ""
    return f"y has {len(np.unique(values))} whole numbers, some of them rare, and is taken as numbers, not as classes"


def decision_numbers(y: Any, *, n_samples: int) -> FloatArray:
    """Return the numbers of an outcome, checked: one per sample, none missing, not all equal."""
    values = decision_column(y).read()
    check_length("y", values, n_samples)
    check_not_missing(values)
    numbers: FloatArray = values.astype(np.float64)
    if not len(numbers) or numbers.min() == numbers.max():
        raise ValueError("y has one value only: an outcome must differ between samples")
    return numbers


def number_outcome(values: FloatArray, strata: Strata | None = None, *, scale: str = "ranks") -> NumberOutcome:
    """Return numbers with their scores.

    - `values` (n_samples,): without NaN, not all equal.
    - `strata`: ranks are those within the stratum.
    - `scale` ("ranks" or "values"): normal scores of mid-ranks r among N samples, Φ⁻¹((r − ½)/N), or standardised
      values.

    Examples
    --------
    >>> number_outcome(np.array([3.0, 1.0, 2.0])).scores.round(2).tolist()
    [0.97, -0.97, 0.0]
    """
    check_choice("scale", scale, SCALE_CHOICES)
    return NumberOutcome(values, target_scores(values, strata, scale), scale)
