"""Planes + tiles → maximum gains, or rows of tuples, on NVIDIA GPUs.

Who calls whom::

    why_no_cuda              devices.py          which GPUs there are, and their limits
    CudaEngine               engine.py           one thread per device, merges
      own_stream             devices.py          a stream for each search
      SharedSearch           device_search.py    maxima of all devices; smaller buffers where memory is short
        DeviceSearch         device_search.py    maxima on one device: warm them, raise them
      ListingChunks          device_listing.py   tiles to list next, and their rows in order
        DeviceListing        device_listing.py   rows above fixed thresholds, on one device

    DeviceSearch and DeviceListing are
      DeviceTuples           device_tuples.py    bounds all tuples, or lists all, and scores the buffer
        DeviceState          device_state.py     planes, tables, buffers and counters on the device
          DevicePlanes       device_planes.py    all planes, or those of some lane blocks, brought as tiles need them
            PlaneSlots       device_planes.py    which lane block leaves when another comes
            PlaneUpload      layout.py           planes of the host → rows of fragments
          KeptPlanes         device_planes.py    planes that stay from chunk to chunk of a search with a checkpoint
        RegisterSearch       survivor_search.py  strategy: counts in registers; size of the first launch
        BatchSearch          survivor_search.py  strategy: counts through memory, in batches
          DeviceProducts     device_products.py  the launches of a batch
        LaunchSize           survivor_search.py  by how much launches grow and shrink; each strategy knows its first one
        launch_gains         device_tuples.py    exact scores of the tuples in the buffer
      merge_candidates       device_search.py    the best tuple of each variable → MaxGains

    Host arithmetic, the same on all devices:
      WorkPlan               work_plan.py        which kernel takes which tiles; items and runs
      ProductWork            product_plan.py     batches
      make_*                 layout.py           planes and tiles as they lie on the device
      digit_orders           digit_orders.py     orders of the samples of a number outcome, in which sums are counts
      make_*_tables          tables.py           x·log2(x), and the information of small cells
      choose_variant         kernels.py          the shape that a search in registers is compiled for
      kernels_of             device_tuples.py    the kernels of a search, known before it begins
      compiled               kernel_loader.py    their source → functions on the device

The kernels are in ``core/cuda``; ``core/README.md`` is their map, with a glossary.
"""

from interplay.search.engines.cuda.devices import cuda_devices, why_no_cuda
from interplay.search.engines.cuda.engine import CudaEngine
from interplay.search.engines.cuda.kernel_loader import start_seconds

__all__ = ["CudaEngine", "cuda_devices", "start_seconds", "why_no_cuda"]
