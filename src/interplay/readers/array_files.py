"""NumPy's .npy and .npz files → a table and its outcome."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.checks import shown
from interplay.data.study.table import as_table
from interplay.readers.target_column import TableAndOutcome, listed, meant


def read_arrays(path: str | os.PathLike[str], target: str | None, drop: list[str]) -> TableAndOutcome:
    """Read the array of variables, and the outcome: another array, or one of its columns."""
    arrays = _load_arrays(path)
    key: str | None = next((name for name in ("X", "x", "data") if name in arrays), None)
    labels = [name for name in arrays if name != key and name != "names"]
    if key is None:
        key = next(iter(arrays)) if len(arrays) == 1 else None
        labels = []
    if key is None:
        raise ValueError(f"{os.fspath(path)!r} must hold an array named X; it holds {listed(list(arrays))}")
    X: npt.NDArray[Any] = arrays[key]
    if X.ndim != 2:
        raise ValueError(f"{os.fspath(path)!r} must hold a two-dimensional array (samples by variables), not {X.ndim}D")
    table = as_table(X, names=arrays.get("names"))
    y: Any = None
    keep = np.ones(table.n_vars, dtype=bool)
    if target is None or target in labels:
        name = target if target is not None else next((name for name in ("y", "Y") if name in labels), None)
        if name is None:
            raise ValueError(
                "target is needed: give the number of the column with the outcome, from 0, or -1 for the last"
            )
        y = arrays[name]
    else:
        number = _column_number(target, table.names, labels)
        y = X[:, number]
        keep[number] = False
    for entry in drop:
        keep[_column_number(entry, table.names, [])] = False
    if not keep.all():
        table = as_table(X[:, keep], names=[name for name, kept in zip(table.names, keep, strict=True) if kept])
    return table, y


def _load_arrays(path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an .npz by name; the array of an .npy is named X."""
    file_name = repr(os.fspath(path))
    try:
        with open(path, "rb") as file:
            loaded = np.load(file, allow_pickle=False)
            return {"X": loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    except OSError as error:
        if error.errno is not None:
            raise
    except ValueError as error:
        if "Object arrays" in str(error):
            raise ValueError(f"{file_name} holds Python objects: save numbers, or text as a str array") from None
    except Exception as error:  # a damaged file raises errors of many types
        raise ValueError(f"{file_name} is not a numpy file, or is damaged: {type(error).__name__}") from None
    raise ValueError(f"{file_name} is not a numpy file, or is damaged")


def _column_number(column: str, names: list[str], labels: list[str]) -> int:
    if column in names:
        return names.index(column)
    try:
        number = int(column)
    except ValueError:
        known = meant(column, labels + names)
        raise ValueError(f"there is no column {shown(column)}: give its number from 0 ({known})") from None
    if not -len(names) <= number < len(names):
        raise ValueError(f"there is no column {number}: there are {len(names)}, from 0, or from the end by −1, −2, …")
    return number % len(names)
