"""One label per sample, or the combination of several columns → numbers from 0 on, with what the user calls each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.study.columns import Column
from interplay.study.outcome import decision_column
from interplay.study.table import as_table


def numbered_labels(
    given: Any, argument: str, *, n_samples: int, one: str, place: Callable[[int], str] = str
) -> tuple[IntArray, list[str]]:
    """Return the number of each sample's label, and the labels in the order of the numbers.

    Parameters
    ----------
    given : (n_samples,) array-like, table-like, or Column
        Labels or numbers of any kind. Of a table, each combination of values is a label.
    argument : str
        What the user calls it.
    n_samples : int
        Samples of X, which it must match.
    one : str
        What one label stands for: "stratum", "group".
    place : callable
        Says where a sample is: `Table.place`.

    Examples
    --------
    >>> numbered_labels([[1, "x"], [1, "y"], [1, "x"]], "strata", n_samples=3, one="stratum")
    (array([0, 1, 0]), ['1, x', '1, y'])
    """
    columns = _columns(given, argument)
    parts = [column.read() for column in columns]
    if len(parts[0]) != n_samples:
        raise ValueError(f"{argument} must have one value per sample of X: {len(parts[0])} values, {n_samples} samples")
    missing = np.flatnonzero(np.any([part != part for part in parts], axis=0))
    if len(missing):
        plural = "s" * (len(missing) > 1)
        where = place(int(missing[0])).removeprefix("sample ")
        raise ValueError(
            f"{argument} has missing values in {len(missing)} sample{plural} (the first is {where}): "
            f"leave those samples out, or give them a {one} of their own"
        )
    inverses = [np.unique(part, return_inverse=True)[1] for part in parts]
    _, first, codes = np.unique(np.stack(inverses), axis=1, return_index=True, return_inverse=True)
    labels = [", ".join(_label(column, part[i]) for column, part in zip(columns, parts, strict=True)) for i in first]
    return codes.reshape(-1).astype(np.int64), labels


def _columns(given: Any, argument: str) -> list[Column]:
    if isinstance(given, list | tuple):
        several = any(isinstance(row, list | tuple) and len(row) > 1 for row in given)
    else:
        shape: tuple[int, ...] = getattr(given, "shape", ())
        several = len(shape) == 2 and shape[1] > 1
    if several:
        try:
            table = as_table(given)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{argument}: {error}") from None
        return [table.column(v) for v in range(table.n_vars)]
    return [decision_column(given, argument)]


def _label(column: Column, value: Any) -> str:
    if column.levels is not None:
        return str(column.levels[int(value)])
    return f"{value:g}" if isinstance(value, np.floating) else str(value)
