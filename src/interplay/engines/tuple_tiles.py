"""C(n, k) tuples → tiles that can be searched in any order."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.arrays import BoolArray, FloatArray, IntArray, TupleTiles

#: Variables per small block, by dimensions: enough of them that what is computed once per block pays, few enough that
#: counts of sub-tuples stay in cache and that there are tiles for many threads.
_BLOCK_SIZE = {1: 256, 2: 64, 3: 64, 4: 32}
_BLOCK_SIZE_BEYOND = 16

#: Variables per lane block: the bits of one AVX2 register.
_LANES = 256

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
    n_lanes: int | None = None,
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
    block_size, n_lanes : int, optional
        Variables per small block and per lane block; they change the speed, never the result.
    """
    kept = np.ones(n_vars, dtype=bool)
    wanted = np.zeros(n_vars, dtype=bool)
    if asked_for is not None:
        kept = asked_for if require == "all" else kept
        wanted = asked_for

    real = np.flatnonzero(kept)
    # Blocks never mix what tiles tell apart: first whether asked for, then the number of levels.
    real = real[np.lexsort((real, n_levels[real], ~wanted[real]))]
    contrast = np.arange(n_vars, len(n_levels))
    contrast = contrast[np.lexsort((contrast, n_levels[contrast]))]

    size, lanes = block_size or _BLOCK_SIZE.get(dimensions, _BLOCK_SIZE_BEYOND), n_lanes or _LANES
    while _n_tiles(len(real), len(contrast), dimensions, size, lanes) > _MAX_TILES:
        size, lanes = 2 * size, max(lanes, 2 * size)
    real_lanes = _cut(lanes, wanted[real], n_levels[real])
    contrast_lanes = _cut(lanes, n_levels[contrast])
    lane_start = np.concatenate([real_lanes, len(real) + contrast_lanes[1:]])
    lane_of_row = np.repeat(np.arange(len(lane_start) - 1), np.diff(lane_start))
    block_start = _cut(size, lane_of_row)
    order = np.concatenate([real, contrast])
    n_real_blocks = int(np.searchsorted(block_start, len(real)))
    lane_of_block = lane_of_row[block_start[:-1]]

    prefixes = _multisets(n_real_blocks, dimensions - 1)
    first_lane = lane_of_block[prefixes[:, -1]] if dimensions > 1 else np.zeros(len(prefixes), dtype=np.int64)
    # Every lane block that has variables after the prefix; contrast variables come after all.
    n_lane_blocks = len(lane_start) - 1 - first_lane
    tiles = np.column_stack([np.repeat(prefixes, n_lane_blocks, axis=0), _counted_up(first_lane, n_lane_blocks)])
    tiles = tiles.astype(np.int32)
    if asked_for is not None and require == "any":
        wanted_row = np.concatenate([wanted[real], np.zeros(len(contrast), dtype=bool)])
        lane_counts = wanted_row[lane_start[:-1]]
        if dimensions == 1:  # alone, a contrast variable has no real partner to be judged by
            lane_counts |= lane_start[:-1] >= len(real)
        tiles = tiles[wanted_row[block_start[:-1]][tiles[:, :-1]].any(axis=1) | lane_counts[tiles[:, -1]]]

    n_tuples = _tuples_in(tiles, block_start, lane_start)
    tiles, n_tuples = tiles[n_tuples > 0], n_tuples[n_tuples > 0]
    return TupleTiles(
        order=order,
        block_start=block_start,
        lane_start=lane_start,
        tiles=np.ascontiguousarray(tiles),
        n_tuples=n_tuples,
        partner_cells=_partner_cells(tiles, n_levels[order[block_start[:-1]]], n_levels[order[lane_start[:-1]]]),
    )


def _n_tiles(n_real: int, n_contrast: int, dimensions: int, size: int, lanes: int) -> float:
    """Estimate the number of tiles, a little high."""
    n_prefixes = comb(max(-(-n_real // size), 1) + dimensions - 2, dimensions - 1)
    # On average a prefix leaves 1/k of the real variables to come after it.
    return n_prefixes * (-(-n_real // lanes) / dimensions + 1 + -(-n_contrast // lanes))


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
        following = _counted_up(last, n_blocks - last).astype(np.int32)
        rows = np.column_stack([np.repeat(rows, n_blocks - last, axis=0), following])
    return rows


def _counted_up(first: IntArray, number: IntArray) -> IntArray:
    """Return first[0], first[0] + 1, … (number[0] of them), first[1], ….

    Examples
    --------
    >>> _counted_up(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(number)
    place = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - number, number)
    return np.asarray(np.repeat(first, number) + place)


def _tuples_in(tiles: npt.NDArray[np.int32], block_start: IntArray, lane_start: IntArray) -> FloatArray:
    """Tuples of each tile: a block named m times gives C(size, m) choices, in order with the lane that follows."""
    sizes = np.diff(block_start)
    lane_begin, lane_end = lane_start[tiles[:, -1]], lane_start[tiles[:, -1] + 1]
    n_prefixes = np.ones(len(tiles))
    mention = np.zeros(len(tiles))
    # Place by place: the m-th mention of a block multiplies by (size − m + 1) / m.
    for place in range(tiles.shape[1] - 1):
        same = tiles[:, place] == tiles[:, place - 1] if place else np.zeros(len(tiles), dtype=bool)
        mention = np.where(same, mention + 1, 1)
        n_prefixes *= (sizes[tiles[:, place]] - mention + 1) / mention
    if tiles.shape[1] == 1:
        return (lane_end - lane_begin).astype(np.float64)
    last = tiles[:, -2]
    inside = block_start[last] >= lane_begin
    # Where the last block lies in the lane block, the lane is one more of its variables or comes after the block.
    one_more = (sizes[last] - mention) / (mention + 1)
    n_lanes = np.where(inside, one_more + (lane_end - block_start[last + 1]), lane_end - lane_begin)
    return np.asarray(np.round(n_prefixes * n_lanes))


def _partner_cells(tiles: npt.NDArray[np.int32], block_levels: IntArray, lane_levels: IntArray) -> IntArray:
    """Distinct products of the levels of a variable's partners."""
    found: set[int] = set()
    chunk = 100_000
    for begin in range(0, len(tiles), chunk):
        part = tiles[begin : begin + chunk]
        levels = np.column_stack([block_levels[part[:, :-1]], lane_levels[part[:, -1]]])
        partners = levels.prod(axis=1, keepdims=True) // levels
        found.update(np.unique(partners).tolist())
    return np.array(sorted(found), dtype=np.int64)
