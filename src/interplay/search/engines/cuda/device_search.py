"""Maxima of tiles, on one device or several: warm the maxima, bound all tuples, score the survivors, merge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tuples import MaxGains, TupleTiles
from interplay.search.engines.cuda.device_planes import KeptPlanes
from interplay.search.engines.cuda.device_state import ChosenTiles, OnDone, SearchData
from interplay.search.engines.cuda.device_tuples import (
    GAINS,
    PLANES_SHARE,
    SMALLEST_PLANES_SHARE,
    DeviceTuples,
    launch_gains,
    list_options,
    score_options,
)
from interplay.search.engines.cuda.devices import is_device_memory_error
from interplay.search.engines.cuda.kernel_loader import compiled
from interplay.search.engines.cuda.kernels import SearchVariant
from interplay.search.engines.cuda.layout import TileRecords, covers_all_tuples, strongest_first
from interplay.search.engines.cuda.product_plan import ProductVariant
from interplay.search.engines.cuda.work_plan import MIN_CAPACITY

#: Tuples that may wait to be scored, where there is enough memory.
CAPACITY = 1 << 23

#: Before all else some tuples with every variable are scored, and then a random sample of all tuples, so that the bound
#: has maxima to compare with.
_TUPLES_PER_VARIABLE = 16
_TUPLES_FOR_ALL_VARIABLES = 1 << 19
_SAMPLE, _SMALLEST_SAMPLE = 1 << 22, 1 << 14
_SAMPLE_SHARE, _SAMPLE_STEPS = 0.02, 16

#: Tries for each tuple of the sample at most: some do not ascend.
_TRIES_PER_TUPLE = 32.0

#: Survivors that the first launch should have at most; and survivors for each tuple that gains, since a bound exceeds
#: the gain.
_FIRST_SURVIVORS, _SURVIVORS_PER_GAIN = 1 << 20, 4


class DeviceSearch(DeviceTuples):
    """The state of a search on the current device; `share` says which of how many equal parts of it."""

    def __init__(
        self,
        data: SearchData,
        tiles: TupleTiles,
        *,
        known: MaxGains,
        capacity: int,
        share: tuple[int, int],
        planes_share: float,
    ) -> None:
        super().__init__(
            data, tiles, best=known.gain_by_group, capacity=capacity, share=share, planes_share=planes_share
        )
        self._known = known
        cupy, n_slots = self._state.cupy, self._state.best.size
        #: The best tuple of each slot so far: gains, members, and locks for writers. Filled by the driver, as
        #: `clear_counters` is.
        self._kept = (
            cupy.empty(n_slots, dtype=cupy.float64),
            cupy.empty((n_slots, tiles.dimensions), dtype=cupy.int32),
            cupy.empty(n_slots, dtype=cupy.int32),
        )
        for part, byte in zip(self._kept, (0xFF, 0xFF, 0), strict=True):
            part.data.memset_async(byte, part.nbytes)
        #: Tuples scored before any were bounded, and the variables that had one.
        self._n_warmed = 0
        self._is_warm = np.zeros(len(tiles.order), dtype=bool)

    @property
    def holds_all(self) -> bool:
        """Whether all planes are on the device, so that tuples of any tiles can be scored."""
        return self._state.planes.holds_all

    def run(self, on_done: OnDone) -> None:
        """Search this device's share; `on_done` is called with the number of tuples done since the last call."""
        all_tiles = np.arange(len(self._state.tiles))
        for which, variant in self._plan.by_variant(all_tiles):
            if variant is None:
                self._plan.check_choices(which)  # before any long work
        for which in self._state.stretches(all_tiles):
            self._search_stretch(which, on_done)

    def _search_stretch(self, stretch: IntArray, on_done: OnDone) -> None:
        """Search tiles whose planes are on the device. Bounded tiles come first: their tuples raise the maxima."""
        self.warm(stretch)
        bounded: list[tuple[IntArray, SearchVariant | ProductVariant]] = []
        listed: list[IntArray] = []
        for which, variant in self._plan.by_variant(stretch):
            if variant is None:
                listed.append(which)
            else:
                bounded.append((which, variant))
        for which, variant in bounded:
            self._search_tiles(which, variant, on_done)
        for which in listed:
            self._score_all(which, on_done)

    def found(self, discretization: int) -> MaxGains:
        """Return the maxima found until now, merged with the maxima known before."""
        gains, tuples = (part.get() for part in self._kept[:2])
        slots = np.flatnonzero(~np.isnan(gains))
        n_groups = self._state.n_groups
        row, group = self._state.tiles.order[slots // n_groups], slots % n_groups
        return merge_candidates(self._known, row, group, gains[slots], tuples.take(slots, axis=0), discretization)

    def _score(self, tiles: ChosenTiles) -> int:
        """Score the tuples in the buffer exactly and keep scores that reach a maximum; return the number of tuples."""
        state = self._state
        launch_gains(state, tiles, best_is_fixed=False)
        kernel = compiled(GAINS[0], "keep_best", score_options(self._plan))
        arguments = (*state.candidates, state.counters[1:], state.best, state.tuples, state.order, *self._kept)
        kernel((state.n_multiprocessors * 4,), (256,), arguments)
        return int(state.counters[:1].get()[0])

    def _first_tuples(self, n_tuples: float) -> float:
        """Return how many tuples to bound before maxima are raised: as many as leave a fair number of survivors."""
        # Of `per_variable` tuples with a variable one has the maximum: the next tuple exceeds it with that chance.
        k, n_positions = self._plan.dimensions, len(self._state.tiles.order)
        per_variable = max(self._n_warmed * k / n_positions, 1.0)
        few = _FIRST_SURVIVORS / _SURVIVORS_PER_GAIN / k * per_variable
        return min(few, super()._first_tuples(n_tuples))

    def warm(self, which: IntArray) -> None:
        """Score a few tuples with every variable, then a random sample: the bound compares with the maxima so far.

        Of some tiles, whose planes are on the device, and not again with variables that had their tuples.
        """
        state, k = self._state, self._plan.dimensions
        if k == 1:
            return
        n_tiles, n_positions = len(which), len(state.tiles.order)
        tile_of = tile_of_each(self._plan.records, n_positions, which)
        tile_of[:, self._is_warm] = -1
        if not (tile_of >= 0).any():
            return
        self._is_warm |= (tile_of >= 0).any(axis=0)
        tiles, with_all = state.chosen(which), state.cupy.asarray(tile_of)
        per_place = -(-min(_TUPLES_PER_VARIABLE, -(-_TUPLES_FOR_ALL_VARIABLES // n_positions)) // k)
        self._warm_with("sample_with_all", tiles, (with_all, np.int32(n_positions)), per_place * with_all.size)
        # As many as the first launch will leave to be scored, which are the fewer the larger the sample is; less where
        # samples are many, since scoring a tuple by itself is dear then.
        n_tuples = float(state.tiles.n_tuples[which].sum())
        sample = math.sqrt(super()._first_tuples(n_tuples) * n_positions * _SURVIVORS_PER_GAIN)
        sample = max(min(sample, _SAMPLE) * min(_SAMPLE_STEPS / state.n_steps, 1.0), _SMALLEST_SAMPLE)
        start = self._plan.choices_before(tiles.which)
        n_tries = min(sample, _SAMPLE_SHARE * n_tuples) * min(float(start[-1]) / n_tuples, _TRIES_PER_TUPLE)
        self._warm_with("sample_tuples", tiles, (state.cupy.asarray(start), np.int32(n_tiles)), int(n_tries))

    def _warm_with(self, function: str, tiles: ChosenTiles, choices: tuple[Any, ...], n_tries: int) -> None:
        """Score the tuples that a kernel chooses, as many at a time as there is room for."""
        state = self._state
        kernel = compiled("tuples/tuple_list.cu", function, list_options(self._plan))
        for begin in range(0, n_tries, state.capacity):
            end = min(begin + state.capacity, n_tries)
            state.clear_counters()
            arguments = (tiles.records, *choices, np.int32(begin), np.int32(end), *state.buffer)
            kernel((-(-(end - begin) // 256),), (256,), arguments)
            self._n_warmed += self._score(tiles)


def tile_of_each(records: TileRecords, n_positions: int, which: IntArray) -> npt.NDArray[np.int32]:
    """Return for each place, and each variable, one of the tiles `which` that has the variable there, or −1.

    Returns
    -------
    (k, n_positions) int32
    """
    rng = np.random.default_rng(0)
    all_begin, all_end = records.begin[which], records.end[which]
    n_tiles, k = all_begin.shape
    tile_of = np.full((k, n_positions), -1, dtype=np.int32)
    for place in range(k):
        # A tile for each block that stands at this place, whichever is written last.
        tile_at = np.full(n_positions, -1)
        shuffled = rng.permutation(n_tiles)
        tile_at[all_begin[shuffled, place]] = shuffled
        tiles = tile_at[tile_at >= 0]
        begin, size = all_begin[tiles, place], all_end[tiles, place] - all_begin[tiles, place]
        in_block = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        tile_of[place, np.repeat(begin, size) + in_block] = np.repeat(tiles, size)
    return tile_of


class SharedSearch:
    """A search and its maxima so far, device by device.

    Parameters
    ----------
    devices : sequence of int
        Numbers of the GPUs; a share for each.
    known : MaxGains
        Gains found before.
    kept : sequence of KeptPlanes
        Of each share, planes that stay on its device; none where nothing is kept.
    """

    def __init__(
        self,
        data: SearchData,
        tiles: TupleTiles,
        *,
        devices: Sequence[int],
        discretization: int,
        known: MaxGains,
        kept: Sequence[KeptPlanes] = (),
    ) -> None:
        self._data, self._tiles, self._devices, self._kept = data, tiles, devices, kept
        self._discretization, self._known = discretization, known
        #: The maxima of each device, and its search in work, which began with these maxima.
        self._found: dict[int, MaxGains] = {}
        self._searches: dict[int, DeviceSearch] = {}
        self._capacity, self._planes_share = CAPACITY, PLANES_SHARE

    def search(self, share: int, on_done: OnDone) -> None:
        """Search a share on its device, which is the current one."""
        tiles = self._tiles
        search = self._begin(share, tiles)
        # All devices find the same order: they warm with the same tuples.
        if tiles.dimensions > 3 and search.holds_all and covers_all_tuples(tiles, self._data.planes.n_vars):
            search.warm(np.arange(len(tiles)))
            gain = search.found(self._discretization).gain_by_group.max(axis=1)
            del search
            search = self._begin(share, strongest_first(tiles, gain))
        search.run(on_done)

    def _begin(self, share: int, tiles: TupleTiles) -> DeviceSearch:
        if share in self._searches:  # nothing else holds it: it leaves its memory to the next
            self._found[share] = self._searches.pop(share).found(self._discretization)
        kept = self._kept[share] if self._kept and self._kept[share].suit(tiles) else None
        search = self._searches[share] = DeviceSearch(
            replace(self._data, kept=kept),
            tiles,
            known=self._found.get(share, self._known),
            capacity=self._capacity,
            share=(share, len(self._devices)),
            planes_share=self._planes_share,
        )
        return search

    def found(self) -> MaxGains:
        """Return the maxima until now."""
        import cupy

        found = list(self._found.values())  # with all that was known before
        for share, search in self._searches.items():
            with cupy.cuda.Device(self._devices[share]):
                try:
                    search.close()
                    found.append(search.found(self._discretization))
                except Exception as error:
                    if not is_device_memory_error(error):  # a device without memory cannot even return its maxima
                        raise
        return reduce(MaxGains.merge, found or [self._known])

    def needs_less_memory(self) -> bool:
        """Begin again with smaller buffers, or with fewer planes at a time; say whether that is possible.

        Maxima that were found already help the bound.
        """
        self._known = self.found()
        self._found.clear()
        self._searches.clear()
        for kept in self._kept:
            kept.close()
        if self._capacity > MIN_CAPACITY:
            self._capacity = MIN_CAPACITY
            return True
        self._planes_share /= 2
        return self._planes_share >= SMALLEST_PLANES_SHARE


def merge_candidates(
    found: MaxGains, row: IntArray, group: IntArray, gain: FloatArray, tuples: IntArray, discretization: int
) -> MaxGains:
    """Merge candidates of one discretisation, one for each row and group, into the maxima found before.

    Parameters
    ----------
    found : MaxGains
    row, group : (n,) int64
        Whose gain it is.
    gain : (n,) float64
    tuples : (n, k) int64
        Members in ascending order.
    discretization : int
    """
    if not len(row):
        return found
    shape = found.tuples_by_group.shape
    # Where each slot's candidate is; the last, which is none, for slots without one. To gather is faster than to
    # scatter, and by one index than by two.
    place = np.full(shape[0] * shape[1], -1)
    place[row * shape[1] + group] = np.arange(len(row))
    no_tuple = np.full((1, shape[2]), -1, dtype=np.int64)
    new = MaxGains(
        gain_by_group=np.append(gain, -np.inf).take(place).reshape(shape[:2]),
        discretization_by_group=np.where(place >= 0, discretization, -1).reshape(shape[:2]),
        tuples_by_group=np.concatenate([tuples, no_tuple]).take(place, axis=0).reshape(shape),
        df_by_group=found.df_by_group,
        n_vars=found.n_vars,
    )
    return found.merge(new) if (found.discretization_by_group >= 0).any() else new
