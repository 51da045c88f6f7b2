"""What the first pass found about each column → problems that the settings do not accept, all at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from interplay.base.arrays import MAX_LEVELS, BoolArray, IntArray
from interplay.base.checks import Problem, shown, warn
from interplay.data.study.columns import ColumnKind
from interplay.data.study.table import Table

#: So many columns of each problem are named.
_COLUMNS_NAMED = 3


def column_problems(
    table: Table, *, n_missing: IntArray, n_levels: IntArray, is_discrete: BoolArray, missing: str, divisions: int
) -> list[Problem]:
    """Return problems with missing values and with numbers of levels; arrays have an entry per variable."""
    return [*_gaps(table, n_missing, missing), *_too_many_levels(table, n_levels, is_discrete, divisions)]


def _gaps(table: Table, n_missing: IntArray, missing: str) -> Iterator[Problem]:
    if missing in ("level", "auto") or not n_missing.any():
        return
    is_empty = n_missing == table.n_samples
    empty = [table.names[v] for v in np.flatnonzero(is_empty)]
    if empty:
        refused = "missing='impute' cannot be used, because " if missing == "impute" else ""
        no_values = "no values" if refused else "only missing values"
        which = f"column {shown(empty[0])} of X has" if len(empty) == 1 else f"columns {_listed(empty)} of X have"
        them = "it" if len(empty) == 1 else "them"
        yield Problem(f"{refused}{which} {no_values}: leave {them} out", {"drop": empty})
    some = np.flatnonzero((n_missing > 0) & ~is_empty)
    if len(some) and missing == "error":
        count = int(n_missing[some].sum())
        values = f"{count} missing value{'s' * (count > 1)}"
        columns = f"{len(some)} column{'s' * (len(some) > 1)}"
        yield Problem(
            f"X has {values} in {columns} ({_listed([table.names[v] for v in some])}): fill the gaps, or use "
            f"missing='level' or missing='impute' ({_first_gap(table, int(some[0]), int(n_missing[some[0]]))})",
            {"missing": "level"},
        )


def warn_of_empty(table: Table, n_missing: IntArray) -> None:
    """Warn of columns without values, which settings accept as constants."""
    empty = [table.names[v] for v in np.flatnonzero(n_missing == table.n_samples)]
    if empty:
        which = f"column {shown(empty[0])} of X has" if len(empty) == 1 else f"columns {_listed(empty)} of X have"
        warn(f"{which} no values: nothing can be found in {'it' if len(empty) == 1 else 'them'}")


def _first_gap(table: Table, v: int, count: int) -> str:
    """Say where the first missing value of a variable is."""
    first = int(np.argmax(np.isnan(table.block(v, v + 1)[0])))
    others = f"; there are {count} in that column" if count > 1 else ""
    return f"the first: column {shown(table.names[v])}, {table.place(first)}{others}"


def _too_many_levels(table: Table, n_levels: IntArray, is_discrete: BoolArray, divisions: int) -> Iterator[Problem]:
    too_many = np.flatnonzero(n_levels > MAX_LEVELS)
    cut = too_many[~is_discrete[too_many]]
    if len(cut):
        yield Problem(
            f"divisions must be at most {MAX_LEVELS - 2} with missing='level', not {divisions}: column "
            f"{shown(table.names[cut[0]])} of X needs a level for missing values",
            {},
        )
    is_label = table.kinds[too_many] == ColumnKind.LABEL
    labels, numbers = too_many[is_label], too_many[is_discrete[too_many] & ~is_label]
    if len(labels):
        advice = (
            "an identifier? leave it out (or make it numbers, if it is numbers kept as text)",
            "identifiers or free texts? leave them out (or make them numbers, if they are numbers kept as text)",
        )
        said = _of_levels(table, labels, n_levels, *advice)
        yield Problem(said, {"drop": [table.names[v] for v in labels]})
    if len(numbers):
        advice = (
            "take it out of discrete, so that it is discretised by rank",
            "take them out of discrete, so that they are discretised by rank",
        )
        yield Problem(_of_levels(table, numbers, n_levels, *advice), {})


def _of_levels(table: Table, variables: IntArray, n_levels: IntArray, one: str, several: str) -> str:
    """Name columns of too many levels, with advice for `one` or `several`."""
    listed, most = _listed([table.names[v] for v in variables]), n_levels[variables].max()
    if len(variables) == 1:
        return f"column {listed} of X has {most} levels, more than {MAX_LEVELS}: {one}"
    return f"columns {listed} of X have more than {MAX_LEVELS} levels (up to {most}): {several}"


def _listed(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names[:_COLUMNS_NAMED]) + (", ..." if len(names) > _COLUMNS_NAMED else "")
