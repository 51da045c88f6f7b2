"""Searches from several threads of a program, with the GIL or without one: each gets its own result."""

import subprocess
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import interplay

N_THREADS = 8


def found_in(seed):
    """A selection, and the gains and tuples of another search, of a table with levels and classes of its own."""
    rng = np.random.RandomState(seed)
    X, y = rng.normal(size=(120 + seed, 30)), rng.randint(0, 2 + seed % 2, 120 + seed)
    X[:, 0] += y
    selection = interplay.select(X, y, dimensions=2, divisions=1 + seed % 3, random_state=seed, n_jobs=1 + seed % 2)
    gains = interplay.max_information_gain(X, y, dimensions=3, random_state=seed, n_jobs=1 + seed % 2)
    return selection, gains.gain, gains.tuples


def test_eight_threads_search_at_once():
    begin = threading.Barrier(N_THREADS)

    def search(seed):
        begin.wait()
        return found_in(seed)

    with ThreadPoolExecutor(N_THREADS) as threads:
        together = list(threads.map(search, range(N_THREADS)))
    for seed, (selection, gain, tuples) in enumerate(together):
        alone, gain_alone, tuples_alone = found_in(seed)
        assert np.array_equal(selection.log_p, alone.log_p)
        assert selection.table.equals(alone.table)
        assert np.array_equal(gain, gain_alone)
        assert np.array_equal(tuples, tuples_alone)


def test_python_without_a_gil_stays_without():
    """It turns the GIL on for a module that does not say that it needs none."""
    ask = "import sys, interplay._core; print(getattr(sys, '_is_gil_enabled', lambda: True)())"
    told = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    assert told.strip() == str(not sysconfig.get_config_var("Py_GIL_DISABLED"))
