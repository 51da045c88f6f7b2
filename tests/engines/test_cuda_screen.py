"""Tuples of which every member gains, on GPUs: the same rows as on the CPU."""

from dataclasses import replace

import numpy as np
import pytest
from test_cuda_kernels import variants
from test_engine_screen import SHAPES, random_screen, screen_of, thresholds

from cuda_problems import (
    TILE_SHAPE,
    assert_same_rows,
)
from gpu_mark import needs_gpu
from interplay.base.tuples import TupleRows
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.cuda import CudaEngine, device_listing, engine, work_plan
from interplay.search.engines.cuda.kernels import COUNTING, EVERY_MEMBER


def screened(screen, worker, min_gain, **options):
    planes, tiles = screen.prepared(**TILE_SHAPE)
    rows: TupleRows = worker.screen_tiles(planes, tiles, pseudocount=screen.pseudocount, min_gain=min_gain, **options)
    return rows


def some_thresholds(screen):
    """Thresholds that a few tuples reach, one exactly; that many do; and that all do."""
    values = np.sort(screened(screen, CpuEngine(direct_only=True), thresholds(-1.0, 0.0)).value)[::-1]
    at = [values[int(share * len(values))] for share in (0.001, 0.3)]
    return [thresholds(at[0], 0.0), thresholds(at[1], 0.3), thresholds(-1.0, 0.0)]


# --- without a GPU ------------------------------------------------------------------------------------------------


class ListedByGains(CudaEngine):
    """A device that lists as devices do, by what members must gain at least: on the CPU."""

    def __post_init__(self):
        pass

    def _listed(self, planes, tiles, report, *, pseudocount, min_value, every_member, max_rows, formula=None):
        assert every_member
        assert formula is None
        if self.devices is not None:
            raise engine._ToCpu("has too little memory", needs_memory=True)
        least = np.array([np.inf, min_value[-1]])
        assert min_value[0] == (least[1] if tiles.only_of_stratum is None else -np.inf)
        return CpuEngine().screen_tiles(planes, tiles, pseudocount=pseudocount, min_gain=least, max_rows=max_rows)


@pytest.mark.parametrize("name", ["triples of two levels", "mixed levels", "triples in three strata", "six"])
def test_what_a_device_lists_is_looked_at_again(name):
    screen = screen_of(name, even=False)
    for min_gain in some_thresholds(screen):
        searched: dict = {}
        wanted = screened(screen, CpuEngine(), min_gain)
        assert_same_rows(screened(screen, ListedByGains(), min_gain, searched=searched), wanted)
        assert searched == {"cuda": {"tiles": len(wanted.rows_of_tile), "tuples": searched["cuda"]["tuples"]}}


def test_a_device_with_too_little_memory_leaves_it_to_the_cpu():
    screen = screen_of("mixed levels", even=True)
    min_gain = some_thresholds(screen)[1]
    with pytest.warns(UserWarning, match="has too little memory: they are screened on the CPU instead"):
        found = screened(screen, ListedByGains(devices=(0,)), min_gain)
    assert_same_rows(found, screened(screen, CpuEngine(), min_gain))
    with pytest.raises(MemoryError, match="has too little memory"):
        screened(screen, ListedByGains(devices=(0,), leave_memory_errors=True), min_gain)


def test_kernels_are_compiled_for_the_rule():
    for variant in variants():
        assert EVERY_MEMBER not in variant.defines()
        assert EVERY_MEMBER in replace(variant, every_member=True).defines()


# --- with a GPU ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("even", [True, False])
class TestOnDevices:
    pytestmark = needs_gpu

    @pytest.mark.parametrize("counting", COUNTING)
    def test_rows_equal_those_of_the_cpu(self, name, even, counting, monkeypatch):
        monkeypatch.setattr(work_plan, "_NOT_WORTH_COMPILING", 0.0)  # search kernels for levels other than two, too
        screen = screen_of(name, even=even)
        for min_gain in some_thresholds(screen):
            searched: dict = {}
            found = screened(screen, CudaEngine(counting=counting), min_gain, searched=searched)
            assert_same_rows(found, screened(screen, CpuEngine(), min_gain))
            assert searched.keys() == {"cuda"}

    def test_rows_are_bounded(self, name, even, monkeypatch):
        monkeypatch.setattr(device_listing, "_CAPACITY", 1 << 20)
        screen = screen_of(name, even=even)
        min_gain = some_thresholds(screen)[1]
        few = screened(screen, CudaEngine(), min_gain, max_rows=20)
        everything = screened(screen, CpuEngine(), min_gain)
        n_tiles = len(few.rows_of_tile)
        assert n_tiles >= 1
        assert np.array_equal(few.rows_of_tile, everything.rows_of_tile[:n_tiles])
        assert np.array_equal(few.tuples, everything.tuples[: len(few)])


@pytest.mark.parametrize("pseudocount", [0.0, 1e-6, 0.25])
class TestBounds:
    pytestmark = needs_gpu

    @pytest.mark.parametrize(("n_vars", "dimensions", "levels"), [(1500, 2, 2), (300, 3, 2), (400, 2, 3), (120, 3, 3)])
    def test_nothing_is_lost_among_many(self, pseudocount, n_vars, dimensions, levels):
        screen = random_screen(
            np.random.default_rng(5),
            dimensions=dimensions,
            levels=np.full(n_vars, levels),
            n_samples=700,
            pseudocount=pseudocount,
            even=False,
        )
        for min_gain in (thresholds(8.0, 0.5), thresholds(14.0, 1.0)):
            assert_same_rows(
                screened(screen, CudaEngine(), min_gain), screened(screen, CpuEngine(n_threads=4), min_gain)
            )
