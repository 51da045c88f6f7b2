"""Batches of tuples on a device: mask, count, bound; what survives is in the buffer of tuples then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay.engines.cuda.kernels import compiled
from interplay.engines.cuda.product_plan import BOUND_THREADS, ROWS_OF_UNIT, ProductWork, buffer_shapes


class DeviceProducts:
    """The batches of a work on the current device.

    Parameters
    ----------
    work : ProductWork
    n_steps : int
        Steps of 256 samples.
    data : tuple of device arrays
        The planes' fragments, where the classes begin, their sizes; and how the lane blocks lie.
    bounded_by : tuple of device arrays and numbers
        Tiles, best gains, the number of groups, and pseudocounts.
    survivors : tuple of device arrays and numbers
        Where tuples go, their number, and how many there is room for.
    tolerance : float
        What the bound may lack.
    """

    def __init__(
        self,
        work: ProductWork,
        n_steps: int,
        *,
        fragments: Any,
        class_steps: Any,
        class_sizes: Any,
        lanes: tuple[Any, ...],
        bounded_by: tuple[Any, ...],
        survivors: tuple[Any, ...],
        tolerance: float,
    ) -> None:
        import cupy

        self._work, self._n_steps = work, np.int32(n_steps)
        self._fragments, self._class_steps, self._class_sizes, self._lanes = fragments, class_steps, class_sizes, lanes
        self._bounded_by, self._survivors, self._tolerance = bounded_by, survivors, np.float32(tolerance)
        self._batches = cupy.asarray(work.batches)
        self._buffers = {
            name: cupy.empty(shape, dtype=cupy.uint32) for name, shape in buffer_shapes(work, n_steps).items()
        }
        variant = work.variant
        counting = variant.counting_defines()
        self._make_masks = compiled("product_masks.cu", "make_masks", counting)
        self._count_margins = compiled("product_masks.cu", "count_margins", counting)
        self._count_products = compiled("tuple_products.cu", "count_products", variant.count_defines())
        self._count_products.max_dynamic_shared_size_bytes = variant.count_shared_bytes
        self._find_margins = compiled("product_bound.cu", "find_margins", variant.bound_defines())
        self._bound_products = compiled("product_bound.cu", "bound_products", variant.bound_defines())

    def search(self, number: int) -> None:
        """Count a batch and bound all its tuples."""
        self._count(number)
        self.bound(number, 0, self.n_units(number))

    def n_units(self, number: int) -> int:
        """Return the parts of a batch that can be bound by themselves."""
        return int(self._work.n_prefixes[number] * (self._work.n_rows[number] // ROWS_OF_UNIT))

    def _count(self, number: int) -> None:
        work, variant, buffers = self._work, self._work.variant, self._buffers
        batch = (*self._lanes, self._batches, np.int32(number))
        n_masks, n_classes = int(work.n_masks[number]), np.int32(variant.n_classes)
        # Masks by blocks of threads, and where these are few, parts of the samples too.
        parts = min(-(-int(self._n_steps) * 4 // 128), 65_535)
        self._make_masks((n_masks + 7, parts), (128,), (self._fragments, self._n_steps, *batch, buffers["masks"]))
        planes = int(work.row_planes[number] + work.column_planes[number])
        self._count_margins(
            (-(-(planes // 16 + 1) * -(-n_masks // 8) // 4),),
            (128,),
            (
                self._fragments,
                self._n_steps,
                self._class_steps,
                self._class_sizes,
                n_classes,
                *batch,
                buffers["masks"],
                buffers["margins"],
            ),
        )
        n_variables = int(work.n_rows[number] + work.n_columns[number])
        self._find_margins(
            (-(-n_variables // 64), int(work.n_prefixes[number])),
            (64,),
            (*batch, *self._bounded_by, buffers["margins"], *self._margins()),
        )
        blocks = variant.planes_of_block
        self._count_products(
            (
                -(-n_masks // variant.masks_of_block),
                int(work.row_planes[number]) // blocks,
                int(work.column_planes[number]) // blocks,
            ),
            (variant.count_threads,),
            (
                self._fragments,
                self._n_steps,
                self._class_steps,
                n_classes,
                *batch,
                buffers["masks"],
                buffers["products"],
            ),
            shared_mem=variant.count_shared_bytes,
        )

    def bound(self, number: int, first: int, end: int) -> None:
        """Bound the tuples of some units of the batch that was counted last."""
        work = self._work
        row_stride = int(work.column_planes[number])
        self._bound_products(
            (end - first, -(-int(work.n_columns[number]) // BOUND_THREADS)),
            (BOUND_THREADS,),
            (
                *self._lanes,
                self._batches,
                np.int32(number),
                *self._bounded_by,
                self._buffers["products"],
                np.int64(row_stride),
                np.int64(row_stride * int(work.row_planes[number])),
                *self._margins(),
                np.int32(first),
                self._tolerance,
                *self._survivors,
            ),
        )

    def _margins(self) -> Iterator[Any]:
        names = ("cell_rows", "row_factors", "cell_columns", "information", "rest")
        return iter([self._buffers[name] for name in names])
