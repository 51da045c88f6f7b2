"""The first pass over a table's columns: missing values, distinct values, discrete columns, and all thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay import _core
from interplay.base.arrays import COMPILED_TYPES, MAX_LEVELS, BoolArray, FloatArray, IntArray
from interplay.base.checks import Problem, ProblemsError, shown, warn
from interplay.base.jobs import map_in_threads
from interplay.base.seeds import Purpose, random_streams
from interplay.data.study.columns import FEW_VALUES, ColumnKind
from interplay.data.study.rank_thresholds import even_ranks, threshold_ranks
from interplay.data.study.table import MISSING_WHOLE, Table

Values = npt.NDArray[Any]

#: Up to this many thresholds are selected without sorting, in columns of at least this many samples.
FEW_RANKS = 4
MANY_SAMPLES = 256

#: A table of at most this many bytes is kept for the second pass, block by block as it was read: cutting out and
#: transposing takes a good part of a small search.
MAX_KEPT_BYTES = 2**24

#: Ranks are drawn for blocks of columns that have about this many levels in all discretisations together.
LEVELS_AT_ONCE = 2**16


class ColumnSurvey:
    """The first pass and its findings about each column; blocks come in any order."""

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
        self._range = range_
        self._seed = seed
        self._forced = forced
        self._missing = missing
        self._numbers = first_variable + table.numbers
        n_vars = table.n_vars
        shape = (n_vars, discretizations, divisions)
        self._ranks = np.empty(shape, dtype=np.int32 if table.n_samples < 2**31 else np.int64)
        self.thresholds: Values = np.zeros(shape, dtype=table.dtype)
        self.level_thresholds: list[Values | None] = [None] * n_vars
        self.last_levels: FloatArray = np.zeros(n_vars)
        self.kept_blocks: dict[int, Values] = {}
        self._keeps_blocks = n_vars * table.n_samples * table.dtype.itemsize <= MAX_KEPT_BYTES
        # Genotypes all have the same levels: keep them once.
        self._known_levels: dict[bytes, Values] = {}
        self.n_levels: IntArray = np.zeros(n_vars, dtype=np.int64)
        self.n_missing: IntArray = np.zeros(n_vars, dtype=np.int64)
        self.is_discrete: BoolArray = np.zeros(n_vars, dtype=np.bool_)

    def draw_ranks(self, blocks: Sequence[slice], n_jobs: int) -> None:
        """Draw the thresholds' ranks of columns without missing values; `blocks` as `rank_blocks` cuts them."""
        if self._range == 0:  # nothing is random, and all columns have the same ranks
            self._ranks[:] = even_ranks(self._table.n_samples, self._divisions)
            return

        def draw(rows: slice) -> None:
            numbers = self._numbers[rows]
            self._ranks[rows] = self._rank_rule(numbers, np.full(len(numbers), self._table.n_samples))

        map_in_threads(draw, blocks, n_jobs)

    def rank_blocks(self) -> list[slice]:
        """Cut all columns into blocks for `draw_ranks`, which draws for many at a time."""
        levels_per_column = self._ranks.shape[1] * (self._divisions + 1)
        return column_blocks(self._table, max(1, LEVELS_AT_ONCE // levels_per_column))

    def look_at_block(self, rows: slice) -> None:
        """Find the block's missing values, distinct values and thresholds."""
        whole = self._table.whole_numbers(rows)
        if whole is not None and whole.min(initial=0) > MISSING_WHOLE:
            is_ranked, is_left = self._look_once(whole, rows.start, self._forced[rows])
            if not (is_ranked | is_left).any():
                return
        values = self._table.block(rows.start, rows.stop)
        if self._keeps_blocks:
            self.kept_blocks[rows.start] = values
        is_ranked, is_left = self._look_once(values, rows.start, self._forced[rows])
        ranked = np.flatnonzero(is_ranked)
        if len(ranked) and not (self._has_few_ranks() and self._find_thresholds(values, rows.start, ranked)):
            is_left |= is_ranked
        left = np.flatnonzero(is_left)
        if len(left):
            self._look_at_sorted(values, rows.start, left)

    def _look_at_sorted(self, values: Values, start: int, chosen: IntArray) -> None:
        """Sort some rows of a block; find their missing values, distinct values and thresholds."""
        in_order = _sorted_rows(values if len(chosen) == len(values) else values[chosen])
        variables = start + chosen
        n_observed = _count_observed(in_order)
        gaps = np.flatnonzero(n_observed < values.shape[1])
        self.n_missing[variables] = values.shape[1] - n_observed
        if len(gaps) and self._missing in ("impute", "auto"):
            has_level = level_for_missing(self._table, self._missing)[variables[gaps]]
            fillable = gaps[(n_observed[gaps] > 0) & ~has_level]
            numbers = self._numbers[start : start + len(values)]
            filled = imputed(values, chosen[fillable], numbers, self._seed)
            in_order[fillable] = _sorted_rows(filled[chosen[fillable]])
            n_observed[fillable] = values.shape[1]

        is_step = in_order[:, 1:] != in_order[:, :-1]
        if len(gaps):  # A NaN differs from its neighbour, and must not count.
            is_step &= np.arange(1, values.shape[1]) < n_observed[:, None]
        n_distinct = np.count_nonzero(is_step, axis=1) + (n_observed > 0)

        forced = self._forced[variables]
        is_discrete = np.where(forced < 0, n_distinct <= self._few, forced > 0)
        self.is_discrete[variables] = is_discrete
        has_own_level = (n_observed < values.shape[1]).astype(np.int64)
        self.n_levels[variables] = np.where(is_discrete, n_distinct, self._divisions + 1) + has_own_level

        for row in np.flatnonzero(is_discrete & (n_distinct <= MAX_LEVELS)):
            # The value before each step is a level that is not the last.
            self._keep_levels(int(variables[row]), in_order[row, :-1][is_step[row]])
        known = np.flatnonzero(is_discrete & (n_observed > 0))
        self.last_levels[variables[known]] = in_order[known, n_observed[known] - 1]
        self._keep_thresholds(variables, in_order, n_observed, np.flatnonzero(~is_discrete))

    @property
    def _few(self) -> int:
        """Upper limit of the distinct values of a column that "auto" takes as discrete."""
        return max(FEW_VALUES, self._divisions + 1)

    def _keep_levels(self, variable: int, levels: Values) -> None:
        """Keep the values of a discrete column, but its last."""
        self.level_thresholds[variable] = self._known_levels.setdefault(levels.tobytes(), levels)

    def _keep_all_levels(self, variables: IntArray, levels: Values) -> None:
        """Keep the values of discrete columns, but their last, (n_variables, n_values - 1); most are the same."""
        if not len(variables):
            return
        same = (levels == levels[0]).all(axis=1)
        self._keep_levels(int(variables[0]), levels[0].copy())
        common = self.level_thresholds[int(variables[0])]
        for variable in variables[same].tolist():
            self.level_thresholds[variable] = common
        for row in np.flatnonzero(~same).tolist():
            self._keep_levels(int(variables[row]), levels[row].copy())

    def _has_few_ranks(self) -> bool:
        """Say whether selecting the values at these ranks is cheaper than sorting."""
        return self._ranks.shape[1] * self._ranks.shape[2] <= FEW_RANKS

    def _look_once(self, values: Values, start: int, forced: npt.NDArray[np.int8]) -> tuple[BoolArray, BoolArray]:
        """Find, without sorting, the columns of few values with their levels, and the columns of many values.

        Returns
        -------
        (n_rows,) bool, twice
            Whether a column is to be discretised by rank; whether it has to be sorted to know.
        """
        if values.dtype.str[1:] not in COMPILED_TYPES or values.shape[1] < MANY_SAMPLES:
            return np.zeros(len(forced), dtype=np.bool_), np.ones(len(forced), dtype=np.bool_)
        is_ranked = forced == 0
        unsure = np.flatnonzero(forced < 0)
        if len(unsure):  # the first samples mostly show that values are many
            first = np.sort(values[unsure, : 4 * self._few], axis=1)
            is_ranked[unsure] = np.count_nonzero(first[:, 1:] > first[:, :-1], axis=1) >= self._few
        is_left = ~is_ranked
        chosen = np.flatnonzero(is_left)
        if not len(chosen) or self._few != FEW_VALUES:
            return is_ranked, is_left
        found = np.empty((len(chosen), FEW_VALUES), dtype=values.dtype)
        n_found = np.empty(len(chosen), dtype=np.int64)
        _core.few_values(values if len(chosen) == len(values) else values[chosen], found, n_found)
        is_ranked[chosen] = (n_found > FEW_VALUES) & (forced[chosen] < 0)
        are_few = np.flatnonzero((n_found > 0) & (n_found <= FEW_VALUES))
        self.is_discrete[start + chosen[are_few]] = True
        self.n_levels[start + chosen[are_few]] = n_found[are_few]
        for n_values in range(1, FEW_VALUES + 1):
            of_size = are_few[n_found[are_few] == n_values]
            levels = found[of_size, : n_values - 1].astype(self._table.dtype)
            self._keep_all_levels(start + chosen[of_size], levels)
            self.last_levels[start + chosen[of_size]] = found[of_size, n_values - 1]
        is_left[chosen] = ~is_ranked[chosen]
        is_left[chosen[are_few]] = False
        return is_ranked, is_left

    def _find_thresholds(self, values: Values, start: int, chosen: IntArray) -> bool:
        """Find the values of some columns at the ranks drawn; false if values are missing."""
        some = values if len(chosen) == len(values) else values[chosen]
        variables = start + chosen
        shape = (len(chosen), *self.thresholds.shape[1:])
        found = np.empty((len(chosen), shape[1] * shape[2]), dtype=values.dtype)
        if not _core.rank_values(some, self._ranks[variables].reshape(found.shape).astype(np.int64), found):
            return False
        self.thresholds[variables] = found.reshape(shape)
        self.n_levels[variables] = self._divisions + 1
        return True

    def _keep_thresholds(self, variables: IntArray, in_order: Values, n_observed: IntArray, ranked: IntArray) -> None:
        ranks = self._ranks[variables[ranked]].astype(np.int64)
        short = np.flatnonzero(n_observed[ranked] < in_order.shape[1])
        if len(short):
            ranks[short] = self._rank_rule(self._numbers[variables[ranked[short]]], n_observed[ranked[short]])
        self.thresholds[variables[ranked]] = in_order[ranked[:, None, None], ranks]

    def check(self) -> None:
        """Refuse columns with missing values, or too many levels, as the settings say: all of them in one error."""
        problems = column_problems(
            self._table,
            n_missing=self.n_missing,
            n_levels=self.n_levels,
            is_discrete=self.is_discrete,
            missing=self._missing,
            divisions=self._divisions,
        )
        if problems:
            raise ProblemsError(problems)


def level_for_missing(table: Table, missing: str) -> BoolArray:
    """Return which columns have a level of their own for missing values, if they have any, (n_vars,)."""
    return table.is_label if missing == "auto" else np.full(table.n_vars, missing == "level")


def forced_kinds(discrete: Any, table: Table) -> npt.NDArray[np.int8]:
    """Return, per column, 1 (discrete), 0 (by rank) or -1 (to be seen from its values)."""
    wanted = "'auto', 'none', 'all', a list of columns or a mask"
    is_label = table.is_label.astype(np.int8)
    if isinstance(discrete, str):
        if discrete == "auto":
            return 2 * is_label - 1
        if discrete == "all":
            return np.ones_like(is_label)
        if discrete != "none":
            raise ValueError(f"discrete must be {wanted}, not {shown(discrete)}")
        forced = np.zeros_like(is_label)
    else:
        try:
            entries = list(discrete)
        except TypeError:
            raise TypeError(f"discrete must be {wanted}, not {shown(discrete)}") from None
        if not entries or not all(isinstance(entry, bool | np.bool_) for entry in entries):
            is_label[table.numbers_of(entries, "discrete")] = 1
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
        raise ValueError(
            f"discrete must include column {shown(name)} of X, whose labels have no order: use discrete='auto'"
        )
    return forced


def column_blocks(table: Table, columns: int) -> list[slice]:
    """Cut the columns into blocks of at most `columns`."""
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


def imputed(values: Values, gaps: IntArray, numbers: IntArray, seed: int) -> Values:
    """Fill the rows `gaps`: each missing value is drawn from the row's observed ones.

    The stream depends on the seed and the variable's number alone, so every pass fills in the same values.
    """
    filled = values.copy()
    for row, stream in zip(gaps, random_streams(seed, Purpose.IMPUTE, numbers[gaps].tolist()), strict=True):
        missing = np.isnan(values[row])
        observed = values[row][~missing]
        filled[row, missing] = observed[stream.randint(0, len(observed), np.count_nonzero(missing))]
    return filled


#: So many columns of each problem are named.
_COLUMNS_NAMED = 3


def column_problems(
    table: Table, *, n_missing: IntArray, n_levels: IntArray, is_discrete: BoolArray, missing: str, divisions: int
) -> list[Problem]:
    """Return problems with missing values and with numbers of levels; arrays have an entry per variable."""
    return [*_gaps(table, n_missing, missing), *_too_many_levels(table, n_levels, is_discrete, divisions)]


def _gaps(table: Table, n_missing: IntArray, missing: str) -> Iterator[Problem]:
    if missing in ("level", "auto") or not n_missing.any():
        return
    is_empty = n_missing == table.n_samples
    empty = [table.names[v] for v in np.flatnonzero(is_empty)]
    if empty:
        refused = "missing='impute' cannot be used, because " if missing == "impute" else ""
        no_values = "no values" if refused else "only missing values"
        which = f"column {shown(empty[0])} of X has" if len(empty) == 1 else f"columns {_listed(empty)} of X have"
        them = "it" if len(empty) == 1 else "them"
        yield Problem(f"{refused}{which} {no_values}: leave {them} out", {"drop": empty})
    some = np.flatnonzero((n_missing > 0) & ~is_empty)
    if len(some) and missing == "error":
        count = int(n_missing[some].sum())
        values = f"{count} missing value{'s' * (count > 1)}"
        columns = f"{len(some)} column{'s' * (len(some) > 1)}"
        yield Problem(
            f"X has {values} in {columns} ({_listed([table.names[v] for v in some])}): fill the gaps, or use "
            f"missing='level' or missing='impute' ({_first_gap(table, int(some[0]), int(n_missing[some[0]]))})",
            {"missing": "level"},
        )


def warn_of_empty(table: Table, n_missing: IntArray) -> None:
    """Warn of columns without values, which settings accept as constants."""
    empty = [table.names[v] for v in np.flatnonzero(n_missing == table.n_samples)]
    if empty:
        which = f"column {shown(empty[0])} of X has" if len(empty) == 1 else f"columns {_listed(empty)} of X have"
        warn(f"{which} no values: nothing can be found in {'it' if len(empty) == 1 else 'them'}")


def _first_gap(table: Table, v: int, count: int) -> str:
    """Say where the first missing value of a variable is."""
    first = int(np.argmax(np.isnan(table.block(v, v + 1)[0])))
    others = f"; there are {count} in that column" if count > 1 else ""
    return f"the first: column {shown(table.names[v])}, {table.place(first)}{others}"


def _too_many_levels(table: Table, n_levels: IntArray, is_discrete: BoolArray, divisions: int) -> Iterator[Problem]:
    too_many = np.flatnonzero(n_levels > MAX_LEVELS)
    cut = too_many[~is_discrete[too_many]]
    if len(cut):
        yield Problem(
            f"divisions must be at most {MAX_LEVELS - 2} with missing='level', not {divisions}: column "
            f"{shown(table.names[cut[0]])} of X needs a level for missing values",
            {},
        )
    is_label = table.kinds[too_many] == ColumnKind.LABEL
    labels, numbers = too_many[is_label], too_many[is_discrete[too_many] & ~is_label]
    if len(labels):
        advice = (
            "an identifier? leave it out (or make it numbers, if it is numbers kept as text)",
            "identifiers or free texts? leave them out (or make them numbers, if they are numbers kept as text)",
        )
        said = _of_levels(table, labels, n_levels, *advice)
        yield Problem(said, {"drop": [table.names[v] for v in labels]})
    if len(numbers):
        advice = (
            "take it out of discrete, so that it is discretised by rank",
            "take them out of discrete, so that they are discretised by rank",
        )
        yield Problem(_of_levels(table, numbers, n_levels, *advice), {})


def _of_levels(table: Table, variables: IntArray, n_levels: IntArray, one: str, several: str) -> str:
    """Name columns of too many levels, with advice for `one` or `several`."""
    listed, most = _listed([table.names[v] for v in variables]), n_levels[variables].max()
    if len(variables) == 1:
        return f"column {listed} of X has {most} levels, more than {MAX_LEVELS}: {one}"
    return f"columns {listed} of X have more than {MAX_LEVELS} levels (up to {most}): {several}"


def _listed(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names[:_COLUMNS_NAMED]) + (", ..." if len(names) > _COLUMNS_NAMED else "")
