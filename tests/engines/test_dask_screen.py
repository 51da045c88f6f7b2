"""Tuples of which every member gains, from the workers of a Dask cluster: the same rows as from one processor."""

import pickle
import time

import numpy as np
import pytest
from test_engine_screen import screen_of, thresholds
from test_screen import run_screen

from interplay.base.tuples import TupleRows
from interplay.search.engines import sinks
from interplay.search.engines.base import SearchInterrupted
from interplay.search.engines.cpu import CpuEngine
from interplay.search.engines.sinks import MAX_ROWS

distributed = pytest.importorskip("distributed")

from interplay.search.engines.dask import DaskEngine  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    # Dask's own loops and sockets, when worker processes come and go.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

SMALL_TILES = {"block_size": 8, "middle_size": 8, "n_lanes": 16}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def streamed(screen, client, min_gain, max_rows=MAX_ROWS, **options):
    planes, tiles = screen.prepared(**SMALL_TILES)
    sink = sinks.Screen(min_gain, max_rows)
    chunks = DaskEngine(client, task_seconds=0.05).stream(
        planes, tiles, sink, pseudocount=screen.pseudocount, **options
    )
    return sorted(((chunk, sink.rows) for chunk in chunks), key=lambda done: done[0].begin)


def assert_same_tiles(done, wanted):
    chunks = [chunk for chunk, _ in done]
    assert [chunk.begin for chunk in chunks] == [0, *(chunk.end for chunk in chunks[:-1])]
    assert chunks[-1].end == len(wanted.rows_of_tile)
    assert_same_rows(TupleRows.joined([rows for _, rows in done]), wanted)


def assert_same_rows(found, wanted):
    for name in ("tuples", "variable", "value", "rows_of_tile"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name))


@pytest.mark.parametrize("name", ["triples of two levels", "mixed levels", "triples in three strata", "six"])
def test_rows_equal_those_of_one_processor(name, client):
    screen = screen_of(name, even=False)
    planes, tiles = screen.prepared(**SMALL_TILES)
    for min_gain in (thresholds(1.0, 0.2), thresholds(-1.0, 0.0)):
        done: list[float] = []
        chunks = streamed(screen, client, min_gain, on_progress=done.append)
        wanted = CpuEngine().screen_tiles(planes, tiles, pseudocount=screen.pseudocount, min_gain=min_gain)
        assert_same_tiles(chunks, wanted)
        assert done == sorted(done)
        assert done[-1] == sum(counts["tuples"] for chunk, _ in chunks for counts in chunk.searched.values())
        whole = DaskEngine(client, task_seconds=0.05).screen_tiles(
            planes, tiles, pseudocount=screen.pseudocount, min_gain=min_gain
        )
        assert_same_rows(whole, wanted)


def test_lists_that_are_too_long_come_in_parts(client):
    screen = screen_of("mixed levels", even=False)
    planes, tiles = screen.prepared(**SMALL_TILES)
    chunks = streamed(screen, client, thresholds(-1.0, 0.0), max_rows=500)
    wanted = CpuEngine().screen_tiles(planes, tiles, pseudocount=1e-6, min_gain=thresholds(-1.0, 0.0))
    assert_same_tiles(chunks, wanted)
    assert max(len(rows) for _, rows in chunks) < 500 + wanted.rows_of_tile.max()


def fail_now_and_then(how):
    """Run on the workers: chunks of more than three tiles run out of memory, or each fails once on each worker."""
    import interplay.search.engines.dask_cluster as tasks

    failed = set()

    class Fails(CpuEngine):
        def search(self, planes, tiles, sink, **options):
            if how == "memory" and len(tiles) > 3:
                raise MemoryError
            if how == "error" and (chunk := pickle.dumps(tiles)) not in failed:
                failed.add(chunk)
                raise OSError("a disk hiccup")
            super().search(planes, tiles, sink, **options)

    tasks.CpuEngine = CpuEngine if how == "never" else Fails


@pytest.mark.parametrize("how", ["memory", "error"])
def test_chunks_that_fail_are_screened_again(how, client):
    screen = screen_of("pairs of three levels", even=False)
    planes, tiles = screen.prepared(**SMALL_TILES)
    client.run(fail_now_and_then, how)
    try:
        chunks = streamed(screen, client, thresholds(2.0, 0.5))
    finally:
        client.run(fail_now_and_then, "never")
    assert_same_tiles(chunks, CpuEngine().screen_tiles(planes, tiles, pseudocount=1e-6, min_gain=thresholds(2.0, 0.5)))


def slow_down(seconds):
    """Run on the workers: let every tile take at least this long."""
    import interplay.search.engines.dask_cluster as tasks

    class Slow(CpuEngine):
        def search(self, planes, tiles, sink, **options):
            time.sleep(seconds * len(tiles))
            super().search(planes, tiles, sink, **options)

    tasks.CpuEngine = Slow if seconds else CpuEngine


def test_interrupted_on_the_cluster_it_goes_on_here(client, tmp_path, ctrl_c_after):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (300, 400))
    y = X[:, 3] ^ X[:, 300] ^ (rng.random(300) < 0.1)
    file = tmp_path / "screen.ckpt"
    client.run(slow_down, 0.3)
    try:
        ctrl_c = ctrl_c_after(1.5)
        with pytest.raises(SearchInterrupted) as caught:
            run_screen(X, y, engine=DaskEngine(client, task_seconds=0.05), checkpoint=file)
        assert ctrl_c.seconds_since() < 2
    finally:
        client.run(slow_down, 0.0)
    assert 0 < caught.value.done < 1
    assert caught.value.kept_in == str(file)
    found = run_screen(X, y, engine="cpu", checkpoint=file)
    assert found.tuples.tolist() == [[3, 300]]
    assert sum(counts["tuples"] for counts in found.searched.values()) == found.n_tuples
