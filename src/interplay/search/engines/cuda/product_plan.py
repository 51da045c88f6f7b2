"""Tiles → batches whose counts go through the device's memory: for many samples, or more levels than registers hold.

All of it is host arithmetic. `core/cuda/products/product_batch.cuh` defines a batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.search.engines.cuda.digit_orders import segment_steps
from interplay.search.engines.cuda.kernels import EVERY_MEMBER, LOGARITHMS, NUMBERS
from interplay.search.engines.cuda.layout import FRAGMENT_ROWS, LaneLayout, TileRecords

#: Places of a prefix that a batch has room for.
_MAX_PREFIX = 3

#: Rows and columns of a batch are not cut below this number of variables, whole fragments, however many their levels.
_FEWEST_VARIABLES = 64

#: Sums below become floats by way of their bits.
_SMALL_SUMS = 1 << 22

#: Steps of a segment where samples are many, and the share of all steps that segments may add to them, as zeros.
_LONG_SEGMENT, _MAX_WASTED = 8, 0.05

#: Threads of `bound_products`.
BOUND_THREADS = 128


@dataclass(frozen=True)
class ProductVariant:
    """The options of the kernels for batches.

    Attributes
    ----------
    n_classes : int
        2 where the outcome is a number: the samples, and the sum of their scores.
    count_bits : int
        Bits of the samples in a word, where sums are above them.
    segment_steps : int
        Steps of 256 samples that are copied at a time.
    """

    dimensions: int
    row_levels: int
    column_levels: int
    n_classes: int
    prefix_levels: int
    paired: bool
    counting: str
    segment_steps: int
    warp_groups: bool = False
    every_member: bool = False
    logarithms: bool = False
    of_numbers: bool = False
    small_sums: bool = False
    count_bits: int = 0

    @property
    def words_of_pair(self) -> int:
        """Words that the counts of a pair of planes with a mask take."""
        return 1 if self.paired else self.n_classes

    @property
    def masks_of_warp(self) -> int:
        if self.dimensions == 2:
            return 1
        return 2 if self.of_numbers else 4  # registers hold counts and sums

    @property
    def mask_groups(self) -> int:
        """Groups of four warps in a block of threads, each with masks of its own; they share planes."""
        return 2 if self.dimensions > 2 else 1

    @property
    def masks_of_block(self) -> int:
        return self.masks_of_warp * self.mask_groups

    @property
    def planes_of_block(self) -> int:
        """Planes of rows, and of columns, that a block of threads counts."""
        return 64 if self.dimensions > 2 or self.of_numbers else 128

    @property
    def rows_of_strip(self) -> int:
        """Rows that `bound_products` takes at a time."""
        return 16 if self.of_numbers else 8

    @property
    def count_threads(self) -> int:
        return 128 * self.mask_groups

    @property
    def count_blocks(self) -> int:
        """Blocks of threads that count on a multiprocessor at a time."""
        if self.mask_groups > 1:
            return 1
        return 4 if self.of_numbers else 2

    @property
    def count_shared_bytes(self) -> int:
        """As the kernel lays it out: three segments, or four."""
        n_segments = 4 if self.warp_groups else 3
        return n_segments * self.segment_steps * (2 * self.planes_of_block + self.masks_of_block) * 32

    @property
    def count_source(self) -> str:
        """The file of the kernel that counts the products."""
        return "products/warpgroup_products.cu" if self.warp_groups else "products/tuple_products.cu"

    def counting_defines(self) -> tuple[str, ...]:
        return ("-DINTERPLAY_TENSOR_CORES",) * (self.counting == "tensor") + self._outcome_defines()

    def _outcome_defines(self) -> tuple[str, ...]:
        shared_word = (f"-DCOUNT_BITS={self.count_bits}",) if self.paired else ()
        return (NUMBERS, *shared_word) if self.of_numbers else ()

    def count_defines(self) -> tuple[str, ...]:
        return (
            *(("-arch=sm_90a", *self._outcome_defines()) if self.warp_groups else self.counting_defines()),
            f"-DMASKS={self.masks_of_warp}",
            f"-DMASK_GROUPS={self.mask_groups}",
            f"-DSEGMENT_STEPS={self.segment_steps}",
            f"-DPAIRED_COUNTS={int(self.paired)}",
        )

    def kernels(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return all kernels of a search by batches."""
        return [
            ("products/product_masks.cu", "make_masks", self.counting_defines()),
            (self.count_source, "count_products", self.count_defines()),
            ("products/product_bound.cu", "bound_products", self.bound_defines()),
        ]

    def bound_defines(self) -> tuple[str, ...]:
        return (
            f"-DDIMENSIONS={self.dimensions}",
            f"-DROW_LEVELS={self.row_levels}",
            f"-DCOLUMN_LEVELS={self.column_levels}",
            f"-DCLASSES={self.n_classes}",
            f"-DPREFIX_LEVELS={self.prefix_levels}",
            *((EVERY_MEMBER,) if self.every_member else ()),
            *((LOGARITHMS,) if self.logarithms else ()),
            *self._outcome_defines(),
            *(("-DSMALL_SUMS",) if self.small_sums else ()),
            f"-DPAIRED_COUNTS={int(self.paired)}",
        )


def choose_products(
    *,
    dimensions: int,
    row_levels: int,
    column_levels: int,
    class_sizes: IntArray,
    prefix_levels: int,
    counting: str,
    warp_groups: bool = False,
    every_member: bool = False,
    of_numbers: bool = False,
    max_sum: int = 0,
    logarithms: bool = False,
) -> ProductVariant | None:
    """Return how to search by batches, or None where there are too many dimensions for it.

    Parameters
    ----------
    prefix_levels : int
        Of every variable of the prefixes; 0 where they differ.
    warp_groups : bool
        Whether the devices' tensor cores multiply for four warps at a time.
    every_member : bool
        Whether tuples are sought of which every member gains.
    of_numbers : bool
        Whether the outcome is a number.
    max_sum : int
        No sum of scores is larger, in absolute value.
    logarithms : bool
        Whether cells have so few samples of two classes that the bound without logarithms is loose.

    Examples
    --------
    >>> how = {"class_sizes": np.array([40_000, 60_000]), "prefix_levels": 3, "counting": "tensor"}
    >>> variant = choose_products(dimensions=3, row_levels=3, column_levels=3, **how)
    >>> variant.masks_of_block, variant.paired
    (8, True)
    >>> choose_products(dimensions=6, row_levels=3, column_levels=3, **how) is None
    True
    """
    n_classes = 2 if of_numbers else len(class_sizes)
    warp_groups = warp_groups and counting == "tensor"
    count_bits = int(class_sizes.max()).bit_length() if of_numbers else 0
    paired = n_classes == 2 and int(class_sizes.max()) < 1 << 16
    if of_numbers:
        paired = max_sum << count_bits < 1 << 31
    if not 2 <= dimensions <= _MAX_PREFIX + 2:
        return None
    return ProductVariant(
        dimensions=dimensions,
        row_levels=row_levels,
        column_levels=column_levels,
        n_classes=n_classes,
        prefix_levels=prefix_levels,
        paired=paired,
        counting=counting,
        segment_steps=(
            segment_steps(dimensions, int(class_sizes.sum()))
            if of_numbers
            else _segment_steps(dimensions, class_sizes, warp_groups=warp_groups)
        ),
        warp_groups=warp_groups,
        every_member=every_member,
        logarithms=logarithms and not of_numbers,
        of_numbers=of_numbers,
        small_sums=of_numbers and max_sum < _SMALL_SUMS,
        count_bits=count_bits,
    )


def _segment_steps(dimensions: int, class_sizes: IntArray, *, warp_groups: bool) -> int:
    """Return how many steps to copy at a time: the more, the less warps wait for each other."""
    if dimensions == 2:
        return 2
    n_steps = -(-class_sizes // 512) * 2
    # A class ends with a whole segment. Where there are no warp groups, shared memory may be small.
    wasted = (-(-n_steps // _LONG_SEGMENT) * _LONG_SEGMENT - n_steps).sum() / n_steps.sum()
    return _LONG_SEGMENT if warp_groups and wasted <= _MAX_WASTED else 4


@dataclass(frozen=True)
class ProductWork:
    """Tiles of one kind, cut into batches.

    Attributes
    ----------
    variant : ProductVariant
    which : (n_tiles,) int64
        Numbers of the tiles.
    batches : (n_batches, 17) int32
        As `Batch` in product_batch.cuh; its tile is a place in `which`.
    n_masks, n_prefixes, n_rows, n_columns, prefix_cells : (n_batches,) int64
    weight : (n_batches,) float64
        Share of the tuples, about.
    n_tuples : float
    """

    variant: ProductVariant
    which: IntArray
    batches: npt.NDArray[np.int32]
    n_masks: IntArray
    n_prefixes: IntArray
    n_rows: IntArray
    n_columns: IntArray
    prefix_cells: IntArray
    weight: FloatArray
    n_tuples: float

    def __len__(self) -> int:
        return len(self.batches)

    @cached_property
    def row_planes(self) -> IntArray:
        """Planes of rows, in whole blocks of threads."""
        return self._in_blocks((self.variant.row_levels - 1) * self.n_rows)

    @cached_property
    def column_planes(self) -> IntArray:
        return self._in_blocks((self.variant.column_levels - 1) * self.n_columns)

    def _in_blocks(self, n_planes: IntArray) -> IntArray:
        size = self.variant.planes_of_block
        return -(-n_planes // size) * size

    @cached_property
    def n_blocks(self) -> IntArray:
        """Blocks of planes and masks, with tuples or without."""
        size = self.variant.planes_of_block
        return (
            -(-self.n_masks // self.variant.masks_of_block) * (self.row_planes // size) * (self.column_planes // size)
        )

    @property
    def counts_of_tuple(self) -> int:
        """Cells of a tuple at most, of all classes."""
        variant = self.variant
        return int(self.prefix_cells.max()) * variant.row_levels * variant.column_levels * variant.n_classes

    @property
    def tuples_of_strip(self) -> int:
        """Tuples that `bound_products` takes at a time, at most."""
        return self.variant.rows_of_strip * int(self.n_columns.max())

    @property
    def n_products(self) -> IntArray:
        """Counts of each batch."""
        return self.n_masks * self.variant.words_of_pair * self.row_planes * self.column_planes

    @cached_property
    def n_margin_planes(self) -> IntArray:
        """Planes of rows and of columns, no more than there are."""
        return (self.variant.row_levels - 1) * self.n_rows + (self.variant.column_levels - 1) * self.n_columns

    @property
    def n_margins(self) -> IntArray:
        """Counts of single planes of each batch."""
        return self.n_masks * self.variant.n_classes * (self.n_margin_planes + FRAGMENT_ROWS)


def make_product_work(
    records: TileRecords,
    layout: LaneLayout,
    which: IntArray,
    variant: ProductVariant,
    *,
    n_tuples: FloatArray,
    n_steps: int,
    max_products: int,
) -> ProductWork:
    """Cut tiles of one kind into batches of at most `max_products` counts, where single prefixes have no more.

    The masks of the prefixes, with a word for 32 samples, are taken for counts too: of many samples, they are as large.
    """
    n_prefix = variant.dimensions - 2
    begin, end, lane = records.begin[which], records.end[which], records.lane[which]
    levels = layout.n_levels[lane].astype(np.int64)
    # Rows and columns begin with whole fragments of their lane blocks.
    first = begin.copy()
    first[:, -2:] -= (begin - layout.first_position[lane])[:, -2:] % FRAGMENT_ROWS
    per_place = _sizes_of_parts(
        (end - first).max(axis=0), levels.max(axis=0), variant, n_steps=n_steps, max_products=max_products
    )
    # Parts of each place, the last place running fastest.
    parts = -(-(end - first) // per_place)
    n_batches = parts.prod(axis=1)
    tile = np.repeat(np.arange(len(which)), n_batches)
    number = np.arange(len(tile)) - np.repeat(np.cumsum(n_batches) - n_batches, n_batches)
    part_begin, part_end = np.zeros((2, len(tile), variant.dimensions), dtype=np.int64)
    for j in reversed(range(variant.dimensions)):
        part_begin[:, j] = first[tile, j] + number % parts[tile, j] * per_place[j]
        part_end[:, j] = np.minimum(part_begin[:, j] + per_place[j], end[tile, j])
        number //= parts[tile, j]
    part_begin = np.maximum(part_begin, begin[tile])
    # Rows after the first variable of the prefix's last place, columns after the first of these.
    for j in (variant.dimensions - 2, variant.dimensions - 1):
        if j:
            part_begin[:, j] = np.maximum(part_begin[:, j], part_begin[:, j - 1] + 1)
    part_end[:, -2] = np.minimum(part_end[:, -2], part_end[:, -1] - 1)
    has_tuples = (part_begin < part_end).all(axis=1)
    for j in range(1, n_prefix):
        has_tuples &= part_begin[:, j - 1] < part_end[:, j] - 1

    def whole_fragments(place: int) -> tuple[IntArray, IntArray]:
        """Return the first position, and how many there are from it on, in whole fragments."""
        of_lane = part_begin[:, place] - layout.first_position[lane[tile, place]]
        first = part_begin[:, place] - of_lane % FRAGMENT_ROWS
        return first, -(-(part_end[:, place] - first) // FRAGMENT_ROWS) * FRAGMENT_ROWS

    (first_row, n_rows), (first_column, n_columns) = whole_fragments(-2), whole_fragments(-1)
    prefix_begin, prefix_lane = np.zeros((2, len(tile), _MAX_PREFIX), dtype=np.int64)
    prefix_size = np.ones((len(tile), _MAX_PREFIX), dtype=np.int64)
    prefix_begin[:, :n_prefix] = part_begin[:, :-2]
    prefix_size[:, :n_prefix] = (part_end - part_begin)[:, :-2]
    prefix_lane[:, :n_prefix] = lane[tile, :-2]
    fields = [tile, np.full(len(tile), n_prefix), *prefix_begin.T, *prefix_size.T, *prefix_lane.T]
    fields += [first_row, n_rows, lane[tile, -2], first_column, n_columns, lane[tile, -1]]
    kept = np.flatnonzero(has_tuples)
    prefix_levels = levels[tile[kept], :-2]
    n_prefixes = prefix_size[kept].prod(axis=1)
    weight = n_prefixes * n_rows[kept] * n_columns[kept].astype(np.float64)
    return ProductWork(
        variant=variant,
        which=which,
        batches=np.column_stack(fields)[kept].astype(np.int32),
        n_masks=(1 + prefix_size[kept, :n_prefix] * (prefix_levels - 1)).prod(axis=1),
        n_prefixes=n_prefixes,
        n_rows=n_rows[kept],
        n_columns=n_columns[kept],
        prefix_cells=prefix_levels.prod(axis=1),
        weight=weight / max(float(weight.sum()), 1.0),
        n_tuples=float(n_tuples[which].sum()),
    )


def _sizes_of_parts(
    n_vars: IntArray, n_levels: IntArray, variant: ProductVariant, *, n_steps: int, max_products: int
) -> IntArray:
    """Return how many variables of each place a batch has at most.

    Parameters
    ----------
    n_vars, n_levels : (k,) int64
        Of each place of a tile, at most.
    """
    n_prefix, size = variant.dimensions - 2, variant.planes_of_block
    # A batch may begin in the midst of a fragment.
    of_last = -(-n_vars[-2:] // FRAGMENT_ROWS) * FRAGMENT_ROWS + FRAGMENT_ROWS

    def words_of_mask() -> int:
        planes = -(-of_last * (n_levels[-2:] - 1) // size) * size
        return int(planes.prod()) * variant.words_of_pair + 8 * n_steps

    # Rows and columns are halved until the products of a single prefix fit.
    while words_of_mask() * int(n_levels[:-2].prod()) > max_products and of_last.max() > _FEWEST_VARIABLES:
        larger = of_last.argmax()
        of_last[larger] = -(-of_last[larger] // (2 * FRAGMENT_ROWS)) * FRAGMENT_ROWS
    most_masks = max_products // words_of_mask()
    parts = n_vars.copy()
    parts[-2:] = of_last
    for j in range(n_prefix):
        most = max(1, (int(most_masks ** (1 / n_prefix)) - 1) // (int(n_levels[j]) - 1))
        # In even parts: the smaller they are, the more of their products are of no tuple.
        parts[j] = -(-n_vars[j] // -(-n_vars[j] // most))
    return parts


def buffer_shapes(work: ProductWork, n_steps: int) -> dict[str, tuple[int, ...]]:
    """Return how many words each buffer needs, for the largest of the batches."""
    variant, cells = work.variant, work.n_prefixes * work.prefix_cells * work.variant.n_classes

    def most(sizes: IntArray) -> tuple[int, ...]:
        return (int(sizes.max()),)

    return {
        "masks": (int(-(-work.n_masks.max() // 8)) * 8, n_steps * 8),
        "margins": most(work.n_margins),
        "products": most(work.n_products),
        "blocks": most(1 + work.n_blocks),
        "cell_rows": most(cells * variant.row_levels * work.n_rows),
        "row_factors": most(cells * variant.row_levels * work.n_rows * 3 // 2),
        "cell_columns": most(cells * (variant.column_levels - 1) * work.n_columns),
        "information": most(work.n_prefixes * (work.n_rows + work.n_columns)),
        "rest": most(work.n_prefixes * (work.n_rows + work.n_columns)),
    }
