"""A table from a file → variables and outcome, without the columns to drop."""

from __future__ import annotations

import difflib
import os
from typing import Any, TypeAlias

import numpy as np

from interplay.base.checks import shown
from interplay.base.text import name_among
from interplay.data.study.named_columns import without_named
from interplay.data.study.subsets import ColumnSubset
from interplay.data.study.table import Table

#: X and y, to be given to `interplay.select`.
TableAndOutcome: TypeAlias = tuple[Any, Any]


def split_frame(frame: Any, path: Any, target: str | None, drop: list[str]) -> TableAndOutcome:
    """Take the target and the columns to drop out of a pandas or pyarrow table."""
    names = _names(frame)
    check_columns(frame, path, target, drop)
    target, drop = name_among(names, str(target)), [name_among(names, name) for name in drop]
    left_out = [target, *dict.fromkeys(drop)]
    if hasattr(frame, "column_names"):
        return frame.drop_columns(left_out), frame.column(target)
    return frame.drop(columns=left_out), frame[target]


def check_columns(frame: Any, path: Any, target: str | None, drop: list[str]) -> None:
    """Refuse a pandas or pyarrow table without the target or a column to drop."""
    is_pandas = not hasattr(frame, "column_names")
    _check_names(_names(frame), path, target, drop, rows_of=frame if is_pandas else None)


def _check_names(names: list[str], path: Any, target: str | None, drop: list[str], rows_of: Any = None) -> None:
    """Refuse a target, or columns to drop, that are not among `names`; `rows_of` is a frame whose rows have names."""
    if target is None:
        raise ValueError(
            f"target is needed: name the column with the outcome, one of {listed(names)}; for example "
            f"target={shown(names[-1])}"
        )
    target, drop = name_among(names, target), [name_among(names, name) for name in drop]
    for name in [target, *drop]:
        if name not in names:
            hint = ""
            if rows_of is not None and name in rows_of[rows_of.columns[0]].astype(str).to_numpy():
                hint = f" (a row is called {shown(name)}: use transpose=True if variables are in rows)"
            near = _near(name, names)
            use = "" if len(near) != 1 else f" Use {'target' if name == target else 'drop'}={shown(near[0])}"
            raise ValueError(f"{os.fspath(path)!r} has no column {shown(name)}: {meant(name, names)}{use}{hint}")
    if target in drop:
        raise ValueError(f"column {shown(target)} is both target and dropped: decide which")


def split_table(table: Table, path: Any, target: str | None, drop: list[str]) -> TableAndOutcome:
    """Take the target and the columns to drop out of a table that stays in its file."""
    known = list(dict.fromkeys([*table.sample_columns, *table.names]))
    _check_names(known, path, target, drop)
    target, drop = name_among(known, str(target)), [name_among(known, name) for name in drop]
    kept = np.array([v for v, name in enumerate(table.names) if name not in set(drop)], dtype=np.int64)
    if len(kept) < table.n_vars:
        known_of_samples = table.sample_columns
        table = ColumnSubset(table, kept)
        table.sample_columns = known_of_samples
    table, (y,) = without_named(table, y=target)
    return table, y


def _names(frame: Any) -> list[str]:
    return [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else frame.columns)]


def meant(name: str, names: list[str]) -> str:
    """Return the existing names closest to a misspelt name, or the first names."""
    near = _near(name, names)
    return f"did you mean {' or '.join(shown(n) for n in near)}?" if near else f"it has {listed(names)}"


def _near(name: str, names: list[str]) -> list[str]:
    """Return up to three names that are like a misspelt one; only the first where it differs in capitals alone."""
    by_small_letters = {other.lower(): other for other in names}
    if name.lower() in by_small_letters:
        return [by_small_letters[name.lower()]]
    return [by_small_letters[n] for n in difflib.get_close_matches(name.lower(), by_small_letters, n=3, cutoff=0.6)]


def listed(names: list[str]) -> str:
    """Write the first few names of a list."""
    if len(names) <= 8:
        return ", ".join(shown(name) for name in names)
    first = ", ".join(shown(name) for name in names[:7])
    return f"{first}, …, {shown(names[-1])} ({len(names)} in all)"
