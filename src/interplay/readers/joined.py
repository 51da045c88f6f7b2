"""A table and a second file with the outcome of each sample, joined by the names of the samples."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import shown
from interplay.base.user_warnings import warn
from interplay.data.study.subsets import ColumnSubset, RowSubset
from interplay.data.study.table import Table, as_table
from interplay.readers.header import id_column
from interplay.readers.target_column import meant

if TYPE_CHECKING:
    import pandas as pd


def with_traits(data: Any, path: Any, traits: pd.DataFrame, traits_path: Any, *, sample_id: str | None) -> Table:
    """Return the samples of `data` that `traits` has too; columns of `traits` become `sample_columns`.

    Parameters
    ----------
    data : DataFrame or Table
    path : path
        The file of `data`.
    traits : DataFrame
    traits_path : path
    sample_id : str, optional
        The column with the names of the samples, in both files or in the one that has it. By default they are the row
        names of a file, or its first column.
    """
    import pandas as pd

    ids, table = _table_ids(data, path, sample_id)
    trait_ids, columns = _frame_ids(traits, traits_path, sample_id)
    for file, names in ((path, ids), (traits_path, trait_ids)):
        repeated = pd.Index(names)[pd.Index(names).duplicated()]
        if len(repeated):
            raise ValueError(
                f"{os.fspath(file)!r} has more than one sample {shown(repeated[0])}: give sample_id, the column with "
                "the names of the samples, or give each sample a name of its own"
            )
    place_of = {name: place for place, name in enumerate(trait_ids)}
    rows = np.array([row for row, name in enumerate(ids) if name in place_of], dtype=np.int64)
    if not len(rows):
        raise ValueError(
            f"{os.fspath(path)!r} and {os.fspath(traits_path)!r} have no sample in common ({_first(ids)} in the one, "
            f"{_first(trait_ids)} in the other): give sample_id, the column with the names of the samples, or use "
            "transpose=True if samples are columns"
        )
    _warn_of_others(ids, rows, trait_ids, path, traits_path)
    known = [ids[row] for row in rows]
    found = columns.iloc[[place_of[name] for name in known]]
    table.index = pd.Index(ids, name="sample")
    joined: Table = table if len(rows) == table.n_samples else RowSubset(table, rows)
    joined.samples_left_out = table.n_samples - len(rows)
    joined.sample_columns = {str(name): found[name].reset_index(drop=True) for name in found.columns}
    return joined


def _table_ids(data: Any, path: Any, sample_id: str | None) -> tuple[list[str], Table]:
    """Return the names of the samples, and the table without the column that holds them."""
    if not isinstance(data, Table):
        if data.index.name == "sample":  # a transposed table, whose samples were columns
            return [_text(name) for name in data.index], as_table(data)
        ids, frame = _frame_ids(data, path, sample_id)
        return ids, as_table(frame.reset_index(drop=True))
    names = data.sample_names
    if names is not None and (sample_id is None or sample_id not in data.names):
        return [_text(name) for name in names], data
    if sample_id is None:
        raise ValueError(f"sample_id is needed: the column of {os.fspath(path)!r} with the names of the samples")
    if sample_id not in data.names:
        raise ValueError(f"{os.fspath(path)!r} has no column {shown(sample_id)}: {meant(sample_id, data.names)}")
    number = data.names.index(sample_id)
    column = data.column(number)
    values = column.read().tolist()
    ids = [_text(value if column.levels is None else column.levels[int(value)]) for value in values]
    return ids, ColumnSubset(data, np.setdiff1d(np.arange(data.n_vars), [number]))


def _frame_ids(frame: pd.DataFrame, path: Any, sample_id: str | None) -> tuple[list[str], pd.DataFrame]:
    """Return the names of the samples, and the frame without their column."""
    name = id_column(frame.columns.tolist(), sample_id)
    column = frame[name]
    is_missing = (column.isna() | (column == "")).to_numpy()
    if is_missing.any():
        counted = "row" if frame.index.name is None else frame.index.name
        first = f"{counted} {frame.index[int(is_missing.argmax())]}"
        raise ValueError(
            f"{os.fspath(path)!r}, column {shown(str(name))}: a sample has no name ({first}): name it, or give "
            "sample_id, the column with the names of the samples"
        )
    return [_text(value) for value in column], frame.drop(columns=[name])


def _text(name: Any) -> str:
    if isinstance(name, float | np.floating) and float(name).is_integer():
        return str(int(name))
    return str(name).strip()


def _warn_of_others(ids: list[str], rows: Any, trait_ids: list[str], path: Any, traits_path: Any) -> None:
    """Warn of samples that are in one file only."""
    matched = {ids[row] for row in rows}
    parts = []
    for names, here, there in ((ids, path, traits_path), (trait_ids, traits_path, path)):
        alone = [name for name in names if name not in matched]
        if alone:
            parts.append(
                f"{len(alone)} of {len(names)} samples of {os.fspath(here)!r} are not in {os.fspath(there)!r} "
                f"({_first(alone)})"
            )
    if parts:
        warn(f"{'; '.join(parts)}; the {len(rows)} samples that are in both are used")


def _first(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names[:2]) + (", …" if len(names) > 2 else "")
