"""Dataclasses, lists, dicts, numbers and arrays ↔ a tree for JSON, and the arrays by name.

The tree holds nothing that could be executed: a dataclass is given by its name, one of the names that the reader knows.
JSON has fewer types than Python; a dict with one of these keys stands for the others::

    {"type": "Shard", "number": 1, "of": 3}    a dataclass     {"array": "runs.0.gains"}             an array
    {"tuple": [1, 2]}                          a tuple         {"bits": "done", "shape": [1000]}     an array of bools
    {"dict": {"level": 0.05}}                  a dict          {"float": "nan"}                      NaN or an infinity
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

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
            of_fields = {field.name: getattr(value, field.name) for field in fields(value)}
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
        if entries.keys() != {field.name for field in fields(kind)}:
            raise ValueError("other fields")
        return kind(**{name: self.value(entry) for name, entry in entries.items()})


def _unpacked(packed: npt.NDArray[Any], shape: list[int]) -> npt.NDArray[np.bool_]:
    n_bits = math.prod(shape)
    if packed.dtype != np.uint8 or packed.shape != (-(-n_bits // 8),):  # else bits would be made up
        raise ValueError("another number of bits")
    return np.unpackbits(packed, count=n_bits).astype(bool).reshape(shape)
