"""Many tuples → samples per cell, stratum and class of each, by popcounts of bit planes of the variables in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BitPlanes, BoolArray, DecisionClasses, DiscreteCodes, IntArray, WordArray
from interplay.codes.coder import Coder
from interplay.codes.planes import make_bit_planes
from interplay.study.strata import Strata

#: Words of planes that are looked at together: they should stay in the second-level cache.
_WORDS_AT_ONCE = 2**17

#: Variables read at once, and how many that are not wanted may lie between two that are.
_READ_AT_ONCE = 64
_NEAR = 4


class TupleTables:
    """Counts tuples of some variables in one discretisation, without pseudocounts.

    Attributes
    ----------
    n_classes : int
    has_strata : bool

    Parameters
    ----------
    coder : Coder
        Of a table that holds these variables.
    classes : DecisionClasses
    strata : Strata, optional
        Tables then have one axis more, the stratum, before those of the members.
    discretization : int
    variables : (n,) int64
        Numbers of all variables that tuples to be counted may hold.
    omit_missing : bool
        Leave samples out of the tables of tuples of which they lack a value, rather than give missing values a level.
    """

    def __init__(
        self,
        coder: Coder,
        classes: DecisionClasses,
        *,
        strata: Strata | None = None,
        discretization: int = 0,
        variables: IntArray,
        omit_missing: bool = False,
    ) -> None:
        self._variables = np.unique(variables)
        self._n_strata = 1 if strata is None else strata.n_strata
        self.has_strata = strata is not None
        self.n_classes = classes.n_classes
        groups = classes.codes if strata is None else strata.codes * classes.n_classes + classes.codes
        self._filled, codes = np.unique(groups, return_inverse=True)  # classes that a stratum lacks have no words
        of_filled = DecisionClasses(codes.reshape(-1).astype(np.int64), self._filled.tolist())
        planes = make_bit_planes([_codes_of(coder, discretization, self._variables)], of_filled, n_jobs=coder.n_jobs)
        self._words, self._first_plane = _planes_of_all_levels(planes)
        self._n_levels = planes.n_levels.copy()
        if omit_missing:  # the last level, where there is one, of those without a value
            self._n_levels -= has_missing_level(coder)[self._variables]
        self._first_word = planes.class_word_start[:-1]

    def shapes(self, tuples: IntArray) -> IntArray:
        """Return the levels of each member of each tuple, (n_tuples, k)."""
        return self._n_levels[np.searchsorted(self._variables, tuples)]

    def counts(self, tuples: IntArray) -> IntArray:
        """Count tuples whose tables have one shape: (n_tuples, [n_strata,] levels …, n_classes)."""
        members = np.searchsorted(self._variables, tuples)
        levels = self._n_levels[members[0]].tolist()
        n_groups = self._n_strata * self.n_classes
        found = np.zeros((len(tuples), prod(levels), n_groups), dtype=np.int64)
        size = max(1, _WORDS_AT_ONCE // max(self._words.shape[1], 1))
        for begin in range(0, len(tuples), size):
            chunk = members[begin : begin + size]
            for cell, words in _cells(self._words, self._first_plane[chunk], levels):
                bits = _bit_counts(words)
                found[begin : begin + size, cell, self._filled] = np.add.reduceat(
                    bits, self._first_word, axis=1, dtype=np.int64
                )
        by_group = found.reshape(len(tuples), *levels, self._n_strata, self.n_classes)
        tables = np.moveaxis(by_group, -2, 1)
        return np.ascontiguousarray(tables if self.has_strata else tables[:, 0])


def has_missing_level(coder: Coder) -> BoolArray:
    """Say which variables have a level, the last one, for missing values."""
    return np.asarray((coder.n_missing > 0) & (coder.missing == "level"))


def by_shape(shapes: IntArray) -> Iterator[IntArray]:
    """Return the numbers of the tuples of each shape."""
    if len(shapes) == 0:
        return
    _, which = np.unique(shapes, axis=0, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(which[order])) + 1)


def _codes_of(coder: Coder, discretization: int, variables: IntArray) -> DiscreteCodes:
    """Return the codes of some variables, ascending; neighbours are read together, as files have them."""
    codes = np.empty((len(variables), coder.table.n_samples), dtype=np.uint8)
    for rows in _runs(variables):
        begin, end = int(variables[rows.start]), int(variables[rows.stop - 1]) + 1
        if end - begin == rows.stop - rows.start:
            coder.write_block(discretization, slice(begin, end), codes[rows])
        else:
            block = np.empty((end - begin, coder.table.n_samples), dtype=np.uint8)
            coder.write_block(discretization, slice(begin, end), block)
            codes[rows] = block[variables[rows] - begin]
    return DiscreteCodes(codes, coder.n_levels[variables])


def _runs(variables: IntArray) -> Iterator[slice]:
    """Cut sorted variables into runs that are near to each other, short enough to be read at once."""
    begin = 0
    for i in range(1, len(variables) + 1):
        if (
            i == len(variables)
            or variables[i] - variables[i - 1] > _NEAR
            or variables[i] - variables[begin] >= _READ_AT_ONCE
        ):
            yield slice(begin, i)
            begin = i


def _planes_of_all_levels(planes: BitPlanes) -> tuple[WordArray, IntArray]:
    """Return one plane for every level, level 0 too, and the first plane of each variable."""
    valid = _samples_that_are(planes)
    first = np.concatenate([[0], np.cumsum(planes.n_levels)])
    words = np.empty((first[-1], planes.words.shape[1]), dtype=np.uint64)
    for v in range(planes.n_rows):
        others = planes.words[planes.plane_start[v] : planes.plane_start[v + 1]]
        words[first[v]] = valid & ~np.bitwise_or.reduce(others, axis=0)
        words[first[v] + 1 : first[v + 1]] = others
    return words, first[:-1]


def _samples_that_are(planes: BitPlanes) -> WordArray:
    """Return a plane with a 1 for every sample: the ends of groups are padded."""
    bits = np.zeros(planes.words.shape[1] * 64, dtype=np.uint8)
    for start, size in zip(planes.class_word_start.tolist(), planes.class_sizes.tolist(), strict=False):
        bits[64 * start : 64 * start + size] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def _cells(words: WordArray, first: IntArray, levels: list[int]) -> Iterator[tuple[int, WordArray]]:
    """Yield the number of each cell and its samples in every tuple, (n_tuples, n_words)."""

    def go_on(place: int, cell: int, so_far: WordArray | None) -> Iterator[tuple[int, WordArray]]:
        if place == len(levels):
            assert so_far is not None
            yield cell, so_far
            return
        for level in range(levels[place]):
            plane = words[first[:, place] + level]
            both = plane if so_far is None else plane & so_far
            yield from go_on(place + 1, cell * levels[place] + level, both)

    return go_on(0, 0, None)


def _bit_counts_by_table(words: WordArray) -> npt.NDArray[np.uint8]:
    by_byte = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(axis=1).astype(np.uint8)
    in_bytes = by_byte[np.ascontiguousarray(words).view(np.uint8)]
    return np.asarray(in_bytes.reshape(*words.shape, 8).sum(axis=-1, dtype=np.uint8))


#: NumPy counts bits from version 2 on.
_bit_counts: Callable[[WordArray], npt.NDArray[Any]] = getattr(np, "bitwise_count", _bit_counts_by_table)
