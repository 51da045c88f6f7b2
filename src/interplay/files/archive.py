"""Numbers and arrays in one file that tells when it is damaged: a zip of JSON and .npy. Never a pickle.

``content.json`` holds the content and the SHA-256 of each array, ``content.sha256`` the SHA-256 of that JSON. So every
byte that matters is vouched for, and any tool can read the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import MaxGains
from interplay.files.types import has_own_types
from interplay.files.whole_file import whole_file
from interplay.files.zip_content import DAMAGE, open_zip, parse_json, parse_npy

Arrays = dict[str, npt.NDArray[Any]]

#: Fast rather than small: a checkpoint is written every minute.
_COMPRESSION_LEVEL = 1


class DamagedFile(ValueError):
    """A file that is not what it should be: cut short, changed, or of another kind."""


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    content: dict[str, Any],
    arrays: Mapping[str, Any],
    *,
    previous: Path | None = None,
) -> None:
    """Write `content` (JSON) and `arrays`, whole or not at all; on disk when this returns.

    A file that is there already becomes `previous`, if that is given.
    """
    stored = {name: _npy(array) for name, array in arrays.items()}
    document = {
        "format": f"interplay {kind}",
        "content": content,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in stored.items()},
    }
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogatepass")
    with (
        whole_file(path, previous=previous) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL) as archive,
    ):
        archive.writestr("content.json", text)
        archive.writestr("content.sha256", hashlib.sha256(text).hexdigest())
        for name, data in stored.items():
            archive.writestr(f"{name}.npy", data)


def read_archive(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], Arrays]:
    """Read what `write_archive` wrote, or raise DamagedFile."""
    with refusing_damage(path, kind), open_zip(path) as archive:
        text = archive.small_bytes("content.json")
        document = parse_json(text)
        if document["format"] != f"interplay {kind}":
            raise ValueError("another format")
        if archive.small_bytes("content.sha256").decode() != hashlib.sha256(text).hexdigest():
            raise ValueError("another checksum")
        arrays = {}
        for name, checksum in document["sha256"].items():
            data = archive.array_bytes(name)
            if hashlib.sha256(data).hexdigest() != checksum:
                raise ValueError("another checksum")
            arrays[name] = parse_npy(data)
        if not isinstance(document["content"], dict):
            raise TypeError("another content")
        return document["content"], arrays


@contextmanager
def refusing_damage(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Turn whatever is wrong with the content of a file into a DamagedFile that names it."""
    try:
        yield
    except DAMAGE:
        raise DamagedFile(f"{os.fspath(path)!r} is not a {kind} of interplay, or is damaged") from None


def gains_as_arrays(gains: MaxGains, name: str) -> Arrays:
    """Return the arrays of `gains` under names that start with `name`."""
    return {f"{name}.{f.name}": np.asarray(getattr(gains, f.name)) for f in fields(gains)}


def gains_from_arrays(arrays: Arrays, name: str) -> MaxGains:
    """Return what `gains_as_arrays` took apart."""
    parts: dict[str, Any] = {f.name: arrays[f"{name}.{f.name}"] for f in fields(MaxGains)}
    gains = MaxGains(**parts | {"n_vars": int(parts["n_vars"])})
    if not (has_own_types(gains) and gains.is_consistent()):
        raise ValueError("arrays that do not belong together")
    return gains


def as_json(value: Any) -> Any:
    """Return `value` as it reads after a way through JSON; what JSON does not know becomes text."""
    return json.loads(json.dumps(value, default=str))


def _npy(array: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()
