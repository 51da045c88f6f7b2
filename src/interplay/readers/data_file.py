"""A file of any known format → a table and its outcome. `FORMATS` lists the formats; a new one is one entry."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from interplay.checks import check_choice, check_path
from interplay.readers.array_files import read_arrays
from interplay.readers.bed import read_bed
from interplay.readers.csv_table import read_csv
from interplay.readers.feather import read_feather
from interplay.readers.h5ad import read_h5ad
from interplay.readers.missing_target import MISSING_TARGET_CHOICES, with_known_target
from interplay.readers.parquet import scan_parquet
from interplay.readers.target_column import TableAndOutcome, split_frame, split_table
from interplay.stored.whole_file import is_special

AnyPath: TypeAlias = str | os.PathLike[str]


class Wanted(NamedTuple):
    """What is wanted from a file: the arguments of `read_data`, for the reader of its format."""

    ending: str
    target: str | None
    drop: list[str]
    delimiter: str | None
    decimal: str | None
    na_values: list[str]


class FileFormat(NamedTuple):
    """A format that `read_data` knows.

    Attributes
    ----------
    endings : tuple of str
        File extensions, in lower case.
    read : callable
        (path, Wanted) → table and outcome.
    in_words : str
        What is read and what ``--target`` names, as `interplay run --help` shows it.
    takes_na_values : bool
        Whether the user may say what stands for missing values; other formats have a mark of their own.
    """

    endings: tuple[str, ...]
    read: Callable[[AnyPath, Wanted], TableAndOutcome]
    in_words: str
    takes_na_values: bool = False


def read_data(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    drop: Iterable[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    na_values: Iterable[str] = (),
    missing_target: str = "error",
) -> TableAndOutcome:
    r"""Read a table and its outcome from a file; the file extension gives the format.

    Parameters
    ----------
    path : path
        A .csv, .tsv or .txt file (also .gz), .parquet, .feather or .arrow, .npy, .npz, .h5ad or .bed; ``"-"`` reads csv
        from standard input. `interplay run --help` says what `target` names in each.
    target : str, optional
        The column that holds the outcome: its name, or, in plain arrays, its number.
    drop : list of str, optional
        Columns to leave out, such as identifiers of samples.
    delimiter : str, optional
        Delimiter of text files. By default a tab in .tsv files; otherwise it is read off the header.
    decimal : {",", "."}, optional
        Decimal sign of text files. By default it is inferred from the values of each column.
    na_values : list of str, optional
        Texts or numbers that stand for missing values in a text file, such as "-999" or "n.d.", beside the usual ones:
        empty cells, NA, N/A, NaN, NULL, ?, #N/A; among numbers and dates also a lone point or dash.
    missing_target : {"error", "drop"}
        Samples whose outcome is missing are refused, or left out with a warning.

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
    wanted = Wanted(ending, target, _as_list(drop), delimiter, decimal, _as_list(na_values))
    check_choice("missing_target", missing_target, MISSING_TARGET_CHOICES)
    for known in FORMATS:
        if ending in known.endings:
            if wanted.na_values and not known.takes_na_values:
                raise ValueError(f"na_values cannot be said of {ending} files: mark missing values as such in the file")
            found = known.read(path, wanted)
            return with_known_target(found, missing_target=missing_target, path=path, target=target)
    endings = [ending for known in FORMATS for ending in known.endings]
    raise ValueError(
        f"{os.fspath(path)!r} has an unknown file extension: use {', '.join(endings[:-1])} or {endings[-1]}"
    )


def _as_list(entries: Iterable[str]) -> list[str]:
    return [entries] if isinstance(entries, str) else [str(entry) for entry in entries]


def _read_text(path: AnyPath, wanted: Wanted) -> TableAndOutcome:
    delimiter = "\t" if wanted.delimiter is None and wanted.ending == ".tsv" else wanted.delimiter
    frame = read_csv(path, delimiter=delimiter, decimal=wanted.decimal, na_values=wanted.na_values, unread=wanted.drop)
    return split_frame(frame, path, wanted.target, wanted.drop)


def _read_feather(path: AnyPath, wanted: Wanted) -> TableAndOutcome:
    return split_frame(read_feather(path), path, wanted.target, wanted.drop)


def _read_arrays(path: AnyPath, wanted: Wanted) -> TableAndOutcome:
    return read_arrays(path, wanted.target, wanted.drop)


# These stay in their files, and are read by blocks of columns.


def _read_parquet(path: AnyPath, wanted: Wanted) -> TableAndOutcome:
    table = scan_parquet(path)
    row_names = [name for name in table.names if name.startswith("__index_level_")]  # where pandas keeps them
    return split_table(table, path, wanted.target, [*wanted.drop, *row_names])


def _read_h5ad(path: AnyPath, wanted: Wanted) -> TableAndOutcome:
    return split_table(read_h5ad(path), path, wanted.target, wanted.drop)


def _read_bed(path: AnyPath, wanted: Wanted) -> TableAndOutcome:
    target = wanted.target or "phenotype"
    samples = "phenotyped" if target == "phenotype" else "all"
    return split_table(read_bed(path, samples=samples), path, target, wanted.drop)


#: The formats that are read, in the order in which help and errors name them.
FORMATS = (
    FileFormat(
        (".csv", ".tsv", ".txt"),
        _read_text,
        "--target names a column; the first line names the columns; an unnamed first column is row names. Also .gz; "
        '"-" is csv on stdin.',
        takes_na_values=True,
    ),
    FileFormat((".parquet",), _read_parquet, "--target names a column."),
    FileFormat((".feather", ".arrow"), _read_feather, "--target names a column."),
    FileFormat((".npy",), _read_arrays, "--target is the number of a column, from 0, or -1 for the last."),
    FileFormat((".npz",), _read_arrays, "Arrays X and y, or --target names another than y, or is a number."),
    FileFormat((".h5ad",), _read_h5ad, "--target names a column of obs."),
    FileFormat((".bed",), _read_bed, "PLINK; phenotype (if not given), sex or family of the .fam file."),
)


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
