"""X, y and strata, of which y and strata may be names of columns → a table without these, and their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.steps.column_subset import ColumnSubset
from interplay.steps.decision import decision_column
from interplay.steps.table import Table, as_table


def take_columns(X: Any, y: Any, strata: Any = None) -> tuple[Table, Any, Any]:
    """Return `X` as a table, and `y` and `strata` as values.

    A text for `y` or `strata` is the name of what is known of each sample (a column of `.obs` of an AnnData, of the
    .fam file of a .bed), or of a column of X, which is then no longer one of the variables.

    Examples
    --------
    >>> import pandas as pd
    >>> table, y, strata = take_columns(pd.DataFrame({"a": [1, 2, 3], "ill": [True, False, True]}), "ill")
    >>> table.names, y.read().tolist(), strata
    (['a'], [1, 0, 1], None)
    """
    table = as_table(X)
    taken: list[int] = []
    y = _value(table, y, "y", taken)
    strata = _value(table, strata, "strata", taken)
    if taken:
        kept = np.setdiff1d(np.arange(table.n_vars), taken)
        if not len(kept):
            raise ValueError("X has no variables left beside y and strata: give at least one more column")
        table = ColumnSubset(table, kept)
    refuse_decision_in_table(table, y)
    return table, y, strata


def refuse_decision_in_table(table: Table, y: Any) -> None:
    """Refuse an X with a column that has the name and the values of `y`: it would explain y and hide all else."""
    name = getattr(y, "name", None)
    if not isinstance(name, str) or name not in table.names:
        return
    values = decision_column(y).read()
    inside = table.column(table.names.index(name)).read()
    if len(values) != len(inside):
        return  # refused elsewhere, for that
    both = np.stack([np.unique(part, return_inverse=True)[1] for part in (values, inside)])
    n_combinations = np.unique(both, axis=1).shape[1]
    if n_combinations == both[0].max() + 1 == both[1].max() + 1:
        raise ValueError(f"column {name!r} of X is y itself: leave it out of X, or give its name as y")


def _value(table: Table, given: Any, argument: str, taken: list[int]) -> Any:
    if not isinstance(given, str):
        return given
    if given in table.sample_columns:
        return table.sample_columns[given]
    if given in table.names:
        taken.append(table.names.index(given))
        return table.column(taken[-1])
    known = "neither a column of X nor known of its samples" if len(table.sample_columns) else "not a column of X"
    raise ValueError(f"{argument} names {given!r}, which is {known}")
