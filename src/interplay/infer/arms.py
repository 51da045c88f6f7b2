"""Which tests make up one p-value over several dimensions, and with what weights.

An arm, which users see and may switch off, is a way in which a variable can be informative. Each has one test or a few,
whose weighted harmonic mean is the p-value of the arm; that of all tests is the p-value of the variable. The harmonic
mean of harmonic means is that of all, so the order of combination makes no difference.

Weights were chosen by power on tables with known truth and then fixed. They are flat: of 130 sets drawn around these,
the best were one point better in the worst case. `learned_weights` adapts the weights of the arms to a table.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from interplay.base.text import TUPLE_NAMES

#: The arms of single variables; that of tuples is named by their size.
ALONE, GIVEN = "alone", "given"


class _Weights(NamedTuple):
    alone: dict[str, float]
    given: dict[str, float]
    pairs: dict[str, float]
    #: Three dimensions and more share this. Their gains add nothing to their synergies.
    larger: dict[str, float]


_OF_CLASSES = _Weights(
    alone={"rank": 0.28, "spread": 0.03, "gain 1": 0.03},
    given={"given": 0.08},
    pairs={"gain 2": 0.10, "synergy 2": 0.14, "product 2": 0.10},
    larger={"synergy": 0.24},
)

#: Of a number outcome, the product of scores says most about smooth interactions, and gains little beyond it.
_OF_NUMBERS = _Weights(
    alone={"rank": 0.30, "spread": 0.08, "gain 1": 0.02},
    given={"given": 0.05},
    pairs={"gain 2": 0.01, "synergy 2": 0.11, "product 2": 0.25},
    larger={"synergy": 0.18},
)

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


def tests_of(dimensions: Sequence[int], arms: Collection[str], *, of_numbers: bool) -> list[ArmTest]:
    """Return the tests of some arms, for classes or a number outcome, with weights that sum up to 1.

    Examples
    --------
    >>> [(test.name, round(test.weight, 2)) for test in tests_of((1, 2), ("given", "pairs"), of_numbers=False)]
    [('given', 0.19), ('gain 2', 0.24), ('synergy 2', 0.33), ('product 2', 0.24)]
    """
    fixed = _OF_NUMBERS if of_numbers else _OF_CLASSES
    larger = [k for k in dimensions if k > 2]
    weights: dict[str, dict[str, float]] = {}
    if 1 in dimensions:
        weights |= {ALONE: fixed.alone, GIVEN: fixed.given}
    if 2 in dimensions:
        weights[arm_of_tuples(2)] = fixed.pairs
    for k in larger:
        weights[arm_of_tuples(k)] = {f"{kind} {k}": weight / len(larger) for kind, weight in fixed.larger.items()}
    kept = {arm: of_tests for arm, of_tests in weights.items() if arm in arms}
    total = sum(sum(of_tests.values()) for of_tests in kept.values())
    return [ArmTest(name, arm, weight / total) for arm, of_tests in kept.items() for name, weight in of_tests.items()]
