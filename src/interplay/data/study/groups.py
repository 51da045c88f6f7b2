"""Groups: samples that belong together (cells of a donor, members of a family), which are not independent.

Strata are made of the same `numbered_labels`: one label per sample, or the combination of several columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray, numbered
from interplay.base.checks import naming_argument
from interplay.data.study.columns import Column, check_length, decision_column
from interplay.data.study.table import Table, as_table
from interplay.data.study.table_checks import are_in_order, order_deviates, sampled_columns, varies_within

#: Labels that vary within groups have an order if neighbours resemble each other by so many standard deviations.
_MIN_LABELS_DEVIATE = 1.0


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each sample is in.

    Attributes
    ----------
    codes : (n_samples,) int64
        Group of each sample, 0 … n_groups − 1; none is empty.
    order : (n_samples,) int64, optional
        Place of each sample in the order of its group, where samples of a group do not change places freely.
    """

    codes: IntArray
    order: IntArray | None = None

    @property
    def n_groups(self) -> int:
        return int(self.codes.max()) + 1

    @property
    def sizes(self) -> IntArray:
        """Samples in each group, (n_groups,)."""
        return np.bincount(self.codes).astype(np.int64)

    def of_samples(self, rows: IntArray) -> Groups:
        """Return the groups of some samples; empty ones are dropped."""
        return Groups(numbered(self.codes[rows]), None if self.order is None else self.order[rows])


def make_groups(groups: Any, *, n_samples: int, order: Any = None) -> Groups | None:
    """Return the groups that the labels of `numbered_labels` make; with an order alone, samples are one series.

    Examples
    --------
    >>> make_groups(["donor 2", "donor 1", "donor 2"], n_samples=3).codes
    array([1, 0, 1])
    """
    place = None if order is None else numbered_labels(order, "order", n_samples=n_samples, one="place")[0]
    if groups is None:
        return None if place is None else Groups(np.zeros(n_samples, dtype=np.int64), place)
    if isinstance(groups, Groups):
        return groups
    codes, labels = numbered_labels(groups, "groups", n_samples=n_samples, one="group")
    if len(labels) < 2:
        raise ValueError(f"groups has one group only, {labels[0]!r}: at least two groups are needed")
    return Groups(codes, place)


def in_order(groups: Groups | None, table: Table, labels: IntArray) -> Groups | None:
    """Take the order of rows for that of groups without one, where neighbours in a group resemble each other.

    Both the `labels` of the outcome and variables must do so, beyond chance; else samples of a group change places.
    """
    if groups is None or groups.order is not None or not varies_within(labels, groups.codes):
        return groups
    has_order = order_deviates(labels[np.newaxis].astype(np.float64), groups.codes)[0] > _MIN_LABELS_DEVIATE
    if has_order and are_in_order(sampled_columns(table), groups.codes):
        return replace(groups, order=np.arange(len(labels), dtype=np.int64))
    return groups


def numbered_labels(
    given: Any, argument: str, *, n_samples: int, one: str, place: Callable[[int], str] = str
) -> tuple[IntArray, list[str]]:
    """Return the number of each sample's label, and the labels in the order of the numbers.

    Parameters
    ----------
    given : (n_samples,) array-like, table-like, or Column
        Labels or numbers of any kind. Of a table, each combination of values is a label.
    argument : str
        Name of the argument.
    n_samples : int
        Samples of X, which it must match.
    one : str
        The word for one label: "stratum", "group".
    place : callable
        Says where a sample is: `Table.place`.

    Examples
    --------
    >>> numbered_labels([[1, "x"], [1, "y"], [1, "x"]], "strata", n_samples=3, one="stratum")
    (array([0, 1, 0]), ['1, x', '1, y'])
    """
    columns = _columns(given, argument)
    parts = [column.read() for column in columns]
    check_length(argument, parts[0], n_samples)
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
        with naming_argument(argument):
            table = as_table(given)
        return [table.column(v) for v in range(table.n_vars)]
    return [decision_column(given, argument)]


def _label(column: Column, value: Any) -> str:
    if column.levels is not None:
        return str(column.levels[int(value)])
    return f"{value:g}" if isinstance(value, np.floating) else str(value)
