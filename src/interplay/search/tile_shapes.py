"""How tiles are cut for the processor: the same for a plain search as for shards, checkpoints and clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interplay.base.arrays import TupleTiles
from interplay.engines.base import USUAL_TILES, TileShape
from interplay.engines.routing import tiles_too_large

#: A tile should take no longer: threads and machines finish together, and little is lost where a search is cut short.
_MAX_TILE_SECONDS = 5.0

#: Shapes to try where the usual tiles take longer, or their blocks are too large, from large to small. The variables
#: that fill lanes are the last to become fewer.
_SMALLER = (
    TileShape(block_size=16, middle_size=64),
    TileShape(block_size=16, middle_size=16),
    TileShape(block_size=8, middle_size=16),
    TileShape(block_size=8, middle_size=8),
    TileShape(block_size=6, middle_size=8),
    TileShape(block_size=4, middle_size=8),
    TileShape(block_size=4, middle_size=4),
    TileShape(block_size=8, middle_size=16, n_lanes=64),
)


def cut_for_processor(cut: Callable[..., TupleTiles], **rows: Any) -> tuple[TileShape, TupleTiles]:
    """Cut into tiles of the usual shape, or of the first shape that suits the searchers; return the shape, too.

    Where no shape suits, the nearest is taken: blocks become larger than asked for where tiles would be too many.

    Parameters
    ----------
    cut : callable
        Cuts the tuples of a search, given the sizes of blocks.
    **rows
        Levels of all rows and the like, as `tile_costs` takes them.
    """
    nearest: tuple[tuple[bool, float], TileShape, TupleTiles] | None = None
    for shape in (USUAL_TILES, *_SMALLER):
        tiles = cut(**vars(shape))
        wants_smaller, nanoseconds = tiles_too_large(tiles, **rows)
        misses = wants_smaller, max(1e-9 * nanoseconds, _MAX_TILE_SECONDS)
        if nearest is None or misses < nearest[0]:
            nearest = misses, shape, tiles
        if misses == (False, _MAX_TILE_SECONDS):
            break
    assert nearest is not None
    return nearest[1:]
