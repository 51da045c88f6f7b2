"""A .zip file with one table in it: unpacked for as long as the table is read."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from interplay.base.checks import shown

#: Largest size of an unpacked table, in bytes, or as a multiple of the size of the file if that is more.
_MAX_BYTES = 1 << 30
_MAX_RATIO = 100


@contextmanager
def unpacked(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Unpack the only table of a zip file into a folder that is removed afterwards."""
    name = repr(os.fspath(path))
    with tempfile.TemporaryDirectory(prefix="interplay-") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                entry = _only_entry(archive, name)
                target = Path(folder) / PurePosixPath(entry.filename).name
                limit = max(_MAX_BYTES, _MAX_RATIO * os.path.getsize(path))
                if entry.file_size > limit:
                    raise ValueError(
                        f"{name} unpacks to {entry.file_size / 2**20:,.0f} MiB, more than {_MAX_RATIO} times its size: "
                        "unpack it yourself if you trust it"
                    )
                with archive.open(entry) as packed, target.open("wb") as file:
                    shutil.copyfileobj(packed, file, 1 << 20)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise ValueError(f"{name} is not a zip file, or is damaged: {error}") from None
        except RuntimeError:
            raise ValueError(f"{name} is protected by a password: unpack it yourself") from None
        try:
            yield target
        except ValueError as error:  # messages name the place of the table in the zip file
            inside = os.path.join(os.fspath(path), target.name)
            raise type(error)(str(error).replace(os.fspath(target), inside)) from None


def _only_entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the only entry, without the files that operating systems add."""
    entries = [
        entry
        for entry in archive.infolist()
        if not entry.is_dir()
        and not entry.filename.startswith("__MACOSX/")
        and PurePosixPath(entry.filename).name not in (".DS_Store", "Thumbs.db", "desktop.ini")
    ]
    if len(entries) != 1:
        listed = ", ".join(shown(entry.filename) for entry in entries[:4]) + (", …" if len(entries) > 4 else "")
        what = f"{len(entries)} files ({listed})" if entries else "no file"
        raise ValueError(f"{name} must hold one table, and it holds {what}: unpack it, and name the table")
    return entries[0]
