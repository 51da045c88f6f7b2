"""Workers of a Dask cluster with a GPU, alone or beside others: the GPU is used, and the bits are the same."""

from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import interplay
from cuda_problems import problem
from gpu_mark import needs_gpu
from interplay.search.engines.cpu import CpuEngine
from interplay.search.tiles import make_tuple_tiles

distributed = pytest.importorskip("distributed")

from test_dask import assert_same  # noqa: E402
from test_dask_screen import assert_same_rows  # noqa: E402
from test_engine_screen import thresholds  # noqa: E402

from interplay.search.engines.dask import ChunkTasks, DaskEngine  # noqa: E402

pytestmark = [
    *needs_gpu,
    pytest.mark.slow,
    # Dask's own loops and sockets, when worker processes come and go.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@contextmanager
def cluster(*, gpu_threads, cpu_workers):
    """A worker process with a GPU, and others without; each is started afresh, as a CUDA context needs it."""
    workers = {"gpu": {"cls": distributed.Nanny, "options": {"nthreads": gpu_threads, "resources": {"GPU": 1}}}}
    for number in range(cpu_workers):
        workers[f"cpu{number}"] = {"cls": distributed.Nanny, "options": {"nthreads": 1}}
    scheduler = {"cls": distributed.Scheduler, "options": {"dashboard_address": ":0"}}
    with (
        distributed.SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as started,
        distributed.Client(started) as client,
    ):
        client.wait_for_workers(len(workers))
        yield client


@pytest.fixture
def chunks_by_engine(monkeypatch):
    """How many chunks were searched by what."""
    counted: dict[str, int] = {}
    learn = ChunkTasks._learn

    def count(search, result, cost):
        counted[result.engine] = counted.get(result.engine, 0) + 1
        learn(search, result, cost)

    monkeypatch.setattr(ChunkTasks, "_learn", count)
    return counted


@pytest.fixture(scope="module")
def searched():
    """Many small tiles, two numbers of levels, contrast variables; and the answer."""
    planes, n_levels = problem(
        np.random.default_rng(0), n_samples=1000, n_vars=260, n_contrast=60, levels=(2, 2, 2, 2, 3)
    )
    tiles = make_tuple_tiles(n_levels, n_vars=260, dimensions=3, block_size=16, middle_size=32, n_lanes=64)
    return planes, tiles, CpuEngine(n_threads=2).max_gains(planes, tiles, pseudocount=0.25)


def test_a_gpu_beside_a_processor(searched, chunks_by_engine):
    planes, tiles, plain = searched
    with cluster(gpu_threads=1, cpu_workers=1) as client:
        assert_same(DaskEngine(client, task_seconds=0.2).max_gains(planes, tiles, pseudocount=0.25), plain)
        assert set(chunks_by_engine) == {"cuda", "cpu"}
        # Once the kernels are compiled, the GPU does not wait for them.
        chunks_by_engine.clear()
        again = DaskEngine(client, task_seconds=0.2).max_gains(planes, tiles, pseudocount=0.25)
        assert_same(again, plain)
        assert chunks_by_engine["cuda"] > 1


@pytest.mark.parametrize("gpu_threads", [1, 3])
def test_a_gpu_alone(searched, chunks_by_engine, gpu_threads):
    """Several threads of a worker take turns on its device."""
    planes, tiles, plain = searched
    with cluster(gpu_threads=gpu_threads, cpu_workers=0) as client:
        assert_same(DaskEngine(client, task_seconds=0.1).max_gains(planes, tiles, pseudocount=0.25), plain)
        assert set(chunks_by_engine) == {"cuda"}
        assert chunks_by_engine["cuda"] > gpu_threads


def test_a_gpu_screens(searched):
    """Tuples of which every member gains, from a worker with a GPU and one without."""
    with_contrast, _, _ = searched
    planes = replace(
        with_contrast,
        words=with_contrast.words[: with_contrast.plane_start[260]],
        plane_start=with_contrast.plane_start[:261],
        n_levels=with_contrast.n_levels[:260],
    )
    tiles = make_tuple_tiles(planes.n_levels, n_vars=260, dimensions=3, block_size=16, middle_size=32, n_lanes=64)
    how = {"pseudocount": 1e-6, "min_gain": thresholds(9.0, 0.5)}
    wanted = CpuEngine(n_threads=2).screen_tiles(planes, tiles, **how)
    with cluster(gpu_threads=1, cpu_workers=1) as client:
        searched: dict[str, Any] = {}
        found = DaskEngine(client, task_seconds=0.2).screen_tiles(planes, tiles, searched=searched, **how)
    assert set(searched) > {"cuda"}
    assert_same_rows(found, wanted)
    assert len(wanted) > 100


def test_as_users_call_it(chunks_by_engine):
    """All workers have a GPU, so the tiles are cut as it likes them."""
    X, y, _ = interplay.datasets.make_madelon(n_samples=500, n_vars=80, random_state=0)
    settings = {"dimensions": 3, "discretizations": 2, "random_state": 1}
    with cluster(gpu_threads=1, cpu_workers=0) as client:
        assert not DaskEngine(client).tile_shape(3).even
        found = interplay.select(X, y, engine=client, **settings)
    plain = interplay.select(X, y, engine="cpu", **settings)
    assert np.array_equal(found.log_p, plain.log_p)
    assert found.table.equals(plain.table)
    assert set(chunks_by_engine) == {"cuda"}
