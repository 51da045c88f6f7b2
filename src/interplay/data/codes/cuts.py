"""How variables and the outcome were cut into levels and classes → the same levels and classes of new samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from interplay.base.arrays import MAX_LEVELS, BoolArray, CodeArray, FloatArray, IntArray
from interplay.base.checks import shown
from interplay.data.codes.coder import BLOCK_BYTES, MIN_BLOCK_COLUMNS, Coder
from interplay.data.study.columns import EXACT_FLOAT_LIMIT, Column, ColumnKind, check_length, decision_column
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.data.study.outcomes.targets import Target
from interplay.data.study.table import Table
from interplay.files.types import Check

#: The code of a sample without a known level: its value is missing, or did not occur before.
NO_LEVEL = -1


@dataclass(frozen=True, eq=False)
class VariableCuts:
    """Definition of the levels of a variable."""

    #: Its number in the table that was cut.
    variable: Annotated[int, Check(low=0, below="n_vars")]
    #: (n_discretizations, divisions): of a variable cut by rank: a value belongs to the level after all thresholds
    #: below it. (0, 0) for others.
    thresholds: Annotated[FloatArray, Check("n_discretizations divisions")]
    #: (n_levels,): of a variable taken as it is: the number that is each level. Empty for others.
    values: Annotated[FloatArray, Check("n_levels")]
    #: Of a bool, categorical or text variable: the names of its levels. Empty for others.
    labels: list[str]
    #: Whether missing values have a level, the last one.
    missing_level: bool

    def is_consistent(self) -> bool:
        """Say whether levels are of one kind: a file may say anything."""
        n_kinds = sum([self.is_cut, len(self.values) > 0, len(self.labels) > 0])
        return n_kinds <= 1 and (not self.is_cut or self.thresholds.shape[1] > 0)

    @property
    def is_cut(self) -> bool:
        """Whether levels are ranges of a number."""
        return len(self.thresholds) > 0

    def n_levels(self, *, omit_missing: bool = False) -> int:
        """Return the number of levels, with or without that of missing values; at least 1."""
        observed = self.thresholds.shape[1] + 1 if self.is_cut else max(len(self.values), len(self.labels))
        return max(observed + (self.missing_level and not omit_missing), 1)

    def level_names(self, discretization: int) -> list[str]:
        """Return the names of the levels: "≤ 0.37", "> 0.37", or the values themselves."""
        missing = ["missing"] * self.missing_level
        if self.is_cut:
            return _range_names([number_text(t) for t in self.thresholds[discretization]]) + missing
        return (list(self.labels) or [number_text(value) for value in self.values]) + missing

    def dosages(self) -> FloatArray:
        """Return the number that each level stands for: the values of a discrete number, else numbers of levels."""
        dosages = np.arange(max(self.n_levels(), 2), dtype=np.float64)
        dosages[: len(self.values)] = self.values
        return dosages

    def codes(self, column: Column, discretization: int, *, omit_missing: bool = False) -> IntArray:
        """Return the levels of new samples, `NO_LEVEL` where there is none; `column` is the same variable there."""
        values = column.read()
        is_missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        if self.labels:
            codes = _places(_texts(column), {plain_label(label): level for level, label in enumerate(self.labels)})
        elif column.kind == ColumnKind.LABEL:
            codes = np.full(len(values), NO_LEVEL, dtype=np.int64)
        elif self.is_cut:
            codes = np.searchsorted(self.thresholds[discretization], values.astype(np.float64), side="left")
        else:
            at = np.minimum(np.searchsorted(self.values, values), max(len(self.values) - 1, 0))
            known = self.values[at] == values if len(self.values) else np.zeros(len(values), dtype=bool)
            codes = np.where(known, at, NO_LEVEL)
        has_level = self.missing_level and not omit_missing
        return np.where(is_missing, self.n_levels() - 1 if has_level else NO_LEVEL, codes).astype(np.int64)


def cells_as_cut(cuts: Sequence[VariableCuts], table: Table, numbers: Sequence[int], d: int) -> IntArray:
    """Return the number of each sample's cell in a tuple, (n_samples,): no known level counts as one more.

    `numbers` are those of the members in this table.
    """
    cells = np.zeros(table.n_samples, dtype=np.int64)
    for cut, v in zip(cuts, numbers, strict=True):
        cells = cells * (cut.n_levels() + 1) + cut.codes(table.column(v), d) + 1
    return cells


@dataclass(frozen=True, repr=False, eq=False)
class CutCoder(Coder):
    """Makes the codes of new samples, in one discretisation: samples without a known level have one more, the last."""

    cuts: tuple[VariableCuts, ...]
    #: (n_vars, n_samples)
    known_codes: CodeArray
    #: (n_vars,): which variables have samples without a known level.
    has_others: BoolArray

    @classmethod
    def of(cls, table: Table, cuts: Sequence[VariableCuts], d: int, *, omit_missing: bool) -> CutCoder:
        """Cut a table as the variables of another one were cut; with `omit_missing`, missing values have no level."""
        codes = np.empty((len(cuts), table.n_samples), dtype=np.uint8)
        n_levels = np.array([max(one.n_levels(omit_missing=omit_missing), 2) for one in cuts], dtype=np.int64)
        has_others = np.zeros(len(cuts), dtype=bool)
        for v, one in enumerate(cuts):
            found = one.codes(table.column(v), d, omit_missing=omit_missing)
            has_others[v] = (found == NO_LEVEL).any()
            if has_others[v] and n_levels[v] == MAX_LEVELS:
                raise ValueError(f"{shown(table.names[v])} has {MAX_LEVELS} levels, and others in X: merge some")
            codes[v] = np.where(found == NO_LEVEL, n_levels[v], found)
        of_d = [replace(one, thresholds=one.thresholds[d : d + 1]) for one in cuts]
        return cls.of_codes(table, of_d, codes, n_levels + has_others, has_others)

    @classmethod
    def of_codes(
        cls,
        table: Table,
        cuts: Sequence[VariableCuts],
        codes: CodeArray,
        n_levels: IntArray,
        has_others: BoolArray,
        n_jobs: int = 1,
    ) -> CutCoder:
        """Take codes, (n_vars, n_samples), as they are."""
        n_vars = len(cuts)
        return cls(
            table=table,
            discretizations=1,
            missing="level",
            seed=0,
            first_variable=0,
            n_levels=n_levels,
            is_discrete=np.array([not one.is_cut for one in cuts], dtype=bool),
            n_missing=np.zeros(n_vars, dtype=np.int64),
            thresholds=np.empty((n_vars, 1, 0)),
            level_thresholds=[None] * n_vars,
            last_levels=np.zeros(n_vars),
            kept_blocks={},
            block_columns=max(MIN_BLOCK_COLUMNS, BLOCK_BYTES // max(1, table.n_samples)),
            n_jobs=n_jobs,
            cuts=tuple(cuts),
            known_codes=codes,
            has_others=has_others,
        )

    @cached_property
    def has_missing_level(self) -> BoolArray:
        """Which variables have samples without a known level, (n_vars,)."""
        return self.has_others

    def write_block(self, d: int, rows: slice, codes: CodeArray) -> None:
        """Write the codes of some variables to `codes`, (n_rows, n_samples)."""
        codes[...] = self.known_codes[rows]

    def cut_values(self, d: int, rows: slice) -> None:
        """Codes follow from more than values and thresholds."""


@dataclass(frozen=True, eq=False)
class OutcomeCuts:
    """Definition of the classes of the outcome."""

    #: Names of the classes.
    labels: Annotated[list[str], Check("n_classes")]
    #: (n_classes − 1,): of a continuous outcome: the largest value of each class but the last. Empty for others.
    bounds: Annotated[FloatArray, Check("n_bounds")]

    def is_consistent(self) -> bool:
        """Say whether there is a bound between any two classes, or none: a file may say anything."""
        return len(self.bounds) in (0, len(self.labels) - 1)

    def classes(self, y: Any, *, n_samples: int) -> DecisionClasses:
        """Return the classes of new samples; classes may be empty, but two at least must have samples."""
        column = decision_column(y)
        values = column.read()
        check_length("y", values, n_samples)
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ValueError(f"y has {int(np.isnan(values).sum())} missing values: leave those samples out")
        if len(self.bounds):
            if column.kind == ColumnKind.LABEL:
                raise ValueError("y must hold numbers, as the outcome of the first samples does, not labels")
            codes = np.searchsorted(self.bounds, values.astype(np.float64), side="left")
        else:
            texts = _texts(column)
            codes = _places(texts, {plain_label(label): number for number, label in enumerate(self.labels)})
            unknown = sorted({text for text, code in zip(texts, codes.tolist(), strict=True) if code == NO_LEVEL})
            if unknown:
                raise ValueError(
                    f"y has the class {shown(unknown[0])}, which the first samples do not have (they have "
                    f"{', '.join(self.labels[:6])}): leave those samples out, or rename it"
                )
        if len(np.unique(codes)) < 2:
            raise ValueError("y has one class only: two or more are needed to test anything")
        return DecisionClasses(
            codes.astype(np.int64), list(self.labels), "continuous" if len(self.bounds) else "classes"
        )


def variable_cuts(coder: Coder, variable: int) -> VariableCuts:
    """Return how a variable of a table was cut."""
    if isinstance(coder, CutCoder):
        return coder.cuts[variable]
    missing_level = bool(coder.has_missing_level[variable])
    levels = coder.level_thresholds[variable]
    table = coder.table
    large = _large_whole_numbers(table.column(variable))
    if levels is None:
        thresholds = coder.thresholds[variable].astype(np.float64)
        if large is not None:  # beside floats, such numbers are searched by their order
            whole = coder.thresholds[variable]
            whole = large[whole.astype(np.int64)] if table.dtype.kind == "f" else whole
            thresholds = np.array([[_float_of_at_least(value) for value in row] for row in whole.tolist()])
        return VariableCuts(variable, thresholds, np.empty(0), [], missing_level)
    # Among the samples of a subset, only some levels of the column may occur.
    n_levels = max(int(coder.n_levels[variable]), 1) - missing_level
    values = np.array([*levels, coder.last_levels[variable]], dtype=np.float64)[:n_levels]
    names = table.level_names(variable)
    none = np.empty((0, 0))
    if names is None and large is not None and len(large) == n_levels:
        return VariableCuts(variable, none, np.empty(0), [str(value) for value in large.tolist()], missing_level)
    if names is None:
        return VariableCuts(variable, none, values, [], missing_level)
    return VariableCuts(variable, none, np.empty(0), [names[int(value)] for value in values], missing_level)


def _large_whole_numbers(column: Column) -> IntArray | None:
    """Return the distinct values of a column of whole numbers, some of which no float64 holds; None for others."""
    if column.kind != ColumnKind.NUMBER or column.dtype.kind not in "iu" or column.dtype.itemsize < 8:
        return None
    values = column.read()
    is_large = values.max() > EXACT_FLOAT_LIMIT or values.min() < -EXACT_FLOAT_LIMIT
    return np.unique(values) if is_large else None


def _float_of_at_least(value: int) -> float:
    """Return the lowest float that is not below a whole number, so that the number itself is not above it."""
    near = float(value)
    return near if near >= value else math.nextafter(near, math.inf)


def outcome_cuts(y: Any, classes: Target) -> OutcomeCuts:
    """Return how an outcome was cut into classes; numbers have none."""
    labels = [str(label) for label in classes.labels]
    if classes.kind != "continuous":
        return OutcomeCuts(labels, np.empty(0))
    values = decision_column(y).read().astype(np.float64)
    bounds = [float(values[classes.class_codes == q].max()) for q in range(len(labels) - 1)]
    return OutcomeCuts(labels, np.array(bounds))


def plain_label(label: Any) -> str:
    """Return a label as text, the same for 1 and 1.0: files differ in how they write whole numbers.

    Examples
    --------
    >>> plain_label(1.0), plain_label("1"), plain_label("ill")
    ('1', '1', 'ill')
    """
    text = str(label)
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdecimal() else text


def number_text(value: Any) -> str:
    """Return a value of a variable, short."""
    return f"{float(value):.4g}"


def _range_names(thresholds: Sequence[str]) -> list[str]:
    """Name the levels between thresholds; a value on a threshold belongs to the level below."""
    between = [f"({low}, {high}]" for low, high in pairwise(thresholds)]
    return [f"≤ {thresholds[0]}", *between, f"> {thresholds[-1]}"]


def _texts(column: Column) -> list[str]:
    values = column.read()
    if column.levels is None:
        return [plain_label(value) for value in values.tolist()]
    levels = [plain_label(level) for level in column.levels]
    return ["" if value != value else levels[int(value)] for value in values.tolist()]


def _places(texts: list[str], place_of: dict[str, int]) -> IntArray:
    return np.array([place_of.get(text, NO_LEVEL) for text in texts], dtype=np.int64)
