"""Which GPUs there are, and their limits."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from threading import Thread
from typing import Any

from interplay.base.checks import install_command
from interplay.search.engines.cuda.kernel_loader import compiled
from interplay.search.engines.cuda.kernels import default_counting

#: Older devices cannot let threads of one warp wait for each other, as the table of best tuples does.
MIN_CAPABILITY = 70


class NotForDevices(Exception):
    """Devices cannot do this, or not well; the text says why, and how to change that."""


class TooLittleMemory(Exception):
    """The planes of one tile do not fit into the part of a device's memory that they may take."""


def why_no_cuda() -> str | None:
    """Return why no GPU can be used, in a line that says what to do; None if one can."""
    if "cupy" not in sys.modules:
        if find_spec("cupy") is None:
            return f"engine='cuda' needs CuPy: run {install_command('cupy-cuda12x', 'cuda')}"
        _begin_driver()
    try:
        import cupy

        n_devices = cupy.cuda.runtime.getDeviceCount()
        if any(int(cupy.cuda.Device(n).compute_capability) < MIN_CAPABILITY for n in range(n_devices)):
            return (
                "engine='cuda' needs GPUs of compute capability 7.0 (Volta, 2017) or later: hide older ones with "
                "CUDA_VISIBLE_DEVICES, or use engine='cpu'"
            )
    except Exception as error:  # of CuPy or the driver
        return (
            f"engine='cuda' found no usable CuPy and NVIDIA driver ({_line(error)}): install or update them, or use "
            "engine='cpu'"
        )
    return _why_no_kernels() if n_devices else "engine='cuda' found no GPU: use engine='cpu'"


def _begin_driver() -> None:
    """Start the driver and the first GPU while CuPy is imported: each takes some tenths of a second.

    A failure here comes again, with a message, where CuPy does the same.
    """

    def start() -> None:
        with suppress(OSError, AttributeError):
            driver = ctypes.CDLL("libcuda.so.1")
            device, context = ctypes.c_int(), ctypes.c_void_p()
            if driver.cuInit(0) == 0 and driver.cuDeviceGet(ctypes.byref(device), 0) == 0:
                driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)

    with suppress(RuntimeError):  # no thread is to be had
        Thread(target=start).start()


@lru_cache
def _why_no_kernels() -> str | None:
    """Compile the smallest kernel: the compiler is not a part of CuPy, and may be missing."""
    try:
        compiled("planes/bit_planes.cu", "make_fragments", ())
    except Exception as error:
        command = install_command("cupy-cuda12x", "cuda")
        return f"engine='cuda' cannot compile its kernels ({_line(error)}): use engine='cpu', or run {command}"
    return None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def is_device_memory_error(error: BaseException) -> bool:
    """Say whether a device has no memory left; a lack of host memory is another error."""
    import cupy

    if isinstance(error, TooLittleMemory | cupy.cuda.memory.OutOfMemoryError):
        return True
    by_driver = (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError)
    return isinstance(error, by_driver) and ("OUT_OF_MEMORY" in str(error) or "MemoryAllocation" in str(error))


def device_numbers() -> tuple[int, ...]:
    """Return the numbers of the GPUs that can be used."""
    if why_no_cuda():
        return ()
    import cupy

    return tuple(range(cupy.cuda.runtime.getDeviceCount()))


def free_bytes() -> int:
    """Return the bytes that the current device has left, as far as CuPy may take them."""
    import cupy

    pool = cupy.get_default_memory_pool()
    free = int(cupy.cuda.runtime.memGetInfo()[0] + pool.free_bytes())
    return min(free, pool.get_limit() - pool.used_bytes()) if pool.get_limit() else free


@lru_cache
def device_properties(number: int) -> dict[str, Any]:
    """Return the properties of a GPU; asked for once, since the driver takes a millisecond."""
    import cupy

    properties: dict[str, Any] = cupy.cuda.runtime.getDeviceProperties(number)
    return properties


def cuda_devices() -> list[dict[str, Any]]:
    """Return the GPUs that can be used, with name, memory and compute capability."""
    devices = []
    for number in device_numbers():
        properties = device_properties(number)
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
class DeviceLimits:
    """The limits that all devices of a search have in common.

    Work is cut by these limits, not by those of each device, so that the shares make up the whole.

    Attributes
    ----------
    n_multiprocessors : int
    shared_bytes, shared_bytes_of_block : int
        Shared memory of a multiprocessor, and of a block of threads at most.
    counting : {"tensor", "popc"}
    warp_groups : bool
        Whether tensor cores multiply for four warps at a time, as warpgroup_products.cu wants it.
    """

    n_multiprocessors: int
    shared_bytes: int
    shared_bytes_of_block: int
    counting: str
    warp_groups: bool = False


def common_limits(properties: Sequence[dict[str, Any]], counting: str | None) -> DeviceLimits:
    """Return the least of each limit over devices with these `properties`; `counting` overrides the way to count.

    Examples
    --------
    >>> large = {"multiProcessorCount": 132, "sharedMemPerMultiprocessor": 233_472,
    ...          "sharedMemPerBlockOptin": 232_448, "major": 9, "minor": 0}
    >>> small = {"multiProcessorCount": 84, "sharedMemPerMultiprocessor": 102_400,
    ...          "sharedMemPerBlockOptin": 101_376, "major": 12, "minor": 0}
    >>> common_limits([large, small], None)
    DeviceLimits(n_multiprocessors=84, shared_bytes=102400, shared_bytes_of_block=101376, counting='popc', \
warp_groups=False)
    >>> common_limits([large], None).warp_groups
    True
    """
    chosen = {default_counting(10 * device["major"] + device["minor"]) for device in properties}
    return DeviceLimits(
        n_multiprocessors=min(int(device["multiProcessorCount"]) for device in properties),
        shared_bytes=min(int(device["sharedMemPerMultiprocessor"]) for device in properties),
        shared_bytes_of_block=min(int(device["sharedMemPerBlockOptin"]) for device in properties),
        counting=counting or ("tensor" if chosen == {"tensor"} else "popc"),
        # In this generation alone: neither before nor after it.
        warp_groups=all((device["major"], device["minor"]) == (9, 0) for device in properties),
    )


#: Streams that no search uses now, by device. They are used again: CuPy keeps freed memory for the stream that had it.
_idle: dict[int, list[Any]] = {}
_lock = threading.Lock()


@contextmanager
def own_stream(device: int) -> Iterator[None]:
    """Make a stream that no other search uses the current one, on the current device, whose number is `device`."""
    import cupy

    with _lock:
        of_device = _idle.setdefault(device, [])
        stream = of_device.pop() if of_device else cupy.cuda.Stream(non_blocking=True)
    try:
        with stream:
            yield
            stream.synchronize()
    finally:
        with _lock:
            of_device.append(stream)
