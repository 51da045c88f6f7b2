"""A search for a Dask cluster, its answer, and what makes workers slow or poor."""

import os
import time

import numpy as np

from interplay.base.planes import DiscreteCodes
from interplay.data.codes.planes import make_bit_planes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines.cpu import CpuEngine
from interplay.search.tiles import make_tuple_tiles


def make_problem():
    """Planes and many small tiles: some seconds of work if it is done slowly, and the answer."""
    rng = np.random.default_rng(0)
    levels = np.concatenate([np.full(150, 2), np.full(30, 3), np.full(20, 2)])
    codes = DiscreteCodes((rng.integers(0, 6, (200, 300)) % levels[:, np.newaxis]).astype(np.uint8), levels)
    planes = make_bit_planes(
        [DiscreteCodes(codes.codes[:180], levels[:180]), DiscreteCodes(codes.codes[180:], levels[180:])],
        DecisionClasses(rng.integers(0, 2, 300), [0, 1]),
    )
    tiles = make_tuple_tiles(levels, n_vars=180, dimensions=3, block_size=16, middle_size=32, n_lanes=64)
    return planes, tiles, CpuEngine(n_threads=2).max_gains(planes, tiles, pseudocount=0.25)


def assert_same(a, b):
    for name in ("gain_by_group", "discretization_by_group", "tuples_by_group", "df_by_group"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


def slow_down(seconds):
    """Run on the workers: let every tile take at least this long."""
    import interplay.search.engines.dask_cluster as tasks

    class Slow(CpuEngine):
        def search(self, planes, tiles, sink, **options):
            time.sleep(seconds * len(tiles))
            super().search(planes, tiles, sink, **options)

    tasks.CpuEngine = Slow


def fail_on_many_tiles(how, most):
    """Run on the workers: chunks of more than `most` tiles run out of memory, or take the process with them."""
    import interplay.search.engines.dask_cluster as tasks

    class Fails(CpuEngine):
        def search(self, planes, tiles, sink, **options):
            if len(tiles) > most:
                if how == "killed":
                    os._exit(1)
                raise {"memory": MemoryError, "error": OSError}[how]("too many tiles")
            super().search(planes, tiles, sink, **options)

    tasks.CpuEngine = Fails
