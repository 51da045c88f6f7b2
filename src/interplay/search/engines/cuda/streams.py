"""A stream for each search: searches of several threads on one device do not wait for each other."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
