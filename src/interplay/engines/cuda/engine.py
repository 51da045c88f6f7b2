"""The engine: a search, or a list, shared among the devices."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from interplay.arrays import BitPlanes, FloatArray, MaxGains, TupleRows, TupleTiles
from interplay.checks import shown
from interplay.engines.base import Engine, OnProgress, SearchInterrupted, TileShape
from interplay.engines.cpu import CpuEngine
from interplay.engines.cuda.device_listing import DeviceListing
from interplay.engines.cuda.device_state import OnDone, SearchData
from interplay.engines.cuda.devices import (
    DeviceLimits,
    NotForDevices,
    common_limits,
    device_numbers,
    device_properties,
    is_device_memory_error,
    why_no_cuda,
)
from interplay.engines.cuda.kernel_loader import compile_ahead
from interplay.engines.cuda.kernel_plan import kernels_of
from interplay.engines.cuda.kernels import COUNTING
from interplay.engines.cuda.layout import make_lane_layout, make_tile_records
from interplay.engines.cuda.listing_chunks import ListingChunks
from interplay.engines.cuda.shared_search import SharedSearch
from interplay.engines.cuda.tables import make_information_tables, make_statistic_tables
from interplay.engines.cuda.work_plan import WorkPlan
from interplay.engines.searcher_counts import SearcherCounts, add_counts
from interplay.engines.tile_chunks import tiles_of_tuples
from interplay.engines.tuple_formula import TupleFormula
from interplay.interrupts import Interrupts, noticing_interrupts

#: How often the thread that waits for several devices sees whether Ctrl-C was pressed.
_SECONDS_BETWEEN_CHECKS = 0.1

#: Why tuples go to the CPU.
_TOO_LITTLE_MEMORY = "has too little memory for tuples of so many variables and samples (fewer would fit)"


@dataclass(frozen=True)
class CudaEngine(Engine):
    """All tiles on this machine's GPUs, but tiles of single variables: the CPU counts these faster than it copies them.

    Attributes
    ----------
    devices : tuple of int, optional
        Numbers of the GPUs to use; all of them if not given.
    counting : {"tensor", "popc"}, optional
        How to count; by the device if not given.
    n_threads : int
        Threads of the CPU engine, which takes tuples that a GPU cannot search.
    leave_memory_errors : bool
        Raise MemoryError where the GPUs' memory is too small, instead of going to the CPU: in a cluster others may
        have more.
    """

    devices: tuple[int, ...] | None = None
    counting: str | None = None
    n_threads: int = 1
    leave_memory_errors: bool = False
    name: str = "cuda"
    can_list = True
    can_screen = True

    def __post_init__(self) -> None:
        reason = why_no_cuda()
        if reason:
            raise RuntimeError(reason) if find_spec("cupy") else ImportError(reason)
        numbers = device_numbers()
        if self.devices is not None and not (self.devices and set(self.devices) <= set(numbers)):
            raise ValueError(f"devices must be numbers of GPUs, of {shown(numbers)}, not {shown(self.devices)}")
        if self.counting is not None and self.counting not in COUNTING:
            raise ValueError(f"counting must be one of {', '.join(COUNTING)}, not {shown(self.counting)}")

    def tile_shape(self, dimensions: int) -> TileShape:
        """Return how `make_tuple_tiles` should cut: full blocks, as the kernels take them."""
        if dimensions <= 2:
            return TileShape(block_size=128, middle_size=2048, n_lanes=8192, even=False)
        return TileShape(block_size=64 if dimensions == 3 else 32, middle_size=512, n_lanes=512, even=False)

    def begin(self, planes: BitPlanes, tiles: TupleTiles, *, pseudocount: float) -> None:
        """Compile the kernels that the first device needs for a search of these tiles."""
        if tiles.dimensions == 1 or not len(tiles):
            return

        def compile_all() -> None:
            import cupy

            # Any error comes again where the search begins.
            with suppress(Exception), cupy.cuda.Device(self._device_numbers()[0]):
                layout = make_lane_layout(planes, tiles)
                records = make_tile_records(planes, tiles, layout)
                plan = WorkPlan(planes, tiles, layout, records, pseudocount=pseudocount, limits=self._limits())
                compile_ahead(kernels_of(plan, len(tiles), samples=True, bounds=True))

        with suppress(RuntimeError):  # no thread is to be had
            threading.Thread(target=compile_all).start()

    def max_gains(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        discretization: int = 0,
        known: MaxGains | None = None,
        on_progress: OnProgress | None = None,
        searched: SearcherCounts | None = None,
    ) -> MaxGains:
        """Search the tiles and return their maxima, merged with maxima already `known`."""
        start = MaxGains.none_yet(planes, tiles) if known is None else known
        if not len(tiles):
            return start
        if tiles.dimensions == 1:
            return self._cpu().max_gains(
                planes,
                tiles,
                pseudocount=pseudocount,
                discretization=discretization,
                known=start,
                on_progress=on_progress,
                searched=searched,
            )
        tables = make_information_tables(planes, tiles, pseudocount)
        search = SharedSearch(
            SearchData(planes, tables, pseudocount, self._limits()),
            tiles,
            devices=self._device_numbers(),
            discretization=discretization,
            known=start,
        )
        report = _Report(on_progress)
        why_cpu = ""
        while not why_cpu:
            report.begin()
            failure: BaseException | None = None
            try:
                self._on_all_devices(search.search, report)
            except (KeyboardInterrupt, NotForDevices) as error:
                failure = error
            except Exception as error:
                if not is_device_memory_error(error):
                    raise
                failure = error.with_traceback(None)  # which would hold the memory
            if failure is None:
                if searched is not None:
                    add_counts(searched, {self.name: {"tiles": len(tiles), "tuples": int(tiles.n_tuples.sum())}})
                return search.found()
            if isinstance(failure, KeyboardInterrupt):
                try:
                    found = search.found()
                except Exception:  # a device that failed too must not take the place of Ctrl-C
                    found = start
                raise SearchInterrupted(found, report.done / float(tiles.n_tuples.sum())) from None
            if isinstance(failure, NotForDevices):
                why_cpu = str(failure)
            elif not search.needs_less_memory():
                why_cpu = _TOO_LITTLE_MEMORY
                if self.leave_memory_errors:
                    raise MemoryError(f"engine='cuda' {why_cpu}") from failure
        _warn_of_cpu(f"{why_cpu}: they are searched")
        return self._cpu().max_gains(
            planes,
            tiles,
            pseudocount=pseudocount,
            discretization=discretization,
            known=search.found(),
            on_progress=report.shown_at_least(on_progress),
            searched=searched,  # all tiles again, also tiles that a device had done
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
        """List members whose score exceeds a threshold, tile by tile, each tile sorted by tuple and variable."""
        report = _Report(on_progress)
        if tiles.dimensions > 1:
            try:
                return self._listed(
                    planes,
                    tiles,
                    report,
                    pseudocount=pseudocount,
                    min_value=min_value,
                    formula=formula,
                    max_rows=max_rows,
                )
            except _ToCpu as why:
                _warn_of_cpu(f"{why}: they are listed")
        return self._cpu().interesting_tuples(
            planes,
            tiles,
            pseudocount=pseudocount,
            min_value=min_value,
            formula=formula,
            max_rows=max_rows,
            on_progress=report.shown_at_least(on_progress),
        )

    def screen_tiles(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        *,
        pseudocount: float,
        min_gain: FloatArray,
        max_rows: int | None = None,
        on_progress: OnProgress | None = None,
        searched: SearcherCounts | None = None,
    ) -> TupleRows:
        """List each tuple once if all its members gain enough: tile by tile, each tile sorted by tuple.

        Devices list by the lowest threshold of a gain. The processor, which knows the threshold of the tuple's degrees
        of freedom, looks at these tuples again.
        """
        least = np.full(len(planes.n_levels), min_gain[1])
        least[: tiles.only_of_stratum is not None] = -np.inf
        report = _Report(on_progress)
        how: dict[str, Any] = {"pseudocount": pseudocount, "min_gain": min_gain}
        try:
            rows = self._listed(
                planes,
                tiles,
                report,
                pseudocount=pseudocount,
                min_value=least,
                every_member=True,
                max_rows=max_rows,
            )
        except _ToCpu as why:
            if why.needs_memory and self.leave_memory_errors:
                raise MemoryError(f"engine='cuda' {why}") from None
            _warn_of_cpu(f"{why}: they are screened")
            shown = report.shown_at_least(on_progress)
            return self._cpu().screen_tiles(
                planes, tiles, max_rows=max_rows, on_progress=shown, searched=searched, **how
            )
        listed = tiles_of_tuples(rows.tuples, tiles, n_rows=len(planes.n_levels))
        exact = replace(self._cpu(), direct_only=True).screen_tiles(planes, listed, **how)
        if searched is not None:
            n_tuples = int(tiles.n_tuples[: len(rows.rows_of_tile)].sum())
            add_counts(searched, {self.name: {"tiles": len(rows.rows_of_tile), "tuples": n_tuples}})
        tile_of_row = np.repeat(np.arange(len(rows.rows_of_tile)), rows.rows_of_tile)
        is_left = exact.rows_of_tile > 0
        return replace(
            exact,
            rows_of_tile=np.bincount(tile_of_row[is_left], minlength=len(rows.rows_of_tile)).astype(np.int64),
        )

    def _listed(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        report: _Report,
        *,
        pseudocount: float,
        min_value: FloatArray,
        formula: TupleFormula | None = None,
        every_member: bool = False,
        max_rows: int | None,
    ) -> TupleRows:
        """List on the devices, or raise _ToCpu."""
        if not len(tiles):
            return TupleRows.none(tiles.dimensions)
        # Devices take chunks of tiles in turn: their order is kept, and a long list of few rows is shared well.
        chunks = ListingChunks(tiles.n_tuples, tiles.dimensions, max_rows, n_workers=len(self._device_numbers()))

        def work(share: int, on_done: OnDone) -> None:
            listing = DeviceListing(data, tiles, min_value=min_value, formula=formula, every_member=every_member)
            while (chunk := chunks.take()) is not None:
                rows = listing.rows(*chunk, chunks.most_rows, on_done)
                if rows is None:
                    chunks.put_back(*chunk)
                else:
                    chunks.hand_in(chunk[0], rows)

        try:
            if formula is None:
                tables = make_information_tables(planes, tiles, pseudocount)
            else:
                tables = make_statistic_tables(planes, tiles, pseudocount, formula)
            data = SearchData(planes, tables, pseudocount, self._limits())
            self._on_all_devices(work, report)
            return chunks.rows()
        except NotForDevices as error:
            raise _ToCpu(str(error)) from None
        except Exception as error:
            if not is_device_memory_error(error):
                raise
            raise _ToCpu(_TOO_LITTLE_MEMORY, needs_memory=True) from None

    def _on_all_devices(self, work: Callable[[int, OnDone], None], report: _Report) -> None:
        """Call `work` with the number of each device's share, while the device is current."""
        with noticing_interrupts() as check_interrupt:
            self._share_out(work, report, check_interrupt)
            check_interrupt()

    def _share_out(self, work: Callable[[int, OnDone], None], report: _Report, check_interrupt: Interrupts) -> None:
        devices = self._device_numbers()

        def work_there(share: int) -> None:
            import cupy

            with cupy.cuda.Device(devices[share]):
                work(share, report)

        if len(devices) == 1:
            report.check_interrupt = check_interrupt
            work_there(0)
            return
        with ThreadPoolExecutor(len(devices)) as pool:
            futures = [pool.submit(work_there, share) for share in range(len(devices))]
            try:
                while wait(futures, timeout=_SECONDS_BETWEEN_CHECKS, return_when=FIRST_EXCEPTION).not_done:
                    check_interrupt()
                    if any(future.done() and future.exception() for future in futures):
                        break
            finally:
                report.stop.set()  # none goes on alone after a failure or Ctrl-C
        errors = [future.exception() for future in futures]
        for error in errors:
            if error is not None and not isinstance(error, _Stopped):
                raise error

    def _limits(self) -> DeviceLimits:
        return common_limits([device_properties(number) for number in self._device_numbers()], self.counting)

    def _cpu(self) -> CpuEngine:
        return CpuEngine(n_threads=self.n_threads)

    def _device_numbers(self) -> tuple[int, ...]:
        if self.devices is not None:
            return self.devices
        return device_numbers()

    def describe(self) -> dict[str, Any]:
        """Return the engine's entry in the record of a run."""
        return {"name": self.name, "devices": [device_properties(n)["name"].decode() for n in self._device_numbers()]}


class _ToCpu(Exception):
    """Why tuples go to the CPU, which may be that a device's memory is too small."""

    def __init__(self, why: str, *, needs_memory: bool = False) -> None:
        super().__init__(why)
        self.needs_memory = needs_memory


class _Stopped(Exception):
    """Another device's thread failed or was interrupted."""


class _Report:
    """Told by the devices how many tuples they have done; tells the caller, and the devices when to stop.

    The number that the caller is told never falls, though work may have to be done again.
    """

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._shown = 0
        #: Raises KeyboardInterrupt after Ctrl-C, where the thread that is told works itself.
        self.check_interrupt = Interrupts()
        self.begin()

    def begin(self) -> None:
        """Start from nothing."""
        self.done = 0.0
        self.stop = threading.Event()

    def __call__(self, tuples: float) -> None:
        with self._lock:
            self.done += tuples
            self._shown = max(self._shown, int(self.done))
            if self._on_progress is not None:
                self._on_progress(self._shown)
        self.check_interrupt()
        if self.stop.is_set():
            raise _Stopped

    def shown_at_least(self, on_progress: OnProgress | None) -> OnProgress | None:
        """Return `on_progress` for an engine that begins anew: it is told no less than before."""
        if on_progress is None:
            return None
        return lambda done, found=None: on_progress(max(done, self._shown), found)


def _warn_of_cpu(what: str) -> None:
    warnings.warn(f"engine='cuda' {what} on the CPU instead", stacklevel=3)
