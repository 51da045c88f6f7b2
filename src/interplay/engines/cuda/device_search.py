"""One device's share of a search: warm the maxima, then bound all tuples and score those that may matter."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interplay.arrays import FloatArray, IntArray, MaxGains, TupleTiles
from interplay.engines.cuda.candidates import best_of_each, merge_candidates
from interplay.engines.cuda.device_tuples import ChosenTiles, DeviceTuples, OnDone, SearchData
from interplay.engines.cuda.kernel_loader import compiled
from interplay.engines.cuda.kernel_plan import GAINS, list_options, score_options
from interplay.engines.cuda.kernels import SearchVariant
from interplay.engines.cuda.layout import TileRecords
from interplay.engines.cuda.product_plan import ProductVariant

#: Tuples that may wait to be scored, where there is enough memory.
CAPACITY = 1 << 23

#: Before all else some tuples with every variable are scored, and then a random sample of all tuples, so that the bound
#: has maxima to compare with.
_TUPLES_PER_VARIABLE = 16
_TUPLES_FOR_ALL_VARIABLES = 1 << 19
_SAMPLE = 1 << 22
_SAMPLE_SHARE = 0.02
_SAMPLE_STEPS, _SMALLEST_SAMPLE = 16, 1 << 14

#: Candidates for maxima that may gather on the device before all but one of each slot go, and the room for them.
_MAX_KEPT = 1 << 17
_KEPT_ROOM = 1 << 18

#: More candidates than there can be.
_ALL = (1 << 32) - 1


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
    ) -> None:
        super().__init__(data, tiles, best=known.gain_by_group, capacity=capacity, share=share)
        self._known = known
        cupy = self._cupy
        #: Candidates for maxima, on the device and, of those before, on the host: slots, tuples, gains.
        self._kept = (
            cupy.empty(_KEPT_ROOM, dtype=cupy.int32),
            cupy.empty((_KEPT_ROOM, self._k), dtype=cupy.int32),
            cupy.empty(_KEPT_ROOM, dtype=cupy.float64),
        )
        self._n_kept = 0
        self._on_host: list[tuple[IntArray, IntArray, FloatArray]] = []

    def run(self, on_done: OnDone) -> None:
        """Search this device's share; `on_done` is called with the number of tuples done since the last call."""
        bounded: list[tuple[IntArray, SearchVariant | ProductVariant]] = []
        listed: list[IntArray] = []
        for which, variant in self._plan.by_variant(np.arange(len(self._tiles))):
            if variant is None:
                self._plan.check_choices(which)  # before any long work
                listed.append(which)
            else:
                bounded.append((which, variant))
        for which, variant in bounded:
            self._search_tiles(which, variant, on_done)
        for which in listed:
            self._score_all(which, on_done)

    def found(self, discretization: int) -> MaxGains:
        """Return the maxima found until now, merged with those known before."""
        self._compact()
        if not self._on_host:
            return self._known
        slots, tuples, gains = self._on_host[0]
        row, group = self._tiles.order[slots // self._n_groups], slots % self._n_groups
        return merge_candidates(self._known, row, group, gains, tuples, discretization)

    # What becomes of candidates has a kernel of its own, and the rest is done on the host: CuPy's own functions are
    # compiled one by one when they are first called, which takes longer than most searches.

    def _score(self, tiles: ChosenTiles) -> int:
        """Score the tuples in the buffer exactly and keep what reaches a maximum; return how many there were."""
        self._launch_gains(tiles, best_is_fixed=False)
        before = self._n_kept
        self._keep(0, _ALL)
        n_found, n_candidates, _, _, n_kept = self._counters.get().tolist()
        if n_kept > _KEPT_ROOM:  # again, as many at a time as there is room for
            self._n_kept = before
            self._compact()
            for first in range(0, n_candidates, _KEPT_ROOM):
                self._keep(first, first + _KEPT_ROOM)
                self._n_kept = int(self._counters[4:].get()[0])
                self._compact()
        else:
            self._n_kept = n_kept
        if self._n_kept > _MAX_KEPT:
            self._compact()
        return int(n_found)

    def _keep(self, first: int, end: int) -> None:
        kernel = compiled(GAINS[0], "keep_candidates", score_options(self._plan))
        arguments = (
            self._candidate_slots,
            self._candidate_tuples,
            self._candidate_scores,
            self._counters[1:],
            np.uint32(first),
            np.uint32(end),
            self._best,
            self._tuples,
            self._order,
            *self._kept,
            self._counters[4:],
            np.uint32(_KEPT_ROOM),
        )
        kernel((self._n_multiprocessors * 4,), (256,), arguments)

    def _compact(self) -> None:
        """Take the candidates to the host and leave one for each slot."""
        if self._n_kept:
            self._on_host.append(tuple(part[: self._n_kept].get() for part in self._kept))
            self._n_kept = 0
            self._counters[4:].data.memset_async(0, 4)
        if self._on_host:
            slots, tuples, gains = (np.concatenate(parts) for parts in zip(*self._on_host, strict=True))
            # Most were the best for a while: what is left to sort is one for each slot, and ties.
            still = np.flatnonzero(gains == self._best.get()[slots])
            slots, tuples, gains = slots[still], tuples[still], gains[still]
            chosen = best_of_each(slots, gains, tuples)
            self._on_host = [(slots[chosen], tuples[chosen], gains[chosen])]

    def warm(self) -> None:
        """Score a few tuples with every variable, then a random sample: the bound compares with the maxima so far."""
        if self._k == 1:
            return
        tiles = self._chosen(np.arange(len(self._tiles)))
        with_all = tuples_with_all(self._records, len(self._tiles.order))
        for begin in range(0, len(with_all), self._capacity):
            part = with_all[begin : begin + self._capacity]
            self._tuples[: len(part)].set(np.ascontiguousarray(part))
            self._counters[:2].set(np.array([len(part), 0], dtype=np.uint32))
            self._score(tiles)
        start = self._cupy.asarray(self._plan.choices_before(tiles.which))
        kernel = compiled("tuple_list.cu", "sample_tuples", list_options(self._plan))
        # Where samples are many, scoring a tuple by itself is dear.
        sample = min(_SAMPLE, max(_SAMPLE * _SAMPLE_STEPS // self._n_steps, _SMALLEST_SAMPLE))
        n_tries = int(min(sample, _SAMPLE_SHARE * self._tiles.n_tuples.sum()))
        for begin in range(0, n_tries, self._capacity):
            part_size = min(self._capacity, n_tries - begin)
            self._clear_counters()
            arguments = (
                tiles.records,
                start,
                np.int32(len(self._tiles)),
                np.int32(begin),
                np.int32(begin + part_size),
                self._tuples,
                self._counters,
                np.uint32(self._capacity),
            )
            kernel((-(-part_size // 256),), (256,), arguments)
            self._score(tiles)


def tuples_with_all(records: TileRecords, n_positions: int) -> npt.NDArray[np.int32]:
    """Return some tuples of the tiles, with every variable in a few of them: (number of the tile, positions)."""
    rng = np.random.default_rng(0)
    n_tiles, k = records.begin.shape
    per_place = -(-min(_TUPLES_PER_VARIABLE, -(-_TUPLES_FOR_ALL_VARIABLES // n_positions)) // k)
    found = []
    for place in range(k):
        # A tile for each block that stands at this place, whichever is written last.
        tile_at = np.full(n_positions, -1)
        shuffled = rng.permutation(n_tiles)
        tile_at[records.begin[shuffled, place]] = shuffled
        tiles = tile_at[tile_at >= 0]
        n_tries = per_place * (records.end[tiles, place] - records.begin[tiles, place])
        tile = np.repeat(tiles.astype(np.int32), n_tries)
        chosen = np.empty((k + 1, len(tile)), dtype=np.int32)
        chosen[0] = tile
        for other in range(k):
            begin = np.repeat(records.begin[tiles, other].astype(np.int32), n_tries)
            size = np.repeat((records.end[tiles, other] - records.begin[tiles, other]).astype(np.int32), n_tries)
            if other == place:  # each variable of the block in turn
                first = np.repeat((np.cumsum(n_tries) - n_tries).astype(np.int32), n_tries)
                begin += (np.arange(len(tile), dtype=np.int32) - first) % size
            else:
                begin += (rng.random(len(tile), dtype=np.float32) * size).astype(np.int32)
            chosen[1 + other] = begin
        ascends = (chosen[2:] > chosen[1:-1]).all(axis=0)
        found.append(chosen[:, ascends].T)
    return np.concatenate(found)
