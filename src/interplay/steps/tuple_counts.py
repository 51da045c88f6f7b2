"""Samples per cell and class of a few chosen tuples: what a person looks at to see why a tuple matters.

The search counts every tuple and forgets the counts. Those of the tuples that were found are counted again here, column
by column, so that the result can show them without the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from interplay.arrays import DecisionClasses, IntArray
from interplay.steps.column_survey import forced_kinds
from interplay.steps.discrete_codes import Coder, make_coder
from interplay.steps.table import Table, Values, Which

#: Tuples with more numbers than this (cells times classes) are not kept: nobody could read them off a picture.
MAX_NUMBERS = 2048


@dataclass(frozen=True, eq=False)
class TupleCounts:
    """How the samples of each class are spread over the cells of one tuple.

    Attributes
    ----------
    members : (k,) int64
        Numbers of the variables, ascending.
    run, discretization : int
        The run and the discretisation the tuple was found in.
    level_names : list of list of str
        What the levels of each member mean: "≤ 0.37", "> 0.37", or the values themselves.
    counts : (n_levels of member 0, …, n_levels of member k − 1, n_classes) int64
    """

    members: IntArray
    run: int
    discretization: int
    level_names: list[list[str]]
    counts: IntArray

    def is_of(self, members: IntArray, run: int, discretization: int) -> bool:
        """Say whether this is the tuple asked for."""
        same = self.run == run and self.discretization == discretization
        return bool(same and np.array_equal(self.members, members))


class TupleCounter:
    """Counts tuples of one table and decision, as a search with these settings saw them.

    Parameters
    ----------
    table, classes
        As the search had them.
    settings : dict
        Of `make_coder`: divisions, discretizations, range_, seed, missing.
    discrete
        As for `make_coder`.
    """

    def __init__(self, table: Table, classes: DecisionClasses, *, discrete: Any, settings: dict[str, Any]) -> None:
        self._table = table
        self._classes = classes
        self._settings = settings
        self._forced = forced_kinds(discrete, table)
        self._coders: dict[int, Coder] = {}

    def count(self, members: IntArray, *, run: int, discretization: int) -> TupleCounts | None:
        """Return the counts of a tuple, or None if they are too many to look at."""
        coders = [self._coder(v) for v in members.tolist()]
        shape = (*(max(int(coder.n_levels[0]), 1) for coder in coders), self._classes.n_classes)
        if np.prod([float(size) for size in shape]) > MAX_NUMBERS:
            return None
        codes = [coder.codes(discretization).codes[0].astype(np.int64) for coder in coders]
        cell = np.ravel_multi_index((*codes, self._classes.codes), shape)
        return TupleCounts(
            members=np.array(members, dtype=np.int64),
            run=run,
            discretization=int(discretization),
            level_names=[
                self._level_names(v, coder, discretization) for v, coder in zip(members.tolist(), coders, strict=True)
            ],
            counts=np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64),
        )

    def _coder(self, v: int) -> Coder:
        if v not in self._coders:
            forced = self._forced[v]
            self._coders[v] = make_coder(
                _OneColumn(self._table, v),
                discrete="auto" if forced < 0 else [bool(forced)],
                first_variable=v,  # the thresholds are drawn by the number of the variable
                **self._settings,
            )
        return self._coders[v]

    def _level_names(self, v: int, coder: Coder, discretization: int) -> list[str]:
        missing = ["missing"] if coder.missing == "level" and coder.n_missing[0] else []
        levels = coder.level_thresholds[0]
        if levels is None:
            return _ranges([_number(t) for t in coder.thresholds[0, discretization]]) + missing
        names = self._table.level_names(v)
        last = np.nanmax(coder.table.block(0, 1)) if coder.n_missing[0] < self._table.n_samples else 0
        # Of a table's samples, only some levels may be there.
        found = [_number(value) if names is None else names[int(value)] for value in (*levels, last)]
        return found[: max(int(coder.n_levels[0]), 1) - len(missing)] + missing


class _OneColumn(Table):
    """One column of a table, as a table."""

    def __init__(self, table: Table, v: int) -> None:
        super().__init__(table.n_samples, [table.names[v]], table.kinds[v : v + 1], table.dtype)
        self._table = table
        self._v = v

    def columns(self, which: Which) -> Values:
        return self._table.block(self._v, self._v + 1)[which]


def _ranges(thresholds: Sequence[str]) -> list[str]:
    """Name the levels between thresholds; a value on a threshold belongs to the level below."""
    between = [f"({low}, {high}]" for low, high in pairwise(thresholds)]
    return [f"≤ {thresholds[0]}", *between, f"> {thresholds[-1]}"]


def _number(value: Any) -> str:
    return f"{float(value):.4g}"
