"""fetch_madelon: the original Madelon, downloaded once, checked and kept in a cache."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.base.checks import check_path, warn
from interplay.files.whole_file import whole_file

ShortArray = npt.NDArray[np.int16]
Labels = npt.NDArray[np.uint8]
Source = tuple[Callable[[str], tuple[ShortArray, Labels]], str]

DATA_FILE = "madelon_train.data"
LABEL_FILE = "madelon_train.labels"
MADELON_SHAPE = (2000, 500)

#: SHA-256 of the values as little-endian int16, row by row, followed by the labels as bytes 0 and 1.
MADELON_SHA256 = "06e08215d1d6e693e6b56986489ba6c94c92790d96dcf6ede12c343df8ecc199"

#: Limit of a download, above the size of all files: a wrong address must not fill the memory.
_MAX_BYTES = 64 * 2**20
_TIMEOUT_SECONDS = 30


def fetch_madelon(
    *, cache_dir: str | os.PathLike[str] | None = None, _sources: Sequence[Source] | None = None
) -> tuple[ShortArray, Labels]:
    """The real Madelon: the 2000 labelled training samples of the NIPS 2003 feature selection challenge.

    Downloaded once, from UCI or else OpenML, checked against a known SHA-256, and kept in a cache.

    Parameters
    ----------
    cache_dir : path, optional
        Where to keep the files. If not given, the folder named by the environment variable ``INTERPLAY_DATA``, else
        `interplay` in the user's cache folder.

    Returns
    -------
    X : (2000, 500) int16
    y : (2000,) uint8
        0 or 1, 1000 of each.

    Raises
    ------
    ConnectionError
        No copy could be downloaded. The message says why, and where to put the files by hand.

    Notes
    -----
    ``X, y = fetch_madelon()`` gives arrays of shape (2000, 500) and (2000,).
    """
    folder = _cache_folder(cache_dir)
    problems = []
    try:
        return _verified(*_from_files(folder))
    except FileNotFoundError:
        pass  # Not fetched yet.
    except (OSError, ValueError) as error:
        problems.append(f"{folder}: {error}")
    for read, address in _SOURCES if _sources is None else _sources:
        try:
            X, y = _verified(*read(address))
        except (OSError, ValueError, LookupError) as error:
            problems.append(f"{address}: {error}")
            continue
        _store(folder, X, y)
        return X, y
    reasons = " ".join("; ".join(problems).split())
    raise ConnectionError(
        f"Madelon could not be fetched: put {DATA_FILE} and {LABEL_FILE} from the UCI repository into {folder} "
        f"by hand, or set cache_dir or INTERPLAY_DATA to a folder that has them ({reasons})"
    )


def _cache_folder(cache_dir: str | os.PathLike[str] | None) -> Path:
    chosen = os.environ.get("INTERPLAY_DATA") if cache_dir is None else check_path("cache_dir", cache_dir)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "interplay"


def _verified(X: ShortArray, y: Labels) -> tuple[ShortArray, Labels]:
    digest = hashlib.sha256(X.astype("<i2").tobytes() + y.tobytes()).hexdigest()
    if digest != MADELON_SHA256:
        raise ValueError(f"the SHA-256 of its data is {digest[:12]}…, not {MADELON_SHA256[:12]}…")
    return X, y


def _parsed(rows: bytes, *, delimiter: str | None = None) -> FloatArray:
    """Return the numbers in a text with one sample per line."""
    if not rows.strip():
        raise ValueError("it is empty")
    return np.loadtxt(io.BytesIO(rows), delimiter=delimiter, ndmin=2)


def _as_table(values: FloatArray, labels: FloatArray) -> tuple[ShortArray, Labels]:
    """Return values and labels in their final types; of the two labels, the higher is class 1."""
    if values.shape != MADELON_SHAPE or labels.shape != MADELON_SHAPE[:1]:
        raise ValueError(f"its shape is {values.shape} with {labels.size} labels, not {MADELON_SHAPE}")
    if not (np.abs(values) < 2**15).all():
        raise ValueError("its values are out of range")
    return values.astype(np.int16), (labels == labels.max()).astype(np.uint8)


def _from_files(folder: Path) -> tuple[ShortArray, Labels]:
    """Read two files in UCI's format: numbers between blanks, labels -1 and 1."""
    values, labels = (_parsed((folder / name).read_bytes()) for name in (DATA_FILE, LABEL_FILE))
    return _as_table(values, labels.ravel())


def _from_uci(address: str) -> tuple[ShortArray, Labels]:
    values, labels = (_parsed(_downloaded(f"{address}/{name}")) for name in (DATA_FILE, LABEL_FILE))
    return _as_table(values, labels.ravel())


def _from_openml(address: str) -> tuple[ShortArray, Labels]:
    """Read an ARFF file that has the training samples first, and the class (1 or 2) last in each row."""
    import json

    description = json.loads(_downloaded(address))["data_set_description"]
    lines = _downloaded(description["url"]).replace(b"'", b"").splitlines()
    start = next((i for i, line in enumerate(lines, start=1) if line.strip().lower() == b"@data"), len(lines))
    rows = _parsed(b"\n".join(lines[start : start + MADELON_SHAPE[0]]), delimiter=",")
    return _as_table(rows[:, :-1], rows[:, -1])


def _downloaded(address: str) -> bytes:
    # Imported here, because these modules are slow to import and seldom needed.
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    try:
        with urlopen(address, timeout=_TIMEOUT_SECONDS) as response:
            content: bytes = response.read(_MAX_BYTES + 1)
    except HTTPError as answer:
        answer.close()  # it holds the connection
        raise
    except HTTPException as error:
        raise ConnectionError(f"the download broke off: {error!r}") from error
    if len(content) > _MAX_BYTES:
        raise ValueError(f"it is larger than {_MAX_BYTES >> 20} MiB")
    return content


def _store(folder: Path, X: ShortArray, y: Labels) -> None:
    """Store verified data in UCI's format; a cache that cannot be written gives a warning only."""
    texts = {
        DATA_FILE: "".join(" ".join(map(str, row)) + "\n" for row in X.tolist()),
        LABEL_FILE: "".join("1\n" if label else "-1\n" for label in y.tolist()),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with whole_file(folder / name) as file:
                file.write(text.encode("ascii"))
    except OSError as error:
        warn(f"Madelon was not stored in {folder} ({error}): set cache_dir to a folder that can be written")


#: A reader and the address it reads from; tried in this order.
_SOURCES: Sequence[Source] = (
    (_from_uci, "https://archive.ics.uci.edu/ml/machine-learning-databases/madelon/MADELON"),
    (_from_openml, "https://www.openml.org/api/v1/json/data/1485"),
)
