"""C(n, k) tuples → tiles that can be searched in any order."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.arrays import BoolArray, FloatArray, IntArray, TupleTiles

#: Variables per block, by dimensions. Small enough for many tiles and for counts that stay in cache, large enough that
#: fixing a prefix pays.
_BLOCK_SIZE = {1: 4096, 2: 256, 3: 64, 4: 32}
_BLOCK_SIZE_BEYOND = 16

#: Blocks grow where there would be more tiles than this: they are listed in memory.
_MAX_TILES = 1_000_000


def make_tuple_tiles(
    n_levels: IntArray,
    *,
    n_vars: int,
    dimensions: int,
    asked_for: BoolArray | None = None,
    require: str = "any",
    block_size: int | None = None,
) -> TupleTiles:
    """Cut the tuples of a search into tiles.

    Parameters
    ----------
    n_levels : (n_rows,) int64
        Levels of each variable, real ones first, then contrast variables.
    n_vars : int
        Number of real variables.
    dimensions : int
        Members of a tuple.
    asked_for : (n_vars,) bool, optional
        Only tuples that hold one of these variables (``require="any"``) or nothing but these (``"all"``). The real
        members of a contrast variable's tuple count, where there are any.
    block_size : int, optional
        Variables per block; changes the speed, never the result.
    """
    kept = np.ones(n_vars, dtype=bool)
    wanted = np.zeros(n_vars, dtype=bool)
    if asked_for is not None:
        kept = asked_for if require == "all" else kept
        wanted = asked_for
    must_hold_wanted = asked_for is not None and require == "any"

    real = np.flatnonzero(kept)
    # Blocks never mix what tiles tell apart: first whether asked for, then the number of levels.
    real = real[np.lexsort((real, n_levels[real], ~wanted[real]))]
    contrast = np.arange(n_vars, len(n_levels))
    contrast = contrast[np.lexsort((contrast, n_levels[contrast]))]

    size = block_size or _default_block_size(len(real), len(contrast), dimensions)
    real_start = _cut(size, wanted[real], n_levels[real])
    contrast_start = _cut(size, n_levels[contrast])
    order = np.concatenate([real, contrast])
    block_start = np.concatenate([real_start, len(real) + contrast_start[1:]])
    n_real_blocks = len(real_start) - 1
    block_is_wanted = wanted[real[real_start[:-1]]]

    tiles = _multisets(n_real_blocks, dimensions)
    if must_hold_wanted:
        tiles = tiles[block_is_wanted[tiles].any(axis=1)]
    if len(contrast):
        partners = _multisets(n_real_blocks, dimensions - 1)
        if must_hold_wanted and dimensions > 1:
            partners = partners[block_is_wanted[partners].any(axis=1)]
        blocks = np.arange(n_real_blocks, len(block_start) - 1, dtype=np.int32)
        crossed = np.repeat(partners, len(blocks), axis=0)
        tiles = np.concatenate([tiles, np.column_stack([crossed, np.tile(blocks, len(partners))])])

    n_tuples = _tuples_in(tiles, np.diff(block_start))
    tiles, n_tuples = tiles[n_tuples > 0], n_tuples[n_tuples > 0]
    return TupleTiles(
        order=order,
        block_start=block_start,
        tiles=np.ascontiguousarray(tiles),
        n_tuples=n_tuples,
        partner_cells=_partner_cells(tiles, n_levels[order[block_start[:-1]]]),
    )


def _default_block_size(n_real: int, n_contrast: int, dimensions: int) -> int:
    size = _BLOCK_SIZE.get(dimensions, _BLOCK_SIZE_BEYOND)
    while True:
        n_blocks = -(-n_real // size)
        n_tiles = comb(n_blocks + dimensions - 1, dimensions)
        n_tiles += -(-n_contrast // size) * comb(n_blocks + dimensions - 2, dimensions - 1)
        if n_tiles <= _MAX_TILES:
            return size
        size *= 2


def _cut(size: int, *keys: npt.NDArray[Any]) -> IntArray:
    """Starts of blocks of at most `size` rows in which all keys are constant; ends with the number of rows."""
    n = len(keys[0])
    changes = np.zeros(n, dtype=bool)
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    runs = np.concatenate([np.flatnonzero(changes), [n]])
    starts: list[int] = []
    begin = 0
    for end in runs.tolist():
        n_blocks = -(-(end - begin) // size)
        # Blocks of even size: a short last one would make tiles that do not pay.
        starts.extend(begin + (end - begin) * b // n_blocks for b in range(n_blocks))
        begin = end
    return np.array([*starts, n], dtype=np.int64)


def _multisets(n_blocks: int, size: int) -> npt.NDArray[np.int32]:
    """All non-descending rows of `size` block numbers, in lexicographic order."""
    rows = np.zeros((1, 0), dtype=np.int32)
    for _ in range(size):
        last = rows[:, -1].astype(np.int64) if rows.shape[1] else np.zeros(len(rows), dtype=np.int64)
        n_next = n_blocks - last
        ends = np.cumsum(n_next)
        offset = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - n_next, n_next)
        following = np.repeat(last, n_next) + offset
        rows = np.column_stack([np.repeat(rows, n_next, axis=0), following.astype(np.int32)])
    return rows


def _tuples_in(tiles: npt.NDArray[np.int32], block_sizes: IntArray) -> FloatArray:
    """Tuples of each tile: a block named m times gives C(size, m) choices."""
    # Place by place: the m-th mention of a block multiplies by (size − m + 1) / m.
    n_tuples = np.ones(len(tiles))
    mention = np.zeros(len(tiles))
    for place in range(tiles.shape[1]):
        same = tiles[:, place] == tiles[:, place - 1] if place else np.zeros(len(tiles), dtype=bool)
        mention = np.where(same, mention + 1, 1)
        n_tuples *= (block_sizes[tiles[:, place]] - mention + 1) / mention
    return np.round(n_tuples)


def _partner_cells(tiles: npt.NDArray[np.int32], block_levels: IntArray) -> IntArray:
    """Distinct products of the levels of a variable's partners."""
    found: set[int] = set()
    chunk = 100_000
    for begin in range(0, len(tiles), chunk):
        levels = block_levels[tiles[begin : begin + chunk]]
        partners = levels.prod(axis=1, keepdims=True) // levels
        found.update(np.unique(partners).tolist())
    return np.array(sorted(found), dtype=np.int64)
