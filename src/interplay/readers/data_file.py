"""A file of any known format, alone or with a file of outcomes → a table and its outcome."""

from __future__ import annotations

import difflib
import errno
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_choice, check_flag, check_path, shown, warn
from interplay.data.study.subsets import ColumnSubset, RowSubset
from interplay.data.study.table import Table, as_table
from interplay.files.whole_file import is_special
from interplay.readers.file_formats import FORMATS, READER_OPTIONS, AnyPath, FileFormat, Wanted
from interplay.readers.genotypes.people import is_person_table, read_person_table
from interplay.readers.geo import read_labels, with_labels
from interplay.readers.sample_names import FAMILY_COLUMNS, SampleNames, matched_places
from interplay.readers.target_column import (
    MISSING_TARGET_CHOICES,
    TableAndOutcome,
    id_column,
    meant,
    split_frame,
    split_table,
    split_traits,
    with_known_target,
    without_rare_classes,
)

if TYPE_CHECKING:
    import pandas as pd


_NOT_FOR_ALL = {
    "na_values": "mark missing values as such in the file",
    "keep_na_values": "their missing values are marked as such",
    "sheet": "only spreadsheets have sheets",
    "transpose": "transpose the table before it is written",
    "layer": "only AnnData and MuData have layers",
    "modality": "only MuData and files of 10x Genomics have several",
}

_ELSEWHERE = "it is for files of genotypes that can have it"

#: Largest size of an unpacked table, in bytes, or as a multiple of the size of the file if that is more.
_MAX_BYTES = 1 << 30

_MAX_RATIO = 100


def read_data(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    drop: Iterable[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    na_values: Iterable[str] = (),
    keep_na_values: Iterable[str] = (),
    missing_target: str = "error",
    min_class: int | None = None,
    sheet: str | None = None,
    transpose: bool = False,
    target_file: str | os.PathLike[str] | None = None,
    covariate_file: str | os.PathLike[str] | None = None,
    sample_id: str | None = None,
    traits: Iterable[str] = (),
    labels: str | os.PathLike[str] | None = None,
    **options: Any,
) -> TableAndOutcome:
    r"""Read a table and its outcome from a file; the file extension gives the format.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .txt or .Rtab file (also .gz), .xlsx, .xls or .ods, .sav, .zsav, .por, .dta, .sas7bdat or .xpt,
        .parquet, .feather or .arrow, .npy, .npz, .h5ad, .h5mu, .h5 (10x Genomics), .gct, .bed, .pgen, .bgen, .vcf (also
        .gz) or .bcf, or a .zip that holds one of them; ``"-"`` reads csv from standard input. `interplay run --help`
        says what `target` names in each.
    target : str, optional
        The column that holds the outcome: its name, or, in plain arrays, its number.
    drop : list of str, optional
        Columns to leave out, such as identifiers of samples.
    delimiter : str, optional
        Delimiter of text files. By default a tab in .tsv files; otherwise it is inferred from the header.
    decimal : {",", "."}, optional
        Decimal sign of text files. By default it is inferred from the values of each column.
    na_values : list of str, optional
        Texts or numbers that stand for missing values, such as "-999" or "n.d.", beside the usual ones: empty cells,
        NA, N/A, NaN, NULL, ?, #N/A; among numbers and dates also a lone point or dash, and None. In other columns None
        is a label where there are at most ten labels and no other gaps, and stands for a missing value elsewhere.
    keep_na_values : list of str, optional
        Texts that are values, and not missing ones, such as "NA" for Namibia, or "None".
    missing_target : {"error", "drop"}
        Samples whose outcome is missing are refused, or left out with a warning. The result of `select` and its report
        say how many samples were left out.
    min_class : int, optional
        Samples of classes with fewer samples than this are left out, with a warning.
    sheet : str, optional
        Name of the sheet of a spreadsheet; the first if not given.
    transpose : bool
        Whether each row of a text file or spreadsheet is a variable and each column a sample, as in tables of genes.
        The first column then names the variables.
    target_file : path, optional
        A second file, of any format that is read into memory, with the outcome of each sample. The two are joined by
        the names of the samples. `target` names a column of it; by default its only one, or "phenotype". `strata` of
        `select` may name another.
    covariate_file : path, optional
        A file with further columns of each sample, such as covariates, joined in the same way.
    sample_id : str, optional
        With `target_file` or `covariate_file`, the column with the names of the samples, in both files or in the one
        that has it. By default they are row names, or the first column.
    traits : list of str
        Instead of `target`: two columns or more with outcomes, returned as a dataframe. Values may be missing.
    labels : path, optional
        A file with labels of columns, which results show beside the names: symbols of genes beside probes (tables of
        platforms of GEO), or question texts. The first column has the names; the labels are in a column such as "Gene
        Symbol", or else in the second.
    **options
        Arguments of the reader of the format: of genotypes `region`, `min_maf`, `max_missing`, `min_info`,
        `hard_call_threshold`, `multiallelic`, `sex_chromosomes`, `sample_file`, and the filters `keep`, `remove`,
        `extract`, `exclude`, `max_missing_person` and `min_hwe`, as in
        `interplay.genetics.read_pgen`; of single cells `layer` and `modality`. None stands for the default.

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
    check_choice("missing_target", missing_target, MISSING_TARGET_CHOICES)
    if sample_id is not None and target_file is None and covariate_file is None:
        raise ValueError(
            "sample_id is only used with target_file, which is not given: use drop to leave out that column"
        )
    check_flag("transpose", transpose)
    several = _as_list(traits)
    wanted = Wanted(
        ending="",
        # People without a phenotype are left out where this is the only outcome.
        target=next((name for name in several if name != "phenotype"), target),
        drop=_as_list(drop),
        delimiter=delimiter,
        decimal=decimal,
        na_values=_as_list(na_values),
        keep_na_values=_as_list(keep_na_values),
        sheet=sheet,
        transpose=transpose,
        has_ids=target_file is not None,
        sample_id=sample_id,
        options={name: value for name, value in options.items() if value is not None},
    )
    for name in options:
        if name not in READER_OPTIONS:
            raise TypeError(f"read_data has no argument {name!r}: give one of {', '.join(READER_OPTIONS)}")
    known, data = _read(path, wanted)
    joined = {"target_file": target_file, "covariate_file": covariate_file}
    for name, file in joined.items():
        if file is None:
            continue
        if known.is_split:
            raise ValueError(
                f"{name} cannot be used with {known.endings[0]} files, because their samples have no names"
            )
        beside = read_traits(file, wanted, are_phenotypes=name == "target_file")
        data = with_traits(data, path, beside, file, sample_id=sample_id)
        if name == "target_file" and target is None and not several:
            target = _only_target([str(column) for column in beside.columns if column in data.sample_columns])
    if several:
        if known.is_split:
            raise ValueError(f"traits cannot be used with {known.endings[0]} files: give y as a dataframe")
        found = split_traits(data, path, several, wanted.drop)
        return found if labels is None else with_labels(found, read_labels(labels))
    if target_file is not None:
        table = data
        found = split_table(table, path, target, wanted.drop)
    elif known.is_split:
        found = data
    elif isinstance(data, Table):
        target = known.default_target if target is None else target
        found = split_table(data, path, target, wanted.drop)
    else:
        found = split_frame(data, path, target, wanted.drop)
    if labels is not None:
        found = with_labels(found, read_labels(labels))
    known_target = with_known_target(found, missing_target=missing_target, path=path, target=target)
    return without_rare_classes(known_target, min_class=min_class, path=path, target=target)


def read_table(path: AnyPath) -> Table:
    """Read a file as `read_data` does, with all of its columns as variables: no outcome is in it."""
    known, data = _read(path, Wanted("", None, [], needs_target=False))
    if known.is_split:
        raise ValueError(
            f"{os.fspath(path)!r} has no outcome, which {known.endings[0]} files need: give the array itself"
        )
    return as_table(data)


def _read(path: AnyPath, wanted: Wanted) -> tuple[FileFormat, Any]:
    """Return the format of a file, and the result of its reader."""
    ending = _ending(check_path("path", path))
    if ending == ".zip":
        with unpacked(path) as inside:
            known = _format_of(inside, _ending(inside))
            if known.stays_in_file:
                raise ValueError(
                    f"{os.fspath(inside)!r} is read in blocks, which is not possible inside a zip file: unpack it"
                )
            return _read(inside, wanted)
    known = _format_of(path, ending)
    given = [option for option in ("na_values", "keep_na_values", "sheet", "transpose") if getattr(wanted, option)]
    for option in [*given, *wanted.options]:
        if option not in known.options:
            raise ValueError(f"{option} cannot be used with {ending} files: {_NOT_FOR_ALL.get(option, _ELSEWHERE)}")
    return known, known.read(path, wanted._replace(ending=ending))


def _format_of(path: AnyPath, ending: str) -> FileFormat:
    for known in FORMATS:
        if ending in known.endings:
            return known
    endings = [ending for known in FORMATS for ending in known.endings]
    raise ValueError(f"{os.fspath(path)!r} has an unknown file extension: use {', '.join(endings)} or .zip")


def _only_target(names: list[str]) -> str | None:
    """Return the column of a file of outcomes that needs no name: the only one, or "phenotype"."""
    return names[0] if len(names) == 1 else "phenotype" if "phenotype" in names else None


def covariate_names(path: AnyPath) -> list[str]:
    """Return the columns of a file of covariates, but for names of samples."""
    frame = read_traits(path, Wanted("", None, []), are_phenotypes=False)
    return [name for name in frame_ids(frame, path, None)[1].columns if name != "family"]


def read_traits(path: AnyPath, wanted: Wanted, *, are_phenotypes: bool) -> Any:
    """Read the whole file with outcomes or covariates into memory."""
    if is_person_table(path):
        return read_person_table(path, are_phenotypes=are_phenotypes)
    known, data = _read(path, Wanted("", None, [], decimal=wanted.decimal, has_ids=True, sample_id=wanted.sample_id))
    if known.is_split or isinstance(data, Table):
        raise ValueError(f"{os.fspath(path)!r} cannot be a target_file: give a text file or a spreadsheet")
    return data


def _as_list(entries: Iterable[str]) -> list[str]:
    return [entries] if isinstance(entries, str) else [str(entry) for entry in entries]


def _ending(path: str | os.PathLike[str]) -> str:
    if os.fspath(path) == "-":
        return ".csv"
    file = Path(path)
    if _is_missing(file):
        near = difflib.get_close_matches(file.name, _names_beside(file), n=1, cutoff=0.75)
        of_prefix = [f"{file.name}{ending}" for ending in (".bed", ".pgen") if Path(f"{file}{ending}").exists()]
        meant = f": did you mean {[*of_prefix, *near][0]!r}?" if of_prefix or near else ""
        raise FileNotFoundError(2, f"there is no such file{meant}", os.fspath(path))
    if file.is_dir():
        raise IsADirectoryError(21, "it is a folder: name a file", os.fspath(path))
    ending = file.suffix.lower()
    if is_special(file):  # a named pipe, or the output of a command, can be read only once
        if ending in ("", ".csv", ".tsv", ".txt", ".gz"):
            return ".tsv" if ending == ".tsv" else ".csv"
        raise ValueError(f"{os.fspath(path)!r} is a pipe or device, and only text can be read from one: name a file")
    return Path(file.stem).suffix.lower() if ending in (".gz", ".bgz") else ending


def _is_missing(file: Path) -> bool:
    """Say whether there is no such file. Path.exists of Python 3.14 is False also for names that no file can have."""
    try:
        file.stat()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise
        return True
    return False


def _names_beside(file: Path) -> list[str]:
    try:
        return os.listdir(file.parent)
    except OSError:
        return []


@contextmanager
def unpacked(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Unpack the only table of a zip file into a folder that is removed afterwards."""
    name = repr(os.fspath(path))
    with tempfile.TemporaryDirectory(prefix="interplay-") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                entry = _only_entry(archive, name)
                target = Path(folder) / PurePosixPath(entry.filename).name
                limit = max(_MAX_BYTES, _MAX_RATIO * os.path.getsize(path))
                if entry.file_size > limit:
                    raise ValueError(
                        f"{name} unpacks to {entry.file_size / 2**20:,.0f} MiB, more than {_MAX_RATIO} times its size: "
                        "unpack it yourself if you trust it"
                    )
                with archive.open(entry) as packed, target.open("wb") as file:
                    shutil.copyfileobj(packed, file, 1 << 20)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise ValueError(f"{name} is not a zip file, or is damaged: {error}") from None
        except RuntimeError:
            raise ValueError(f"{name} is protected by a password: unpack it yourself") from None
        try:
            yield target
        except ValueError as error:  # messages name the place of the table in the zip file
            inside = os.path.join(os.fspath(path), target.name)
            raise type(error)(str(error).replace(os.fspath(target), inside)) from None


def _only_entry(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the only entry, without the files that operating systems add."""
    entries = [
        entry
        for entry in archive.infolist()
        if not entry.is_dir()
        and not entry.filename.startswith("__MACOSX/")
        and PurePosixPath(entry.filename).name not in (".DS_Store", "Thumbs.db", "desktop.ini")
    ]
    if len(entries) != 1:
        listed = ", ".join(shown(entry.filename) for entry in entries[:4]) + (", …" if len(entries) > 4 else "")
        what = f"{len(entries)} files ({listed})" if entries else "no file"
        raise ValueError(f"{name} must hold one table, and it holds {what}: unpack it, and name the table")
    return entries[0]


def with_traits(data: Any, path: Any, traits: pd.DataFrame, traits_path: Any, *, sample_id: str | None) -> Table:
    """Return the samples of `data` that `traits` has too; columns of `traits` become `sample_columns`.

    - `path`: the file of `data`.
    - `sample_id`: the column with the names of the samples, in both files or in the one that has it. By default they
      are the row names of a file, or its first column.
    """
    import pandas as pd

    names, table = _table_ids(data, path, sample_id)
    trait_names, columns = frame_ids(traits, traits_path, sample_id)
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
    joined.labels = table.labels
    known = {name: np.asarray(values)[rows] for name, values in table.sample_columns.items()}
    joined.sample_columns = known | {str(name): found[name].reset_index(drop=True) for name in found.columns}
    joined.sample_names = np.array(names.ids, dtype=object)[rows]
    return joined


def _table_ids(data: Any, path: Any, sample_id: str | None) -> tuple[SampleNames, Table]:
    """Return the names of the samples, and the table without the column that holds them."""
    if not isinstance(data, Table):
        if data.index.name == "sample":  # a transposed table, whose samples were columns
            return SampleNames([_text(name) for name in data.index]), as_table(data)
        found, frame = frame_ids(data, path, sample_id)
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


def frame_ids(frame: pd.DataFrame, path: Any, sample_id: str | None) -> tuple[SampleNames, pd.DataFrame]:
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
