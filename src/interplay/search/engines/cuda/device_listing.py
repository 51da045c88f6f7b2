"""Rows of tuples above fixed thresholds, on one device: bound all tuples, or take all, and score the survivors."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, TupleRows, TupleTiles
from interplay.search.engines.cuda.device_state import ChosenTiles, OnDone, SearchData
from interplay.search.engines.cuda.device_tuples import PLANES_SHARE, DeviceTuples
from interplay.search.engines.cuda.exact_scores import launch_gains, launch_scores
from interplay.search.engines.cuda.kernel_plan import GAINS, STATISTIC
from interplay.search.engines.cuda.tables import entropy_terms
from interplay.search.engines.tuple_formula import TupleFormula

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
