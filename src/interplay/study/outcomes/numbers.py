"""Numbers that are not cut → NumberOutcome: their scores, by ranks or by values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, in_unit, numbered
from interplay.base.checks import check_choice, shown
from interplay.base.user_warnings import warn
from interplay.study.columns import ColumnKind, check_length, decision_column
from interplay.study.outcomes.classes import MIN_CLASS_SIZE, check_not_missing, is_continuous
from interplay.study.strata import Strata

SCALE_CHOICES = ("ranks", "values")

#: Under "auto", whole numbers with more values than this are numbers where some values are too rare to be classes.
_MANY_VALUES = 5

#: A class with fewer samples is too rare at the ends of the order, where counts and grades thin out.
_FEW_AT_AN_END = 5


@dataclass(frozen=True, eq=False)
class ResidualModel:
    """A model of an outcome whose residuals are searched: what the chance of a score test depends on.

    Attributes
    ----------
    kind : str
        "linear", "logistic" or "cox".
    columns : (n_samples, n_columns) float64
        Of the model: a constant, strata, covariates; none is a sum of others.
    variances, thirds : (n_samples,) float64
        Variance and third central moment of each residual under the model, in units of the scores. Of a linear model
        variances are equal.
    """

    kind: str
    columns: FloatArray
    variances: FloatArray
    thirds: FloatArray


@dataclass(frozen=True)
class NumberOutcome:
    """An outcome of numbers that are not cut, or residuals of an outcome of another kind.

    Attributes
    ----------
    values : (n_samples,) float64
        As they were given; residuals where there is a `model`.
    scores : (n_samples,) float64
        The values as tests compare them, higher for higher values: normal scores of ranks, within strata if there are
        any, or standardised values.
    scale : str
        "ranks" or "values": what the scores are made of.
    model : ResidualModel, optional
        The model of covariates, an offset or times whose residuals these are.
    """

    values: FloatArray
    scores: FloatArray
    scale: str = "ranks"
    model: ResidualModel | None = None
    kind: ClassVar[str] = "number"
    df: ClassVar[int] = 1

    @property
    def n_informative(self) -> int:
        """What the number of columns of a model is measured by: samples."""
        return len(self.values)

    @property
    def exchanged(self) -> IntArray:
        """What relabelings exchange, (n_samples,): the numbers of the distinct values, ascending."""
        return numbered(self.values)

    @property
    def labels(self) -> list[Any]:
        """No classes, hence no labels."""
        return []

    @property
    def sizes(self) -> IntArray:
        """All samples, (1,)."""
        return np.array([len(self.values)], dtype=np.int64)


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


def about_numbers(outcome: NumberOutcome) -> dict[str, Any]:
    """Return the entries of a record about an outcome of numbers: its quartiles, and how many values it has.

    Examples
    --------
    >>> about_numbers(number_outcome(np.arange(9.0)))
    {'quartiles': [0.0, 2.0, 4.0, 6.0, 8.0], 'n_values': 9}
    """
    values, unit = in_unit(outcome.values)
    # Of infinite values there is no mean of two: the lower one is taken.
    is_finite = bool(np.isfinite(values).all())
    quartiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="linear" if is_finite else "lower") * unit
    return {"quartiles": quartiles.tolist(), "n_values": len(np.unique(outcome.values))}


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

    Parameters
    ----------
    values : (n_samples,) float64
        Without NaN, not all equal.
    strata : Strata, optional
        Ranks are those within the stratum.
    scale : "ranks" or "values"
        Normal scores of mid-ranks r among N samples, Φ⁻¹((r − ½)/N), or standardised values.

    Examples
    --------
    >>> number_outcome(np.array([3.0, 1.0, 2.0])).scores.round(2).tolist()
    [0.97, -0.97, 0.0]
    """
    check_choice("scale", scale, SCALE_CHOICES)
    if scale == "values":
        if not np.isfinite(values).all():
            raise ValueError("y has infinite values, which scale='values' cannot average: use scale='ranks'")
        scaled, _ = in_unit(values)
        return NumberOutcome(values, np.asarray((scaled - scaled.mean()) / scaled.std()), scale)
    scores = np.empty(len(values))
    codes = np.zeros(len(values), dtype=np.int64) if strata is None else strata.codes
    for stratum in range(int(codes.max(initial=0)) + 1):
        inside = np.flatnonzero(codes == stratum)
        scores[inside] = normal_scores(values[inside])
    return NumberOutcome(values, scores, scale)


def normal_scores(values: FloatArray) -> FloatArray:
    """Return Φ⁻¹((r − ½)/N) of the mid-ranks r of N values."""
    from scipy.special import ndtri

    _, place, sizes = np.unique(values, return_inverse=True, return_counts=True)
    mid_ranks = np.cumsum(sizes) - (sizes - 1) / 2
    return np.asarray(ndtri((mid_ranks[place] - 0.5) / len(values)))


def check_number_strata(strata: Strata, outcome: NumberOutcome) -> None:
    """Refuse strata that determine a number outcome; warn of single strata that do."""
    low, high = np.full(strata.n_strata, np.inf), np.full(strata.n_strata, -np.inf)
    np.minimum.at(low, strata.codes, outcome.values)
    np.maximum.at(high, strata.codes, outcome.values)
    same = np.flatnonzero(low == high)
    if len(same) == strata.n_strata:
        raise ValueError(
            "strata determines y: all samples of a stratum have the same value, so that the effects of stratum and "
            "outcome cannot be separated; if the strata are donors or families, give them as groups=, otherwise use "
            "other strata"
        )
    if len(same):
        listed = ", ".join(shown(strata.labels[stratum]) for stratum in same[:3]) + ", ..." * (len(same) > 3)
        warn(
            f"strata: {len(same)} of {strata.n_strata} strata have one value of y only ({listed}), which carry no "
            "information and reduce the power: leave these samples out, or merge strata"
        )
