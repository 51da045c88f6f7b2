"""The maxima of some tiles, by one device or several, whose shares make up the whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from interplay.base.arrays import MaxGains, TupleTiles
from interplay.engines.cuda.device_search import CAPACITY, DeviceSearch
from interplay.engines.cuda.device_state import OnDone, SearchData
from interplay.engines.cuda.devices import is_device_memory_error
from interplay.engines.cuda.layout import covers_all_tuples, parts_by_planes, strongest_first
from interplay.engines.cuda.work_plan import MIN_CAPACITY


class SharedSearch:
    """A search and its maxima so far, device by device.

    Parameters
    ----------
    devices : sequence of int
        Numbers of the GPUs; a share for each.
    known : MaxGains
        Gains found before.
    """

    def __init__(
        self,
        data: SearchData,
        tiles: TupleTiles,
        *,
        devices: Sequence[int],
        discretization: int,
        known: MaxGains,
    ) -> None:
        self._data, self._tiles, self._devices = data, tiles, devices
        self._discretization, self._known = discretization, known
        #: The maxima of each device, and its search in work, which began with these maxima.
        self._found: dict[int, MaxGains] = {}
        self._searches: dict[int, DeviceSearch] = {}
        self._parts, self._n_groups, self._capacity = [tiles], 1, CAPACITY

    def search(self, share: int, on_done: OnDone) -> None:
        """Search a share on its device, which is the current one."""
        for part in self._parts:
            self._begin(share, part)
            self._searches[share].warm()
            # All devices find the same order: they warm with the same tuples.
            if part.dimensions > 3 and covers_all_tuples(part, self._data.planes.n_vars):
                gain = self._searches[share].found(self._discretization).gain_by_group.max(axis=1)
                self._begin(share, strongest_first(part, gain))
            self._searches[share].run(on_done)

    def _begin(self, share: int, part: TupleTiles) -> None:
        if share in self._searches:  # nothing else holds it: it leaves its memory to the next
            self._found[share] = self._searches.pop(share).found(self._discretization)
        self._searches[share] = DeviceSearch(
            self._data,
            part,
            known=self._found.get(share, self._known),
            capacity=self._capacity,
            share=(share, len(self._devices)),
        )

    def found(self) -> MaxGains:
        """Return the maxima until now."""
        import cupy

        found = list(self._found.values())  # with all that was known before
        for share, search in self._searches.items():
            with cupy.cuda.Device(self._devices[share]):
                try:
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
        if self._capacity > MIN_CAPACITY:
            self._capacity = MIN_CAPACITY
            return True
        if self._n_groups >= len(self._tiles.lane_start) - 1:
            return False
        self._n_groups = 2 * max(self._n_groups, self._tiles.dimensions)
        self._parts = parts_by_planes(self._tiles, self._n_groups)
        return True
