"""Planes + tiles → maximum gains, on NVIDIA GPUs.

Who calls whom::

    CudaEngine            one thread per device, merges
      DeviceSearch        device_search.py   launches: bound all tuples, score the survivors
        make_*, upload_*  layout.py          planes and tiles as they lie on the device
        choose_variant    kernels.py         what the kernels are compiled for
        merge_candidates  candidates.py      tuples that reached a maximum → MaxGains

The kernels are in ``core/cuda``.
"""

from interplay.engines.cuda.engine import CudaEngine, cuda_devices, why_no_cuda

__all__ = ["CudaEngine", "cuda_devices", "why_no_cuda"]
