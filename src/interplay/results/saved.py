"""A Selection, or Interactions, in one file: a zip of a JSON and ``*.npy``, which any tool can read. Never a pickle."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import MaxGains
from interplay.base.checks import check_path
from interplay.codes.cuts import OutcomeCuts, VariableCuts
from interplay.codes.tuple_counts import TupleCounts
from interplay.files.whole_file import whole_file
from interplay.files.zip_content import DAMAGE, ZipContent, open_zip, parse_json, parse_npy
from interplay.results.interactions import Interactions
from interplay.results.loaded import check_loaded
from interplay.results.loaded_interactions import check_interactions
from interplay.results.run import Run
from interplay.results.selection import Selection
from interplay.results.synergy_table import Explanations
from interplay.statistics.arm_p_values import ArmPValues
from interplay.statistics.interaction.covariate_tests import CovariateTests
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.null_fit import NullFit
from interplay.statistics.retest import Retest
from interplay.statistics.survival_curves import SurvivalCurves


class _Format(NamedTuple):
    """How one kind of result is written.

    Attributes
    ----------
    name : str
        By which a file says what it is.
    entry : str
        The JSON file in the zip, and the first part of the names of arrays.
    version : int
    check : callable
        Raises a ValueError if what was read does not hold together.
    in_words : str
    """

    name: str
    entry: str
    version: int
    check: Callable[[Any], None]
    in_words: str


#: By type. Of selections, version 2 added the counts of the best tuples and the tuples that explain; files of version 1
#: are read without them. 3 added the exact p-values of 1D. 4 added the tests of tuples,
#: permutations, second tests, curves of survival and several dimensions in one result.
_FORMATS: dict[type, _Format] = {
    Selection: _Format("interplay selection", "selection", 4, check_loaded, "selection"),
    Interactions: _Format("interplay interactions", "interactions", 1, check_interactions, "list of interactions"),
}
_NESTED: dict[str, type] = {
    "Run": Run,
    "MaxGains": MaxGains,
    "NullFit": NullFit,
    "Selection": Selection,
    "TupleCounts": TupleCounts,
    "Explanations": Explanations,
    "Interactions": Interactions,
    "CovariateTests": CovariateTests,
    "TestedTuples": TestedTuples,
    "VariableCuts": VariableCuts,
    "OutcomeCuts": OutcomeCuts,
    "Retest": Retest,
    "SurvivalCurves": SurvivalCurves,
    "ArmPValues": ArmPValues,
}


def save_result(result: Selection | Interactions, path: str | os.PathLike[str]) -> None:
    """Write a result to `path`, whole or not at all."""
    written_as = _FORMATS[type(result)]
    arrays: dict[str, npt.NDArray[Any]] = {}
    tree = _to_json(result, written_as.entry, arrays)
    document = {"format": written_as.name, "version": written_as.version, "content": tree}
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False).encode("utf-8", "surrogatepass")
    with whole_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{written_as.entry}.json", text)
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def is_saved_interactions(path: str | os.PathLike[str]) -> bool:
    """Say whether a file holds Interactions, as far as its table of contents tells."""
    try:
        with open_zip(path) as archive:
            return archive.has(f"{_FORMATS[Interactions].entry}.json")
    except (OSError, *DAMAGE):
        return False


def load(path: str | os.PathLike[str]) -> Any:
    """Read a result that ``Selection.save`` or ``Interactions.save`` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Selection or Interactions

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
    known = _FORMATS[Selection]
    try:
        with open_zip(path) as archive:
            known = next(form for form in _FORMATS.values() if archive.has(f"{form.entry}.json"))
            document = parse_json(archive.small_bytes(f"{known.entry}.json"))
            if not isinstance(document, dict) or document.get("format") != known.name:
                raise ValueError("another format")
            version = document["version"]
            if version <= known.version:
                result = _from_json(document["content"], archive)
                known.check(result)
                return result
    except (StopIteration, *DAMAGE):
        raise ValueError(f"{shown} is not a saved {known.in_words}, or is damaged: save it again") from None
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
