"""How tiles are cut for the processor: the same for a plain search as for shards, checkpoints and clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interplay.arrays import FloatArray, TupleTiles

#: A tile should take no longer: threads and machines finish together, and little is lost where a search is cut short.
_MAX_TILE_SECONDS = 5.0

#: What to try where the usual tiles take longer, from large to small. Where there are lanes, these are the last to go.
_SMALLER: tuple[dict[str, Any], ...] = (
    {"block_size": 16, "middle_size": 64},
    {"block_size": 16, "middle_size": 16},
    {"block_size": 8, "middle_size": 16},
    {"block_size": 8, "middle_size": 16, "n_lanes": 64},
)


def cut_for_processor(
    cut: Callable[..., TupleTiles], costs: Callable[[TupleTiles], FloatArray]
) -> tuple[dict[str, Any], TupleTiles]:
    """Cut into tiles of the usual shape, or of the first that leaves none too long; return the shape, too.

    Parameters
    ----------
    cut : callable
        Cuts the tuples of a search, given the sizes of blocks.
    costs : callable
        Returns about how many nanoseconds each tile takes.
    """
    shape: dict[str, Any] = {}
    tiles = cut()
    for smaller in _SMALLER:
        if not len(tiles) or costs(tiles).max() <= 1e9 * _MAX_TILE_SECONDS:
            break
        shape, tiles = smaller, cut(**smaller)
    return shape, tiles
