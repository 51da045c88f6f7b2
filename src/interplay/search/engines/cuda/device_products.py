"""Batches of tuples on a device: mask, count, bound; survivors go to the buffer of tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.search.engines.cuda.device_state import ChosenTiles, DeviceState
from interplay.search.engines.cuda.kernel_loader import allow_shared_memory, compiled
from interplay.search.engines.cuda.layout import FRAGMENT_ROWS
from interplay.search.engines.cuda.product_plan import BOUND_THREADS, ProductWork, buffer_shapes


class DeviceProducts:
    """The batches of a work on the current device.

    Parameters
    ----------
    work : ProductWork
    state : DeviceState
        Its buffer takes the survivors, and `known_counts` their counts.
    tiles : ChosenTiles
        The tiles of the work.
    """

    def __init__(self, work: ProductWork, state: DeviceState, tiles: ChosenTiles) -> None:
        cupy = state.cupy
        assert state.known_counts is not None
        self.work, self._cupy, self._n_multiprocessors = work, cupy, state.n_multiprocessors
        self._n_steps, self._tolerance = np.int32(state.n_steps), np.float32(state.plan.product_tolerance)
        self._fragments, self._lanes = state.fragments, state.lanes
        self._class_steps, self._totals = state.class_steps, state.totals
        # Groups of samples take the place of classes where the outcome is a number.
        n_groups = None if state.plan.orders is None else state.plan.orders.n_groups
        self._counted = (state.product_steps, np.int32(n_groups or work.variant.n_classes))
        self._bounded_by = (tiles.records, state.best, np.int32(state.n_groups), state.bound_constants)
        tuples, *buffer = state.buffer
        self._survivors = (tuples, *state.known_counts, *buffer)
        self._batches = cupy.asarray(work.batches)
        # Two batches are in work at a time: one is counted while the other is bounded, and neither leaves the device
        # idle where it has fewer blocks of threads than that can run.
        shapes = buffer_shapes(work, state.n_steps)
        self._sides = [
            (cupy.cuda.Stream(), {name: cupy.empty(shape, dtype=cupy.uint32) for name, shape in shapes.items()})
            for _ in range(min(2, len(work)))
        ]
        self._last_side = 0
        variant = work.variant
        counting = variant.counting_defines()
        self._make_masks = compiled("products/product_masks.cu", "make_masks", counting)
        self._count_margins = compiled("products/product_masks.cu", "count_margins", counting)
        self._list_blocks = compiled(variant.count_source, "list_blocks", variant.count_defines())
        self._count_products = compiled(variant.count_source, "count_products", variant.count_defines())
        allow_shared_memory(self._count_products, variant.count_shared_bytes)
        self._find_margins = compiled("products/product_bound.cu", "find_margins", variant.bound_defines())
        self._bound_products = compiled("products/product_bound.cu", "bound_products", variant.bound_defines())

    def search(self, batches: Sequence[int]) -> None:
        """Count some batches and bound all their tuples; later work of the current stream waits for it."""
        now = self._cupy.cuda.get_current_stream()
        before = now.record()
        for stream, _ in self._sides:
            stream.wait_event(before)
        for i, number in enumerate(batches):
            self._last_side = i % len(self._sides)
            stream, buffers = self._sides[self._last_side]
            with stream:
                self._count(number, buffers)
                self._bound(number, buffers, 0, self.n_strips(number))
        for stream, _ in self._sides:
            now.wait_event(stream.record())

    def n_strips(self, number: int) -> int:
        """Return the number of strips of a batch; each can be bounded by itself."""
        return int(self.work.n_prefixes[number] * (self.work.n_rows[number] // self.work.variant.rows_of_strip))

    def bound_again(self, number: int, first: int, end: int) -> None:
        """Bound the tuples of some strips of the batch that was counted last."""
        self._bound(number, self._sides[self._last_side][1], first, end)

    def _count(self, number: int, buffers: dict[str, Any]) -> None:
        work, variant = self.work, self.work.variant
        batch = (*self._lanes, self._batches, np.int32(number))
        n_masks = int(work.n_masks[number])
        # Masks by blocks of threads; where these are few, parts of the samples too.
        parts = min(-(-int(self._n_steps) * 4 // 128), 65_535)
        self._make_masks(
            (-(-n_masks // 8) * 8, parts), (128,), (self._fragments, self._n_steps, *batch, buffers["masks"])
        )
        n_fragments = int(work.n_margin_planes[number]) // FRAGMENT_ROWS + 1
        self._count_margins(
            (-(-n_masks // 32), -(-n_fragments // 4)),
            (256,),
            (
                self._fragments,
                self._n_steps,
                self._class_steps,
                self._totals,
                np.int32(variant.n_classes),
                *batch,
                buffers["masks"],
                buffers["margins"],
            ),
        )
        n_variables = int(work.n_rows[number] + work.n_columns[number])
        self._find_margins(
            (-(-n_variables // 128), int(work.n_prefixes[number])),
            (128,),
            (*batch, *self._bounded_by, buffers["margins"], *_margins(buffers)),
        )
        n_blocks, size = int(work.n_blocks[number]), variant.planes_of_block
        sides = np.int32(work.row_planes[number] // size), np.int32(work.column_planes[number] // size)
        buffers["blocks"].data.memset_async(0, 4)
        self._list_blocks((-(-n_blocks // 128),), (128,), (*batch, *sides, np.uint32(n_blocks), buffers["blocks"]))
        self._count_products(
            (min(n_blocks, variant.count_blocks * self._n_multiprocessors),),
            (variant.count_threads,),
            (
                self._fragments,
                self._n_steps,
                *self._counted,
                *batch,
                buffers["masks"],
                *sides,
                buffers["blocks"],
                buffers["products"],
            ),
            shared_mem=variant.count_shared_bytes,
        )

    def _bound(self, number: int, buffers: dict[str, Any], first: int, end: int) -> None:
        work = self.work
        row_stride = int(work.column_planes[number])
        self._bound_products(
            (end - first, -(-int(work.n_columns[number]) // BOUND_THREADS)),
            (BOUND_THREADS,),
            (
                *self._lanes,
                self._batches,
                np.int32(number),
                *self._bounded_by,
                buffers["products"],
                np.int64(row_stride),
                np.int64(row_stride * int(work.row_planes[number])),
                *_margins(buffers),
                np.int32(first),
                self._tolerance,
                *self._survivors,
            ),
        )


def _margins(buffers: dict[str, Any]) -> list[Any]:
    return [buffers[name] for name in ("cell_rows", "row_factors", "cell_columns", "information", "rest")]
