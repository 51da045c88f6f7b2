"""The engine: a search, or a list, shared among the devices."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import reduce
from typing import Any

from interplay.arrays import BitPlanes, FloatArray, MaxGains, TupleRows, TupleTiles
from interplay.engines.base import OnProgress, SearchInterrupted
from interplay.engines.cpu import CpuEngine
from interplay.engines.cuda.device_listing import DeviceListing
from interplay.engines.cuda.device_search import DeviceSearch
from interplay.engines.cuda.device_tuples import TooManyCells
from interplay.engines.cuda.devices import device_numbers, device_properties, why_no_cuda
from interplay.engines.cuda.kernels import default_counting
from interplay.engines.cuda.layout import covers_all_tuples, parts_by_planes, strongest_first
from interplay.engines.cuda.tables import TablesTooLarge, make_information_tables, make_statistic_tables
from interplay.engines.cuda.tile_segments import TileSegments
from interplay.engines.tuple_formula import TupleFormula

#: Why tuples go to the CPU.
_FEWER_CELLS = "fewer dimensions, divisions or classes would fit"
_TOO_LITTLE_MEMORY = "has too little memory for tuples of so many variables and samples (fewer would fit)"


@dataclass(frozen=True)
class CudaEngine:
    """All tiles on this machine's GPUs.

    Attributes
    ----------
    devices : tuple of int, optional
        Numbers of the GPUs to use; all of them if not given.
    counting : {"tensor", "popc"}, optional
        How to count; what suits each device if not given.
    n_threads : int
        Threads of the CPU engine, which takes what a GPU cannot.
    """

    devices: tuple[int, ...] | None = None
    counting: str | None = None
    n_threads: int = 1
    name: str = "cuda"

    def __post_init__(self) -> None:
        reason = why_no_cuda()
        if reason:
            raise ImportError(reason) if "CuPy" in reason else RuntimeError(reason)

    def tile_shape(self, dimensions: int) -> dict[str, Any]:
        """Return how `make_tuple_tiles` should cut: full blocks, as the kernels take them."""
        if dimensions <= 2:
            return {"block_size": 128, "middle_size": 1024, "n_lanes": 2048, "even": False}
        return {"block_size": 64 if dimensions == 3 else 32, "middle_size": 512, "n_lanes": 512, "even": False}

    def max_gains(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        discretization: int = 0,
        known: MaxGains | None = None,
        on_progress: OnProgress | None = None,
    ) -> MaxGains:
        """Search the tiles and return their maxima, merged with those already `known`."""
        start = MaxGains.none_yet(planes, tiles) if known is None else known
        if not len(tiles):
            return start
        tables = make_information_tables(planes, tiles, pseudocount)
        devices = self._device_numbers()
        # What each device found, and its search in work, which begins with that.
        found: dict[int, MaxGains] = {}
        searches: dict[int, DeviceSearch] = {}
        parts, n_groups = [tiles], 1

        def begin(share: int, part: TupleTiles, counting: str) -> None:
            if share in searches:  # nothing else holds it: it leaves its memory to the next
                found[share] = searches.pop(share).found(discretization)
            searches[share] = DeviceSearch(
                planes,
                part,
                tables=tables,
                pseudocount=pseudocount,
                counting=counting,
                known=found.get(share, start),
                share=(share, len(devices)),
            )

        def work(share: int, counting: str, report: _Report) -> None:
            for part in parts:
                begin(share, part, counting)
                searches[share].warm()
                # Every device finds the same order: all of them warm with the same tuples.
                if part.dimensions > 3 and covers_all_tuples(part, planes.n_vars):
                    strength = searches[share].found(discretization).gain_by_group.max(axis=1)
                    begin(share, strongest_first(part, strength), counting)
                searches[share].run(report)

        def gathered() -> MaxGains:
            import cupy

            all_found = [start, *found.values()]
            for share, search in searches.items():
                with cupy.cuda.Device(devices[share]):
                    all_found.append(search.found(discretization))
            return reduce(MaxGains.merge, all_found)

        why_cpu = ""
        while not why_cpu:
            report = _Report(on_progress)
            try:
                self._on_all_devices(work, report)
                return gathered()
            except KeyboardInterrupt:
                raise SearchInterrupted(gathered(), report.done / float(tiles.n_tuples.sum())) from None
            except TooManyCells:
                why_cpu = f"cannot count tuples with this many cells ({_FEWER_CELLS})"
            except MemoryError:  # so CuPy's is
                # The same again, with fewer planes at a time. What was found already helps the bound.
                start = gathered()
                found.clear()
                searches.clear()
                if n_groups >= len(tiles.lane_start) - 1:
                    why_cpu = _TOO_LITTLE_MEMORY
                n_groups = 2 * max(n_groups, tiles.dimensions)
                parts = parts_by_planes(tiles, n_groups)
        _warn_of_cpu(f"{why_cpu}: they are searched")
        return self._cpu().max_gains(
            planes,
            tiles,
            pseudocount=pseudocount,
            discretization=discretization,
            known=start,
            on_progress=on_progress,
        )

    def interesting_tuples(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        min_value: FloatArray,
        formula: TupleFormula | None = None,
        max_rows: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> TupleRows:
        """List what exceeds a threshold, tile by tile, each tile sorted by tuple and variable."""
        if not len(tiles):
            return TupleRows.none(tiles.dimensions)
        # Devices take segments of tiles in turn: their order is kept, and a long list of few rows is shared well.
        segments = TileSegments(tiles.n_tuples, tiles.dimensions, max_rows, n_workers=len(self._device_numbers()))

        def work(share: int, counting: str, report: _Report) -> None:
            listing = DeviceListing(
                planes,
                tiles,
                tables=tables,
                pseudocount=pseudocount,
                counting=counting,
                min_value=min_value,
                formula=formula,
            )
            while (segment := segments.take()) is not None:
                rows = listing.rows(*segment, segments.most_rows, report)
                if rows is None:
                    segments.put_back(*segment)
                else:
                    segments.hand_in(segment[0], rows)

        try:
            if formula is None:
                tables = make_information_tables(planes, tiles, pseudocount)
            else:
                tables = make_statistic_tables(planes, tiles, pseudocount, formula)
            self._on_all_devices(work, _Report(on_progress))
            return segments.rows()
        except (TooManyCells, TablesTooLarge):
            why_cpu = f"cannot score tuples with this many cells or different numbers of levels ({_FEWER_CELLS})"
        except MemoryError:  # so CuPy's is
            why_cpu = _TOO_LITTLE_MEMORY
        _warn_of_cpu(f"{why_cpu}: they are listed")
        return self._cpu().interesting_tuples(
            planes,
            tiles,
            pseudocount=pseudocount,
            min_value=min_value,
            formula=formula,
            max_rows=max_rows,
            on_progress=on_progress,
        )

    def _on_all_devices(self, work: Callable[[int, str, _Report], None], report: _Report) -> None:
        """Call `work` with the number of each device's share and how to count there, while the device is current."""
        devices = self._device_numbers()

        def work_there(share: int) -> None:
            import cupy

            with cupy.cuda.Device(devices[share]) as device:
                work(share, self.counting or default_counting(int(device.compute_capability)), report)

        if len(devices) == 1:
            work_there(0)
            return
        with ThreadPoolExecutor(len(devices)) as pool:
            futures = [pool.submit(work_there, share) for share in range(len(devices))]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                report.stop.set()  # none goes on alone after a failure or Ctrl-C
        errors = [future.exception() for future in futures]
        for error in errors:
            if error is not None and not isinstance(error, _Stopped):
                raise error

    def _cpu(self) -> CpuEngine:
        return CpuEngine(n_threads=self.n_threads)

    def _device_numbers(self) -> tuple[int, ...]:
        if self.devices is not None:
            return self.devices
        return device_numbers()

    def describe(self) -> dict[str, Any]:
        """Return what a record of the run should say about the engine."""
        return {"name": self.name, "devices": [device_properties(n)["name"].decode() for n in self._device_numbers()]}


class _Stopped(Exception):
    """Another device's thread failed or was interrupted."""


class _Report:
    """Told by the devices how many tuples they have done; tells the caller, and the devices when to stop."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self.done = 0.0
        self.stop = threading.Event()

    def __call__(self, tuples: float) -> None:
        with self._lock:
            self.done += tuples
            if self._on_progress is not None:
                self._on_progress(int(self.done))
        if self.stop.is_set():
            raise _Stopped


def _warn_of_cpu(what: str) -> None:
    warnings.warn(f"engine='cuda' {what} on the CPU instead", stacklevel=3)
