"""Arguments of a call → the arguments of the function that checks them, by name.

A call takes its own arguments by ``arguments = dict(locals())`` as its first statement. An argument is then written in
the signature of the call and where it is checked, and nowhere between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Any, TypeVar

Task = TypeVar("Task")

#: Arguments that do not decide the result: checks take them only by name, never by ``**``.
HOW = ("engine", "n_jobs", "progress", "checkpoint")


def taken_by(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that a function takes, out of all arguments of a call.

    Examples
    --------
    >>> taken_by(lambda y, *, level: ..., {"X": 1, "y": 2, "level": 3})
    {'y': 2, 'level': 3}
    >>> taken_by(lambda y, **settings: ..., {"y": 2, "level": 3, "n_jobs": 4})
    {'y': 2, 'level': 3}
    """
    parameters, takes_all = _parameters(function)
    return {name: value for name, value in arguments.items() if name in parameters or (takes_all and name not in HOW)}


def checked(call: Callable[..., Any], check: Callable[..., Task], X: Any, y: Any, **arguments: Any) -> Task:
    """Check arguments of a call, with its defaults for arguments that are not given → its task.

    For the call itself, and for functions that do a part of its work.
    """
    parameters, _ = _parameters(call)
    defaults = {name: default for name, default in parameters.items() if name not in ("X", "y")}
    for name in arguments:
        if name not in defaults:
            known = ", ".join(defaults)
            raise TypeError(f"{call.__name__}() got an unexpected keyword argument {name!r}: it has {known}")
    return check(X, y, **taken_by(check, defaults | arguments))


@cache  # to look at a signature takes as long as a small search
def _parameters(function: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    """Return the defaults of a function's arguments by name, and whether it takes any others by ``**``."""
    parameters = signature(function).parameters
    takes_all = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    return {name: parameter.default for name, parameter in parameters.items()}, takes_all
