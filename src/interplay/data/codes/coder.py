"""Columns to uint8 codes: numbers by rank into levels, labels and few-valued numbers as they are.

One pass over the table, in blocks of columns, finds missing values and distinct values and keeps the thresholds of
every discretisation. Each discretisation is then a second pass that only compares. Both kinds of column end in the same
rule, code = number of thresholds strictly below the value; for a discrete column, the thresholds are its levels but
the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arguments import ARGUMENTS, described_by
from interplay.base.arrays import (
    COMPILED_TYPES,
    MAX_DISCRETIZATIONS,
    MAX_LEVELS,
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
)
from interplay.base.checks import check_choice, check_int, check_real
from interplay.base.jobs import map_in_threads, resolve_n_jobs
from interplay.base.planes import CutValues, DiscreteCodes
from interplay.base.seeds import resolve_seed
from interplay.data.codes.survey import ColumnSurvey, column_blocks, forced_kinds, imputed, level_for_missing
from interplay.data.study.rank_thresholds import check_discretization, resolve_range, suggest_range
from interplay.data.study.table import MISSING_WHOLE, Table, as_table

__all__ = ["Coder", "discretize", "make_coder", "resolve_range", "suggest_range"]

Values = npt.NDArray[Any]

#: The argument `discrete`: a word, a list of columns, or a mask.
Discrete = str | Sequence[Any] | BoolArray

MISSING_CHOICES = ("auto", "error", "level", "impute")

#: A block should fit the second-level cache, but hold enough columns that a row of a C-ordered array is read by
#: whole cache lines.
BLOCK_BYTES = 2**21
MIN_BLOCK_COLUMNS = 8

#: Genotypes come in blocks of at least this many columns, but no more bytes: threads wait for each other between two
#: blocks. With 16 threads and 100 000 samples, 64 columns at a time are surveyed 7 times as fast as 8.
MIN_WHOLE_COLUMNS, MAX_WHOLE_BYTES = 64, 2**24

#: Upper limits of the variables read at once, and of the distance between two neighbours among them.
_READ_AT_ONCE = 64
_NEAR = 4

#: Up to here, comparing a whole block with each threshold in turn beats searching the thresholds for each value.
MAX_COMPARISONS = 64


@dataclass(frozen=True, repr=False, eq=False)
class Coder:
    """Makes the codes of any discretisation of one table."""

    table: Table
    discretizations: int
    missing: str
    seed: int
    first_variable: int
    #: (n_vars,): levels of each variable, the same in every discretisation.
    n_levels: IntArray
    #: (n_vars,): variables that are coded as they are; the others are discretised by rank.
    is_discrete: BoolArray
    #: (n_vars,): missing values of each variable.
    n_missing: IntArray
    #: (n_vars, discretizations, divisions): thresholds of the variables discretised by rank.
    thresholds: Values
    #: Thresholds of the discrete variables: their levels but the last; None for the others.
    level_thresholds: list[Values | None]
    #: (n_vars,): the last levels of the discrete variables; 0 for the others, and where no value is known.
    last_levels: FloatArray
    #: dict of int to (n_rows, n_samples) array: values that were read already, by the number of their first variable:
    #: blocks of `block_columns`, if any.
    kept_blocks: dict[int, Values]
    block_columns: int
    n_jobs: int

    @cached_property
    def has_missing_level(self) -> BoolArray:
        """Which variables have a level, the last one, for missing values, (n_vars,)."""
        is_empty = (self.n_missing == self.table.n_samples) & (self.missing == "auto")
        return np.asarray((self.n_missing > 0) & (level_for_missing(self.table, self.missing) | is_empty))

    @cached_property
    def is_imputed(self) -> BoolArray:
        """Which variables have missing values that are drawn from the observed ones, (n_vars,)."""
        return np.asarray((self.n_missing > 0) & ~self.has_missing_level)

    def record(self, *, omit_missing: bool = False) -> dict[str, Any]:
        """Return, for the provenance, how many variables are cut, and how many have missing values, by treatment."""
        treated = {"omit" if omit_missing else "level": self.has_missing_level, "impute": self.is_imputed}
        counted = {treatment: int(of_column.sum()) for treatment, of_column in treated.items()}
        return {
            "n_cut": int((~self.is_discrete).sum()),
            "missing": {treatment: n for treatment, n in counted.items() if n},
        }

    def codes(self, discretization: int, out: CodeArray | None = None) -> DiscreteCodes:
        """Return the codes of one discretisation, 0 ... discretizations - 1.

        `out`, if given, is the C-contiguous (n_vars, n_samples) array to write them to.
        """
        d = check_int("discretization", discretization, low=0, high=self.discretizations - 1)
        codes = np.empty((self.table.n_vars, self.table.n_samples), dtype=np.uint8) if out is None else out

        def write(rows: slice) -> None:
            self.write_block(d, rows, codes[rows])

        map_in_threads(write, column_blocks(self.table, self.block_columns), self.n_jobs)
        return DiscreteCodes(codes, self.n_levels)

    def code_blocks(self, discretization: int) -> CodesByBlock:
        """Return the codes of one discretisation, made block by block when they are read."""
        d = check_int("discretization", discretization, low=0, high=self.discretizations - 1)
        return CodesByBlock(self, d)

    def write_block(self, d: int, rows: slice, codes: CodeArray) -> None:
        """Write the codes of some variables to `codes`, (n_rows, n_samples)."""
        whole = None if self.is_imputed[rows].any() else self.table.whole_numbers(rows)
        values = self.values(rows) if whole is None else whole
        thresholds = [
            self.thresholds[v, d] if levels is None else levels
            for v, levels in enumerate(self.level_thresholds[rows], start=rows.start)
        ]
        _count_thresholds_below(values, thresholds, codes)
        for row in np.flatnonzero(self.has_missing_level[rows]):
            is_missing = np.isnan(values[row]) if whole is None else whole[row] == MISSING_WHOLE
            codes[row, is_missing] = self.n_levels[rows.start + row] - 1

    def codes_of(self, d: int, variables: IntArray) -> DiscreteCodes:
        """Return the codes of some variables; neighbours of ascending ones are read together, as files have them."""
        codes = np.empty((len(variables), self.table.n_samples), dtype=np.uint8)
        for rows in _near_runs(variables):
            begin, end = int(variables[rows.start]), int(variables[rows.stop - 1]) + 1
            if end - begin == rows.stop - rows.start:
                self.write_block(d, slice(begin, end), codes[rows])
            else:
                block = np.empty((end - begin, self.table.n_samples), dtype=np.uint8)
                self.write_block(d, slice(begin, end), block)
                codes[rows] = block[variables[rows] - begin]
        return DiscreteCodes(codes, self.n_levels[variables])

    def cut_values(self, d: int, rows: slice) -> CutValues | None:
        """Return values and thresholds, if variables have equally many thresholds, at least one, and no missing values.

        Either all are discretised by rank, or all are discrete, as genotypes are.
        """
        if self.table.dtype.str[1:] not in COMPILED_TYPES or self.n_missing[rows].any():
            return None
        thresholds = self.thresholds[rows, d]
        if self.is_discrete[rows].any():
            levels = [found for found in self.level_thresholds[rows] if found is not None]
            if len(levels) < len(thresholds):
                return None
            if len({id(found) for found in levels}) == 1:  # the very same, as those of genotypes are
                thresholds = np.repeat(levels[0][np.newaxis], len(levels), axis=0)
            elif len({len(found) for found in levels}) == 1:
                thresholds = np.stack(levels)
            else:
                return None
            if not thresholds.shape[1]:
                return None
        whole = self.table.whole_numbers(rows)
        if whole is not None:
            return CutValues(whole, thresholds.astype(whole.dtype))
        return CutValues(self.values(rows), np.ascontiguousarray(thresholds))

    def values(self, rows: slice) -> Values:
        """Return the values of some variables, (n_rows, n_samples), missing ones drawn where they are imputed."""
        first = rows.start // self.block_columns * self.block_columns
        values = self.kept_blocks.get(first)
        if values is None or rows.stop > first + len(values):
            values = self.table.block(rows.start, rows.stop)
        else:
            values = values[rows.start - first : rows.stop - first]
        if self.n_missing[rows].any() and len(gaps := np.flatnonzero(self.is_imputed[rows])):
            return imputed(values, gaps, self.first_variable + self.table.numbers[rows], self.seed)
        return values


@dataclass(frozen=True, repr=False, eq=False)
class CodesByBlock:
    """The codes of one discretisation, made when they are read: a wide table's codes are never all in memory."""

    coder: Coder
    discretization: int

    @property
    def n_vars(self) -> int:
        return self.coder.table.n_vars

    @property
    def n_levels(self) -> IntArray:
        return self.coder.n_levels

    def blocks(self, n_jobs: int) -> list[slice]:
        """Cut the variables into the coder's blocks, or into smaller ones if there would be fewer than threads."""
        columns = min(self.coder.block_columns, max(1, -(-self.n_vars // n_jobs)))
        return column_blocks(self.coder.table, columns)

    def read(self, rows: slice) -> CodeArray:
        """Return the codes of some variables, (n_rows, n_samples)."""
        codes = np.empty((rows.stop - rows.start, self.coder.table.n_samples), dtype=np.uint8)
        self.coder.write_block(self.discretization, rows, codes)
        return codes

    def read_cut(self, rows: slice) -> CutValues | None:
        """Return values and thresholds instead of codes; None where codes follow from more than these."""
        return self.coder.cut_values(self.discretization, rows)


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
    columns: IntArray | None = None,
) -> Coder:
    """Survey every column of `table`, or some of them, and return the coder that makes their codes.

    - `divisions`, `discretizations`, `range_`, `seed`: the discretisation; `range_` as `resolve_range` gives it.
    - `discrete` ("auto", "none", "all", list of columns, or mask): variables that are coded as they are. "auto": bool,
      categorical and text columns, and numbers with at most max(3, divisions + 1) distinct values. A list holds names
      or numbers of columns, to which bool, categorical and text columns are added. A mask of n_vars bools is taken at
      its word.
    - `missing` ("error", "level", "impute" or "auto"): treatment of missing values: refuse them, give them a level of
      their own, or draw each from the observed values of its column. "auto": a level in columns of labels and in empty
      columns, and draws in columns of numbers.
    - `first_variable`: number of the first column in the streams of random numbers: for contrast variables, the number
      of real ones.
    - `n_jobs`: threads, here and in the coder.
    - `block_columns`: columns handled at a time. Changes no result.
    - `columns` (n,): survey these columns only, one by one: the coder then makes their codes alone, the same codes as
      otherwise.
    """
    divisions = check_int("divisions", divisions, low=1, high=MAX_LEVELS - 1)
    discretizations = check_int("discretizations", discretizations, low=1, high=MAX_DISCRETIZATIONS)
    range_ = check_real("range_", range_, low=0, high=1)
    check_choice("missing", missing, MISSING_CHOICES)
    forced = forced_kinds(discrete, table)
    if columns is not None:
        block_columns = 1
    elif block_columns is None:
        block_columns = _columns_at_once(table)

    survey = ColumnSurvey(table, divisions, discretizations, range_, seed, forced, missing, first_variable)
    if columns is None:
        survey.draw_ranks(survey.rank_blocks(), n_jobs)
        blocks = column_blocks(table, block_columns)
    else:
        blocks = [slice(v, v + 1) for v in np.unique(columns).tolist()]
        survey.draw_ranks(blocks, n_jobs)
    map_in_threads(survey.look_at_block, blocks, n_jobs)
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
        last_levels=survey.last_levels,
        kept_blocks=survey.kept_blocks,
        block_columns=block_columns,
        n_jobs=n_jobs,
    )


def _columns_at_once(table: Table) -> int:
    column_bytes = max(1, table.n_samples * table.dtype.itemsize)
    least = min(MIN_WHOLE_COLUMNS, MAX_WHOLE_BYTES // max(1, table.n_samples)) if table.has_whole_numbers else 0
    return max(MIN_BLOCK_COLUMNS, BLOCK_BYTES // column_bytes, least)


@described_by(ARGUMENTS)
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
    """Discretise the columns of a table: cut each by rank into a few levels.

    Parameters
    ----------
    discretizations
        Number of randomised discretisations.
    dimensions
        Number of variables in a tuple; only `suggest_range` uses it.
    discrete : {"auto", "none", "all"}, list of columns, or mask
        ...

        A mask of n_vars bools says so of every column.
    ...

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
    dimensions = check_int("dimensions", dimensions, low=1)
    seed = resolve_seed(random_state)
    threads = resolve_n_jobs(n_jobs)
    table = as_table(X)
    cuts = check_discretization(
        table.n_samples, dimensions=dimensions, divisions=divisions, discretizations=discretizations, range_=range_
    )
    coder = make_coder(table, **cuts, seed=seed, discrete=discrete, missing=missing, n_jobs=threads)
    codes = np.empty((coder.discretizations, table.n_vars, table.n_samples), dtype=np.uint8)
    for d in range(coder.discretizations):
        coder.codes(d, out=codes[d])
    return codes.transpose(0, 2, 1)


def _near_runs(variables: IntArray) -> Iterator[slice]:
    """Cut ascending variables into runs of near ones, short enough to be read at once."""
    begin = 0
    for i in range(1, len(variables) + 1):
        if (
            i == len(variables)
            or not 0 < variables[i] - variables[i - 1] <= _NEAR
            or variables[i] - variables[begin] >= _READ_AT_ONCE
        ):
            yield slice(begin, i)
            begin = i


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
