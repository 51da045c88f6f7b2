"""Rows of tuples above fixed thresholds, on one device: bound all tuples, or take all, and score the survivors."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tuples import TupleRows, TupleTiles, summed
from interplay.search.engines.cuda.device_state import ChosenTiles, OnDone, SearchData
from interplay.search.engines.cuda.device_tuples import (
    GAINS,
    PLANES_SHARE,
    STATISTIC,
    DeviceTuples,
    launch_gains,
    launch_scores,
)
from interplay.search.engines.cuda.tables import entropy_terms
from interplay.search.engines.routing import end_of_chunk
from interplay.search.engines.sinks import TupleFormula

#: Tuples that may wait to be scored; each may become a row for every member.
_CAPACITY = 1 << 21

#: At most this many rows, of at most this many tuples, are sorted on the host: CuPy compiles its sort for the device at
#: the first call, which takes seconds.
_FEW_ROWS, _FEW_TUPLES = 1 << 12, 1 << 16

#: No gain is as high: as a threshold it lists nothing, as infinity does, and floats can be added to it.
_NEVER = 1e30


class _TooManyRows(Exception):
    """A chunk of tiles has more rows than were asked for."""


class DeviceListing(DeviceTuples):
    """A list of tuples on the current device.

    Parameters
    ----------
    min_value : (n_vars,) float64
        The threshold of each variable.
    formula : TupleFormula, optional
        The statistic to list instead of the gains of the members; the tables are then of this statistic.
    every_member : bool
        List each tuple once, if all its members reach their thresholds.
    """

    # Thresholds do not rise.
    samples = False

    def __init__(
        self,
        data: SearchData,
        tiles: TupleTiles,
        *,
        min_value: FloatArray,
        formula: TupleFormula | None = None,
        every_member: bool = False,
        planes_share: float = PLANES_SHARE,
    ) -> None:
        thresholds = np.clip(min_value.astype(np.float64), -_NEVER, _NEVER)
        # A statistic has no bound. Where every threshold is ≤ 0, pruning cannot help. Of one class there is no gain.
        self._takes_all = formula is not None or bool(np.all(thresholds <= 0)) or data.planes.cell_size == 1
        super().__init__(
            data,
            tiles,
            best=np.repeat(thresholds[:, np.newaxis], len(tiles.partner_cells), axis=1),
            capacity=_CAPACITY,
            every_member=every_member,
            bounds=not self._takes_all,
            scores=GAINS if formula is None else STATISTIC,
            planes_share=planes_share,
        )
        self._formula = formula
        self._order_ascends = bool(np.all(np.diff(tiles.order) > 0))
        if formula is not None:
            cupy = self._state.cupy
            self._multiplicities = cupy.asarray(data.tables.multiplicities.astype(np.int32))
            self._coefficients = cupy.asarray(formula.coefficient_of_size)
            self._terms = entropy_terms(data.planes.n_samples, data.pseudocount, self._plan.records.n_cells, formula)
        self._most_rows = 0
        self._n_rows = 0
        #: Of each launch the rows' tiles, positions of the members, position of the variable, and value; on the host
        #: where they are few.
        self._found: list[tuple[Any, Any, Any, Any]] = []

    def rows(self, begin: int, end: int, most_rows: int, on_done: OnDone) -> TupleRows | None:
        """List tiles `begin` … `end`; None where there are several, with more than `most_rows` rows."""
        self._most_rows = most_rows if end > begin + 1 else np.iinfo(np.int64).max
        self._n_rows = 0
        done = 0.0

        def note(tuples: float) -> None:
            nonlocal done
            done += tuples
            on_done(tuples)

        try:
            for which in self._state.stretches(np.arange(begin, end)):
                self._list_stretch(which, note)
            return self._sorted(begin, end)
        except _TooManyRows:
            on_done(-done)
            return None
        finally:
            self._found.clear()

    def _list_stretch(self, stretch: IntArray, on_done: OnDone) -> None:
        """List tiles whose planes are on the device."""
        if self._takes_all:
            self._score_all(stretch, on_done)
            return
        for which, variant in self._plan.by_variant(stretch):
            if variant is None:
                self._score_all(which, on_done)
            else:
                self._search_tiles(which, variant, on_done)

    def _score(self, tiles: ChosenTiles) -> int:
        """Score the tuples in the buffer exactly and keep the rows; return how many tuples there were."""
        state = self._state
        if self._formula is None:
            launch_gains(state, tiles, best_is_fixed=True)
        else:
            self._launch_statistic(tiles, self._formula)
        n_found, n_rows = state.counters[:2].get().tolist()
        # Tuples that do not fit into the buffer come again, in smaller launches.
        if n_rows and n_found <= state.capacity:
            slots, numbers, values = (candidates[:n_rows] for candidates in state.candidates)
            tile_numbers = tiles.which.astype(np.int32)
            if n_rows <= _FEW_ROWS and n_found <= _FEW_TUPLES:
                tuples = state.tuples[:n_found].get()[numbers.get()]
                slots, values = slots.get(), values.get()
            else:
                tuples, values = state.tuples[numbers], values.copy()
                tile_numbers = state.cupy.asarray(tile_numbers)
            self._found.append((tile_numbers[tuples[:, 0]], tuples[:, 1:], slots // state.n_groups, values))
            self._n_rows += n_rows
            if self._n_rows > self._most_rows:
                raise _TooManyRows
        return int(n_found)

    def _launch_statistic(self, tiles: ChosenTiles, formula: TupleFormula) -> None:
        state = self._state
        tables = (
            *state.tables,
            self._multiplicities,
            np.int32(len(self._multiplicities)),
            np.float64(state.data.tables.unit),
            self._coefficients,
            np.int32(formula.with_decision),
            state.cupy.asarray(np.ascontiguousarray(self._terms[tiles.which])),
        )
        launch_scores(state, STATISTIC, tables, tiles, (state.best,))

    def _sorted(self, begin: int, end: int) -> TupleRows:
        """Return the rows found: tile by tile, each by tuple and variable."""
        if not self._found:
            none = TupleRows.none(self._plan.dimensions)
            return TupleRows(none.tuples, none.variable, none.value, np.zeros(end - begin, dtype=np.int64))
        xp = np if all(isinstance(part[0], np.ndarray) for part in self._found) else self._state.cupy
        tile, positions, position, value = (
            xp.concatenate([xp.asarray(part) for part in parts]) for parts in zip(*self._found, strict=True)
        )
        self._found.clear()
        order_of = self._state.tiles.order.astype(np.int32) if xp is np else self._state.order
        tuples, variable = order_of[positions], order_of[position]
        if not self._order_ascends:
            tuples = xp.sort(tuples, axis=1)
        order = xp.lexsort(xp.stack([variable, *tuples.T[::-1], tile]))
        rows_of_tile = _on_host(xp.bincount(tile - np.int32(begin), minlength=end - begin)).astype(np.int64)
        return TupleRows(
            tuples=_on_host(tuples[order]),
            variable=_on_host(variable[order]),
            value=_on_host(value[order]),
            rows_of_tile=rows_of_tile,
        )


def _on_host(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.get()


#: Rows of a chunk at most, even if more are asked for: they are sorted on the device.
_MAX_ROWS = 1 << 22

#: A chunk may have this many times the tuples of the largest before it: a first guess of the rows may be wrong.
_MAX_GROWTH = 8.0

#: Near the end a chunk is still sized for this share of the rows asked for; surplus rows are thrown away.
_LAST_SHARE = 1 / 16


class ListingChunks:
    """Hands out the tiles in order, as many at a time as should have a fitting number of rows.

    Where the rows become too many, no further tile is taken: after the tile with the row number `max_rows`, as one
    thread of the CPU engine has it.

    Parameters
    ----------
    n_tuples : (n_tiles,) float64
    dimensions : int
    max_rows : int, optional
    n_workers : int
        Threads that take chunks.
    """

    def __init__(self, n_tuples: FloatArray, dimensions: int, max_rows: int | None, n_workers: int = 1) -> None:
        self._before = summed(n_tuples)
        self._dimensions = dimensions
        self._max_rows = max_rows
        self._n_workers = n_workers
        self._wanted = _MAX_ROWS if max_rows is None else min(max_rows, _MAX_ROWS)
        self._next_tile = 0
        self._again: list[tuple[int, int]] = []
        self._parts: dict[int, TupleRows] = {}
        self._tuples_seen = self._largest = 0.0
        self._rows_seen = 0
        self._lock = threading.Lock()

    @property
    def most_rows(self) -> int:
        """A chunk of several tiles with more rows should be put back."""
        return 2 * self._wanted

    def take(self) -> tuple[int, int] | None:
        """Return the first tile and the end of the next chunk; None where no chunk is left."""
        with self._lock:
            if self._is_full():
                return None
            if self._again:
                return self._again.pop()
            begin = self._next_tile
            if begin == len(self._before) - 1:
                return None
            self._next_tile = end_of_chunk(self._before, begin, self._fitting_tuples())
            return begin, self._next_tile

    def put_back(self, begin: int, end: int) -> None:
        """Take back a chunk that has too many rows, to hand it out in two parts."""
        middle = (begin + end) // 2
        with self._lock:
            self._again += [(middle, end), (begin, middle)]  # the first part first
            self._largest = float(self._before[middle] - self._before[begin])

    def hand_in(self, begin: int, rows: TupleRows) -> None:
        """Take the rows of the chunk that starts at tile `begin`."""
        with self._lock:
            self._parts[begin] = rows
            n_tuples = float(self._before[begin + len(rows.rows_of_tile)] - self._before[begin])
            self._tuples_seen += n_tuples
            self._rows_seen += len(rows)
            self._largest = max(self._largest, n_tuples)

    def rows(self) -> TupleRows:
        """Return the rows of all tiles done, up to the first that is not done or has the last row asked for."""
        parts = [TupleRows.none(self._dimensions), *self._in_order()]
        rows_of_tile = np.concatenate([part.rows_of_tile for part in parts])
        n_tiles, n_rows = len(rows_of_tile), int(rows_of_tile.sum())
        if self._max_rows is not None and n_rows >= self._max_rows:
            n_tiles = int(np.searchsorted(np.cumsum(rows_of_tile), self._max_rows)) + 1
            n_rows = int(rows_of_tile[:n_tiles].sum())
        return TupleRows(
            tuples=np.concatenate([part.tuples for part in parts])[:n_rows],
            variable=np.concatenate([part.variable for part in parts])[:n_rows],
            value=np.concatenate([part.value for part in parts])[:n_rows],
            rows_of_tile=rows_of_tile[:n_tiles],
        )

    def _in_order(self) -> list[TupleRows]:
        """Return the parts that follow each other without a gap, from the first tile on."""
        found, at = [], 0
        while at in self._parts:
            found.append(self._parts[at])
            at += len(found[-1].rows_of_tile)
        return found

    def _is_full(self) -> bool:
        return self._max_rows is not None and sum(len(part) for part in self._in_order()) >= self._max_rows

    def _fitting_tuples(self) -> float:
        left = float(self._before[-1] - self._before[self._next_tile])
        even_share = left / (2 * self._n_workers) if self._n_workers > 1 else left
        wanted = float(self._wanted)
        if self._max_rows is not None:
            wanted = max(min(wanted, self._max_rows - self._rows_seen), _LAST_SHARE * wanted)
        if not self._tuples_seen:  # as if everything were listed
            return min(wanted / self._dimensions, even_share)
        fitting = wanted * self._tuples_seen / max(self._rows_seen, 1)
        return min(fitting, _MAX_GROWTH * self._largest, even_share)
