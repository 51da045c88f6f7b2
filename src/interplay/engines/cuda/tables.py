"""Class sizes and pseudocount → the host's tables of x·log2(x), for the device."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay import _core
from interplay.arrays import BitPlanes, IntArray, TupleTiles


@dataclass(frozen=True)
class InformationTables:
    """The same fixed-point numbers that the CPU engine adds, so that sums are the same bits.

    Attributes
    ----------
    values : (n_values,) int64
        Tables one after the other: per multiplicity of the pseudocounts, one per class and one for all classes.
    start : (n_multiplicities, n_classes + 1) int64
        Where each table begins.
    multiplicity_of_levels : (257,) int32
        The multiplicity to use for a cell that gathers this many cells of the whole tuple.
    unit : float
        What 1 is worth, in bits.
    """

    values: IntArray
    start: IntArray
    multiplicity_of_levels: np.ndarray[tuple[int], np.dtype[np.int32]]
    unit: float


def make_information_tables(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> InformationTables:
    """Make the tables of a search."""
    levels = np.unique(planes.n_levels[tiles.order])
    sizes = np.concatenate([planes.class_sizes, [planes.n_samples]]) + 1
    n_tables = len(levels) + 1
    values = np.empty(n_tables * sizes.sum(), dtype=np.int64)
    unit = _core.fill_information_tables(
        class_sizes=planes.class_sizes,
        pseudocount=pseudocount,
        distinct_levels=levels,
        max_cells=int(levels[-1] * tiles.partner_cells[-1]),
        values=values,
    )
    multiplicity = np.zeros(257, dtype=np.int32)
    multiplicity[levels] = np.arange(1, n_tables)
    ends = np.cumsum(np.tile(sizes, n_tables))
    start = np.concatenate([[0], ends[:-1]]).reshape(n_tables, -1).astype(np.int64)
    return InformationTables(values=values, start=start, multiplicity_of_levels=multiplicity, unit=unit)
