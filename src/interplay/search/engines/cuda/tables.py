"""Class sizes and pseudocount → the host's tables of x·log2(x), for the device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from interplay import _core
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.planes import BitPlanes
from interplay.base.tuples import TupleTiles
from interplay.search.engines.cpu import core_planes
from interplay.search.engines.cuda.devices import NotForDevices
from interplay.search.engines.sinks import TupleFormula

#: Counts of class 1 that a table of cells may have, and their number modulo 16: even, so that no address is odd, also
#: for counts of rows that do not exist; and such that neighbours lie in different banks of shared memory.
_MAX_STRIDE, _GOOD_STRIDE = 254, 10

#: By how many standard deviations a part may be larger than expected and still be in the table.
_DEVIATIONS = 4.0

#: Found at the edges of a table of parts, and where a part tells more than 16 bits can hold: kTooLarge in
#: small_cells.cuh.
_TOO_LARGE = 0xFFFF

#: Numbers in all tables of a statistic (128 MB, some tenths of a second).
_MAX_VALUES = 1 << 24

#: Tables of up to this many numbers (32 MB) are kept for the next search: to fill them takes as long as a small search.
_MAX_KEPT_VALUES = 1 << 22


@dataclass(frozen=True)
class InformationTables:
    """The same fixed-point numbers that the CPU engine adds, so that sums are the same bits.

    Attributes
    ----------
    values : (n_values,) int64
        Tables one after the other: per multiplicity of the pseudocounts, one per class and one for all classes.
    start : (n_multiplicities, n_classes + 1) int64
        Where each table begins.
    multiplicities : (n_multiplicities,) int64
        How many cells of the whole tuple a cell gathers: first 1, then more.
    unit : float
        Bits in 1.
    """

    values: IntArray
    start: IntArray
    multiplicities: IntArray
    unit: float

    @property
    def multiplicity_of_levels(self) -> npt.NDArray[np.int32]:
        """The number of the multiplicity for a cell that gathers this many cells, as summing over a variable does."""
        numbers = np.zeros(257, dtype=np.int32)
        numbers[self.multiplicities[1:]] = np.arange(1, len(self.multiplicities))
        return numbers


def make_information_tables(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> InformationTables:
    """Make the tables of information gains; of a number outcome, the constants of sum_information.cuh."""
    if planes.of_numbers:
        *constants, unit, total = _core.sum_model(core_planes(planes), pseudocount)
        values = np.append(np.array(constants).view(np.int64), total)
        return InformationTables(values, np.zeros((1, 1), dtype=np.int64), np.ones(1, dtype=np.int64), unit)
    levels = np.unique(planes.n_levels[tiles.order])
    max_cells = int(levels[-1] * tiles.partner_cells[-1])
    return _filled(planes, pseudocount, np.append(1, levels), max_cells, np.empty(0, dtype=np.int64))


def make_statistic_tables(
    planes: BitPlanes, tiles: TupleTiles, pseudocount: float, formula: TupleFormula
) -> InformationTables:
    """Make the tables of a statistic, for all that its subsets may leave out."""
    if planes.of_numbers:
        raise ValueError("a number outcome has gains alone")
    k, coefficients = tiles.dimensions, formula.coefficient_of_size
    levels = set(planes.n_levels[tiles.order].tolist())
    max_values = _MAX_VALUES // (2 * planes.n_samples + len(planes.class_sizes) + 1)
    products, needed = {1}, {1}
    for n_left_out in range(k):
        if coefficients[k - n_left_out] != 0:
            needed |= products
        products = {product * c for product in products for c in levels}
        if len(needed) > max_values or len(products) > _MAX_VALUES:
            raise NotForDevices(
                "cannot score tuples of so many different numbers of levels (equal ones or fewer dimensions would do)"
            )
    max_cells = int(planes.n_levels.max() * tiles.partner_cells[-1])
    return _filled(planes, pseudocount, np.array(sorted(needed), dtype=np.int64), max_cells, coefficients)


def _filled(
    planes: BitPlanes, pseudocount: float, multiplicities: IntArray, max_cells: int, coefficients: IntArray
) -> InformationTables:
    n_values = len(multiplicities) * (2 * planes.n_samples + len(planes.class_sizes) + 1)
    fill = _kept if n_values <= _MAX_KEPT_VALUES else _kept.__wrapped__
    of_what = (planes.class_sizes, multiplicities, coefficients)
    return fill(*(tuple(numbers.tolist()) for numbers in of_what), pseudocount, max_cells)


@lru_cache(maxsize=4)
def _kept(
    class_sizes: tuple[int, ...],
    multiplicities: tuple[int, ...],
    coefficients: tuple[int, ...],
    pseudocount: float,
    max_cells: int,
) -> InformationTables:
    """Fill the tables, or return the tables of a search before: of other columns, say, or another discretisation."""
    sizes = np.array([*class_sizes, sum(class_sizes)]) + 1
    values = np.empty(len(multiplicities) * sizes.sum(), dtype=np.int64)
    multiplicity = np.array(multiplicities, dtype=np.int64)
    unit = _core.fill_information_tables(
        class_sizes=np.array(class_sizes, dtype=np.int64),
        pseudocount=pseudocount,
        multiplicities=multiplicity,
        max_cells=max_cells,
        coefficient_of_size=np.array(coefficients, dtype=np.int64),
        values=values,
    )
    ends = np.cumsum(np.tile(sizes, len(multiplicities)))
    start = np.concatenate([[0], ends[:-1]]).reshape(len(multiplicities), -1).astype(np.int64)
    for array in (values, start, multiplicity):
        array.setflags(write=False)
    return InformationTables(values=values, start=start, multiplicities=multiplicity, unit=unit)


@dataclass(frozen=True)
class CellTable:
    """The information of a cell of a tuple, by its samples of two classes (small_cells.cuh).

    Attributes
    ----------
    values : (n_0, n_1) uint16
        By samples of class 0 and class 1. The last row and the last column stand for all larger counts.
    per_bit : float
        Units of the values in a bit.
    """

    values: npt.NDArray[np.uint16]
    per_bit: float


def make_cell_table(
    class_sizes: IntArray, pseudocounts: FloatArray, *, dimensions: int, n_cells: int, max_bytes: int
) -> CellTable:
    """Make the table for tuples of these dimensions and at most `n_cells` cells.

    A part tells x₀·log2(x₀ / (n·q₀)) + x₁·log2(x₁ / (n·q₁)) bits, with x the samples and pseudocounts of a class, n
    those of both, and q the classes' shares of all samples. It is rounded up.
    """
    from scipy.special import xlogy  # in the background until now: see kernel_loader

    # Room for all parts but that of level 0 of every variable, where all have the same distribution: of the others,
    # none has a larger share. More would be taken from the cache.
    share = (1 - 1 / dimensions) ** (dimensions - 1) / dimensions
    expected = share * class_sizes
    n_0, n_1 = (int(n) for n in np.minimum(class_sizes, expected + _DEVIATIONS * np.sqrt(expected)) + 2)
    n_values = max_bytes // 2
    stride = int(min(_MAX_STRIDE, n_1, max(2.0, math.sqrt(n_values * n_1 / n_0)), n_values // 2))
    stride += -((stride - _GOOD_STRIDE) % 16) if stride > 26 else stride % 2
    x_0 = np.arange(min(n_0, n_values // stride))[:, np.newaxis] + float(pseudocounts[0])
    x_1 = np.arange(stride) + float(pseudocounts[1])
    share_0, share_1 = class_sizes / class_sizes.sum()
    told = xlogy(x_0, x_0 / share_0) + xlogy(x_1, x_1 / share_1) - xlogy(x_0 + x_1, x_0 + x_1)
    # Rounding adds half a unit for each cell: some hundredths of a bit in all.
    per_bit = 2.0 ** min(math.ceil(math.log2(8 * n_cells)), 11)
    # Values that are 0 but for rounding stay 0: most cells are empty where there are many.
    values = np.ceil(np.maximum(told, 0.0) / math.log(2) * per_bit - 1e-9)
    values[-1], values[:, -1] = _TOO_LARGE, _TOO_LARGE
    return CellTable(values=np.minimum(values, _TOO_LARGE).astype(np.uint16), per_bit=per_bit)


def entropy_terms(n_samples: int, pseudocount: float, n_cells: IntArray, formula: TupleFormula) -> FloatArray:
    """Return the terms of Σ coefficient · H(S) besides the sums of x·log2(x), by the number of cells.

    H(S) is log2(N) − Σ x·log2(x) / N, with N samples, pseudocounts included. Rounded as the CPU engine does.

    Returns
    -------
    (n, 2) float64
        Σ coefficient · log2(N), and N.
    """
    k = len(formula.coefficient_of_size) - 1
    sum_of_coefficients = sum(math.comb(k, size) * int(formula.coefficient_of_size[size]) for size in range(1, k + 1))
    kinds, kind_of = np.unique(n_cells, return_inverse=True)
    samples = [n_samples + pseudocount * float(cells) for cells in kinds.tolist()]
    terms = np.array([(sum_of_coefficients * math.log2(n), n) for n in samples])
    return np.asarray(terms[kind_of.reshape(-1)])
