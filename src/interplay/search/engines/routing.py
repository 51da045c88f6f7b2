"""Tiles → the processor's searcher that takes each, and its estimated cost: as the compiled core decides it.

The rule stands in the compiled core alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interplay import _core
from interplay.base.arrays import BitPlanes, FloatArray, TupleTiles
from interplay.search.engines.searcher_counts import SearcherCounts

#: Variables that fill a register of lanes, and variables whose triples are searched together.
LANES: int = _core.LANES
TRIPLE_BLOCK: int = _core.TRIPLE_BLOCK

#: The searchers by number; number 0 stands for none.
SEARCHERS: tuple[str, ...] = _core.SEARCHERS


def max_block_size(dimensions: int) -> int:
    """Return how many variables a block may have so that the tables over a tile's blocks fit, from 4D on.

    Examples
    --------
    >>> max_block_size(4) > max_block_size(5)
    True
    """
    return _core.max_block_size(dimensions)


def core_tiles(planes: BitPlanes, tiles: TupleTiles) -> _core.Tiles:
    """Return tiles over planes, which need no words, as the compiled core takes them; it checks them."""
    return _core.Tiles(
        n_levels=planes.n_levels,
        n_vars=planes.n_vars,
        order=tiles.order,
        block_start=tiles.block_start,
        middle_start=tiles.middle_start,
        lane_start=tiles.lane_start,
        tiles=tiles.tiles,
        partner_cells=tiles.partner_cells,
    )


def tile_searchers(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> list[str]:
    """Return the name of the searcher that takes each tile; only the layout of the planes matters here and below.

    Examples
    --------
    >>> from interplay.data.codes.planes import planes_to_come
    >>> from interplay.search.tiles import make_tuple_tiles
    >>> levels = np.array([2, 2, 2, 40])
    >>> tiles = make_tuple_tiles(levels, n_vars=4, dimensions=2)
    >>> tile_searchers(planes_to_come(levels, np.array([60, 40]), n_vars=4), tiles, 0.25)
    ['singles', 'direct']
    """
    found = _core.tile_searchers(core_tiles(planes, tiles), planes.class_sizes, pseudocount, planes.of_numbers)
    return [SEARCHERS[number] for number in found.tolist()]


def tile_costs(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> FloatArray:
    """Return about how many nanoseconds each tile takes a thread, (n_tiles,) float64: the same on every machine."""
    return _core.tile_costs(core_tiles(planes, tiles), planes.class_sizes, pseudocount, planes.of_numbers)


def tiles_too_large(planes: BitPlanes, tiles: TupleTiles, pseudocount: float) -> tuple[bool, float]:
    """Say whether a tile would be searched faster with fewer variables per block, and the cost of the longest tile."""
    return _core.tiles_too_large(core_tiles(planes, tiles), planes.class_sizes, pseudocount, planes.of_numbers)


def count_searched(searched_by: npt.NDArray[np.uint8], n_tuples: FloatArray) -> SearcherCounts:
    """Count tiles and tuples by the number of their searcher; those of number 0 were not searched.

    Examples
    --------
    >>> count_searched(np.array([2, 0, 2], dtype=np.uint8), np.array([10.0, 10.0, 5.0]))
    {'pairs': {'tiles': 2, 'tuples': 15}}
    """
    n_tiles = np.bincount(searched_by, minlength=len(SEARCHERS)).tolist()
    tuples = np.bincount(searched_by, weights=n_tuples, minlength=len(SEARCHERS)).tolist()
    return {
        name: {"tiles": n_tiles[number], "tuples": int(tuples[number])}
        for number, name in enumerate(SEARCHERS)
        if number and n_tiles[number]
    }
