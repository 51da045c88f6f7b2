"""One row of the table of bad and odd input: how it is written, run and judged."""

import faulthandler
import math
import os
import re
import signal
import tempfile
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from interplay.base.checks import ProblemsError

#: A case that computes for longer searches what it should have refused. One that waits for longer hangs.
CPU_SECONDS = 30
WALL_SECONDS = 300

#: Longer messages are not read.
LONGEST_MESSAGE = 420

#: What bad input may raise; anything else is a crash in other words.
ERRORS = (ValueError, TypeError, OSError)


@dataclass(frozen=True)
class Case:
    """An input, and what must come of it.

    Attributes
    ----------
    what : str
        The input in words, in Markdown.
    call : callable
        Gives it to a function. Runs in an empty folder of its own.
    naming : str, optional
        A pattern that the error must have: the argument, the file, the column.
    like, same_as : callable and str, optional
        The plain equivalent that must give the same result, and what it is in words.
    theirs : str, optional
        A pattern from which on the message is another library's, and differs from version to version.
    """

    what: str
    call: Callable[[], Any]
    naming: str | None = None
    like: Callable[[], Any] | None = None
    same_as: str = ""
    theirs: str | None = None


@dataclass(frozen=True)
class Area:
    """Cases that belong together: a section of the page."""

    title: str
    cases: list[Case]


def refused(what, call, naming, *, theirs=None):
    """The input is refused, by an error that matches `naming`."""
    return Case(what, call, naming=naming, theirs=theirs)


def each_refused(call, words="must be", *, of="", **values):
    """Each of these values of an argument is refused, by an error that begins with the argument and these words."""
    return [
        refused(f"`{of}`: {row}" if of else row, partial(call, **{argument: value}), f"^{argument} {words}")
        for argument, of_argument in values.items()
        for value in of_argument
        for row in [f"`{argument}={_shown(value)}`"]
    ]


def _shown(value):
    """Return the value as a caller would write it."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, int) and abs(value) >= 10**6 and not isinstance(value, bool):
        sign, size = "-" * (value < 0), abs(value)
        power = round(math.log10(size))
        return f"{sign}10**{power}" if size == 10**power else f"{sign}2**{size.bit_length() - 1}"
    return f"np.{value!r}" if isinstance(value, np.ndarray) else repr(value)


def same(what, call, same_as, like):
    """The input is taken, and gives what its plain equivalent `like` gives."""
    return Case(what, call, like=like, same_as=same_as)


def outcome(case):
    """Run a case and say what came of it, in a line of Markdown; fail if that is not what must come of it."""
    with in_empty_folder(), _time_limit(), warnings.catch_warnings(record=True) as warned:
        # Ours are advice; others mean that something went on with a nonsensical value.
        warnings.simplefilter("error")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # np.matrix speaks of itself
        warnings.filterwarnings("ignore", "'enablePackrat' deprecated")  # as matplotlib before 3.11 calls pyparsing
        warnings.filterwarnings("ignore", "'parseString' deprecated")
        warnings.filterwarnings("ignore", "The 'future.infer_string' option is deprecated")  # anndata asks for it
        if case.naming is not None:
            return f"{_error_of(case)}"
        found = case.call()
        advice = [str(warning.message) for warning in warned if "Glyph" not in str(warning.message)]  # fonts differ
        assert case.like is not None
        assert_same(found, case.like())
    warning = f"; warns: “{escaped(advice[0])}”" if advice else ""
    return f"as {case.same_as}{warning}"


def escaped(text):
    """Return text that Markdown tables and HTML leave as it is."""
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
    return re.sub(r"([\\`*_\[\]<>|#$~&])", r"\\\1", printable)


def _error_of(case):
    with pytest.raises(ERRORS) as caught:
        case.call()
    error, message = caught.value, str(caught.value)
    assert not isinstance(error, UnicodeError), f"a raw {error!r}"
    assert re.search(case.naming or "", message), f"{type(error).__name__}: {message}"
    if case.theirs is not None:
        assert re.search(case.theirs, message), message
        message = re.sub(f"(?s)({case.theirs}).*", r"\1…", message)
    assert "\n" not in message
    assert len(message) <= LONGEST_MESSAGE, message
    # What differs from run to run: the folder, and where things are in memory.
    message = re.sub(r"\b0x[0-9a-f]+", "0x…", message.replace(os.getcwd() + os.sep, ""))
    kind = ValueError if isinstance(error, ProblemsError) else type(error)  # which users know it as
    return escaped(message if isinstance(error, CommandRefused) else f"{kind.__name__}: {message}")


class CommandRefused(ValueError):
    """The command line's one line of an error, exit code 2."""


def assert_same(found, expected):
    """Compare results of any kind, to the last bit."""
    if is_dataclass(found):
        assert type(found) is type(expected)
        for field in fields(found):
            # Seconds differ, and so do functions, which are never written.
            if field.name != "provenance" and field.metadata.get("written", True):
                assert_same(getattr(found, field.name), getattr(expected, field.name))
    elif isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    elif isinstance(found, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    elif isinstance(found, partial):  # what a result computes later, with the arguments of its search
        assert found.func is expected.func
    elif isinstance(found, dict):
        assert list(found) == list(expected)
        assert_same(list(found.values()), list(expected.values()))
    elif isinstance(found, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == expected or (found != found and expected != expected), (found, expected)


@contextmanager
def in_empty_folder():
    """Files have short names in messages, and are gone afterwards."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


@contextmanager
def _time_limit():
    """Stop what hangs: by an error where Python still runs, by an end with a traceback where it does not."""
    if not hasattr(signal, "SIGPROF"):
        yield
        return

    def too_long(*_):
        raise AssertionError(f"took more than {CPU_SECONDS} s")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    faulthandler.dump_traceback_later(WALL_SECONDS, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        faulthandler.cancel_dump_traceback_later()
