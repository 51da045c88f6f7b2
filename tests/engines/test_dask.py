"""The Dask engine: whatever happens to the workers, the same bits as one processor."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import interplay
from interplay.base.tuples import MaxGains
from interplay.search.engines.choice import check_engine
from interplay.search.engines.routing import summed_counts
from interplay.search.engines.sinks import Maxima

distributed = pytest.importorskip("distributed")

from dask_problem import assert_same, fail_on_many_tiles, make_problem, slow_down  # noqa: E402
from interplay.search.engines.dask import ChunkTasks, DaskEngine  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    # Dask's own loops and sockets, when worker processes come and go.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def problem():
    return make_problem()


def test_same_bits_and_every_tile_once(client, problem):
    planes, tiles, plain = problem
    done = np.zeros(len(tiles), dtype=int)
    told = []
    engine = DaskEngine(client, task_seconds=0.05)
    sink = Maxima(MaxGains.none_yet(planes, tiles))
    chunks = list(engine.stream(planes, tiles, sink, pseudocount=0.25, on_progress=told.append))
    searched = summed_counts(chunk.searched for chunk in chunks)
    assert sum(counts["tiles"] for counts in searched.values()) == len(tiles)
    for begin, end, *_ in chunks:
        done[begin:end] += 1
    assert_same(sink.gains, plain)
    assert (done == 1).all()
    assert told == sorted(told)
    assert told[-1] == tiles.n_tuples.sum()
    # What is known is merged, also where nothing of it is beaten.
    again = DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25, discretization=1, known=plain)
    assert_same(again, plain)


def test_bounds_too_large_to_travel_with_every_task(client, problem, monkeypatch):
    import interplay.search.engines.dask as engine

    monkeypatch.setattr(engine, "_MAX_BOUND_BYTES", 0)
    monkeypatch.setattr(engine, "_SECONDS_BETWEEN_BOUNDS", 0.05)
    planes, tiles, plain = problem
    assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)


def test_as_users_call_it(client, tmp_path):
    from sklearn.base import clone

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 40)), rng.integers(0, 3, 200)
    settings = {"dimensions": 2, "discretizations": 3, "multiclass": "ovr", "random_state": 0}
    plain = interplay.select(X, y, **settings)
    file = tmp_path / "run.ckpt"
    for options in ({"engine": client}, {"engine": "dask"}, {"engine": client, "checkpoint": file}):
        found = interplay.select(X, y, **settings, **options)
        assert np.array_equal(found.log_p, plain.log_p)
        assert found.table.equals(plain.table)
        assert found.provenance["engine"] == {"name": "dask", "workers": 2, "threads": 2}
    selector = clone(interplay.MDFSSelector(dimensions=2, engine="dask", random_state=0)).fit(X, y)
    assert np.array_equal(selector.p_values_, interplay.select(X, y, dimensions=2, random_state=0).p_value)


def test_workers_are_killed_and_others_come(client, problem):
    """With the last of them, the planes are gone too."""
    planes, tiles, plain = problem
    client.run(slow_down, 0.01)
    victims = list(client.run(os.getpid).values())
    killed_at = []

    def kill_once(done):
        if not killed_at and done > 0.2 * tiles.n_tuples.sum():
            killed_at.append(done)
            for victim in victims:
                os.kill(victim, signal.SIGKILL)

    found = DaskEngine(client, task_seconds=0.1).max_gains(planes, tiles, pseudocount=0.25, on_progress=kill_once)
    assert_same(found, plain)
    assert killed_at[0] < 0.8 * tiles.n_tuples.sum()
    assert not set(client.run(os.getpid).values()) & set(victims)


def test_a_worker_without_memory_leaves_it_to_the_other(client, problem):
    planes, tiles, plain = problem
    poor = min(client.nthreads())
    client.run(fail_on_many_tiles, "memory", 0, workers=[poor])
    assert_same(DaskEngine(client, task_seconds=0.1).max_gains(planes, tiles, pseudocount=0.25), plain)


@pytest.mark.parametrize("most", [1, 4])
def test_chunks_that_need_too_much_memory_are_split(client, problem, monkeypatch, most):
    """As often as that is possible: to a single tile, should it be so."""
    planes, tiles, plain = problem
    client.run(fail_on_many_tiles, "memory", most)
    monkeypatch.setattr(ChunkTasks, "_next_chunk", _larger_chunks(ChunkTasks._next_chunk))
    assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)


def _larger_chunks(next_chunk):
    def next_large_chunk(search):
        next_tile = search._next_tile
        chunk = next_chunk(search)
        if chunk is not None and search._next_tile > next_tile:
            search._next_tile = min(chunk.begin + 64, len(search._tiles))
            chunk = replace(chunk, end=search._next_tile)
        return chunk

    return next_large_chunk


def test_chunks_that_killed_their_worker_are_split(problem, monkeypatch):
    import dask

    from interplay.search.engines.dask import Chunk

    split = []
    halves = Chunk.halves
    monkeypatch.setattr(Chunk, "halves", lambda chunk: split.append(chunk) or halves(chunk))
    planes, tiles, plain = problem
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(fail_on_many_tiles, "killed", 0, workers=[min(client.nthreads())])
        found = DaskEngine(client, task_seconds=0.04).max_gains(planes, tiles, pseudocount=0.25)
    assert_same(found, plain)
    assert split


def test_interrupted_on_the_cluster_it_goes_on_here(client, tmp_path):
    class Stops(interplay.Checkpoint):
        def write_if_due(self, next_in):
            self.write()
            self.n_writes = getattr(self, "n_writes", 0) + 1
            if self.n_writes == 3:
                raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 400)), rng.integers(0, 2, 200)
    file = tmp_path / "run.ckpt"
    client.run(slow_down, 0.005)
    with pytest.raises(interplay.SearchInterrupted):
        interplay.max_information_gain(
            X, y, dimensions=3, engine=DaskEngine(client, task_seconds=0.02), checkpoint=Stops(file)
        )
    state = interplay.Checkpoint(file)._states["search"]
    assert 0 < state.done.sum() < len(state.done)
    found = interplay.max_information_gain(X, y, dimensions=3, checkpoint=file)
    assert_same(found, interplay.max_information_gain(X, y, dimensions=3))


@pytest.mark.parametrize(
    ("how", "reason"), [("memory", "MemoryError: not enough memory on tcp"), ("error", "OSError: too many tiles")]
)
def test_what_fails_everywhere_is_named(client, problem, how, reason):
    planes, tiles, _ = problem
    client.run(fail_on_many_tiles, how, 0)
    with pytest.raises(RuntimeError, match=rf"failed 5 times on tiles? \d+ .*of {len(tiles)} \({reason}") as caught:
        DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25)
    assert "\n" not in str(caught.value)


def test_an_interrupt_stops_the_workers_too(client, ctrl_c_after):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2000)), rng.integers(0, 2, 1000)
    ctrl_c = ctrl_c_after(2.0)
    with pytest.raises(interplay.SearchInterrupted) as caught:
        interplay.max_information_gain(X, y, dimensions=4, engine=DaskEngine(client, task_seconds=60.0))
    assert ctrl_c.seconds_since() < 5
    assert 0 <= caught.value.done < 1
    # Tasks would take a minute; the workers are free at once.
    assert client.submit(lambda: "free", pure=False).result(timeout=5) == "free"


class _PressesAtItsEnd:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)  # the exception strikes here, and Python forgets it


def test_an_interrupt_that_python_forgets(client, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 2000)), rng.integers(0, 2, 1000)
    handler = signal.getsignal(signal.SIGINT)
    submit = ChunkTasks._submit
    pressed_at = []

    def submit_and_press(self, completed):
        submit(self, completed)
        if not pressed_at:
            pressed_at.append(time.monotonic())
            _PressesAtItsEnd()

    monkeypatch.setattr(ChunkTasks, "_submit", submit_and_press)
    with pytest.raises(interplay.SearchInterrupted):
        interplay.max_information_gain(X, y, dimensions=4, engine=DaskEngine(client, task_seconds=60.0))
    assert time.monotonic() - pressed_at[0] < 5
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_interrupt_spoils_nothing_of_the_client(client, problem, monkeypatch):
    """Ctrl-C while a result is fetched waits for it: else it would cancel a request that all later ones wait for."""
    planes, tiles, plain = problem
    result = distributed.Future.result
    pressed = []

    def press_and_fetch(self, *args, **options):
        if not pressed:
            pressed.append(True)
            os.kill(os.getpid(), signal.SIGINT)
        return result(self, *args, **options)

    monkeypatch.setattr(distributed.Future, "result", press_and_fetch)
    engine = DaskEngine(client, task_seconds=0.05)
    with pytest.raises(interplay.SearchInterrupted) as caught:
        engine.max_gains(planes, tiles, pseudocount=0.25)
    assert caught.value.done > 0
    assert_same(engine.max_gains(planes, tiles, pseudocount=0.25), plain)


def test_results_whose_request_was_cancelled_before_are_lost_and_not_failed(client, problem):
    """As a Ctrl-C in another call of the client may leave it: `Future.result` then raises an UnboundLocalError."""
    import asyncio

    planes, tiles, plain = problem

    async def spoil():
        client._gather_keys = set()
        client._gather_future = asyncio.get_running_loop().create_future()
        client._gather_future.cancel()

    client.sync(spoil)
    assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)


def test_data_that_cannot_be_sent_at_once(client, problem, monkeypatch):
    """A worker on its way out makes it fail until the scheduler knows: for seconds on a busy machine."""
    planes, tiles, plain = problem
    scatter = distributed.Client.scatter
    started = time.monotonic()

    def fail_for_a_while(self, *args, **options):
        if time.monotonic() < started + 2:
            raise distributed.comm.CommClosedError("Stream is closed")
        return scatter(self, *args, **options)

    monkeypatch.setattr(distributed.Client, "scatter", fail_for_a_while)
    monkeypatch.setattr("interplay.search.engines.dask_cluster._SECONDS_UNTIL_GONE", 0.0)
    assert_same(DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25), plain)


@pytest.mark.parametrize("what", ["cluster", "client"])
def test_a_cluster_that_is_closed_during_the_search(problem, what):
    planes, tiles, _ = problem
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(slow_down, 0.02)
        closing = threading.Timer(1.0, {"cluster": cluster, "client": client}[what].close)
        closing.start()
        with pytest.raises(RuntimeError, match=r"^the Dask cluster is lost.*with a checkpoint.*from there$"):
            DaskEngine(client, task_seconds=0.1).max_gains(planes, tiles, pseudocount=0.25)
        closing.join()
        with pytest.raises(RuntimeError, match=r"^the Dask cluster is lost"):
            DaskEngine(client).tile_shape(3)


def test_threads_of_one_process(problem):
    planes, tiles, plain = problem
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=3, dashboard_address=":0") as client:
        assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)


def test_workers_that_come_later(problem):
    """An adaptive cluster starts with none."""
    planes, tiles, plain = problem
    with (
        distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        cluster.adapt(minimum=0, maximum=2, interval="100ms")
        assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)


def test_a_gpu_worker_without_a_gpu_uses_its_processor(problem, caplog):
    planes, tiles, plain = problem
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0", resources={"GPU": 1}
    ) as client:
        assert_same(DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25), plain)


def test_a_scheduler_that_settings_name(problem):
    import dask

    planes, tiles, plain = problem
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0", protocol="tcp") as cluster,
        dask.config.set({"scheduler-address": cluster.scheduler_address}),
    ):
        engine = check_engine("dask").engine
        try:
            assert_same(engine.max_gains(planes, tiles, pseudocount=0.25), plain)
        finally:
            engine.client.close()


def test_no_cluster_no_engine():
    with pytest.raises(ValueError, match=r"distributed.Client\(\) for this machine"):
        check_engine("dask")
