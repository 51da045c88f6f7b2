"""X, y and strata, of which y and strata may be names of columns → a table without these, and their values."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from interplay.base.arrays import MAX_LEVELS
from interplay.base.checks import shown, warn
from interplay.base.text import name_among
from interplay.data.study.columns import Column, decision_column
from interplay.data.study.subsets import ColumnSubset
from interplay.data.study.table import Table, as_table

#: Number of columns that get a warning of their own; the others are listed in one warning.
_COLUMNS_NAMED = 5


class _WithoutNamed(ColumnSubset):
    """X without the columns that are used for y or strata."""

    def numbers_of(self, columns: Iterable[Any], argument: str) -> list[int]:
        """Turn names and numbers into numbers; refuse a number that stands for different columns in X and here."""
        given = list(columns)
        numbers = super().numbers_of(given, argument)
        for column, number in zip(given, numbers, strict=True):
            if not isinstance(column, str) and self._kept[number] != number:
                raise ValueError(
                    f"{argument} gives the column number {column}, which is ambiguous because earlier columns of X are "
                    "used for y or strata: give its name"
                )
        return numbers


def take_named(X: Any, **given: Any) -> tuple[Table, tuple[Any, ...]]:
    """Return `X` as a table, and the `given` arguments, `y` first, as values, in their order.

    A text names a property of the samples (a column of `.obs` of an AnnData, of the .fam file of a .bed), or a column
    of X, which is then no longer one of the variables. A list of names, for covariates, becomes a dict of columns.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [1, 2, 3], "ill": [True, False, True]})
    >>> table, (y, strata) = take_named(X, y="ill", strata=None)
    >>> table.names, y.read().tolist(), strata
    (['a'], [1, 0, 1], None)
    """
    warn_of_another_order(X, **given)
    table, values = without_named(as_table(X), **given)
    refuse_decision_in_table(table, values[0])
    _warn_of_doubts(table)
    return table, values


def without_named(table: Table, **given: Any) -> tuple[Table, tuple[Any, ...]]:
    """Do the same with a table, without warnings and refusals of its content."""
    taken: list[int] = []
    values = tuple(
        {name: _value(table, name, argument, taken) for name in ([entry] if isinstance(entry, str) else entry)}
        if argument == "covariates" and _are_names(entry, table)
        else _value(table, entry, argument, taken)
        for argument, entry in given.items()
    )
    if taken:
        kept = np.setdiff1d(np.arange(table.n_vars), taken)
        if not len(kept):
            raise ValueError("X has no variables left beside y and strata: give at least one more column")
        known_of_samples = table.sample_columns
        table = _WithoutNamed(table, kept)
        table.sample_columns = known_of_samples
    return table, values


def _warn_of_doubts(table: Table) -> None:
    """Warn of text variables that may be meant as something else than labels."""
    found = table.doubts
    named = list(found)[:_COLUMNS_NAMED]
    for name in named:
        warn(
            f"column {shown(name)} of X is text and taken as labels, although {found[name].reason}: convert it to "
            "numbers (in pandas with pd.to_numeric(column, errors='coerce')) or leave it out; if labels are meant, "
            "make it categorical"
        )
    if len(found) > len(named):
        more = [shown(name) for name in list(found)[len(named) :]]
        listed = ", ".join(more[:_COLUMNS_NAMED]) + (", …" if len(more) > _COLUMNS_NAMED else "")
        warn(f"{len(more)} more text columns of X may not be meant as labels: {listed}")


def refuse_decision_in_table(table: Table, y: Any) -> None:
    """Refuse an X with a column that has the name and the values of `y`: it would explain y and hide all else."""
    name = getattr(y, "name", None)
    if not isinstance(name, str) or name not in table.names:
        return
    if say_the_same(decision_column(y), table.column(table.names.index(name))):
        raise ValueError(f"column {shown(name)} of X is y itself: leave it out of X, or give its name as y")


def say_the_same(one: Column, other: Column) -> bool:
    """Say whether each value of a column stands for one value of the other, and the other way round."""
    values = [column.read() for column in (one, other)]
    if len(values[0]) != len(values[1]):
        return False  # refused elsewhere, for their lengths
    codes = np.stack([np.unique(part, return_inverse=True)[1] for part in values])
    n_levels = codes.max(axis=1) + 1
    if (codes[0] == codes[1]).all() or (codes[0] == n_levels[1] - 1 - codes[1]).all():
        return True
    # Where hardly any value repeats, any two columns determine each other.
    if n_levels[0] != n_levels[1] or n_levels[0] > min(MAX_LEVELS, len(values[0]) // 2):
        return False
    return len(np.unique(codes[0] * n_levels[0] + codes[1])) == int(n_levels[0])


def _are_names(given: Any, table: Table) -> bool:
    """Say whether an argument is a name or a list of names of columns, rather than a text for each sample."""
    if isinstance(given, str):
        return True
    if not isinstance(given, list | tuple) or not given or not all(isinstance(entry, str) for entry in given):
        return False
    known = [*table.sample_columns, *table.names]
    return len(given) != table.n_samples or all(name_among(known, name) in known for name in given)


def _value(table: Table, given: Any, argument: str, taken: list[int]) -> Any:
    if not isinstance(given, str):
        return given
    name = name_among([*table.sample_columns, *table.names], given)
    if name in table.sample_columns:
        return table.sample_columns[name]
    if name in table.names:
        taken.append(table.names.index(name))
        return table.column(taken[-1])
    known = "neither a column of X nor known of its samples" if len(table.sample_columns) else "not a column of X"
    raise ValueError(f"{argument} names {shown(given)}, which is {known}")


def warn_of_another_order(X: Any, **others: Any) -> None:
    """Warn of arguments with the labels of X in another order: values are paired by position.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [1, 2]}, index=["p", "q"])
    >>> warn_of_another_order(X, y=pd.Series([0, 1], index=["p", "q"]), strata=[0, 1])  # nothing to say
    """
    if "pandas" not in sys.modules:  # nothing has labels then
        return
    labels = _labels(X)
    if labels is None:
        return
    for argument, given in others.items():
        other = _labels(given)
        if other is None or len(other) != len(labels) or other.equals(labels):
            continue
        if not (labels.is_unique and other.is_unique and bool(other.isin(labels).all())):
            continue  # labels of another kind, which say nothing about these samples
        first = int((labels.to_numpy() != other.to_numpy()).argmax())
        warn(
            f"{argument} has the samples of X in another order (sample {first} is {shown(labels[first])} in X and "
            f"{shown(other[first])} in {argument}), and they are paired by position: give {argument}.loc[X.index] to "
            "pair them by label"
        )


def _labels(data: Any) -> Any:
    """Return the labels of the samples of a pandas object or AnnData; None for everything else."""
    import pandas as pd

    labels = data.index if isinstance(data, pd.DataFrame | pd.Series) else getattr(data, "obs_names", None)
    return labels if isinstance(labels, pd.Index) else None
