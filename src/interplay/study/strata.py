"""Strata: groups of samples (batch, sex, population) within which the decision is to be explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.base.arrays import MAX_LEVELS, DecisionClasses, DiscreteCodes, IntArray, NumberOutcome
from interplay.base.checks import shown
from interplay.base.user_warnings import warn
from interplay.study.groups import numbered_labels


@dataclass(frozen=True)
class Strata:
    """Which stratum each sample is in.

    Attributes
    ----------
    codes : (n_samples,) int64
        Stratum of each sample, 0 … n_strata − 1; none is empty.
    labels : list of str
        The user's names of the strata.
    """

    codes: IntArray
    labels: list[str]

    @property
    def n_strata(self) -> int:
        return len(self.labels)

    @property
    def sizes(self) -> IntArray:
        """Samples in each stratum, (n_strata,)."""
        return np.bincount(self.codes, minlength=self.n_strata).astype(np.int64)

    def as_codes(self) -> DiscreteCodes:
        """Return the strata as one variable: the member that every tuple has."""
        return DiscreteCodes(self.codes.astype(np.uint8)[np.newaxis], np.array([self.n_strata]))

    def of_samples(self, rows: IntArray) -> Strata | None:
        """Return the strata of some samples; empty ones are dropped, and None stands for a single one."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return _unless_one(Strata(codes.astype(np.int64), [self.labels[stratum] for stratum in used]))


def make_strata(strata: Any, *, n_samples: int, place: Callable[[int], str] = str) -> Strata | None:
    """Return the strata that the labels of `numbered_labels` make; None if there is one.

    Examples
    --------
    >>> make_strata(["b", "a", "b"], n_samples=3)
    Strata(codes=array([1, 0, 1]), labels=['a', 'b'])
    >>> make_strata([[1, "x"], [1, "y"], [2, "x"]], n_samples=3).labels
    ['1, x', '1, y', '2, x']
    """
    if strata is None or isinstance(strata, Strata):
        return strata
    codes, labels = numbered_labels(strata, "strata", n_samples=n_samples, one="stratum", place=place)
    if len(labels) > MAX_LEVELS:
        raise ValueError(
            f"strata has {len(labels)} different values, more than {MAX_LEVELS}: cut numbers into a few ranges "
            "(for example with pandas.qcut), or merge small strata"
        )
    return _unless_one(Strata(codes, labels))


def check_strata(strata: Strata, classes: DecisionClasses, what: str = "y") -> None:
    """Refuse strata that determine the classes; warn of single strata that do. `what` names the outcome in messages."""
    counts = np.zeros((strata.n_strata, classes.n_classes), dtype=np.int64)
    np.add.at(counts, (strata.codes, classes.codes), 1)
    pure = np.flatnonzero((counts > 0).sum(axis=1) < 2)
    if len(pure) == strata.n_strata:
        raise ValueError(
            f"strata determines the classes of {what}: no stratum has samples of two classes, so that the effects of "
            "stratum and outcome cannot be separated; if the strata are donors or families, give them as groups=, "
            "which permutes the labels of whole groups, otherwise use other strata"
        )
    if len(pure):
        where = "" if what == "y" else f", {what}"
        listed = ", ".join(shown(strata.labels[stratum]) for stratum in pure[:3]) + ", ..." * (len(pure) > 3)
        warn(
            f"strata{where}: {len(pure)} of {strata.n_strata} strata have samples of one class only ({listed}), which "
            "carry no information and reduce the power: leave these samples out, or merge strata"
        )


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


def _unless_one(strata: Strata) -> Strata | None:
    """Return None for a single stratum: an empty second level would only weaken the gains."""
    return None if strata.n_strata < 2 else strata
