"""Ctrl-C where Python forgets it, and where it would do harm."""

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from interplay.base.jobs import noticing_interrupts
from interplay.search.engines.cuda import engine as cuda_engine


class PressesAtItsEnd:
    """Python prints and forgets what is raised while an object ends."""

    def __del__(self):
        press()


def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)  # the exception strikes here


pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_a_forgotten_one_is_noticed():
    handler = signal.getsignal(signal.SIGINT)
    with noticing_interrupts() as check:
        check()
        PressesAtItsEnd()
        with pytest.raises(KeyboardInterrupt):
            check()
    assert signal.getsignal(signal.SIGINT) is handler


def test_where_they_are_ignored_nothing_changes():
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with noticing_interrupts() as check, check.held():
            press()
        check()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, handler)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_tests_hear_them_also_where_they_are_ignored():
    """As where a script starts the tests with &: in a child whose SIGINT is ignored, and in its own children."""
    test = f"{__file__}::test_a_forgotten_one_is_noticed"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    ignoring = ["bash", "-c", 'trap "" INT; exec "$@"', "bash", *command]
    done = subprocess.run(ignoring, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout


def test_one_is_held_and_another_strikes():
    with noticing_interrupts() as check:
        with check.held(), check.held():
            press()
        assert check.pressed
        with check.held():
            press()
            with pytest.raises(KeyboardInterrupt):
                press()
        with pytest.raises(KeyboardInterrupt):
            press()


def pretend_devices(monkeypatch):
    """Have devices and streams that do nothing."""
    fake = SimpleNamespace(cuda=SimpleNamespace(Device=lambda number: nullcontext()))
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(cuda_engine.CudaEngine, "__post_init__", lambda self: None)
    monkeypatch.setattr(cuda_engine, "own_stream", lambda number: nullcontext())


@pytest.mark.parametrize("n_devices", [1, 2])
def test_devices_stop_at_one_that_python_forgets(n_devices, monkeypatch):
    """With devices that do nothing but tell how far they are."""
    pretend_devices(monkeypatch)
    pressed_at: list[float] = []

    def press_once():
        if not pressed_at:
            pressed_at.append(time.monotonic())
            PressesAtItsEnd()

    wait = cuda_engine.wait

    def press_and_wait(*args, **options):
        press_once()
        return wait(*args, **options)

    def work(share, on_done):
        end = time.monotonic() + 5
        while time.monotonic() < end:
            on_done(1.0)
            time.sleep(0.01)
            if n_devices == 1:
                press_once()

    monkeypatch.setattr(cuda_engine, "wait", press_and_wait)
    engine = cuda_engine.CudaEngine(devices=tuple(range(n_devices)))
    with pytest.raises(KeyboardInterrupt):
        engine._on_all_devices(work, cuda_engine._Report(None))
    assert time.monotonic() - pressed_at[0] < 3


def test_devices_stop_when_one_of_them_fails(monkeypatch):
    pretend_devices(monkeypatch)
    started = time.monotonic()

    def work(share, on_done):
        time.sleep(0.2)
        if share == 1:
            raise ValueError("share 1")
        while time.monotonic() < started + 5:
            on_done(1.0)
            time.sleep(0.01)

    engine = cuda_engine.CudaEngine(devices=(0, 1))
    with pytest.raises(ValueError, match="share 1"):
        engine._on_all_devices(work, cuda_engine._Report(None))
    assert time.monotonic() - started < 3
