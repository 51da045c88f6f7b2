"""Checks of arguments, problems of data and warnings, and the one style in which they complain.

Every message names the argument, says what was wrong with it and what to do.
"""

from __future__ import annotations

import math
import numbers
import operator
import os
import re
import reprlib
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 80  # a name should be seen in full


def shown(value: Any) -> str:
    """Return a value as an error message shows it: short, and on one line."""
    try:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, int):
            str(value)  # one that is too long fails here; Python 3.14 would tell its address instead
        text = _short.repr(value)
    except Exception:  # a whole number too long to print, or a class of the user's own
        return f"a value of type {type(value).__name__} that cannot be shown"
    return text if isinstance(value, str) else " ".join(text.split())


def check_int(name: str, value: Any, *, low: int, high: int | None = None) -> int:
    """Return `value` as an int within [low, high], or say why not."""
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = None
    if number is not None and low <= number and (high is None or number <= high):
        return number
    wanted = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    if number is None:
        raise TypeError(f"{name} must be {wanted}, not {shown(value)}")
    raise ValueError(f"{name} must be {wanted}, not {shown(number)}")


def check_real(
    name: str, value: Any, *, low: float, high: float = math.inf, low_open: bool = False, high_open: bool = False
) -> float:
    """Return `value` as a float within the interval, or say why not."""

    def refusal(given: str) -> str:
        interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open or math.isinf(high) else ']'}"
        return f"{name} must be a number in {interval}, not {given}"

    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(refusal(shown(value)))
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(refusal(shown(value))) from None
    inside = (low < number if low_open else low <= number) and (number < high if high_open else number <= high)
    if not inside or math.isinf(number):
        raise ValueError(refusal(f"{number:g}"))
    return number


def check_flag(name: str, value: Any) -> bool:
    """Return `value` as True or False, or say why not."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`, or list them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, not {shown(value)}")
    return value


def check_list(name: str, values: Any, *, of: str = "names or numbers of columns") -> list[Any]:
    """Return an argument that is a collection as a list of plain values, to be used and recorded more than once."""
    if isinstance(values, str) or not isinstance(values, Iterable) or hasattr(values, "columns"):
        example = f": write [{shown(values)}]" if isinstance(values, str) else ""
        raise TypeError(f"{name} must be a list of {of}, not {shown(values)}{example}")
    return [entry.item() if isinstance(entry, np.generic) else entry for entry in values]


def check_encodable(what: str, texts: Iterable[Any]) -> None:
    """Refuse half a surrogate pair: no file can hold it, and pandas, from 3 on, cannot either."""
    for text in texts:
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                reason = f"{what}, {shown(text)}, is no valid text (it has half a surrogate pair)"
                raise ValueError(f"{reason}: rename it") from None


def check_path(name: str, value: Any) -> str:
    """Return `value` as the name of a file, or say why not."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be the name of a file, not {shown(value)}")
    path = os.fspath(value)
    if not isinstance(path, str):
        raise TypeError(f"{name} must be the name of a file as text, not as bytes: use os.fsdecode")
    if "\0" in path:
        raise ValueError(f"{name} must be the name of a file, and no file can be called {shown(path)}")
    return path


def check_file(name: str, value: Any) -> Path:
    """Return `value` as the path of a file that exists, or say why not."""
    path = Path(check_path(name, value))
    if not path.exists():
        raise FileNotFoundError(2, "there is no such file", os.fspath(value))
    return path


@contextmanager
def reading(
    path: str | os.PathLike[str], wanted: str, errors: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Turn the errors of a library that reads a file into one line that names the file and what it should be.

    By default these are all errors: on a damaged file, h5py raises any kind of them.
    """
    try:
        yield
    except errors as error:
        first_line = str(error).partition("\n")[0] or type(error).__name__
        raise ValueError(f"{os.fspath(path)!r} is not {wanted}: {first_line}") from None


@contextmanager
def naming_argument(name: str) -> Iterator[None]:
    """Let errors about the content of an argument begin with its name."""
    try:
        yield
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError  # a subclass may take other arguments
        raise kind(f"{name}: {error}") from None


@contextmanager
def needing(package: str, extra: str, what: str) -> Iterator[None]:
    """Let the import of an optional package that is not there say how to get it; `what` needs it.

    Examples
    --------
    >>> with needing("no-such-package", "plot", "this example needs"):  # doctest: +ELLIPSIS
    ...     import no_such_package
    Traceback (most recent call last):
    ...
    ImportError: this example needs no-such-package: run ... "matplotlib..."
    """
    try:
        yield
    except ImportError:
        name = package.replace("-", "_")
        raise ImportError(f"{what} {package}: run {install_command(package, extra)}", name=name) from None


def check_numbers(name: str, values: Any, shape: tuple[int | None, ...]) -> npt.NDArray[np.float64]:
    """Return `values` as a new array of floats of this shape, None being any length, or say why not."""
    dimensional = {1: "one-dimensional", 2: "two-dimensional"}[len(shape)]
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biufO":  # NumPy would take dates and complex numbers, and read texts
            raise TypeError
        array = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a {dimensional} array of numbers, not {shown(values)}") from None
    if array.ndim != len(shape):
        raise ValueError(f"{name} must be {dimensional}, not of shape {array.shape}")
    if any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} must be of shape {shape}, not {array.shape}")
    return array


#: How packages are installed by the program that installed interplay.
_COMMANDS = {"uv": "uv pip install", "conda": "conda install -c conda-forge", "mamba": "mamba install -c conda-forge"}
_PIP = "python -m pip install"


def install_command(package: str, extra: str) -> str:
    """Return the command that installs a package, in the versions that an extra asks for.

    It names packages, not ``interplay[extra]``: interplay may come from a checkout, a wheel or another channel, where
    no index knows it by that name.

    Examples
    --------
    >>> install_command("no-such-package", "no-such-extra")
    'python -m pip install no-such-package'
    """
    try:
        ours = metadata.distribution("interplay")
    except metadata.PackageNotFoundError:  # imported from a folder
        return f"{_PIP} {package.lower()}"
    command = _COMMANDS.get((ours.read_text("INSTALLER") or "").strip(), _PIP)
    wanted = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    needed = [line.partition(";")[0].strip() for line in ours.requires or () if wanted.search(line)]
    own = [entry for entry in needed if re.match(rf"{re.escape(package)}\b", entry, re.IGNORECASE)]
    return " ".join([command, *(_quoted(entry) for entry in own or needed or [package.lower()])])


def _quoted(requirement: str) -> str:
    """Quote a requirement that a shell would read otherwise."""
    return f'"{requirement}"' if re.search(r"[<>=\[\]]", requirement) else requirement


class Problem(NamedTuple):
    """One problem in words, and arguments that accept it: ``{"missing": "level"}``, ``{"drop": ["name"]}``."""

    message: str
    accepting: Mapping[str, Any]


class ProblemsError(ValueError):
    """One or more problems of the data, in one message.

    Examples
    --------
    >>> gaps, text = Problem("X has gaps", {"missing": "level"}), Problem("'name' has 300 levels", {"drop": ["name"]})
    >>> print(ProblemsError([gaps]))
    X has gaps
    >>> print(ProblemsError([gaps, text]))
    2 problems: (1) X has gaps; (2) 'name' has 300 levels
    >>> ProblemsError([gaps, text]).accepting()
    {'missing': 'level', 'drop': ['name']}
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        numbered = [f"({number}) {problem.message}" for number, problem in enumerate(self.problems, 1)]
        one = self.problems[0].message
        super().__init__(one if len(numbered) == 1 else f"{len(numbered)} problems: {'; '.join(numbered)}")

    def __reduce__(self) -> tuple[type[ProblemsError], tuple[tuple[Problem, ...]]]:
        return ProblemsError, (self.problems,)  # exceptions come back from other processes by their arguments

    def accepting(self) -> dict[str, Any]:
        """Return the arguments that accept all problems; lists of columns are joined."""
        arguments: dict[str, Any] = {}
        for problem in self.problems:
            arguments = joined(arguments, problem.accepting)
        return arguments


def joined(arguments: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return both sets of arguments; lists that both have are joined.

    Examples
    --------
    >>> joined({"drop": ["a"], "missing": "error"}, {"drop": ["b"], "missing": "level"})
    {'drop': ['a', 'b'], 'missing': 'level'}
    """
    lists = {name: [*arguments[name], *entry] for name, entry in more.items() if isinstance(arguments.get(name), list)}
    return {**arguments, **more, **lists}


_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the line that called the package.

    This line is that of the caller of the outermost frame of the package. Frames of other packages may stand between
    those of this package: a decorator of scikit-learn, or contextlib's, whose generator is a function of ours.
    """
    frame: FrameType | None = sys._getframe()
    depth = level = 0
    while frame is not None:
        depth += 1
        if frame.f_code.co_filename.startswith(_PACKAGE):
            level = depth
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
