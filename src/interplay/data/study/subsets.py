"""Some of a table's variables, or some of its samples, as a table: read from the whole table block by block."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import IntArray
from interplay.base.checks import check_int, check_real
from interplay.data.study.columns import Column, LabelDoubt
from interplay.data.study.design import Strata
from interplay.data.study.outcomes.outcome import Outcome
from interplay.data.study.outcomes.targets import Target
from interplay.data.study.table import Table, Values, Which


class _Subset(Table):
    """A part of a table, with the properties of the whole where these do not depend on the part."""

    def __init__(self, table: Table, n_samples: int, names: list[str], kinds: npt.NDArray[np.int8]) -> None:
        super().__init__(n_samples, names, kinds, table.dtype)
        self._table = table
        self.samples_left_out, self.filters, self.labels = table.samples_left_out, table.filters, table.labels

    @property
    def positions(self) -> list[tuple[str, float]] | None:
        """Chromosome and position of each variable, where they are known."""
        return self._table.positions

    @property
    def alleles(self) -> list[tuple[str, str]] | None:
        """Of genotypes, the allele that is counted and the other one."""
        return self._table.alleles

    @property
    def has_whole_numbers(self) -> bool:
        """Whether all variables are numbers of one byte."""
        return self._table.has_whole_numbers

    def place(self, sample: int) -> str:
        """Say where a sample is in the whole table."""
        return self._table.place(sample)

    @property
    def doubts(self) -> dict[str, LabelDoubt]:
        """Reasons to doubt that text variables hold labels, by the names of the variables in doubt."""
        return self._table.doubts


class ColumnSubset(_Subset):
    """A table with only the variables `kept`.

    With `keeps_numbers`, draws for a variable, such as those of its thresholds, are the same as in the whole table.
    """

    def __init__(self, table: Table, kept: IntArray, *, keeps_numbers: bool = False) -> None:
        super().__init__(table, table.n_samples, [table.names[v] for v in kept], table.kinds[kept])
        self._kept, self._keeps_numbers = kept, keeps_numbers

    @property
    def numbers(self) -> IntArray:
        """The variables' numbers in the streams of random numbers."""
        return self._table.numbers[self._kept] if self._keeps_numbers else super().numbers

    @property
    def positions(self) -> list[tuple[str, float]] | None:
        """Chromosome and position of each variable, where they are known."""
        known = self._table.positions
        return None if known is None else [known[v] for v in self._kept.tolist()]

    @property
    def alleles(self) -> list[tuple[str, str]] | None:
        """Of genotypes, the allele that is counted and the other one."""
        known = self._table.alleles
        return None if known is None else [known[v] for v in self._kept.tolist()]

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        return self._table.columns(as_slice(self._kept[which]))

    def whole_numbers(self, which: Which) -> npt.NDArray[np.int8] | None:
        """Return the chosen columns as numbers of one byte; see `Table.whole_numbers`."""
        return self._table.whole_numbers(as_slice(self._kept[which]))

    def column(self, v: int) -> Column:
        """Return one column with the names of its levels."""
        return self._table.column(int(self._kept[v]))

    @property
    def doubts(self) -> dict[str, LabelDoubt]:
        """Reasons to doubt that text variables hold labels, by the names of the variables in doubt."""
        found = self._table.doubts
        return {name: found[name] for name in self.names if name in found} if found else {}


class RowSubset(_Subset):
    """A table with only the samples `rows`."""

    def __init__(self, table: Table, rows: IntArray) -> None:
        super().__init__(table, len(rows), table.names, table.kinds)
        self._rows = rows
        if table.sample_names is not None:
            self.sample_names = table.sample_names[rows]

    @property
    def rows(self) -> IntArray:
        """The samples' numbers in the whole table."""
        return self._rows

    def columns(self, which: Which) -> Values:
        """Return the chosen columns; see `Table.columns`."""
        return np.ascontiguousarray(self._table.columns(which)[:, self._rows])

    def whole_numbers(self, which: Which) -> npt.NDArray[np.int8] | None:
        """Return the chosen columns as numbers of one byte; see `Table.whole_numbers`."""
        whole = self._table.whole_numbers(which)
        return None if whole is None else np.ascontiguousarray(whole[:, self._rows])

    def column(self, v: int) -> Column:
        """Return variable `v` with the names of its levels; some of them may have no sample here."""
        whole = self._table.column(v)
        return replace(whole, read=lambda: whole.read()[self._rows])

    def place(self, sample: int) -> str:
        """Say where a sample is in the whole table."""
        return self._table.place(int(self._rows[sample]))


def as_slice(numbers: IntArray) -> Which:
    """Return consecutive numbers as a slice, which is read faster, and perhaps without a copy; others as they are."""
    if len(numbers) and bool((np.diff(numbers) == 1).all()):
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers


def split_samples(
    holdout: Any, outcome: Outcome, compared: Target, strata: Strata | None, *, seed: int
) -> tuple[IntArray, IntArray]:
    """Return the numbers of the samples to search in and of those held out, each ascending.

    - `holdout`: share, or number, of samples to hold out.
    - `compared`: the outcome as it is compared: of times, residuals.
    - `strata`: the share is the same in each class, or along the numbers, and in each stratum, but for rounding.

    Examples
    --------
    >>> from interplay.data.study.outcomes.classes import DecisionClasses
    >>> classes = DecisionClasses(np.repeat([0, 1], [80, 40]), ["a", "b"])
    >>> searched, held_out = split_samples(0.25, classes, classes, None, seed=0)
    >>> np.bincount(classes.codes[held_out]).tolist()
    [20, 10]
    """
    labels = compared.split_labels
    n_samples = len(labels)
    if isinstance(holdout, float | np.floating):
        share = check_real("holdout", float(holdout), low=0.0, high=1.0, low_open=True, high_open=True)
    else:
        share = check_int("holdout", holdout, low=1, high=n_samples - 1) / n_samples
    groups = labels if strata is None else strata.codes * (int(labels.max()) + 1) + labels
    rng = np.random.RandomState(seed % 2**32)
    order = rng.permutation(n_samples)
    order = order[np.argsort(groups[order], kind="stable")]
    # A sample is held out where its place times the share passes a whole number: the same share of each group.
    place = np.floor((np.arange(n_samples) + 1) * share) - np.floor(np.arange(n_samples) * share)
    held_out = np.sort(order[place > 0])
    searched = np.setdiff1d(np.arange(n_samples), held_out)
    for rows, what in ((searched, "search in"), (held_out, "test in")):
        outcome.check_part(holdout, rows, what)
    return searched, held_out
