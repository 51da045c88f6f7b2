"""A Selection in one file: a zip of ``selection.json`` and ``*.npy``, which any tool can read. Never a pickle."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
import zlib
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.arrays import MaxGains
from interplay.result import Run, Selection
from interplay.steps.null_fit import NullFit
from interplay.steps.tuple_counts import TupleCounts
from interplay.synergy_table import Explanations
from interplay.whole_file import whole_file

_FORMAT = "interplay selection"
#: 2 added the counts of the best tuples and the tuples that explain; files of version 1 are read without them.
_VERSION = 2
_NESTED: dict[str, type] = {
    "Run": Run,
    "MaxGains": MaxGains,
    "NullFit": NullFit,
    "Selection": Selection,
    "TupleCounts": TupleCounts,
    "Explanations": Explanations,
}


def save_selection(selection: Selection, path: str | os.PathLike[str]) -> None:
    """Write `selection` to `path`, whole or not at all."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    tree = _to_json(selection, "selection", arrays)
    document = {"format": _FORMAT, "version": _VERSION, "content": tree}
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("selection.json", json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False))
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
    shown = repr(os.fspath(path))
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("selection.json"))
            if not isinstance(document, dict) or document.get("format") != _FORMAT:
                raise ValueError("another format")
            if document["version"] <= _VERSION:
                selection: Selection = _from_json(document["content"], archive)
                _check_shapes(selection)
                return selection
    # Damage shows in many ways; all of them mean the same to the reader.
    except (
        zipfile.BadZipFile, zlib.error, EOFError, RecursionError, NotImplementedError,
        AttributeError, IndexError, KeyError, TypeError, ValueError,
    ):  # fmt: skip
        raise ValueError(f"{shown} is not a saved selection, or is damaged: save it again") from None
    raise ValueError(f"{shown} was saved by a newer interplay (format {document['version']}): upgrade to read it")


def _check_shapes(selection: Selection) -> None:
    n_vars = len(selection.names)
    per_variable = (selection.log_p, selection.p_value, selection.p_adjusted, selection.is_relevant)
    shapes = [array.shape for array in per_variable] + [run.gains.gain.shape for run in selection.runs]
    if any(shape != (n_vars,) for shape in shapes):
        raise ValueError("arrays of the wrong length")


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


def _from_json(value: Any, archive: zipfile.ZipFile) -> Any:
    if isinstance(value, list):
        return [_from_json(entry, archive) for entry in value]
    if not isinstance(value, dict):
        return value
    if "type" in value:
        entries = {key: _from_json(entry, archive) for key, entry in value.items() if key != "type"}
        return _NESTED[value["type"]](**entries)
    if "array" in value:
        return np.load(io.BytesIO(archive.read(f"{value['array']}.npy")), allow_pickle=False)
    if "tuple" in value:
        return tuple(_from_json(entry, archive) for entry in value["tuple"])
    if "dict" in value:
        return {key: _from_json(entry, archive) for key, entry in value["dict"].items()}
    return float(value["float"])
