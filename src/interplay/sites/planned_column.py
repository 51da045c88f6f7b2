"""One column of a plan: the levels that all sites agree on, or the thresholds at which they cut numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from interplay.base.arrays import MAX_LEVELS
from interplay.base.checks import check_encodable, shown
from interplay.data.codes.cuts import VariableCuts, plain_label


@dataclass(frozen=True)
class PlannedColumn:
    """A column that every site has.

    Attributes
    ----------
    name : str
    levels : tuple of float, or of str
        The numbers, ascending, or the labels that are its levels; empty for a column that is cut.
    thresholds : tuple of float
        Where numbers are cut, ascending: a value belongs to the level after all thresholds below it.
    """

    name: str
    levels: tuple[float, ...] | tuple[str, ...] = ()
    thresholds: tuple[float, ...] = ()

    @property
    def is_cut(self) -> bool:
        return len(self.thresholds) > 0

    @property
    def has_labels(self) -> bool:
        return len(self.levels) > 0 and isinstance(self.levels[0], str)

    @property
    def n_levels(self) -> int:
        """Levels without that of missing values."""
        return len(self.thresholds) + 1 if self.is_cut else len(self.levels)

    def cuts(self, variable: int, *, missing_level: bool) -> VariableCuts:
        """Return the definition of the levels, by which codes are made."""
        thresholds = np.array([self.thresholds]) if self.is_cut else np.empty((0, 0))
        values = np.array(() if self.is_cut or self.has_labels else self.levels, dtype=np.float64)
        labels = [str(level) for level in self.levels] if self.has_labels else []
        return VariableCuts(variable, thresholds, values, labels, missing_level)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the plan's file."""
        if self.is_cut:
            return {"name": self.name, "thresholds": [_plain(value) for value in self.thresholds]}
        return {"name": self.name, "levels": [_plain(level) for level in self.levels]}

    @classmethod
    def of_dict(cls, entry: Any) -> PlannedColumn:
        """Take a column from the entry of a plan's file, or say what is wrong with it."""
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise ValueError(f"each column must have a name, and levels or thresholds, not {shown(entry)}")
        if set(entry) not in ({"name", "levels"}, {"name", "thresholds"}):
            raise ValueError(f"column {shown(entry['name'])} must have either levels or thresholds, and nothing else")
        if "thresholds" in entry:
            return cut_column(entry["name"], entry["thresholds"])
        return column_of_levels(entry["name"], entry["levels"])


def column_of_levels(name: str, levels: Any) -> PlannedColumn:
    """Return a column of these levels, numbers in ascending order, or labels as they are given; checked."""
    given = list(levels) if isinstance(levels, list | tuple) else []
    if not given:
        raise ValueError(f"levels of {shown(name)} must be a list of numbers or labels, not {shown(levels)}")
    if len(given) >= MAX_LEVELS:
        raise ValueError(f"levels of {shown(name)} are {len(given)}, and at most {MAX_LEVELS - 1} can be searched")
    if all(isinstance(level, str) for level in given):
        check_encodable(f"a level of {shown(name)}", given)
        if len({plain_label(level) for level in given}) < len(given):
            raise ValueError(f"levels of {shown(name)} repeat one: {shown(given)}")
        return PlannedColumn(name, levels=tuple(given))
    numbers = _numbers(given)
    if numbers is None:
        raise ValueError(f"levels of {shown(name)} must be all numbers or all labels, not {shown(given)}")
    return PlannedColumn(name, levels=tuple(sorted(set(numbers))))


def cut_column(name: str, thresholds: Any) -> PlannedColumn:
    """Return a column that is cut at these thresholds, checked."""
    given = list(thresholds) if isinstance(thresholds, list | tuple | np.ndarray) else [thresholds]
    numbers = _numbers(given)
    if not numbers or any(b <= a for a, b in pairwise(numbers)):
        raise ValueError(
            f"thresholds of {shown(name)} must be numbers that grow, one at least, not {shown(thresholds)}"
        )
    if len(numbers) >= MAX_LEVELS - 1:
        raise ValueError(
            f"thresholds of {shown(name)} are {len(numbers)}, and at most {MAX_LEVELS - 2} can be searched"
        )
    return PlannedColumn(name, thresholds=tuple(numbers))


def _numbers(given: list[Any]) -> list[float] | None:
    """Return finite numbers as floats; None if there is anything else."""
    plain = [entry.item() if isinstance(entry, np.generic) else entry for entry in given]
    if any(isinstance(entry, bool) or not isinstance(entry, int | float) for entry in plain):
        return None
    try:
        numbers = [float(entry) for entry in plain]
    except OverflowError:
        return None
    return numbers if all(map(math.isfinite, numbers)) else None


def _plain(value: Any) -> Any:
    """Return whole numbers without a fraction: 1, not 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value
