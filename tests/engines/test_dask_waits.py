"""No wait of the Dask engine is without end: answers that never come, workers lost while data are sent."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import interplay

distributed = pytest.importorskip("distributed")

from dask_problem import assert_same, make_problem, slow_down  # noqa: E402
from interplay.search.engines import dask_cluster  # noqa: E402
from interplay.search.engines.base import USUAL_TILES  # noqa: E402
from interplay.search.engines.dask import DaskEngine  # noqa: E402
from interplay.search.engines.dask_cluster import Connection, seconds_to_send  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def client():
    """Threads of this process, which start at once."""
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        yield client


@pytest.fixture(scope="module")
def problem():
    return make_problem()


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_SECONDS_TO_SEND", 0.3)
    monkeypatch.setattr(dask_cluster, "_SECONDS_UNTIL_GONE", 0.0)
    monkeypatch.setattr(dask_cluster, "_FIRST_PAUSE_SECONDS", 0.01)
    # Answers of a scheduler that is there take longer than a third of a second where others keep the machine busy.
    monkeypatch.setitem(Connection.ask.__kwdefaults__, "seconds", 1.5)


def never_answering(monkeypatch, method, n_times=np.inf, of=distributed.Client):
    """Let a method of the client wait for ever, the first times it is called; return the calls."""
    original = getattr(of, method)
    calls: list[Callable[..., Any]] = []

    def call(self, *args, **options):
        calls.append(call)
        return original(self, *args, **options) if len(calls) > n_times else asyncio.Event().wait()

    monkeypatch.setattr(of, method, call)
    return calls


def test_data_that_never_arrive(client, problem, impatient, monkeypatch):
    planes, tiles, _ = problem
    sendings = never_answering(monkeypatch, "scatter")
    with pytest.raises(
        RuntimeError, match=r"^the data could not be sent .* \(TimeoutError: no answer .*\): check their"
    ):
        DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25)
    assert len(sendings) == dask_cluster._MAX_SENDINGS


def test_data_that_are_sent_again(client, problem, impatient, monkeypatch):
    planes, tiles, plain = problem
    sendings = never_answering(monkeypatch, "scatter", n_times=2)
    assert_same(DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25), plain)
    assert len(sendings) >= 3  # more where the machine is so busy that a sending takes longer than they are given


@pytest.mark.parametrize("method", ["scatter", "replicate"])
def test_an_interrupt_while_data_are_sent(client, problem, monkeypatch, method):
    """At once, although they might take ten seconds; and the client is as good as before."""
    planes, tiles, plain = problem
    never_answering(monkeypatch, method, n_times=1)
    pressed_at = []

    def press():
        pressed_at.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    with pytest.raises(interplay.SearchInterrupted) as caught:
        DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25)
    assert time.monotonic() - pressed_at[0] < 1
    assert caught.value.done == 0
    assert_same(DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25), plain)


def test_data_that_are_not_copied_between_workers(client, problem, impatient, monkeypatch):
    planes, tiles, plain = problem
    copied = never_answering(monkeypatch, "replicate")
    assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)
    assert len(copied) == 1


def test_bounds_that_never_arrive(client, problem, impatient, monkeypatch):
    import interplay.search.engines.dask as engine

    monkeypatch.setattr(engine, "_MAX_BOUND_BYTES", 0)
    planes, tiles, plain = problem
    original = distributed.Client.scatter
    n_hung = []

    def send_data_only(self, data, **options):
        if isinstance(data, dict):
            return original(self, data, **options)
        n_hung.append(1)
        return asyncio.Event().wait() if len(n_hung) < 3 else original(self, data, **options)

    monkeypatch.setattr(distributed.Client, "scatter", send_data_only)
    assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)
    assert len(n_hung) >= 3


def test_results_that_never_arrive_are_searched_again(client, problem, impatient, monkeypatch):
    planes, tiles, plain = problem
    fetched = never_answering(monkeypatch, "result", n_times=3, of=distributed.Future)
    assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)
    assert len(fetched) > 3


def test_a_scheduler_that_never_answers(client, problem, impatient, monkeypatch):
    planes, tiles, _ = problem
    never_answering(monkeypatch, "run")
    assert DaskEngine(client).tile_shape(3) == USUAL_TILES
    never_answering(monkeypatch, "nthreads")
    with pytest.raises(TimeoutError, match=r"^no answer from the Dask cluster within 2 s: check the logs"):
        DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25)
    assert DaskEngine(client).describe()["workers"] == 0


def test_more_data_have_more_time():
    assert seconds_to_send(10**9) > seconds_to_send(10**6) + 60


def test_a_worker_that_is_killed_while_data_are_copied(problem, monkeypatch):
    """`Client.scatter(broadcast=True)` then waits for ever, and so does every later one."""
    planes, tiles, plain = problem
    replicate = distributed.Client.replicate
    with (
        distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        killed = []

        def kill_and_replicate(self, *args, **options):
            if not killed:
                killed.append(victim)
                os.kill(victim, signal.SIGKILL)
            return replicate(self, *args, **options)

        monkeypatch.setattr(distributed.Client, "replicate", kill_and_replicate)
        started = time.monotonic()
        assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)
        assert time.monotonic() - started < 60
        # Whoever copies data next does not wait for what was given up, once the scheduler no longer tries to connect to
        # the worker (30 s).
        future = Connection(client).ask(client.scatter, np.arange(9), broadcast=True, seconds=100)
        assert future.result(timeout=60)[8] == 8
        assert killed


def test_a_worker_that_is_stopped_while_data_are_sent(problem, monkeypatch):
    """One that neither answers nor is lost, as on a machine that swaps: the search goes on when it does."""
    planes, tiles, plain = problem
    monkeypatch.setattr(dask_cluster, "_SECONDS_TO_SEND", 1.0)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(slow_down, 0.001)
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGSTOP)
        threading.Timer(5.0, os.kill, (victim, signal.SIGCONT)).start()
        assert_same(DaskEngine(client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25), plain)
