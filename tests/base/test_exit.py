"""Programs that end while a daemon thread searches: they end with their own exit code, and without a word."""

import subprocess
import sys

import pytest

SCRIPT = """
import atexit, os, sys, threading, time
import numpy as np
import interplay

rng = np.random.default_rng(0)
X, y = rng.normal(size=(500, 200)), rng.integers(0, 2, 500)
small = np.ascontiguousarray(X[:, :30])
running = threading.Event()

def progress(done):
    running.set()

def long_search():
    interplay.max_information_gain(X, y, dimensions=4, n_jobs={n_jobs}, progress=progress)

def long_list():
    interplay.interesting_tuples(X, y, dimensions=4, min_gain=1e6, n_jobs={n_jobs}, progress=progress)

def short_searches():
    while True:
        try:
            interplay.max_information_gain(small, y, dimensions=2, n_jobs={n_jobs})
            running.set()
        except BaseException:  # as careless programs do
            pass

def in_the_main_thread():  # what the program itself does at its end
    assert interplay.max_information_gain(small, y, dimensions=2).gain.min() >= 0
    print("done")

threads = [threading.Thread(target={work}, daemon=True) for _ in range({n_threads})]
for thread in threads:
    thread.start()
assert running.wait(60)
time.sleep({seconds})
{last}
sys.exit(7)
"""


def ends(work, *, n_jobs=2, n_threads=1, seconds=0.3, last=""):
    """Run a program that ends while its daemon threads work; return what it printed."""
    script = SCRIPT.format(work=work, n_jobs=n_jobs, n_threads=n_threads, seconds=seconds, last=last)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert (ended.returncode, ended.stderr) == (7, "")
    return ended.stdout


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("work", ["long_search", "long_list"])
def test_a_search_is_stopped(work, n_jobs):
    assert ends(work, n_jobs=n_jobs) == ""


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.1])
def test_searches_that_follow_one_another(seconds):
    """Whatever of a search the end strikes: the discretisation, the planes, the search itself, or what is between."""
    assert ends("short_searches", n_threads=3, n_jobs=1, seconds=seconds) == ""


def test_the_program_itself_may_search_to_its_end():
    last = "atexit._run_exitfuncs(); in_the_main_thread()"
    assert ends("long_search", last=last) == "done\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere a fork with threads is not to be relied on")
def test_a_forked_process_does_not_wait_for_the_threads_of_its_parent():
    last = """
import warnings
warnings.simplefilter("ignore")  # Python warns of what is tried here
child = os.fork()
if child == 0:
    started = time.monotonic()
    atexit._run_exitfuncs()
    os._exit(int(time.monotonic() - started > 2))
print(os.waitpid(child, 0)[1])
"""
    assert ends("long_search", last=last) == "0\n"
