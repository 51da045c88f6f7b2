"""An error about one problem of a file → an error about all of them: the file is checked again, with it accepted."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from interplay.base.checks import Problem, ProblemsError, joined
from interplay.files.whole_file import is_special

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
