"""A plan + the table of one site → codes, classes and tables of counts as the plan defines them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, CodeArray, IntArray
from interplay.base.checks import shown
from interplay.base.text import name_among
from interplay.data.codes.coded import CodedComparison
from interplay.data.codes.coder import BLOCK_BYTES, MIN_BLOCK_COLUMNS, Coder
from interplay.data.codes.cuts import NO_LEVEL, VariableCuts, plain_label
from interplay.data.study.columns import Column, ColumnKind, check_length, decision_column
from interplay.data.study.comparisons import Comparison
from interplay.data.study.named_columns import take_named
from interplay.data.study.outcomes.classes import DecisionClasses, check_not_missing
from interplay.data.study.table import Table, as_table
from interplay.search.engines.tables import TupleTables
from interplay.search.settings import SearchSettings
from interplay.sites.plan import SitePlan

#: Columns that are read at once.
_READ_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class SiteData:
    """The table of a site, coded as the plan says."""

    plan: SitePlan
    site: str
    #: The columns of the plan, with the classes that the site has.
    coded: CodedComparison
    #: (n,): numbers of these classes in the plan.
    present: IntArray
    #: (n_classes,): samples of all classes of the plan.
    class_sizes: IntArray
    #: list of (n_levels,): of each column, which of its levels the site has; missing values last.
    occurs: list[BoolArray]

    @property
    def n_samples(self) -> int:
        return int(self.class_sizes.sum())

    def tables(self) -> TupleTables:
        """Return what counts tuples, with the classes of the site."""
        coder, plan = self.coded.coder, self.plan
        return TupleTables(
            partial(self.coded.planes_of, 0),
            coder.n_levels,
            n_classes=len(self.present),
            n_omitted=np.ones(len(coder.n_levels), dtype=np.int64) if plan.omits_missing else None,
        )

    def settings(self) -> SearchSettings:
        """Return the settings of the search in this table."""
        return SearchSettings(
            dimensions=self.plan.dimensions,
            divisions=1,
            discretizations=1,
            range_=0.0,
            pseudocount=0.0,
            discrete="all",
            missing="error",
            random_state=self.plan.random_state,
        )


def make_site_data(plan: SitePlan, X: Any, y: Any, site: Any, *, n_threads: int) -> SiteData:
    """Check the table of a site against the plan, and code it."""
    if not isinstance(site, str) or site not in plan.sites:
        raise ValueError(f"site must be one of the plan's, {', '.join(map(repr, plan.sites[:8]))}, not {shown(site)}")
    if y is None and plan.target is None:
        raise TypeError("y must hold the outcome, or be the name of its column: the plan does not name one")
    table, (outcome,) = take_named(X, y=plan.target if y is None else y)
    class_codes = _class_codes(plan, outcome, table.n_samples)
    class_sizes = np.bincount(class_codes, minlength=len(plan.classes)).astype(np.int64)
    present = np.flatnonzero(class_sizes)
    if len(present) < 2:
        raise ValueError(
            f"y has one class only, {shown(plan.classes[int(present[0])])}: a site without a second class adds nothing "
            "to the search; make a plan without it"
        )
    codes = _codes(plan, table)
    n_levels = np.array([column.n_levels + plan.has_missing_level for column in plan.columns], dtype=np.int64)
    occurs = [np.bincount(row, minlength=n)[:n] > 0 for row, n in zip(codes, n_levels.tolist(), strict=True)]
    labels = [plan.classes[q] for q in present.tolist()]
    classes = DecisionClasses(np.searchsorted(present, class_codes).astype(np.int64), labels)
    coded_table = as_table(codes.T)
    comparison = Comparison("all classes", coded_table, classes)
    coder = _coder(coded_table, n_levels, n_threads)
    return SiteData(plan, site, CodedComparison(comparison, lambda: coder), present, class_sizes, occurs)


def _coder(table: Table, n_levels: IntArray, n_threads: int) -> Coder:
    """Return the coder of columns that are codes already."""
    thresholds = {n: np.arange(n - 1, dtype=table.dtype) for n in np.unique(n_levels).tolist()}
    return Coder(
        table=table,
        discretizations=1,
        missing="error",
        seed=0,
        first_variable=0,
        n_levels=n_levels,
        is_discrete=np.ones(len(n_levels), dtype=bool),
        n_missing=np.zeros(len(n_levels), dtype=np.int64),
        thresholds=np.empty((len(n_levels), 1, 1), dtype=table.dtype),
        level_thresholds=[thresholds[n] for n in n_levels.tolist()],
        last_levels=(n_levels - 1).astype(np.float64),
        kept_blocks={},
        block_columns=max(MIN_BLOCK_COLUMNS, BLOCK_BYTES // max(1, table.n_samples)),
        n_jobs=n_threads,
    )


def _class_codes(plan: SitePlan, y: Any, n_samples: int) -> IntArray:
    column = decision_column(y)
    values = column.read()
    check_length("y", values, n_samples)
    check_not_missing(values)
    number_of = {plain_label(label): number for number, label in enumerate(plan.classes)}
    levels = sorted(set(values.tolist()))
    codes = []
    for value in levels:
        label = plain_label(value if column.levels is None else column.levels[int(value)])
        if label not in number_of:
            raise ValueError(
                f"y has the class {shown(label)}, which the plan does not have (it has "
                f"{', '.join(plan.classes[:6])}): leave those samples out, rename it, or make a plan with it"
            )
        codes.append(number_of[label])
    return np.array(codes, dtype=np.int64)[np.searchsorted(levels, values)]


def _codes(plan: SitePlan, table: Table) -> CodeArray:
    """Return the level of every sample in every column of the plan, (n_columns, n_samples)."""
    number_of = {name: number for number, name in enumerate(table.names)}
    if missing := [name for name in plan.names if name_among(number_of, name) not in number_of]:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise ValueError(f"X lacks the column {shown(missing[0])}{more}, which the plan has")
    where = np.array([number_of[name_among(number_of, name)] for name in plan.names], dtype=np.int64)
    codes = np.empty((len(where), table.n_samples), dtype=np.uint8)
    cuts = plan.cuts()
    for begin in range(0, len(where), _READ_AT_ONCE):
        some = where[begin : begin + _READ_AT_ONCE]
        block = table.columns(some)
        for place, (v, values) in enumerate(zip(some.tolist(), block, strict=True), start=begin):
            column = table.column(v) if table.is_label[v] else None
            codes[place] = _column_codes(plan, cuts[place], _of_values(column, values))
    return codes


def _of_values(column: Column | None, values: npt.NDArray[Any]) -> Column:
    """Return a column whose values were read already; None for one of numbers."""
    if column is None:
        return Column(ColumnKind.NUMBER, values.dtype, lambda: values)
    return replace(column, read=lambda: values)


def _column_codes(plan: SitePlan, cuts: VariableCuts, column: Column) -> IntArray:
    name = shown(plan.names[cuts.variable])
    if column.kind == ColumnKind.LABEL and not cuts.labels:
        wanted = "cut at thresholds" if cuts.is_cut else "levels that are numbers"
        raise ValueError(f"column {name} of X holds labels, and the plan has {wanted}")
    codes = cuts.codes(column, 0)
    unknown = np.flatnonzero(codes == NO_LEVEL)
    if len(unknown):
        values = column.read()
        value = values[unknown[0]]
        if value != value:
            raise ValueError(
                f"column {name} of X has {len(unknown)} missing values, and the plan refuses them: make a plan with "
                "missing='level' or missing='omit'"
            )
        label = value.item() if column.levels is None else column.levels[int(value)]
        raise ValueError(
            f"column {name} of X has the value {shown(label)}, which is no level of the plan: make a plan with it, or "
            "make it missing"
        )
    return codes
