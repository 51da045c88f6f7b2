"""One variable and an outcome → its effects, the main one first, and its direction in words."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, mid_ranks, normal_scores
from interplay.infer.effects import direction as words
from interplay.infer.effects import estimate as kinds
from interplay.infer.effects.estimate import (
    Estimate,
    auc,
    grouped_interval,
    hazard_ratio,
    mean_difference,
    odds_ratio,
    simultaneous,
    spearman,
)

#: Levels with fewer samples are not named as the highest, where there are others: a share of one sample says nothing.
_FEWEST_IN_LEVEL = 5

#: Ordered levels without a trend are compared with each other up to this number; up to the smaller one, in place of
#: telling that the outcome turns in their middle: the numbers may be codes of labels.
_MAX_COMPARED, MAX_CODES = 12, 6

#: The scale on which each kind of effect is about normal, for intervals over groups.
_SCALES = {
    kinds.AUC: "logit",
    kinds.ODDS_RATIO: "log",
    kinds.RHO: "fisher",
    kinds.MEAN_DIFFERENCE: "plain",
    kinds.HAZARD_RATIO: "log",
    kinds.HAZARD_RATIO_PER_SD: "log",
    kinds.HAZARD_RATIO_PER_UNIT: "log",
}


class Effect(NamedTuple):
    """A kind of effect, the level or class it is about ("" if that is clear), its size, and how it was measured."""

    kind: str
    about: str
    size: Estimate
    #: The level with which another one is compared; None where values are taken as numbers.
    reference: str | None = None
    #: Whether the distance from the median takes the place of the variable.
    is_distance: bool = False
    #: Whether it is measured within the cells of partners.
    is_within: bool = False

    def within(self, partners: Sequence[str]) -> Effect:
        """Return the effect as one within the cells of partners."""
        return self._replace(about=_joined(self.about, f"given {', '.join(partners)}"), is_within=True)


class MeasuredVariable(NamedTuple):
    """Direction in words, whether a trend was found, and effects, the main one first."""

    direction: str
    has_trend: bool
    effects: list[Effect]


@dataclass(frozen=True, eq=False)
class Values:
    """Values of a variable."""

    #: (n_samples,): numbers, or numbers of levels.
    values: FloatArray
    #: Names of the levels of a variable of few values, in order; empty for numbers. `codes` has their numbers.
    levels: list[str]
    codes: IntArray  #: (n_samples,)
    #: Whether values have an order.
    is_ordered: bool
    #: Of the variable, for its direction in words.
    name: str = ""
    #: The level with which the others are compared. By default the first of two levels or of ordered ones, and the most
    #: frequent one of others.
    reference: str | None = None


class Target(ABC):
    """The outcome of the same samples: what it goes up with, by how much, and in which words.

    Attributes
    ----------
    name : str
        Of the outcome, "" if not known.
    """

    name: str

    @abstractmethod
    def of_samples(self, rows: IntArray) -> Self:
        """Return the outcome of some samples."""

    @abstractmethod
    def trend(self, values: FloatArray, sizes: Sizes) -> MeasuredVariable:
        """Return the trend of a number, or of ordered levels."""

    @abstractmethod
    def extremes(self, distance: FloatArray, sizes: Sizes) -> MeasuredVariable:
        """Return the effect of the distance from the median."""

    @abstractmethod
    def in_order(self, values: FloatArray) -> FloatArray:
        """Return the outcome as one number per sample, which turns where the outcome does, (n_samples,)."""

    @property
    def cases(self) -> Sequence[int]:
        """What levels are compared in: each class against the rest, or the outcome as a whole."""
        return [0]

    @abstractmethod
    def between(self, codes: IntArray, level: int, others: list[int], case: int, sizes: Sizes) -> tuple[str, Estimate]:
        """Return kind and size of the effect of a level against the first of the others."""

    def about_case(self, case: int) -> str:
        """Name the case, where there are several."""
        return ""

    @abstractmethod
    def higher_if(self, variable: str, level: str, case: int, *, is_lower: bool) -> str:
        """Say that the outcome is higher, or lower, if the variable has a level."""

    def of_two_levels(self, codes: IntArray, sizes: Sizes) -> list[Effect]:
        """Return more effects of a variable of two levels."""
        return []

    @property
    def case(self) -> str:
        """The class, in words, that effects are about; "" of outcomes without classes."""
        return ""

    def as_means(self) -> tuple[FloatArray | None, str]:
        """Return numbers whose means of levels tell how these differ, and what they are; None without such numbers."""
        return None, self.name


@dataclass(frozen=True, eq=False)
class Classes(Target):
    """Classes, (n_samples,), numbered from 0, and their names."""

    name: str
    codes: IntArray
    labels: tuple[str, ...]

    def of_samples(self, rows: IntArray) -> Self:
        return replace(self, codes=self.codes[rows])

    def trend(self, values: FloatArray, sizes: Sizes) -> MeasuredVariable:
        return self._areas(values, sizes, words.number_with_class)

    def extremes(self, distance: FloatArray, sizes: Sizes) -> MeasuredVariable:
        return self._areas(distance, sizes, words.extremes_with_class)

    def in_order(self, values: FloatArray) -> FloatArray:
        distance = np.abs(values - np.median(values))
        areas = [auc(distance, self.codes == case).value for case in range(len(self.labels))]
        furthest = int(np.argmax(np.abs(np.nan_to_num(areas, nan=0.5) - 0.5)))
        return np.asarray(self.codes == furthest, dtype=np.float64)

    @property
    def cases(self) -> Sequence[int]:
        return [1] if len(self.labels) == 2 else range(len(self.labels))

    def between(self, codes: IntArray, level: int, others: list[int], case: int, sizes: Sizes) -> tuple[str, Estimate]:
        rows = np.flatnonzero((codes == level) | (codes == others[0]))
        has_level, is_case = codes[rows] == level, self.codes[rows] == case
        size = sizes.of_rows(rows).over(
            kinds.ODDS_RATIO,
            lambda some, *strata, **how: odds_ratio(has_level[some], is_case[some], *strata, **how),
            len(rows),
        )
        return kinds.ODDS_RATIO, size

    def about_case(self, case: int) -> str:
        return "" if len(self.labels) == 2 else f": {self.labels[case]} against the rest"

    def higher_if(self, variable: str, level: str, case: int, *, is_lower: bool) -> str:
        return words.class_if(self._named(case), variable, level, is_lower=is_lower)

    @property
    def case(self) -> str:
        return self._named(1)

    def of_two_levels(self, codes: IntArray, sizes: Sizes) -> list[Effect]:
        return _areas(self._auc(codes.astype(np.float64), 1, sizes)) if len(self.labels) == 2 else []

    def as_means(self) -> tuple[FloatArray | None, str]:
        if len(self.labels) != 2:
            return None, self.name
        return (self.codes == 1).astype(np.float64), self.case

    def _areas(self, values: FloatArray, sizes: Sizes, in_words: Callable[[Estimate, str], str]) -> MeasuredVariable:
        """Compare each class with the rest; the main effect is that of the class that differs most."""
        if len(self.labels) == 2:
            size = self._auc(values, 1, sizes)
            return _trend(in_words(size, self.case), _areas(size))
        sizes = sizes.of_several(len(self.labels))
        found = [
            Effect(kinds.AUC, f"{label} against the rest", self._auc(values, case, sizes))
            for case, label in enumerate(self.labels)
        ]
        best = int(np.argmax([_distance(each.size.value, 0.5) for each in found]))
        return _trend(in_words(found[best].size, self._named(best)), _first(found, best))

    def _auc(self, values: FloatArray, case: int, sizes: Sizes) -> Estimate:
        is_case = self.codes == case
        return sizes.over(
            kinds.AUC, lambda rows, *strata, **how: auc(values[rows], is_case[rows], *strata, **how), len(values)
        )

    def _named(self, case: int) -> str:
        return words.class_in_words(self.labels[case], self.name)


@dataclass(frozen=True, eq=False)
class Numbers(Target):
    """Numbers, (n_samples,)."""

    name: str
    numbers: FloatArray

    def of_samples(self, rows: IntArray) -> Self:
        return replace(self, numbers=self.numbers[rows])

    def trend(self, values: FloatArray, sizes: Sizes) -> MeasuredVariable:
        size, upper = self._rho(values, sizes), values > np.median(values)
        halves = Effect(kinds.MEAN_DIFFERENCE, "upper against lower half", self._difference(upper, self.numbers, sizes))
        return _trend(words.number_with_number(size, self.name), [Effect(kinds.RHO, "", size), halves])

    def extremes(self, distance: FloatArray, sizes: Sizes) -> MeasuredVariable:
        size = self._rho(distance, sizes)
        return _trend(words.extremes_with_number(size, self.name), [Effect(kinds.RHO, "", size)])

    def in_order(self, values: FloatArray) -> FloatArray:
        return mid_ranks(self.numbers)

    def between(self, codes: IntArray, level: int, others: list[int], case: int, sizes: Sizes) -> tuple[str, Estimate]:
        rows = np.flatnonzero((codes == level) | (codes == others[0]))
        size = self._difference(codes[rows] == level, self.numbers[rows], sizes.of_rows(rows))
        return kinds.MEAN_DIFFERENCE, size

    def higher_if(self, variable: str, level: str, case: int, *, is_lower: bool) -> str:
        return words.number_if(self.name, variable, level, is_lower=is_lower)

    def of_two_levels(self, codes: IntArray, sizes: Sizes) -> list[Effect]:
        return [Effect(kinds.RHO, "", self._rho(codes.astype(np.float64), sizes))]

    def as_means(self) -> tuple[FloatArray | None, str]:
        return self.numbers, self.name

    def _rho(self, values: FloatArray, sizes: Sizes) -> Estimate:
        return sizes.over(
            kinds.RHO,
            lambda rows, *strata, **how: spearman(values[rows], self.numbers[rows], *strata, **how),
            len(values),
        )

    @staticmethod
    def _difference(has_level: BoolArray, numbers: FloatArray, sizes: Sizes) -> Estimate:
        return sizes.over(
            kinds.MEAN_DIFFERENCE,
            lambda rows, *strata, **how: mean_difference(has_level[rows], numbers[rows], *strata, **how),
            len(has_level),
        )


@dataclass(frozen=True, eq=False)
class Times(Target):
    """Times to an event, and whether it came, (n_samples,)."""

    name: str
    time: FloatArray
    event: BoolArray

    def of_samples(self, rows: IntArray) -> Self:
        return replace(self, time=self.time[rows], event=self.event[rows])

    def trend(self, values: FloatArray, sizes: Sizes) -> MeasuredVariable:
        size = self._hazard(_standard_scores(values), kinds.HAZARD_RATIO_PER_SD, sizes)
        spread = float(np.std(values))
        scaled = self._hazard(values / spread if spread > 0 else values, kinds.HAZARD_RATIO_PER_UNIT, sizes)
        per_unit = Estimate(*(bound ** (1 / spread) if spread > 0 else math.nan for bound in scaled))
        effects = [Effect(kinds.HAZARD_RATIO_PER_SD, "", size), Effect(kinds.HAZARD_RATIO_PER_UNIT, "", per_unit)]
        return _trend(words.number_with_risk(size), effects)

    def extremes(self, distance: FloatArray, sizes: Sizes) -> MeasuredVariable:
        size = self._hazard(distance / max(float(distance.std()), 1e-300), kinds.HAZARD_RATIO_PER_SD, sizes)
        return _trend(words.extremes_with_risk(size), [Effect(kinds.HAZARD_RATIO_PER_SD, "", size)])

    def in_order(self, values: FloatArray) -> FloatArray:
        return mid_ranks(self.time)

    def between(self, codes: IntArray, level: int, others: list[int], case: int, sizes: Sizes) -> tuple[str, Estimate]:
        ordered = [level, *(other for other in others[1:] if other != level)]  # one model of all levels
        rows = np.flatnonzero(np.isin(codes, [others[0], *ordered]))
        columns = (codes[rows, np.newaxis] == ordered).astype(np.float64)
        return kinds.HAZARD_RATIO, self.of_samples(rows)._hazard(columns, kinds.HAZARD_RATIO, sizes.of_rows(rows))

    def higher_if(self, variable: str, level: str, case: int, *, is_lower: bool) -> str:
        return words.risk_if(variable, level, is_lower=is_lower)

    def _hazard(self, scores: FloatArray, kind: str, sizes: Sizes) -> Estimate:
        return sizes.over(
            kind,
            lambda rows, *strata, **how: hazard_ratio(scores[rows], self.time[rows], self.event[rows], *strata, **how),
            len(scores),
        )


def make_target(name: str = "", **measured: Any) -> Target:
    """Return the outcome whose fields `Outcome.measured` names."""
    kind = next(kind for kind in (Classes, Numbers, Times) if {"name", *measured} == set(kind.__annotations__))
    return kind(name, **measured)


def measure(
    variable: Values,
    target: Target,
    *,
    strata: IntArray | None = None,
    groups: IntArray | None = None,
    is_u_shaped: bool = False,
    n_compared: int = 1,
) -> MeasuredVariable:
    """Return direction and effects of a variable; all arguments are of the samples with a value of it.

    With `is_u_shaped`, the distance from the median takes the place of the variable, unless the outcome goes the same
    way in both halves of its values. With groups, intervals are by a
    jackknife over these. Intervals cover together with those of as many choices as `n_compared`.
    """
    sizes = Sizes(strata, groups, n_compared=n_compared)
    n_levels = len(variable.levels)
    if is_u_shaped and not 0 < n_levels <= MAX_CODES and _turns(variable.values, target):
        return _u_shaped(variable, target, sizes)
    if n_levels == 2 or (n_levels and not variable.is_ordered):
        return _of_levels(variable, target, sizes)
    found = target.trend(variable.values, sizes)
    if not found.has_trend and 2 < n_levels <= _MAX_COMPARED:
        by_level = _of_levels(variable, target, sizes, n_before=1)  # levels may differ without a trend
        if by_level.has_trend:
            said = words.without_trend(by_level.direction)
            return MeasuredVariable(said, True, [*by_level.effects, *found.effects])
    return found


class Sizes:
    """Sizes of effects, within strata, and with intervals over groups where there are any.

    Intervals of `n_compared` effects cover together.
    """

    def __init__(self, strata: IntArray | None, groups: IntArray | None, *, n_compared: int = 1) -> None:
        self._strata, self._groups, self._n_compared = strata, groups, n_compared
        self._how = {"confidence": simultaneous(n_compared)}

    def of_several(self, n_compared: int) -> Sizes:
        """Return the sizes of some effects that are compared with each other."""
        return Sizes(self._strata, self._groups, n_compared=n_compared * self._n_compared)

    def of_rows(self, rows: IntArray) -> Sizes:
        """Return the sizes in some samples."""
        strata, groups = (None if each is None else each[rows] for each in (self._strata, self._groups))
        return Sizes(strata, groups, n_compared=self._n_compared)

    def over(self, kind: str, size: Callable[..., Estimate], n: int) -> Estimate:
        """Return an effect of `n` samples; `size` returns that of some rows, within strata."""
        everything = np.arange(n)
        if self._groups is None:
            return size(everything, self._strata, **self._how)

        def of_some(rows: IntArray) -> float:
            return size(rows, None if self._strata is None else self._strata[rows]).value

        return grouped_interval(of_some, self._groups, _SCALES[kind], **self._how)


def _of_levels(variable: Values, target: Target, sizes: Sizes, *, n_before: int = 0) -> MeasuredVariable:
    """Compare each level with the reference; the main effect is the one that surely is the largest.

    Intervals cover together, with those of `n_before` effects that were looked at before.
    """
    counts = np.bincount(variable.codes, minlength=len(variable.levels))
    shown = np.flatnonzero((counts >= min(_FEWEST_IN_LEVEL, np.sort(counts)[-2:].min())) & (counts > 0)).tolist()
    reference = _reference(variable, counts, shown)
    others = [level for level in shown if level != reference]
    cases = target.cases
    pairs = [(level, case) for level in others for case in cases]
    if not pairs:
        return MeasuredVariable(words.NO_TREND, False, [])
    several = sizes.of_several(len(pairs) + n_before)
    effects = []
    for level, case in pairs:
        against = variable.levels[reference]
        about = f"{variable.levels[level]} against {against}{target.about_case(case)}"
        kind, size = target.between(variable.codes, level, [reference, *others], case, several)
        effects.append(Effect(kind, about, size, reference=against))
    best = int(np.argmax([_clearness(each) for each in effects]))
    level, case = pairs[best]
    of_case = [each for each, (_, other) in zip(effects, pairs, strict=True) if other == case]
    is_lower = effects[best].size.value < kinds.NO_EFFECT[effects[best].kind]
    if all(each.size.high < kinds.NO_EFFECT[each.kind] for each in of_case) or (is_lower and len(others) == 1):
        level, is_lower = reference, False  # all the others are lower
    said = target.higher_if(variable.name, variable.levels[level], case, is_lower=is_lower)
    more = target.of_two_levels(variable.codes, sizes) if len(variable.levels) == 2 else []
    return _trend(said, [*_first(effects, best), *more])


def without_direction(variable: Values, target: Target, found: MeasuredVariable) -> MeasuredVariable:
    """Say of a variable that is relevant by itself, and has no clear direction, what was found: how its levels differ.

    The shares of a class, or the means of numbers, name the levels; those of few samples are not named.
    """
    n_levels = len(variable.levels)
    if n_levels <= 2 or variable.is_ordered:
        return found._replace(direction=words.perhaps(found.direction))
    counts = np.bincount(variable.codes, minlength=n_levels)
    scores, outcome = target.as_means()
    if scores is None:
        return found._replace(direction=words.differs_between_levels(outcome, n_levels))
    means = np.bincount(variable.codes, scores, minlength=n_levels) / np.maximum(counts, 1)
    named = np.flatnonzero(counts >= min(_FEWEST_IN_LEVEL, np.sort(counts)[-2:].min()))
    most, least = (variable.levels[int(named[place(means[named])])] for place in (np.argmax, np.argmin))
    return found._replace(direction=words.differs_between_levels(outcome, n_levels, most, least))


def _reference(variable: Values, counts: IntArray, shown: list[int]) -> int:
    """Return the level with which the others are compared."""
    if variable.reference in variable.levels:
        chosen = variable.levels.index(variable.reference)
        if counts[chosen]:
            return chosen
    if variable.is_ordered or len(variable.levels) == 2:
        return shown[0]
    return max(shown, key=lambda level: int(counts[level]))


def _clearness(effect: Effect) -> float:
    """Return how far an interval is from no effect, negative where it includes none; ratios by their logarithms."""
    none = kinds.NO_EFFECT[effect.kind]
    low, high = effect.size.low - none, none - effect.size.high
    if none == 1.0:
        low, high = _log(effect.size.low), -_log(effect.size.high)
    distance = max(low, high)
    return -math.inf if math.isnan(distance) else distance


def _u_shaped(variable: Values, target: Target, sizes: Sizes) -> MeasuredVariable:
    """Return the effect of the distance from the median."""
    distance = np.abs(_standard_scores(variable.values))
    found = target.extremes(distance, sizes)
    named = [
        each._replace(about=_joined(each.about, "distance from the median"), is_distance=True) for each in found.effects
    ]
    return found._replace(effects=named)


def _joined(*about: str) -> str:
    return "; ".join(filter(None, about))


def _turns(values: FloatArray, target: Target) -> bool:
    """Say whether the outcome goes one way with the lower half of the values, and the other way with the upper half."""
    scores = target.in_order(values)
    middle = np.median(values)
    slopes = [
        float(np.cov(mid_ranks(values[half]), scores[half])[0, 1]) if half.sum() > 1 else 0.0
        for half in (values <= middle, values >= middle)
    ]
    return slopes[0] * slopes[1] < 0


def _trend(said: str, effects: list[Effect]) -> MeasuredVariable:
    main = effects[0]
    return MeasuredVariable(said, not main.size.includes(kinds.NO_EFFECT[main.kind]), effects)


def _first(effects: list[Effect], place: int) -> list[Effect]:
    """Put one effect before the others."""
    return [effects[place], *effects[:place], *effects[place + 1 :]]


def _areas(size: Estimate) -> list[Effect]:
    return [Effect(kinds.AUC, "", size), Effect(kinds.CLIFF, "", _cliff(size))]


def _cliff(size: Estimate) -> Estimate:
    return Estimate(*(2 * bound - 1 for bound in size))


def _standard_scores(values: FloatArray) -> FloatArray:
    """Return normal scores of the ranks, with a standard deviation of 1."""
    scores = normal_scores(values)
    spread = float(scores.std())
    return np.asarray(scores / spread if spread > 0 else scores)


def _distance(value: float, centre: float) -> float:
    return -1.0 if math.isnan(value) else abs(value - centre)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else math.nan if math.isnan(value) else -math.inf
