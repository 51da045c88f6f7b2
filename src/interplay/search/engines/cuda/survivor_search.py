"""Tiles → survivors in the buffer, by kernels that hold counts in registers, or in batches through the device's
memory.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.search.engines.cuda.device_products import DeviceProducts
from interplay.search.engines.cuda.device_state import ChosenTiles, DeviceState, OnDone, Score
from interplay.search.engines.cuda.devices import free_bytes
from interplay.search.engines.cuda.kernel_loader import allow_shared_memory, compiled
from interplay.search.engines.cuda.kernels import SearchVariant
from interplay.search.engines.cuda.product_plan import ProductVariant
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


#: Counts of a batch at most (4 GiB, and two batches are in work), and the part of the device's free memory that they
#: may take.
_MAX_PRODUCTS, _PRODUCTS_OF_FREE_MEMORY = 1 << 30, 0.2

#: Counts × samples of a batch at most, by warp groups, by binary tensor cores and by counting bits: about the work of
#: a device in the time of a launch.
_PRODUCTS_TIMES_SAMPLES = {"warp groups": 7e14, "tensor": 4e14, "popc": 2e13}

#: Counts of survivors at most, unless the tuples of one strip of a batch have more.
_MAX_SURVIVOR_COUNTS = 1 << 27


class BatchSearch:
    """Counts and bounds batch after batch, several before the survivors are scored where these are few.

    Parameters
    ----------
    state : DeviceState
    share : (int, int)
        Which of how many equal parts of the tiles to search. Whole tiles: devices with more or less free memory cut
        them into other batches.
    """

    def __init__(self, state: DeviceState, share: tuple[int, int]) -> None:
        self._state, self._share = state, share

    def search(self, which: IntArray, variant: ProductVariant, score: Score, on_done: OnDone) -> None:
        """Search this share of some tiles of one kind."""
        state = self._state
        number, n_shares = self._share
        which = which[number::n_shares]
        if not len(which):
            return
        by_time = _PRODUCTS_TIMES_SAMPLES["warp groups" if variant.warp_groups else state.data.limits.counting]
        by_memory = _PRODUCTS_OF_FREE_MEMORY * free_bytes() / 4
        max_products = int(min(_MAX_PRODUCTS, by_time / (256 * state.n_steps), by_memory))
        work = state.plan.product_work(which, variant, max_products=max_products)
        tiles = state.chosen(work.which)
        most_counts = min(_MAX_SURVIVOR_COUNTS, int(_PRODUCTS_OF_FREE_MEMORY * free_bytes() / 4))
        max_tuples = max(most_counts // work.counts_of_tuple, work.tuples_of_strip)
        with state.counts_known(work.counts_of_tuple, max_tuples):
            # Scattered, so that maxima of all variables rise early.
            batches = np.arange(len(work)) * scattering_stride(len(work)) % len(work)
            self._run(DeviceProducts(work, state, tiles), batches, tiles, score, on_done)

    def _run(
        self, products: DeviceProducts, batches: IntArray, tiles: ChosenTiles, score: Score, on_done: OnDone
    ) -> None:
        state, work, at, size = self._state, products.work, 0, LaunchSize(1)
        while at < len(batches):
            chosen = batches[at : at + size.value]
            began = time.perf_counter()
            state.clear_counters()
            products.search(chosen.tolist())
            n_found = score(tiles)
            took = time.perf_counter() - began
            if n_found > state.capacity:
                if len(chosen) > 1:
                    size.overflowed(len(chosen))
                    continue
                self._bound_in_strips(products, int(chosen[0]), tiles, score)
            on_done(float(work.weight[chosen].sum()) * work.n_tuples)
            at += len(chosen)
            size.finished(took, n_found=n_found, capacity=state.capacity)

    def _bound_in_strips(self, products: DeviceProducts, batch: int, tiles: ChosenTiles, score: Score) -> None:
        """Bound the batch that was counted last again, some strips at a time: it has more survivors than fit."""
        strip, end = 0, products.n_strips(batch)
        size = LaunchSize(end // 8)
        while strip < end:
            self._state.clear_counters()
            products.bound_again(batch, strip, min(strip + size.value, end))
            if score(tiles) > self._state.capacity:
                size.overflowed(size.value)
            else:
                strip += size.value


#: A launch should not take longer than this, in seconds: Ctrl-C and progress wait for it.
LAUNCH_SECONDS = 0.2


class LaunchSize:
    """The size of the next launch, in runs, batches or strips, by the time and the survivors of the launches before.

    Attributes
    ----------
    value : int
        At least 1.

    Examples
    --------
    >>> size = LaunchSize(100)
    >>> size.finished(0.01, n_found=5, capacity=1000)
    >>> size.value
    400
    >>> size.overflowed(400)
    >>> size.value
    100
    """

    def __init__(self, first: int) -> None:
        self.value = max(1, first)

    def overflowed(self, launched: int) -> None:
        """Take a fourth of a launch whose survivors did not fit; maxima have risen meanwhile, so fewer survive."""
        self.value = max(1, launched // 4)

    def finished(self, seconds: float, *, n_found: int, capacity: int) -> None:
        """Grow while launches are short and leave room for more survivors; shrink where they are not, or do not."""
        if seconds < LAUNCH_SECONDS / 8 and n_found < capacity / 8:
            self.value *= 4
        elif seconds < LAUNCH_SECONDS / 2 and n_found < capacity / 4:
            self.value *= 2
        elif seconds > LAUNCH_SECONDS * 1.5 or n_found > capacity / 2:
            self.value = max(1, int(self.value * min(LAUNCH_SECONDS / max(seconds, LAUNCH_SECONDS), 0.5)))
