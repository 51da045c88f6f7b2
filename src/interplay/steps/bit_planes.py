"""codes → bit planes, split by decision class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from interplay import _core
from interplay.arrays import WORDS_PER_BLOCK, BitPlanes, DecisionClasses, DiscreteCodes, IntArray
from interplay.jobs import map_in_threads


def make_bit_planes(parts: Sequence[DiscreteCodes], classes: DecisionClasses, *, n_jobs: int = 1) -> BitPlanes:
    """Pack codes into bit planes.

    Parameters
    ----------
    parts : sequence of DiscreteCodes
        The real variables, then, if there are any, the contrast variables.
    classes : DecisionClasses
        Samples of one class come together, so that a count per class is a plain popcount.
    n_jobs : int
        Threads.
    """
    # A column with one value counts as two levels, one of them empty.
    n_levels = np.maximum(np.concatenate([part.n_levels for part in parts]), 2)
    plane_start = np.concatenate([[0], np.cumsum(n_levels - 1)]).astype(np.int64)
    class_word_start = _class_word_start(classes.sizes)
    words = np.zeros((plane_start[-1], class_word_start[-1]), dtype=np.uint64)
    sample_order = np.argsort(classes.codes, kind="stable")

    first_row = 0
    for part in parts:
        rows = slice(first_row, first_row + part.n_vars)
        start = plane_start[rows.start : rows.stop + 1]
        part_words = words[start[0] : start[-1]]

        layout = (sample_order, classes.sizes, class_word_start, start - start[0])
        pack = partial(_core.pack_bit_planes, part.codes, *layout, words=part_words)
        edges = np.linspace(0, part.n_vars, min(part.n_vars, 4 * n_jobs) + 1).astype(int).tolist()
        map_in_threads(partial(_pack_rows, pack), pairwise(edges), n_jobs)
        first_row = rows.stop

    return BitPlanes(
        words=words,
        plane_start=plane_start,
        n_levels=n_levels,
        class_word_start=class_word_start,
        class_sizes=classes.sizes,
        n_vars=parts[0].n_vars,
    )


def _pack_rows(pack: Callable[[int, int], None], rows: tuple[int, int]) -> None:
    pack(*rows)


def _class_word_start(class_sizes: IntArray) -> IntArray:
    """Give each class whole blocks of words, so that no register straddles two classes."""
    blocks = -(-class_sizes // (64 * WORDS_PER_BLOCK))
    return np.concatenate([[0], np.cumsum(blocks * WORDS_PER_BLOCK)]).astype(np.int64)
