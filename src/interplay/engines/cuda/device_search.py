"""One device's share of a search: warm the maxima, then bound all tuples and score those that may matter."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import gcd
from typing import Any

import numpy as np

from interplay.arrays import BitPlanes, FloatArray, IntArray, MaxGains, TupleTiles
from interplay.engines.cuda.candidates import merge_candidates
from interplay.engines.cuda.kernels import MAX_BLOCK, SearchVariant, choose_variant, compiled
from interplay.engines.cuda.layout import TileRecords, make_lane_layout, make_tile_records, upload_fragments
from interplay.engines.cuda.tables import InformationTables

#: Tuples that may wait to be scored; halved until they take no more than a part of the device's free memory.
_CAPACITY = 1 << 23
_MIN_CAPACITY = 1 << 18
_PART_OF_FREE_MEMORY = 0.25

#: A launch should not take longer than this, in seconds: Ctrl-C and progress wait for it.
_LAUNCH_SECONDS = 0.2

#: Before all else some tuples with every variable are scored, and then a random sample of all tuples, so that the bound
#: has maxima to compare with.
_TUPLES_PER_VARIABLE = 16
_TUPLES_FOR_ALL_VARIABLES = 1 << 19
_SAMPLE = 1 << 22
_SAMPLE_SHARE = 0.02

#: For fewer tuples than this no kernel is compiled that suits just these data: with levels other than two they are
#: scored one by one.
_NOT_WORTH_COMPILING = 1e8

#: Counters per tuple that fit into the shared memory of a warp.
_MAX_COUNTERS = 48_000


class TooManyCells(Exception):
    """A tuple has more cells than can be counted on the device."""


@dataclass
class _Work:
    """Tiles of one kind, cut into items that blocks of threads take in runs."""

    variant: SearchVariant
    tiles: Any
    item_start: Any
    n_tiles: int
    n_items: int
    items_per_run: int
    prefixes_per_item: int
    n_cells: int
    n_tuples: float

    @property
    def n_runs(self) -> int:
        return -(-self.n_items // self.items_per_run)


class DeviceSearch:
    """The state of a search on the current device.

    Parameters
    ----------
    share : (int, int)
        Which of how many equal parts of the work is this device's.
    """

    def __init__(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        tables: InformationTables,
        pseudocount: float,
        counting: str,
        known: MaxGains,
        share: tuple[int, int] = (0, 1),
    ) -> None:
        import cupy

        self._cupy = cupy
        self._planes, self._tiles, self._known, self._share = planes, tiles, known, share
        self._counting = counting
        self._k = tiles.dimensions
        self._n_groups = len(tiles.partner_cells)
        self._n_steps = planes.words.shape[1] // 4
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self._n_multiprocessors = int(properties["multiProcessorCount"])
        self._max_shared = int(properties["sharedMemPerMultiprocessor"])
        self._max_shared_of_block = int(properties["sharedMemPerBlockOptin"])

        smallest = planes.class_sizes.min()
        beta = pseudocount * planes.class_sizes / smallest
        self._beta = beta
        layout = make_lane_layout(planes, tiles)
        self._layout = layout
        self._records: TileRecords = make_tile_records(planes, tiles, layout)
        self._max_cells = int(self._records.n_cells.max())
        if self._max_cells * len(beta) > _MAX_COUNTERS:
            raise TooManyCells
        self._unit = tables.unit
        class_steps = (planes.class_word_start // 4).astype(np.int32)
        self._fragments = upload_fragments(planes, layout)
        self._class_steps = cupy.asarray(class_steps)
        self._class_sizes = cupy.asarray(planes.class_sizes.astype(np.float32))
        self._pseudocounts = cupy.asarray(beta.astype(np.float32))
        self._lanes = tuple(
            cupy.asarray(a) for a in (layout.first_position, layout.n_levels, layout.rows_per_level, layout.first_row)
        )
        self._tables = tuple(cupy.asarray(a) for a in (tables.values, tables.start, tables.multiplicity_of_levels))
        self._all_tiles = cupy.asarray(self._records.records)
        self._best = cupy.asarray(np.ascontiguousarray(known.gain_by_group[tiles.order]).reshape(-1))
        self._capacity = _CAPACITY
        self._allocate()
        # Survivors, candidates; then the next run, which is 64 bits wide.
        self._counters = cupy.zeros(4, dtype=cupy.uint32)
        self._pending: list[tuple[IntArray, FloatArray, IntArray]] = []

    def _allocate(self) -> None:
        """Make the buffers, smaller ones where memory is short."""
        cupy = self._cupy
        free, _ = cupy.cuda.runtime.memGetInfo()
        bytes_each = 4 * (1 + self._k) + 16 * self._k
        while self._capacity * bytes_each > _PART_OF_FREE_MEMORY * free and self._capacity > _MIN_CAPACITY:
            self._capacity //= 2
        while True:
            try:
                self._tuples = cupy.empty((self._capacity, 1 + self._k), dtype=cupy.int32)
                n_candidates = self._capacity * self._k
                self._candidate_slots = cupy.empty(n_candidates, dtype=cupy.int32)
                self._candidate_tuples = cupy.empty(n_candidates, dtype=cupy.int32)
                self._candidate_gains = cupy.empty(n_candidates, dtype=cupy.float64)
                return
            except cupy.cuda.memory.OutOfMemoryError:
                if self._capacity <= _MIN_CAPACITY:
                    raise
                self._capacity //= 2

    # --- the search ---------------------------------------------------------------------------------------------

    def run(self, on_done: Callable[[float], None]) -> None:
        """Search this device's share; `on_done` is called with the number of tuples done since the last call."""
        listed: list[IntArray] = []
        works: list[_Work] = []
        for which, variant in self._tiles_by_variant():
            if variant is None:
                listed.append(which)
            else:
                works.append(self._make_work(which, variant))
        for work in works:
            self._search(work, on_done)
        for which in listed:
            self._score_all(which, on_done)

    def found(self, discretization: int) -> MaxGains:
        """Return the maxima found until now, merged with those known before."""
        if not self._pending:
            return self._known
        best = self._best.get()
        slots, gains, tuples = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        kept = gains == best[slots]
        slots, gains, tuples = slots[kept], gains[kept], tuples[kept]
        order = self._tiles.order
        return merge_candidates(
            self._known, order[slots // self._n_groups], slots % self._n_groups, gains, order[tuples], discretization
        )

    def _tiles_by_variant(self) -> Iterator[tuple[IntArray, SearchVariant | None]]:
        """Sort the tiles by the kernel that can search them; None for those that are scored tuple by tuple."""
        if self._k == 1:
            yield np.arange(len(self._tiles)), None
            return
        records = self._records
        levels = self._layout.n_levels[records.lane].astype(np.int64)
        among = (records.lane[:, -2] == records.lane[:, -1]) & (records.end[:, -1] - records.begin[:, -1] <= MAX_BLOCK)
        kinds, kind_of = np.unique(np.column_stack([levels[:, -2:], among]), axis=0, return_inverse=True)
        kind_of = kind_of.reshape(-1)
        for kind, (row_levels, column_levels, rows_among_columns) in enumerate(kinds.tolist()):
            which = np.flatnonzero(kind_of == kind)
            worth_it = (row_levels, column_levels) == (2, 2) or (
                self._tiles.n_tuples[which].sum() >= _NOT_WORTH_COMPILING
            )
            choose = partial(
                choose_variant,
                dimensions=self._k,
                row_levels=row_levels,
                column_levels=column_levels,
                n_classes=len(self._beta),
                prefix_levels=self._common_levels(levels[which, :-2]),
                n_cells=int(self._n_prefix_cells(which).max()),
                class_steps=tuple((self._planes.class_word_start // 4).tolist()),
                compile_for_steps=self._tiles.n_tuples[which].sum() >= _NOT_WORTH_COMPILING,
                small_cells_need_care=self._small_cells_need_care(),
                counting=self._counting,
                max_shared_bytes=self._max_shared,
            )
            # Where those of one block do not fit, rows and columns may be cut into several.
            variant = (choose(rows_among_columns=True) if rows_among_columns else None) or choose(
                rows_among_columns=False
            )
            fits = self._planes.n_samples < 1 << 23
            yield which, variant if worth_it and fits else None

    def _common_levels(self, levels: IntArray) -> int:
        """Return the number of levels that all have, or 0; loops are unrolled by it, where that is no great number."""
        distinct = np.unique(levels)
        is_small = self._k == 2 or (len(distinct) == 1 and distinct[0] ** (self._k - 2) <= 16)
        return int(distinct[0]) if len(distinct) and is_small else 2 * (self._k == 2)

    def _n_prefix_cells(self, which: IntArray) -> IntArray:
        levels = self._layout.n_levels[self._records.lane[which, :-2]].astype(np.int64)
        return np.asarray(levels.prod(axis=1))

    def _two_level_counting(self) -> bool:
        """Say whether survivors are of the simplest kind, which is counted faster."""
        sizes = self._planes.class_sizes
        return bool(len(sizes) == 2 and sizes.max() < 1 << 16 and self._max_cells == 2**self._k and self._k <= 5)

    def _small_cells_need_care(self) -> bool:
        """Say whether differences of floats could lose the pseudocounts of an empty part."""
        return bool(self._planes.n_samples * 2.0**-21 > 2e-3 * self._beta.sum())

    def _tolerance(self) -> tuple[float, float]:
        """Return what the bound may lack, absolutely, and by what factor it may be too small."""
        n_prime = self._planes.n_samples + self._max_cells * self._beta.sum()
        return 0.002 + 1e-5 * float(n_prime), 1 / 1.004

    def _make_work(self, which: IntArray, variant: SearchVariant) -> _Work:
        cupy, records = self._cupy, self._records
        begin, end, lane = records.begin[which], records.end[which], records.lane[which]

        def n_pieces(place: int, size: int) -> IntArray:
            shift = (begin[:, place] - self._layout.first_position[lane[:, place]]) % 16
            return np.asarray(-(-(end[:, place] - begin[:, place] + shift) // size))

        n_prefixes = (end - begin)[:, :-2].prod(axis=1)
        pairs = variant.block_rows * variant.block_columns
        # One run must fit into the buffer, whatever survives; and there must be enough items for all.
        per_run = max(min(self._capacity, 1 << 20) // pairs, 1)
        n_rectangles = n_pieces(self._k - 2, variant.block_rows) * n_pieces(self._k - 1, variant.block_columns)
        enough = 8 * self._n_multiprocessors * variant.blocks_per_multiprocessor
        prefixes_per_item = int(np.clip((n_rectangles * n_prefixes).sum() // enough, 1, min(per_run, n_prefixes.max())))
        n_items = n_rectangles * -(-n_prefixes // prefixes_per_item)
        item_start = np.concatenate([[0], np.cumsum(n_items)]).astype(np.int64)
        items_per_run = int(np.clip(item_start[-1] // enough, 1, max(per_run // prefixes_per_item, 1)))
        return _Work(
            variant=variant,
            tiles=cupy.asarray(records.records[which]),
            item_start=cupy.asarray(item_start),
            n_tiles=len(which),
            n_items=int(item_start[-1]),
            items_per_run=items_per_run,
            prefixes_per_item=prefixes_per_item,
            n_cells=int(self._n_prefix_cells(which).max()),
            n_tuples=float(self._tiles.n_tuples[which].sum()),
        )

    def _search(self, work: _Work, on_done: Callable[[float], None]) -> None:
        """Bound every tuple of the work, in launches of growing size, and score the survivors after each."""
        number, n_shares = self._share
        run, end = work.n_runs * number // n_shares, work.n_runs * (number + 1) // n_shares
        size = max(1, (end - run) // 256)
        while run < end:
            until = min(run + size, end)
            began = time.perf_counter()
            self._launch_search(work, run, until)
            n_found = self._score(work.tiles)
            took = time.perf_counter() - began
            if n_found > self._capacity:
                # The maxima have risen: the same again, or less of it, leaves fewer.
                size = max(1, (until - run) // 4)
                continue
            on_done((until - run) / work.n_runs * work.n_tuples)
            run = until
            # Not longer than planned, and with room for twice as many survivors as there were.
            if took < _LAUNCH_SECONDS / 2 and n_found < self._capacity / 4:
                size *= 2
            elif took > _LAUNCH_SECONDS * 1.5 or n_found > self._capacity / 2:
                size = max(1, int(size * min(_LAUNCH_SECONDS / took, 0.5)))

    def _launch_search(self, work: _Work, first_run: int, end_run: int) -> None:
        kernel = compiled("tuple_search.cu", "find_survivors", work.variant.defines())
        shared = work.variant.shared_bytes(work.n_cells, self._n_steps)
        kernel.max_dynamic_shared_size_bytes = shared
        tolerance, shrink = self._tolerance()
        self._counters.fill(0)
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
            work.tiles,
            work.item_start,
            np.int32(work.n_tiles),
            np.int64(work.n_items),
            np.int32(work.prefixes_per_item),
            np.int64(work.items_per_run),
            np.int64(first_run),
            np.int64(end_run),
            np.int64(work.n_runs),
            np.int64(_scattering_stride(work.n_runs)),
            self._counters[2:],
            np.int32(work.n_cells),
            np.float32(tolerance),
            np.float32(shrink),
            self._tuples,
            self._counters,
            np.uint32(self._capacity),
        )
        kernel((n_blocks,), (work.variant.threads,), arguments, shared_mem=shared)

    def _score(self, tiles: Any) -> int:
        """Score the tuples in the buffer exactly and note what reaches a maximum; return how many there were."""
        options = (f"-DDIMENSIONS={self._k}", f"-DCLASSES={len(self._beta)}")
        kernel = compiled("information_gain.cu", "score_tuples", options)
        counters_bytes = 4 * self._max_cells * len(self._beta)
        n_warps = int(np.clip((self._max_shared_of_block - 1024) // counters_bytes, 1, 8))
        kernel.max_dynamic_shared_size_bytes = n_warps * counters_bytes
        arguments = (
            self._fragments,
            np.int32(self._n_steps),
            self._class_steps,
            *self._lanes,
            *self._tables,
            np.float64(self._unit),
            np.float64(-np.inf),
            tiles,
            self._tuples,
            self._counters,
            np.uint32(self._capacity),
            self._best,
            np.int32(self._n_groups),
            np.int32(self._max_cells),
            np.int32(self._two_level_counting()),
            self._candidate_slots,
            self._candidate_tuples,
            self._candidate_gains,
            self._counters[1:],
        )
        kernel((self._n_multiprocessors * 8,), (32 * n_warps,), arguments, shared_mem=n_warps * counters_bytes)
        n_found, n_candidates = self._counters[:2].get().tolist()
        if n_candidates:
            slots = self._candidate_slots[:n_candidates]
            gains = self._candidate_gains[:n_candidates]
            kept = self._cupy.flatnonzero(gains == self._best[slots])
            tuples = self._tuples[self._candidate_tuples[:n_candidates][kept], 1:]
            self._pending.append((slots[kept].get(), gains[kept].get(), tuples.get()))
        return int(n_found)

    # --- tuples that are listed -----------------------------------------------------------------------------------

    def _score_listed(self, tuples: IntArray) -> None:
        """Score tuples given as (number of the tile, positions)."""
        for begin in range(0, len(tuples), self._capacity):
            part = tuples[begin : begin + self._capacity]
            self._tuples[: len(part)] = self._cupy.asarray(part.astype(np.int32))
            self._counters[:2] = self._cupy.asarray(np.array([len(part), 0], dtype=np.uint32))
            self._score(self._all_tiles)

    def _score_all(self, which: IntArray, on_done: Callable[[float], None]) -> None:
        """Score every tuple of some tiles, tile by tile."""
        number, n_shares = self._share
        kernel = compiled("tuple_list.cu", "list_tuples", (f"-DDIMENSIONS={self._k}",))
        sizes = self._records.end - self._records.begin
        for tile in which[number::n_shares].tolist():
            n_choices = int(np.prod(sizes[tile], dtype=np.int64))
            for begin in range(0, n_choices, self._capacity):
                end = min(begin + self._capacity, n_choices)
                self._counters.fill(0)
                arguments = (
                    self._all_tiles,
                    np.int32(tile),
                    np.int64(begin),
                    np.int64(end),
                    self._tuples,
                    self._counters,
                    np.uint32(self._capacity),
                )
                kernel((-(-(end - begin) // 256),), (256,), arguments)
                self._score(self._all_tiles)
                on_done((end - begin) / n_choices * self._tiles.n_tuples[tile])

    def warm(self) -> None:
        """Score a few tuples with every variable, then a random sample: the bound compares with the maxima so far."""
        if self._k == 1:
            return
        self._score_listed(tuples_with_all(self._records, len(self._tiles.order)))
        n_choices = (self._records.end - self._records.begin).astype(np.float64).prod(axis=1)
        start = self._cupy.asarray(np.concatenate([[0.0], np.cumsum(n_choices)]))
        kernel = compiled("tuple_list.cu", "sample_tuples", (f"-DDIMENSIONS={self._k}",))
        n_tries = int(min(_SAMPLE, _SAMPLE_SHARE * self._tiles.n_tuples.sum()))
        for seed, begin in enumerate(range(0, n_tries, self._capacity)):
            part = min(self._capacity, n_tries - begin)
            self._counters.fill(0)
            arguments = (
                self._all_tiles,
                start,
                np.int32(len(self._tiles)),
                np.uint64(seed),
                np.int32(part),
                self._tuples,
                self._counters,
                np.uint32(self._capacity),
            )
            kernel((-(-part // 256),), (256,), arguments)
            self._score(self._all_tiles)


def tuples_with_all(records: TileRecords, n_positions: int) -> IntArray:
    """Return some tuples of the tiles, with every variable in a few of them: (number of the tile, positions)."""
    rng = np.random.RandomState(0)
    n_tiles, k = records.begin.shape
    per_place = -(-min(_TUPLES_PER_VARIABLE, -(-_TUPLES_FOR_ALL_VARIABLES // n_positions)) // k)
    found = []
    for place in range(k):
        shuffled = rng.permutation(n_tiles)
        _, first = np.unique(records.begin[shuffled, place], return_index=True)
        tiles = shuffled[first]  # one for each block that stands at this place
        n_tries = per_place * (records.end[tiles, place] - records.begin[tiles, place])
        tile = np.repeat(tiles, n_tries)
        begin, size = records.begin[tile], records.end[tile] - records.begin[tile]
        positions = begin + (rng.random_sample((len(tile), k)) * size).astype(np.int64)
        # Each variable of the block in turn.
        counted = np.arange(len(tile)) - np.repeat(np.cumsum(n_tries) - n_tries, n_tries)
        positions[:, place] = begin[:, place] + counted % size[:, place]
        ascends = (positions[:, 1:] > positions[:, :-1]).all(axis=1)
        found.append(np.column_stack([tile, positions])[ascends])
    return np.concatenate(found)


def _scattering_stride(n: int) -> int:
    """Return a step that visits 0 … n − 1 in a scattered order: near the golden section of n, and coprime to it."""
    stride = max(1, int(n * 0.6180339887))
    while gcd(stride, n) != 1:
        stride += 1
    return stride
