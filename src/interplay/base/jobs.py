"""`n_jobs` → threads, and functions that run over many blocks in threads; Ctrl-C, where Python would lose it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Thread
from types import FrameType
from typing import Any, TypeVar

from interplay.base.checks import check_int

Item = TypeVar("Item")
Result = TypeVar("Result")


def resolve_n_jobs(n_jobs: Any) -> int:
    """Return the number of threads that `n_jobs` asks for, in scikit-learn's sense.

    None is one thread (or the number of an enclosing ``joblib.parallel_config``), -1 is every core, -2 all but one.
    """
    if n_jobs is not None:
        n_jobs = check_int("n_jobs", n_jobs, low=-(2**15), high=2**15)
        if n_jobs == 0:
            raise ValueError("n_jobs must not be 0: use a number of threads, -1 for every core, or None for one")
    # joblib comes with scikit-learn; it is imported late because it is slow to import. A program that has not imported
    # it has no ``parallel_config`` either.
    if "joblib" not in sys.modules and (n_jobs is None or n_jobs > 0):
        return int(n_jobs or 1)
    from joblib import effective_n_jobs

    return max(1, int(effective_n_jobs(n_jobs)))


def n_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_in_threads(work: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> list[Result]:
    """Apply `work` to each item, in threads when there are several, and return the results in the items' order.

    NumPy releases the interpreter lock while it sorts, compares and copies, so threads are enough. The calling thread
    is one of them, so that work goes on where the system gives no other (a limit of memory or processes). Of several
    errors, that of the first item is raised.
    """
    if n_threads == 1:
        return [work(item) for item in items]
    waiting = list(enumerate(items))
    waiting.reverse()  # taken from the end
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}

    def work_on() -> None:
        while not errors:
            try:
                i, item = waiting.pop()
            except IndexError:
                return
            try:
                results[i] = work(item)
            except BaseException as error:  # Ctrl-C too, which strikes in the main thread
                errors[i] = error

    n_items = len(waiting)
    threads = _started(work_on, min(n_threads, n_items) - 1)
    try:
        work_on()
    finally:
        waiting.clear()
        for thread in threads:
            thread.join()
    if errors:
        raise min(errors.items(), key=lambda entry: (isinstance(entry[1], Exception), entry[0]))[1]
    return [results[i] for i in range(n_items)]


def _started(work: Callable[[], None], n_threads: int) -> list[Thread]:
    """Start up to `n_threads` threads: fewer where the system refuses more."""
    threads: list[Thread] = []
    for _ in range(n_threads):
        thread = Thread(target=work)
        try:
            thread.start()
        except RuntimeError:
            break
        threads.append(thread)
    return threads


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Restrict matrix products inside to the calling thread.

    Products then keep to `n_jobs`, and their last bits do not depend on the number of cores.
    """
    with _blas().limit(limits=1):
        yield


@cache  # to look for the libraries takes milliseconds
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped] # comes with scikit-learn

    return ThreadpoolController().select(user_api="blas")


class Interrupts:
    """Presses of Ctrl-C since `noticing_interrupts` began."""

    def __init__(self) -> None:
        self._presses = 0
        self._held = 0
        self._presses_when_held = 0

    def __call__(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self.pressed:
            raise KeyboardInterrupt

    @property
    def pressed(self) -> bool:
        return self._presses > 0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Only note the first Ctrl-C: raised in the middle of another library's work, it could leave that unusable.

        The caller asks for it afterwards. A second Ctrl-C is raised at once, in case the library hangs.
        """
        if not self._held:
            self._presses_when_held = self._presses
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    def press(self) -> bool:
        """Note a Ctrl-C; say whether it may be raised now."""
        self._presses += 1
        return not self._held or self._presses > self._presses_when_held + 1


@contextmanager
def noticing_interrupts() -> Iterator[Interrupts]:
    """Yield an object that raises KeyboardInterrupt when it is called, if Ctrl-C was pressed since.

    Python's own KeyboardInterrupt usually comes first. But during a callback of the garbage collector, or a finaliser
    of a library, Python prints the exception and forgets it.
    """
    interrupts = Interrupts()
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield interrupts  # others handle the signal
        return

    def press(number: int, frame: FrameType | None) -> None:
        if interrupts.press():
            handler(number, frame)

    signal.signal(signal.SIGINT, press)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, handler)
