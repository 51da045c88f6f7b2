"""The engine: a search, or a list, shared among the devices."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from math import inf
from typing import Any, Unpack

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.checks import shown, warn
from interplay.base.jobs import Interrupts, noticing_interrupts
from interplay.base.planes import BitPlanes
from interplay.base.progress import part
from interplay.base.tuples import TupleRows, TupleTiles
from interplay.search.engines.base import Engine, OnProgress, SearchInterrupted, SearchOptions, TileShape
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda.device_listing import DeviceListing, ListingChunks
from interplay.search.engines.cuda.device_planes import KeptPlanes
from interplay.search.engines.cuda.device_search import SharedSearch
from interplay.search.engines.cuda.device_state import OnDone, SearchData
from interplay.search.engines.cuda.device_tuples import PLANES_SHARE, SMALLEST_PLANES_SHARE, kernels_of
from interplay.search.engines.cuda.devices import (
    DeviceLimits,
    NotForDevices,
    common_limits,
    device_numbers,
    device_properties,
    is_device_memory_error,
    own_stream,
    why_no_cuda,
)
from interplay.search.engines.cuda.kernel_loader import compile_ahead
from interplay.search.engines.cuda.kernels import COUNTING
from interplay.search.engines.cuda.layout import make_lane_layout, make_tile_records
from interplay.search.engines.cuda.tables import make_information_tables, make_statistic_tables
from interplay.search.engines.cuda.work_plan import WorkPlan
from interplay.search.engines.routing import DoneChunk, add_counts, tiles_of_tuples
from interplay.search.engines.sinks import ALL_KINDS, Listing, Maxima, Screen, Sink, TupleFormula

#: How often the thread that waits for several devices sees whether Ctrl-C was pressed.
_SECONDS_BETWEEN_CHECKS = 0.1

#: What is done with tuples that go to the CPU, by the kind of search; and why they go.
_DONE = {Maxima.kind: "searched", Screen.kind: "screened", Listing.kind: "listed"}
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
    kept : tuple of KeptPlanes
        For each device, planes that stay there from chunk to chunk of one stream.
    """

    devices: tuple[int, ...] | None = None
    counting: str | None = None
    n_threads: int = 1
    leave_memory_errors: bool = False
    kept: tuple[KeptPlanes, ...] = field(default=(), repr=False, compare=False)
    name: str = "cuda"
    kinds = ALL_KINDS

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

    def begin(self, planes: BitPlanes, tiles: TupleTiles, *, kind: str, pseudocount: float) -> None:
        """Compile what the first device needs for a search of this kind."""
        if tiles.dimensions == 1 or not len(tiles):
            return

        def compile_all() -> None:
            import cupy

            # Any error comes again where the search begins.
            with suppress(Exception), cupy.cuda.Device(self._device_numbers()[0]):
                layout = make_lane_layout(planes, tiles)
                records = make_tile_records(planes, tiles, layout)
                plan = WorkPlan(
                    planes,
                    tiles,
                    layout,
                    records,
                    pseudocount=pseudocount,
                    limits=self._limits(),
                    every_member=kind == Screen.kind,
                )
                compile_ahead(kernels_of(plan, len(tiles), samples=kind == Maxima.kind, bounds=True))

        with suppress(RuntimeError):  # no thread is to be had
            threading.Thread(target=compile_all).start()

    def stream(
        self,
        planes: BitPlanes,
        tiles: TupleTiles,
        sink: Sink,
        *,
        seconds: float = inf,
        **options: Unpack[SearchOptions],
    ) -> Iterator[DoneChunk]:
        """Search the tiles in chunks; planes that one chunk brought to the devices stay there for the next."""
        if seconds == inf:
            yield from super().stream(planes, tiles, sink, seconds=seconds, **options)
            return
        keeping = replace(self, kept=tuple(KeptPlanes(tiles) for _ in self._device_numbers()))
        try:
            yield from super(CudaEngine, keeping).stream(planes, tiles, sink, seconds=seconds, **options)
        finally:
            for kept in keeping.kept:
                kept.close()

    def search(self, planes: BitPlanes, tiles: TupleTiles, sink: Sink, **options: Unpack[SearchOptions]) -> None:
        """Search the tiles into the sink; on the CPU where the devices cannot."""
        pseudocount, searched = options["pseudocount"], options.get("searched")
        report = _Report(options.get("on_progress"))
        if len(tiles) and tiles.dimensions > 1:
            try:
                self._on_devices(planes, tiles, sink, report, pseudocount)
            except _ToCpu as why:
                if why.needs_memory and self.leave_memory_errors:
                    raise MemoryError(f"engine='cuda' {why}") from None
                warn(f"engine='cuda' {why}: they are {_DONE[sink.kind]} on the CPU instead")
            else:
                if searched is not None:
                    n_done = sink.n_done(tiles)
                    n_tuples = int(tiles.n_tuples[:n_done].sum())
                    add_counts(searched, {self.name: {"tiles": n_done, "tuples": n_tuples}})
                return
        # The processor searches all tiles, also the tiles that a device had finished.
        self._cpu().search(planes, tiles, sink, **options | {"on_progress": report.on_progress})

    def _on_devices(
        self, planes: BitPlanes, tiles: TupleTiles, sink: Sink, report: _Report, pseudocount: float
    ) -> None:
        """Search on the devices, or raise _ToCpu."""
        match sink:
            case Maxima():
                self._find_maxima(planes, tiles, sink, report, pseudocount)
            case Screen():
                self._screen(planes, tiles, sink, report, pseudocount)
            case Listing():
                sink.take(self._listed(planes, tiles, report, pseudocount=pseudocount, **sink.asked()))

    def _find_maxima(
        self, planes: BitPlanes, tiles: TupleTiles, sink: Maxima, report: _Report, pseudocount: float
    ) -> None:
        tables = make_information_tables(planes, tiles, pseudocount)
        search = SharedSearch(
            SearchData(planes, tables, pseudocount, self._limits()),
            tiles,
            devices=self._device_numbers(),
            kept=self.kept,
            **sink.asked(),
        )
        while True:
            report.begin()
            try:
                self._on_all_devices(search.search, report)
            except KeyboardInterrupt:
                with suppress(Exception):  # a device that failed too must not take the place of Ctrl-C
                    sink.take(search.found())
                raise SearchInterrupted(sink.so_far(), report.done / float(tiles.n_tuples.sum())) from None
            except NotForDevices as error:
                sink.take(search.found())
                raise _ToCpu(str(error)) from None
            except Exception as error:
                if not is_device_memory_error(error):
                    raise
                error.__traceback__ = None  # which would hold the memory
            else:
                sink.take(search.found())
                return
            if not search.needs_less_memory():
                sink.take(search.found())
                raise _ToCpu(_TOO_LITTLE_MEMORY, needs_memory=True)

    def _screen(self, planes: BitPlanes, tiles: TupleTiles, sink: Screen, report: _Report, pseudocount: float) -> None:
        """Devices list by what a member must gain at least.

        The processor, which knows what its degrees of freedom ask for, looks at these tuples again.
        """
        least = np.full(len(planes.n_levels), sink.min_gain[1])
        least[: tiles.only_of_stratum is not None] = -np.inf
        rows = self._listed(
            planes,
            tiles,
            report,
            pseudocount=pseudocount,
            min_value=least,
            every_member=True,
            max_rows=sink.max_rows,
        )
        listed = tiles_of_tuples(rows.tuples, tiles, n_rows=len(planes.n_levels))
        processor = replace(self._cpu(), direct_only=True)
        exact = processor.screen_tiles(planes, listed, pseudocount=pseudocount, min_gain=sink.min_gain)
        tile_of_row = np.repeat(np.arange(len(rows.rows_of_tile)), rows.rows_of_tile)
        is_left = exact.rows_of_tile > 0
        rows_of_tile = np.bincount(tile_of_row[is_left], minlength=len(rows.rows_of_tile)).astype(np.int64)
        sink.take(replace(exact, rows_of_tile=rows_of_tile))

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
        planes_share = PLANES_SHARE
        try:
            if formula is None:
                tables = make_information_tables(planes, tiles, pseudocount)
            else:
                tables = make_statistic_tables(planes, tiles, pseudocount, formula)
            data = SearchData(planes, tables, pseudocount, self._limits())
            while planes_share >= SMALLEST_PLANES_SHARE:
                # Devices take chunks of tiles in turn: their order is kept, and a long list of few rows is shared well.
                n_workers = len(self._device_numbers())
                chunks = ListingChunks(tiles.n_tuples, tiles.dimensions, max_rows, n_workers=n_workers)
                asked: dict[str, Any] = {"min_value": min_value, "formula": formula, "every_member": every_member}
                report.begin()
                try:
                    work = partial(self._list_share, data, tiles, chunks, asked | {"planes_share": planes_share})
                    self._on_all_devices(work, report)
                    return chunks.rows()
                except Exception as error:
                    if not is_device_memory_error(error):
                        raise
                    error.__traceback__ = None  # which would hold the memory
                for kept in self.kept:
                    kept.close()
                planes_share /= 2
        except NotForDevices as error:
            raise _ToCpu(str(error)) from None
        raise _ToCpu(_TOO_LITTLE_MEMORY, needs_memory=True)

    def _list_share(
        self,
        data: SearchData,
        tiles: TupleTiles,
        chunks: ListingChunks,
        asked: dict[str, Any],
        share: int,
        on_done: OnDone,
    ) -> None:
        """List chunk after chunk on the current device."""
        kept = self.kept[share] if self.kept and self.kept[share].suit(tiles) else None
        listing = DeviceListing(replace(data, kept=kept), tiles, **asked)
        try:
            while (chunk := chunks.take()) is not None:
                rows = listing.rows(*chunk, chunks.most_rows, on_done)
                if rows is None:
                    chunks.put_back(*chunk)
                else:
                    chunks.hand_in(chunk[0], rows)
        finally:
            listing.close()

    def _on_all_devices(self, work: Callable[[int, OnDone], None], report: _Report) -> None:
        """Call `work` with the number of each device's share, while the device is current."""
        with noticing_interrupts() as check_interrupt:
            self._share_out(work, report, check_interrupt)
            check_interrupt()

    def _share_out(self, work: Callable[[int, OnDone], None], report: _Report, check_interrupt: Interrupts) -> None:
        devices = self._device_numbers()

        def work_there(share: int) -> None:
            import cupy

            with cupy.cuda.Device(devices[share]), own_stream(devices[share]):
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
        self.on_progress = part(on_progress)
        self._lock = threading.Lock()
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
            if self.on_progress is not None:
                self.on_progress(self.done)
        self.check_interrupt()
        if self.stop.is_set():
            raise _Stopped
