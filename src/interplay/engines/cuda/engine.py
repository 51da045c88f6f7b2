"""The engine: which devices there are, and a search shared among them."""

from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from interplay.arrays import BitPlanes, MaxGains, TupleTiles
from interplay.engines.base import OnProgress, SearchInterrupted
from interplay.engines.cpu import CpuEngine
from interplay.engines.cuda.device_search import DeviceSearch, TooManyCells
from interplay.engines.cuda.kernels import default_counting
from interplay.engines.cuda.layout import covers_all_tuples, strongest_first
from interplay.engines.cuda.tables import make_information_tables

_INSTALL = 'pip install "interplay[cuda]"'


def why_no_cuda() -> str | None:
    """Return why no GPU can be used, in a line that says what to do; None if one can."""
    try:
        import cupy
    except ImportError:
        return f"engine='cuda' needs CuPy: {_INSTALL}"
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # whatever the driver says
        return f"engine='cuda' found no usable NVIDIA driver ({error}): install or update it, or use engine='cpu'"
    return None if n_devices else "engine='cuda' found no GPU: use engine='cpu'"


def cuda_devices() -> list[dict[str, Any]]:
    """Return the GPUs that can be used, with name, memory and compute capability."""
    if why_no_cuda():
        return []
    import cupy

    devices = []
    for number in range(cupy.cuda.runtime.getDeviceCount()):
        properties = cupy.cuda.runtime.getDeviceProperties(number)
        devices.append(
            {
                "number": number,
                "name": properties["name"].decode(),
                "memory_gib": round(properties["totalGlobalMem"] / 2**30, 1),
                "compute_capability": f"{properties['major']}.{properties['minor']}",
            }
        )
    return devices


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
        total = float(tiles.n_tuples.sum())
        done = 0.0
        lock = threading.Lock()
        stop = threading.Event()

        def report(tuples: float) -> None:
            nonlocal done
            with lock:
                done += tuples
                if on_progress is not None:
                    on_progress(int(done))
            if stop.is_set():
                raise _Stopped

        searches: dict[int, DeviceSearch] = {}

        def work(share: int) -> None:
            import cupy

            with cupy.cuda.Device(devices[share]) as device:
                search_in = partial(
                    DeviceSearch,
                    planes,
                    tables=tables,
                    pseudocount=pseudocount,
                    counting=self.counting or default_counting(int(device.compute_capability)),
                    share=(share, len(devices)),
                )
                searches[share] = search_in(tiles, known=start)
                searches[share].warm()
                # Every device finds the same order: all of them warm with the same tuples.
                if tiles.dimensions > 3 and covers_all_tuples(tiles, planes.n_vars):
                    warmed = searches[share].found(discretization)
                    del searches[share]  # its memory is wanted
                    sorted_tiles = strongest_first(tiles, warmed.gain_by_group.max(axis=1))
                    searches[share] = search_in(sorted_tiles, known=warmed)
                searches[share].run(report)

        def gathered() -> MaxGains:
            parts = [start]
            for share, search in searches.items():
                import cupy

                with cupy.cuda.Device(devices[share]):
                    parts.append(search.found(discretization))
            return reduce(MaxGains.merge, parts)

        try:
            if len(devices) == 1:
                work(0)
            else:
                with ThreadPoolExecutor(len(devices)) as pool:
                    futures = [pool.submit(work, share) for share in range(len(devices))]
                    try:
                        for future in futures:
                            future.result()
                    except BaseException:
                        stop.set()
                        raise
        except KeyboardInterrupt:
            raise SearchInterrupted(gathered(), done / total) from None
        except TooManyCells:
            warnings.warn(
                "engine='cuda' cannot count tuples with this many cells: they are searched on the CPU instead; "
                "fewer dimensions, divisions or classes would fit",
                stacklevel=2,
            )
            return CpuEngine(n_threads=self.n_threads).max_gains(
                planes,
                tiles,
                pseudocount=pseudocount,
                discretization=discretization,
                known=known,
                on_progress=on_progress,
            )
        return gathered()

    def _device_numbers(self) -> tuple[int, ...]:
        if self.devices is not None:
            return self.devices
        return tuple(device["number"] for device in cuda_devices())

    def describe(self) -> dict[str, Any]:
        """Return what a record of the run should say about the engine."""
        names = {device["number"]: device["name"] for device in cuda_devices()}
        return {"name": self.name, "devices": [names.get(number, "?") for number in self._device_numbers()]}


class _Stopped(Exception):
    """Another device's thread failed or was interrupted."""
