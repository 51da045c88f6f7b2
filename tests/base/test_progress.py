"""The display of a search's progress: where it goes, what it says, and when it is silent."""

import io
import sys
import time
import types

import numpy as np
import pytest

import interplay
from interplay.base import progress
from interplay.base.progress import map_shown
from interplay.search.engines.cpu import CpuEngine


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still unless it is moved."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    return now


def test_a_log_gets_a_line_a_minute(capsys, clock):
    finds = [("age", 12.3456), ("a [bold] name that is rather long", 3.0)]
    with progress.show_progress(True, n_tuples=1e9, what="3D") as show:
        for second in range(0, 181):
            clock[0] = float(second)
            show(second * 1e6, lambda: finds)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4  # at 0, 1, 2 and 3 minutes
    assert lines[1] == "3D: 6.0%, 1e+06 tuples/s, 15 min 40 s left, best so far age 12.35, a [bold] name t… 3"


def test_the_end_is_always_told(capsys, clock):
    with progress.show_progress(True, n_tuples=100, what="2D") as show:
        show(1)
        clock[0] = 5.0
        show(50)
        show(100)
    assert [line.split(",")[0] for line in capsys.readouterr().err.splitlines()] == ["2D: 1.0%", "2D: 100.0%"]


@pytest.mark.parametrize("wanted", [False, None])
def test_silent_when_asked_and_by_itself_in_logs(capsys, wanted):
    with progress.show_progress(wanted, n_tuples=1e12, what="3D") as show:
        assert show is None
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar_for_what_takes_a_while(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.show_progress(None, n_tuples=10, what="2D") as show:
        assert show is None  # too short to be worth it
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_UPDATES", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    with progress.show_progress(None, n_tuples=1e8, what="3D search") as show:
        time.sleep(0.01)
        show(4e7, lambda: [("[red]x", 5.0)])
        time.sleep(0.15)  # rich draws ten times a second
    drawn = screen.getvalue()
    for word in ("3D search", "40%", "tuples/s", "left", "best so far [red]x 5"):
        assert word in drawn


def test_no_stderr_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with progress.show_progress(True, n_tuples=1e12, what="3D") as show:
        assert show is None


def test_a_notebook_gets_one_box_that_is_updated(monkeypatch, clock):
    shown: list[dict[str, str]] = []
    handle = types.SimpleNamespace(update=lambda content, raw: shown.append(content))

    def display(content, raw, display_id):
        shown.append(content)
        return handle

    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    module = types.ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    with progress.show_progress(True, n_tuples=100, what="2D") as show:
        for step in range(101):
            clock[0] = step / 10
            show(step, lambda: [("<b>", 1.0)])
    assert 20 <= len(shown) <= 23  # twice a second for ten seconds
    assert "100.0%" in shown[-1]["text/plain"]
    assert "best so far <b> 1" in shown[-1]["text/plain"]
    assert "&lt;b&gt;" in shown[-1]["text/html"]


def test_a_function_is_told_the_share_that_is_done():
    shares: list[float] = []
    with progress.show_progress(shares.append, n_tuples=200, what="2D") as show:
        for done in (0, 50, 200.5):
            show(done, lambda: [("x", 1.0)])
    assert shares == [0.0, 0.25, 1.0]


class SeenEnough(Exception):
    pass


def test_a_search_tells_its_best_finds_while_it_runs(monkeypatch):
    X, y, _ = interplay.datasets.make_madelon(n_samples=500, n_vars=190, random_state=1)
    told: list[np.ndarray] = []

    class Watched(CpuEngine):
        def search(self, planes, tiles, sink, *, on_progress=None, **options):
            def watch(done):
                on_progress(done)
                told.append(sink.so_far().gain.copy())
                if np.isfinite(told[-1]).any():
                    raise SeenEnough

            super().search(planes, tiles, sink, on_progress=watch, **options)

    monkeypatch.setattr(sys, "stderr", io.StringIO())
    slow = Watched(n_threads=2, direct_only=True)
    with pytest.raises(SeenEnough):
        interplay.max_information_gain(X, y, dimensions=4, engine=slow, progress=True)
    assert not np.isfinite(told[0]).any()  # nothing was known at first
    final = interplay.max_information_gain(X, y, dimensions=4, n_jobs=2)
    assert (told[-1] <= final.gain).all()
    assert (told[-1] < final.gain).any()


class TestWorkOnItems:
    def test_long_work_is_announced_before_it_goes_on(self, capsys, clock):
        said = []

        def work(item):
            clock[0] += 0.1
            said.append(capsys.readouterr().err)
            return item

        assert map_shown(work, range(31_000), 1, progress=True, what="tests of") == list(range(31_000))
        assert said[:155] == [""] * 155  # the first ones, which are timed
        assert said[155].startswith("tests of 31,000 tuples: about 51 min 40 s: 0.5%")
        assert "15 min" in "".join(said[156:])  # and goes on to say how long it will take

    def test_short_work_says_nothing(self, capsys):
        assert map_shown(abs, [-1, -2], 2, progress=True, what="tests of") == [1, 2]
        assert map_shown(abs, [], 1, progress=True, what="tests of") == []
        assert capsys.readouterr().err == ""

    def test_a_function_is_told_shares_of_tuples(self):
        told = []
        assert map_shown(len, ["a", "bc", "d"], 1, progress=told.append, what="tests of", sizes=[1, 2, 1]) == [1, 2, 1]
        assert told == [0.25, 1.0]


@pytest.mark.parametrize("kind", ["classes", "times"])
def test_select_tells_shares_of_the_search_and_of_the_tests(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    score = (X[:, 1] > 0) ^ (X[:, 4] > 0)
    y = score if kind == "classes" else (rng.exponential(np.exp(-2.0 * score)), np.ones(300, dtype=bool))
    told = []
    interplay.select(X, y, random_state=0, progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert [share for share in told if 0.9 < share < 1.0]
