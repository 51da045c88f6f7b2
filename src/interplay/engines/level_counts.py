"""bit planes → samples of each variable by level, class and stratum, a block of variables at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from interplay.base.arrays import BitPlanes, IntArray, WordArray

#: Counts that are in memory at once.
_MAX_COUNTS = 4_000_000

#: Words of planes that are compared with those of a stratum at once: what the second-level cache holds.
_MAX_WORDS = 1 << 16

_BITS_OF_BYTE = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)


def level_counts(planes: BitPlanes, *, has_strata: bool) -> Iterator[tuple[IntArray, IntArray]]:
    """Count the samples of every row, block by block, rows with the same number of levels together.

    Parameters
    ----------
    planes : BitPlanes
    has_strata : bool
        Whether row 0 is the stratum, and no variable.

    Yields
    ------
    rows : (n_rows,) int64
        Numbers of the variables, from 0 for the first that is not the stratum; contrast variables come last.
    counts : (n_rows, n_levels, n_classes, n_strata) int64
    """
    strata = _stratum_planes(planes) if has_strata else None
    n_strata = 1 if strata is None else len(strata)
    first = int(has_strata)
    of_strata = _bits_by_class(planes, _everything(planes) if strata is None else strata)  # (n_strata, n_classes)
    for n_levels in np.unique(planes.n_levels[first:]).tolist():
        rows = first + np.flatnonzero(planes.n_levels[first:] == n_levels)
        size = max(1, _MAX_COUNTS // (n_levels * len(planes.class_sizes) * n_strata))
        for start in range(0, len(rows), size):
            block = rows[start : start + size]
            counts = np.empty((len(block), n_levels, len(planes.class_sizes), n_strata), dtype=np.int64)
            for level in range(1, n_levels):
                counts[:, level] = _counts_of_planes(planes, planes.plane_start[block] + level - 1, strata)
            counts[:, 0] = of_strata.T - counts[:, 1:].sum(axis=1)
            yield block - first, counts


def _counts_of_planes(planes: BitPlanes, which: IntArray, strata: WordArray | None) -> IntArray:
    """Samples with a bit in each of these planes, (n_planes, n_classes, n_strata)."""
    n_strata = 1 if strata is None else len(strata)
    counts = np.empty((len(which), len(planes.class_sizes), n_strata), dtype=np.int64)
    size = max(1, _MAX_WORDS // planes.words.shape[1])
    for start in range(0, len(which), size):
        words = planes.words[which[start : start + size]]
        here = counts[start : start + size]
        if strata is None:
            here[:, :, 0] = _bits_by_class(planes, words)
        else:
            for stratum in range(n_strata):
                here[:, :, stratum] = _bits_by_class(planes, words & strata[stratum])
    return counts


def _bits_by_class(planes: BitPlanes, words: WordArray) -> IntArray:
    """Bits that are set in each row of words, class by class."""
    bits = np.bitwise_count(words) if hasattr(np, "bitwise_count") else _bits_by_table(words)
    return np.asarray(np.add.reduceat(bits, planes.class_word_start[:-1], axis=1, dtype=np.int64))


def _bits_by_table(words: WordArray) -> IntArray:
    """The same as numpy.bitwise_count, which came with NumPy 2."""
    of_bytes = _BITS_OF_BYTE[np.ascontiguousarray(words).view(np.uint8)]
    return np.asarray(of_bytes.reshape(*words.shape, 8).sum(axis=-1, dtype=np.int64))


def _stratum_planes(planes: BitPlanes) -> WordArray:
    """A plane for each stratum; that of the first is what the others leave."""
    others = planes.words[: planes.plane_start[1]]
    none_of_them = _everything(planes) & ~np.bitwise_or.reduce(others, axis=0)
    return np.concatenate([none_of_them, others])


def _everything(planes: BitPlanes) -> WordArray:
    """A plane with the bits of all samples, and not of the padding at the end of each class."""
    plane = np.zeros((1, planes.words.shape[1]), dtype=np.uint64)
    for size, start in zip(planes.class_sizes.tolist(), planes.class_word_start[:-1].tolist(), strict=True):
        whole, rest = divmod(size, 64)
        plane[0, start : start + whole] = np.uint64(2**64 - 1)
        if rest:
            plane[0, start + whole] = np.uint64(2**rest - 1)
    return plane
