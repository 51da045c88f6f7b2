"""The Dask engine among all faults, in random order: the right bits, or Ctrl-C, and a client to go on with.

`python -m dask_chaos SECONDS SEED`, a program of its own because it presses Ctrl-C. Should something wait for ever
after all, it ends with the stacks of all threads.
"""

import faulthandler
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress

import distributed

import interplay
from dask_problem import assert_same, fail_on_many_tiles, make_problem, slow_down
from interplay.search.engines.dask import DaskEngine

#: A worker that has not come by then will not come.
SECONDS_TO_START = 12.0

#: A single search takes one to five seconds, most of which are for new workers.
SECONDS_FOR_A_SEARCH = 90.0


class Faults:
    """What may befall a cluster during a search."""

    def __init__(self, cluster, client, rng):
        self._cluster, self.client, self._rng = cluster, client, rng
        self.kinds: list[Callable[[], None]] = [
            self.kill_a_worker,
            self.kill_all_workers,
            self.close_a_worker,
            self.scale,
            self.cancel_tasks,
            self.cancel_everything,
            self.run_out_of_memory,
            self.restart,
            self.press_ctrl_c,
            self.press_ctrl_c_twice,
        ]

    def see_to_workers(self, until):
        """Do what whoever runs the cluster does: a search waits for the first worker, however long."""
        seen = time.monotonic()
        while not until.wait(0.5):
            if self._cluster.scheduler.workers:
                seen = time.monotonic()
            elif time.monotonic() > seen + SECONDS_TO_START:
                seen = time.monotonic()
                self._cluster.scale(0)
                self._cluster.scale(2)

    def _workers(self):
        return sorted(self.client.nthreads())

    def kill_a_worker(self):
        os.kill(self._rng.choice(list(self.client.run(os.getpid).values())), signal.SIGKILL)

    def kill_all_workers(self):
        for victim in self.client.run(os.getpid).values():
            os.kill(victim, signal.SIGKILL)

    def close_a_worker(self):
        self.client.retire_workers([self._rng.choice(self._workers())])
        self._cluster.scale(2)

    def scale(self):
        self._cluster.scale(self._rng.randint(1, 3))

    def cancel_tasks(self):
        self._cancel("search_chunk")

    def cancel_everything(self):
        """The planes, too."""
        self._cancel("")

    def _cancel(self, beginning):
        keys = [key for key in list(self.client.futures) if str(key).startswith(beginning)]
        self.client.cancel([distributed.Future(key, self.client) for key in keys], force=True)

    def run_out_of_memory(self):
        self.client.run(fail_on_many_tiles, "memory", 3, workers=[self._rng.choice(self._workers())])

    def restart(self):
        self.client.restart(timeout=20, wait_for_workers=False)

    def press_ctrl_c(self):
        os.kill(os.getpid(), signal.SIGINT)

    def press_ctrl_c_twice(self):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(self._rng.random() * 0.02)


def main(seconds, seed):
    """Search among faults for so long; each kind of fault happens at least once."""
    warnings.filterwarnings("ignore", "the Dask cluster has no workers", UserWarning)
    planes, tiles, plain = make_problem()
    rng = random.Random(seed)
    n_searches = 0
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        faults = Faults(cluster, client, rng)
        is_over = threading.Event()
        seeing = threading.Thread(target=faults.see_to_workers, args=(is_over,), daemon=True)
        seeing.start()
        left: list[Callable[[], None]] = []
        end = time.monotonic() + seconds
        while time.monotonic() < end or (left and n_searches < len(faults.kinds)):
            faulthandler.dump_traceback_later(SECONDS_FOR_A_SEARCH, exit=True)
            left = left or rng.sample(faults.kinds, len(faults.kinds))  # each of them in turn, in another order
            chosen = [left.pop() for _ in range(min(len(left), rng.randint(1, 3)))]
            with suppress(Exception):  # a worker may be on its way out
                client.run(slow_down, 0.003)
            print(f"{time.monotonic() - end:7.1f} s", *(fault.__name__ for fault in chosen), flush=True)
            search_among(faults, chosen, rng, planes, tiles, plain)
            n_searches += 1
        faulthandler.dump_traceback_later(SECONDS_FOR_A_SEARCH, exit=True)
        assert_same(DaskEngine(client).max_gains(planes, tiles, pseudocount=0.25), plain)
        is_over.set()
        seeing.join()
    faulthandler.cancel_dump_traceback_later()
    print(f"{n_searches} searches")


def search_among(faults, chosen, rng, planes, tiles, plain):
    """Search while these faults happen, at any time from just before it to near its end."""
    may_strike = threading.Event()
    is_over = threading.Event()
    presses = any("ctrl_c" in fault.__name__ for fault in chosen)
    pauses = [rng.random() * 0.3 for _ in chosen]

    def strike():
        may_strike.wait()
        for fault, pause in zip(chosen, pauses, strict=True):
            # Ctrl-C is for the search alone.
            if is_over.wait(pause) and "ctrl_c" in fault.__name__:
                return
            with suppress(Exception):
                fault()

    striking = threading.Thread(target=strike)
    striking.start()
    found = interrupted = None
    try:
        may_strike.set()
        found = DaskEngine(faults.client, task_seconds=0.05).max_gains(planes, tiles, pseudocount=0.25)
    except KeyboardInterrupt as error:  # a bare one before it began, or after its end
        interrupted = error
    finally:
        is_over.set()
        while True:
            with suppress(KeyboardInterrupt):
                striking.join()
                break
    if found is not None:
        assert_same(found, plain)
    if interrupted is not None:
        assert presses
    if isinstance(interrupted, interplay.SearchInterrupted):
        assert 0 <= interrupted.done <= 1
        assert (interrupted.partial.gain_by_group <= plain.gain_by_group).all()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
