"""Planes that do not fit a device: lane blocks come and go, and the bits are the CPU's."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from test_cuda_numbers import number_problem
from test_cuda_tuples import assert_same_rows
from test_engine_screen import thresholds

from biobank import random_genotypes
from cuda_problems import assert_same_bits, problem
from gpu_mark import needs_gpu
from interplay.base.tuples import MaxGains
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, device_planes
from interplay.search.engines.cuda.devices import free_bytes
from interplay.search.engines.sinks import Maxima
from interplay.search.tiles import make_tuple_tiles

pytestmark = needs_gpu

SHAPE: dict[str, Any] = {"block_size": 32, "middle_size": 32, "n_lanes": 32, "even": False}


class FewSlots(device_planes.DevicePlanes):
    """Planes of four lane blocks, whatever the device has room for."""

    made: list
    n_slots = 4
    patching = threading.Lock()

    def __init__(self, planes, layout, orders, *, dimensions, share):
        row_bytes = device_planes.PlaneUpload(planes, orders).row_bytes
        room = (self.n_slots * int(layout.rows_of_block.max()) + device_planes.SPARE_ROWS) * row_bytes
        with self.patching:
            device_planes.free_bytes = lambda: room + 1  # type: ignore[assignment]
            try:
                super().__init__(planes, layout, orders, dimensions=dimensions, share=1.0)
            finally:
                device_planes.free_bytes = free_bytes  # type: ignore[assignment]
        self.brought: list[int] = []
        self.made.append(self)

    def _bring(self, block, slot):
        self.brought.append(block)
        super()._bring(block, slot)


@pytest.fixture
def few_slots(monkeypatch):
    monkeypatch.setattr(FewSlots, "made", [], raising=False)
    monkeypatch.setattr("interplay.search.engines.cuda.device_state.DevicePlanes", FewSlots)
    monkeypatch.setattr(device_planes, "DevicePlanes", FewSlots)
    yield FewSlots
    assert FewSlots.made
    assert not any(planes.holds_all for planes in FewSlots.made)


def random_problem(seed, dimensions, *, numbers=False, contrast=True):
    rng = np.random.default_rng([seed, dimensions])
    n_vars, n_contrast = (300, 70 * contrast) if dimensions == 2 else (150, 40 * contrast)
    make = number_problem if numbers else problem
    planes, n_levels = make(
        rng, n_samples=int(rng.integers(100, 20_000)), n_vars=n_vars, n_contrast=n_contrast, levels=(2, 3)
    )
    return planes, make_tuple_tiles(n_levels, n_vars=n_vars, dimensions=dimensions, **SHAPE)


@pytest.mark.parametrize("numbers", [False, True], ids=["classes", "numbers"])
@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_maxima(few_slots, dimensions, numbers):
    for seed in range(2):
        planes, tiles = random_problem(seed, dimensions, numbers=numbers)
        if dimensions == 4:
            tiles = tiles[:: max(1, len(tiles) // 500)]
        found = CudaEngine().max_gains(planes, tiles, pseudocount=0.25)
        assert_same_bits(found, CpuEngine().max_gains(planes, tiles, pseudocount=0.25))
    assert len(few_slots.made[0].brought) > 4


@pytest.mark.parametrize("dimensions", [2, 3])
def test_lists_and_screens(few_slots, dimensions):
    planes, tiles = random_problem(3, dimensions)
    for max_rows in (None, 100):
        asked: dict[str, Any] = {"pseudocount": 0.25, "min_value": np.full(planes.n_rows, 6.0), "max_rows": max_rows}
        assert_same_rows(CudaEngine().interesting_tuples(planes, tiles, **asked),
                         CpuEngine().interesting_tuples(planes, tiles, **asked))  # fmt: skip
    planes, tiles = random_problem(3, dimensions, contrast=False)
    asked = {"pseudocount": 0.25, "min_gain": thresholds(4.0, 0.2)}
    assert_same_rows(
        CudaEngine().screen_tiles(planes, tiles, **asked), CpuEngine().screen_tiles(planes, tiles, **asked)
    )


def test_chunks_of_a_stream_share_the_planes(few_slots, monkeypatch):
    planes, tiles = random_problem(4, 2)
    expected = CpuEngine().max_gains(planes, tiles, pseudocount=0.25)
    for n_slots, all_fit in ((4, False), (5, False)):
        monkeypatch.setattr(FewSlots, "n_slots", n_slots)
        FewSlots.made.clear()
        sink = Maxima(MaxGains.none_yet(planes, tiles), 0)
        chunks = list(CudaEngine().stream(planes, tiles, sink, seconds=1e-4, pseudocount=0.25))
        assert len(chunks) > 3
        assert len(FewSlots.made) == 1, "planes are brought once for all chunks"
        assert FewSlots.made[0].holds_all == all_fit
        assert_same_bits(sink.gains, expected)


@pytest.mark.parametrize("n_planes", [1, 20, 60, 200])
def test_planes_that_are_copied_in_parts(few_slots, monkeypatch, n_planes):
    """Levels of a block lie far apart, so that its rows may be sorted and still be one part."""
    planes, tiles = random_problem(0, 2)
    monkeypatch.setattr(device_planes, "_MAX_COPIED_BYTES", n_planes * planes.words.shape[1] * 8)
    found = CudaEngine().max_gains(planes, tiles, pseudocount=0.25)
    assert_same_bits(found, CpuEngine().max_gains(planes, tiles, pseudocount=0.25))


def test_searches_of_several_threads_do_not_disturb_each_other(few_slots):
    problems = [random_problem(seed, dimensions) for seed in range(2) for dimensions in (2, 3)]
    expected = [CpuEngine().max_gains(*problem, pseudocount=0.25) for problem in problems]
    together = threading.Barrier(len(problems))

    def search(number):
        together.wait()
        return CudaEngine(devices=(0, 0) if number % 2 else (0,)).max_gains(*problems[number], pseudocount=0.25)

    with ThreadPoolExecutor(len(problems)) as pool:
        for found, wanted in zip(pool.map(search, range(len(problems))), expected, strict=True):
            assert_same_bits(found, wanted)


@contextmanager
def memory_of(n_bytes):
    import cupy

    pool = cupy.get_default_memory_pool()
    before = pool.get_limit()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + n_bytes)
    try:
        yield
    finally:
        pool.set_limit(size=before)


def test_planes_of_three_times_the_memory():
    """Without any change but the memory that CuPy may take."""
    planes = random_genotypes(12_000, 200_000)  # 900 MB of fragments
    shape: dict[str, Any] = {"block_size": 64, "middle_size": 256, "n_lanes": 256, "even": False}
    tiles = make_tuple_tiles(planes.n_levels, n_vars=12_000, dimensions=2, **shape)
    expected = CudaEngine().max_gains(planes, tiles, pseudocount=0.25)
    with memory_of(300 << 20):
        assert_same_bits(CudaEngine().max_gains(planes, tiles, pseudocount=0.25), expected)
    asked: dict[str, Any] = {"pseudocount": 0.25, "min_gain": thresholds(20.0, 0.2)}
    everything = CudaEngine().screen_tiles(planes, tiles, **asked)
    with memory_of(300 << 20):
        assert_same_rows(CudaEngine().screen_tiles(planes, tiles, **asked), everything)
