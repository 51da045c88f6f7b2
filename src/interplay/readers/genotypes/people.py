"""Files that describe the people of a file of genotypes: .psam and .fam of PLINK, .sample of Oxford."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.base.checks import check_file, needing, reading, shown, warn
from interplay.readers.sample_names import SampleNames, matched_places

if TYPE_CHECKING:
    import pandas as pd


#: Codes of an unknown phenotype. 0 is such a code only if all known phenotypes are 1 or 2.
_UNKNOWN_PHENOTYPES = ("-9", "NA", "na", "nan", "NaN", "NONE", "")

_FAM_COLUMNS = ["FID", "IID", "PAT", "MAT", "SEX", "PHENO1"]

#: Columns of a .psam file that are no phenotypes.
_NO_PHENOTYPES = ("FID", "IID", "SID", "PAT", "MAT", "SEX")

#: First words of PLINK's tables of phenotypes and covariates.
_PERSON_HEADERS = ("#FID", "#IID", "FID", "IID")

ENDINGS = (".psam", ".fam", ".sample")


@dataclass(frozen=True, eq=False)
class People:
    """The people of a file of genotypes."""

    ids: npt.NDArray[Any]  #: (n_samples,) array of str
    #: Properties by name, (n_samples,) each; "phenotype" is the only phenotype, or that called PHENO1.
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    #: Whether the IDs are those of a file, and not only numbers.
    are_named: bool = True


def read_people(path: str | os.PathLike[str]) -> People:
    """Return the people of a .psam, .fam or .sample file."""
    file = check_file("sample_file", path)
    if file.suffix.lower() == ".sample":
        return _read_sample(file)
    if file.suffix.lower() not in ENDINGS:
        raise ValueError(f"{os.fspath(path)!r} does not end in {', '.join(ENDINGS)}: name such a file as sample_file")
    kind = "a .psam file" if file.suffix.lower() == ".psam" else "a .fam file"
    frame = read_words(file, kind, header=("#FID", "#IID"), without_header=_FAM_COLUMNS)
    if "IID" not in frame.columns:
        raise ValueError(f"{os.fspath(path)!r} is not {kind}: it has no column IID")
    columns = {}
    if "FID" in frame.columns:
        columns["family"] = _texts(frame, "FID")
    if "SEX" in frame.columns:
        columns["sex"] = sexes(_texts(frame, "SEX"))
    phenotypes = {name: phenotype_values(_texts(frame, name)) for name in frame.columns if name not in _NO_PHENOTYPES}
    return People(_texts(frame, "IID"), _with_phenotype(columns, phenotypes))


def read_people_frame(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Return the people of a file as a table whose first column has their IDs."""
    import pandas as pd

    people = read_people(path)
    frame = pd.DataFrame({"IID": people.ids, **people.columns})
    frame.index = pd.RangeIndex(len(frame), name="person")
    return frame


def is_person_table(path: str | os.PathLike[str]) -> bool:
    """Say whether a text file is a table of PLINK's: names of columns from FID or IID on, between spaces or tabs."""
    if os.fspath(path).lower().endswith(ENDINGS):
        return False
    try:
        with open(path, encoding="utf-8") as file:
            line = file.readline()
    except (OSError, UnicodeDecodeError):
        return False
    return line.split()[:1] in [[name] for name in _PERSON_HEADERS] and "," not in line


def read_person_table(path: str | os.PathLike[str], *, are_phenotypes: bool) -> pd.DataFrame:
    """Return PLINK's table of phenotypes or covariates: numbers, labels, and as phenotypes 1 and 2 control and case."""
    frame = read_words(Path(path), "a table of people", header=_PERSON_HEADERS)
    values_of = phenotype_values if are_phenotypes else _numbers_or_labels
    for name in frame.columns:
        if name not in ("FID", "IID"):
            frame[name] = values_of(_texts(frame, name))
    frame.index.name = "person"
    return frame


def sexes(words: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return "male", "female" or None for the codes of sex."""
    meaning = {"1": "male", "2": "female", "M": "male", "F": "female", "m": "male", "f": "female"}
    return np.array([meaning.get(str(word)) for word in words], dtype=object)


def phenotype_values(words: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the phenotypes of a PLINK file as cases and controls, as numbers, or as labels."""
    if set(np.unique(words).tolist()) <= {"0", "1", "2", *_UNKNOWN_PHENOTYPES}:
        meaning = {"1": "control", "2": "case"}
        return np.array([meaning.get(str(word)) for word in words], dtype=object)
    return _numbers_or_labels(words)


def is_unknown(phenotypes: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Say of each phenotype whether it is not known."""
    return np.array([value is None or value != value for value in phenotypes], dtype=np.bool_)


def _numbers_or_labels(words: npt.NDArray[Any]) -> npt.NDArray[Any]:
    try:
        return np.array([np.nan if str(word) in _UNKNOWN_PHENOTYPES else float(word) for word in words])
    except ValueError:
        return np.array([None if str(word) in _UNKNOWN_PHENOTYPES else str(word) for word in words], dtype=object)


def _with_phenotype(columns: dict[str, Any], phenotypes: dict[str, Any]) -> dict[str, Any]:
    main = "PHENO1" if "PHENO1" in phenotypes else next(iter(phenotypes), None) if len(phenotypes) == 1 else None
    first = {} if main is None or "phenotype" in phenotypes else {"phenotype": phenotypes[main]}
    return first | columns | phenotypes


def _read_sample(file: Path) -> People:
    """Read Oxford's .sample file: a line of names, a line of types, then a line per person."""
    kind = "a .sample file"
    frame = read_words(file, kind, header="ID")
    types = frame.iloc[0].tolist()
    if not set(types) <= set("0DCPB"):
        raise ValueError(f"{os.fspath(file)!r} is not {kind}: its second line must be types, 0, D, C, P or B")
    frame = frame.iloc[1:]
    if not len(frame):
        raise ValueError(f"{os.fspath(file)!r} is not {kind}: it has no people")
    # ID_1 is the family, or the person once more; PLINK writes 0 there.
    ids = "ID_2" if "ID_2" in frame.columns else str(frame.columns[0])
    columns: dict[str, Any] = {}
    families = _texts(frame, str(frame.columns[0]))
    if ids == "ID_2" and not np.isin(families, ("0", "NA")).all() and (families != _texts(frame, ids)).any():
        columns["family"] = families
    phenotypes: dict[str, Any] = {}
    for name, of_type in zip(frame.columns, types, strict=True):
        words = _texts(frame, name)
        if name.lower() == "sex":
            columns["sex"] = sexes(words)
        elif of_type == "B":
            meaning = {"0": "control", "1": "case"}
            phenotypes[name] = np.array([meaning.get(str(word)) for word in words], dtype=object)
        elif of_type == "P":
            phenotypes[name] = _numbers_or_labels(words)
        elif of_type == "C":
            columns[name] = _numbers_or_labels(words)
        elif of_type == "D":
            columns[name] = np.array(
                [None if str(word) in _UNKNOWN_PHENOTYPES else str(word) for word in words], dtype=object
            )
    return People(_texts(frame, ids), _with_phenotype(columns, phenotypes))


def _texts(frame: pd.DataFrame, name: str) -> npt.NDArray[Any]:
    return np.array(frame[name].tolist(), dtype=object)


def matched_people(
    ids: npt.NDArray[Any], described: People, path: str | os.PathLike[str], sample_file: str | os.PathLike[str]
) -> People:
    """Return people with these IDs, with what another file says of each; nothing is known of those it has not."""
    described_names = SampleNames(described.ids, described.columns.get("family"))
    places = matched_places(SampleNames(ids), described_names, sample_file)
    if (places < 0).all():
        raise ValueError(
            f"{os.fspath(path)!r} and {os.fspath(sample_file)!r} have no ID in common ({shown(str(ids[0]))} in the "
            f"one, {shown(str(described.ids[0]))} in the other)"
        )
    columns = {}
    for name, values in described.columns.items():
        unknown = np.nan if values.dtype.kind == "f" else None
        columns[name] = np.array([unknown if place < 0 else values[place] for place in places], dtype=values.dtype)
    n_unknown = int((places < 0).sum())
    if n_unknown:
        first = shown(str(ids[int((places < 0).argmax())]))
        warn(
            f"{n_unknown} of {len(ids)} people of {os.fspath(path)!r} are not in {os.fspath(sample_file)!r} ({first}): "
            "nothing is known of them"
        )
    return People(ids, columns)


@contextmanager
def opened_text(path: Path) -> Iterator[IO[str]]:
    """Open a text file, which may be packed by Zstandard."""
    if path.suffix != ".zst":
        with path.open(encoding="utf-8", newline=None) as file:
            yield file
        return
    zstandard = import_zstandard("reading .zst files needs")
    with path.open("rb") as packed, zstandard.ZstdDecompressor().stream_reader(packed) as raw:
        yield io.TextIOWrapper(raw, encoding="utf-8")


def import_zstandard(what: str) -> Any:
    """Return the package zstandard, or say how to install it."""
    with needing("zstandard", "genetics", what):
        import zstandard
    return zstandard


def read_words(
    path: Path,
    what: str,
    *,
    header: str | tuple[str, ...],
    without_header: list[str] | None = None,
    wanted: list[str] | None = None,
) -> pd.DataFrame:
    """Return a table of texts.

    - `what`: the kind of file, for messages.
    - `header`: how the line with the names of the columns begins. Lines before it that begin with "#" are left out.
    - `without_header`: names of the columns of a file that has no such line.
    - `wanted`: columns to read, if there are any others.
    """
    import pandas as pd

    errors: tuple[type[Exception], ...] = (ValueError, OSError, EOFError, pd.errors.ParserError, *_zstd_errors(path))
    with reading(path, what, errors), opened_text(path) as file:
        line = file.readline()
        while line.startswith("##") or (line.startswith("#") and not line.startswith(header)):
            line = file.readline()
        if not line.strip():
            raise ValueError("it is empty")
        has_header = line.startswith(header)
        if not has_header and without_header is None:
            raise ValueError(f"no line begins with {header!r}")
        first = line.split()
        names = [first[0].lstrip("#"), *first[1:]] if has_header else (without_header or [])[: len(first)]
        if not has_header and len(first) < len(names):
            raise ValueError("its first line has too few fields")
        if len(set(names)) < len(names):
            raise ValueError("two columns have one name")
        rest = file if has_header else _with_first(line, file)
        frame = pd.read_csv(
            rest,
            sep="\t" if "\t" in line else r"\s+",
            header=None,
            names=names,
            usecols=names if wanted is None else [name for name in wanted if name in names],
            dtype=str,
            keep_default_na=False,
            na_filter=True,
            na_values=[],
            quoting=csv.QUOTE_NONE,
            index_col=False,
        )
        if not len(frame):
            raise ValueError("it has no rows")
        short = frame.isna().any(axis=1).to_numpy()
        if short.any():
            raise ValueError(f"row {int(short.argmax()) + 1} has too few fields")
    return frame


def _zstd_errors(path: Path) -> tuple[type[Exception], ...]:
    return (import_zstandard("reading .zst files needs").ZstdError,) if path.suffix == ".zst" else ()


def _with_first(line: str, file: IO[str]) -> IO[str]:
    return io.StringIO(line + file.read())


def beside(path: str | os.PathLike[str], endings: tuple[str, ...]) -> Path:
    """Return the first file with the stem of `path` and one of these endings that exists."""
    stem = Path(path).with_suffix("")
    for ending in endings:
        found = stem.with_name(stem.name + ending)
        if found.exists():
            return found
    raise FileNotFoundError(2, "there is no such file", f"{stem}{endings[0]}")
