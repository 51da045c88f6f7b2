"""What a search for interactions is made in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from interplay.base.arrays import DecisionClasses, IntArray
from interplay.codes.coder import Discrete
from interplay.codes.survey import forced_kinds
from interplay.interaction.family import TupleFamily
from interplay.study.column_subset import ColumnSubset
from interplay.study.comparisons import Comparison
from interplay.study.fingerprint import data_fingerprint
from interplay.study.groups import Groups
from interplay.study.outcome import decision_classes, decision_column
from interplay.study.provenance import now
from interplay.study.row_subset import RowSubset
from interplay.study.strata import Strata
from interplay.study.table import Table


@dataclass(frozen=True, eq=False)
class InteractionData:
    """Samples, and which tuples of their variables to look at.

    Attributes
    ----------
    table : Table
    y : object
        The outcome as it was given.
    strata : Strata or None
    classes : DecisionClasses
    family : TupleFamily
    groups : Groups or None
    target : str or None
        Name of the outcome, where it has one.
    """

    table: Table
    y: Any
    strata: Strata | None
    classes: DecisionClasses
    family: TupleFamily
    groups: Groups | None = None
    target: str | None = None

    def of_samples(self, rows: IntArray, decision: str, decision_divisions: int) -> InteractionData:
        """Keep some of the samples; a continuous outcome is cut anew, from these alone."""
        column = decision_column(self.y)
        y = replace(column, read=lambda: column.read()[rows])
        kind = decision if decision != "auto" else self.classes.kind  # fewer samples might look otherwise
        classes = decision_classes(y, n_samples=len(rows), decision=kind, decision_divisions=decision_divisions)
        strata = None if self.strata is None else self.strata.of_samples(rows)
        groups = None if self.groups is None else self.groups.of_samples(rows)
        return replace(self, table=RowSubset(self.table, rows), y=y, strata=strata, groups=groups, classes=classes)

    @cached_property
    def comparison(self) -> Comparison:
        """What the engines search: the variables that tuples may hold, numbered anew where these are not all."""
        columns = self.family.columns
        table = self.table if columns is None else ColumnSubset(self.table, columns)
        return Comparison("all classes", table, self.classes, self.strata, self.groups)

    def discrete(self, discrete: Discrete) -> Discrete:
        """Return which variables are taken as they are, for those that are searched."""
        if self.family.columns is None or isinstance(discrete, str):
            return discrete
        return forced_kinds(discrete, self.table).astype(bool)[self.family.columns]

    def numbers(self, searched: IntArray) -> IntArray:
        """Turn numbers of searched variables into numbers of variables of the table."""
        return searched if self.family.columns is None else self.family.columns[searched]

    def fingerprint(self, *, n_threads: int) -> str:
        """Return the hash of all data; see `data_fingerprint`."""
        return data_fingerprint(self.table, self.classes, self.strata, self.groups, n_threads=n_threads)

    def record(self, fingerprint: str) -> dict[str, Any]:
        """Return what a result records of its data, and the date."""
        return {
            "date": now(),
            "target": self.target,
            "n_samples": self.table.n_samples,
            "samples_left_out": self.table.samples_left_out,
            "n_vars": self.table.n_vars,
            "data_fingerprint": fingerprint,
            "strata": self.strata_sizes,
        }

    @property
    def strata_sizes(self) -> dict[str, int]:
        """Samples in each stratum, by its label; nothing without strata."""
        strata = self.strata
        return {} if strata is None else dict(zip(strata.labels, strata.sizes.tolist(), strict=True))
