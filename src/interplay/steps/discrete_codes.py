"""Columns to uint8 codes: numbers by rank into levels, labels and few-valued numbers as they are.

One pass over the table, in blocks of columns, finds missing values and distinct values and keeps the thresholds of
every discretisation. Each discretisation is then a second pass that only compares. Both kinds of column end in the same
rule, code = number of thresholds strictly below the value; for a discrete column, the thresholds are its levels but
the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.arrays import MAX_LEVELS, BoolArray, CodeArray, DiscreteCodes, IntArray
from interplay.checks import check_choice, check_int, check_real
from interplay.jobs import map_in_threads, resolve_n_jobs
from interplay.steps.columns import ColumnKind
from interplay.steps.rank_thresholds import resolve_range, suggest_range, threshold_ranks
from interplay.steps.seeds import Purpose, random_stream, resolve_seed
from interplay.steps.table import Table, as_table

__all__ = ["Coder", "discretize", "make_coder", "resolve_range", "suggest_range"]

Values = npt.NDArray[Any]

MISSING_CHOICES = ("error", "level", "impute")

#: Under "auto", a numeric column with at most this many values is discrete: flags and genotypes (0, 1, 2).
FEW_VALUES = 3

#: A block should fit the second-level cache, but hold enough columns that a row of a C-ordered array is read by
#: whole cache lines.
BLOCK_BYTES = 2**21
MIN_BLOCK_COLUMNS = 8

#: Up to here, comparing a whole block with each threshold in turn beats searching the thresholds for each value.
MAX_COMPARISONS = 64

#: Ranks are drawn for as many columns at a time as have about this many levels in all discretisations together.
LEVELS_AT_ONCE = 2**16


@dataclass(frozen=True, repr=False, eq=False)
class Coder:
    """Makes the codes of any discretisation of one table.

    Attributes
    ----------
    n_levels : (n_vars,) int64
        Levels of each variable, the same in every discretisation.
    is_discrete : (n_vars,) bool
        Variables that are coded as they are; the others are discretised by rank.
    n_missing : (n_vars,) int64
        Missing values of each variable.
    thresholds : (n_vars, discretizations, divisions)
        Thresholds of the variables discretised by rank.
    level_thresholds : list, n_vars entries
        Thresholds of the discrete variables: their levels but the last; None for the others.
    """

    table: Table
    discretizations: int
    missing: str
    seed: int
    first_variable: int
    n_levels: IntArray
    is_discrete: BoolArray
    n_missing: IntArray
    thresholds: Values
    level_thresholds: list[Values | None]
    block_columns: int
    n_jobs: int

    def codes(self, discretization: int, out: CodeArray | None = None) -> DiscreteCodes:
        """Return the codes of one discretisation, 0 ... discretizations - 1.

        `out`, if given, is the C-contiguous (n_vars, n_samples) array to write them to.
        """
        d = check_int("discretization", discretization, low=0, high=self.discretizations - 1)
        codes = np.empty((self.table.n_vars, self.table.n_samples), dtype=np.uint8) if out is None else out
        map_in_threads(partial(self._write_block, d, codes), _blocks(self.table, self.block_columns), self.n_jobs)
        return DiscreteCodes(codes, self.n_levels)

    def _write_block(self, d: int, codes: CodeArray, rows: slice) -> None:
        values = self.table.block(rows.start, rows.stop)
        gaps = np.flatnonzero(self.n_missing[rows])
        if self.missing == "impute" and len(gaps):
            values = _imputed(values, gaps, self.first_variable + rows.start, self.seed)
        thresholds = [
            self.thresholds[v, d] if levels is None else levels
            for v, levels in enumerate(self.level_thresholds[rows], start=rows.start)
        ]
        _count_thresholds_below(values, thresholds, codes[rows])
        if self.missing == "level":
            for row in gaps:
                codes[rows.start + row, np.isnan(values[row])] = self.n_levels[rows.start + row] - 1


def make_coder(
    table: Table,
    *,
    divisions: int,
    discretizations: int,
    range_: float,
    seed: int,
    discrete: Any = "auto",
    missing: str = "error",
    first_variable: int = 0,
    n_jobs: int = 1,
    block_columns: int | None = None,
) -> Coder:
    """Look once at every column of `table` and return what makes its codes.

    Parameters
    ----------
    table : Table
    divisions, discretizations, range_, seed
        The discretisation; `range_` as `resolve_range` gives it.
    discrete : "auto", "none", "all", list of columns, or mask
        Variables that are coded as they are. "auto": bool, categorical and text columns, and numbers with at most
        max(3, divisions + 1) distinct values. A list holds names or numbers of columns, to which bool, categorical
        and text columns are added. A mask of n_vars bools is taken at its word.
    missing : "error", "level" or "impute"
        What to do with missing values: refuse them, give them a level of their own, or draw each from the observed
        values of its column.
    first_variable : int
        Number of the first column in the streams of random numbers: for contrast variables, the number of real ones.
    n_jobs : int
        Threads, here and in the coder.
    block_columns : int, optional
        Columns handled at a time. Changes no result.
    """
    divisions = check_int("divisions", divisions, low=1, high=MAX_LEVELS - 1)
    discretizations = check_int("discretizations", discretizations, low=1)
    range_ = check_real("range_", range_, low=0, high=1)
    check_choice("missing", missing, MISSING_CHOICES)
    forced = _forced_kinds(discrete, table)
    if block_columns is None:
        column_bytes = table.n_samples * table.dtype.itemsize
        block_columns = max(MIN_BLOCK_COLUMNS, BLOCK_BYTES // max(1, column_bytes))

    survey = _Survey(table, divisions, discretizations, range_, seed, forced, missing, first_variable)
    survey.draw_ranks(n_jobs)
    map_in_threads(survey.look_at_block, _blocks(table, block_columns), n_jobs)
    survey.check()
    return Coder(
        table=table,
        discretizations=discretizations,
        missing=missing,
        seed=seed,
        first_variable=first_variable,
        n_levels=survey.n_levels,
        is_discrete=survey.is_discrete,
        n_missing=survey.n_missing,
        thresholds=survey.thresholds,
        level_thresholds=survey.level_thresholds,
        block_columns=block_columns,
        n_jobs=n_jobs,
    )


def discretize(
    X: Any,
    *,
    divisions: int = 1,
    discretizations: int = 1,
    range_: float | None = None,
    dimensions: int = 2,
    random_state: Any = 0,
    discrete: Any = "auto",
    missing: str = "error",
    n_jobs: int | None = None,
) -> CodeArray:
    """Turn the columns of a table into a few levels each, by rank.

    Parameters
    ----------
    X : table-like, (n_samples, n_vars)
    divisions : int, default 1
        Thresholds per variable; there are `divisions` + 1 levels.
    discretizations : int, default 1
        Number of randomised discretisations.
    range_ : float, optional
        How far the sizes of the levels vary, 0 (equal sizes, nothing random) to 1. By default 0 for one discretisation
        and `suggest_range` for several.
    dimensions : int, default 2
        Number of variables in a tuple; only `suggest_range` uses it.
    random_state : int, None, RandomState or Generator, default 0
    discrete : "auto", "none", "all", list of columns, or mask, default "auto"
        Variables that are coded as they are; see `make_coder`.
    missing : "error", "level" or "impute", default "error"
    n_jobs : int, optional
        Threads, in scikit-learn's sense.

    Returns
    -------
    (discretizations, n_samples, n_vars) uint8

    Examples
    --------
    >>> X = [[0.1, 5], [0.9, 7], [0.4, 7], [0.7, 5], [0.2, 5]]
    >>> discretize(X, discrete=[1])[0].T
    array([[0, 1, 0, 0, 0],
           [0, 1, 1, 0, 0]], dtype=uint8)
    """
    divisions = check_int("divisions", divisions, low=1, high=MAX_LEVELS - 1)
    discretizations = check_int("discretizations", discretizations, low=1)
    dimensions = check_int("dimensions", dimensions, low=1)
    check_choice("missing", missing, MISSING_CHOICES)
    seed = resolve_seed(random_state)
    threads = resolve_n_jobs(n_jobs)
    table = as_table(X)
    span = resolve_range(
        range_,
        n_samples=table.n_samples,
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
    )
    coder = make_coder(
        table,
        divisions=divisions,
        discretizations=discretizations,
        range_=span,
        seed=seed,
        discrete=discrete,
        missing=missing,
        n_jobs=threads,
    )
    codes = np.empty((discretizations, table.n_vars, table.n_samples), dtype=np.uint8)
    for d in range(discretizations):
        coder.codes(d, out=codes[d])
    return codes.transpose(0, 2, 1)


class _Survey:
    """The first pass: what it finds about each column, block by block, in any order."""

    def __init__(
        self,
        table: Table,
        divisions: int,
        discretizations: int,
        range_: float,
        seed: int,
        forced: npt.NDArray[np.int8],
        missing: str,
        first_variable: int,
    ) -> None:
        self._table = table
        self._divisions = divisions
        self._rank_rule = partial(
            threshold_ranks, divisions=divisions, discretizations=discretizations, range_=range_, seed=seed
        )
        self._seed = seed
        self._forced = forced
        self._missing = missing
        self._first_variable = first_variable
        n_vars = table.n_vars
        shape = (n_vars, discretizations, divisions)
        self._ranks = np.empty(shape, dtype=np.int32 if table.n_samples < 2**31 else np.int64)
        self.thresholds: Values = np.zeros(shape, dtype=table.dtype)
        self.level_thresholds: list[Values | None] = [None] * n_vars
        self.n_levels: IntArray = np.zeros(n_vars, dtype=np.int64)
        self.n_missing: IntArray = np.zeros(n_vars, dtype=np.int64)
        self.is_discrete: BoolArray = np.zeros(n_vars, dtype=np.bool_)

    def draw_ranks(self, n_jobs: int) -> None:
        """Draw the thresholds' ranks of columns without missing values, many columns at a time."""

        def draw(rows: slice) -> None:
            variables = np.arange(rows.start, rows.stop, dtype=np.int64) + self._first_variable
            self._ranks[rows] = self._rank_rule(variables, np.full(len(variables), self._table.n_samples))

        levels_per_column = self._ranks.shape[1] * (self._divisions + 1)
        columns_at_once = max(1, LEVELS_AT_ONCE // levels_per_column)
        map_in_threads(draw, _blocks(self._table, columns_at_once), n_jobs)

    def look_at_block(self, rows: slice) -> None:
        """Sort the block's columns; find missing values, distinct values and thresholds."""
        values = self._table.block(rows.start, rows.stop)
        in_order = _sorted_rows(values)
        n_observed = _count_observed(in_order)
        gaps = np.flatnonzero(n_observed < values.shape[1])
        self.n_missing[rows] = values.shape[1] - n_observed
        if len(gaps) and self._missing == "error":
            return  # There will be no codes: only the count is needed, for the message.
        if len(gaps) and self._missing == "impute":
            fillable = gaps[n_observed[gaps] > 0]
            filled = _imputed(values, fillable, self._first_variable + rows.start, self._seed)
            in_order[fillable] = _sorted_rows(filled[fillable])
            n_observed[fillable] = values.shape[1]

        is_step = in_order[:, 1:] != in_order[:, :-1]
        if len(gaps):  # A NaN differs from its neighbour, and must not count.
            is_step &= np.arange(1, values.shape[1]) < n_observed[:, None]
        n_distinct = np.count_nonzero(is_step, axis=1) + (n_observed > 0)

        few = n_distinct <= max(FEW_VALUES, self._divisions + 1)
        forced = self._forced[rows]
        is_discrete = np.where(forced < 0, few, forced > 0)
        self.is_discrete[rows] = is_discrete
        has_own_level = (n_observed < values.shape[1]).astype(np.int64)
        self.n_levels[rows] = np.where(is_discrete, n_distinct, self._divisions + 1) + has_own_level

        for row in np.flatnonzero(is_discrete & (n_distinct <= MAX_LEVELS)):
            # The value before each step is a level that is not the last.
            self.level_thresholds[rows.start + row] = in_order[row, :-1][is_step[row]]
        self._keep_thresholds(rows, in_order, n_observed, np.flatnonzero(~is_discrete))

    def _keep_thresholds(self, rows: slice, in_order: Values, n_observed: IntArray, ranked: IntArray) -> None:
        ranks = self._ranks[rows][ranked].astype(np.int64)
        short = np.flatnonzero(n_observed[ranked] < in_order.shape[1])
        if len(short):
            variables = ranked[short] + rows.start + self._first_variable
            ranks[short] = self._rank_rule(variables, n_observed[ranked[short]])
        self.thresholds[rows.start + ranked] = in_order[ranked[:, None, None], ranks]

    def check(self) -> None:
        """Raise the error that the columns call for, if any."""
        names = self._table.names
        gaps = np.flatnonzero(self.n_missing)
        if len(gaps) and self._missing == "error":
            count = int(self.n_missing.sum())
            listed = ", ".join(repr(names[v]) for v in gaps[:3]) + (", ..." if len(gaps) > 3 else "")
            values = f"{count} missing value{'s' * (count > 1)}"
            columns = f"{len(gaps)} column{'s' * (len(gaps) > 1)}"
            raise ValueError(
                f"X has {values} in {columns} ({listed}): fill in, or use missing='level' or missing='impute'"
            )
        if self._missing == "impute":
            empty = np.flatnonzero(self.n_missing == self._table.n_samples)
            if len(empty):
                raise ValueError(
                    f"missing='impute' finds no value to draw from in column {names[empty[0]]!r} of X: leave it out"
                )
        too_many = np.flatnonzero(self.n_levels > MAX_LEVELS)
        if len(too_many):
            self._refuse_levels(int(too_many[0]))

    def _refuse_levels(self, v: int) -> None:
        name, n_levels = self._table.names[v], self.n_levels[v]
        if not self.is_discrete[v]:
            raise ValueError(
                f"divisions must be at most {MAX_LEVELS - 2} with missing='level', not {self._divisions}: "
                f"column {name!r} of X needs a level for missing values"
            )
        if self._table.kinds[v] == ColumnKind.LABEL:
            advice = "an identifier? leave it out (or make it numbers, if it is numbers kept as text)"
        else:
            advice = "take it out of discrete, so that it is discretised by rank"
        raise ValueError(f"column {name!r} of X has {n_levels} levels, more than {MAX_LEVELS}: {advice}")


def _forced_kinds(discrete: Any, table: Table) -> npt.NDArray[np.int8]:
    """Return, per column, 1 (discrete), 0 (by rank) or -1 (to be seen from its values)."""
    wanted = "'auto', 'none', 'all', a list of columns or a mask"
    is_label = table.is_label.astype(np.int8)
    if isinstance(discrete, str):
        if discrete == "auto":
            return np.where(table.is_label, 1, -1).astype(np.int8)
        if discrete == "all":
            return np.ones_like(is_label)
        if discrete != "none":
            raise ValueError(f"discrete must be {wanted}, not {discrete!r}")
        forced = np.zeros_like(is_label)
    else:
        try:
            entries = list(discrete)
        except TypeError:
            raise TypeError(f"discrete must be {wanted}, not {discrete!r}") from None
        if not entries or not all(isinstance(entry, bool | np.bool_) for entry in entries):
            is_label[_column_numbers(entries, table)] = 1
            return is_label
        if len(entries) != table.n_vars:
            raise ValueError(
                f"discrete, as a mask, must have one entry per variable of X: {len(entries)} entries, "
                f"{table.n_vars} variables"
            )
        forced = np.array(entries, dtype=np.int8)
    unranked = np.flatnonzero((forced == 0) & (table.kinds == ColumnKind.LABEL))
    if len(unranked):
        name = table.names[unranked[0]]
        raise ValueError(f"discrete must include column {name!r} of X, whose labels have no order: use discrete='auto'")
    return forced


def _column_numbers(entries: list[Any], table: Table) -> list[int]:
    """Turn names and numbers of columns into numbers."""
    number_of = {name: number for number, name in enumerate(table.names)}
    numbers = []
    for entry in entries:
        if isinstance(entry, str):
            if entry not in number_of:
                raise ValueError(f"discrete names {entry!r}, which is not a column of X")
            numbers.append(number_of[entry])
        else:
            numbers.append(check_int("each column number in discrete", entry, low=0, high=table.n_vars - 1))
    return numbers


def _blocks(table: Table, columns: int) -> list[slice]:
    return [slice(start, min(start + columns, table.n_vars)) for start in range(0, table.n_vars, columns)]


def _sorted_rows(values: Values) -> Values:
    """Sort each row, NaN last. Numbers of one or two bytes have a radix sort, which NumPy calls stable."""
    return np.sort(values, axis=1, kind="stable" if values.dtype.itemsize <= 2 else None)


def _count_observed(in_order: Values) -> IntArray:
    """Count the values of each sorted row that are not NaN."""
    n_rows, n_samples = in_order.shape
    n_observed = np.full(n_rows, n_samples, dtype=np.int64)
    if in_order.dtype.kind == "f":
        for row in np.flatnonzero(np.isnan(in_order[:, -1])):
            n_observed[row] = n_samples - np.count_nonzero(np.isnan(in_order[row]))
    return n_observed


def _imputed(values: Values, gaps: IntArray, first_variable: int, seed: int) -> Values:
    """Fill the rows `gaps`: each missing value is drawn from the row's observed ones.

    The stream depends on the seed and the variable alone, so every pass fills in the same values.
    """
    filled = values.copy()
    for row in gaps:
        missing = np.isnan(values[row])
        observed = values[row][~missing]
        stream = random_stream(seed, Purpose.IMPUTE, first_variable + int(row))
        filled[row, missing] = observed[stream.randint(0, len(observed), np.count_nonzero(missing))]
    return filled


def _count_thresholds_below(values: Values, thresholds: list[Values], codes: CodeArray) -> None:
    """Write to `codes` how many of its row's thresholds are strictly below each value; both (n_rows, n_samples)."""
    counts = np.array([len(row) for row in thresholds])
    for row in np.flatnonzero(counts > MAX_COMPARISONS):
        codes[row] = np.searchsorted(thresholds[row], values[row], side="left")
    compared = np.flatnonzero(counts <= MAX_COMPARISONS)
    if not len(compared):
        return
    width = int(counts[compared].max())
    # Rows with fewer thresholds are filled up with a value that nothing exceeds.
    highest = np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).max
    grid = np.full((width, len(compared)), highest, dtype=values.dtype)
    for column, row in enumerate(compared):
        grid[: counts[row], column] = thresholds[row]

    everything = len(compared) == len(values)
    chosen = values if everything else values[compared]
    found = codes if everything else np.empty(chosen.shape, dtype=np.uint8)
    if width == 0:
        found[:] = 0
    else:
        np.greater(chosen, grid[0][:, None], out=found.view(np.bool_))
        above = np.empty(chosen.shape, dtype=np.bool_)
        for i in range(1, width):
            np.greater(chosen, grid[i][:, None], out=above)
            np.add(found, above.view(np.uint8), out=found)
    if not everything:
        codes[compared] = found
