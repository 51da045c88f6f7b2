"""Files that appear complete or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file to be written beside `path`, and move it there once it is complete and on the disk.

    An interrupted or failed writing leaves `path` as it was, and nothing beside it.
    """
    target = Path(path).resolve()  # a link stays one
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".interplay-", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())  # as any new file; temporary ones are private
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        # The name of the temporary file would tell nobody anything.
        told = type(error)(f"cannot write {os.fspath(path)!r}: {error.strerror or error}")
        told.errno = error.errno
        raise told from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
