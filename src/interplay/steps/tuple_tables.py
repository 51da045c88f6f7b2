"""Bit planes + tuples → samples per cell and class, many tuples at a time: what tests of tuples are made from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from interplay.arrays import BitPlanes, CodeArray, IntArray

#: Samples of tuples that are looked at in one go.
_MAX_NUMBERS = 1 << 24


def count_tables(planes: BitPlanes, tuples: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield tables of tuples of one shape at a time, with their places in `tuples`.

    Parameters
    ----------
    planes : BitPlanes
    tuples : (n_tuples, k) int
        Rows of the planes, in the order of the tables' axes.

    Yields
    ------
    places : (n,) int64
    tables : (n, levels of member 1, …, levels of member k, n_classes) int64
    """
    if not len(tuples):
        return
    shapes, which = np.unique(planes.n_levels[tuples], axis=0, return_inverse=True)
    which = which.reshape(-1)
    rows, places_in_rows = np.unique(tuples, return_inverse=True)
    places_in_rows = places_in_rows.reshape(tuples.shape)
    codes, classes = _codes_of(planes, rows)
    per_chunk = max(1, _MAX_NUMBERS // max(1, codes.shape[1]))
    n_classes = len(planes.class_sizes)
    for number, levels in enumerate(shapes.tolist()):
        of_shape = np.flatnonzero(which == number)
        shape = (*levels, n_classes)
        n_entries = int(np.prod(shape))
        for begin in range(0, len(of_shape), per_chunk):
            places = of_shape[begin : begin + per_chunk]
            entry = np.zeros((len(places), codes.shape[1]), dtype=np.int64)
            for member, n_levels in enumerate(levels):
                entry *= n_levels
                entry += codes[places_in_rows[places, member]]
            entry = entry * n_classes + classes + n_entries * np.arange(len(places))[:, np.newaxis]
            counts = np.bincount(entry.ravel(), minlength=n_entries * len(places))
            yield places, counts.reshape(len(places), *shape).astype(np.int64)


def _codes_of(planes: BitPlanes, rows: IntArray) -> tuple[CodeArray, IntArray]:
    """Return the level of each sample in each of some rows, and the class of each sample."""
    n_samples = int(planes.class_sizes.sum())
    codes = np.zeros((len(rows), n_samples), dtype=np.uint8)
    sample = 0
    for size, (begin, end) in zip(planes.class_sizes.tolist(), pairwise(planes.class_word_start.tolist()), strict=True):
        for place, row in enumerate(rows.tolist()):
            first = int(planes.plane_start[row])
            of_class = np.ascontiguousarray(planes.words[first : first + int(planes.n_levels[row]) - 1, begin:end])
            bits = np.unpackbits(of_class.astype("<u8").view(np.uint8), axis=1, bitorder="little", count=size)
            codes[place, sample : sample + size] = np.arange(1, len(bits) + 1, dtype=np.uint8) @ bits
        sample += size
    return codes, np.repeat(np.arange(len(planes.class_sizes)), planes.class_sizes)
