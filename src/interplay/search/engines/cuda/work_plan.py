"""Tiles → work for the kernels: which kernel takes which tiles, and how they are cut into items and runs.

All of it is host arithmetic, and the same on every device of a search: each takes its share of the same runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import gcd, log2

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, starts_of
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.cuda.devices import DeviceLimits, NotForDevices
from interplay.search.engines.cuda.digit_orders import digit_orders, segment_steps
from interplay.search.engines.cuda.kernel_loader import Kernel
from interplay.search.engines.cuda.kernels import MAX_BLOCK, SearchVariant, choose_variant
from interplay.search.engines.cuda.layout import LaneLayout, TileRecords, fragments_kernel
from interplay.search.engines.cuda.product_plan import ProductVariant, ProductWork, choose_products, make_product_work

#: For fewer tuples × samples than this no kernel is compiled that suits just these data: with levels other than two
#: tuples are scored one by one. With more cells a tuple than these, which takes as many times as long, for fewer.
_NOT_WORTH_COMPILING, _CELLS_OF_SHORT_SCORES = 2e11, 25

#: From this many samples on counting is all that matters, and counts go through memory: they are products of matrices
#: then, with nothing between them. Of two levels, and of more; measured on an H200.
_MANY_SAMPLES_OF_TWO_LEVELS, _MANY_SAMPLES = 12_288, 6144

#: Tuples that buffers have room for at least: one run must fit, even if all its tuples survive.
MIN_CAPACITY = 1 << 20

#: Tuples of a run, about: some hundred microseconds.
_TUPLES_OF_RUN = 1 << 18

#: Counts are read as floats that hold no larger whole number.
_MAX_SAMPLES = 1 << 23

#: Samples of the smaller of two classes in a cell, on average, below which the bound without logarithms is loose: with
#: 7 of them, it leaves a tenth of all tuples to be scored. Then logarithms are taken.
_FEW_SAMPLES_OF_CELL = 12

#: Counters per tuple that fit into the shared memory of a warp.
_MAX_COUNTERS = 48_000

#: Levels up to which threads count cells together: as many cells as 32 have.
_FEW_LEVELS = 5

#: Cells of a tuple up to which the roundings of a sum over them are below its tolerance.
_FEW_CELLS_OF_SUM = 128

#: Threads that score a tuple of at most this many counts, and of less variables than threads: four tuples share a warp.
_THREADS_OF_SMALL_TUPLE, _FEW_COUNTERS = 8, 512

#: Where tuples are scored one by one, all choices of a variable for each place are gone through, and choices in
#: ascending order are tuples. Beyond this many choices the processor is faster where few of them are tuples.
_MANY_CHOICES, _CHOICES_PER_TUPLE = 1e10, 20.0


@dataclass(frozen=True)
class Work:
    """Tiles of one kind, cut into items that blocks of threads take in runs.

    Attributes
    ----------
    variant : SearchVariant
    which : (n_tiles,) int64
        Numbers of the tiles.
    item_start : (n_tiles + 1,) int64
        The first item of each tile.
    items_per_run, prefixes_per_item : int
    n_cells : int
        Cells of a prefix at most.
    n_tuples : float
    """

    variant: SearchVariant
    which: IntArray
    item_start: IntArray
    items_per_run: int
    prefixes_per_item: int
    n_cells: int
    n_tuples: float

    @property
    def n_items(self) -> int:
        return int(self.item_start[-1])

    @property
    def n_runs(self) -> int:
        return -(-self.n_items // self.items_per_run)

    def share(self, number: int, n_shares: int) -> tuple[int, int]:
        """Return the first run and the end of one of equal shares."""
        return self.n_runs * number // n_shares, self.n_runs * (number + 1) // n_shares


class WorkPlan:
    """How the tuples of some tiles are searched by devices with such limits.

    Attributes
    ----------
    layout : LaneLayout
    records : TileRecords
    dimensions : int
    every_member : bool
        Whether tuples are sought of which every member gains.
    orders : DigitOrders or None
        How the samples of a number outcome lie on a device.
    n_steps : int
        Steps of 256 samples on a device.
    n_classes : int
        Numbers that are kept of a cell.
    pseudocounts : (n_classes,) float64
        Of a cell of the whole tuple, where there are classes.
    bound_constants : (n,) float64
        The pseudocounts; or the constants of sum_bound.cuh.
    max_cells : int
        Cells of a tuple at most.
    scored_levels : int
        Of every variable, where they are so few that the cells of a tuple are counted together; else 0.
    threads_of_tuple : int
        Threads of a warp that score a tuple.
    tolerance, shrink : float
        The error of the bound: an absolute term, and the factor by which it may be too small.
    product_tolerance, table_tolerance : float
        The absolute errors of the bounds of product_bound.cu and of small_cells.cuh, where logarithms are of ratios.
    """

    def __init__(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        layout: LaneLayout,
        records: TileRecords,
        *,
        pseudocount: float,
        limits: DeviceLimits,
        every_member: bool = False,
    ) -> None:
        self.every_member = every_member
        self._planes, self.layout, self.records, self._limits = planes, layout, records, limits
        self._n_tuples: FloatArray = tiles.n_tuples
        self.dimensions = self._k = tiles.dimensions
        self.orders = digit_orders(planes, segment_steps(self._k, planes.n_samples)) if planes.of_numbers else None
        self.n_steps = int(planes.class_word_start[-1]) // 4 if self.orders is None else self.orders.n_steps
        self.pseudocounts = pseudocount * planes.class_sizes / planes.class_sizes.min()
        self.n_classes = n_classes = planes.cell_size
        self.max_cells = int(records.n_cells.max())
        self.bound_constants = self.pseudocounts
        if planes.of_numbers:
            self.bound_constants = sum_constants(planes, pseudocount, self.max_cells)
        self._max_sum = 0 if planes.scores is None else int(np.abs(planes.scores).max()) * planes.n_samples
        distinct = np.unique(layout.n_levels[records.lane])
        self.scored_levels = int(distinct[0]) if len(distinct) == 1 and distinct[0] <= _FEW_LEVELS else 0
        is_small = self.max_cells * n_classes <= _FEW_COUNTERS and self._k < _THREADS_OF_SMALL_TUPLE
        self.threads_of_tuple = _THREADS_OF_SMALL_TUPLE if self.scored_levels and is_small else 32
        if self.max_cells * n_classes > min(_MAX_COUNTERS, (limits.shared_bytes_of_block - 1024) // 4):
            raise NotForDevices(
                "cannot count tuples with this many cells (fewer dimensions, divisions or classes would fit)"
            )
        if len(tiles.order) * len(tiles.partner_cells) >= 1 << 31:
            raise NotForDevices("cannot number so many variables with different numbers of levels (fewer would fit)")
        n_prime = float(planes.n_samples + self.max_cells * self.pseudocounts.sum())
        self.tolerance, self.shrink = sum_tolerance(n_prime, n_classes), 1 / 1.004
        self.product_tolerance = ratio_tolerance(n_prime)
        self.table_tolerance = self.product_tolerance + rounding_tolerance(n_prime, self.max_cells)
        if self.max_cells > _FEW_CELLS_OF_SUM:
            self.product_tolerance += self.max_cells * n_classes * 2.0**-24 * n_prime
        self._kind, self._kinds = self._find_kinds()

    def _find_kinds(self) -> tuple[IntArray, list[tuple[int, int, bool]]]:
        """Sort all tiles by levels of the last two variables, and whether these come from one small block."""
        if self._k == 1:
            return np.zeros(len(self._n_tuples), dtype=np.int64), []
        records = self.records
        levels = self.layout.n_levels[records.lane[:, -2:]].astype(np.int64)
        in_one_block = records.lane[:, -2] == records.lane[:, -1]
        in_one_block &= records.end[:, -1] - records.begin[:, -1] <= MAX_BLOCK
        kinds, kind = np.unique(np.column_stack([levels, in_one_block]), axis=0, return_inverse=True)
        return kind.reshape(-1), [(a, b, bool(c)) for a, b, c in kinds.tolist()]

    def by_variant(self, among: IntArray) -> Iterator[tuple[IntArray, SearchVariant | ProductVariant | None]]:
        """Sort some tiles by the kernels that can search them; None for tiles that are scored tuple by tuple."""
        if self._k == 1:
            yield among, None
            return
        for kind, (row_levels, column_levels, rows_among_columns) in enumerate(self._kinds):
            which = among[self._kind[among] == kind]
            if not len(which):
                continue
            n_samples = self._planes.n_samples
            of_levels = [i for i, levels in enumerate(self._kinds) if levels[:2] == (row_levels, column_levels)]
            two_levels = row_levels == column_levels == 2
            if n_samples >= _MAX_SAMPLES or not (two_levels or self._is_worth_compiling(of_levels)):
                yield which, None
                continue
            products = choose_products(
                dimensions=self._k,
                row_levels=row_levels,
                column_levels=column_levels,
                class_sizes=self._planes.class_sizes,
                prefix_levels=self._common_prefix_levels(of_levels),
                counting=self._limits.counting,
                warp_groups=self._limits.warp_groups,
                every_member=self.every_member,
                of_numbers=self._planes.of_numbers,
                max_sum=self._max_sum,
                logarithms=self._cells_are_small(of_levels),
            )
            many = _MANY_SAMPLES_OF_TWO_LEVELS if two_levels else _MANY_SAMPLES
            if self._planes.of_numbers or (products is not None and n_samples >= many):
                yield which, products
                continue
            # Where one kind of these levels is a few tiles, one kernel serves all.
            apart = two_levels or all(self._is_worth_compiling([i]) for i in of_levels)
            worth_it = self._is_worth_compiling([kind])
            rows_among_columns = rows_among_columns and apart and worth_it
            kinds = [kind] if apart else of_levels
            choose = partial(
                choose_variant,
                dimensions=self._k,
                row_levels=row_levels,
                column_levels=column_levels,
                n_classes=len(self.pseudocounts),
                # By all tiles of the kinds: a list comes in chunks, which should not each have kernels of their own.
                prefix_levels=self._unrolled_prefix_levels(kinds),
                n_cells=self._n_prefix_cells(np.flatnonzero(np.isin(self._kind, kinds))),
                class_steps=tuple((self._planes.class_word_start // 4).tolist()),
                compile_for_steps=worth_it,
                small_cells_need_care=self._small_cells_need_care(),
                half_floats_suffice=self._half_floats_suffice(),
                logarithms=self._cells_are_small(kinds),
                counting=self._limits.counting,
                max_shared_bytes=self._limits.shared_bytes,
                every_member=self.every_member,
            )
            # Where rows and columns of one block do not fit, they may be cut into several pieces. A kernel for pieces
            # of two blocks takes all tiles: in a small search it is the only one to be compiled.
            variant = choose(rows_among_columns=True) if rows_among_columns else None
            yield which, variant or choose(rows_among_columns=False) or products

    @property
    def fragments_kernel(self) -> Kernel:
        """The kernel that lays out the planes."""
        return fragments_kernel(self._planes)

    def _is_worth_compiling(self, kinds: list[int]) -> bool:
        of_kinds = np.isin(self._kind, kinds)
        times = max(int(self.records.n_cells[of_kinds].max(initial=0)) / _CELLS_OF_SHORT_SCORES, 1.0)
        return bool(self._n_tuples[of_kinds].sum() * self._planes.n_samples * times >= _NOT_WORTH_COMPILING)

    def _common_prefix_levels(self, kinds: list[int]) -> int:
        """Return the number of levels that all variables of the prefixes have, or 0."""
        if self._k == 2:
            return 2
        distinct = np.unique(self.layout.n_levels[self.records.lane[np.isin(self._kind, kinds), :-2]])
        return int(distinct[0]) if len(distinct) == 1 else 0

    def _unrolled_prefix_levels(self, kinds: list[int]) -> int:
        """Return the same; or 0 where it is a great number, since loops are unrolled by it."""
        common = self._common_prefix_levels(kinds)
        return common if common ** (self._k - 2) <= 16 else 0

    def _n_prefix_cells(self, which: IntArray) -> int:
        levels = self.layout.n_levels[self.records.lane[which, :-2]].astype(np.int64)
        return int(levels.prod(axis=1).max())

    def _small_cells_need_care(self) -> bool:
        """Say whether differences of floats could lose the pseudocounts of an empty part."""
        return bool(self._planes.n_samples * 2.0**-21 > 2e-3 * self.pseudocounts.sum())

    def _cells_are_small(self, kinds: list[int]) -> bool:
        """Say whether two classes have few samples in most cells of a tuple."""
        sizes, n_cells = self._planes.class_sizes, self.records.n_cells[np.isin(self._kind, kinds)]
        return len(sizes) == 2 and bool(sizes.min() < _FEW_SAMPLES_OF_CELL * n_cells.max(initial=0))

    def _half_floats_suffice(self) -> bool:
        """Say whether counts and pseudocounts are within the limits of half_bound.cuh."""
        n_samples, of_0 = self._planes.n_samples, int(self._planes.class_sizes[0])
        # Errors are in proportion to class 0: where it has most samples, they are large beside its excess.
        return bool(n_samples <= 2047 and self.pseudocounts.sum() >= 0.5 and of_0 <= 0.6 * n_samples)

    def product_work(self, which: IntArray, variant: ProductVariant, *, max_products: int) -> ProductWork:
        """Cut tiles of one kind into batches of about `max_products` counts at most."""
        return make_product_work(
            self.records,
            self.layout,
            which,
            variant,
            n_tuples=self._n_tuples,
            n_steps=self.n_steps,
            max_products=max_products,
        )

    def work(self, which: IntArray, variant: SearchVariant) -> Work:
        """Cut tiles of one kind into items and runs."""
        begin, end, lane = self.records.begin[which], self.records.end[which], self.records.lane[which]

        def n_pieces(place: int, size: int) -> IntArray:
            shift = (begin[:, place] - self.layout.first_position[lane[:, place]]) % 16
            return np.asarray(-(-(end[:, place] - begin[:, place] + shift) // size))

        n_prefixes = (end - begin)[:, :-2].prod(axis=1)
        n_rectangles = n_pieces(self._k - 2, variant.block_rows) * n_pieces(self._k - 1, variant.block_columns)
        n_tuples = float(self._n_tuples[which].sum())
        # All tuples of a run must fit, even if all survive; and a launch ends with the last of its runs.
        per_run = MIN_CAPACITY // (variant.block_rows * variant.block_columns)
        per_run = int(np.clip(_TUPLES_OF_RUN * (n_rectangles * n_prefixes).sum() / n_tuples, 1, per_run))
        # There must be enough items for all.
        enough = 8 * self._limits.n_multiprocessors * variant.blocks_per_multiprocessor
        prefixes_per_item = int(np.clip((n_rectangles * n_prefixes).sum() // enough, 1, min(per_run, n_prefixes.max())))
        n_items = n_rectangles * -(-n_prefixes // prefixes_per_item)
        item_start = starts_of(n_items)
        return Work(
            variant=variant,
            which=which,
            item_start=item_start,
            items_per_run=int(np.clip(item_start[-1] // enough, 1, max(per_run // prefixes_per_item, 1))),
            prefixes_per_item=prefixes_per_item,
            n_cells=self._n_prefix_cells(which),
            n_tuples=n_tuples,
        )

    def check_choices(self, which: IntArray) -> None:
        """Refuse to go through the choices of tiles where few of them are tuples."""
        n_choices = float(self._n_choices(which).sum())
        if n_choices > max(_MANY_CHOICES, _CHOICES_PER_TUPLE * float(self._n_tuples[which].sum())):
            raise NotForDevices("is slow where tuples have so many cells (fewer dimensions or levels would be fast)")

    def choices_before(self, which: IntArray) -> FloatArray:
        """Return how many choices of one variable for each place the tiles have, summed up from 0."""
        return np.concatenate([[0.0], np.cumsum(self._n_choices(which))])

    def _n_choices(self, which: IntArray) -> FloatArray:
        return np.asarray((self.records.end[which] - self.records.begin[which]).astype(np.float64).prod(axis=1))


def sum_constants(planes: BitPlanes, pseudocount: float, max_cells: int) -> FloatArray:
    """Return the constants of sum_bound.cuh for tuples of at most `max_cells` cells.

    1 / (Q + κ), with the squares Q of all scores; N / 2; the relative error of a sum of squares of floats, by a
    rounding for each cell and some for each term; and the error of the logarithm of a number near 1, in bits.
    """
    assert planes.scores is not None
    assert planes.samples is not None
    of_bytes = np.unpackbits(planes.samples.astype("<u8").view(np.uint8)).reshape(-1, 8).sum(axis=1)
    squares = float((planes.scores.astype(np.int64) ** 2 * of_bytes).sum())
    half = planes.n_samples / 2
    total = squares * (1 + pseudocount / planes.n_samples)
    return np.array([1 / total, half, (max_cells + 32) * 2.0**-24, 0.002 + half * 2.0**-21])


def sum_tolerance(n_prime: float, n_classes: int) -> float:
    """Return by how much informations may be off that are sums of n·log2(n) in float32.

    Logarithms on a device are off by up to 2⁻²² of their value. With more than two classes the bound is such a sum too.
    """
    n_sums = 1.0 if n_classes == 2 else 2.0 + n_classes / 8
    return 0.002 + 1.2e-6 * n_sums * log2(max(n_prime, 2.0)) * n_prime


def rounding_tolerance(n_prime: float, n_cells: int) -> float:
    """Return the error of informations of tuples with at most `n_cells` cells by the rounding of their sums.

    They are no larger than `n_prime`. The cells of each of no more than `n_cells` / 4 prefixes are added up in float32,
    at most 32 of them, and then these.
    """
    return (n_cells / 4 + 32) * 2.0**-24 * n_prime


def ratio_tolerance(n_prime: float) -> float:
    """Return by how much three sums of x·log2(ratio) in float32 may be off, where the x add up to `n_prime`.

    A logarithm is off by 2⁻²² at most where its argument is near 1, and the argument by four roundings.
    """
    return 0.002 + 3 * (2.0**-22 + 1.4427 * 2.0**-22) * n_prime


def scattering_stride(n: int) -> int:
    """Return a step that visits 0 … n − 1 in a scattered order: near the golden section of n, and coprime to it.

    Its products with these numbers stay below 2**63.

    Examples
    --------
    >>> scattering_stride(10)
    7
    """
    stride = max(1, min(int(n * 0.6180339887), (2**63 - 1) // n - 64))
    while gcd(stride, n) != 1:
        stride += 1
    return stride
