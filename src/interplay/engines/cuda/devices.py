"""Which GPUs there are, and what they are like."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

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


def device_numbers() -> tuple[int, ...]:
    """Return the numbers of the GPUs that can be used."""
    if why_no_cuda():
        return ()
    import cupy

    return tuple(range(cupy.cuda.runtime.getDeviceCount()))


@lru_cache
def device_properties(number: int) -> dict[str, Any]:
    """Return what the driver says of a GPU; asked once, since that takes a millisecond."""
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
