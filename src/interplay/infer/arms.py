"""Which tests make up one p-value over several dimensions, with what weights → p-values of arms and of variables.

An arm, which users see and may switch off, is a way in which a variable can be informative. Each has one test or a few,
whose weighted harmonic mean is the p-value of the arm; that of all tests is the p-value of the variable. The harmonic
mean of harmonic means is that of all, so the order of combination makes no difference.

Weights were chosen by power on tables with known truth and then fixed. They are flat: of 130 sets drawn around these,
the best were one point better in the worst case. `learned_weights` adapts the weights of the arms to a table.

p-values of several tests of each variable → one p-value: their weighted harmonic mean; weights learnt from others.

p = 1 / Σ (w / p) with Σ w = 1. It lies between the weighted Bonferroni p-value, min (p / w), and that divided by the
number of tests. Unlike Fisher's or Stouffer's sum it is governed by the smallest p-values, and so keeps about its error
rate when the tests depend on each other; unlike in Cauchy's, a p-value near 1 does not weaken the others.

*Learned weights* lean to the arms in which other variables were found. Where five variables of a table show alone, a
sixth most likely does too. With the fixed weights, some variables are found (Bonferroni, 0.05). Each variable is then
judged with weights that are drawn towards the arms of *the others* that were found: (1 − s)·fixed + s·shares of the
arms among these, s = n/(n + 1) for n of them.

Effect on errors: if nothing is found with the fixed weights, nothing changes, so that on noise the family-wise error
stays the same. A variable has no part in its own weights. The weights of an irrelevant variable are decided by others,
of which it is independent, and any weights that are fixed before a p-value is seen leave it valid.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import shown
from interplay.base.text import TUPLE_NAMES
from interplay.files.types import Check
from interplay.infer.null_fit import NullFit

#: The arms of single variables; that of tuples is named by their size.
ALONE, GIVEN = "alone", "given"


class Weights(NamedTuple):
    """Weights of the tests of each arm, that of all being 1."""

    alone: dict[str, float]
    given: dict[str, float]
    pairs: dict[str, float]
    #: Three dimensions and more share this. Their gains add nothing to their synergies.
    larger: dict[str, float]
    #: Whether fits are guarded by contrast variables: gains of scores have outliers that no fit knows.
    are_guarded: bool


#: By what is searched: counts of classes, or scores of numbers and residuals, of which the product says most about
#: smooth interactions, and gains little beyond it.
WEIGHTS = {
    False: Weights(
        alone={"rank": 0.28, "spread": 0.09, "shape": 0.02, "gain 1": 0.04},
        given={"given": 0.07},
        pairs={"gain 2": 0.09, "synergy 2": 0.13, "product 2": 0.09},
        larger={"synergy": 0.19},
        are_guarded=False,
    ),
    True: Weights(
        alone={"rank": 0.28, "spread": 0.07, "shape": 0.03, "noise": 0.05, "gain 1": 0.02},
        given={"given": 0.05},
        pairs={"gain 2": 0.01, "synergy 2": 0.10, "product 2": 0.23},
        larger={"synergy": 0.16},
        are_guarded=True,
    ),
}

#: The fit that "auto" may choose for synergies and products. Gains are fitted as in searches of one size of tuples.
FIT_OF_SYNERGIES = "predictive"


class ArmTest(NamedTuple):
    """A test, the arm it belongs to and its weight among all."""

    name: str
    arm: str
    weight: float


def arm_of_tuples(dimensions: int) -> str:
    """Return the name of the arm of tuples with this number of members.

    Examples
    --------
    >>> arm_of_tuples(3)
    'triples'
    """
    return ALONE if dimensions == 1 else TUPLE_NAMES.get(dimensions, f"tuples of {dimensions}")


def arms_of(dimensions: Collection[int]) -> tuple[str, ...]:
    """Return the names of all arms that these dimensions have.

    Examples
    --------
    >>> arms_of((1, 2))
    ('alone', 'given', 'pairs')
    """
    first = (ALONE, GIVEN) if 1 in dimensions else ()
    return (*first, *(arm_of_tuples(k) for k in sorted(dimensions) if k > 1))


def found_in_words(arm: str) -> str:
    """Say how a variable was found whose smallest p-value is that of this arm.

    Examples
    --------
    >>> found_in_words("given"), found_in_words("pairs")
    ('given others', 'in pairs')
    """
    return {ALONE: "alone", GIVEN: "given others"}.get(arm, f"in {arm}")


def weighted_tests(
    dimensions: Sequence[int], arms: Collection[str], fixed: Weights, *, samples_per_column: float
) -> list[ArmTest]:
    """Return the tests of some arms with weights that sum up to 1.

    Few samples cannot tell the best of millions of tuples: with fewer samples than columns, tuples of k members have
    their weight times (samples/columns)^((k − 1)/2), and single variables the rest.

    Examples
    --------
    >>> tests = weighted_tests((1, 2), ("given", "pairs"), WEIGHTS[False], samples_per_column=5)
    >>> [(test.name, round(test.weight, 2)) for test in tests]
    [('given', 0.18), ('gain 2', 0.24), ('synergy 2', 0.34), ('product 2', 0.24)]
    """
    larger = [k for k in dimensions if k > 2]
    share = math.sqrt(min(samples_per_column, 1.0))
    weights: dict[str, dict[str, float]] = {}
    if 1 in dimensions:
        weights |= {ALONE: fixed.alone, GIVEN: fixed.given}
    if 2 in dimensions:
        weights[arm_of_tuples(2)] = {name: weight * share for name, weight in fixed.pairs.items()}
    for k in larger:
        of_size = share ** (k - 1) / len(larger)
        weights[arm_of_tuples(k)] = {f"{kind} {k}": weight * of_size for kind, weight in fixed.larger.items()}
    kept = {arm: of_tests for arm, of_tests in weights.items() if arm in arms}
    total = sum(sum(of_tests.values()) for of_tests in kept.values())
    return [ArmTest(name, arm, weight / total) for arm, of_tests in kept.items() for name, weight in of_tests.items()]


@dataclass(frozen=True, eq=False)
class ArmPValues:
    """One of the tests that a combined p-value is made of."""

    #: "rank", "spread", "shape", "noise", "given", "gain 2", "synergy 2", "product 2" and so on.
    name: str
    #: The arm it belongs to: "alone", "given", "pairs", "triples", and so on.
    arm: str
    #: Its fixed weight among all tests; they sum up to 1. Those of its arm may be raised or lowered for a variable by
    #: what other variables show: see `Selection.arm_weights`.
    weight: Annotated[float, Check(above=0, high=1)]
    #: (n_vars,): natural logarithms of its p-values; of several comparisons of classes, the smallest times their
    #: number. NaN where it does not apply to a variable: the other tests of its arm then share its weight.
    log_p: Annotated[FloatArray, Check("n_vars", high=0, nan=True)]
    #: (n_vars,): the comparison with the smallest p-value.
    comparison: Annotated[IntArray, Check("n_vars", low=0)]
    #: (n_vars, k): the tuple with that p-value, ascending; −1 where there is none.
    tuples: Annotated[IntArray, Check("n_vars k", low=-1, below="n_vars")]
    #: One for each comparison, where the test has a null distribution that is fitted to contrast variables.
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


#: A variable is found, for this purpose, if its p-value times the number of variables is below this.
_FOUND_P = 0.05


def combined_log_p(log_p: npt.ArrayLike, weights: npt.ArrayLike) -> FloatArray:
    """Return natural logarithms of the weighted harmonic means.

    - `log_p` (n_tests, n_vars) array_like: natural logarithms of the p-values; NaN where a test does not apply to a
      variable, whose other tests then share its weight.
    - `weights` (n_tests,) or (n_tests, n_vars) array_like: not negative; their sum does not matter.

    Returns
    -------
    (n_vars,) float64
        NaN for a variable that no test applies to.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(combined_log_p(np.log([[0.01, 0.5], [1.0, 0.5]]), [1, 1])).round(4).tolist()
    [0.0198, 0.5]
    """
    log_p = np.asarray(log_p, dtype=np.float64)
    applies = ~np.isnan(log_p)
    given = np.asarray(weights, dtype=np.float64)
    weight = np.where(applies, given if given.ndim == 2 else given[:, np.newaxis], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_weight = np.log(weight / weight.sum(axis=0))
        terms = np.where(applies, log_weight - log_p, -np.inf)
        combined = -np.logaddexp.reduce(terms, axis=0)
    return np.where(applies.any(axis=0), np.minimum(combined, 0.0), np.nan)


def learned_weights(log_p: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weights of all arms for each variable, (n_arms, n_vars).

    - `log_p` (n_arms, n_vars): natural logarithms of the p-values; NaN where an arm does not apply to a variable.
    - `weights` (n_arms,): the fixed weights, which sum up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> log_p = np.log([[1e-9, 0.2, 0.3], [0.5, 0.1, 0.4]])
    >>> learned_weights(log_p, np.array([0.5, 0.5])).tolist()  # the first was found: it decides for the others
    [[0.5, 0.75, 0.75], [0.5, 0.25, 0.25]]
    """
    n_arms, n_vars = log_p.shape
    combined = combined_log_p(log_p, weights)
    n_tested = int((~np.isnan(combined)).sum())
    is_found = combined + np.log(max(n_tested, 1)) < np.log(_FOUND_P)
    evidence = np.log(weights)[:, np.newaxis] - log_p
    found_in = np.argmax(np.where(np.isnan(evidence), -np.inf, evidence), axis=0)
    finds = (np.arange(n_arms)[:, np.newaxis] == found_in) & is_found
    of_others = finds.sum(axis=1, keepdims=True) - finds
    n_others = of_others.sum(axis=0)
    share = np.divide(of_others, n_others, out=np.zeros((n_arms, n_vars)), where=n_others > 0)
    drawn = n_others / (n_others + 1.0)
    return np.asarray((1 - drawn) * weights[:, np.newaxis] + drawn * share)
