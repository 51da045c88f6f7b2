"""Bit planes + tuples → samples per cell and class, many tuples at a time: what tests of tuples are made from."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from interplay import _core
from interplay.base.arrays import BitPlanes, IntArray
from interplay.engines.cpu import core_planes, default_simd_level

#: Numbers that are counted in one go, between two chances to interrupt.
_MAX_NUMBERS = 1 << 20


def count_tables(planes: BitPlanes, tuples: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield tables of tuples of one shape at a time, with their places in `tuples`.

    Parameters
    ----------
    planes : BitPlanes
    tuples : (n_tuples, k) int64
        Rows of the planes, in the order of the tables' axes.

    Yields
    ------
    places : (n,) int64
    tables : (n, levels of member 1, …, levels of member k, n_classes) int64
    """
    if not len(tuples):
        return
    of_core = core_planes(planes)
    shapes, which = np.unique(planes.n_levels[tuples], axis=0, return_inverse=True)
    for number, levels in enumerate(shapes.tolist()):
        of_shape = np.flatnonzero(which.reshape(-1) == number)
        shape = (*levels, len(planes.class_sizes))
        at_a_time = max(1, _MAX_NUMBERS // prod(shape))
        for begin in range(0, len(of_shape), at_a_time):
            places = of_shape[begin : begin + at_a_time]
            rows = np.ascontiguousarray(tuples[places], dtype=np.int64)
            yield places, _core.count_tables(of_core, rows, default_simd_level()).reshape(len(places), *shape)
