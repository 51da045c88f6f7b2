"""Leads, and the tables that their samples have → the neighbours of each lead, as columns of their effects.

Neighbours are the columns within a window of positions around a member, and the columns most correlated with one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.data.models.linear import bent_columns
from interplay.data.study.positions import NOWHERE, Positions
from interplay.data.study.table import Table
from interplay.infer.linkage import linkage_rows, scaled_rows, squared_associations
from interplay.infer.neighbour_screen import Neighbours

#: Columns that are read at a time.
_BLOCK = 2000

#: Without positions, neighbours have at least this r² with a member, and a correlation beyond chance.
_LEAST_R2 = 0.01
TYPED_CHI2 = 10.8  # χ² of one degree of freedom, p = 0.001

#: Beyond the window, a neighbour's correlation with a member has a p-value below this, divided by all columns.
_FAR_BELOW = 0.05

#: Columns of effects that are kept at a time, in bytes.
_MAX_KEPT_BYTES = 1 << 29

#: Whole numbers within this range are dosages or grades, compared as they are; others by their ranks.
_MAX_RANGE = 4

#: The most frequent levels of a label have an effect of their own, the others one together.
_MAX_LEVELS = 8

#: Powers of ranks: effects that rise, bend and turn. Dosages and grades have two.
_MAX_POWERS = 4

#: A column explains the correlation of two members if it has at least this r² with both, and their partial correlation
#: given the column, times the root of the number of samples, is smaller than this.
_BRIDGE_R2 = 0.2
_BRIDGE_Z = 2.5

Rows = npt.NDArray[np.float32]


@dataclass
class ColumnPool:
    """The columns of one or two tables of the same samples."""

    tables: list[Table]
    #: Of the columns of each table.
    positions: list[Positions | None]
    #: Put before the names of the columns of each table.
    prefixes: list[str]
    _kept: _KeptRows | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def n_samples(self) -> int:
        return self.tables[0].n_samples

    @property
    def starts(self) -> list[int]:
        """The number of the first column of each table, with the end."""
        starts = [0]
        for table in self.tables:
            starts.append(starts[-1] + table.n_vars)
        return starts

    def name(self, number: int) -> str:
        """Return the name of a column, by its number in the pool."""
        which = int(np.searchsorted(self.starts, number, side="right")) - 1
        return self.prefixes[which] + self.tables[which].names[number - self.starts[which]]

    def effects(self, numbers: IntArray) -> Neighbours:
        """Return some columns as neighbours, by the columns of their effects."""
        with self._lock:
            if self._kept is None or not self._kept.has_room_for(numbers):
                # Neighbours that were handed out before keep the rows that they have.
                self._kept = _KeptRows(self, at_least=numbers)
            new = np.sort(self._kept.lacks(numbers))
            for table, start, end in zip(self.tables, self.starts, self.starts[1:], strict=False):
                here = new[(new >= start) & (new < end)]
                for some in np.array_split(here, -(-len(here) // 256) or 1):
                    self._kept.add(some, _effect_rows(table, some - start))
            return self._kept.of(numbers)

    def smooth(self, number: int, n_informative: int) -> FloatArray:
        """Return the columns of an effect of any shape, (n_samples, n): of a number bent lines, of a label levels."""
        which = int(np.searchsorted(self.starts, number, side="right")) - 1
        table, place = self.tables[which], np.array([number - self.starts[which]])
        if table.is_label[place[0]]:
            return np.asarray(_effect_rows(table, place)[0].T, dtype=np.float64)
        values = table.columns(place)[0].astype(np.float64)
        columns = bent_columns(values, n_informative)
        is_missing = np.isnan(values)
        return np.column_stack([columns, is_missing]) if is_missing.any() else columns

    def blocks(self) -> Iterator[tuple[int, Rows, IntArray, Positions | None]]:
        """Yield the columns block by block: number of the first, rows of their linkage, positions."""
        for table, start, where in zip(self.tables, self.starts, self.positions, strict=False):
            for first in range(0, table.n_vars, _BLOCK):
                some = np.arange(first, min(first + _BLOCK, table.n_vars))
                rows, starts = linkage_rows(table, some, _need_ranks(table, some), n_used=table.n_samples)
                yield start + first, rows, starts, None if where is None else where.of(some)


class _KeptRows:
    """Columns of effects that leads share, as rows of one array."""

    def __init__(self, pool: ColumnPool, *, at_least: IntArray) -> None:
        labels = np.concatenate([table.is_label for table in pool.tables])
        self._size: IntArray = np.where(labels, _MAX_LEVELS, _MAX_POWERS)  # at most
        self._start = np.full(len(labels), -1, dtype=np.int64)
        most = min(_MAX_KEPT_BYTES // (4 * max(pool.n_samples, 1)), int(self._size.sum()))
        n_rows = max(most, int(self._size[at_least].sum()))
        self._rows = np.empty((n_rows, pool.n_samples), dtype=np.float32)
        self._own = np.zeros((n_rows, int(self._size.max(initial=1))))
        self._n_used = 0

    def lacks(self, numbers: IntArray) -> IntArray:
        return numbers[self._start[numbers] < 0]

    def has_room_for(self, numbers: IntArray) -> bool:
        return self._n_used + int(self._size[self.lacks(numbers)].sum()) <= len(self._rows)

    def add(self, numbers: IntArray, parts: list[Rows]) -> None:
        """Add the rows of some columns."""
        for number, part in zip(numbers.tolist(), parts, strict=True):
            here = slice(self._n_used, self._n_used + len(part))
            self._rows[here] = part
            wide = part.astype(np.float64)
            self._own[here, : len(part)] = wide @ wide.T
            self._start[number], self._size[number] = here.start, len(part)
            self._n_used = here.stop

    def of(self, numbers: IntArray) -> Neighbours:
        sizes = self._size[numbers]
        first = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(int(first[-1])) + np.repeat(self._start[numbers] - first[:-1], sizes)
        return Neighbours(self._rows, rows, first, self._own)


def find_neighbours(
    pool: ColumnPool,
    tuples: IntArray,
    members: IntArray,
    rows: Rows,
    first: IntArray,
    places: Positions | None,
    *,
    window: float | None,
    n_most: int,
    strength_of: Callable[[IntArray], FloatArray] | None = None,
) -> list[IntArray]:
    """Return the neighbours of each tuple, as numbers in the pool, most correlated first.

    - `tuples` (n, k): places in `members`.
    - `members` (m,): their numbers in the pool.
    - `rows`, `first`: their linkage, as `linkage_rows` makes it.
    - `places`: of the members.
    - `window`: greatest distance of a neighbour from a member, on one chromosome; columns that are correlated with a
      member, by more than chance would do with any column, are neighbours anywhere.
    - `strength_of`: of columns by their numbers: the strongest of the correlated ones are returned, in place of the
      most correlated.
    """
    from scipy.special import chdtri

    n = len(tuples)
    best = np.full((n, n_most), -1.0, dtype=np.float32)
    which = np.full((n, n_most), -1, dtype=np.int64)
    has_window = window is not None and places is not None
    # Of all columns of a genome, very many are correlated a little by chance.
    least_chi2 = max(TYPED_CHI2, float(chdtri(1, _FAR_BELOW / max(pool.starts[-1], 1)))) if has_window else TYPED_CHI2
    least = max(_LEAST_R2, least_chi2 / pool.n_samples)
    for start, block, starts, where in pool.blocks():
        r2 = squared_associations(rows, first, block, starts)
        numbers = start + np.arange(len(starts) - 1)
        # Populations and relatives correlate columns of different chromosomes.
        r2 = np.where(r2 >= least, r2, -1.0)
        if window is not None and places is not None:
            r2 = np.maximum(r2, np.where(_are_near(places, where, len(numbers), window), 0.0, -1.0))
        of_block = None
        if strength_of is not None and len(linked := np.flatnonzero(r2.max(axis=0, initial=-1.0) >= 0)):
            of_block = np.full(len(numbers), -1.0)
            of_block[linked] = strength_of(numbers[linked])
        for row, some in enumerate(tuples):
            strength = r2[some].max(axis=0)
            if of_block is not None:
                strength = np.where(strength >= 0, of_block, -1.0)
            strength[np.isin(numbers, members[some])] = -1.0
            found = np.flatnonzero(strength > best[row, -1])
            if not len(found):
                continue
            both = np.concatenate([best[row], strength[found].astype(np.float32)])
            order = np.argsort(-both, kind="stable")[:n_most]
            which[row] = np.concatenate([which[row], numbers[found]])[order]
            best[row] = both[order]
    return [of[of >= 0] for of in which]


def _are_near(members: Positions, block: Positions | None, n: int, window: float) -> BoolArray:
    if block is None:
        return np.zeros((len(members.chromosome), n), dtype=bool)
    labels = {label: number for number, label in enumerate(members.labels)}
    same = np.array([labels.get(block.labels[c], -2) if c != NOWHERE else -2 for c in block.chromosome.tolist()])
    near = np.abs(members.position[:, np.newaxis] - block.position) <= window
    return np.asarray((members.chromosome[:, np.newaxis] == same) & near)


def bridging(correlations: FloatArray, of_members: float, n_samples: int) -> list[int]:
    """Return the neighbours, three at most, that explain the correlation of two members.

    - `correlations` (n_neighbours, 2): of neighbours with the members.
    - `of_members`: of the members with each other.
    """
    with_a, with_b = correlations.T
    outside = (1 - with_a**2) * (1 - with_b**2)
    partial = (of_members - with_a * with_b) / np.sqrt(np.maximum(outside, 1e-12))
    tags = (np.minimum(with_a**2, with_b**2) >= _BRIDGE_R2) & (outside > 1e-6)
    is_bridge = tags & (np.abs(partial) * np.sqrt(n_samples) < _BRIDGE_Z)
    order = np.argsort(np.abs(partial), kind="stable")
    return [int(c) for c in order if is_bridge[c]][:3]


def _need_ranks(table: Table, some: IntArray) -> BoolArray:
    values = table.columns(some)
    if values.dtype.kind in "iub":
        low, high = values.min(axis=1, initial=0), values.max(axis=1, initial=0)
        return np.asarray(high.astype(np.float64) - low > _MAX_RANGE)
    with np.errstate(invalid="ignore"):
        whole = ((values == np.round(values)) | np.isnan(values)).all(axis=1)
        low, high = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)
        return np.asarray(~(whole & (high - low <= _MAX_RANGE)))


def _effect_rows(table: Table, some: IntArray) -> list[Rows]:
    """Return the columns of effects of columns: values and squares, four powers of ranks, or levels of labels."""
    if not len(some):
        return []
    values = table.columns(some)
    ranked, is_label = _need_ranks(table, some), table.is_label[some]
    linear = np.zeros(values.shape)
    for is_ranked in (False, True):
        of_kind = np.flatnonzero((ranked == is_ranked) & ~is_label)
        if len(of_kind):
            linear[of_kind] = scaled_rows(values[of_kind].astype(np.float64), is_ranked)
    is_missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)
    squares = scaled_rows(np.where(is_missing, np.nan, linear**2), False)
    return [
        _level_effects(values[i])
        if is_label[i]
        else np.stack([linear[i], squares[i], *(_higher_powers(linear[i]) if ranked[i] else ())]).astype(np.float32)
        for i in range(len(some))
    ]


def _higher_powers(linear: FloatArray) -> list[FloatArray]:
    squares = linear * linear
    return list(scaled_rows(np.stack([squares * linear, squares * squares]), False))


def _level_effects(values: npt.NDArray[np.generic]) -> Rows:
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")[1 : _MAX_LEVELS + 1]
    rows = np.asarray(codes.reshape(-1) == order[:, np.newaxis], dtype=np.float32)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))
