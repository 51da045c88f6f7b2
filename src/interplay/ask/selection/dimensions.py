"""The arguments `dimensions` and `arms` → the sizes of tuples that are searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from typing import Any

from interplay.base.checks import check_int, check_list, shown
from interplay.infer.arms import arm_of_tuples, arms_of

#: Upper limits of "auto": it searches triples up to this number of them (1818 variables), and quadruples up to this
#: number of variables. Never by the speed of the machine: the same call means the same everywhere.
MAX_TRIPLES = 10**9
MAX_VARS_OF_QUADRUPLES = 40

#: The argument `dimensions`.
Dimensions = int | str | Sequence[int]


def resolve_dimensions(
    dimensions: Any, arms: Any, n_vars: int, *, one_with: str | None = None
) -> tuple[int | tuple[int, ...], tuple[str, ...] | None]:
    """Return one number, or several numbers that are searched in one call, with the arms that are combined.

    `one_with` names another argument that allows one number only, because samples are then not exchangeable one by one,
    which the rank tests of the arms assume. Then "auto" is 2, and several numbers are refused.

    Examples
    --------
    >>> resolve_dimensions("auto", None, n_vars=100)
    ((1, 2, 3), ('alone', 'given', 'pairs', 'triples'))
    >>> resolve_dimensions(2, None, n_vars=100)
    (2, None)
    >>> resolve_dimensions((1, 2), ["alone", "pairs"], n_vars=100)
    ((1, 2), ('alone', 'pairs'))
    """
    if not n_vars:
        raise ValueError("X has no variables: give at least one")
    if isinstance(dimensions, str):
        if dimensions != "auto":
            raise ValueError(f"dimensions must be 'auto', a whole number or several, not {shown(dimensions)}")
        if one_with is not None and arms is None:
            return min(2, n_vars), None
        several = _auto_dimensions(n_vars, arms)
    elif isinstance(dimensions, Iterable) and not isinstance(dimensions, bytes):
        several = _check_several(dimensions)
    else:
        number = check_int("dimensions", dimensions, low=1)
        if arms is not None:
            raise ValueError(
                f"arms are for several dimensions in one call: leave arms out, or dimensions={shown(dimensions)}"
            )
        return number, None
    if one_with is not None:
        raise ValueError(f"{one_with} works with one dimension at a time: give dimensions one number, such as 2")
    known = arms_of(several)
    if arms is None:
        return several, known
    chosen = _check_arms(arms, known, several)
    return several, tuple(arm for arm in known if arm in chosen)


def _auto_dimensions(n_vars: int, arms: Any) -> tuple[int, ...]:
    asked_for = {arm for arm in arms if isinstance(arm, str)} if isinstance(arms, list | tuple | set) else set()
    allowed = {1: True, 2: True, 3: comb(n_vars, 3) <= MAX_TRIPLES, 4: n_vars <= MAX_VARS_OF_QUADRUPLES}
    return tuple(k for k, is_small in allowed.items() if k <= n_vars and (is_small or arm_of_tuples(k) in asked_for))


def _check_several(dimensions: Iterable[Any]) -> tuple[int, ...]:
    entries = check_list("dimensions", dimensions)
    numbers = [check_int("each of several dimensions", number, low=1) for number in entries]
    if not numbers:
        raise ValueError("dimensions must hold at least one number, such as (1, 2, 3); it is empty")
    return tuple(sorted(set(numbers)))


def _check_arms(arms: Any, known: Sequence[str], dimensions: Sequence[int]) -> set[str]:
    if isinstance(arms, str):
        arms = [arms]
    chosen = set()
    for arm in check_list("arms", arms, of="names of arms"):
        if not isinstance(arm, str) or arm not in known:
            listed = ", ".join(known)
            raise ValueError(f"arms names {shown(arm)}: with dimensions={dimensions} there are {listed}")
        chosen.add(arm)
    if not chosen:
        raise ValueError(f"arms must name at least one of {', '.join(known)}; it is empty")
    return chosen
