"""Work in threads, as many as the system gives."""

import threading
import time

import numpy as np
import pytest

import interplay
from interplay.ask.cli.errors import exit_code_of
from interplay.base.jobs import map_in_threads


@pytest.fixture
def threads_left(monkeypatch):
    """Call with the number of threads that the system still gives."""

    def leave(number):
        start, left = threading.Thread.start, [number]

        def start_or_not(thread):
            if left[0] == 0:
                raise RuntimeError("can't start new thread")
            left[0] -= 1
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_or_not)

    return leave


@pytest.mark.parametrize("n_threads", [1, 2, 8, 64])
@pytest.mark.parametrize("n_items", [0, 1, 5, 100])
def test_results_come_in_the_order_of_the_items(n_threads, n_items):
    def work(i):
        time.sleep(0.001 * (i % 3))
        return i * i

    assert map_in_threads(work, range(n_items), n_threads) == [i * i for i in range(n_items)]


@pytest.mark.parametrize("left", [0, 1, 3])
def test_fewer_threads_do(threads_left, left):
    threads_left(left)
    assert map_in_threads(lambda i: i + 1, range(20), 64) == list(range(1, 21))


@pytest.mark.parametrize("left", [0, 2])
def test_a_search_goes_on_with_fewer_threads(threads_left, left):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 200)), rng.integers(0, 2, 300)
    plain = interplay.max_information_gain(X, y)
    threads_left(left)
    assert np.array_equal(interplay.max_information_gain(X, y, n_jobs=64).gain, plain.gain)


def test_the_error_of_the_first_item_is_raised_and_no_thread_is_left():
    def work(i):
        if i >= 2:
            time.sleep(0.02 if i == 2 else 0)
            raise ValueError(f"item {i}")
        return i

    n_before = threading.active_count()
    for _ in range(5):
        with pytest.raises(ValueError, match=r"^item 2$"):
            map_in_threads(work, range(50), 4)
    assert threading.active_count() == n_before


def test_an_interrupt_goes_before_errors():
    def work(i):
        raise KeyboardInterrupt if threading.current_thread() is threading.main_thread() else ValueError

    with pytest.raises((KeyboardInterrupt, ValueError)):
        map_in_threads(work, range(50), 4)


@pytest.mark.parametrize("said", ["can't start new thread", "Resource temporarily unavailable"])
def test_no_thread_at_all_is_one_line(capsys, said):
    def command():
        raise RuntimeError(said)

    assert exit_code_of(command) == 3
    assert "the system gives no thread: lower --jobs" in capsys.readouterr().err
