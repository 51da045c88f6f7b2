"""Files that appear complete or not at all; a file for one search at a time.

A file for one search at a time.

The system holds the lock and releases it when the process ends, however it ends: a killed process leaves an unlocked
``.lock`` file, which stops nobody. Record locks (``lockf``) rather than ``flock``: a forked process must not inherit
the lock of its dead parent, and record locks work across machines on NFS. They do not distinguish the threads of one
process; a set of the files in use does.
"""

from __future__ import annotations

import errno
import os
import socket
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from interplay.base.checks import check_path


def real_path(path: str | os.PathLike[str]) -> Path:
    """Return the file that a name leads to: a link stays a link, and its target is written."""
    return Path(os.path.realpath(path))


@contextmanager
def whole_path(path: str | os.PathLike[str], *, previous: Path | None = None) -> Iterator[Path]:
    """Yield a temporary name beside `path`; when the block ends without an error, that file replaces `path`.

    An existing file is replaced at that moment and not before, and is kept as `previous` if that is given. After an
    error it is unchanged, and the temporary file is removed. The content has reached the disk before it gets its name.
    Devices and pipes cannot be replaced: they are written to directly.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with whole_path(file) as unfinished:
    ...     _ = unfinished.write_text("42")
    ...     file.exists()
    False
    >>> file.read_text()
    '42'
    """
    target = real_path(check_path("path", path))
    if is_special(target):
        yield target
        return
    with naming(path):
        check_writable(path)
        # The ending stays, for writers that look at it.
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".interplay-", suffix=f".part{target.suffix}")
        os.close(handle)
    unfinished = Path(name)
    try:
        with naming(path):
            yield unfinished
            put_in_place(unfinished, target, previous=previous)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def whole_file(path: str | os.PathLike[str], *, previous: Path | None = None) -> Iterator[IO[bytes]]:
    """Open `path` for writing bytes, to appear complete or not at all; see `whole_path`."""
    with whole_path(path, previous=previous) as unfinished, naming(path), open(unfinished, "wb") as file:
        yield file


def put_in_place(unfinished: Path, target: Path, *, previous: Path | None = None) -> None:
    """Replace `target` by a finished file, with its owner and permissions; the old file becomes `previous`."""
    with open(unfinished, "rb+") as file:
        os.fsync(file.fileno())
    _make_like(unfinished, [target] if previous is None else [target, previous])
    if previous is not None:
        # Between the two moves only the previous file is there.
        with suppress(FileNotFoundError):
            os.replace(target, previous)
    os.replace(unfinished, target)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the OSError that writing `path` would end in, as far as it can be known before.

    For a long search, the time to learn about a wrong folder is at its start.
    """
    target = real_path(check_path("path", path))
    with naming(path):
        if is_special(target):
            return
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder: name a file")
        if not target.parent.is_dir():
            raise FileNotFoundError(2, f"there is no folder {os.fspath(target.parent)!r}: make it first")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(13, "it exists and is read-only")
        # Rights depend on more than the mode; a try tells.
        with tempfile.TemporaryFile(dir=target.parent):
            pass


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors name the file that the user asked for, not the temporary one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.strerror is None:  # the message names the file already
            raise
        told = type(error)(f"cannot write {os.fspath(path)!r}: {error.strerror}")
        told.errno = error.errno
        raise told from None


def is_special(target: Path) -> bool:
    """Say whether something other than a file or folder is there: a device, a pipe."""
    try:
        mode = target.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _make_like(new: Path, files: Iterable[Path]) -> None:
    """Give a file the owner and permissions of the first of `files` that exists, or else those of a new file."""
    for file in files:
        try:
            before = file.stat()
        except FileNotFoundError:
            continue
        if hasattr(os, "chown"):
            with suppress(PermissionError):  # only root may give files away; a group of one's own may be had
                os.chown(new, before.st_uid, before.st_gid)
        os.chmod(new, stat.S_IMODE(before.st_mode))
        return
    os.chmod(new, _mode_of_a_new_file(new))  # temporary files are private


def _mode_of_a_new_file(beside: Path) -> int:
    """Return the permissions that the system gives to a new file in the folder of another.

    `os.umask` reads the mask of permissions only by setting it, and it is the mask of the whole process: a file that
    another thread makes meanwhile, in this package or not, would be open to everybody. A file made for a moment shows
    the same permissions, and those that the folder adds.
    """
    if os.name == "nt":  # there are no such permissions
        return 0o666
    trial = beside.with_name(f"{beside.name}.mode")
    handle = os.open(trial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        return stat.S_IMODE(os.fstat(handle).st_mode)
    finally:
        os.close(handle)
        trial.unlink()


def one_line(error: OSError) -> str:
    """Return an error as text, with its file and reason, without its number.

    Examples
    --------
    >>> one_line(FileNotFoundError(2, "No such file or directory", "data.csv"))
    "'data.csv': No such file or directory"
    """
    if error.strerror is None:
        return " ".join(str(error).split())
    reason: Any = error.strerror
    return f"{error.filename!r}: {reason}" if error.filename is not None else str(reason)


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
    interplay.files.whole_file.FileInUseError: another search in this process
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
