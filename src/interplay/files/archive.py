"""A dataclass in one file that tells when it is damaged: a zip of JSON and .npy. Never a pickle.

``content.json`` holds the content and the SHA-256 of each array, ``content.sha256`` the SHA-256 of that JSON. So every
byte that matters is vouched for, and any tool can read the file.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.files.codec import decode, encode
from interplay.files.types import fits, have_types
from interplay.files.whole_file import whole_file
from interplay.files.zip_content import DAMAGE, ZipContent, least_file_bytes, open_zip, parse_json, parse_npy

#: Fast rather than small: a checkpoint is written every minute.
_COMPRESSION_LEVEL = 1

#: Results of version 0.2 have a JSON of these names; its other files say no version.
_NAMES_OF_0_2 = ("selection", "interactions")


@dataclass(frozen=True)
class FileFormat:
    """How one kind of dataclass is written.

    Attributes
    ----------
    name : str
        Kind of content, as the file states it.
    version : int
        One more whenever files of the version before cannot be read any longer.
    root : type
        The dataclass.
    types : tuple of type
        The dataclasses that may be in it.
    in_words : str
        The file in messages.
    advice : str
        Advice on a damaged file, at the end of a message.
    check : callable, optional
        Says whether the content is consistent, beyond the annotations of its fields.
    """

    name: str
    version: int
    root: type
    types: tuple[type, ...]
    in_words: str
    advice: str
    check: Callable[[Any], bool] | None = None


class DamagedFile(ValueError):
    """A file that cannot be read as its format: cut short, changed, or of another kind."""


def write_archive(
    path: str | os.PathLike[str], form: FileFormat, content: Any, *, previous: Path | None = None
) -> None:
    """Write a dataclass, whole or not at all; on disk when this returns.

    A file that is there already becomes `previous`, if that is given.
    """
    tree, arrays = encode(content, (form.root, *form.types))
    stored = {name: _npy(array) for name, array in arrays.items()}
    document = {
        "format": f"interplay {form.name}",
        "version": form.version,
        "content": tree,
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
        # Constant arrays, of a search that has hardly begun, pack so well that the reader would refuse the file.
        n_bytes = sum(len(data) + _bytes_of_bits(arrays[name]) for name, data in stored.items())
        if (lacking := least_file_bytes(len(text), n_bytes) - file.tell()) > 0:
            archive.writestr("padding", bytes(lacking), zipfile.ZIP_STORED)


def read_archive(path: str | os.PathLike[str], *forms: FileFormat) -> Any:
    """Read a file that `write_archive` wrote in one of these formats, or raise a ValueError."""
    try:
        return read_undamaged(path, *forms)
    except DamagedFile as error:
        raise ValueError(str(error)) from None


def read_undamaged(path: str | os.PathLike[str], *forms: FileFormat) -> Any:
    """Read a file as `read_archive` does, but raise DamagedFile where the file is at fault rather than its version."""
    form, shown = forms[0], repr(os.fspath(path))
    try:
        with open_zip(path) as archive:
            text, document = _document(archive)
            form = next(each for each in forms if document["format"] == f"interplay {each.name}")
            if document["version"] == form.version:
                return _content(archive, text, document, form)
    except (StopIteration, *DAMAGE):
        raise DamagedFile(f"{shown} is not a {form.in_words}, or is damaged{form.advice}") from None
    if document["version"] < form.version:
        raise ValueError(f"{shown} was saved by interplay 0.2 or earlier: run it again")
    raise ValueError(f"{shown} was saved by a newer interplay (format {document['version']}): upgrade to read it")


def is_archive_of(path: str | os.PathLike[str], form: FileFormat) -> bool:
    """Say whether a file is of a format, as far as it says so itself."""
    try:
        with open_zip(path) as archive:
            return bool(_document(archive)[1]["format"] == f"interplay {form.name}")
    except (OSError, *DAMAGE):
        return False


def _document(archive: ZipContent) -> tuple[bytes, dict[str, Any]]:
    """Return the JSON of a file, as bytes and parsed; of its entries, only format and version are checked."""
    for name in _NAMES_OF_0_2:
        if archive.has(f"{name}.json"):
            return b"", {"format": f"interplay {name}", "version": 0}
    text = archive.small_bytes("content.json")
    document = {"version": 0} | parse_json(text)
    if not have_types(document, {"format": str, "version": int}):
        raise TypeError("another document")
    return text, document


def _content(archive: ZipContent, text: bytes, document: dict[str, Any], form: FileFormat) -> Any:
    if archive.small_bytes("content.sha256").decode() != hashlib.sha256(text).hexdigest():
        raise ValueError("another checksum")
    arrays = {name: _array(archive, name, checksum) for name, checksum in document["sha256"].items()}
    content = decode(document["content"], arrays, (form.root, *form.types))
    if not (fits(content, form.root) and (form.check is None or form.check(content))):
        raise ValueError("another content")
    return content


def _npy(array: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _array(archive: ZipContent, name: str, checksum: str) -> npt.NDArray[Any]:
    data = archive.array_bytes(name)
    if hashlib.sha256(data).hexdigest() != checksum:
        raise ValueError("another checksum")
    array = parse_npy(data)
    archive.spend(_bytes_of_bits(array))
    return array


def _bytes_of_bits(array: npt.NDArray[Any]) -> int:
    """Return the memory of an array of bools beyond its packed bits, which alone are stored as bytes."""
    return 7 * array.nbytes if array.dtype == np.uint8 else 0
