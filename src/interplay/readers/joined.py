"""A table and a second file with the outcome of each sample, joined by the names of the samples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import shown, warn
from interplay.data.study.subsets import ColumnSubset, RowSubset
from interplay.data.study.table import Table, as_table
from interplay.readers.header import id_column
from interplay.readers.sample_names import FAMILY_COLUMNS, SampleNames, matched_places
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

    names, table = _table_ids(data, path, sample_id)
    trait_names, columns = _frame_ids(traits, traits_path, sample_id)
    for file, each in ((path, names), (traits_path, trait_names)):
        repeated = pd.Index(each.full or each.ids)[pd.Index(each.full or each.ids).duplicated()]
        if len(repeated):
            raise ValueError(
                f"{os.fspath(file)!r} has more than one sample {shown(repeated[0])}: give sample_id, the column with "
                "the names of the samples, or give each sample a name of its own"
            )
    places = matched_places(names, trait_names, traits_path)
    rows = np.flatnonzero(places >= 0)
    if not len(rows):
        raise ValueError(
            f"{os.fspath(path)!r} and {os.fspath(traits_path)!r} have no sample in common ({_first(names.ids)} in the "
            f"one, {_first(trait_names.ids)} in the other): give sample_id, the column with the names of the samples, "
            "or use transpose=True if samples are columns"
        )
    _warn_of_others(names.ids, trait_names.ids, places, path, traits_path)
    found = columns.iloc[places[rows]]
    table.index = pd.Index(names.ids, name="sample")
    joined: Table = table if len(rows) == table.n_samples else RowSubset(table, rows)
    joined.samples_left_out = table.n_samples - len(rows)
    joined.sample_columns = {str(name): found[name].reset_index(drop=True) for name in found.columns}
    return joined


def _table_ids(data: Any, path: Any, sample_id: str | None) -> tuple[SampleNames, Table]:
    """Return the names of the samples, and the table without the column that holds them."""
    if not isinstance(data, Table):
        if data.index.name == "sample":  # a transposed table, whose samples were columns
            return SampleNames([_text(name) for name in data.index]), as_table(data)
        found, frame = _frame_ids(data, path, sample_id)
        return found, as_table(frame.reset_index(drop=True))
    names = data.sample_names
    if names is not None and (sample_id is None or sample_id not in data.names):
        return SampleNames([_text(name) for name in names], data.sample_columns.get("family")), data
    if sample_id is None:
        raise ValueError(f"sample_id is needed: the column of {os.fspath(path)!r} with the names of the samples")
    if sample_id not in data.names:
        raise ValueError(f"{os.fspath(path)!r} has no column {shown(sample_id)}: {meant(sample_id, data.names)}")
    number = data.names.index(sample_id)
    column = data.column(number)
    values = column.read().tolist()
    ids = [_text(value if column.levels is None else column.levels[int(value)]) for value in values]
    return SampleNames(ids), ColumnSubset(data, np.setdiff1d(np.arange(data.n_vars), [number]))


def _frame_ids(frame: pd.DataFrame, path: Any, sample_id: str | None) -> tuple[SampleNames, pd.DataFrame]:
    """Return the names of the samples, and the frame without their column, and without PLINK's column of families."""
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
    family = next((each for each in (*FAMILY_COLUMNS, "family") if each in frame.columns and name == "IID"), None)
    families = None if family is None else [_text(value) for value in frame[family]]
    left_out = [name, family] if family in FAMILY_COLUMNS else [name]
    return SampleNames([_text(value) for value in column], families), frame.drop(columns=left_out)


def _text(name: Any) -> str:
    if isinstance(name, float | np.floating) and float(name).is_integer():
        return str(int(name))
    return str(name).strip()


def _warn_of_others(
    ids: Sequence[str], trait_ids: Sequence[str], places: IntArray, path: Any, traits_path: Any
) -> None:
    """Warn of samples that are in one file only."""
    matched = set(places.tolist())
    alone = [name for name, place in zip(ids, places.tolist(), strict=True) if place < 0]
    others = [name for place, name in enumerate(trait_ids) if place not in matched]
    parts = [
        f"{len(names)} of {len(of)} samples of {os.fspath(here)!r} are not in {os.fspath(there)!r} ({_first(names)})"
        for names, of, here, there in ((alone, ids, path, traits_path), (others, trait_ids, traits_path, path))
        if names
    ]
    if parts:
        warn(f"{'; '.join(parts)}; the {len(ids) - len(alone)} samples that are in both are used")


def _first(names: Sequence[str]) -> str:
    return ", ".join(shown(name) for name in names[:2]) + (", …" if len(names) > 2 else "")
