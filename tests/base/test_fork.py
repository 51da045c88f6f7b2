"""Processes forked while other threads search, as multiprocessing does: locks must not stay locked in them."""

import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, threading, time, warnings
import numpy as np
from interplay.base.planes import DiscreteCodes
from interplay.data.study.outcomes.classes import DecisionClasses
from interplay.search.engines.cpu import CpuEngine
from interplay.search.tiles import make_tuple_tiles
from interplay.data.codes.planes import make_bit_planes

warnings.simplefilter("ignore")  # Python warns of what is tried here
rng = np.random.default_rng(0)
n_levels = np.full(8, 2)
codes = DiscreteCodes(rng.integers(0, 2, (8, 2000)).astype(np.uint8), n_levels)
planes = make_bit_planes([codes], DecisionClasses(rng.integers(0, 2, 2000), [0, 1]))
tiles = make_tuple_tiles(n_levels, n_vars=8, dimensions=3)
stop = False

def search():
    CpuEngine().max_gains(planes, tiles, pseudocount=0.25)

def search_on():
    while not stop:
        search()

threads = [threading.Thread(target=search_on) for _ in range(3)]
for thread in threads:
    thread.start()
status = 0
end = time.monotonic() + 5
while not status and time.monotonic() < end:
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # kills a child that waits for ever
        search()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
stop = True
for thread in threads:
    thread.join()
raise SystemExit(status != 0)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a fork with threads is not to be relied on")
def test_a_forked_process_searches_while_threads_of_its_parent_do():
    assert subprocess.run([sys.executable, "-c", SCRIPT], timeout=120, check=False).returncode == 0
