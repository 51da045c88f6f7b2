"""A dataclass in one file that tells when it is damaged: a zip of JSON and .npy. Never a pickle.

``content.json`` holds the content and the SHA-256 of each array, ``content.sha256`` the SHA-256 of that JSON. So every
byte that matters is vouched for, and any tool can read the file.

Dataclasses, lists, dicts, numbers and arrays ↔ a tree for JSON, and the arrays by name.

The tree holds nothing that could be executed: a dataclass is given by its name, one of the names that the reader knows.
JSON has fewer types than Python; a dict with one of these keys stands for the others::

    {"type": "Shard", "number": 1, "of": 3}    a dataclass     {"array": "runs.0.gains"}             an array
    {"tuple": [1, 2]}                          a tuple         {"bits": "done", "shape": [1000]}     an array of bools
    {"dict": {"level": 0.05}}                  a dict          {"float": "nan"}                      NaN or an infinity

The entries of a zip file that may come from anywhere: read within bounds, and nothing in them is executed.

A few bytes of zip can stand for gigabytes, a header of .npy for an array larger than any memory, an array of objects
for a pickle. All of these are refused before they are unpacked.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from interplay.files.types import fits, have_types, written_fields
from interplay.files.whole_file import is_special, whole_file

#: Fast rather than small: a checkpoint is written every minute.
_COMPRESSION_LEVEL = 1

#: Results of version 0.2 have a JSON of these names; its other files say no version.
_NAMES_OF_0_2 = ("selection", "interactions")


@dataclass(frozen=True)
class FileFormat:
    """How one kind of dataclass is written."""

    #: Kind of content, as the file states it.
    name: str
    #: One more whenever files of the version before cannot be read any longer.
    version: int
    #: The dataclass.
    root: type
    #: The dataclasses that may be in it.
    types: tuple[type, ...]
    #: The file in messages.
    in_words: str
    #: Advice on a damaged file, at the end of a message.
    advice: str
    #: Says whether the content is consistent, beyond the annotations of its fields.
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


Arrays = dict[str, npt.NDArray[Any]]

#: Kinds of numpy dtypes: integers and floats.
_NUMBERS = "iuf"


def encode(value: Any, types: Iterable[type]) -> tuple[Any, Arrays]:
    """Return a tree for JSON and the arrays in it, by name; `types` are the dataclasses that there may be."""
    encoder = _Encoder(types)
    return encoder.tree(value, ""), encoder.arrays


def decode(tree: Any, arrays: Mapping[str, npt.NDArray[Any]], types: Iterable[type]) -> Any:
    """Return the value that `encode` made a tree of; a tree that it cannot have made raises one of many exceptions.

    Examples
    --------
    >>> decode(*encode({"shape": (2, 3), "p": np.zeros(2)}, ()), ())
    {'shape': (2, 3), 'p': array([0., 0.])}
    """
    return _Decoder(arrays, types).value(tree)


class _Encoder:
    def __init__(self, types: Iterable[type]) -> None:
        self._types = frozenset(types)
        self._name_of: dict[int, str] = {}
        self.arrays: Arrays = {}

    def tree(self, value: Any, path: str) -> Any:
        if type(value) in self._types:
            of_fields = {name: getattr(value, name) for name in written_fields(value)}
            return {"type": type(value).__name__, **self._entries(of_fields, path)}
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if isinstance(value, dict):
            return {"dict": self._entries(value, path)}
        if isinstance(value, list | tuple):
            listed = list(self._entries({str(i): entry for i, entry in enumerate(value)}, path).values())
            return {"tuple": listed} if isinstance(value, tuple) else listed
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": repr(value)}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise TypeError(f"a file cannot hold {type(value).__name__} ({path})")

    def _entries(self, values: dict[Any, Any], path: str) -> dict[str, Any]:
        if not all(isinstance(key, str) for key in values):
            raise TypeError(f"a file cannot hold keys that are no text ({path})")
        return {key: self.tree(value, f"{path}.{key}" if path else key) for key, value in values.items()}

    def _array(self, array: npt.NDArray[Any], path: str) -> Any:
        if array.dtype.kind not in "b" + _NUMBERS:
            raise TypeError(f"a file cannot hold an array of {array.dtype} ({path})")
        name = self._name_of.setdefault(id(array), path)  # one array in two places is written once
        if name == path:
            self.arrays[path] = np.packbits(array) if array.dtype == np.bool_ else array
        return {"bits": name, "shape": list(array.shape)} if array.dtype == np.bool_ else {"array": name}


class _Decoder:
    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]], types: Iterable[type]) -> None:
        self._arrays = arrays
        self._types = {kind.__name__: kind for kind in types}

    def value(self, tree: Any) -> Any:
        if isinstance(tree, list):
            return [self.value(entry) for entry in tree]
        if not isinstance(tree, dict):
            return tree
        if "type" in tree:
            return self._dataclass(**tree)
        match list(tree.items()):
            case [("array", name)]:
                return self._arrays[name]
            case [("bits", name), ("shape", shape)]:
                return _unpacked(self._arrays[name], shape)
            case [("tuple", list(entries))]:
                return tuple(self.value(entries))
            case [("dict", dict(entries))]:
                return {key: self.value(entry) for key, entry in entries.items()}
            case [("float", str(text))]:
                return float(text)
        raise ValueError("no such type")

    def _dataclass(self, type: str, **entries: Any) -> Any:
        kind = self._types[type]
        if entries.keys() != set(written_fields(kind)):
            raise ValueError("other fields")
        return kind(**{name: self.value(entry) for name, entry in entries.items()})


def _unpacked(packed: npt.NDArray[Any], shape: list[int]) -> npt.NDArray[np.bool_]:
    n_bits = math.prod(shape)
    if packed.dtype != np.uint8 or packed.shape != (-(-n_bits // 8),):  # else bits would be made up
        raise ValueError("another number of bits")
    return np.unpackbits(packed, count=n_bits).astype(bool).reshape(shape)


#: Limits of the memory of all arrays together: bytes, and multiples of the size of the file; the larger one holds.
ARRAY_LIMITS = (1 << 26, 20)

#: The same limits of a JSON text, whose objects take up to 30 times its memory.
JSON_LIMITS = (1 << 21, 2)

#: Damage shows in many ways; all of them mean the same to the reader. SystemError is Python 3.12's tokenizer's, of some
#: headers of .npy files.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, RecursionError, NotImplementedError, RuntimeError, SystemError,
    ArithmeticError, AttributeError, LookupError, TypeError, ValueError, SyntaxError, tokenize.TokenError,
)  # fmt: skip


class ZipContent:
    """The entries of an open zip file. Faults of the file are a ValueError, or one of `DAMAGE`."""

    def __init__(self, archive: zipfile.ZipFile, file_bytes: int) -> None:
        self._archive = archive
        self._json_limit, self._bytes_left = (
            max(least, ratio * file_bytes) for least, ratio in (JSON_LIMITS, ARRAY_LIMITS)
        )
        entries = archive.infolist()
        if len({entry.filename for entry in entries}) < len(entries):
            raise ValueError("two entries of one name")  # which of them is meant?
        if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
            raise ValueError("another compression")
        if sum(entry.file_size for entry in entries if entry.filename.endswith(".npy")) > self._bytes_left:
            raise ValueError("unpacks to too much")

    def has(self, name: str) -> bool:
        """Say whether there is an entry of that name."""
        return name in self._archive.NameToInfo

    def small_bytes(self, name: str) -> bytes:
        """Return a small entry, such as JSON or a checksum."""
        return self._read(name, self._json_limit)

    def array_bytes(self, name: str) -> bytes:
        """Return the entry ``name.npy``."""
        content = self._read(f"{name}.npy", self._bytes_left)
        self.spend(len(content))
        return content

    def spend(self, n_bytes: int) -> None:
        """Count memory against the limit of all arrays."""
        self._bytes_left -= n_bytes
        if self._bytes_left < 0:
            raise ValueError("unpacks to too much")

    def _read(self, name: str, limit: int) -> bytes:
        size = self._archive.getinfo(name).file_size
        if size > limit:
            raise ValueError("unpacks to too much")
        # Not archive.read(), which unpacks everything before it compares the size with that in the zip's directory.
        with self._archive.open(name) as entry:
            return entry.read(size)


@contextmanager
def open_zip(path: str | os.PathLike[str]) -> Iterator[ZipContent]:
    """Open a zip file for reading."""
    if is_special(Path(path)):  # nobody may ever write to it
        raise OSError(errno.EINVAL, "it is a pipe or device: name a file", os.fspath(path))
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            yield ZipContent(archive, os.fstat(file.fileno()).st_size)
    except OSError as error:
        if error.filename is not None:
            raise
        raise ValueError("a place outside the file") from None  # where its directory points to


def least_file_bytes(json_bytes: int, array_bytes: int) -> int:
    """Return how large a file must be for its content to be within the bounds."""
    needed = ((json_bytes, JSON_LIMITS), (array_bytes, ARRAY_LIMITS))
    return max(math.ceil(size / ratio) if size > least else 0 for size, (least, ratio) in needed)


def parse_json(text: bytes) -> Any:
    """Return the value of a JSON text; NaN and infinities, which JSON lacks, are refused."""
    return json.loads(text, parse_constant=_refuse_constant)


def parse_npy(data: bytes) -> npt.NDArray[Any]:
    """Return the array of an .npy file, if it holds plain numbers and is as large as its header says."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("another version of .npy")
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(stream)
    if dtype.kind not in "biuf":
        raise ValueError("an array of something else than numbers")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ValueError("an array of another size than its header says")
    stream.seek(0)
    array: npt.NDArray[Any] = np.load(stream, allow_pickle=False)
    return array


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} in JSON")
