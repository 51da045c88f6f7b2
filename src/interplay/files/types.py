"""Whether what was read from a file is what the annotations of a dataclass say."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np


def fits(value: Any, hint: Any) -> bool:
    """Say whether `value` is of the type that `hint` writes down, to the entries of lists and the dtypes of arrays.

    Examples
    --------
    >>> fits([1, 2], list[int]), fits([1, "2"], list[int]), fits(True, int), fits(None, int | None)
    (True, False, False, True)
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hasattr(origin, "__value__"):  # a named alias, such as numpy's NDArray from 2.5 on
        return fits(value, origin.__value__[arguments])
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(fits(value, option) for option in arguments)
    if origin in (list, tuple):  # a tuple of any length, tuple[T, ...], or of just these
        if not isinstance(value, origin):
            return False
        if origin is tuple and Ellipsis not in arguments:
            return len(value) == len(arguments) and all(map(fits, value, arguments))
        return all(fits(entry, arguments[0]) for entry in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(k, arguments[0]) and fits(v, arguments[1]) for k, v in value.items()
        )
    if origin is np.ndarray:
        (scalar,) = get_args(arguments[1])
        return isinstance(value, np.ndarray) and value.dtype.newbyteorder("=") == np.dtype(scalar)
    if hint in (int, float):  # a bool is neither, to a reader; a float may be written without a fraction
        return isinstance(value, int | hint) and not isinstance(value, bool)
    if is_dataclass(hint):
        return type(value) is hint and has_own_types(value)
    return isinstance(value, type(None) if hint is None else hint)


def has_own_types(value: Any) -> bool:
    """Say whether each field of a dataclass is what its annotation says."""
    hints = get_type_hints(type(value))
    return all(fits(getattr(value, field.name), hints[field.name]) for field in fields(value))
