"""A file for one search at a time.

The system holds the lock and releases it when the process ends, however it ends: a killed process leaves an unlocked
``.lock`` file, which stops nobody. Record locks (``lockf``) rather than ``flock``: a forked process must not inherit
the lock of its dead parent, and record locks work across machines on NFS. They do not distinguish the threads of one
process; a set of the files in use does.
"""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

#: Errors of the system where another process has the lock.
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)

#: Windows locks bytes also against reading: the locked byte is far behind the text of the file.
_FAR_BEHIND = 1 << 30

_mutex = threading.Lock()
_held_here: set[tuple[int, str]] = set()


class FileInUseError(Exception):
    """Another search has the file; the message says which."""


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Use a file alone, among all callers of this function; raise FileInUseError where another one uses it.

    Where locks are not available (a folder that cannot be written to, a file system without locks) the block runs
    without one: writing then fails by itself, or is atomic by itself.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "run.ckpt"
    >>> with alone_with(file):
    ...     with alone_with(file):
    ...         pass
    Traceback (most recent call last):
        ...
    interplay.files.lock.FileInUseError: another search in this process
    """
    here = (os.getpid(), os.path.realpath(path))  # a forked process holds nothing of its parent's
    with _mutex:
        if here in _held_here:
            raise FileInUseError("another search in this process")
        _held_here.add(here)
    handle = None
    try:
        lock_file = path.with_name(path.name + ".lock")
        handle = _locked(lock_file)
        yield
    finally:
        if handle is not None:
            _let_go(handle, lock_file)
        with _mutex:
            _held_here.discard(here)


def _locked(lock_file: Path) -> int | None:
    """Return the open and locked file, None where there are no locks."""
    while True:
        try:
            handle = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return None
        try:
            _lock(handle)
            # The holder before may have removed the file between the two steps: then nobody else will find it.
            if _is_still(handle, lock_file):
                with suppress(OSError):  # a full disk has no room for the name, but the lock is there
                    os.ftruncate(handle, 0)
                    os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())
                return handle
        except OSError as error:
            holder = _holder(handle)
            os.close(handle)
            if error.errno in _HELD:
                raise FileInUseError(holder) from None
            return None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _lock(handle: int) -> None:
    if fcntl is not None:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    import msvcrt

    os.lseek(handle, _FAR_BEHIND, os.SEEK_SET)
    msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    os.lseek(handle, 0, os.SEEK_SET)


def _let_go(handle: int, lock_file: Path) -> None:
    if fcntl is not None:
        with suppress(OSError):
            lock_file.unlink()  # while it is held, so that it is ours
        os.close(handle)
    else:
        os.close(handle)
        with suppress(OSError):  # Windows removes no file that is open elsewhere
            lock_file.unlink()


def _is_still(handle: int, lock_file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(lock_file))
    except FileNotFoundError:
        return False


def _holder(handle: int) -> str:
    with suppress(OSError, UnicodeDecodeError):
        os.lseek(handle, 0, os.SEEK_SET)
        if said := os.read(handle, 200).decode():
            return said
    return "another process"
