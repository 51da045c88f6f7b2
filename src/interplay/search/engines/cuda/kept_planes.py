"""Planes that stay on a device while the tiles of one search come in chunks, as a checkpoint has them."""

from __future__ import annotations

from typing import Any

from interplay.base.arrays import BitPlanes, TupleTiles
from interplay.search.engines.cuda.device_planes import DevicePlanes
from interplay.search.engines.cuda.digit_orders import DigitOrders
from interplay.search.engines.cuda.layout import make_lane_layout


class KeptPlanes:
    """The planes of all tiles, on the device of one share of the search, until they are closed.

    Parameters
    ----------
    tiles : TupleTiles
        All tiles of the search, over the same blocks as those of each chunk.
    """

    def __init__(self, tiles: TupleTiles) -> None:
        self._tiles = tiles
        self._planes: DevicePlanes | None = None

    def suit(self, tiles: TupleTiles) -> bool:
        """Say whether these tiles are some of all the tiles, in the same order of variables."""
        return tiles.order is self._tiles.order and tiles.lane_start is self._tiles.lane_start

    def planes(self, planes: BitPlanes, orders: DigitOrders | None, **how: Any) -> DevicePlanes:
        """Return the planes on the current device; `how` as `DevicePlanes` takes it, where they are not there yet."""
        if self._planes is None:
            self._planes = DevicePlanes(planes, make_lane_layout(planes, self._tiles), orders, **how)
        return self._planes

    def close(self) -> None:
        """Leave the device's memory to others."""
        planes, self._planes = self._planes, None
        if planes is not None:
            planes.close()
