"""Planes + tiles → maximum gains, or rows of tuples, on NVIDIA GPUs.

Who calls whom::

    why_no_cuda             devices.py         which GPUs there are
    CudaEngine              engine.py          one thread per device, merges
      TileSegments          tile_segments.py   tiles to list next, and their rows in order
      DeviceSearch          device_search.py   maxima: warm them, raise them
      DeviceListing         device_listing.py  rows above fixed thresholds
        DeviceTuples        device_tuples.py   launches: bound all tuples, or take all; score what is left
          make_*, upload_*  layout.py          planes and tiles as they lie on the device
          choose_variant    kernels.py         what the kernels are compiled for
          compiled          kernel_loader.py   their source → functions on the device
        merge_candidates    candidates.py      the best tuple of each variable → MaxGains

The kernels are in ``core/cuda``.
"""

from interplay.engines.cuda.devices import cuda_devices, why_no_cuda
from interplay.engines.cuda.engine import CudaEngine
from interplay.engines.cuda.kernel_loader import start_seconds

__all__ = ["CudaEngine", "cuda_devices", "start_seconds", "why_no_cuda"]
