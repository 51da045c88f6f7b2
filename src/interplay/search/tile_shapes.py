"""How tiles are cut for the processor: the same for a plain search as for shards, checkpoints and clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interplay.arrays import TupleTiles
from interplay.engines.routing import tile_costs, wants_smaller_blocks

#: A tile should take no longer: threads and machines finish together, and little is lost where a search is cut short.
_MAX_TILE_SECONDS = 5.0

#: What to try where the usual tiles take longer, or their blocks are too large, from large to small. The variables that
#: fill lanes are the last to become fewer.
_SMALLER: tuple[dict[str, Any], ...] = (
    {"block_size": 16, "middle_size": 64},
    {"block_size": 16, "middle_size": 16},
    {"block_size": 8, "middle_size": 16},
    {"block_size": 8, "middle_size": 8},
    {"block_size": 6, "middle_size": 8},
    {"block_size": 4, "middle_size": 8},
    {"block_size": 4, "middle_size": 4},
    {"block_size": 8, "middle_size": 16, "n_lanes": 64},
)


def cut_for_processor(cut: Callable[..., TupleTiles], **rows: Any) -> tuple[dict[str, Any], TupleTiles]:
    """Cut into tiles of the usual shape, or of the first that suits the searchers; return the shape, too.

    Where none does, the one that comes nearest: blocks may have to be larger than asked for, lest there be too many
    tiles.

    Parameters
    ----------
    cut : callable
        Cuts the tuples of a search, given the sizes of blocks.
    **rows
        Levels of all rows and the like, as `tile_costs` takes them.
    """
    nearest: tuple[tuple[bool, float], dict[str, Any], TupleTiles] | None = None
    for shape in ({}, *_SMALLER):
        tiles = cut(**shape)
        seconds = 1e-9 * float(tile_costs(tiles, **rows).max(initial=0.0))
        misses = wants_smaller_blocks(tiles, **rows), max(seconds, _MAX_TILE_SECONDS)
        if nearest is None or misses < nearest[0]:
            nearest = misses, shape, tiles
        if misses == (False, _MAX_TILE_SECONDS):
            break
    assert nearest is not None
    return nearest[1:]
