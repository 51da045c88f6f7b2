"""One search at a time has a file, and a dead one has none."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from interplay.files import whole_file as file_lock
from interplay.files.whole_file import FileInUseError, alone_with

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="forks and signals of POSIX")

HOLD = """
import sys, time
from pathlib import Path
from interplay.files.whole_file import alone_with
with alone_with(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def holder(file):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_another_process_is_named_and_leaves_nothing(tmp_path):
    file = tmp_path / "run.ckpt"
    process = holder(file)
    with pytest.raises(FileInUseError, match=f"^process {process.pid} on "), alone_with(file):
        pass
    process.communicate("")
    assert process.returncode == 0
    assert os.listdir(tmp_path) == []
    with alone_with(file):
        assert os.listdir(tmp_path) == ["run.ckpt.lock"]
    assert os.listdir(tmp_path) == []


@posix_only
def test_a_killed_process_holds_nothing(tmp_path):
    process = holder(tmp_path / "run.ckpt")
    process.kill()
    process.communicate()
    assert os.listdir(tmp_path) == ["run.ckpt.lock"]
    with alone_with(tmp_path / "run.ckpt"):
        pass
    assert os.listdir(tmp_path) == []


@posix_only
def test_a_child_of_a_killed_process_holds_nothing(tmp_path):
    """Such as a worker of multiprocessing, which outlives who forked it."""
    script = """
        import os, sys, time
        from pathlib import Path
        from interplay.files.whole_file import alone_with
        with alone_with(Path(sys.argv[1])):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            print(child, flush=True)
            time.sleep(60)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "run.ckpt")], stdout=subprocess.PIPE, text=True
    )
    child = int(process.stdout.readline())
    process.kill()
    process.wait()
    try:
        with alone_with(tmp_path / "run.ckpt"):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        process.stdout.close()


def test_threads_and_links_are_told_apart(tmp_path):
    file = tmp_path / "run.ckpt"
    (tmp_path / "link").symlink_to(file)
    refused = []

    def other():
        try:
            with alone_with(Path(os.path.realpath(tmp_path / "link"))):
                pass
        except FileInUseError as error:
            refused.append(str(error))

    with alone_with(file), alone_with(tmp_path / "another"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    other()
    assert refused == ["another search in this process"]


def test_an_error_lets_go(tmp_path):
    file = tmp_path / "run.ckpt"
    with pytest.raises(KeyboardInterrupt), alone_with(file):
        raise KeyboardInterrupt
    with alone_with(file):
        pass
    assert os.listdir(tmp_path) == []


def test_where_there_are_no_locks_work_goes_on(tmp_path, monkeypatch):
    with alone_with(tmp_path / "no such folder" / "run.ckpt"):
        pass

    def no_locks(handle):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(file_lock, "_lock", no_locks)
    with alone_with(tmp_path / "run.ckpt"):
        pass


def test_a_lock_file_that_was_removed_meanwhile_is_no_lock(tmp_path, monkeypatch):
    """Who held it removes it, between the opening and the locking of another: that one must begin again."""
    lock, removed = file_lock._lock, []

    def lock_late(handle):
        if not removed:
            removed.append(True)
            (tmp_path / "run.ckpt.lock").unlink()
        lock(handle)

    if sys.platform != "win32":
        monkeypatch.setattr(file_lock, "_lock", lock_late)
    with alone_with(tmp_path / "run.ckpt"):
        assert (tmp_path / "run.ckpt.lock").exists()


def test_a_full_disk_leaves_no_empty_lock_file(tmp_path, monkeypatch):
    def no_room(handle, content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(file_lock.os, "write", no_room)
        with alone_with(tmp_path / "run.ckpt"):
            assert os.listdir(tmp_path) == ["run.ckpt.lock"]
    assert os.listdir(tmp_path) == []
