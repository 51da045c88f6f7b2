"""What is known of samples beside variables and outcome: strata, groups, covariates, offset, checked, as one
argument.

Groups: samples that belong together (cells of a donor, members of a family), which are not independent.

Strata are made of the same `numbered_labels`: one label per sample, or the combination of several columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from interplay.base.arrays import MAX_LEVELS, FloatArray, IntArray, normal_scores, numbered
from interplay.base.checks import naming_argument, shown
from interplay.base.planes import DiscreteCodes
from interplay.data.models.linear import independent_columns, spline_columns
from interplay.data.study.columns import Column, ColumnKind, check_length, decision_column
from interplay.data.study.table import Table, as_table
from interplay.data.study.table_checks import are_in_order, order_deviates, sampled_columns, varies_within

#: The model has at most one column for this number of samples: those of the rarest class, events, or all of numbers.
_SAMPLES_PER_COLUMN = 10

#: Columns of the spline of a covariate, beside its values.
_SPLINE_COLUMNS = 4

#: More columns than this are variables, not covariates: a model of them would describe the samples one by one.
MAX_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class Covariates:
    """Covariates as columns of a model."""

    #: The user's names of the covariates.
    names: list[str]
    #: (n_samples, n_columns): numbers, with mean 0 and standard deviation 1; for labels, one column of 0 and 1 for each
    #: label but the first.
    design: FloatArray
    #: The last columns, which are splines of others.
    n_splines: int = 0

    @property
    def plain(self) -> FloatArray:
        """The columns without splines."""
        return self.design[:, : self.design.shape[1] - self.n_splines]

    def smooth(self, n_informative: int) -> Covariates:
        """Add splines of normal scores of the numbers to the columns.

        An outcome may be linear in a covariate as it is, and its ranks then are not. Splines of ranks follow both, and
        outliers do not move them. Where samples are few, splines have fewer columns, or there are none.

        `n_informative`: samples of the rarest class, events of times, or samples of numbers.
        """
        numbers = [column for column in self.design.T if len(np.unique(column)) > 2]
        room = n_informative // _SAMPLES_PER_COLUMN - self.design.shape[1]
        n_columns = min(room // max(len(numbers), 1), _SPLINE_COLUMNS)
        if n_columns < 1 or not numbers:
            return self
        splines = np.hstack([spline_columns(normal_scores(each), n_columns) for each in numbers])
        return Covariates(self.names, np.hstack([self.design, splines]), splines.shape[1])

    def of_samples(self, rows: IntArray) -> Covariates:
        """Return the covariates of some samples."""
        return Covariates(self.names, self.design[rows], self.n_splines)


def make_covariates(covariates: Any, *, n_samples: int) -> Covariates | None:
    """Return covariates as columns of a model.

    - `covariates` (n_samples,) array-like, table-like, list of Column: numbers count as they are and by splines, bool,
      categorical and text columns by their levels.
    - `n_samples`: samples of X, which `covariates` must match.

    Examples
    --------
    >>> import pandas as pd
    >>> known = pd.DataFrame({"age": [30, 50] * 3, "sex": ["f", "m"] * 3})
    >>> found = make_covariates(known, n_samples=6)
    >>> found.names, found.design[:2].tolist()
    (['age', 'sex'], [[-1.0, 0.0], [1.0, 1.0]])
    """
    if covariates is None or isinstance(covariates, Covariates):
        return covariates
    columns = _covariate_columns(covariates)
    if not columns:
        raise ValueError("covariates has no columns: name one at least, or leave it out")
    parts: list[FloatArray] = []
    for name, column in columns.items():
        values = column.read()
        check_length("covariates", values, n_samples)
        parts.append(_design(name, column, values))
    design = np.column_stack(parts)
    if design.shape[1] > min(MAX_COLUMNS, n_samples // 3):
        raise ValueError(
            f"covariates give a model with {design.shape[1]} columns (one for each level of a label but the first), "
            f"too many for {n_samples} samples: give fewer, or merge levels"
        )
    return Covariates(list(columns), design)


def _covariate_columns(covariates: Any) -> dict[str, Column]:
    if isinstance(covariates, dict):
        return {str(name): decision_column(values, "covariates") for name, values in covariates.items()}
    shape: tuple[int, ...] = getattr(covariates, "shape", ())
    is_rows = isinstance(covariates, list | tuple) and any(isinstance(row, list | tuple) for row in covariates)
    if len(shape) == 2 or is_rows:
        with naming_argument("covariates"):
            table = as_table(covariates)
        return {name: table.column(v) for v, name in enumerate(table.names)}
    name = getattr(covariates, "name", None)
    return {name if isinstance(name, str) else "covariate": decision_column(covariates, "covariates")}


def _design(name: str, column: Column, values: Any) -> FloatArray:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        first = int(np.argmin(np.isfinite(values)))
        raise ValueError(
            f"covariates: column {shown(name)} has missing or infinite values (the first at sample {first}): leave "
            "those samples out, or fill in the values"
        )
    if column.kind == ColumnKind.NUMBER:
        numbers = values.astype(np.float64)
        # Times a power of two, which changes no bit of the result: squares neither overflow nor vanish.
        numbers = np.ldexp(numbers, -np.frexp(np.abs(numbers).max())[1])
        spread = numbers.std()
        if spread == 0:
            raise ValueError(f"covariates: column {shown(name)} has one value only: leave it out")
        return np.asarray((numbers - numbers.mean()) / spread)[:, np.newaxis]
    levels, codes = np.unique(values, return_inverse=True)
    if len(levels) < 2:
        raise ValueError(f"covariates: column {shown(name)} has one value only: leave it out")
    return np.asarray(codes.reshape(-1)[:, np.newaxis] == np.arange(1, len(levels)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Design:
    """Strata, groups, covariates and offset of some samples, as far as there are any."""

    n_samples: int
    #: Samples are compared within strata; in a model, each has a constant, or a baseline hazard, of its own.
    strata: Strata | None = None
    #: Samples that belong together.
    groups: Groups | None = None
    covariates: Covariates | None = None
    #: (n_samples,): the known part of the outcome: means, log odds of the second class, or log hazards.
    offset: FloatArray | None = None

    @property
    def adjusts(self) -> bool:
        """Whether outcomes are adjusted: for covariates, or an offset."""
        return self.covariates is not None or self.offset is not None

    @property
    def stratum(self) -> IntArray | None:
        """Stratum of each sample, (n_samples,)."""
        return None if self.strata is None else self.strata.codes

    @property
    def n_constants(self) -> int:
        """The first columns, which are constants: one, or one for each stratum."""
        return 1 if self.strata is None else self.strata.n_strata

    @property
    def known(self) -> FloatArray:
        """Covariates, (n_samples, n_columns); there may be none."""
        return np.empty((self.n_samples, 0)) if self.covariates is None else self.covariates.design

    @property
    def plain(self) -> FloatArray:
        """Covariates without their splines, (n_samples, n_columns); there may be none."""
        return self.known if self.covariates is None else self.covariates.plain

    def columns(self, more: FloatArray | None = None) -> FloatArray:
        """Return the columns of a model: a constant for each stratum, covariates, and some more; none is a sum."""
        return self._columns if more is None else independent_columns(np.hstack([self._columns, more]))

    @cached_property
    def _columns(self) -> FloatArray:
        codes = np.zeros(self.n_samples, dtype=np.int64) if self.strata is None else self.strata.codes
        constants = np.asarray(codes[:, np.newaxis] == np.arange(int(codes.max(initial=0)) + 1), dtype=np.float64)
        return independent_columns(np.hstack([constants, self.known]))

    def smoothed(self, n_informative: int) -> Design:
        """Add splines of the covariates that are numbers to their columns, as many as samples allow for."""
        known = self.covariates
        if known is None:
            return self
        return replace(self, covariates=known.smooth(n_informative))

    def of_samples(self, rows: IntArray) -> Design:
        """Return the design of some samples."""
        return Design(
            len(rows),
            None if self.strata is None else self.strata.of_samples(rows),
            None if self.groups is None else self.groups.of_samples(rows),
            None if self.covariates is None else self.covariates.of_samples(rows),
            None if self.offset is None else self.offset[rows],
        )


@dataclass(frozen=True)
class Strata:
    """Which stratum each sample is in."""

    #: (n_samples,): stratum of each sample, 0 … n_strata − 1; none is empty.
    codes: IntArray
    #: The user's names of the strata.
    labels: list[str]

    @property
    def n_strata(self) -> int:
        return len(self.labels)

    @property
    def sizes(self) -> IntArray:
        """Samples in each stratum, (n_strata,)."""
        return np.bincount(self.codes, minlength=self.n_strata).astype(np.int64)

    def as_codes(self) -> DiscreteCodes:
        """Return the strata as one variable: the member that every tuple has."""
        return DiscreteCodes(self.codes.astype(np.uint8)[np.newaxis], np.array([self.n_strata]))

    def of_samples(self, rows: IntArray) -> Strata | None:
        """Return the strata of some samples; empty ones are dropped, and None stands for a single one."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        return _unless_one(Strata(codes.astype(np.int64), [self.labels[stratum] for stratum in used]))


def make_strata(strata: Any, *, n_samples: int, place: Callable[[int], str] = str) -> Strata | None:
    """Return the strata that the labels of `numbered_labels` make; None if there is one.

    Examples
    --------
    >>> make_strata(["b", "a", "b"], n_samples=3)
    Strata(codes=array([1, 0, 1]), labels=['a', 'b'])
    >>> make_strata([[1, "x"], [1, "y"], [2, "x"]], n_samples=3).labels
    ['1, x', '1, y', '2, x']
    """
    if strata is None or isinstance(strata, Strata):
        return strata
    codes, labels = numbered_labels(strata, "strata", n_samples=n_samples, one="stratum", place=place)
    if len(labels) > MAX_LEVELS:
        raise ValueError(
            f"strata has {len(labels)} different values, more than {MAX_LEVELS}: cut numbers into a few ranges "
            "(for example with pandas.qcut), or merge small strata"
        )
    return _unless_one(Strata(codes, labels))


def _unless_one(strata: Strata) -> Strata | None:
    """Return None for a single stratum: an empty second level would only weaken the gains."""
    return None if strata.n_strata < 2 else strata


def is_by_chromosome(offset: Any) -> bool:
    """Say whether an offset is a dataframe with a column for each chromosome, as `read_loco` returns it."""
    return getattr(offset, "ndim", 0) == 2 and hasattr(offset, "columns") and hasattr(offset, "index")


def make_offset(offset: Any, *, n_samples: int) -> FloatArray | None:
    """Return the offset of each sample, (n_samples,); None if there is none.

    Examples
    --------
    >>> make_offset([0.5, -0.5], n_samples=2).tolist()
    [0.5, -0.5]
    """
    if offset is None:
        return None
    if is_by_chromosome(offset):
        raise ValueError(
            "offset has a column for each chromosome, which interactions() and select(dimensions=1) take alone: give "
            "one number per sample, such as the column of one chromosome, and the variables of this chromosome"
        )
    column = decision_column(offset, "offset")
    values = column.read()
    check_length("offset", values, n_samples)
    if column.kind != ColumnKind.NUMBER:
        raise TypeError("offset must be numbers, one per sample: known means, log odds or log hazards")
    numbers: FloatArray = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        first = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(
            f"offset has missing or infinite values (the first at sample {first}): leave those samples out, or fill in "
            "the values"
        )
    return numbers


#: Labels that vary within groups have an order if neighbours resemble each other by so many standard deviations.
_MIN_LABELS_DEVIATE = 1.0


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each sample is in."""

    #: (n_samples,): group of each sample, 0 … n_groups − 1; none is empty.
    codes: IntArray
    #: (n_samples,): place of each sample in the order of its group, where samples of a group do not change places
    #: freely.
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

    - `given` (n_samples,) array-like, table-like, or Column: labels or numbers of any kind. Of a table, each
      combination of values is a label.
    - `argument`: name of the argument.
    - `n_samples`: samples of X, which it must match.
    - `one`: the word for one label: "stratum", "group".
    - `place`: says where a sample is: `Table.place`.

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
