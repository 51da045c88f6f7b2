"""Variables to be looked at before they are believed: leaks of the outcome.

A column that follows from the outcome (the date of death of those who died) is the most significant of all and useless.
Leaks are recognised by their values alone, so each caution is a question to the user, who knows the meaning of the
column. Identifiers are recognised in ``interplay.data.study.table_checks``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray, mid_ranks, numbered
from interplay.base.tails import log_chi2_tail
from interplay.data.study.outcomes.targets import ScoreTarget, Target

if TYPE_CHECKING:
    from interplay.data.codes.tuple_counts import TupleCounts

Values = npt.NDArray[Any]

#: Cautions about values.
APART = "determines y completely"
TOLD = "determines y nearly completely"
NEARLY_APART = "tells the classes apart in nearly all samples"

#: Smaller classes are separated by chance too often; and, with the second number, by ranges of a good measurement.
_MIN_CLASS_SIZE = 5
_MIN_CLASS_SIZE_OF_RANGES = 20

#: Values are compared as levels if they have at least this many samples on average; otherwise by their order.
_MIN_LEVEL_SIZE = 5

#: So many values must be observed to say that they tell a number outcome.
_MIN_SAMPLES = 20

#: From this correlation of ranks on, in absolute value, a variable tells a number outcome.
_TOLD = 0.999

#: From this area under the ROC curve on, a variable tells two classes apart in nearly all samples; and one value does,
#: that holds all of a class, if at most this share of the other class has it.
_LARGE_AREA, _FEW_OF_OTHERS = 0.98, 0.05

#: A gain comes from missing values alone if, at this significance level, their part is significant and the rest is not.
_CHANCE = 0.05


class Leaks(Protocol):
    """What variables tell of an outcome that only its consequences can."""

    def of_values(self, values: Values, *, is_label: bool, is_same: bool) -> str | None:
        """Return the caution about the values of a variable; `is_same`: they are known to be those of the outcome."""

    def of_gaps(self, is_missing: BoolArray) -> bool:
        """Say whether the outcome follows from what is missing."""

    def of_gaps_alone(self, counted: list[TupleCounts], variable: int, *, n_tuples: float) -> bool:
        """Say whether the gains of a variable in its tuples come from what is missing alone."""


def leaks_of(target: Target, *, of_two: bool) -> Leaks:
    """Return what variables may tell of a target; `of_two`: the whole outcome has two classes."""
    return NumberLeaks(target.values) if isinstance(target, ScoreTarget) else ClassLeaks(target.codes, of_two)


class ClassLeaks(NamedTuple):
    """What variables tell of classes."""

    codes: IntArray
    of_two: bool

    def of_values(self, values: Values, *, is_label: bool, is_same: bool) -> str | None:
        if is_same or tells_classes_apart(values, self.codes, is_label=is_label):
            return APART
        # Of more classes, a variable may tell one from the rest and not be made from them, as sizes of flowers do.
        if self.of_two and nearly_tells_classes_apart(values, self.codes, is_label=is_label):
            return NEARLY_APART
        return None

    def of_gaps(self, is_missing: BoolArray) -> bool:
        return missing_values_tell_apart(is_missing, self.codes)

    def of_gaps_alone(self, counted: list[TupleCounts], variable: int, *, n_tuples: float) -> bool:
        return bool(counted) and all(
            gains_by_missing_values_alone(counts, variable, n_tuples=n_tuples) for counts in counted
        )


class NumberLeaks(NamedTuple):
    """What variables tell of numbers."""

    values: FloatArray

    def of_values(self, values: Values, *, is_label: bool, is_same: bool) -> str | None:
        return TOLD if is_same or tells_numbers(values, self.values, is_label=is_label) else None

    def of_gaps(self, is_missing: BoolArray) -> bool:
        return tells_numbers(is_missing.astype(np.float64), self.values, is_label=True)

    def of_gaps_alone(self, counted: list[TupleCounts], variable: int, *, n_tuples: float) -> bool:
        return False


def tells_classes_apart(values: Values, classes: IntArray, *, is_label: bool) -> bool:
    """Say whether the values of a variable determine the class of every sample.

    Values of which each has several samples do if none occurs in two classes; other numbers do if each class has a
    range of its own.

    Examples
    --------
    >>> classes = np.repeat([0, 1], 10)
    >>> tells_classes_apart(np.repeat([3, 7, 5, 7], 5), classes, is_label=True)
    False
    >>> tells_classes_apart(np.repeat([3, 7, 5, 4], 5), classes, is_label=True)
    True
    >>> tells_classes_apart(np.arange(40.0), np.repeat([0, 1], 20), is_label=False)
    True
    """
    sizes = np.bincount(classes)
    if len(sizes) < 2 or sizes.min() < _MIN_CLASS_SIZE:
        return False
    codes = numbered(values)  # all NaN are one value
    n_levels = int(codes.max()) + 1
    if n_levels < 2:
        return False
    if len(np.unique(codes * len(sizes) + classes)) > n_levels:
        return False  # a value in two classes
    if n_levels * _MIN_LEVEL_SIZE <= len(values):
        return True
    is_missing = values != values
    if is_label or is_missing.any() or sizes.min() < _MIN_CLASS_SIZE_OF_RANGES:
        return False
    in_order = classes[np.argsort(codes, kind="stable")]
    return int(np.count_nonzero(in_order[1:] != in_order[:-1])) == len(sizes) - 1


def nearly_tells_classes_apart(values: Values, classes: IntArray, *, is_label: bool) -> bool:
    """Say whether a variable tells two classes apart in nearly all samples.

    Numbers do if the area under their ROC curve is at least 0.98; numbers and labels do if one value holds all of a
    class and few of the other: the expenditure of those who have no card is 0.

    Examples
    --------
    >>> classes, rng = np.repeat([0, 1], [100, 300]), np.random.default_rng(0)
    >>> spent = np.where((classes == 0) | (np.arange(400) >= 395), 0, rng.exponential(size=400))
    >>> nearly_tells_classes_apart(spent, classes, is_label=False)
    True
    >>> nearly_tells_classes_apart(spent * (rng.random(400) < 0.8), classes, is_label=False)
    False
    """
    sizes = np.bincount(classes)
    if len(sizes) != 2 or sizes.min() < _MIN_CLASS_SIZE_OF_RANGES:
        return False
    seen = values == values
    codes = numbered(values[seen])
    counts = [np.bincount(codes[classes[seen] == q], minlength=int(codes.max(initial=0)) + 1) for q in (0, 1)]
    shares = np.array(counts) / sizes[:, np.newaxis]
    if ((shares == 1) & (shares[::-1] <= _FEW_OF_OTHERS)).any():
        return True
    n_first, n = int(np.count_nonzero(seen & (classes == 0))), int(np.count_nonzero(seen))
    if is_label or min(n_first, n - n_first) < _MIN_CLASS_SIZE_OF_RANGES:
        return False
    rank_sum = float(mid_ranks(values[seen])[classes[seen] == 0].sum())
    area = (rank_sum - n_first * (n_first + 1) / 2) / (n_first * (n - n_first))
    return max(area, 1 - area) >= _LARGE_AREA


def tells_numbers(values: Values, outcome: Values, *, is_label: bool) -> bool:
    """Say whether a number outcome follows from the values of a variable, nearly.

    Numbers tell it if its ranks rise or fall with theirs, with a correlation of 0.999 in absolute value; labels, and
    numbers of few values, if its ranks hardly vary where they are equal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=100)
    >>> [tells_numbers(x, y, is_label=False) for x in (np.exp(-y), y + 0.2 * rng.normal(size=100))]
    [True, False]
    """
    seen = values == values
    if np.count_nonzero(seen) < max(_MIN_SAMPLES, len(values) / 2):
        return False
    ranks = mid_ranks(outcome[seen])
    ranks = ranks - ranks.mean()
    total = float(ranks @ ranks)
    if total <= 0:
        return False
    codes = numbered(values[seen])
    sizes = np.bincount(codes)
    if len(sizes) * _MIN_LEVEL_SIZE <= len(codes):
        between = float((np.bincount(codes, weights=ranks) ** 2 / sizes).sum())
        return len(sizes) > 1 and between >= _TOLD**2 * total
    if is_label:
        return False
    of_values = mid_ranks(values[seen])
    of_values = of_values - of_values.mean()
    return bool(abs(float(of_values @ ranks)) >= _TOLD * np.sqrt(float(of_values @ of_values) * total))


def missing_values_tell_apart(is_missing: BoolArray, classes: IntArray) -> bool:
    """Say whether values are missing in all samples of some classes, and in none of the others."""
    sizes = np.bincount(classes)
    n_missing = np.bincount(classes, weights=is_missing, minlength=len(sizes))
    whole = n_missing == sizes
    return bool(sizes.min() >= _MIN_CLASS_SIZE and whole.any() and not whole.all() and ((n_missing == 0) | whole).all())


def gains_by_missing_values_alone(counts: TupleCounts, variable: int, *, n_tuples: float) -> bool:
    """Say whether the gain of a variable in its tuple comes from its last level, "missing", alone.

    The gain given the other members is split in two: of missing against observed, and between the observed levels. The
    tuple is the best of `n_tuples`, by which p-values of both parts are multiplied.
    """
    by_level = np.moveaxis(counts.counts, counts.members.tolist().index(variable), 0)
    table = by_level.reshape(len(by_level), -1, by_level.shape[-1]).astype(np.float64)
    halves = np.stack([table[:-1].sum(axis=0), table[-1]])
    missing_part, observed_part = _log_p(halves), _log_p(table[:-1])
    more = np.log(n_tuples)
    return bool(missing_part + more < np.log(_CHANCE) <= observed_part + more)


def _log_p(table: npt.NDArray[np.float64]) -> float:
    """Return ln p of a likelihood-ratio test of levels against classes, within the cells of the other members."""
    in_cell = table.sum(axis=(0, 2))
    of_level, of_class = table.sum(axis=2), table.sum(axis=0)
    expected = of_level[:, :, None] * of_class[None] / np.maximum(in_cell, 1)[None, :, None]
    ratio = np.divide(table, expected, out=np.ones_like(table), where=table > 0)
    statistic = 2 * float((table * np.log(ratio)).sum())
    n_levels, n_classes = np.count_nonzero(of_level, axis=0), np.count_nonzero(of_class, axis=1)
    df = float((np.maximum(n_levels - 1, 0) * np.maximum(n_classes - 1, 0)).sum())
    return float(log_chi2_tail(statistic, df)) if df > 0 else 0.0
