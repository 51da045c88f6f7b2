"""A table from a file → variables and outcome: names of columns, columns to drop, samples whose outcome is missing."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import Problem, ProblemsError, check_choice, check_int, shown, warn
from interplay.base.checks import shown as shown_value
from interplay.base.text import name_among
from interplay.data.study.columns import Column, ColumnKind, decision_column
from interplay.data.study.named_columns import without_named
from interplay.data.study.subsets import ColumnSubset, RowSubset
from interplay.data.study.table import SAMPLES_LEFT_OUT, Table, as_table
from interplay.readers.sample_names import FAMILY_COLUMNS

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
    # An outcome is rarely among thousands of variables, where samples have columns of their own.
    _check_names(list(table.sample_columns) or known if target is None else known, path, target, drop)
    target, drop = name_among(known, str(target)), [name_among(known, name) for name in drop]
    kept = np.array([v for v, name in enumerate(table.names) if name not in set(drop)], dtype=np.int64)
    if len(kept) < table.n_vars:
        known_of_samples = table.sample_columns
        table = ColumnSubset(table, kept)
        table.sample_columns = known_of_samples
    table, (y,) = without_named(table, y=target)
    return table, y


def split_traits(data: Any, path: Any, traits: list[str], drop: list[str]) -> TableAndOutcome:
    """Take several outcomes, as a dataframe, and the columns to drop out of a table."""
    import pandas as pd

    if len(set(traits)) < len(traits):
        raise ValueError("traits names a column twice: leave one out")
    split = split_table if isinstance(data, Table) else split_frame
    columns = {}
    for number, trait in enumerate(traits):
        data, y = split(data, path, trait, [] if number else drop)
        if isinstance(y, Column):
            read = y.read()
            is_known = read == read
            levels = None if y.levels is None else np.array(y.levels, dtype=object)
            y = read if levels is None else np.where(is_known, levels[np.where(is_known, read, 0).astype(int)], None)
        columns[trait] = np.asarray(y.to_pandas() if hasattr(y, "to_pandas") else y)
    return data, pd.DataFrame(columns, index=data.index if isinstance(data, pd.DataFrame) else None)


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


def checked_names(header: Sequence[str], first_row: Sequence[Any], shown: str) -> tuple[list[str], bool]:
    """Return the names of the columns that are data, and whether a column of row names comes before them.

    `shown` is the name of the file in messages.
    """
    names = [name.strip() for name in header]
    if len(first_row) == len(names) + 1 and first_row[-1]:  # row names of R's write.table, but not a trailing delimiter
        has_row_names = True
    elif len(first_row) == len(names):
        has_row_names = names[0] == "" and len(names) > 1
        names = names[1:] if has_row_names else names
    else:
        columns = f"{len(names)} column{'' if len(names) == 1 else 's'}"
        raise ValueError(
            f"{shown}, first row: {fields(first_row)}, but the header names {columns}: correct the header, or delete "
            "what stands above it"
        )
    check_names_apart(names, shown, first=1 + has_row_names)
    return names, has_row_names


def check_names_apart(names: Sequence[str], shown: str, *, first: int, what: str = "column") -> None:
    """Refuse empty and repeated names of columns or rows (`what`); `first` is the number of the first one."""
    if "" in names:
        place = names.index("") + first
        line = "in the first line" if what == "column" else "in the first column"
        raise ValueError(f"{shown} has no name for {what} {place}: name every {what} {line}")
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        places = [str(i + first) for i, name in enumerate(names) if name == repeated[0]]
        others = f" ({len(repeated) - 1} more names are repeated)" if len(repeated) > 1 else ""
        raise ValueError(
            f"{shown} has more than one {what} named {shown_value(repeated[0])} ({what}s {', '.join(places[:5])})"
            f"{others}: give each {what} a name of its own"
        )


def fields(row: Sequence[Any]) -> str:
    """Return the number of fields of a row in words."""
    return f"{len(row)} field{'' if len(row) == 1 else 's'}"


def is_gene_table(header: Sequence[str]) -> bool:
    """Say whether a file is a gene_presence_absence.csv of Roary or Panaroo, by its header."""
    names = [name.strip() for name in header[:3]]
    return names == ["Gene", "Non-unique Gene name", "Annotation"]


def unread_columns(
    unread: Collection[str], names: Sequence[str], *, has_ids: bool, sample_id: str | None
) -> Collection[str]:
    """Return the columns that stay as they are read: `unread` and, with `has_ids`, the names of samples."""
    unread = {name_among(names, name) for name in unread}
    return {*unread, id_column(names, sample_id)} if has_ids else unread


def id_column(names: Sequence[str], sample_id: str | None) -> str:
    """Return the column with the names of the samples: `sample_id` if the file has it, else PLINK's IID, or the first.

    Examples
    --------
    >>> id_column(["FID", "IID", "age"], None), id_column(["name", "IID"], None), id_column(["name", "IID"], "IID")
    ('IID', 'name', 'IID')
    """
    wanted = None if sample_id is None else name_among(names, sample_id)
    if wanted is not None and wanted in names:
        return wanted
    return names[1] if names[0] in FAMILY_COLUMNS and names[1:2] == ["IID"] else names[0]


MISSING_TARGET_CHOICES = ("error", "drop")

#: An outcome of numbers with more distinct values than this is no outcome of classes.
_MAX_CLASSES_OF_NUMBERS = 20


def with_known_target(
    data: TableAndOutcome, *, missing_target: str, path: str | os.PathLike[str], target: str | None
) -> TableAndOutcome:
    """Return the samples whose outcome is known; refuse missing outcomes unless `missing_target` is "drop".

    `path` and `target` name the file and the column in messages.
    """
    check_choice("missing_target", missing_target, MISSING_TARGET_CHOICES)
    X, y = data
    values = decision_column(y).read()
    is_missing = values != values
    if not is_missing.any():
        return data
    count, rows = int(is_missing.sum()), np.flatnonzero(~is_missing)
    table = X if isinstance(X, Table) else None
    if table is None and len(is_missing) == len(X):
        table = as_table(X)
    first = int(np.argmax(is_missing))
    place = f"sample {first}" if table is None else table.place(first)
    column = "the target" if target is None else f"column {shown(target)}"
    where = f"{os.fspath(path)!r}, {column}: {count} of {len(values)} values {'is' if count == 1 else 'are'} missing"
    if missing_target == "error" or not len(rows):
        advice = (
            "fill them in, or use missing_target='drop' to leave those samples out"
            if len(rows)
            else "name another column"
        )
        accepting = {"missing_target": "drop"} if len(rows) else {}
        raise ProblemsError([Problem(f"{where} (the first: {place}): {advice}", accepting)])
    warn(f"{where} (the first: {place}); {'this sample is' if count == 1 else 'these samples are'} left out")
    return _known_samples(X, rows, n_left_out=count), _samples(y, rows)


def without_rare_classes(
    data: TableAndOutcome, *, min_class: int | None, path: str | os.PathLike[str], target: str | None
) -> TableAndOutcome:
    """Leave out the samples of classes with fewer than `min_class` samples, with a warning that names the classes."""
    if min_class is None:
        return data
    check_int("min_class", min_class, low=1)
    X, y = data
    column = decision_column(y)
    values = column.read()
    classes, of_sample, sizes = np.unique(values, return_inverse=True, return_counts=True)
    if column.kind == ColumnKind.NUMBER and len(classes) > _MAX_CLASSES_OF_NUMBERS:
        raise ValueError(
            f"min_class is for classes, and the outcome has {len(classes)} different numbers: leave it out"
        )
    rare = np.flatnonzero(sizes < min_class)
    if not len(rare):
        return data
    if len(rare) > len(sizes) - 2:
        raise ValueError(
            f"min_class={min_class} leaves fewer than two classes: use at most {int(np.sort(sizes)[-2])}, the size of "
            "the second largest"
        )
    names = [shown(str(classes[q] if column.levels is None else column.levels[int(classes[q])])) for q in rare[:5]]
    count, rows = int(sizes[rare].sum()), np.flatnonzero(sizes[of_sample] >= min_class)
    warn(
        f"{os.fspath(path)!r}, {'the target' if target is None else f'column {shown(target)}'}: {len(rare)} "
        f"class{'es have' if len(rare) > 1 else ' has'} fewer than {min_class} samples "
        f"({', '.join(names)}{', …' * (len(rare) > 5)}); their {count} sample{'s are' if count > 1 else ' is'} left out"
    )
    return _known_samples(X, rows, n_left_out=count), _samples(y, rows)


def _known_samples(X: Any, rows: IntArray, *, n_left_out: int) -> Any:
    """Return some samples of a table, with the number of samples left out, which `select` records."""
    if hasattr(X, "iloc"):  # pandas
        some = X.iloc[rows]
        some.attrs = X.attrs | {SAMPLES_LEFT_OUT: X.attrs.get(SAMPLES_LEFT_OUT, 0) + n_left_out}
        return some
    table = as_table(X)
    subset = RowSubset(table, rows)
    subset.sample_columns = {name: _samples(values, rows) for name, values in table.sample_columns.items()}
    subset.samples_left_out += n_left_out
    return subset


def _samples(data: Any, rows: IntArray) -> Any:
    """Return some samples of an outcome, or of another column with one value per sample."""
    if isinstance(data, Column):
        return replace(data, read=lambda: data.read()[rows])
    if hasattr(data, "iloc"):  # pandas
        return data.iloc[rows]
    return data.take(rows) if hasattr(data, "take") else np.asarray(data)[rows]  # pyarrow, numpy
