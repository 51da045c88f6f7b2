"""Tiles → survivors in the buffer, by kernels that hold counts in registers (core/cuda/search)."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from interplay.search.engines.cuda.device_state import ChosenTiles, DeviceState, OnDone, Score
from interplay.search.engines.cuda.kernel_loader import allow_shared_memory, compiled
from interplay.search.engines.cuda.kernels import SearchVariant
from interplay.search.engines.cuda.launch_size import LaunchSize
from interplay.search.engines.cuda.tables import CellTable, make_cell_table
from interplay.search.engines.cuda.work_plan import Work, scattering_stride

#: The first launch bounds this share of the tuples, and at most this number, before the time of a tuple is known.
_FIRST_SHARE, _FIRST_TUPLES = 1 / 16, 1e8


def first_tuples(n_tuples: float) -> float:
    """Return how many tuples the first of several launches should bound."""
    return min(_FIRST_SHARE * n_tuples, _FIRST_TUPLES)


class RegisterSearch:
    """Bounds the tuples of tiles of one kind, in launches of fitting size; the survivors of each launch are scored.

    Parameters
    ----------
    state : DeviceState
    share : (int, int)
        Which of how many equal parts of the runs to search.
    """

    def __init__(self, state: DeviceState, share: tuple[int, int]) -> None:
        self._state, self._share = state, share
        #: Tables of small_cells.cuh as the kernel takes them, by the memory that they may take.
        self._cell_tables: dict[int, tuple[Any, ...]] = {}

    def search(self, work: Work, n_first: float, score: Score, on_done: OnDone) -> None:
        """Search this share of the work, about `n_first` of all its tuples in the first launch."""
        state = self._state
        tiles, item_start = state.chosen(work.which), state.cupy.asarray(work.item_start)
        run, end = work.share(*self._share)
        n_blocks = state.n_multiprocessors * work.variant.blocks_per_multiprocessor
        size = LaunchSize(max(n_blocks, int(work.n_runs * n_first / work.n_tuples)))
        while run < end:
            until = min(run + size.value, end)
            began = time.perf_counter()
            self._launch(work, tiles, item_start, run, until)
            n_found = score(tiles)
            took = time.perf_counter() - began
            if n_found > state.capacity:
                size.overflowed(until - run)
                continue
            on_done((until - run) / work.n_runs * work.n_tuples)
            run = until
            size.finished(took, n_found=n_found, capacity=state.capacity)

    def _launch(self, work: Work, tiles: ChosenTiles, item_start: Any, first_run: int, end_run: int) -> None:
        state, variant = self._state, work.variant
        kernel = compiled("search/tuple_search.cu", "find_survivors", variant.defines())
        table = self._cell_table(variant.table_bytes)
        # Memory that the table does not take is left to the cache.
        spare = variant.table_bytes - -(-table[0].nbytes // 16) * 16
        shared = variant.shared_bytes(work.n_cells, state.n_steps) - spare
        allow_shared_memory(kernel, shared)
        state.clear_counters()
        n_blocks = min(state.n_multiprocessors * variant.blocks_per_multiprocessor, end_run - first_run)
        arguments = (
            state.fragments,
            np.int32(state.n_steps),
            state.class_steps,
            state.class_sizes,
            state.bound_constants,
            *state.lanes,
            state.best,
            np.int32(state.n_groups),
            tiles.records,
            item_start,
            np.int32(len(work.which)),
            np.int64(work.n_items),
            np.int32(work.prefixes_per_item),
            np.int64(work.items_per_run),
            np.int64(first_run),
            np.int64(end_run),
            np.int64(work.n_runs),
            np.int64(scattering_stride(work.n_runs)),
            state.counters[2:],
            np.int32(work.n_cells),
            *table,
            *self._errors_of_bound(variant),
            *state.buffer,
        )
        kernel((n_blocks,), (variant.threads,), arguments, shared_mem=shared)

    def _errors_of_bound(self, variant: SearchVariant) -> tuple[np.float32, np.float32]:
        """Return the absolute error of the bound, and the factor by which it may be too small."""
        plan = self._state.plan
        if variant.logarithms:
            return np.float32(plan.tolerance + plan.product_tolerance), np.float32(1)
        return np.float32(plan.table_tolerance if variant.table_bytes else plan.tolerance), np.float32(plan.shrink)

    def _cell_table(self, max_bytes: int) -> tuple[Any, ...]:
        """Return the table of small_cells.cuh as the kernel takes it, of at most `max_bytes`."""
        if max_bytes not in self._cell_tables:
            plan = self._state.plan
            if max_bytes:
                table = make_cell_table(
                    self._state.data.planes.class_sizes,
                    plan.pseudocounts,
                    dimensions=plan.dimensions,
                    n_cells=plan.max_cells,
                    max_bytes=max_bytes,
                )
            else:
                table = CellTable(values=np.empty((0, 0), dtype=np.uint16), per_bit=1.0)
            shape = (np.int32(size) for size in table.values.shape)
            self._cell_tables[max_bytes] = (self._state.cupy.asarray(table.values), *shape, np.float32(table.per_bit))
        return self._cell_tables[max_bytes]
