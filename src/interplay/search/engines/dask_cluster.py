"""The workers of a Dask cluster, which come and go, and the data that all of them need."""

from __future__ import annotations

import asyncio
import itertools
import math
import time
import uuid
from contextlib import suppress
from typing import Any

import numpy as np

from interplay.base.user_warnings import warn
from interplay.search.engines.dask_connection import POLL_SECONDS, Connection, in_one_line, seconds_to_send

#: Attempts to send data, with pauses that double: a leaving worker makes them fail until the scheduler knows that it is
#: gone.
_MAX_SENDINGS = 8
_FIRST_PAUSE_SECONDS = 0.1

_SECONDS_UNTIL_WARNING = 30.0
_SECONDS_BETWEEN_ASKING = 1.0


class Cluster:
    """The present workers of a cluster."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client = connection.client
        self._asked = -np.inf
        self._seen = time.monotonic()
        self._threads: dict[str, int] = {}
        self._has_warned = False

    @property
    def workers(self) -> list[str]:
        self._ask()
        return list(self._threads)

    @property
    def n_threads(self) -> int:
        self._ask()
        return max(sum(self._threads.values()), 1)

    def _ask(self) -> None:
        now = time.monotonic()
        if now - self._asked < _SECONDS_BETWEEN_ASKING:
            return
        self._threads, self._asked = self._connection.ask(self._client.nthreads), now
        if self._threads:
            self._seen = now
        elif now - self._seen > _SECONDS_UNTIL_WARNING and not self._has_warned:
            self._has_warned = True
            warn(
                "the Dask cluster has no workers; waiting for one (Ctrl-C stops): start some, for example with "
                "cluster.scale(4)"
            )

    def wait_for_workers(self) -> None:
        """Wait for the first worker, which a queueing system may take hours to start."""
        with self._connection.talking():
            wanted = self._client.submit(int, pure=False)  # an adaptive cluster starts workers only for work
        self._asked = -np.inf
        while not self.workers:
            self._pause(POLL_SECONDS)
        wanted.release()

    def send(self, data: Any, n_bytes: int) -> Any:
        """Put data of about this size on all workers that are there, and return the future that stands for them."""
        # Data that arrive late, after they were given up, have the same name as the data sent again.
        key = f"{type(data).__name__}-{uuid.uuid4().hex}"
        for sent in itertools.count(1):
            self.wait_for_workers()
            try:
                future = self.send_to_one({key: data}, n_bytes)[key]
                break
            except (Exception, asyncio.CancelledError) as error:
                if self._connection.is_lost:
                    raise
                if sent == _MAX_SENDINGS:
                    raise RuntimeError(
                        f"the data could not be sent to the workers of the Dask cluster ({in_one_line(error)}): check "
                        "their logs"
                    ) from error
            self._pause(_FIRST_PAUSE_SECONDS * 2 ** (sent - 1))
        self._spread(future, n_bytes)
        return future

    def send_to_one(self, data: Any, n_bytes: int) -> Any:
        """Put data on one of the workers; the others fetch them when they have a task that needs them."""
        return self._connection.ask(self._client.scatter, data, hash=False, seconds=seconds_to_send(n_bytes))

    def _spread(self, future: Any, n_bytes: int) -> None:
        """Copy data from worker to worker before there are tasks for them, so that these are spread evenly.

        A failure does no harm. `Client.scatter(broadcast=True)` is not used: when a worker is lost meanwhile, it never
        ends, and blocks all copies of data on the cluster, also those of other programs.
        """
        before = set(self.workers)
        seconds = seconds_to_send(n_bytes) * math.ceil(math.log2(len(before) + 1))  # the copies double in each round
        with suppress(Exception, asyncio.CancelledError):
            self._connection.ask(
                self._client.replicate, [future], seconds=seconds, until=lambda: not before <= set(self.workers)
            )

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            time.sleep(POLL_SECONDS)
            self._connection.check_interrupt()
            if time.monotonic() >= end:
                return
