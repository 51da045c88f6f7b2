"""Errors, in words of the command line → one line on stderr, an exit code; one problem of a file → all of them."""

from __future__ import annotations

import errno
import io
import os
import re
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import click

from interplay.base.checks import Problem, ProblemsError, joined
from interplay.files.whole_file import is_special, one_line
from interplay.search.engines.base import SearchInterrupted

OK = 0
BAD_INPUT = 2
NOT_DONE = 3
BUG = 70
INTERRUPTED = 128 + 2
NO_READER = 128 + 13
TERMINATED = 128 + 15

EXIT_CODES = """\b
Exit codes:
  0    done
  2    bad usage or bad input; the message says what to do
  3    the result could not be written (no space left), or memory or threads ran out
  70   an error in interplay itself; INTERPLAY_TRACEBACK=1 shows where
  130  interrupted (Ctrl-C); 143: terminated; 141: the reader of the output closed the pipe
"""


#: Messages of Python and C++ if the system refuses a thread.
_NO_THREAD = ("can't start new thread", os.strerror(errno.EAGAIN))


#: Errors of the system where output cannot be written.
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF)


class ClosedStdout(io.TextIOBase):
    """Stands for a standard output that was closed before the command began (``>&-``): no text can be written."""

    def write(self, _: str) -> int:
        raise OSError(errno.EBADF, "it is closed")


class NotWrittenError(Exception):
    """A result that could not be written, with the reason in one line."""


class StoppedAfterSearchError(KeyboardInterrupt):
    """Ctrl-C after a search: what was found is written, without what explains it; or another sentence, if given."""


def stopped_between_traits(stopped: SearchInterrupted) -> StoppedAfterSearchError | None:
    """Return what to raise, after the results of the first traits were written; None where there are none."""
    from interplay.show.results.result import Traits

    found = stopped.partial
    if not isinstance(found, Traits) or not len(found):
        return None
    return StoppedAfterSearchError(f"the results of the traits that were done are written: {len(found)}")


@contextmanager
def writing() -> Iterator[None]:
    """Turn errors of writing results into NotWrittenError, apart from errors in the input."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotWrittenError(_cannot_write(error)) from None


def exit_code_of(command: Callable[[], Any]) -> int:
    """Run a command, print an error as one line, and return the exit code."""
    signals: list[int] = []

    def end(number: int, _: Any) -> None:
        signals.append(number)
        raise KeyboardInterrupt  # so that half-written files are removed

    with suppress(ValueError, AttributeError):  # not in the main thread
        signal.signal(signal.SIGTERM, end)
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, end)
    if sys.stdout is None:
        sys.stdout = ClosedStdout()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            command()
            _flush_stdout()
        return OK
    except BrokenPipeError:
        _forget_stdout()
        return NO_READER
    except (KeyboardInterrupt, click.Abort) as error:
        return _stopped(error, signals)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except Exception as error:
        if os.environ.get("INTERPLAY_TRACEBACK"):
            traceback.print_exc()
        code, message = _described(error)
        if code == BUG and signals:  # the interrupt of an import leaves modules half imported, and may be swallowed
            return _stopped(error, signals)
        if "\n" not in message:  # the help is printed in full
            n_problems = len(error.problems) if isinstance(error, ProblemsError) else 1
            message = _shortened(message, 800 * n_problems)
        if code == NOT_DONE:
            _forget_stdout()
        _say(message)
        return code


def _stopped(error: BaseException, signals: list[int]) -> int:
    """Say how far an interrupted command came, and return the exit code."""
    terminated = signal.SIGTERM in signals
    far, then = "", "nothing was written"
    if isinstance(error, StoppedAfterSearchError):
        far, then = " after the search", "what was found is written, without tuples, effects and the short list"
        if error.args:
            far, then = "", str(error.args[0])
    if isinstance(error, SearchInterrupted):
        far = f" after {error.done:.1%} of the search"
        if error.kept_in is not None:
            then = f"the same command goes on from {error.kept_in!r}"
        elif error.not_kept is not None:
            then = f"the checkpoint is as it was last written ({error.not_kept})"
    _say(f"{'Terminated' if terminated else 'Interrupted'}{far}; {then}.")
    return TERMINATED if terminated else INTERRUPTED


def _described(error: Exception) -> tuple[int, str]:
    if isinstance(error, click.UsageError):
        if type(error).__name__ == "NoArgsIsHelpError":
            return BAD_INPUT, error.format_message()
        command = "interplay" if error.ctx is None else error.ctx.command_path
        return BAD_INPUT, f"Error: {_joined(error.format_message())} (see '{command} --help')"
    if isinstance(error, click.ClickException):
        return BAD_INPUT, f"Error: {_joined(error.format_message())}"
    if isinstance(error, NotWrittenError):
        return NOT_DONE, f"Error: {error}"
    if isinstance(error, MemoryError):
        return NOT_DONE, "Error: not enough memory: lower --dimensions, --n-contrast or --jobs, or use fewer variables"
    if isinstance(error, OSError) and error.filename is None and error.errno in _NO_ROOM:
        return NOT_DONE, f"Error: {_cannot_write(error)}"
    if isinstance(error, OSError):
        return BAD_INPUT, f"Error: {one_line(error)}"
    if isinstance(error, ValueError | TypeError | ImportError):
        return BAD_INPUT, f"Error: {in_options(_joined(str(error)))}{_to_go_on(error)}"
    if isinstance(error, RuntimeError) and str(error) in _NO_THREAD:
        return NOT_DONE, (
            "Error: the system gives no thread: lower --jobs, or raise the limits of memory and processes (ulimit -v, "
            "ulimit -u)"
        )
    return BUG, (
        f"Error: {type(error).__name__}: {_joined(str(error))} (an error in interplay itself: please report it, with "
        "what INTERPLAY_TRACEBACK=1 shows)"
    )


def _cannot_write(error: OSError) -> str:
    """Return the message with the name of the file, or of standard output."""
    said = one_line(error)
    if said.startswith("cannot write"):
        return said
    return f"cannot write {'standard output: ' if error.filename is None else ''}{said}"


def _to_go_on(error: Exception) -> str:
    """Return the options that accept all problems of a file, to be typed."""
    accepting = error.accepting() if isinstance(error, ProblemsError) else {}
    return f". To go on, add: {as_options(accepting)}" if accepting else ""


def _joined(message: str) -> str:
    return " ".join(message.split())


def _shortened(message: str, longest: int) -> str:
    """Leave out the middle of a message that quotes a name or number of thousands of characters."""
    return message if len(message) <= longest else f"{message[:200]} … {message[-200:]}"


def _say(message: str) -> None:
    with suppress(OSError, ValueError):  # stderr may be closed
        click.echo(message, err=True)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"Warning: {in_options(_joined(str(message)))}")


def _flush_stdout() -> None:
    """Flush stdout while an error can still be reported, which is impossible at the end of the process."""
    if sys.stdout is not None:
        with writing():
            sys.stdout.flush()


def _forget_stdout() -> None:
    """Redirect stdout, which cannot be written, to the null device."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


#: So many problems are looked for, one after the other.
_MAX_ATTEMPTS = 20

Arguments = dict[str, Any]


@contextmanager
def all_problems_at_once(check: Callable[[Arguments], None], *, data: str) -> Iterator[None]:
    """Let an error about a problem that can be accepted tell of all problems.

    - `check`: checks the file again, with arguments that replace or add to those of the command.
    - `data`: the file; of a pipe, which cannot be read again, only the first problem is told.
    """
    try:
        yield
    except ProblemsError as first:
        if data == "-" or is_special(Path(data)) or not first.accepting():
            raise
        raise ProblemsError(_further(first, check)) from None


def _further(first: ProblemsError, check: Callable[[Arguments], None]) -> list[Problem]:
    """Return the problems of an error, and those that come to light once these are accepted."""
    problems, accepted = list(first.problems), first.accepting()
    for _ in range(_MAX_ATTEMPTS):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                check(accepted)
        except ProblemsError as error:
            problems += error.problems
            if not error.accepting():
                break
            accepted = joined(accepted, error.accepting())
        except (ValueError, TypeError) as error:
            problems.append(Problem(str(error), {}))
            break
        else:
            break
    return problems


def accepting(arguments: Arguments, accepted: Arguments) -> Arguments:
    """Return arguments with the accepted values of those that are among them."""
    return joined(arguments, {name: value for name, value in accepted.items() if name in arguments})


def check_selection_data(X: Any, y: Any, **arguments: Any) -> None:
    """Check all that `select` checks before it searches."""
    from interplay.ask.selection.call import task_of
    from interplay.data.codes.coded import CodedStudy

    X, y, arguments = _of_one_outcome(X, y, arguments)
    task = task_of(X, y, **arguments)
    coded = CodedStudy(task.settings, n_threads=1)
    for comparison in task.comparisons:
        _ = coded.of(comparison).coder


def check_interaction_data(X: Any, y: Any, **arguments: Any) -> None:
    """Check all that `interactions` checks before it searches."""
    from interplay.ask.interaction.call import task_of
    from interplay.data.codes.coded import CodedStudy

    X, y, arguments = _of_one_outcome(X, y, arguments)
    task = task_of(X, y, **arguments)
    _ = CodedStudy(task.search_settings, n_threads=1).of(task.comparison).coder


def _of_one_outcome(X: Any, y: Any, arguments: Arguments) -> tuple[Any, Any, Arguments]:
    """Return the data of the first of several outcomes."""
    from interplay.ask.traits import several_traits

    several = several_traits({**arguments, "X": X, "y": y})
    if several is None:
        return X, y, arguments
    table, of_samples = several.samples_of(several.traits[0])
    return table, several.traits[0].y, arguments | of_samples


#: A name or value in a message; an apostrophe in a word does not begin one.
_QUOTED = re.compile(r"""((?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w))""")
_VALUE = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\w+(?:\.\w+)*)"""

#: Verbs that follow the name of an argument, and verbs that come before it: there a plain word is an argument.
_AFTER = r"must|names?|needs?|is needed|is not given|is only used|is both|cannot|does not|do not|gives?|holds?|makes?"
_BEFORE = r"lower|raise|give|without|take (?:it|them) out of|at least|beside"

#: Advice that only Python can follow.
_PYTHON_ALONE = (
    " (in pandas with pd.to_numeric(column, errors='coerce'))",
    ", None, or a numpy RandomState or Generator",
    ", or None for one",
    " or (3, 64)",
    ", y.idxmax(axis=1)",
)

#: Sentences of summaries that name Python, and their words on the command line.
_OF_SUMMARIES = {
    r"^(… and [\d,]+ more) in \.(?:table|cautions)$": r"\1 in the file of --out",
    r"^\(too wide for this terminal, in \.table: ": "(too wide for this terminal, in the file of --out: ",
    r"top=10 lists ": "--top 10 lists ",
    r" \(replicate\(\) or holdout=\)\.$": " (--holdout).",
    r": best\(n\) begins with": ": --best N begins with",
    r"(?:;|:) clumps\(\) lists them\.$": ".",
}

#: So many columns are written out as options.
_MAX_DROPPED = 12


def in_options(message: str) -> str:
    """Replace words of Python in a message by those of the command line.

    Examples
    --------
    >>> in_options("'rare': leave it out (on the command line with --min-class), merge it with another")
    "'rare': leave it out (--min-class 5), merge it with another"
    >>> in_options("use decision='classes'; dimensions=9 needs at least 9 variables")
    'use --decision classes; --dimensions 9 needs at least 9 variables'
    >>> in_options("column 'a b' of X determines y, leave it out (on the command line with --drop 'a b')")
    "column 'a b' determines the target, leave it out: --drop 'a b'"
    >>> in_options("use na_values=['-9'] or missing_target='drop'; random_state must be a whole number")
    'use --na-values -9 or --missing-target drop; --seed must be a whole number'
    """
    for words in _PYTHON_ALONE:
        message = message.replace(words, "")
    flags, typed = _flags(), []

    def keep(words: str) -> str:
        typed.append(words)  # values of options stay as they are: a column may be called y
        return f"\0{len(typed) - 1}\0"

    times = r"\by=\(Y\[('[^']*')\], Y\[('[^']*')\]\), or each of them by itself"
    message = re.sub(times, lambda found: keep(f"--time {found[1]} --event {found[2]} in place of --trait"), message)
    message = message.replace(" (on the command line with --min-class)", f" ({keep('--min-class 5')})")
    message = re.sub(r" \(on the command line with (--drop [^)]*)\)", lambda found: keep(_dropping(found)), message)
    message = re.sub(
        rf"\b({'|'.join(flags)})=({_VALUE})?", lambda found: keep(_given(flags[found[1]], found[2])), message
    )
    parts = _QUOTED.split(message)
    after_name = False
    for number in range(0, len(parts), 2):  # the others are quoted
        parts[number] = _plain(parts[number], flags, is_first=number == 0, after_name=after_name)
        after_name = True
    return re.sub(r"\0(\d+)\0", lambda found: typed[int(found[1])], "".join(parts))


def summary_in_options(summary: str) -> str:
    r"""Replace words of Python in a summary by those of the command line.

    Examples
    --------
    >>> summary_in_options("… and 4 more in .table\nthe smallest is 0.1 (a, b); top=10 lists more.")
    '… and 4 more in the file of --out\nthe smallest is 0.1 (a, b); --top 10 lists more.'
    """
    for words, instead in _OF_SUMMARIES.items():
        summary = re.sub(words, instead, summary, flags=re.MULTILINE)
    return re.sub("^Filters left out .*$", lambda found: in_options(found[0]), summary, flags=re.MULTILINE)


def as_options(arguments: Mapping[str, Any]) -> str:
    """Write arguments as the options to type.

    Examples
    --------
    >>> as_options({"missing": "level", "drop": ["name", "first visit"]})
    "--missing level --drop name --drop 'first visit'"
    """
    flags, words = _flags(), []
    for name, value in arguments.items():
        entries = value if isinstance(value, list) else [value]
        words += [f"{flags[name]} {shlex.quote(str(entry))}" for entry in entries[:_MAX_DROPPED]]
        if len(entries) > _MAX_DROPPED:
            words.append(f"… ({len(entries) - _MAX_DROPPED} more)")
    return " ".join(words)


@cache
def _flags() -> dict[str, str]:
    """Return the option of each argument, the longest names first."""
    from interplay.ask.cli.commands import commands

    flags = {
        str(option.name): max(option.opts, key=len)
        for command in commands.commands.values()
        for option in command.params
        if isinstance(option, click.Option)
    }
    return {name: flags[name] for name in sorted(flags, key=len, reverse=True)}


def _given(flag: str, value: str | None) -> str:
    """Write an option with a value that a message has in the words of Python."""
    if value is None or value in ("True", "None"):
        return flag
    if value == "False":
        return flag.replace("--", "--no-", 1)
    entries = _QUOTED.findall(value) if value.startswith("[") else [value]
    return " ".join(f"{flag} {shlex.quote(_unquoted(entry))}" for entry in entries)


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] in "'\"" and text[:1] else text


def _dropping(found: re.Match[str]) -> str:
    return f": {re.sub(_QUOTED, lambda name: shlex.quote(_unquoted(name[1])), found[1])}"


def _plain(text: str, flags: dict[str, str], *, is_first: bool, after_name: bool) -> str:
    """Replace arguments, X and y in a part of a message that is not quoted."""
    plain = "|".join(name for name in flags if "_" not in name)
    start = r"(?:^|(?<=[;:)] ))" if is_first else r"(?:(?<=[;:)] ))"
    text = re.sub(rf"{start}({plain})(?= (?:{_AFTER})\b)", lambda found: flags[found[1]], text)
    text = re.sub(rf"\b({_BEFORE}) ({plain})\b(?!-)", lambda found: f"{found[1]} {flags[found[2]]}", text)
    snake = "|".join(name for name in flags if "_" in name)
    text = re.sub(rf"(?<![\w.])({snake})(?!\w)", lambda found: flags[found[1]], text)
    if after_name:
        text = re.sub(r"^ of X\b", "", text)
    text = re.sub(r"\bX\b", "the table", text)
    return re.sub(r"(?<![\w=])y\b(?!=)", "the target", text)
