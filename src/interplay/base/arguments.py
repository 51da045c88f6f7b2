"""Arguments of calls: described once for several functions, passed on by name to the function that checks them.

A description is written as in a numpydoc docstring: a line ``name : type``, and below it the indented text.
`described_by` completes the section Parameters of a docstring. In the source this section holds only the text that is
particular to the function:

- an argument that is left out has the type and the text of the table;
- a name without a type has the type of the table;
- a line ``...`` within a text stands for the text of the table, and so does an empty text;
- a line ``...`` in place of a name says to the reader that there are more arguments.

Arguments of a call → the arguments of the function that checks them, by name.

A call takes its own arguments by ``arguments = dict(locals())`` as its first statement. An argument is then written in
the signature of the call and where it is checked, and nowhere between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from inspect import Parameter, cleandoc, signature
from textwrap import dedent, indent
from typing import Any, NamedTuple, TypeVar

Documented = TypeVar("Documented", bound=Callable[..., Any])

#: Stands for the shared text of an argument, or for further arguments.
_SHARED = "..."

_SECTION = re.compile(r"(^Parameters\n-+\n)(.*?)(?=\n\n\S[^\n]*\n---+\n|\Z)", re.DOTALL | re.MULTILINE)


class Argument(NamedTuple):
    """Type and text of one argument in a docstring."""

    type: str
    text: str


Arguments = Mapping[str, Argument]


def arguments_in(text: str, shared: Arguments | None = None) -> dict[str, Argument]:
    r"""Return the arguments that a text describes, completed by descriptions that are shared.

    Examples
    --------
    >>> shared = arguments_in('''
    ...     top : int
    ...         Number of rows.
    ... ''')
    >>> arguments_in('''
    ...     top : int, optional
    ...         ...
    ...
    ...         By default all of them.
    ... ''', shared)["top"]
    Argument(type='int, optional', text='Number of rows.\n\nBy default all of them.')
    """
    found: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    name = ""
    for line in dedent(text).splitlines():
        if line and not line.startswith(" "):
            name, _, types[name] = line.partition(" : ")
            found[name] = []
        elif name:
            found[name].append(line[4:])
    written = {
        each: Argument(types[each], "\n".join(lines).strip()) for each, lines in found.items() if each != _SHARED
    }
    return {each: _completed(argument, (shared or {}).get(each)) for each, argument in written.items()}


def _completed(written: Argument, shared: Argument | None) -> Argument:
    if shared is None:
        return written
    lines = (written.text or _SHARED).splitlines()
    return Argument(written.type or shared.type, "\n".join(shared.text if line == _SHARED else line for line in lines))


def described_by(shared: Arguments, *, rest: Callable[..., Any] | None = None) -> Callable[[Documented], Documented]:
    """Complete the section Parameters of a docstring, in the order of the signature; a decorator.

    `rest` is a function that receives further arguments by ``**``: these are described, too.
    """

    def complete(function: Documented) -> Documented:
        if function.__doc__ is None:  # python -OO
            return function
        names = list(named_arguments(function))
        if rest is not None:
            names += [name for name in named_arguments(rest) if name not in names]
        doc = cleandoc(function.__doc__)
        section = _SECTION.search(doc)
        own = arguments_in(section[2], shared) if section is not None else {}
        known = {**shared, **own}
        names += [name for name in _further_arguments(function) if name in known]
        if section is None or not own.keys() <= set(names) <= known.keys():
            wrong = sorted(own.keys() - set(names)) + [name for name in names if name not in known]
            raise TypeError(f"the docstring of {function.__name__}() must describe its arguments: see {wrong}")
        entries = [f"{_heading(name, known[name].type)}\n{indent(known[name].text, '    ')}".rstrip() for name in names]
        function.__doc__ = doc[: section.start(2)] + "\n".join(entries) + doc[section.end(2) :]
        return function

    return complete


def named_arguments(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the arguments of a function, or of a class, that have a name of their own."""
    unnamed = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return {
        name: argument
        for name, argument in signature(function).parameters.items()
        if argument.kind not in unnamed and name != "self"
    }


def _further_arguments(function: Callable[..., Any]) -> list[str]:
    """Return ``**name`` where a function takes further arguments by name."""
    given = signature(function).parameters.values()
    return [f"**{argument.name}" for argument in given if argument.kind is Parameter.VAR_KEYWORD]


def _heading(name: str, type_: str) -> str:
    return f"{name} : {type_}" if type_ else name


def one_of(choices: Collection[str]) -> str:
    """Return the type of an argument that must be one of some words.

    Examples
    --------
    >>> one_of(("any", "all"))
    '{"any", "all"}'
    """
    return "{" + ", ".join(f'"{choice}"' for choice in choices) + "}"


#: Arguments that the questions (`select`, `interactions`, …) share.
ARGUMENTS = arguments_in(
    """
    X : table-like, (n_samples, n_vars)
        The table: one row per sample, one column per variable. A numpy array, a list of rows, a pandas, polars or
        pyarrow table, a scipy sparse matrix, an AnnData, or what `interplay.genetics`, `interplay.singlecell` and
        `interplay.parquet` read from files.
    y : (n_samples,) array-like, or str
        The outcome to explain, which the papers on the method call the *decision*: labels of any kind, or numbers (see
        `decision`). A string names a column of `X`, which is then not a variable, or a column of an AnnData's ``.obs``.
    dimensions : int
        Number of variables in a tuple: 1 looks at each variable alone, 2 at all pairs, 3 at all triples, and so on.
    divisions : int
        Number of thresholds at which each numeric variable is cut, which gives ``divisions + 1`` levels.
    discretizations : int
        Number of random sets of thresholds to try. The gain of a variable is its maximum over all of them.
    range_ : float, optional
        How much the thresholds vary between discretisations, from 0 (levels of equal size, nothing random) to 1. By
        default 0 with one discretisation, and `suggest_range` with several.
    pseudocount : float
        Added to the count of the rarest class in each cell of a tuple's table, and in proportion to the class sizes for
        the other classes.
    variables : iterable of names or numbers, optional
        Look only at tuples that contain at least one of these variables (``require="any"``), or only at tuples that
        consist of these variables (``require="all"``).
    require : {"any", "all"}
        Whether a tuple must contain at least one of `variables`, or must consist of them.
    shard : str or (int, int)
        Which part of the search to do: ``"3/64"`` or ``(3, 64)`` is the third of 64 parts.
    strata : (n_samples,) array-like, table-like, or str, optional
        Groups of samples, such as batch, sex or population, within which the outcome is analysed. The stratum is one
        more member of every tuple: a gain is the information of a variable about the outcome beyond the other members
        and beyond the stratum. With several columns, each combination of values is a stratum. A string names a column,
        as for `y`.
    groups : (n_samples,) array-like, table-like, or str, optional
        Samples that belong together and are not independent of each other: the donor of each cell, the family or
        patient of each sample. p-values then come from permutations of the labels of whole groups, where each group has
        one class; where classes vary within groups, labels are permuted between groups of the same size and within
        groups, in their order if they have one (`order`). A string names a column, as for `y`.
    order : (n_samples,) array-like, str or False, optional
        The place of each sample in the order of its group: the time or number of a visit. Labels of a group then keep
        their order: they are exchanged between groups of the same size (and the same times, where groups share these)
        and flipped (before and after swap, other labels are read backwards); in few long groups they are shifted. By
        default the order of rows counts, if both the outcome and variables resemble their neighbours within groups.
        Without `groups`, all samples are one series. A string names a column, as for `y`. False: samples of a group
        have no order, as alternatives that one person chooses from; they change places freely.
    n_permutations : int
        Number of permutations. If fewer are possible, each is done once. No p-value is below
        ``1 / (n_permutations + 1)``.
    covariates : table-like, (n_samples,) array-like, str or list of str, optional
        Covariates of each sample (age, sex, principal components), as values or as names of columns, which are then not
        variables. The answer is given these: the search compares residuals of a linear model (numbers), a logistic
        model (classes) or Cox's model (times) of the covariates, and finds have to be confirmed by the full model.
        Numbers enter as they are and as splines of their ranks.
    offset : (n_samples,) array-like or str, optional
        The known part of the outcome of each sample, such as a polygenic prediction: a mean in units of `y`, log odds
        of the second class, or a log hazard. It enters the models with coefficient 1.
    entry : (n_samples,) array-like or str, optional
        With times: from when on each sample was observed (left truncation).
    decision : {"auto", "classes", "number", "ordered", "continuous"}
        Whether the values of `y` are classes or numbers, which have an order. "auto": numbers with fractional parts,
        whole numbers with more than 20 distinct values, and whole numbers with more than five of which some are rare
        (counts, grades) are numbers, unless there are only two distinct values. Rare: one sample, or fewer than five
        samples of the lowest or highest. "ordered": each value is a class, and classes have an order, as grades and
        stages do; ordered categoricals of more than two classes are so by themselves. "continuous" is the older word
        for "number".
    decision_divisions : int, optional
        Number of thresholds at which numbers are cut by rank into ``decision_divisions + 1`` classes. By default they
        are not cut: a cut at the median keeps two thirds of their information. Classes are left as they are.
    scale : {"ranks", "values"}
        How numbers that are not cut are compared: by the normal scores of their ranks, which outliers and the choice of
        units or logarithms do not change, or by the values themselves.
    discrete : {"auto", "none", "all"} or list of columns
        Columns whose values are used as levels instead of being cut by rank. "auto": bool, categorical and text
        columns, and numeric columns with at most max(3, ``divisions + 1``) distinct values.
    missing : {"auto", "error", "level", "impute"}
        Missing values are refused ("error"), become a level of their own ("level"), or are drawn at random from the
        observed values of the column ("impute"). "auto": a level in columns of labels, and draws in columns of numbers;
        tests of interactions leave samples out that lack a label.
    random_state : int, None, RandomState or Generator
        Seed of all random draws. The same integer gives the same thresholds as in the R package MDFS.
    engine : {"auto", "cpu", "cuda", "dask"}, Engine or distributed.Client
        Where to compute. All engines give exactly the same numbers. "auto" uses a GPU if there is one and the search is
        long enough to profit from it.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None for one, −1 for all cores.
    progress : bool or callable, optional
        Whether to show progress. By default a bar is shown on a terminal if the search takes a while. A function is
        called with the share that is done, from 0 to 1.
    checkpoint : path-like or Checkpoint, optional
        File that keeps the state of the search. It is written at least once a minute and on Ctrl-C. The same call
        resumes from it, also after a crash, and also with another engine or number of threads. A checkpoint of another
        search is refused. The file stays when the search is done, and the same call then returns at once.
    """
)

#: Samples in which a result is tested again.
NEW_SAMPLES = arguments_in(
    """
    X : table-like, (n_samples, n_vars)
        The table of the new samples. Variables are matched by name; additional variables are ignored.
    y : (n_samples,) array-like, or str
        Their outcome, with the same classes, or the name of its column; of times (time, event).
    strata : (n_samples,) array-like, table-like, or str, optional
        Strata of the new samples, to test within them.
    covariates : table-like, (n_samples,) array-like, str or list of str, optional
        Covariates of the new samples, which tests are given.
    offset : (n_samples,) array-like or str, optional
        The known part of the outcome of each new sample.
    entry : (n_samples,) array-like or str, optional
        With times: from when on each new sample was observed.
    p_adjust : str, optional
        Adjustment of p-values; by default that of the search.
    """
)


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
