"""Whether content read from a file fits the annotations of its dataclass: types, shapes, bounds.

A shape or a bound stands beside the type, once for each field::

    tuples: Annotated[IntArray, Check("n k", low=0, below="n_vars")]

Names in a shape or bound are sizes. The first field with a size defines it, and all other fields must agree, also those
of dataclasses inside. A relation beyond any `Check` is left to a method ``is_consistent`` of the dataclass.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import numpy as np

Sizes = dict[str, int]

_BOUNDS: dict[str, Callable[[Any, Any], Any]] = {
    "low": operator.ge,
    "above": operator.gt,
    "high": operator.le,
    "below": operator.lt,
}


@dataclass(frozen=True)
class Check:
    """Shape and bounds of a value, beyond its type; None always passes.

    Examples
    --------
    >>> sizes = {"n": 3}
    >>> Check("n", below="n").allows(np.array([0, 1, 2]), sizes), Check("n+1").allows(np.zeros(3), sizes)
    (True, False)
    """

    #: Sizes of an array, or of a list, such as "n 2" or "n+1". An int has one: it is the size itself.
    shape: str = ""
    #: `low`, `above`, `high`, `below`: bounds of the entries, that is ≥, >, ≤ and <; a string is a size.
    low: float | str | None = None
    above: float | str | None = None
    high: float | str | None = None
    below: float | str | None = None
    #: Whether entries may be NaN, in spite of bounds.
    nan: bool = False
    #: Whether an array may have no entries instead of its shape.
    may_be_empty: bool = False
    #: All values that are allowed.
    among: Collection[Any] | None = None

    def allows(self, value: Any, sizes: Sizes) -> bool:
        """Say whether a value of the right type passes; sizes that were not known are filled in."""
        if value is None or (self.may_be_empty and np.size(value) == 0):
            return True
        if self.among is not None and value not in self.among:
            return False
        return (not self.shape or self._has_shape(value, sizes)) and self._is_within(value, sizes)

    def _has_shape(self, value: Any, sizes: Sizes) -> bool:
        if isinstance(value, float):  # one number for all entries
            return True
        shape = np.shape(value) if isinstance(value, np.ndarray) else (value if isinstance(value, int) else len(value),)
        names = self.shape.split()
        if len(shape) != len(names):
            return False
        for size, name in zip(shape, names, strict=True):
            if name.isidentifier():
                sizes.setdefault(name, size)
            if size != _size(name, sizes):
                return False
        return True

    def _is_within(self, value: Any, sizes: Sizes) -> bool:
        for name, holds in _BOUNDS.items():
            bound = getattr(self, name)
            if bound is not None:
                within = holds(value, _size(bound, sizes))
                if not np.all(within | np.isnan(value) if self.nan else within):
                    return False
        return True


def _size(name: float | str, sizes: Sizes) -> float:
    if not isinstance(name, str):
        return name
    return sum(int(term) if term.isdecimal() else sizes[term] for term in name.split("+"))


def fits(value: Any, hint: Any, sizes: Sizes | None = None) -> bool:
    """Say whether `value` is of the type `hint`, down to the entries of lists and the dtypes and shapes of arrays.

    Examples
    --------
    >>> fits([1, 2], list[int]), fits([1, "2"], list[int]), fits(True, int), fits(None, int | None)
    (True, False, False, True)
    """
    sizes = {} if sizes is None else sizes
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return fits(value, arguments[0], sizes) and all(check.allows(value, sizes) for check in arguments[1:])
    if hasattr(origin, "__value__"):  # a named alias, such as numpy's NDArray from 2.5 on
        return fits(value, origin.__value__[arguments], sizes)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, option, sizes) for option in arguments)
    if origin in (list, tuple):  # a tuple of any length, tuple[T, ...], or of just these
        if not isinstance(value, origin):
            return False
        if origin is tuple and Ellipsis not in arguments:
            return len(value) == len(arguments) and all(map(fits, value, arguments))
        return all(fits(entry, arguments[0], sizes) for entry in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(k, arguments[0]) and fits(v, arguments[1], sizes) for k, v in value.items()
        )
    if origin is np.ndarray:
        (scalar,) = get_args(arguments[1])
        return isinstance(value, np.ndarray) and value.dtype.newbyteorder("=") == np.dtype(scalar)
    if hint in (int, float):  # a bool is neither, to a reader; a float may be written without a fraction
        return isinstance(value, int | hint) and not isinstance(value, bool)
    if is_dataclass(hint):
        return type(value) is hint and _holds_together(value, sizes)
    return isinstance(value, type(None) if hint is None else hint)


def have_types(values: Mapping[str, Any], hints: Mapping[str, Any]) -> bool:
    """Say whether a dict has at least these entries, of these types."""
    return all(fits(values.get(name), hint) for name, hint in hints.items())


def written_fields(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass that are written: all but those with ``{"written": False}``."""
    return tuple(field.name for field in fields(kind) if field.metadata.get("written", True))


def _holds_together(value: Any, sizes: Sizes) -> bool:
    """Say whether a dataclass fits its annotations and its method ``is_consistent``."""
    inside = dict(sizes)  # a size that is first defined in here is unknown outside
    return all(fits(getattr(value, name), hint, inside) for name, hint in _hints(value.__class__).items()) and (
        not hasattr(value, "is_consistent") or value.is_consistent()
    )


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {name: hints[name] for name in written_fields(kind)}
