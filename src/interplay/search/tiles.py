"""C(n, k) tuples → tiles that can be searched in any order."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.tuples import TupleTiles
from interplay.search.engines.base import TileShape
from interplay.search.engines.routing import LANES, TRIPLE_BLOCK, max_block_size

#: Variables per small block, by dimensions: enough that work done once per block pays, few enough that counts of
#: sub-tuples stay in cache and that there are tiles for many threads.
_BLOCK_SIZE = {1: 256, 2: 64, 3: 64, 4: 32}
_BLOCK_SIZE_BEYOND = 16

#: In 5D and with two levels, larger blocks pay where they leave one or two beside the last: more prefixes share work,
#: and a table of few variables needs no tiles for many threads.
_LARGE_BLOCK_SIZE = 26

#: Blocks grow where there would be more tiles than this: they are listed in memory.
_MAX_TILES = 1_000_000
_MAX_TILES_AT_ALL = 100_000_000

#: Up to here, tiles are remembered: searches of one shape often follow one another (resampled tables, folds), and may
#: take less time than cutting them.
_FEW_VARIABLES = 256


def make_tuple_tiles(
    n_levels: IntArray,
    *,
    n_vars: int,
    dimensions: int,
    asked_for: BoolArray | None = None,
    require: str = "any",
    stratum_levels: int | None = None,
    **shape: Any,
) -> TupleTiles:
    """Cut the tuples of a search into tiles.

    - `n_levels` (n_rows,): levels of each variable, real ones first, then contrast variables.
    - `n_vars`: number of real variables.
    - `dimensions`: members of a tuple.
    - `asked_for` (n_vars,): only tuples that hold one of these variables (``require="any"``) or nothing but these
      (``"all"``). The real members of a contrast variable's tuple count, where there are any.
    - `stratum_levels`: a stratum with this many levels is one more member of every tuple. It is row 0 of the tiles;
      variable v is row v + 1.
    - `**shape`: attributes of a `TileShape`: they change the speed, never the result.

    Examples
    --------
    >>> tiles = make_tuple_tiles(np.full(100, 2), n_vars=100, dimensions=3)
    >>> int(tiles.n_tuples.sum())
    161700
    """
    how: dict[str, Any] = {
        "n_vars": n_vars,
        "dimensions": dimensions,
        "stratum_levels": stratum_levels,
        "shape": TileShape(**shape),
    }
    if asked_for is None and len(n_levels) <= _FEW_VARIABLES:
        return _tiles_of_few(np.asarray(n_levels, dtype=np.int64).tobytes(), **how)
    return _cut_into_tiles(n_levels, asked_for=asked_for, require=require, **how)


@lru_cache(maxsize=32)
def _tiles_of_few(n_levels: bytes, **how: Any) -> TupleTiles:
    tiles = _cut_into_tiles(np.frombuffer(n_levels, dtype=np.int64), asked_for=None, require="any", **how)
    for field in fields(tiles):
        array = getattr(tiles, field.name)
        if array is not None:
            array.flags.writeable = False  # others will be given the same
    return tiles


def _cut_into_tiles(
    n_levels: IntArray,
    *,
    n_vars: int,
    dimensions: int,
    asked_for: BoolArray | None,
    require: str,
    stratum_levels: int | None,
    shape: TileShape,
) -> TupleTiles:
    kept = np.ones(n_vars, dtype=bool)
    wanted = np.zeros(n_vars, dtype=bool)
    if asked_for is not None:
        kept = asked_for if require == "all" else kept
        wanted = asked_for

    real = np.flatnonzero(kept)
    # Blocks never mix variables that tiles distinguish: first by whether asked for, then by the number of levels.
    real = real[np.lexsort((real, n_levels[real], ~wanted[real]))]
    contrast = np.arange(n_vars, len(n_levels))
    contrast = contrast[np.lexsort((contrast, n_levels[contrast]))]

    n_members = dimensions + (stratum_levels is not None)
    even, lanes = shape.even, shape.n_lanes or LANES
    size = shape.block_size or _BLOCK_SIZE.get(n_members, _BLOCK_SIZE_BEYOND)
    if n_members == dimensions == 5 and shape.block_size is None:
        are_few = len(real) <= 2 * _LARGE_BLOCK_SIZE + TRIPLE_BLOCK
        size = _LARGE_BLOCK_SIZE if are_few and np.all(n_levels <= 2) else size
    # Where few variables come after the prefix, their pairs are searched together: all of them in one tile.
    middle = shape.middle_size or (LANES if n_members > 3 and len(real) <= LANES else size)
    max_size = max_block_size(n_members) if n_members > 3 else len(n_levels)
    while size < max_size and _n_tiles(len(real), len(contrast), dimensions, size, middle, lanes) > _MAX_TILES:
        size = min(2 * size, max_size)
        middle = max(middle, size)
        lanes = max(lanes, middle)
    if _n_tiles(len(real), len(contrast), dimensions, size, middle, lanes) > _MAX_TILES_AT_ALL:
        how_many = f"{float(comb(len(real), dimensions)):.1e} tuples"
        raise ValueError(
            f"dimensions={dimensions} over {len(real)} variables is {how_many}, more than can be searched: "
            "lower dimensions, or keep fewer variables (for example those that a search in fewer dimensions finds)"
        )
    lane_start = _cut_lanes(lanes, even, n_levels[real], wanted[real])
    if len(contrast):
        of_contrast = len(real) + _cut_lanes(lanes, even, n_levels[contrast])
        lane_start = np.concatenate([lane_start, of_contrast[1:]])
    middle_start = _cut(lane_start, middle, even)
    runs = middle_start
    if even and n_members > 3 and len(real) > TRIPLE_BLOCK:
        # Triples of the last variables are searched together: they would be the last few of very many prefixes.
        runs = np.union1d(runs, len(real) - TRIPLE_BLOCK)
    block_start = _cut(runs, size, even)
    order = np.concatenate([real, contrast])
    starts = [block_start] * (dimensions - 2) + [middle_start] * (dimensions > 1) + [lane_start]

    rows = np.zeros((1, 0), dtype=np.int64)
    for place, start in enumerate(starts):
        # From the block that holds the variables after the last one, to the end; contrast variables are last members.
        first = np.zeros(len(rows), dtype=np.int64)
        if place:
            first = np.searchsorted(start, starts[place - 1][rows[:, -1]], side="right") - 1
        n_blocks = np.searchsorted(start, len(order) if place + 1 == dimensions else len(real))
        rows = np.column_stack([np.repeat(rows, n_blocks - first, axis=0), _counted_up(first, n_blocks - first)])
    tiles: npt.NDArray[np.int32] = rows.astype(np.int32)
    if asked_for is not None and require == "any":
        wanted_row = np.concatenate([wanted[real], np.zeros(len(contrast), dtype=bool)])
        if dimensions == 1:  # alone, a contrast variable has no real partner to be judged by
            wanted_row[len(real) :] = True
        holds = [wanted_row[start[tiles[:, place]]] for place, start in enumerate(starts)]
        tiles = tiles[np.any(holds, axis=0)]

    if even and dimensions == 3:
        # Neighbours share their last two blocks: the CPU engine keeps the pairs of these from one tile to the next.
        tiles = tiles[np.lexsort((tiles[:, 0], tiles[:, 2], tiles[:, 1]))]
    if not even and dimensions == 2:
        tiles = tiles[_z_order(np.searchsorted(lane_start, middle_start[tiles[:, 0]], side="right") - 1, tiles)]
    n_tuples = _tuples_in(tiles, block_start, middle_start, lane_start)
    tiles, n_tuples = tiles[n_tuples > 0], n_tuples[n_tuples > 0]
    only_of_stratum = None
    partner_cells = _partner_cells(tiles, [n_levels[order[start[:-1]]] for start in starts])
    if stratum_levels is not None:
        # The stratum's own block stands first, in every tile.
        order = np.concatenate([[0], order + 1])
        block_start, middle_start, lane_start = (np.append(0, s + 1) for s in (block_start, middle_start, lane_start))
        starts = [block_start] * (n_members - 2) + [middle_start, lane_start]
        tiles = np.insert(tiles + np.int32(1), 0, 0, axis=1)
        n_levels = np.append(stratum_levels, n_levels)
        of_variables = stratum_levels * partner_cells
        partner_cells = _partner_cells(tiles, [n_levels[order[start[:-1]]] for start in starts])
        only_of_stratum = ~np.isin(partner_cells, of_variables)
    return TupleTiles(
        order=order,
        block_start=block_start,
        middle_start=middle_start,
        lane_start=lane_start,
        tiles=np.ascontiguousarray(tiles),
        n_tuples=n_tuples,
        partner_cells=partner_cells,
        only_of_stratum=only_of_stratum,
    )


def _n_tiles(n_real: int, n_contrast: int, dimensions: int, size: int, middle: int, lanes: int) -> float:
    """Estimate the number of tiles, a little high."""
    if dimensions == 1:
        return -(-n_real // lanes) + -(-n_contrast // lanes)
    # In order, k variables leave 1/k of all to come after the last, 2/k after the last but one.
    n_prefixes = comb(max(-(-n_real // size), 1) + dimensions - 3, dimensions - 2)
    n_middles = -(-n_real // middle) * 2 / dimensions + 1
    return n_prefixes * n_middles * (-(-n_real // lanes) / dimensions + 1 + -(-n_contrast // lanes))


def _runs(*keys: npt.NDArray[Any]) -> IntArray:
    """Starts of the runs of rows in which all keys are constant; ends with the number of rows."""
    n = len(keys[0])
    changes = np.zeros(n, dtype=bool)
    changes[:1] = True
    for key in keys:
        changes[1:] |= key[1:] != key[:-1]
    return np.append(np.flatnonzero(changes), n)


def _cut(runs: IntArray, size: int, even: bool) -> IntArray:
    """Cut each run of rows into blocks of at most `size`; returns their starts, and the number of rows."""
    starts: list[int] = []
    for begin, end in pairwise(runs.tolist()):
        n_blocks = -(-(end - begin) // size)
        # Blocks of even size, where a short last one would make tiles that do not pay.
        starts.extend(begin + ((end - begin) * b // n_blocks if even else size * b) for b in range(n_blocks))
    return np.array([*starts, runs[-1]], dtype=np.int64)


def _cut_lanes(lanes: int, even: bool, n_levels: IntArray, *keys: npt.NDArray[Any]) -> IntArray:
    """Starts of lane blocks, like `_cut`; instead of even blocks, full ones, and a first one with the rest.

    Most prefixes have come so far in the order that the first block is behind them: it may be small. A variable of c
    levels takes c − 1 lanes, in groups of 16 variables; blocks hold whole registers of them.
    """
    runs = _runs(n_levels, *keys)
    if not even:
        return _cut(runs, lanes, even)
    starts: list[IntArray] = []
    for begin, end in pairwise(runs.tolist()):
        in_a_register = lanes // int(n_levels[begin] - 1) // 16 * 16
        size = lanes // in_a_register * in_a_register if in_a_register else lanes
        starts.append(np.arange(end, begin, -size)[::-1])
    return np.concatenate([np.zeros(1, dtype=np.int64), *starts])


def _z_order(row_block: IntArray, tiles: npt.NDArray[np.int32]) -> IntArray:
    """Return the order of pairs of lane blocks by the interleaved bits of their numbers (Morton's Z-order).

    Tiles that follow one another share lane blocks at every scale: a GPU whose memory holds a part of all planes brings
    each of them seldom, whatever its memory.

    `row_block` (n_tiles,): the lane block in which the middle block of each tile lies.
    """
    column_block = tiles[:, -1].astype(np.int64)
    place = np.zeros(len(tiles), dtype=np.int64)
    for bit in range(int(max(row_block.max(initial=0), column_block.max(initial=0))).bit_length()):
        place |= (row_block >> bit & 1) << (2 * bit + 1) | (column_block >> bit & 1) << (2 * bit)
    return np.lexsort((tiles[:, 0], place))


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


def _tuples_in(
    tiles: npt.NDArray[np.int32], block_start: IntArray, middle_start: IntArray, lane_start: IntArray
) -> FloatArray:
    """Tuples of each tile: choices in ascending order, where smaller blocks may lie in larger ones."""
    lane_begin, lane_end = lane_start[tiles[:, -1]], lane_start[tiles[:, -1] + 1]
    if tiles.shape[1] == 1:
        return (lane_end - lane_begin).astype(np.float64)
    middle_begin, middle_end = middle_start[tiles[:, -2]], middle_start[tiles[:, -2] + 1]
    same_lane_block = middle_begin >= lane_begin

    def lanes_after(place: IntArray) -> IntArray:
        return np.where(same_lane_block, lane_end - place, lane_end - lane_begin)

    def pairs_from(place: IntArray) -> FloatArray:
        """Choices of the last two variables, the first of them from `place` on."""
        n_firsts = (middle_end - place).astype(np.float64)
        both_in_middle = np.where(same_lane_block, n_firsts * (n_firsts - 1) / 2, 0)
        return np.asarray(both_in_middle + n_firsts * lanes_after(middle_end))

    if tiles.shape[1] == 2:
        return pairs_from(middle_begin)
    sizes = np.diff(block_start)
    n_prefixes = np.ones(len(tiles))
    mention = np.zeros(len(tiles))
    # Place by place: the m-th mention of a block multiplies by (size − m + 1) / m.
    for place in range(tiles.shape[1] - 2):
        same = tiles[:, place] == tiles[:, place - 1] if place else np.zeros(len(tiles), dtype=bool)
        mention = np.where(same, mention + 1, 1)
        n_prefixes *= (sizes[tiles[:, place]] - mention + 1) / mention
    last = tiles[:, -3]
    size, end = sizes[last], block_start[last + 1]
    # Where the last small block lies in the middle block, one or two of the last variables may be in it too.
    one_more = (size - mention) / (mention + 1)
    two_more = np.where(same_lane_block, one_more * (size - mention - 1) / (mention + 2), 0)
    nested = pairs_from(end) + one_more * lanes_after(end) + two_more
    in_middle = block_start[last] >= middle_begin
    return np.asarray(np.round(n_prefixes * np.where(in_middle, nested, pairs_from(middle_begin))))


def _partner_cells(tiles: npt.NDArray[np.int32], levels_by_place: list[IntArray]) -> IntArray:
    """Distinct products of the levels of a variable's partners."""
    if len(tiles) and all((levels == levels_by_place[0][0]).all() for levels in levels_by_place):
        return np.array([int(levels_by_place[0][0]) ** (len(levels_by_place) - 1)], dtype=np.int64)
    found: set[int] = set()
    chunk = 100_000
    for begin in range(0, len(tiles), chunk):
        part = tiles[begin : begin + chunk]
        levels = np.column_stack([levels[part[:, place]] for place, levels in enumerate(levels_by_place)])
        partners = levels.prod(axis=1, keepdims=True) // levels
        found.update(np.unique(partners).tolist())
    return np.array(sorted(found), dtype=np.int64)
