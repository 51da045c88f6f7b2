"""Files → a table and its decision; a table of results → a file.

=====================  ==========================================================  ==============================
ending                 variables                                                   decision (``target``)
=====================  ==========================================================  ==============================
.csv .tsv .txt (.gz)   all other columns; an unnamed first column is row names     name of a column
.parquet .feather      all other columns                                           name of a column
.arrow
.npy                   all other columns, named x0, x1, ...                        number of a column, from 0;
                                                                                   negative: from the end
.npz                   the array ``X``, or the only one; ``names``, if there       the array ``y``, or the one
                                                                                   named, or a column as in .npy
.h5ad                  ``X`` of the AnnData                                        name of a column of ``obs``
.bed                   the variants of a PLINK file, 0/1/2                         of the .fam file: phenotype (if not
                                                                                   given), sex or family
=====================  ==========================================================  ==============================
"""

from __future__ import annotations

import difflib
import io
import json
import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.checks import check_path, shown
from interplay.plain_text import encodable
from interplay.readers.bed import read_bed
from interplay.readers.csv_table import read_csv
from interplay.readers.h5ad import read_h5ad
from interplay.readers.parquet import scan_parquet
from interplay.steps.column_subset import ColumnSubset
from interplay.steps.named_columns import take_columns
from interplay.steps.table import Table, as_table
from interplay.stored.whole_file import is_special, whole_file

if TYPE_CHECKING:
    import pandas as pd

TableAndDecision = tuple[Any, Any]

#: Endings of the files that `write_table` knows.
TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".json")


def read_data(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    drop: Iterable[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
) -> TableAndDecision:
    r"""Read a table and its outcome from a file; the file extension gives the format.

    Parameters
    ----------
    path : path
        A .csv, .tsv or .txt file (also .gz), .parquet, .feather or .arrow, .npy, .npz, .h5ad or .bed; ``"-"`` reads csv
        from standard input. The head of `interplay.io` says what is taken from each.
    target : str, optional
        The column that holds the outcome: its name, or, in plain arrays, its number.
    drop : list of str, optional
        Columns to leave out, such as identifiers of samples.
    delimiter : str, optional
        Delimiter of text files. By default a tab in .tsv files; otherwise it is read off the header.
    decimal : {",", "."}, optional
        Decimal sign of text files. By default it is inferred from the values of each column.

    Returns
    -------
    X, y
        To be given to `interplay.select`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "data.csv"
    >>> _ = file.write_text("id,age,ill\n1,30,no\n2,61,yes\n")
    >>> X, y = read_data(file, target="ill", drop=["id"])
    >>> list(X.columns), list(y)
    (['age'], ['no', 'yes'])
    """
    ending = _ending(check_path("path", path))
    dropped = [drop] if isinstance(drop, str) else list(drop)
    if ending in (".csv", ".tsv", ".txt"):
        separator = "\t" if delimiter is None and ending == ".tsv" else delimiter
        frame = read_csv(path, delimiter=separator, decimal=decimal, unread=dropped)
        return _split_frame(frame, path, target, dropped)
    if ending in (".feather", ".arrow"):
        return _split_frame(_read_feather(path), path, target, dropped)
    if ending in (".npy", ".npz"):
        return _read_arrays(path, target, dropped)
    # These stay in their files, and are read by blocks of columns.
    if ending == ".parquet":
        table = scan_parquet(path)
        # Where pandas kept its row names.
        row_names = [name for name in table.names if name.startswith("__index_level_")]
        return _split_table(table, path, target, [*dropped, *row_names])
    if ending == ".h5ad":
        return _split_table(read_h5ad(path), path, target, dropped)
    if ending == ".bed":
        target = target or "phenotype"
        samples = "phenotyped" if target == "phenotype" else "all"
        return _split_table(read_bed(path, samples=samples), path, target, dropped)
    raise ValueError(
        f"{os.fspath(path)!r} has an ending that says nothing: use .csv, .tsv, .parquet, .feather, .npy, .npz, .h5ad "
        "or .bed"
    )


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table of results to a .csv, .tsv, .parquet or .json file, which appears complete or not at all.

    An existing file is replaced. Lists of partners are joined by ";" in text files, and stay lists in the others.
    """
    content = table_bytes(frame, check_table_ending(path))
    with whole_file(path) as file:
        file.write(content)


def check_table_ending(path: str | os.PathLike[str]) -> str:
    """Return the kind of file that `path` names, "csv" for example, or say which there are."""
    ending = Path(path).suffix.lower()
    if ending not in TABLE_ENDINGS:
        raise ValueError(f"{os.fspath(path)!r} must end in one of {', '.join(TABLE_ENDINGS)} to hold a table")
    if ending == ".parquet":
        _import_pyarrow()
    return ending[1:]


def table_bytes(frame: pd.DataFrame, kind: str) -> bytes:
    """Return a table of results as the content of a "csv", "tsv", "json" or "parquet" file."""
    if kind == "parquet":
        _import_pyarrow()
        buffer = io.BytesIO()
        texts = frame.select_dtypes(include=["object", "string"])
        frame.assign(**{str(name): texts[name].map(_encodable) for name in texts}).to_parquet(buffer, index=False)
        return buffer.getvalue()
    if kind == "json":
        lines = [json.dumps({name: _plain(value) for name, value in row.items()}) for row in frame.to_dict("records")]
        return ("[\n" + ",\n".join(lines) + "\n]\n").encode()
    joined = frame.assign(**{name: frame[name].map(";".join) for name in _tuple_columns(frame)})
    return joined.to_csv(index=False, sep="\t" if kind == "tsv" else ",", lineterminator="\n").encode(
        "utf-8", "backslashreplace"
    )


def _encodable(value: Any) -> Any:
    if isinstance(value, tuple):
        return [encodable(name) for name in value]
    return encodable(value) if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    """Return what JSON has a word for; it has none for infinities and NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _tuple_columns(frame: pd.DataFrame) -> list[str]:
    return [name for name in frame.columns if len(frame) and isinstance(frame[name].iloc[0], tuple)]


def _ending(path: str | os.PathLike[str]) -> str:
    if os.fspath(path) == "-":
        return ".csv"
    file = Path(path)
    if not file.exists():
        near = difflib.get_close_matches(file.name, _names_beside(file), n=1, cutoff=0.75)
        meant = f": did you mean {near[0]!r}?" if near else ""
        raise FileNotFoundError(2, f"there is no such file{meant}", os.fspath(path))
    if file.is_dir():
        raise IsADirectoryError(21, "it is a folder: name a file", os.fspath(path))
    ending = file.suffix.lower()
    if is_special(file):  # a named pipe, or the output of a command: it is read once, from its start to its end
        if ending in ("", ".csv", ".tsv", ".txt", ".gz"):
            return ".tsv" if ending == ".tsv" else ".csv"
        raise ValueError(f"{os.fspath(path)!r} is a pipe or device, and only text can be read from one: name a file")
    return Path(file.stem).suffix.lower() if ending == ".gz" else ending


def _names_beside(file: Path) -> list[str]:
    try:
        return os.listdir(file.parent)
    except OSError:
        return []


def _split_frame(frame: Any, path: Any, target: str | None, drop: list[str]) -> TableAndDecision:
    """Take the target and what is to be dropped out of a pandas or pyarrow table."""
    names = [str(name) for name in (frame.column_names if hasattr(frame, "column_names") else frame.columns)]
    if target is None:
        raise ValueError(f"target is needed: name the column to be explained, one of {_listed(names)}")
    for name in [target, *drop]:
        if name not in names:
            raise ValueError(f"{os.fspath(path)!r} has no column {shown(name)}: {_meant(name, names)}")
    if target in drop:
        raise ValueError(f"column {shown(target)} is both target and dropped: decide which")
    left_out = [target, *dict.fromkeys(drop)]
    if hasattr(frame, "column_names"):
        return frame.drop_columns(left_out), frame.column(target)
    return frame.drop(columns=left_out), frame[target]


def _meant(name: str, names: list[str]) -> str:
    by_small_letters = {other.lower(): other for other in names}
    near = [by_small_letters[n] for n in difflib.get_close_matches(name.lower(), by_small_letters, n=3, cutoff=0.6)]
    if near:
        return f"did you mean {' or '.join(shown(n) for n in near)}?"
    return f"it has {_listed(names)}"


def _listed(names: list[str]) -> str:
    first = ", ".join(shown(name) for name in names[:8])
    return f"{first}, … ({len(names)} in all)" if len(names) > 8 else first


def _import_pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError('parquet and feather files need pyarrow: pip install "interplay[parquet]"') from None
    return pyarrow


def _read_feather(path: str | os.PathLike[str]) -> Any:
    pyarrow = _import_pyarrow()
    try:
        from pyarrow.feather import read_table

        table = read_table(path)
        table.validate(full=True)  # text of a damaged file may lie outside its memory
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{os.fspath(path)!r} is not a feather file, or is damaged: {reason}") from None
    return table.drop_columns([name for name in table.column_names if name.startswith("__index_level_")])


def _read_arrays(path: str | os.PathLike[str], target: str | None, drop: list[str]) -> TableAndDecision:
    arrays = _load_arrays(path)
    key: str | None = next((name for name in ("X", "x", "data") if name in arrays), None)
    labels = [name for name in arrays if name != key and name != "names"]
    if key is None:
        key = next(iter(arrays)) if len(arrays) == 1 else None
        labels = []
    if key is None:
        raise ValueError(f"{os.fspath(path)!r} must hold an array named X; it holds {_listed(list(arrays))}")
    X: npt.NDArray[Any] = arrays[key]
    if X.ndim != 2:
        raise ValueError(f"{os.fspath(path)!r} must hold a two-dimensional array (samples by variables), not {X.ndim}D")
    table = as_table(X, names=arrays.get("names"))
    y: Any = None
    keep = np.ones(table.n_vars, dtype=bool)
    if target is None or target in labels:
        name = target if target is not None else next((name for name in ("y", "Y") if name in labels), None)
        if name is None:
            raise ValueError("target is needed: the number of the column to be explained, from 0, or -1 for the last")
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
    """Return the arrays of an .npz by name; that of an .npy as X."""
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
    except Exception as error:  # damage shows in many ways
        raise ValueError(f"{file_name} is not a numpy file, or is damaged: {type(error).__name__}") from None
    raise ValueError(f"{file_name} is not a numpy file, or is damaged")


def _column_number(column: str, names: list[str], labels: list[str]) -> int:
    if column in names:
        return names.index(column)
    try:
        number = int(column)
    except ValueError:
        known = _meant(column, labels + names)
        raise ValueError(f"there is no column {shown(column)}: give its number from 0 ({known})") from None
    if not -len(names) <= number < len(names):
        raise ValueError(f"there is no column {number}: there are {len(names)}, from 0, or from the end by −1, −2, …")
    return number % len(names)


def _split_table(table: Table, path: Any, target: str | None, drop: list[str]) -> TableAndDecision:
    """Take the target and what is to be dropped out of a table that stays in its file."""
    known = list(dict.fromkeys([*table.sample_columns, *table.names]))
    if target is None:
        raise ValueError(f"target is needed: name what is to be explained, one of {_listed(known)}")
    for name in [target, *drop]:
        if name not in known:
            raise ValueError(f"{os.fspath(path)!r} has no column {shown(name)}: {_meant(name, known)}")
    if target in drop:
        raise ValueError(f"column {shown(target)} is both target and dropped: decide which")
    kept = np.array([v for v, name in enumerate(table.names) if name not in set(drop)], dtype=np.int64)
    if len(kept) < table.n_vars:
        known_of_samples = table.sample_columns
        table = ColumnSubset(table, kept)
        table.sample_columns = known_of_samples
    return take_columns(table, target)[:2]
