"""What a search for maxima and a list of tuples share: data on a device, and launches over all tuples of some tiles.

Tuples come from a bound, which leaves those that may matter, or from a list of all of them. Either way they are put
into a buffer and scored exactly; what becomes of the scores is up to the subclass.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import gcd
from typing import Any

import numpy as np

from interplay.arrays import BitPlanes, FloatArray, IntArray, TupleTiles
from interplay.engines.cuda.devices import device_properties
from interplay.engines.cuda.kernels import MAX_BLOCK, SearchVariant, choose_variant, compiled
from interplay.engines.cuda.layout import TileRecords, make_lane_layout, make_tile_records, upload_fragments
from interplay.engines.cuda.tables import InformationTables

#: The buffers are halved until they take no more than a part of the device's free memory.
MIN_CAPACITY = 1 << 18
_PART_OF_FREE_MEMORY = 0.25

#: A launch should not take longer than this, in seconds: Ctrl-C and progress wait for it.
_LAUNCH_SECONDS = 0.2

#: A launch of fewer tuples than this takes hardly less time.
_FIRST_TUPLES = 4e6

#: For fewer tuples than this no kernel is compiled that suits just these data: with levels other than two they are
#: scored one by one.
_NOT_WORTH_COMPILING = 1e8

#: Counters per tuple that fit into the shared memory of a warp.
_MAX_COUNTERS = 48_000

#: Tiles whose choices are numbered together: the numbers stay below 2**63.
_TILES_AT_ONCE = 4096

#: Called with the number of tuples done since the last call.
OnDone = Callable[[float], None]


class TooManyCells(Exception):
    """A tuple has more cells than can be counted on the device, or the tables to score it would be too large."""


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
class Work:
    """Tiles of one kind, cut into items that blocks of threads take in runs."""

    variant: SearchVariant
    tiles: ChosenTiles
    item_start: Any
    n_items: int
    items_per_run: int
    prefixes_per_item: int
    n_cells: int
    n_tuples: float

    @property
    def n_runs(self) -> int:
        return -(-self.n_items // self.items_per_run)


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
    """

    #: The first launch bounds this share of the tuples; where they are few, more.
    first_launch = 1 / 256

    def __init__(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        tables: InformationTables,
        pseudocount: float,
        counting: str,
        best: FloatArray,
        capacity: int,
        share: tuple[int, int] = (0, 1),
    ) -> None:
        import cupy

        self._cupy = cupy
        self._planes, self._tiles, self._share = planes, tiles, share
        self._counting = counting
        self._k = tiles.dimensions
        self._n_groups = len(tiles.partner_cells)
        self._n_steps = planes.words.shape[1] // 4
        properties = device_properties(cupy.cuda.Device().id)
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
        self._tables = tuple(cupy.asarray(a) for a in (tables.values, tables.start))
        self._best = cupy.asarray(np.ascontiguousarray(best[tiles.order]).reshape(-1))
        self._capacity = capacity
        self._allocate()
        # Tuples, candidates; then the next run, which is 64 bits wide.
        self._counters = cupy.zeros(4, dtype=cupy.uint32)

    def _allocate(self) -> None:
        """Make the buffers, smaller ones where memory is short."""
        cupy = self._cupy
        free, _ = cupy.cuda.runtime.memGetInfo()
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

    def _chosen(self, which: IntArray) -> ChosenTiles:
        return ChosenTiles(which, self._cupy.asarray(self._records.records[which]))

    # --- scores ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def _score(self, tiles: ChosenTiles) -> int:
        """Score the tuples in the buffer exactly; return how many there were, which may be more than fit into it."""

    def _launch_gains(self, tiles: ChosenTiles, multiplicity_of_levels: Any, *, best_is_fixed: bool) -> None:
        """Note the gains in the buffer's tuples that reach the best of their slots, or exceed it if it is fixed."""
        self._launch_scores(
            "information_gain.cu",
            "score_tuples",
            (*self._tables, multiplicity_of_levels, np.float64(self._unit)),
            tiles,
            (self._best, np.int32(best_is_fixed)),
        )

    def _launch_scores(
        self, file: str, function: str, how: tuple[Any, ...], tiles: ChosenTiles, best: tuple[Any, ...]
    ) -> None:
        options = (f"-DDIMENSIONS={self._k}", f"-DCLASSES={len(self._beta)}")
        kernel = compiled(file, function, options)
        counters_bytes = 4 * self._max_cells * len(self._beta)
        n_warps = int(np.clip((self._max_shared_of_block - 1024) // counters_bytes, 1, 8))
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
            np.int32(self._max_cells),
            np.int32(self._two_level_counting()),
            self._candidate_slots,
            self._candidate_tuples,
            self._candidate_scores,
            self._counters[1:],
        )
        kernel((self._n_multiprocessors * 8,), (32 * n_warps,), arguments, shared_mem=n_warps * counters_bytes)

    def _two_level_counting(self) -> bool:
        """Say whether tuples are of the simplest kind, which is counted faster."""
        sizes = self._planes.class_sizes
        return bool(len(sizes) == 2 and sizes.max() < 1 << 16 and self._max_cells == 2**self._k and self._k <= 5)

    # --- tuples that may matter -----------------------------------------------------------------------------------

    def _tiles_by_variant(self, among: IntArray) -> Iterator[tuple[IntArray, SearchVariant | None]]:
        """Sort some tiles by the kernel that can search them; None for those that are scored tuple by tuple."""
        if self._k == 1:
            yield among, None
            return
        records = self._records
        lane = records.lane[among]
        levels = self._layout.n_levels[lane].astype(np.int64)
        in_one_block = (lane[:, -2] == lane[:, -1]) & (records.end[among, -1] - records.begin[among, -1] <= MAX_BLOCK)
        kinds, kind_of = np.unique(np.column_stack([levels[:, -2:], in_one_block]), axis=0, return_inverse=True)
        kind_of = kind_of.reshape(-1)
        for kind, (row_levels, column_levels, rows_among_columns) in enumerate(kinds.tolist()):
            of_kind = np.flatnonzero(kind_of == kind)
            which = among[of_kind]
            worth_it = (row_levels, column_levels) == (2, 2) or (
                self._tiles.n_tuples[which].sum() >= _NOT_WORTH_COMPILING
            )
            choose = partial(
                choose_variant,
                dimensions=self._k,
                row_levels=row_levels,
                column_levels=column_levels,
                n_classes=len(self._beta),
                prefix_levels=self._common_levels(levels[of_kind, :-2]),
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

    def _small_cells_need_care(self) -> bool:
        """Say whether differences of floats could lose the pseudocounts of an empty part."""
        return bool(self._planes.n_samples * 2.0**-21 > 2e-3 * self._beta.sum())

    def _tolerance(self) -> tuple[float, float]:
        """Return what the bound may lack, absolutely, and by what factor it may be too small."""
        n_prime = self._planes.n_samples + self._max_cells * self._beta.sum()
        return 0.002 + 1e-5 * float(n_prime), 1 / 1.004

    def _make_work(self, which: IntArray, variant: SearchVariant) -> Work:
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
        return Work(
            variant=variant,
            tiles=self._chosen(which),
            item_start=cupy.asarray(item_start),
            n_items=int(item_start[-1]),
            items_per_run=items_per_run,
            prefixes_per_item=prefixes_per_item,
            n_cells=int(self._n_prefix_cells(which).max()),
            n_tuples=float(self._tiles.n_tuples[which].sum()),
        )

    def _search(self, work: Work, on_done: OnDone) -> None:
        """Bound every tuple of the work, in launches of fitting size, and score the survivors after each."""
        number, n_shares = self._share
        run, end = work.n_runs * number // n_shares, work.n_runs * (number + 1) // n_shares
        size = max(1, int((end - run) * max(self.first_launch, _FIRST_TUPLES / work.n_tuples)))
        while run < end:
            until = min(run + size, end)
            began = time.perf_counter()
            self._launch_search(work, run, until)
            n_found = self._score(work.tiles)
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

    def _launch_search(self, work: Work, first_run: int, end_run: int) -> None:
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
            work.tiles.records,
            work.item_start,
            np.int32(len(work.tiles.which)),
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

    # --- all tuples -----------------------------------------------------------------------------------------------

    def _score_all(self, which: IntArray, on_done: OnDone) -> None:
        """Score every tuple of some tiles, as many at a time as there is room for."""
        number, n_shares = self._share
        kernel = compiled("tuple_list.cu", "list_tuples", (f"-DDIMENSIONS={self._k}",))
        which = which[number::n_shares]
        for first in range(0, len(which), _TILES_AT_ONCE):
            tiles = self._chosen(which[first : first + _TILES_AT_ONCE])
            sizes = self._records.end[tiles.which] - self._records.begin[tiles.which]
            start = np.concatenate([[0], np.cumsum(sizes.prod(axis=1))])
            n_choices, n_tuples = int(start[-1]), float(self._tiles.n_tuples[tiles.which].sum())
            on_device = self._cupy.asarray(start)
            for begin in range(0, n_choices, self._capacity):
                end = min(begin + self._capacity, n_choices)
                self._counters.fill(0)
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


def _scattering_stride(n: int) -> int:
    """Return a step that visits 0 … n − 1 in a scattered order: near the golden section of n, and coprime to it."""
    stride = max(1, int(n * 0.6180339887))
    while gcd(stride, n) != 1:
        stride += 1
    return stride
