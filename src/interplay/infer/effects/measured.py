"""One variable and an outcome → its effects, the main one first, and its direction in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.ranks import mid_ranks, normal_scores
from interplay.infer.effects import direction as words
from interplay.infer.effects import estimate as kinds
from interplay.infer.effects.estimate import (
    Estimate,
    auc,
    grouped_interval,
    hazard_ratio,
    mean_difference,
    odds_ratio,
    spearman,
)

#: Levels with fewer samples are not named as the highest, where there are others: a share of one sample says nothing.
_FEWEST_IN_LEVEL = 5

#: Ordered levels without a trend are compared with each other up to this number.
_MAX_COMPARED = 12

#: The scale on which each kind of effect is about normal, for intervals over groups.
_SCALES = {
    kinds.AUC: "logit",
    kinds.ODDS_RATIO: "log",
    kinds.RHO: "fisher",
    kinds.MEAN_DIFFERENCE: "plain",
    kinds.HAZARD_RATIO: "log",
    kinds.HAZARD_RATIO_PER_SD: "log",
}


class Effect(NamedTuple):
    """A kind of effect, the level or class it is about ("" if that is clear), and its size."""

    kind: str
    about: str
    size: Estimate


class MeasuredVariable(NamedTuple):
    """Direction in words, whether a trend was found, and effects, the main one first."""

    direction: str
    has_trend: bool
    effects: list[Effect]


@dataclass(frozen=True, eq=False)
class Values:
    """Values of a variable.

    Attributes
    ----------
    values : (n_samples,) float64
        Numbers, or numbers of levels.
    levels : list of str
        Names of the levels of a variable of few values, in order; empty for numbers. `codes` has their numbers.
    codes : (n_samples,) int64
    is_ordered : bool
        Whether values have an order.
    """

    values: FloatArray
    levels: list[str]
    codes: IntArray
    is_ordered: bool


@dataclass(frozen=True, eq=False)
class Target:
    """The outcome of the same samples: classes, numbers, or times; `name` is its name, "" if not known."""

    name: str = ""
    codes: IntArray | None = None
    labels: tuple[str, ...] = ()
    numbers: FloatArray | None = None
    time: FloatArray | None = None
    event: BoolArray | None = None

    def of_samples(self, rows: IntArray) -> Target:
        """Return the outcome of some samples."""
        chosen: dict[str, Any] = {
            name: None if (each := getattr(self, name)) is None else each[rows]
            for name in ("codes", "numbers", "time", "event")
        }
        return replace(self, **chosen)


def measure(
    variable: Values,
    target: Target,
    *,
    strata: IntArray | None = None,
    groups: IntArray | None = None,
    is_u_shaped: bool = False,
) -> MeasuredVariable:
    """Return direction and effects of a variable; all arguments are of the samples with a value of it.

    With `is_u_shaped`, the distance from the median takes the place of the variable, unless the outcome goes the same
    way in both halves of its values. With groups, intervals are by a
    jackknife over these.
    """
    sizes = _Sizes(target, strata, groups)
    if is_u_shaped and _turns(variable.values, target):
        return _u_shaped(variable, target, sizes)
    if len(variable.levels) == 2:
        return _of_two_levels(variable, target, sizes)
    if not variable.is_ordered:
        return _of_levels(variable, target, sizes)
    found = _of_numbers(variable, target, sizes)
    if not found.has_trend and 2 < len(variable.levels) <= _MAX_COMPARED:
        by_level = _of_levels(variable, target, sizes)  # levels may differ without a trend
        return by_level._replace(effects=[*by_level.effects, *found.effects]) if by_level.has_trend else found
    return found


class _Sizes:
    """Sizes of effects, within strata, and with intervals over groups where there are any."""

    def __init__(self, target: Target, strata: IntArray | None, groups: IntArray | None) -> None:
        self.target, self.strata, self.groups = target, strata, groups

    def _over(self, kind: str, size: Callable[[IntArray, IntArray | None], Estimate], n: int) -> Estimate:
        everything = np.arange(n)
        if self.groups is None:
            return size(everything, self.strata)

        def of_some(rows: IntArray) -> float:
            return size(rows, None if self.strata is None else self.strata[rows]).value

        return grouped_interval(of_some, self.groups, _SCALES[kind])

    def auc(self, values: FloatArray, case: int) -> Estimate:
        assert self.target.codes is not None
        is_case = self.target.codes == case
        return self._over(kinds.AUC, lambda rows, within: auc(values[rows], is_case[rows], within), len(values))

    def odds_ratio(self, has_level: BoolArray, case: int) -> Estimate:
        assert self.target.codes is not None
        is_case = self.target.codes == case
        return self._over(
            kinds.ODDS_RATIO, lambda rows, within: odds_ratio(has_level[rows], is_case[rows], within), len(has_level)
        )

    def rho(self, values: FloatArray) -> Estimate:
        numbers = self.target.numbers
        assert numbers is not None
        return self._over(kinds.RHO, lambda rows, within: spearman(values[rows], numbers[rows], within), len(values))

    def difference(self, has_level: BoolArray) -> Estimate:
        numbers = self.target.numbers
        assert numbers is not None
        return self._over(
            kinds.MEAN_DIFFERENCE,
            lambda rows, within: mean_difference(has_level[rows], numbers[rows], within),
            len(has_level),
        )

    def hazard(self, scores: FloatArray, kind: str) -> Estimate:
        time, event = self.target.time, self.target.event
        assert time is not None
        assert event is not None
        return self._over(
            kind, lambda rows, within: hazard_ratio(scores[rows], time[rows], event[rows], within), len(scores)
        )


def _of_numbers(variable: Values, target: Target, sizes: _Sizes) -> MeasuredVariable:
    """Return the trend of a number, or of ordered levels."""
    if target.codes is not None and len(target.labels) == 2:
        size = sizes.auc(variable.values, 1)
        effects = [Effect(kinds.AUC, "", size), Effect(kinds.CLIFF, "", _cliff(size))]
        return _trend(words.number_with_class(size, words.class_in_words(target.labels[1], target.name)), effects)
    if target.codes is not None:
        return _of_several_classes(variable.values, target, sizes, words.number_with_class)
    if target.numbers is not None:
        size = sizes.rho(variable.values)
        upper = variable.values > np.median(variable.values)
        effects = [Effect(kinds.RHO, "", size)]
        effects.append(Effect(kinds.MEAN_DIFFERENCE, "upper against lower half", sizes.difference(upper)))
        return _trend(words.number_with_number(size, target.name), effects)
    size = sizes.hazard(_standard_scores(variable.values), kinds.HAZARD_RATIO_PER_SD)
    return _trend(words.number_with_risk(size), [Effect(kinds.HAZARD_RATIO_PER_SD, "", size)])


def _of_several_classes(
    values: FloatArray, target: Target, sizes: _Sizes, in_words: Callable[[Estimate, str], str]
) -> MeasuredVariable:
    """Compare each class with the rest; the main effect is that of the class that differs most."""
    found = [
        Effect(kinds.AUC, f"{label} against the rest", sizes.auc(values, case))
        for case, label in enumerate(target.labels)
    ]
    best = int(np.argmax([_distance(each.size.value, 0.5) for each in found]))
    ordered = [found[best], *found[:best], *found[best + 1 :]]
    return _trend(in_words(found[best].size, words.class_in_words(target.labels[best], target.name)), ordered)


def _of_two_levels(variable: Values, target: Target, sizes: _Sizes) -> MeasuredVariable:
    has_second = variable.codes == 1
    about = f"{variable.levels[1]} against {variable.levels[0]}"
    if target.codes is not None:
        cases = [1] if len(target.labels) == 2 else list(range(len(target.labels)))
        found = [
            Effect(
                kinds.ODDS_RATIO,
                about if len(cases) == 1 else f"{about}: {target.labels[case]} against the rest",
                sizes.odds_ratio(has_second, case),
            )
            for case in cases
        ]
        best = int(np.argmax([_distance(_log(each.size.value), 0.0) for each in found]))
        size, label = found[best].size, words.class_in_words(target.labels[cases[best]], target.name)
        more = [] if len(cases) > 1 else _areas(sizes.auc(variable.codes.astype(np.float64), 1))
        effects = [found[best], *found[:best], *found[best + 1 :], *more]
        if variable.is_ordered:
            return _trend(words.number_with_class(size, label, none=1.0), effects)
        return _trend(words.class_in_level(size, label, variable.levels), effects)
    if target.numbers is not None:
        size = sizes.difference(has_second)
        effects = [Effect(kinds.MEAN_DIFFERENCE, about, size)]
        effects.append(Effect(kinds.RHO, "", sizes.rho(variable.codes.astype(np.float64))))
        if variable.is_ordered:
            return _trend(words.number_with_number(size, target.name), effects)
        return _trend(words.number_in_level(size, target.name, variable.levels), effects)
    size = sizes.hazard(has_second.astype(np.float64), kinds.HAZARD_RATIO)
    effects = [Effect(kinds.HAZARD_RATIO, about, size)]
    if variable.is_ordered:
        return _trend(words.number_with_risk(size), effects)
    return _trend(words.risk_in_level(size, variable.levels), effects)


def _of_levels(variable: Values, target: Target, sizes: _Sizes) -> MeasuredVariable:
    """Compare each level with the rest; the main effect is that of the level with the highest share, mean or risk."""
    counts = np.bincount(variable.codes, minlength=len(variable.levels))
    shown = np.flatnonzero(counts >= min(_FEWEST_IN_LEVEL, np.sort(counts)[-2:].min()))
    shown = shown[counts[shown] > 0]
    has_level = {level: variable.codes == level for level in shown.tolist()}
    effects: list[Effect] = []
    label = ""
    if target.codes is not None:
        cases = [1] if len(target.labels) == 2 else list(range(len(target.labels)))
        pairs = [(level, case) for level in has_level for case in cases]
        for level, case in pairs:
            of_class = "" if len(cases) == 1 else f": {target.labels[case]} against the rest"
            about = f"{variable.levels[level]} against the rest{of_class}"
            effects.append(Effect(kinds.ODDS_RATIO, about, sizes.odds_ratio(has_level[level], case)))
        # Of several classes, the one whose share in a level is the clearest.
        strength = [_log(each.size.value) if len(cases) == 1 else _lowest_log(each.size) for each in effects]
        best = int(np.argmax(np.nan_to_num(strength, nan=-np.inf)))
        level, label = pairs[best][0], words.class_in_words(target.labels[pairs[best][1]], target.name)
        said = words.most_often_in(label, variable.levels[level])
    elif target.numbers is not None:
        effects = [
            Effect(kinds.MEAN_DIFFERENCE, f"{variable.levels[level]} against the rest", sizes.difference(rows))
            for level, rows in has_level.items()
        ]
        best = int(np.argmax(np.nan_to_num([each.size.value for each in effects], nan=-np.inf)))
        said = words.highest_in(target.name, variable.levels[list(has_level)[best]])
    else:
        effects = [
            Effect(
                kinds.HAZARD_RATIO,
                f"{variable.levels[level]} against the rest",
                sizes.hazard(rows.astype(np.float64), kinds.HAZARD_RATIO),
            )
            for level, rows in has_level.items()
        ]
        best = int(np.argmax(np.nan_to_num([each.size.value for each in effects], nan=-np.inf)))
        said = words.risk_highest_in(variable.levels[list(has_level)[best]])
    return _trend(said, [effects[best], *effects[:best], *effects[best + 1 :]])


def _u_shaped(variable: Values, target: Target, sizes: _Sizes) -> MeasuredVariable:
    """Return the effect of the distance from the median."""
    distance = np.abs(_standard_scores(variable.values))
    if target.codes is not None and len(target.labels) == 2:
        size = sizes.auc(distance, 1)
        said = words.extremes_with_class(size, words.class_in_words(target.labels[1], target.name))
        found = _trend(said, [Effect(kinds.AUC, "", size), Effect(kinds.CLIFF, "", _cliff(size))])
    elif target.codes is not None:
        found = _of_several_classes(distance, target, sizes, words.extremes_with_class)
    elif target.numbers is not None:
        size = sizes.rho(distance)
        found = _trend(words.extremes_with_number(size, target.name), [Effect(kinds.RHO, "", size)])
    else:
        size = sizes.hazard(distance / max(float(distance.std()), 1e-300), kinds.HAZARD_RATIO_PER_SD)
        found = _trend(words.extremes_with_risk(size), [Effect(kinds.HAZARD_RATIO_PER_SD, "", size)])
    named = [
        each._replace(about="; ".join(filter(None, [each.about, "distance from the median"]))) for each in found.effects
    ]
    return found._replace(effects=named)


def _turns(values: FloatArray, target: Target) -> bool:
    """Say whether the outcome goes one way with the lower half of the values, and the other way with the upper half."""
    if target.codes is not None:
        distance = np.abs(values - np.median(values))
        areas = [auc(distance, target.codes == case).value for case in range(len(target.labels))]
        scores = (target.codes == int(np.argmax(np.abs(np.nan_to_num(areas, nan=0.5) - 0.5)))).astype(np.float64)
    else:
        numbers = target.numbers if target.numbers is not None else target.time
        assert numbers is not None
        scores = mid_ranks(numbers)
    middle = np.median(values)
    slopes = [
        float(np.cov(mid_ranks(values[half]), scores[half])[0, 1]) if half.sum() > 1 else 0.0
        for half in (values <= middle, values >= middle)
    ]
    return slopes[0] * slopes[1] < 0


def _trend(said: str, effects: list[Effect]) -> MeasuredVariable:
    main = effects[0]
    return MeasuredVariable(said, not main.size.includes(kinds.NO_EFFECT[main.kind]), effects)


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


def _lowest_log(size: Estimate) -> float:
    return _log(size.low)
