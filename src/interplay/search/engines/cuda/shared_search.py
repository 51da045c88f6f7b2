"""The maxima of some tiles, by one device or several, whose shares make up the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from interplay.base.arrays import MaxGains, TupleTiles
from interplay.search.engines.cuda.device_search import CAPACITY, DeviceSearch
from interplay.search.engines.cuda.device_state import OnDone, SearchData
from interplay.search.engines.cuda.device_tuples import PLANES_SHARE, SMALLEST_PLANES_SHARE
from interplay.search.engines.cuda.devices import is_device_memory_error
from interplay.search.engines.cuda.kept_planes import KeptPlanes
from interplay.search.engines.cuda.layout import covers_all_tuples, strongest_first
from interplay.search.engines.cuda.work_plan import MIN_CAPACITY


class SharedSearch:
    """A search and its maxima so far, device by device.

    Parameters
    ----------
    devices : sequence of int
        Numbers of the GPUs; a share for each.
    known : MaxGains
        Gains found before.
    kept : sequence of KeptPlanes
        Of each share, planes that stay on its device; none where nothing is kept.
    """

    def __init__(
        self,
        data: SearchData,
        tiles: TupleTiles,
        *,
        devices: Sequence[int],
        discretization: int,
        known: MaxGains,
        kept: Sequence[KeptPlanes] = (),
    ) -> None:
        self._data, self._tiles, self._devices, self._kept = data, tiles, devices, kept
        self._discretization, self._known = discretization, known
        #: The maxima of each device, and its search in work, which began with these maxima.
        self._found: dict[int, MaxGains] = {}
        self._searches: dict[int, DeviceSearch] = {}
        self._capacity, self._planes_share = CAPACITY, PLANES_SHARE

    def search(self, share: int, on_done: OnDone) -> None:
        """Search a share on its device, which is the current one."""
        tiles = self._tiles
        search = self._begin(share, tiles)
        # All devices find the same order: they warm with the same tuples.
        if tiles.dimensions > 3 and search.holds_all and covers_all_tuples(tiles, self._data.planes.n_vars):
            search.warm(np.arange(len(tiles)))
            gain = search.found(self._discretization).gain_by_group.max(axis=1)
            del search
            search = self._begin(share, strongest_first(tiles, gain))
        search.run(on_done)

    def _begin(self, share: int, tiles: TupleTiles) -> DeviceSearch:
        if share in self._searches:  # nothing else holds it: it leaves its memory to the next
            self._found[share] = self._searches.pop(share).found(self._discretization)
        kept = self._kept[share] if self._kept and self._kept[share].suit(tiles) else None
        search = self._searches[share] = DeviceSearch(
            replace(self._data, kept=kept),
            tiles,
            known=self._found.get(share, self._known),
            capacity=self._capacity,
            share=(share, len(self._devices)),
            planes_share=self._planes_share,
        )
        return search

    def found(self) -> MaxGains:
        """Return the maxima until now."""
        import cupy

        found = list(self._found.values())  # with all that was known before
        for share, search in self._searches.items():
            with cupy.cuda.Device(self._devices[share]):
                try:
                    search.close()
                    found.append(search.found(self._discretization))
                except Exception as error:
                    if not is_device_memory_error(error):  # a device without memory cannot even return its maxima
                        raise
        return reduce(MaxGains.merge, found or [self._known])

    def needs_less_memory(self) -> bool:
        """Begin again with smaller buffers, or with fewer planes at a time; say whether that is possible.

        Maxima that were found already help the bound.
        """
        self._known = self.found()
        self._found.clear()
        self._searches.clear()
        for kept in self._kept:
            kept.close()
        if self._capacity > MIN_CAPACITY:
            self._capacity = MIN_CAPACITY
            return True
        self._planes_share /= 2
        return self._planes_share >= SMALLEST_PLANES_SHARE
