"""A Debian package of R data and a name → a data frame, without R: lazy-load databases, .rda files and text."""

from __future__ import annotations

import subprocess
import warnings
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

#: Data of these packages are read from statsmodels, which carries them itself.
_OF_STATSMODELS = "statsmodels"


class NotThereError(Exception):
    """A package, or what reads it, is not there."""


def read(package: str, name: str, folder: Path) -> pd.DataFrame:
    """Return a table; `folder` keeps the packages that were downloaded and unpacked."""
    if package == _OF_STATSMODELS:
        from importlib import import_module

        return pd.DataFrame(import_module(f"statsmodels.datasets.{name}").load_pandas().data)
    data = _data_folder(package, folder)
    if (data / "Rdata.rdb").exists():
        return _frame(_of_database(data / "Rdata", name), name)
    for ending in ("rda", "RData"):
        if (data / f"{name}.{ending}").exists():
            return _frame(_parsed((data / f"{name}.{ending}").read_bytes())[name], name)
    for path in data.glob(f"{name}.*"):
        return pd.read_csv(path, sep=r"\s+")
    raise NotThereError(f"{package} has no {name}")


@cache
def _data_folder(package: str, folder: Path) -> Path:
    """Download and unpack a package of Debian."""
    place = folder / package
    if not place.exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
            archive = next(folder.glob(f"{package}_*.deb"))
            subprocess.run(["dpkg", "-x", archive, place], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError, StopIteration) as problem:
            raise NotThereError(f"Debian's {package}: {problem}") from None
    found = sorted(place.glob("usr/lib/R/*/*/data"))
    if not found:
        raise NotThereError(f"{package} has no data")
    return found[0]


def _of_database(database: Path, name: str) -> Any:
    """Return an object of a lazy-load database: an index of places, and compressed objects one after the other."""
    index = _parsed(database.with_suffix(".rdx").read_bytes())
    if name not in index["variables"]:
        raise NotThereError(f"{database} has no {name}")
    start, length = (int(number) for number in index["variables"][name])
    with database.with_suffix(".rdb").open("rb") as file:
        file.seek(start)
        packed = file.read(length)
    kind = packed[4:5]  # after the unpacked length: Z and 2 are other compressions, a zlib stream begins with x
    if kind == b"Z":
        import lzma

        raw = lzma.LZMADecompressor(format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2}]).decompress(packed[5:])
    elif kind == b"2":
        import bz2

        raw = bz2.decompress(packed[5:])
    else:
        raw = zlib.decompress(packed[4:])
    return _parsed(raw)


def _parsed(raw: bytes) -> Any:
    try:
        import rdata
    except ImportError:
        raise NotThereError("the package rdata of PyPI") from None
    if raw[:1] == b"x":
        raw = zlib.decompress(raw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that it does not know stay plain lists
        return rdata.conversion.convert(rdata.parser.parse_data(raw, extension=".rds" if raw[:3] != b"RDX" else ".rda"))


def _frame(found: Any, name: str) -> pd.DataFrame:
    if isinstance(found, pd.DataFrame):
        return found
    raise NotThereError(f"{name} is no table")
