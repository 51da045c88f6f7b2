"""Samples whose outcome is missing, or of a rare class: refused with their place in the file, or left out."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import Problem, ProblemsError, check_choice, check_int, shown, warn
from interplay.data.study.columns import Column, ColumnKind, decision_column
from interplay.data.study.subsets import RowSubset
from interplay.data.study.table import SAMPLES_LEFT_OUT, Table, as_table
from interplay.readers.target_column import TableAndOutcome

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
