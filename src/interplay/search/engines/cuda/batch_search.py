"""Tiles → survivors in the buffer, by batches whose counts go through the device's memory (core/cuda/products)."""

from __future__ import annotations

import time

import numpy as np

from interplay.base.arrays import IntArray
from interplay.search.engines.cuda.device_products import DeviceProducts
from interplay.search.engines.cuda.device_state import ChosenTiles, DeviceState, OnDone, Score
from interplay.search.engines.cuda.devices import free_bytes
from interplay.search.engines.cuda.launch_size import LaunchSize
from interplay.search.engines.cuda.product_plan import ProductVariant
from interplay.search.engines.cuda.work_plan import scattering_stride

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
