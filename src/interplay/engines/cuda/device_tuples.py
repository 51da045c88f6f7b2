"""What a search for maxima and a list of tuples share: data on a device, and launches over all tuples of some tiles.

Tuples come from a bound, which leaves those that may matter, or from a list of all of them. Either way they are put
into a buffer and scored exactly; what becomes of the scores is up to the subclass.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from interplay.arrays import BitPlanes, FloatArray, IntArray, TupleTiles
from interplay.engines.cuda.device_products import DeviceProducts
from interplay.engines.cuda.devices import DeviceLimits, device_properties
from interplay.engines.cuda.kernel_loader import compile_ahead, compiled
from interplay.engines.cuda.kernel_plan import GAINS, kernels_of, list_options, score_options
from interplay.engines.cuda.kernels import SearchVariant
from interplay.engines.cuda.layout import TileRecords, make_lane_layout, make_tile_records, upload_fragments
from interplay.engines.cuda.product_plan import ProductVariant
from interplay.engines.cuda.tables import CellTable, InformationTables, make_cell_table
from interplay.engines.cuda.work_plan import MIN_CAPACITY, Work, WorkPlan, scattering_stride

#: The buffers are halved until they take no more than a part of the device's free memory.
_PART_OF_FREE_MEMORY = 0.25

#: A launch should not take longer than this, in seconds: Ctrl-C and progress wait for it.
_LAUNCH_SECONDS = 0.2

#: The first launch bounds this share of the tuples, and no more than so many, before it is known how long they take.
_FIRST_SHARE, _FIRST_TUPLES = 1 / 16, 1e8

#: Counts of a batch at most (4 GiB, and two batches are in work), the part of the device's free memory that they may
#: take, and counts of survivors at most.
_MAX_PRODUCTS, _PRODUCTS_OF_FREE_MEMORY = 1 << 30, 0.2
_MAX_SURVIVOR_COUNTS = 1 << 27

#: Counts × samples of a batch at most, by warp groups, by binary tensor cores and by counting bits: about what a device
#: can count in the time of a launch.
_PRODUCTS_TIMES_SAMPLES = {"warp groups": 7e14, "tensor": 4e14, "popc": 2e13}

#: The tuples of one unit of a batch must fit, whatever survives of it.
_SMALLEST_CAPACITY = 1 << 16

#: Tiles whose choices are numbered together.
_TILES_AT_ONCE = 4096

#: Called with the number of tuples done since the last call.
OnDone = Callable[[float], None]


@dataclass(frozen=True)
class ChosenTiles:
    """Some of the tiles, on the device.

    Attributes
    ----------
    which : (n,) int64
        Their numbers.
    records : device array
        As in `TileRecords`.
    """

    which: IntArray
    records: Any


@dataclass(frozen=True)
class SearchData:
    """What every device of a search or a list is given.

    Attributes
    ----------
    planes : BitPlanes
    tables : InformationTables
        What cells are scored with.
    pseudocount : float
    limits : DeviceLimits
    """

    planes: BitPlanes
    tables: InformationTables
    pseudocount: float
    limits: DeviceLimits


class DeviceTuples(ABC):
    """Planes, tiles and buffers on the current device.

    Parameters
    ----------
    best : (n_rows, n_groups) float64
        What a member's score has to reach.
    capacity : int
        Tuples that may wait to be scored; fewer where memory is short.
    share : (int, int)
        Which of how many equal parts of the work is this device's.
    every_member : bool
        Whether tuples are sought of which every member gains, not the members that do.
    bounds : bool
        Whether tuples are bounded before they are scored.
    scores : (str, str)
        The file and the function that score tuples.
    """

    #: Whether a sample of tuples is scored first.
    samples = True

    def __init__(
        self,
        data: SearchData,
        tiles: TupleTiles,
        *,
        best: FloatArray,
        capacity: int,
        share: tuple[int, int] = (0, 1),
        every_member: bool = False,
        bounds: bool = True,
        scores: tuple[str, str] = GAINS,
    ) -> None:
        import cupy

        self._cupy = cupy
        self._data, self._tiles, self._share = data, tiles, share
        planes, tables = data.planes, data.tables
        self._k = tiles.dimensions
        self._n_groups = len(tiles.partner_cells)
        self._n_steps = planes.words.shape[1] // 4
        self._n_multiprocessors = int(device_properties(cupy.cuda.Device().id)["multiProcessorCount"])
        layout = make_lane_layout(planes, tiles)
        self._records: TileRecords = make_tile_records(planes, tiles, layout)
        self._plan = WorkPlan(
            planes,
            tiles,
            layout,
            self._records,
            pseudocount=data.pseudocount,
            limits=data.limits,
            every_member=every_member,
        )
        compile_ahead(kernels_of(self._plan, len(tiles), samples=self.samples, bounds=bounds, scores=scores))
        class_steps = (planes.class_word_start // 4).astype(np.int32)
        self._fragments = upload_fragments(planes, layout)
        self._class_steps = cupy.asarray(class_steps)
        self._class_sizes = cupy.asarray(planes.class_sizes.astype(np.float32))
        self._pseudocounts = cupy.asarray(self._plan.pseudocounts.astype(np.float32))
        self._lanes = tuple(
            cupy.asarray(a) for a in (layout.first_position, layout.n_levels, layout.rows_per_level, layout.first_row)
        )
        self._tables = tuple(cupy.asarray(a) for a in (tables.values, tables.start))
        self._order = cupy.asarray(tiles.order.astype(np.int32))
        self._best = cupy.asarray(np.ascontiguousarray(best[tiles.order]).reshape(-1))
        self._capacity = capacity
        #: Counts of the tuples in the buffer, and how many each has, while batches are searched.
        self._known_counts: tuple[Any, Any] | None = None
        #: Tables of small_cells.cuh, by the memory that they may take.
        self._cell_tables: dict[int, tuple[Any, ...]] = {}
        self._allocate()
        # Tuples, candidates; then the next run, which is 64 bits wide.
        self._counters = cupy.zeros(4, dtype=cupy.uint32)

    def _allocate(self) -> None:
        """Make the buffers, smaller ones where memory is short."""
        cupy = self._cupy
        free = self._free_bytes()
        bytes_each = 4 * (1 + self._k) + 16 * self._k
        while self._capacity * bytes_each > _PART_OF_FREE_MEMORY * free and self._capacity > MIN_CAPACITY:
            self._capacity //= 2
        while True:
            try:
                self._tuples = cupy.empty((self._capacity, 1 + self._k), dtype=cupy.int32)
                n_candidates = self._capacity * self._k
                self._candidate_slots = cupy.empty(n_candidates, dtype=cupy.int32)
                self._candidate_tuples = cupy.empty(n_candidates, dtype=cupy.int32)
                self._candidate_scores = cupy.empty(n_candidates, dtype=cupy.float64)
                return
            except cupy.cuda.memory.OutOfMemoryError:
                if self._capacity <= MIN_CAPACITY:
                    raise
                self._capacity //= 2
                self._tuples = self._candidate_slots = self._candidate_tuples = None

    def _clear_counters(self) -> None:
        """Begin with no tuples and no candidates; by the driver, since CuPy would have to compile a kernel for it."""
        self._counters.data.memset_async(0, 16)

    def _free_bytes(self) -> int:
        """Return what the device has left, as far as CuPy may take it."""
        pool = self._cupy.get_default_memory_pool()
        free = int(self._cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes())
        return min(free, pool.get_limit() - pool.used_bytes()) if pool.get_limit() else free

    def _chosen(self, which: IntArray) -> ChosenTiles:
        return ChosenTiles(which, self._cupy.asarray(self._records.records[which]))

    # --- scores ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def _score(self, tiles: ChosenTiles) -> int:
        """Score the tuples in the buffer exactly; return how many there were, which may be more than fit into it."""

    @cached_property
    def _multiplicity_of_levels(self) -> Any:
        return self._cupy.asarray(self._data.tables.multiplicity_of_levels)

    def _launch_gains(self, tiles: ChosenTiles, *, best_is_fixed: bool) -> None:
        """Note the gains in the buffer's tuples that reach the best of their slots, or exceed it if it is fixed."""
        self._launch_scores(
            GAINS,
            (*self._tables, self._multiplicity_of_levels, np.float64(self._data.tables.unit)),
            tiles,
            (self._best, np.int32(best_is_fixed)),
            self._known_counts or (np.uintp(0), np.int32(0)),
        )

    def _launch_scores(
        self,
        scores: tuple[str, str],
        how: tuple[Any, ...],
        tiles: ChosenTiles,
        best: tuple[Any, ...],
        counts: tuple[Any, ...] = (),
    ) -> None:
        kernel = compiled(*scores, score_options(self._plan))
        tuples_of_warp = 32 // self._plan.threads_of_tuple
        counters_bytes = 4 * tuples_of_warp * self._plan.max_cells * len(self._plan.pseudocounts)
        n_warps = int(np.clip((self._data.limits.shared_bytes_of_block - 1024) // counters_bytes, 1, 8))
        kernel.max_dynamic_shared_size_bytes = n_warps * counters_bytes
        arguments = (
            self._fragments,
            np.int32(self._n_steps),
            self._class_steps,
            *self._lanes,
            *how,
            tiles.records,
            self._tuples,
            self._counters,
            np.uint32(self._capacity),
            *best,
            np.int32(self._n_groups),
            np.int32(self._plan.max_cells),
            np.int32(self._paired),
            *counts,
            self._candidate_slots,
            self._candidate_tuples,
            self._candidate_scores,
            self._counters[1:],
        )
        kernel((self._n_multiprocessors * 8,), (32 * n_warps,), arguments, shared_mem=n_warps * counters_bytes)

    @cached_property
    def _paired(self) -> bool:
        """Whether the counts of both classes fit into a word."""
        sizes = self._data.planes.class_sizes
        return bool(len(sizes) == 2 and sizes.max() < 1 << 16)

    # --- tuples that may matter -----------------------------------------------------------------------------------

    def _search(self, work: Work, on_done: OnDone) -> None:
        """Bound every tuple of the work, in launches of fitting size, and score the survivors after each."""
        tiles, item_start = self._chosen(work.which), self._cupy.asarray(work.item_start)
        run, end = work.share(*self._share)
        n_blocks = self._n_multiprocessors * work.variant.blocks_per_multiprocessor
        size = max(n_blocks, int(work.n_runs * self._first_tuples(work.n_tuples) / work.n_tuples))
        while run < end:
            until = min(run + size, end)
            began = time.perf_counter()
            self._launch_search(work, tiles, item_start, run, until)
            n_found = self._score(tiles)
            took = time.perf_counter() - began
            if n_found > self._capacity:
                # Less of the same leaves fewer; all the more where maxima have risen.
                size = max(1, (until - run) // 4)
                continue
            on_done((until - run) / work.n_runs * work.n_tuples)
            run = until
            # Not longer than planned, and with room for more survivors than there were.
            if took < _LAUNCH_SECONDS / 8 and n_found < self._capacity / 8:
                size *= 4
            elif took < _LAUNCH_SECONDS / 2 and n_found < self._capacity / 4:
                size *= 2
            elif took > _LAUNCH_SECONDS * 1.5 or n_found > self._capacity / 2:
                size = max(1, int(size * min(_LAUNCH_SECONDS / took, 0.5)))

    def _first_tuples(self, n_tuples: float) -> float:
        """Return how many tuples the first of several launches should bound."""
        return min(_FIRST_SHARE * n_tuples, _FIRST_TUPLES)

    def _launch_search(self, work: Work, tiles: ChosenTiles, item_start: Any, first_run: int, end_run: int) -> None:
        kernel = compiled("search/tuple_search.cu", "find_survivors", work.variant.defines())
        table = self._cell_table(work.variant.table_bytes)
        # What the table does not take is left to the cache.
        spare = work.variant.table_bytes - -(-table[0].nbytes // 16) * 16
        shared = work.variant.shared_bytes(work.n_cells, self._n_steps) - spare
        kernel.max_dynamic_shared_size_bytes = shared
        self._clear_counters()
        n_blocks = min(self._n_multiprocessors * work.variant.blocks_per_multiprocessor, end_run - first_run)
        arguments = (
            self._fragments,
            np.int32(self._n_steps),
            self._class_steps,
            self._class_sizes,
            self._pseudocounts,
            *self._lanes,
            self._best,
            np.int32(self._n_groups),
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
            self._counters[2:],
            np.int32(work.n_cells),
            *table,
            np.float32(self._plan.table_tolerance if work.variant.table_bytes else self._plan.tolerance),
            np.float32(self._plan.shrink),
            self._tuples,
            self._counters,
            np.uint32(self._capacity),
        )
        kernel((n_blocks,), (work.variant.threads,), arguments, shared_mem=shared)

    def _cell_table(self, max_bytes: int) -> tuple[Any, ...]:
        """Return the table of small_cells.cuh as the kernel takes it, which may have so many bytes."""
        if max_bytes not in self._cell_tables:
            if max_bytes:
                table = make_cell_table(
                    self._data.planes.class_sizes,
                    self._plan.pseudocounts,
                    dimensions=self._k,
                    n_cells=self._plan.max_cells,
                    max_bytes=max_bytes,
                )
            else:
                table = CellTable(values=np.empty((0, 0), dtype=np.uint16), per_bit=1.0)
            shape = (np.int32(size) for size in table.values.shape)
            self._cell_tables[max_bytes] = (self._cupy.asarray(table.values), *shape, np.float32(table.per_bit))
        return self._cell_tables[max_bytes]

    def _search_tiles(self, which: IntArray, variant: SearchVariant | ProductVariant, on_done: OnDone) -> None:
        """Bound every tuple of tiles of one kind and score the survivors."""
        if isinstance(variant, ProductVariant):
            self._search_batches(which, variant, on_done)
        else:
            self._search(self._plan.work(which, variant), on_done)

    def _search_batches(self, which: IntArray, variant: ProductVariant, on_done: OnDone) -> None:
        """Count and bound batch after batch, several before the survivors are scored where these are few."""
        # Whole tiles: devices with more or less free memory cut them into other batches.
        number, n_shares = self._share
        which = which[number::n_shares]
        if not len(which):
            return
        by_time = _PRODUCTS_TIMES_SAMPLES["warp groups" if variant.warp_groups else self._data.limits.counting]
        max_products = int(
            min(
                _MAX_PRODUCTS,
                by_time / self._data.planes.n_samples,
                _PRODUCTS_OF_FREE_MEMORY * self._free_bytes() / 4,
            )
        )
        work = self._plan.product_work(which, variant, max_products=max_products)
        tiles = self._chosen(work.which)
        capacity, stride = self._capacity, work.counts_of_tuple
        most_counts = min(_MAX_SURVIVOR_COUNTS, int(_PRODUCTS_OF_FREE_MEMORY * self._free_bytes() / 4))
        try:
            self._capacity = min(capacity, max(most_counts // stride, _SMALLEST_CAPACITY))
            counts = self._cupy.empty(self._capacity * stride, dtype=self._cupy.uint32)
            self._known_counts = (counts, np.int32(stride))
            products = DeviceProducts(
                work,
                self._n_steps,
                fragments=self._fragments,
                class_steps=self._class_steps,
                class_sizes=self._class_sizes,
                lanes=self._lanes,
                bounded_by=(tiles.records, self._best, np.int32(self._n_groups), self._pseudocounts),
                survivors=(self._tuples, *self._known_counts, self._counters, np.uint32(self._capacity)),
                tolerance=self._plan.product_tolerance,
                n_multiprocessors=self._n_multiprocessors,
            )
            # Scattered, so that maxima of all variables rise early.
            batches = np.arange(len(work)) * scattering_stride(len(work)) % len(work)
            self._run_batches(products, batches, tiles, on_done)
        finally:
            self._capacity, self._known_counts = capacity, None

    def _run_batches(self, products: DeviceProducts, batches: IntArray, tiles: ChosenTiles, on_done: OnDone) -> None:
        work, at, size = products.work, 0, 1
        while at < len(batches):
            chosen = batches[at : at + size]
            began = time.perf_counter()
            self._clear_counters()
            products.search(chosen.tolist())
            n_found = self._score(tiles)
            took = time.perf_counter() - began
            if n_found > self._capacity:
                if len(chosen) > 1:
                    size = max(1, len(chosen) // 4)
                    continue
                self._bound_in_parts(products, int(chosen[0]), tiles)
            on_done(float(work.weight[chosen].sum()) * work.n_tuples)
            at += len(chosen)
            if took < _LAUNCH_SECONDS / 8 and n_found < self._capacity / 8:
                size *= 4
            elif took < _LAUNCH_SECONDS / 2 and n_found < self._capacity / 4:
                size *= 2
            elif took > _LAUNCH_SECONDS * 1.5 or n_found > self._capacity / 2:
                size = max(1, size // 2)

    def _bound_in_parts(self, products: DeviceProducts, batch: int, tiles: ChosenTiles) -> None:
        """Bound again, part by part, the batch that was counted last: it has more survivors than fit."""
        unit, end = 0, products.n_strips(batch)
        size = max(1, end // 8)
        while unit < end:
            self._clear_counters()
            products.bound_again(batch, unit, min(unit + size, end))
            if self._score(tiles) > self._capacity:
                size = max(1, size // 4)
            else:
                unit += size

    # --- all tuples -----------------------------------------------------------------------------------------------

    def _score_all(self, which: IntArray, on_done: OnDone) -> None:
        """Score every tuple of some tiles, as many at a time as there is room for."""
        self._plan.check_choices(which)
        number, n_shares = self._share
        kernel = compiled("tuples/tuple_list.cu", "list_tuples", list_options(self._plan))
        which = which[number::n_shares]
        for first in range(0, len(which), _TILES_AT_ONCE):
            tiles = self._chosen(which[first : first + _TILES_AT_ONCE])
            start = self._plan.choices_before(tiles.which).astype(np.int64)
            n_choices, n_tuples = int(start[-1]), float(self._tiles.n_tuples[tiles.which].sum())
            on_device = self._cupy.asarray(start)
            for begin in range(0, n_choices, self._capacity):
                end = min(begin + self._capacity, n_choices)
                self._clear_counters()
                arguments = (
                    tiles.records,
                    on_device,
                    np.int32(len(tiles.which)),
                    np.int64(begin),
                    np.int64(end),
                    self._tuples,
                    self._counters,
                    np.uint32(self._capacity),
                )
                kernel((-(-(end - begin) // 256),), (256,), arguments)
                self._score(tiles)
                on_done((end - begin) / n_choices * n_tuples)
