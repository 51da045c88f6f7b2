"""The state of a search or a list on one device: planes, tables, maxima or thresholds, buffers, counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.cuda.device_planes import DevicePlanes, KeptPlanes
from interplay.search.engines.cuda.devices import DeviceLimits, device_properties, free_bytes
from interplay.search.engines.cuda.tables import InformationTables
from interplay.search.engines.cuda.work_plan import MIN_CAPACITY, WorkPlan

#: The buffers are halved until they take no more than this part of the device's free memory.
_PART_OF_FREE_MEMORY = 0.25


@dataclass(frozen=True)
class SearchData:
    """The input that all devices of a search or a list have in common.

    Attributes
    ----------
    planes : BitPlanes
    tables : InformationTables
        The terms of the scores of cells.
    pseudocount : float
    limits : DeviceLimits
    kept : KeptPlanes, optional
        Planes that stay on the device from one search to the next.
    """

    planes: BitPlanes
    tables: InformationTables
    pseudocount: float
    limits: DeviceLimits
    kept: KeptPlanes | None = None


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


#: Scores the tuples in the buffer exactly; returns how many there were, which may be more than fit into it.
Score = Callable[[ChosenTiles], int]

#: Called with the number of tuples done since the last call.
OnDone = Callable[[float], None]


class DeviceState:
    """Planes, tiles and buffers on the current device.

    Parameters
    ----------
    data : SearchData
    tiles : TupleTiles
    plan : WorkPlan
        Of these tiles.
    best : (n_rows, n_groups) float64
        The score that a member has to reach.
    capacity : int
        Tuples that may wait to be scored; fewer where memory is short.
    planes_share : float
        The part of the device's free memory that planes may take.

    Attributes
    ----------
    capacity : int
        Tuples that the buffer has room for.
    planes : DevicePlanes
        Brings the planes of tiles to `fragments`.
    fragments, class_steps, class_sizes, totals, bound_constants, lanes, tables, order, best : device arrays
        As the kernels take them.
    product_steps : device array
        The steps of classes, or the groups of a number outcome, of kernels that count products.
    n_steps : int
        Steps of 256 samples; those of a number outcome come in several orders.
    tuples : (capacity, 1 + k) device array
        Tuples to be scored: the number of the tile among the chosen ones, and the positions of the members.
    candidates : tuple of device arrays
        Slots, numbers of tuples and scores that reach `best`; room for k of each tuple.
    counters : (4,) device array
        Tuples, candidates; then the next run, which is 64 bits wide.
    known_counts : (device array, int32), optional
        The counts of the tuples in the buffer, and how many numbers each tuple has, while batches are searched.
    """

    def __init__(
        self,
        data: SearchData,
        tiles: TupleTiles,
        plan: WorkPlan,
        *,
        best: FloatArray,
        capacity: int,
        planes_share: float,
    ) -> None:
        import cupy

        self.cupy = cupy
        self.data, self.tiles, self.plan = data, tiles, plan
        planes, layout = data.planes, plan.layout
        self.n_groups = len(tiles.partner_cells)
        self.n_steps = plan.n_steps
        self.n_multiprocessors = int(device_properties(cupy.cuda.Device().id)["multiProcessorCount"])
        orders = plan.orders
        if data.kept is not None:
            self.planes = data.kept.planes(planes, orders, dimensions=plan.dimensions, share=planes_share)
        else:
            self.planes = DevicePlanes(planes, layout, orders, dimensions=plan.dimensions, share=planes_share)
        self.fragments = self.planes.fragments
        if orders is None:
            self.class_steps = self.product_steps = cupy.asarray((planes.class_word_start // 4).astype(np.int32))
        else:
            self.class_steps, self.product_steps = cupy.asarray(orders.for_tuples), cupy.asarray(orders.for_products)
        self.class_sizes = cupy.asarray(planes.class_sizes.astype(np.float32))
        self.totals = cupy.asarray(_totals(planes))
        self.bound_constants = cupy.asarray(plan.bound_constants.astype(np.float32))
        of_lanes = (layout.first_position, layout.n_levels, layout.rows_per_level)
        self.lanes = (*(cupy.asarray(a) for a in of_lanes), self.planes.first_row)
        self.tables = tuple(cupy.asarray(a) for a in (data.tables.values, data.tables.start))
        self.order = cupy.asarray(tiles.order.astype(np.int32))
        self.best = cupy.asarray(np.ascontiguousarray(best[tiles.order]).reshape(-1))
        self.capacity = capacity
        self.known_counts: tuple[Any, Any] | None = None
        self._allocate()
        self.counters = cupy.zeros(4, dtype=cupy.uint32)

    def _allocate(self) -> None:
        """Make the buffers, smaller ones where memory is short."""
        cupy, k = self.cupy, self.plan.dimensions
        free = free_bytes()
        bytes_each = 4 * (1 + k) + 16 * k
        while self.capacity * bytes_each > _PART_OF_FREE_MEMORY * free and self.capacity > MIN_CAPACITY:
            self.capacity //= 2
        while True:
            try:
                self.tuples = cupy.empty((self.capacity, 1 + k), dtype=cupy.int32)
                self.candidates = tuple(
                    cupy.empty(self.capacity * k, dtype=dtype) for dtype in (cupy.int32, cupy.int32, cupy.float64)
                )
                return
            except cupy.cuda.memory.OutOfMemoryError:
                if self.capacity <= MIN_CAPACITY:
                    raise
                self.capacity //= 2
                self.tuples = None

    def clear_counters(self) -> None:
        """Begin with no tuples and no candidates; by the driver, since CuPy would have to compile a kernel for it."""
        self.counters.data.memset_async(0, 16)

    def stretches(self, which: IntArray) -> Iterator[IntArray]:
        """Cut tiles into stretches, each of which has its planes on the device when it comes."""
        for stretch in self.planes.stretches(self.plan.records.lane[which]):
            yield which[stretch]

    def chosen(self, which: IntArray) -> ChosenTiles:
        """Copy the records of some tiles to the device."""
        return ChosenTiles(which, self.cupy.asarray(self.plan.records.records[which]))

    @property
    def buffer(self) -> tuple[Any, ...]:
        """The buffer of tuples, its counter and its capacity, as kernels that find tuples take them."""
        return self.tuples, self.counters, np.uint32(self.capacity)

    @cached_property
    def multiplicity_of_levels(self) -> Any:
        """The table of `InformationTables`, on the device."""
        return self.cupy.asarray(self.data.tables.multiplicity_of_levels)

    @cached_property
    def is_paired(self) -> bool:
        """Whether the counts of both classes fit into a word."""
        sizes = self.data.planes.class_sizes
        return bool(len(sizes) == 2 and sizes.max() < 1 << 16)

    @contextmanager
    def counts_known(self, counts_of_tuple: int, max_tuples: int) -> Iterator[None]:
        """Let tuples bring their counts with them: no more tuples than `max_tuples`, for which there is room."""
        capacity = self.capacity
        try:
            self.capacity = min(capacity, max_tuples)
            counts = self.cupy.empty(self.capacity * counts_of_tuple, dtype=self.cupy.uint32)
            self.known_counts = (counts, np.int32(counts_of_tuple))
            yield
        finally:
            self.capacity, self.known_counts = capacity, None


def _totals(planes: BitPlanes) -> npt.NDArray[np.uint32]:
    """Return the samples of each class; or all samples and the sum of their scores, modulo 2³²."""
    if planes.scores is None or planes.samples is None:
        return planes.class_sizes.astype(np.uint32)
    of_bytes = np.unpackbits(planes.samples.astype("<u8").view(np.uint8)).reshape(-1, 8).sum(axis=1)
    total = int((planes.scores.astype(np.int64) * of_bytes).sum())
    return np.array([planes.n_samples, total % 2**32], dtype=np.uint32)
