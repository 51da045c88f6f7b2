"""A Selection in one file: a zip of ``selection.json`` and ``*.npy``, which any tool can read. Never a pickle."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.arrays import MaxGains
from interplay.checks import check_path
from interplay.results.arms import ArmPValues
from interplay.results.loaded import check_loaded
from interplay.results.selection import Run, Selection
from interplay.results.synergy_table import Explanations
from interplay.statistics.null_fit import NullFit
from interplay.steps.tuple_counts import TupleCounts
from interplay.stored.whole_file import whole_file
from interplay.stored.zip_content import DAMAGE, ZipContent, open_zip, parse_json, parse_npy

_FORMAT = "interplay selection"
#: 2 added the counts of the best tuples and the tuples that explain; files of version 1 are read without them. 3 added
#: the exact p-values of 1D, 4 several dimensions in one result.
_VERSION = 4
_NESTED: dict[str, type] = {
    "Run": Run,
    "MaxGains": MaxGains,
    "NullFit": NullFit,
    "Selection": Selection,
    "TupleCounts": TupleCounts,
    "Explanations": Explanations,
    "ArmPValues": ArmPValues,
}


def save_selection(selection: Selection, path: str | os.PathLike[str]) -> None:
    """Write `selection` to `path`, whole or not at all."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    tree = _to_json(selection, "selection", arrays)
    document = {"format": _FORMAT, "version": _VERSION, "content": tree}
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogatepass")
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("selection.json", text)
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def load(path: str | os.PathLike[str]) -> Selection:
    """Read a Selection that ``Selection.save`` wrote.

    Examples
    --------
    >>> import interplay, tempfile, pathlib
    >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=30, random_state=1)
    >>> result = interplay.select(X, y, dimensions=1)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.interplay"
    >>> result.save(file)
    >>> interplay.load(file).relevant == result.relevant
    True
    """
    shown = repr(check_path("path", path))
    try:
        with open_zip(path) as archive:
            document = parse_json(archive.small_bytes("selection.json"))
            if not isinstance(document, dict) or document.get("format") != _FORMAT:
                raise ValueError("another format")
            version = document["version"]
            if version <= _VERSION:
                selection: Selection = _from_json(document["content"], archive)
                check_loaded(selection)
                return selection
    except DAMAGE:
        raise ValueError(f"{shown} is not a saved selection, or is damaged: save it again") from None
    raise ValueError(f"{shown} was saved by a newer interplay (format {version}): upgrade to read it")


def _to_json(value: Any, path: str, arrays: dict[str, npt.NDArray[Any]]) -> Any:
    kind = type(value).__name__
    if kind in _NESTED:
        return {"type": kind} | {
            f.name: _to_json(getattr(value, f.name), f"{path}.{f.name}", arrays) for f in fields(value)
        }
    if isinstance(value, np.ndarray):
        arrays[path] = value
        return {"array": path}
    if isinstance(value, dict):
        return {"dict": {key: _to_json(entry, f"{path}.{key}", arrays) for key, entry in value.items()}}
    if isinstance(value, list | tuple):
        entries = [_to_json(entry, f"{path}.{i}", arrays) for i, entry in enumerate(value)]
        return {"tuple": entries} if isinstance(value, tuple) else entries
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}  # JSON has no NaN and no infinities
    return value


def _from_json(value: Any, archive: ZipContent) -> Any:
    if isinstance(value, list):
        return [_from_json(entry, archive) for entry in value]
    if not isinstance(value, dict):
        return value
    if "type" in value:
        entries = {key: _from_json(entry, archive) for key, entry in value.items() if key != "type"}
        return _NESTED[value["type"]](**entries)
    if "array" in value:
        return parse_npy(archive.array_bytes(value["array"]))
    if "tuple" in value:
        return tuple(_from_json(entry, archive) for entry in value["tuple"])
    if "dict" in value:
        return {key: _from_json(entry, archive) for key, entry in value["dict"].items()}
    return float(value["float"])
