"""The formats that `read_data` knows: `FORMATS` lists them; a new one is one entry."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from interplay.base.checks import shown
from interplay.data.study.table import Table, as_table
from interplay.readers.csv_table import read_csv
from interplay.readers.genotypes.bed import read_bed
from interplay.readers.genotypes.bgen import read_bgen
from interplay.readers.genotypes.filters import FILTERS
from interplay.readers.genotypes.people import ENDINGS as PEOPLE_ENDINGS
from interplay.readers.genotypes.people import read_people_frame
from interplay.readers.genotypes.pgen import read_pgen
from interplay.readers.genotypes.vcf import read_vcf
from interplay.readers.geo import is_series_matrix, read_series_matrix
from interplay.readers.parquet import read_feather, scan_parquet
from interplay.readers.rqtl import is_cross, read_cross
from interplay.readers.single_cell import read_10x, read_h5ad, read_h5mu
from interplay.readers.spreadsheet import ENDINGS as SPREADSHEET_ENDINGS
from interplay.readers.spreadsheet import read_spreadsheet
from interplay.readers.statistical import ENDINGS as STATISTICAL_ENDINGS
from interplay.readers.statistical import read_statistical
from interplay.readers.target_column import TableAndOutcome, check_columns, listed, meant
from interplay.readers.transposed import read_gct, read_transposed

AnyPath: TypeAlias = str | os.PathLike[str]


class Wanted(NamedTuple):
    """The arguments of `read_data`, for the reader of a format."""

    ending: str
    target: str | None
    drop: list[str]
    delimiter: str | None = None
    decimal: str | None = None
    na_values: Sequence[str] = ()
    keep_na_values: Sequence[str] = ()
    sheet: str | None = None
    transpose: bool = False
    has_ids: bool = False
    sample_id: str | None = None
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed
    needs_target: bool = True

    @property
    def of_texts(self) -> dict[str, Any]:
        """Arguments of the readers of cells that are text."""
        return {
            "decimal": self.decimal,
            "na_values": self.na_values,
            "keep_na_values": self.keep_na_values,
            "unread": self.drop,
        }

    @property
    def of_ids(self) -> dict[str, Any]:
        """Arguments of readers on the column with the names of the samples."""
        return {"has_ids": self.has_ids, "sample_id": self.sample_id}

    def check_of(self, path: AnyPath) -> Callable[[Any], None] | None:
        """Return a check that a table has target and columns to drop; None if the target is not in the file."""
        return (
            None
            if self.has_ids or not self.needs_target
            else lambda frame: check_columns(frame, path, self.target, self.drop)
        )


class FileFormat(NamedTuple):
    """A format that `read_data` knows."""

    #: File extensions, in lower case.
    endings: tuple[str, ...]
    #: (path, Wanted) → table: a pandas DataFrame, a pyarrow table or a `Table`; of arrays, table and outcome.
    read: Callable[[AnyPath, Wanted], Any]
    #: What is read and what ``--target`` names, as `interplay run --help` shows it.
    in_words: str
    #: Arguments of `read_data` that this format takes, among those that not all formats take.
    options: frozenset[str] = frozenset()
    #: Whether `read` returns table and outcome.
    is_split: bool = False
    #: Whether the table is read by blocks of columns from the file, which must stay where it is.
    stays_in_file: bool = False
    #: What is the outcome if no target is named.
    default_target: str | None = None


def _read_text(path: AnyPath, wanted: Wanted) -> Any:
    delimiter = "\t" if wanted.delimiter is None and wanted.ending in (".tsv", ".rtab") else wanted.delimiter
    if wanted.transpose:
        return read_transposed(path, delimiter=delimiter, **wanted.of_texts)
    if wanted.ending == ".txt" and is_series_matrix(path):
        return read_series_matrix(path)
    if is_cross(path, delimiter):
        return read_cross(path, delimiter)
    return read_csv(path, delimiter=delimiter, **wanted.of_texts, **wanted.of_ids, check=wanted.check_of(path))


def _read_spreadsheet(path: AnyPath, wanted: Wanted) -> Any:
    options = wanted.of_texts | wanted.of_ids
    return read_spreadsheet(
        path, sheet=wanted.sheet, transpose=wanted.transpose, **options, check=wanted.check_of(path)
    )


def _read_statistical(path: AnyPath, wanted: Wanted) -> Any:
    return read_statistical(path, wanted.ending, na_values=wanted.na_values, unread=wanted.drop, **wanted.of_ids)


def _read_feather(path: AnyPath, wanted: Wanted) -> Any:
    table = read_feather(path)
    return table.to_pandas() if wanted.has_ids else table


def _read_arrays(path: AnyPath, wanted: Wanted) -> TableAndOutcome:
    return read_arrays(path, wanted.target, wanted.drop)


# Tables of these formats stay in their files, and are read by blocks of columns.


def _read_parquet(path: AnyPath, wanted: Wanted) -> Table:
    table = scan_parquet(path)
    kept = [name for name in table.names if not name.startswith("__index_level_")]  # row names of pandas
    return table if len(kept) == table.n_vars else scan_parquet(path, columns=kept)


def _read_h5ad(path: AnyPath, wanted: Wanted) -> Table:
    return read_h5ad(path, **wanted.options)


def _read_h5mu(path: AnyPath, wanted: Wanted) -> Table:
    return read_h5mu(path, **wanted.options)


def _read_10x(path: AnyPath, wanted: Wanted) -> Table:
    if wanted.target is None and not wanted.has_ids:
        raise ValueError(f"{os.fspath(path)!r} has no outcomes: give target_file, a table of cells with their outcome")
    return read_10x(path, **wanted.options)


def _read_gct(path: AnyPath, wanted: Wanted) -> Table:
    return read_gct(path)


def _read_people(path: AnyPath, wanted: Wanted) -> Any:
    return read_people_frame(path)


def _genotypes(read: Callable[..., Table]) -> Callable[[AnyPath, Wanted], Table]:
    """Return the reader of a format of genotypes, for the people whose phenotype is known if that is the outcome."""

    def read_wanted(path: AnyPath, wanted: Wanted) -> Table:
        has_phenotype = wanted.target in (None, "phenotype") and not wanted.has_ids
        return read(path, samples="phenotyped" if has_phenotype else "all", **wanted.options)

    return read_wanted


#: Options of formats of genotypes: those of all, and those of formats with dosages and more than two alleles.
_OF_VARIANTS = frozenset({"region", "min_maf", "max_missing", "sex_chromosomes", *FILTERS})
_OF_DOSAGES = _OF_VARIANTS | {"min_info", "hard_call_threshold", "multiallelic", "sample_file"}

_IN_TEXT = frozenset({"na_values", "keep_na_values", "transpose"})

#: The formats that are read, in the order in which help and errors name them.
FORMATS = (
    FileFormat(
        (".csv", ".tsv", ".txt", ".rtab"),
        _read_text,
        "--target names a column; the first line names the columns; an unnamed first column has row names. Also .gz, "
        'and series matrices of GEO; "-" is csv on stdin.',
        options=_IN_TEXT,
    ),
    FileFormat(
        SPREADSHEET_ENDINGS,
        _read_spreadsheet,
        "--target names a column; the first row that is not empty names the columns. --sheet names a sheet.",
        options=_IN_TEXT | {"sheet"},
    ),
    FileFormat(
        STATISTICAL_ENDINGS,
        _read_statistical,
        "SPSS, Stata, SAS; --target names a variable; value labels are levels.",
        options=frozenset({"na_values"}),
    ),
    FileFormat((".parquet",), _read_parquet, "--target names a column.", stays_in_file=True),
    FileFormat((".feather", ".arrow"), _read_feather, "--target names a column."),
    FileFormat(
        (".npy",), _read_arrays, "--target is the number of a column, from 0, or -1 for the last.", is_split=True
    ),
    FileFormat(
        (".npz",),
        _read_arrays,
        "Arrays X and y; --target names an array other than y, or is the number of a column.",
        is_split=True,
    ),
    FileFormat(
        (".h5ad",),
        _read_h5ad,
        "--target names a column of obs. --layer names a layer.",
        options=frozenset({"layer"}),
        stays_in_file=True,
    ),
    FileFormat(
        (".h5mu",),
        _read_h5mu,
        "MuData; --target names a column of obs. --modality and --layer choose a matrix.",
        options=frozenset({"layer", "modality"}),
        stays_in_file=True,
    ),
    FileFormat(
        (".h5",),
        _read_10x,
        "10x Genomics; --target-file has the outcome of each barcode. --modality names a type of features.",
        options=frozenset({"modality"}),
    ),
    FileFormat(
        (".gct",),
        _read_gct,
        "Also .gz. --target names a description of the samples (version 1.3), or --target-file has the outcome.",
    ),
    FileFormat(
        (".bed",),
        _genotypes(read_bed),
        "PLINK; --target is phenotype (default), sex or family of the .fam file.",
        options=_OF_VARIANTS,
        stays_in_file=True,
        default_target="phenotype",
    ),
    FileFormat(
        (".pgen",),
        _genotypes(read_pgen),
        "PLINK 2; --target is phenotype (default) or a column of the .psam file.",
        options=_OF_DOSAGES,
        stays_in_file=True,
        default_target="phenotype",
    ),
    FileFormat(
        (".bgen",),
        _genotypes(read_bgen),
        "--target is phenotype (default) or a column of the .sample file.",
        options=_OF_DOSAGES,
        stays_in_file=True,
        default_target="phenotype",
    ),
    FileFormat(
        (".vcf", ".bcf"),
        _genotypes(read_vcf),
        "Also .vcf.gz. --target-file has the outcome, or --sample-file has phenotypes.",
        options=_OF_DOSAGES,
        stays_in_file=True,
        default_target="phenotype",
    ),
    FileFormat(
        PEOPLE_ENDINGS,
        _read_people,
        "PLINK, Oxford; people with phenotypes and covariates, for --target-file.",
    ),
)

#: Options that some formats take, beside the arguments of `read_data` that have a name there.
READER_OPTIONS = tuple(
    sorted(
        {option for known in FORMATS for option in known.options}
        - {"na_values", "keep_na_values", "sheet", "transpose"}
    )
)


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
