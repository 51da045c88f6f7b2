"""A Dask client, asked so that no answer is waited for without end, and that Ctrl-C leaves it usable."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from interplay.base.interrupts import Interrupts, noticing_interrupts

#: How often a wait looks whether there is an answer, a Ctrl-C, or still a cluster.
POLL_SECONDS = 0.01

LOST = (
    "the Dask cluster is lost, or loses what is sent to it (check the logs of its scheduler and workers): with a "
    "checkpoint, the same call goes on from there"
)

#: A scheduler that has not answered for this time is hung, or no longer on the network.
_SECONDS_TO_ANSWER = 120.0

#: Time that sending may take: a constant, and the time of the bytes at the rate of the slowest networks.
_SECONDS_TO_SEND = 10.0
_BYTES_PER_SECOND = 5e6

#: After Ctrl-C, an answer that is on its way is waited for this long, so that it counts.
_SECONDS_AFTER_INTERRUPT = 0.3

#: Time between the first call that fails and the client's notice that its scheduler is gone.
_SECONDS_UNTIL_GONE = 1.0


def seconds_to_send(n_bytes: int) -> float:
    """Return the time after which data sent from one machine to another are taken for lost."""
    return _SECONDS_TO_SEND + n_bytes / _BYTES_PER_SECOND


class Connection:
    """A client whose errors say so when the cluster is lost."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.check_interrupt = Interrupts()

    @contextmanager
    def noticing_interrupts(self) -> Iterator[None]:
        with noticing_interrupts() as self.check_interrupt:
            yield

    @property
    def is_lost(self) -> bool:
        return bool(self.client.status != "running")

    @contextmanager
    def talking(self) -> Iterator[None]:
        """Hold Ctrl-C back: it would cancel requests that the client shares with later calls, which then fail."""
        with self.check_interrupt.held():
            try:
                yield
            except (Exception, asyncio.CancelledError) as error:
                if self._is_gone(error):
                    raise RuntimeError(LOST) from error
                raise

    def ask(
        self,
        method: Callable[..., Any],
        *args: Any,
        seconds: float = _SECONDS_TO_ANSWER,
        until: Callable[[], bool] = lambda: False,
        **options: Any,
    ) -> Any:
        """Call a method of the client that can be asynchronous, and wait for its answer, but not without end.

        Raises TimeoutError after `seconds`, or once `until` says that no answer will come. The client's own waiting
        methods check neither, and some wait for ever after a worker was lost.
        """
        with self.talking():
            request = method(*args, **options, asynchronous=True)
            try:
                answer = asyncio.run_coroutine_threadsafe(request, self.client.loop.asyncio_loop)
            except RuntimeError:  # its loop is closed
                request.close()
                raise
            end = time.monotonic() + seconds
            end_if_interrupted: float | None = None
            while True:
                concurrent.futures.wait([answer], timeout=POLL_SECONDS)
                if answer.done():
                    return answer.result()
                now = time.monotonic()
                if self.check_interrupt.pressed:
                    end_if_interrupted = end_if_interrupted or now + _SECONDS_AFTER_INTERRUPT
                    if now > end_if_interrupted:
                        # The request is not cancelled, because later calls may share it.
                        raise KeyboardInterrupt
                if now > end or until() or self.is_lost:
                    answer.cancel()
                    raise TimeoutError(
                        f"no answer from the Dask cluster within {seconds:.0f} s: check the logs of its scheduler"
                    )

    def fetch(self, future: Any) -> Any:
        """Return the result of a task that is done; an error of the task is raised."""

        async def result(*, asynchronous: bool) -> Any:
            return await future

        return self.ask(result)

    def forget_cancelled_gather(self) -> None:
        """Drop a cancelled request of the client for results: all later requests would wait for it.

        Ctrl-C can have cancelled it, in a call of the client before the search.
        """
        request = getattr(self.client, "_gather_future", None)
        if request is not None and request.done():
            self.client._gather_future = None

    def _is_gone(self, error: BaseException) -> bool:
        # Without a scheduler, calls raise AttributeError or OSError, before or after the client notices.
        end = time.monotonic() + _SECONDS_UNTIL_GONE * isinstance(error, AttributeError | OSError)
        while not self.is_lost and time.monotonic() < end and not self.check_interrupt.pressed:
            time.sleep(POLL_SECONDS)
        return self.is_lost


def in_one_line(error: BaseException) -> str:
    """Return the kind of an error and its message."""
    return " ".join(f"{type(error).__name__}: {error}".split())
