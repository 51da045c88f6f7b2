"""p-values of tests of several dimensions → p-values of arms and variables, and how each variable was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import shown
from interplay.files.types import Check
from interplay.infer.arms import found_in_words
from interplay.infer.combined_p import combined_log_p, learned_weights
from interplay.infer.null_fit import NullFit


@dataclass(frozen=True, eq=False)
class ArmPValues:
    """One of the tests that a combined p-value is made of.

    Attributes
    ----------
    name : str
        "rank", "spread", "given", "gain 2", "synergy 2", "product 2" and so on.
    arm : str
        The arm it belongs to: "alone", "given", "pairs", "triples", and so on.
    weight : float
        Its fixed weight among all tests; they sum up to 1. Those of its arm may be raised or lowered for a variable by
        what other variables show: see `Selection.arm_weights`.
    log_p : (n_vars,) float64
        Natural logarithms of its p-values; of several comparisons of classes, the smallest times their number. NaN
        where it does not apply to a variable: the other tests of its arm then share its weight.
    comparison : (n_vars,) int64
        The comparison with the smallest p-value.
    tuples : (n_vars, k) int64
        The tuple with that p-value, ascending; −1 where there is none.
    null_fits : tuple of NullFit
        One for each comparison, where the test has a null distribution that is fitted to contrast variables.
    """

    name: str
    arm: str
    weight: Annotated[float, Check(above=0, high=1)]
    log_p: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    comparison: Annotated[IntArray, Check("n_vars", low=0)]
    tuples: Annotated[IntArray, Check("n_vars k", low=-1, below="n_vars")]
    null_fits: tuple[NullFit, ...] = ()

    @property
    def dimensions(self) -> int:
        return int(self.tuples.shape[1])

    @property
    def is_beyond_alone(self) -> bool:
        """Whether the test leaves out the effect of the variable alone."""
        return self.name.startswith(("synergy", "product"))


def arm_names(tests: Sequence[ArmPValues]) -> tuple[str, ...]:
    """Return the arms of some tests in their order."""
    return tuple(dict.fromkeys(test.arm for test in tests))


def log_p_of_arm(tests: Sequence[ArmPValues], arm: str) -> FloatArray:
    """Return natural logarithms of the p-values of one arm."""
    of_arm = [test for test in tests if test.arm == arm]
    if not of_arm:
        known = ", ".join(arm_names(tests)) or "none: it has one dimension"
        raise ValueError(f"this selection has no arm {shown(arm)}; its arms are {known}")
    return combined_log_p([test.log_p for test in of_arm], [test.weight for test in of_arm])


def weighted_arms(tests: Sequence[ArmPValues]) -> tuple[FloatArray, FloatArray]:
    """Return natural logarithms of the p-values of all arms, and their weights for each variable, (n_arms, n_vars)."""
    arms = arm_names(tests)
    fixed = np.array([sum(test.weight for test in tests if test.arm == arm) for arm in arms])
    log_p = np.stack([log_p_of_arm(tests, arm) for arm in arms])
    return log_p, learned_weights(log_p, fixed)


def log_p_of_all(tests: Sequence[ArmPValues]) -> FloatArray:
    """Return natural logarithms of the p-values over all arms."""
    return combined_log_p(*weighted_arms(tests))


def best_arm(tests: Sequence[ArmPValues], level: float) -> IntArray:
    """Return the number of the arm in which each variable is found, (n_vars,): the simplest that shows it.

    That is the first arm whose p-value, divided by its weight, is small enough for the number of variables: an effect
    of a variable alone, or of a pair, also shows in triples, sometimes more clearly. If no arm is, it is the one with
    the smallest p-value.
    """
    log_p, weights = weighted_arms(tests)
    weighted = np.where(np.isnan(log_p), np.inf, log_p - np.log(weights))
    is_enough = weighted < np.log(level / weighted.shape[1])
    return np.asarray(np.where(is_enough.any(axis=0), np.argmax(is_enough, axis=0), np.argmin(weighted, axis=0)))


def strongest_test(tests: Sequence[ArmPValues], level: float) -> IntArray:
    """Return the number of the strongest test of each variable, of the arm in which it is found, (n_vars,).

    A variable found alone, or given others, may matter with a partner too, which users want to see. Then it is the test
    of the smallest tuples, in the same comparison of classes, that shows an effect beyond that of the variable alone.
    """
    weighted = np.stack([np.where(np.isnan(test.log_p), np.inf, test.log_p - np.log(test.weight)) for test in tests])
    arm_of = np.array([arm_names(tests).index(test.arm) for test in tests])
    n_vars = weighted.shape[1]
    strongest = np.argmin(np.where(arm_of[:, np.newaxis] == best_arm(tests, level), weighted, np.inf), axis=0)
    is_alone = np.array([test.dimensions == 1 for test in tests])[strongest]
    comparison = np.stack([test.comparison for test in tests])
    is_same = comparison == comparison[strongest, np.arange(n_vars)]
    for size in sorted({test.dimensions for test in tests if test.is_beyond_alone}, reverse=True):
        of_size = np.array([test.is_beyond_alone and test.dimensions == size for test in tests])
        with_partner = np.where(of_size[:, np.newaxis] & is_same, weighted, np.inf)
        is_enough = with_partner.min(axis=0) < np.log(level / n_vars)
        strongest = np.where(is_alone & is_enough, np.argmin(with_partner, axis=0), strongest)
    return np.asarray(strongest)


def found_by(tests: Sequence[ArmPValues], level: float) -> list[str]:
    """Say how each variable was found."""
    words = [found_in_words(arm) for arm in arm_names(tests)]
    return [words[number] for number in best_arm(tests, level).tolist()]
