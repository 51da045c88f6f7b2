"""Bit planes + tuples → samples per cell, stratum and class: the one place that counts tables of chosen tuples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from threading import Lock
from typing import Any

import numpy as np

from interplay import _core
from interplay.base.arrays import IntArray, places_of_each
from interplay.base.planes import BitPlanes
from interplay.search.engines.cpu import core_planes, default_simd_level

#: Numbers that are counted in one go, between two chances to interrupt.
_MAX_NUMBERS = 1 << 20

#: Numbers of all tables that `TupleTables` keeps: 64 MiB. Tables beyond are counted again when they are asked for.
_MAX_KEPT_NUMBERS = 1 << 23


def count_tables(
    planes: BitPlanes, tuples: IntArray, *, at_most: int | None = None
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield tables of tuples of one shape at a time, with their places in `tuples`.

    - `tuples` (n_tuples, k): rows of the planes, in the order of the tables' axes.
    - `at_most`: tables at a time; fewer where they are large.

    Yields
    ------
    places : (n,) int64
    tables : (n, levels of member 1, …, levels of member k, n_classes) int64
        Samples of each class; of a number outcome the last axis has two entries, samples and the sum of their scores.
    """
    of_core = core_planes(planes)
    for of_shape in places_of_each(planes.n_levels[tuples]):
        shape = (*planes.n_levels[tuples[of_shape[0]]].tolist(), planes.cell_size)
        size = max(1, min(_MAX_NUMBERS // prod(shape), at_most or _MAX_NUMBERS))
        for begin in range(0, len(of_shape), size):
            places = of_shape[begin : begin + size]
            rows = np.ascontiguousarray(tuples[places], dtype=np.int64)
            yield places, _core.count_tables(of_core, rows, default_simd_level()).reshape(len(places), *shape)


class TupleTables:
    """Tables of tuples in one discretisation, without pseudocounts; tables that are kept are counted once.

    - `planes_of`: returns the planes of some variables, given by their numbers, ascending; a stratum is row 0.
    - `n_levels` (n_vars,): levels of all variables, two at least.
    - `n_strata`: tables then have one axis more, the stratum, before the axes of the members.
    - `n_omitted` (n_vars,): levels at the end, those of missing values, that tables leave out: 0 or 1.
    """

    def __init__(
        self,
        planes_of: Callable[[IntArray], BitPlanes],
        n_levels: IntArray,
        *,
        n_classes: int,
        n_strata: int | None = None,
        n_omitted: IntArray | None = None,
    ) -> None:
        self._planes_of = planes_of
        self._n_levels: IntArray = np.maximum(n_levels, 2)
        if n_omitted is not None:
            self._n_levels = self._n_levels - n_omitted
        self.n_classes = n_classes
        self.omits_samples = n_omitted is not None and bool(n_omitted.any())
        self._strata = () if n_strata is None else (n_strata,)
        self._kept: dict[tuple[int, ...], IntArray] = {}
        self._n_kept = 0
        self._lock = Lock()

    @property
    def has_strata(self) -> bool:
        return len(self._strata) > 0

    @property
    def n_strata(self) -> int:
        return self._strata[0] if self._strata else 1

    def shapes(self, tuples: IntArray) -> IntArray:
        """Return the levels of each member of each tuple, (n_tuples, k)."""
        return self._n_levels[tuples]

    def counted(self, tuples: IntArray, *, at_most: int = 2048) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield tables of one shape, `at_most` at a time, with their places in `tuples`; kept ones are not counted.

        Tables are (n, [n_strata,] levels of member 1, …, n_classes) int64.
        """
        known = [self._kept.get(tuple(members)) for members in tuples.tolist()]
        unknown = np.array([place for place, table in enumerate(known) if table is None], dtype=np.int64)
        if len(unknown):
            yield from self._count(tuples, unknown, at_most)
        places = np.array([place for place, table in enumerate(known) if table is not None], dtype=np.int64)
        for of_shape in places_of_each(self.shapes(tuples[places])):
            for begin in range(0, len(of_shape), at_most):
                some = places[of_shape[begin : begin + at_most]]
                yield some, np.stack([table for place in some.tolist() if (table := known[place]) is not None])

    def keep(self, tuples: IntArray, tables: IntArray) -> None:
        """Keep tables of one shape, as far as there is room; threads may do so at a time."""
        with self._lock:
            for members, table in zip(tuples.tolist(), tables, strict=True):
                if self._n_kept + table.size > _MAX_KEPT_NUMBERS:
                    return
                if self._kept.setdefault(tuple(members), table) is table:
                    self._n_kept += table.size

    def counted_in(
        self, planes: BitPlanes, rows: IntArray, tuples: IntArray, *, at_most: int | None = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield tables of one shape, counted in these planes, with their places in `tuples`.

        `rows` are those of the planes, a stratum first; a level of missing values that tables leave out is left out.
        """
        for places, tables in count_tables(planes, rows, at_most=at_most):
            # Of variables with equal levels some may have a level for missing values, which tables leave out.
            for of_shape in places_of_each(self.shapes(tuples[places])):
                some = places[of_shape]
                yield some, self._without_missing(tuples[some], tables[of_shape])

    def _without_missing(self, tuples: IntArray, tables: IntArray) -> IntArray:
        """Leave the omitted levels of tuples of one shape out of tables that have them."""
        levels = self._n_levels[tuples[0]].tolist()
        if list(tables.shape[-1 - len(levels) : -1]) == levels:
            return tables
        known: tuple[Any, ...] = (..., *(slice(n) for n in levels), slice(None))
        return np.ascontiguousarray(tables[known])

    def _count(self, tuples: IntArray, places: IntArray, at_most: int) -> Iterator[tuple[IntArray, IntArray]]:
        chosen = tuples[places]
        variables = np.unique(chosen)
        rows = np.searchsorted(variables, chosen)
        if self.has_strata:
            rows = np.column_stack([np.zeros(len(rows), dtype=np.int64), rows + 1])
        for some, tables in self.counted_in(self._planes_of(variables), rows, chosen, at_most=at_most):
            self.keep(chosen[some], tables)
            yield places[some], tables
