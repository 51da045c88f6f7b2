"""What tests share: the reference data, which is optional, and a setting under which nothing may be skipped lightly."""

import os
import signal
import sys
import threading
import time
from functools import partial

import hypothesis
import numpy as np
import pytest

from shared_data import NO_DATA, SHARED

#: Why what is written in R is not run.
NO_R = "no R with a reticulate that knows this Python (Debian: r-base-core, r-cran-reticulate)"
NO_SURVIVAL = "no R with its package survival (Debian: r-base-core, r-cran-survival)"

# Whether a change lands must not be luck: problems are then drawn the same way every time. Elsewhere they are new ones.
hypothesis.settings.register_profile("repeatable", derandomize=True)
if os.environ.get("INTERPLAY_REQUIRE_ALL") == "1":
    hypothesis.settings.load_profile("repeatable")

# A job system, or a script that starts the tests with &, has SIGINT ignored, and children inherit that: interrupts that
# tests send would never come. A handler here serves both: a program starts with the default for what was handled.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Tests against outputs of the R original need them beside the checkout."""
    if not SHARED.is_dir():
        for item in items:
            if "shared" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.skip(reason=NO_DATA))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """With INTERPLAY_REQUIRE_ALL=1 a skip is a failure, but for what this machine may lack: data, a GPU, R, PLINK."""
    outcome = yield
    report = outcome.get_result()
    if os.environ.get("INTERPLAY_REQUIRE_ALL") != "1" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
    others = ("no CUDA device", NO_R, NO_SURVIVAL, "PLINK 1.9 is not installed", "PLINK 2 is not installed")
    excused = (NO_DATA in reason and not SHARED.is_dir()) or any(other in reason for other in others)
    if not excused:
        report.outcome = "failed"
        report.longrepr = f"skipped although INTERPLAY_REQUIRE_ALL=1: {reason}"


@pytest.fixture(autouse=True)
def _close_figures():
    """Close all figures after each test: pyplot keeps them, and warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def shared():
    """The folder with Madelon and the outputs of the R original."""
    return SHARED


@pytest.fixture(scope="session")
def madelon(shared):
    data = np.load(shared / "data" / "madelon.npz")
    return data["x"], data["y"]


@pytest.fixture(scope="session")
def r_output(shared):
    """Load a file of outputs of the R original by its stem."""
    return lambda stem: np.load(shared / "reference" / f"{stem}.npz")


@pytest.fixture
def command(monkeypatch, capfd, tmp_path):
    """Call with the arguments of `interplay`, which then runs in this process, in an empty folder."""
    from command_line import in_process

    monkeypatch.chdir(tmp_path)
    return partial(in_process, monkeypatch, capfd)


class CtrlC:
    """Presses Ctrl-C once a search has run for some seconds; never before it, and never after it."""

    def __init__(self):
        self.pressed_at = float("nan")

    def press(self):
        self.pressed_at = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    def seconds_since(self):
        return time.monotonic() - self.pressed_at


@pytest.fixture
def ctrl_c_after(monkeypatch):
    """Call with the seconds that a search is left to itself."""
    from interplay.search.loop import TileLoop

    def arm(seconds):
        ctrl_c = CtrlC()
        original = TileLoop.search

        def search(*args, **kwargs):
            timer = threading.Timer(seconds, ctrl_c.press)
            timer.start()
            try:
                original(*args, **kwargs)  # type: ignore[arg-type]
            finally:
                timer.cancel()

        monkeypatch.setattr(TileLoop, "search", search)
        return ctrl_c

    return arm
