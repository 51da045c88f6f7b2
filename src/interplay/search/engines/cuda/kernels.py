"""The shape that a search in registers is compiled for, by levels, classes and sizes of the data."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import product

from interplay.search.engines.cuda.kernel_loader import Kernel

#: Accumulators that a thread can hold beside all else, with 16 warps on a multiprocessor and with 8; and of paired
#: counts with several cells.
_MAX_ACCUMULATORS = 64
_MAX_ACCUMULATORS_AT_ALL = 144
_MAX_ACCUMULATORS_OF_CELLS = 96

#: Where tuples have more cells than this, the information of each cell is looked up (small_cells.cuh): bounds are loose
#: for cells of few samples. With fewer cells some would exceed the table, and a table takes cache from the planes. With
#: a prefix and more levels than this, registers would not suffice.
_FEW_CELLS, _MAX_LEVELS_OF_TABLE = 64, 5

#: Half floats add up a row of parts.
_MAX_LEVELS_OF_HALF_FLOATS = 9

#: Steps of 256 samples whose counts fit into 16 bits, and of which twice the counts do.
_MAX_PAIRED_STEPS, _MAX_TABLE_STEPS = 255, 127

#: Shared memory for the table of small_cells.cuh: at most, and the sizes that a shape should leave for it, the largest
#: first.
_MAX_TABLE_BYTES, _TABLE_BYTES = 96 << 10, (40 << 10, 16 << 10, 4 << 10)

#: Steps of 256 samples whose words a thread can hold: registers for rows and columns beside the accumulators.
_MAX_HELD_STEPS = 8

#: Rows and columns of a piece at most.
MAX_BLOCK = 512

#: The option of kernels where tuples are sought of which every member gains.
EVERY_MEMBER = "-DEVERY_MEMBER"

#: The option of kernels where the outcome is a number.
NUMBERS = "-DNUMBERS"

#: The option of kernels where the gain of two classes is bounded by logarithms.
LOGARITHMS = "-DLOGARITHMS"

#: How the products are counted: on binary tensor cores, or by counting bits.
COUNTING = ("tensor", "popc")


def default_counting(compute_capability: int) -> str:
    """Return how to count on a device: tensor cores know single bits from 8.0 on, and from 10.0 on no longer.

    The environment variable ``INTERPLAY_CUDA_COUNTING`` overrides.

    Examples
    --------
    >>> default_counting(90), default_counting(120)
    ('tensor', 'popc')
    """
    wanted = os.environ.get("INTERPLAY_CUDA_COUNTING")
    if wanted:
        if wanted not in COUNTING:
            raise ValueError(f"INTERPLAY_CUDA_COUNTING must be one of {', '.join(COUNTING)}, not {wanted!r}")
        return wanted
    return "tensor" if 80 <= compute_capability < 100 else "popc"


@dataclass(frozen=True)
class SearchVariant:
    """The options of tuple_search.cu, whose head says what each word means."""

    dimensions: int
    row_levels: int
    column_levels: int
    n_classes: int
    prefix_levels: int
    row_fragments: int
    column_fragments: int
    cells_at_once: int
    block_rows: int
    block_columns: int
    rows_among_columns: bool
    threads: int
    blocks_per_multiprocessor: int
    small_cells_need_care: bool
    counting: str
    held_steps: tuple[int, int] | None = None
    paired: bool = False
    half_bound: bool = False
    logarithms: bool = False
    table_bytes: int = 0
    every_member: bool = False

    def defines(self) -> tuple[str, ...]:
        """Return the compiler's options."""
        options = [
            f"-DDIMENSIONS={self.dimensions}",
            f"-DROW_LEVELS={self.row_levels}",
            f"-DCOLUMN_LEVELS={self.column_levels}",
            f"-DCLASSES={self.n_classes}",
            f"-DPREFIX_LEVELS={self.prefix_levels}",
            f"-DROW_FRAGMENTS={self.row_fragments}",
            f"-DCOLUMN_FRAGMENTS={self.column_fragments}",
            f"-DCELLS_AT_ONCE={self.cells_at_once}",
            f"-DBLOCK_ROWS={self.block_rows}",
            f"-DBLOCK_COLUMNS={self.block_columns}",
            f"-DROWS_AMONG_COLUMNS={int(self.rows_among_columns)}",
            f"-DTHREADS={self.threads}",
            f"-DBLOCKS_PER_MULTIPROCESSOR={self.blocks_per_multiprocessor}",
        ]
        if self.small_cells_need_care:
            options.append("-DSMALL_CELLS_NEED_CARE")
        if self.held_steps is not None:
            steps, steps_of_0 = self.held_steps
            options += [f"-DHELD_STEPS={steps}", f"-DHELD_STEPS_OF_0={steps_of_0}"]
        if self.paired:
            options.append("-DPAIRED_COUNTS")
        if self.half_bound:
            options.append("-DHALF_BOUND")
        if self.logarithms:
            options.append(LOGARITHMS)
        if self.table_bytes:
            options.append("-DTABLE_BOUND")
        if self.counting == "tensor":
            options.append("-DINTERPLAY_TENSOR_CORES")
        if self.every_member:
            options.append(EVERY_MEMBER)
        return tuple(options)

    def kernels(self) -> list[Kernel]:
        """Return the kernels of such a search."""
        return [("search/tuple_search.cu", "find_survivors", self.defines())]

    def shared_bytes(self, n_cells: int, n_steps: int) -> int:
        """Return the shared memory of a block, as `Shared` in search_piece.cuh lays it out."""
        level_floats = 1 if self.table_bytes else 4 if self.paired else 5 if self.n_classes == 2 else self.n_classes + 1
        other_rows = 0 if self.rows_among_columns else self.block_rows
        n_planes = (self.row_levels - 1) * other_rows + (self.column_levels - 1) * self.block_columns
        of_rows = self.threads // 32 * 16 * self.row_fragments * self.row_levels * level_floats
        per_cell = of_rows + (1 if self.paired else self.n_classes) * (n_planes + 1)
        n_masks = max(-(-n_cells // count) * count for count in (8, self.cells_at_once))
        by_variable = 3 * (other_rows + self.block_columns) + self.dimensions
        if self.half_bound:
            by_variable += self.threads // 32 * 16 * self.row_fragments
        return self.table_bytes + n_masks * n_steps * 32 + 4 * (n_cells * per_cell + by_variable)


def choose_variant(
    *,
    dimensions: int,
    row_levels: int,
    column_levels: int,
    n_classes: int,
    prefix_levels: int,
    rows_among_columns: bool,
    n_cells: int,
    class_steps: tuple[int, ...],
    compile_for_steps: bool,
    small_cells_need_care: bool,
    half_floats_suffice: bool,
    counting: str,
    logarithms: bool = False,
    max_shared_bytes: int,
    every_member: bool = False,
) -> SearchVariant | None:
    """Choose the shape of a search, or None where there are too many levels, classes or cells for it.

    Parameters
    ----------
    n_cells : int
        Cells of a prefix at most.
    class_steps : tuple of int
        Steps of 256 samples at which the classes begin, and the end of the last.
    compile_for_steps : bool
        Whether a kernel for just these steps is worth its compilation, where there is one.
    half_floats_suffice : bool
        Whether samples are few, and pseudocounts not too small, for half_bound.cuh.
    logarithms : bool
        Whether cells have so few samples that the bound without logarithms is loose.
    max_shared_bytes : int
        Shared memory of a multiprocessor.
    every_member : bool
        Whether tuples are sought of which every member gains.
    """
    n_steps = class_steps[-1]
    # Both classes in a word: where columns have two levels there is a shorter bound.
    paired = n_classes == 2 and column_levels > 2 and n_steps <= _MAX_PAIRED_STEPS
    # A part of 16 × 16 tuples, and one cell of the prefix, take this many accumulators of a thread.
    accumulators = (1 if paired else n_classes) * (row_levels - 1) * (column_levels - 1) * 8
    too_many = accumulators > _MAX_ACCUMULATORS_OF_CELLS and max(row_levels, column_levels) > _MAX_LEVELS_OF_TABLE
    if accumulators > _MAX_ACCUMULATORS_AT_ALL or (too_many and n_cells > 1):
        return None
    has_many_cells = n_cells > 1 and n_cells * row_levels * column_levels > _FEW_CELLS
    looks_up = paired and has_many_cells and n_steps <= _MAX_TABLE_STEPS
    rows = cells = 1
    held = None
    # Words that are loaded once serve all cells of the prefix where they fit into registers; else two of them, or two
    # rows where there is no prefix. No more than that: the unrolled loop must stay in the instruction cache.
    if (
        compile_for_steps
        and (row_levels, column_levels, n_classes, counting) == (2, 2, 2, "tensor")
        and n_cells > 1
        and n_steps <= _MAX_HELD_STEPS
    ):
        held = (n_steps, class_steps[1])
    elif paired and n_cells > 1:
        cells = max(1, min(n_cells, _MAX_ACCUMULATORS_OF_CELLS // accumulators))
    elif n_cells > 1 and accumulators * 2 <= _MAX_ACCUMULATORS:
        cells = 2
    elif accumulators * 2 <= _MAX_ACCUMULATORS:
        rows = 2
    logarithms = logarithms and paired and not looks_up
    half_bound = paired and not (looks_up or logarithms) and half_floats_suffice
    half_bound = half_bound and column_levels <= _MAX_LEVELS_OF_HALF_FLOATS
    # Small blocks of threads wait less for each other; few registers are left to more than 512 threads, and words that
    # are held need more of them.
    shapes = [(256, 1)]
    if held:
        shapes = [(128, 3), (256, 1)]
    elif looks_up or (paired and rows * cells * accumulators > _MAX_ACCUMULATORS):
        shapes = [(128, 2), (256, 1)]
    elif accumulators <= _MAX_ACCUMULATORS:
        shapes = [(128, 4), (160, 3), (256, 2), (256, 1)]
    sizes = (MAX_BLOCK,) if rows_among_columns else (512, 256, 128, 64)
    for table_bytes, (threads, blocks) in product(_TABLE_BYTES if looks_up else (0,), shapes):
        for block in sizes if threads == 256 else sizes[:1]:
            variant = SearchVariant(
                dimensions=dimensions,
                row_levels=row_levels,
                column_levels=column_levels,
                n_classes=n_classes,
                prefix_levels=prefix_levels,
                row_fragments=rows,
                column_fragments=1,
                cells_at_once=cells,
                block_rows=block,
                block_columns=block,
                rows_among_columns=rows_among_columns,
                threads=threads,
                blocks_per_multiprocessor=blocks,
                small_cells_need_care=small_cells_need_care,
                counting=counting,
                held_steps=held,
                paired=paired,
                half_bound=half_bound,
                logarithms=logarithms,
                table_bytes=table_bytes,
                every_member=every_member,
            )
            # The device keeps 1 KB of a block's shared memory, and a few hundred bytes are known to the compiler.
            left = max_shared_bytes // blocks - 1536 - variant.shared_bytes(n_cells, n_steps)
            if left >= 0:
                more = min(left // 16 * 16, _MAX_TABLE_BYTES - table_bytes)
                return replace(variant, table_bytes=table_bytes + more) if looks_up else variant
    return None
