"""Problems of the data that a call can be told to accept: all of them in one error, with the arguments that do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


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
