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
    n_compared: int = 1,
) -> MeasuredVariable:
    """Return direction and effects of a variable; all arguments are of the samples with a value of it.

    With `is_u_shaped`, the distance from the median takes the place of the variable, unless the outcome goes the same
    way in both halves of its values. With groups, intervals are by a
    jackknife over these. Intervals cover together with those of as many choices as `n_compared`.
    """
    sizes = _Sizes(target, strata, groups, n_compared=n_compared)
    n_levels = len(variable.levels)
    if is_u_shaped and not 0 < n_levels <= MAX_CODES and _turns(variable.values, target):
        return _u_shaped(variable, target, sizes)
    if n_levels == 2 or (n_levels and not variable.is_ordered):
        return _of_levels(variable, target, sizes)
    found = _of_numbers(variable, target, sizes)
    if not found.has_trend and 2 < n_levels <= _MAX_COMPARED:
        by_level = _of_levels(variable, target, sizes, n_before=1)  # levels may differ without a trend
        if by_level.has_trend:
            said = words.without_trend(by_level.direction)
            return MeasuredVariable(said, True, [*by_level.effects, *found.effects])
    return found


class _Sizes:
    """Sizes of effects, within strata, and with intervals over groups where there are any.

    Intervals of `n_compared` effects cover together.
    """

    def __init__(
        self, target: Target, strata: IntArray | None, groups: IntArray | None, *, n_compared: int = 1
    ) -> None:
        self.target, self.strata, self.groups, self._n_compared = target, strata, groups, n_compared
        self._how = {"confidence": simultaneous(n_compared)}

    def of_several(self, n_compared: int) -> _Sizes:
        """Return the sizes of some effects that are compared with each other."""
        return _Sizes(self.target, self.strata, self.groups, n_compared=n_compared * self._n_compared)

    def of_rows(self, rows: IntArray) -> _Sizes:
        """Return the sizes in some samples."""
        strata, groups = (None if each is None else each[rows] for each in (self.strata, self.groups))
        return _Sizes(self.target.of_samples(rows), strata, groups, n_compared=self._n_compared)

    def _over(self, kind: str, size: Callable[..., Estimate], n: int) -> Estimate:
        everything = np.arange(n)
        if self.groups is None:
            return size(everything, self.strata, **self._how)

        def of_some(rows: IntArray) -> float:
            return size(rows, None if self.strata is None else self.strata[rows]).value

        return grouped_interval(of_some, self.groups, _SCALES[kind], **self._how)

    def auc(self, values: FloatArray, case: int) -> Estimate:
        assert self.target.codes is not None
        is_case = self.target.codes == case
        return self._over(
            kinds.AUC, lambda rows, *strata, **how: auc(values[rows], is_case[rows], *strata, **how), len(values)
        )

    def rho(self, values: FloatArray) -> Estimate:
        numbers = self.target.numbers
        assert numbers is not None
        return self._over(
            kinds.RHO, lambda rows, *strata, **how: spearman(values[rows], numbers[rows], *strata, **how), len(values)
        )

    def against(self, has_level: BoolArray, case: int | None) -> Estimate:
        """Return the odds ratio of a class, or the difference in means, of a level against the other samples."""
        numbers, codes = self.target.numbers, self.target.codes
        if numbers is not None:
            return self._over(
                kinds.MEAN_DIFFERENCE,
                lambda rows, *strata, **how: mean_difference(has_level[rows], numbers[rows], *strata, **how),
                len(has_level),
            )
        assert codes is not None
        is_case = codes == case
        return self._over(
            kinds.ODDS_RATIO,
            lambda rows, *strata, **how: odds_ratio(has_level[rows], is_case[rows], *strata, **how),
            len(has_level),
        )

    def hazard(self, scores: FloatArray, kind: str) -> Estimate:
        time, event = self.target.time, self.target.event
        assert time is not None
        assert event is not None
        return self._over(
            kind,
            lambda rows, *strata, **how: hazard_ratio(scores[rows], time[rows], event[rows], *strata, **how),
            len(scores),
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
        effects.append(Effect(kinds.MEAN_DIFFERENCE, "upper against lower half", sizes.against(upper, None)))
        return _trend(words.number_with_number(size, target.name), effects)
    size = sizes.hazard(_standard_scores(variable.values), kinds.HAZARD_RATIO_PER_SD)
    spread = float(np.std(variable.values))
    scaled = sizes.hazard(variable.values / spread if spread > 0 else variable.values, kinds.HAZARD_RATIO_PER_UNIT)
    per_unit = Estimate(*(bound ** (1 / spread) if spread > 0 else math.nan for bound in scaled))
    effects = [Effect(kinds.HAZARD_RATIO_PER_SD, "", size), Effect(kinds.HAZARD_RATIO_PER_UNIT, "", per_unit)]
    return _trend(words.number_with_risk(size), effects)


def _of_several_classes(
    values: FloatArray, target: Target, sizes: _Sizes, in_words: Callable[[Estimate, str], str]
) -> MeasuredVariable:
    """Compare each class with the rest; the main effect is that of the class that differs most."""
    sizes = sizes.of_several(len(target.labels))
    found = [
        Effect(kinds.AUC, f"{label} against the rest", sizes.auc(values, case))
        for case, label in enumerate(target.labels)
    ]
    best = int(np.argmax([_distance(each.size.value, 0.5) for each in found]))
    ordered = [found[best], *found[:best], *found[best + 1 :]]
    return _trend(in_words(found[best].size, words.class_in_words(target.labels[best], target.name)), ordered)


def _of_levels(variable: Values, target: Target, sizes: _Sizes, *, n_before: int = 0) -> MeasuredVariable:
    """Compare each level with the reference; the main effect is the one that surely is the largest.

    Intervals cover together, with those of `n_before` effects that were looked at before.
    """
    counts = np.bincount(variable.codes, minlength=len(variable.levels))
    shown = np.flatnonzero((counts >= min(_FEWEST_IN_LEVEL, np.sort(counts)[-2:].min())) & (counts > 0)).tolist()
    reference = _reference(variable, counts, shown)
    others = [level for level in shown if level != reference]
    cases: list[int | None] = [None]
    if target.codes is not None:
        cases = [1] if len(target.labels) == 2 else list(range(len(target.labels)))
    pairs = [(level, case) for level in others for case in cases]
    if not pairs:
        return MeasuredVariable(words.NO_TREND, False, [])
    several = sizes.of_several(len(pairs) + n_before)
    effects = []
    for level, case in pairs:
        of_class = "" if len(cases) == 1 else f": {target.labels[case or 0]} against the rest"
        about = f"{variable.levels[level]} against {variable.levels[reference]}{of_class}"
        if target.time is not None:  # one model of all levels
            rows = np.flatnonzero(np.isin(variable.codes, shown))
            ordered = [level, *(other for other in others if other != level)]
            columns = (variable.codes[rows, np.newaxis] == ordered).astype(np.float64)
            effects.append(Effect(kinds.HAZARD_RATIO, about, several.of_rows(rows).hazard(columns, kinds.HAZARD_RATIO)))
        else:
            rows = np.flatnonzero((variable.codes == level) | (variable.codes == reference))
            size = several.of_rows(rows).against(variable.codes[rows] == level, case)
            kind = kinds.MEAN_DIFFERENCE if case is None else kinds.ODDS_RATIO
            effects.append(Effect(kind, about, size))
    best = int(np.argmax([_clearness(each) for each in effects]))
    level, case = pairs[best]
    of_case = [each for each, (_, other) in zip(effects, pairs, strict=True) if other == case]
    is_lower = effects[best].size.value < kinds.NO_EFFECT[effects[best].kind]
    if all(each.size.high < kinds.NO_EFFECT[each.kind] for each in of_case) or (is_lower and len(others) == 1):
        level, is_lower = reference, False  # all the others are lower
    name = variable.levels[level]
    if case is not None:
        label = words.class_in_words(target.labels[case], target.name)
        said = words.class_if(label, variable.name, name, is_lower=is_lower)
    elif target.numbers is not None:
        said = words.number_if(target.name, variable.name, name, is_lower=is_lower)
    else:
        said = words.risk_if(variable.name, name, is_lower=is_lower)
    more: list[Effect] = []
    if len(variable.levels) == 2 and target.numbers is not None:
        more = [Effect(kinds.RHO, "", sizes.rho(variable.codes.astype(np.float64)))]
    elif len(variable.levels) == 2 and len(target.labels) == 2:
        more = _areas(sizes.auc(variable.codes.astype(np.float64), 1))
    return _trend(said, [effects[best], *effects[:best], *effects[best + 1 :], *more])


def without_direction(variable: Values, target: Target, found: MeasuredVariable) -> MeasuredVariable:
    """Say of a variable that is relevant by itself, and has no clear direction, what was found: how its levels differ.

    The shares of a class, or the means of numbers, name the levels; those of few samples are not named.
    """
    n_levels = len(variable.levels)
    if n_levels <= 2 or variable.is_ordered:
        return found._replace(direction=words.perhaps(found.direction))
    counts = np.bincount(variable.codes, minlength=n_levels)
    scores, outcome = target.numbers, target.name
    if target.codes is not None and len(target.labels) == 2:
        scores = (target.codes == 1).astype(np.float64)
        outcome = words.class_in_words(target.labels[1], target.name)
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
