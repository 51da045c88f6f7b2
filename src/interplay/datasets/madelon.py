"""make_madelon: a made-up Madelon, with a known truth.

Madelon is the classic case of variables that matter only together: samples sit on the corners of a five-dimensional
cube, the corners have random labels, and 480 of the 500 variables are not informative.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int, check_path, check_real, warn
from interplay.base.seeds import resolve_seed
from interplay.files.whole_file import whole_file

#: Every informative variable doubles the number of corners; with more, a corner would rarely have a second sample.
MAX_INFORMATIVE = 16


@dataclass(frozen=True)
class MadelonTruth:
    """The kinds of the variables of `make_madelon`. Column numbers are ascending.

    Attributes
    ----------
    relevant : (n_informative + n_redundant,) int64
        Columns that are informative about the outcome.
    informative : (n_informative,) int64
        Columns that hold the coordinates of the cube.
    redundant : (n_redundant,) int64
        Columns made from the informative ones: linear combinations, and copies.
    repeated : (n_repeated,) int64
        The redundant columns that are noisy copies (r > 0.98) of an informative column or of a combination.
    copy_of : (n_vars,) int64
        Column that each repeated column copies; -1 for all others.
    kind : (n_vars,) str
        "informative", "combined", "repeated" or "noise".
    """

    relevant: IntArray
    informative: IntArray
    redundant: IntArray
    repeated: IntArray
    copy_of: IntArray
    kind: npt.NDArray[np.str_]


def make_madelon(
    n_samples: int = 2000,
    n_vars: int = 500,
    n_informative: int = 5,
    n_redundant: int = 15,
    *,
    n_repeated: int | None = None,
    class_sep: float = 1.5,
    flip_y: float = 0.01,
    random_state: Any = 0,
) -> tuple[ShortArray, Labels, MadelonTruth]:
    """Make a table like Madelon: variables that matter alone, in pairs or only in larger groups, among noise.

    Samples are gaussian clouds around the corners of a cube with `n_informative` dimensions. Half of the corners,
    chosen at random, belong to class 1. One coordinate has no effect of its own, so that tests of single variables
    always miss at least one variable. Redundant variables are linear combinations of the coordinates and noisy copies.
    Columns are shuffled, scaled and rounded to integers around 480, as in the original.

    Parameters
    ----------
    n_samples, n_vars : int
        Shape of the table.
    n_informative : int
        Dimensions of the cube, 1 to 16.
    n_redundant : int
        Variables derived from the informative ones.
    n_repeated : int, optional
        How many of the redundant variables are noisy copies; the others are linear combinations. Two thirds if not
        given, as in the original.
    class_sep : float
        Half the side of the cube, in standard deviations of the clouds.
    flip_y : float
        Share of samples with the wrong label, 0 to 1. The same number in each class, so that the classes stay equal.
    random_state : int, None, RandomState or Generator
        The same number gives the same table everywhere; None gives another one each time.

    Returns
    -------
    X : (n_samples, n_vars) int16
    y : (n_samples,) uint8
        0 or 1; the two classes differ by at most one sample.
    truth : MadelonTruth

    Examples
    --------
    >>> X, y, truth = make_madelon(n_samples=400, n_vars=30, random_state=1)
    >>> X.shape, int(y.sum())
    ((400, 30), 200)
    >>> len(truth.relevant), len(truth.informative), len(truth.repeated)
    (20, 5, 10)
    """
    n_samples = check_int("n_samples", n_samples, low=2)
    n_vars = check_int("n_vars", n_vars, low=1)
    n_informative = check_int("n_informative", n_informative, low=1, high=MAX_INFORMATIVE)
    n_redundant = check_int("n_redundant", n_redundant, low=0)
    n_repeated = (
        2 * n_redundant // 3 if n_repeated is None else check_int("n_repeated", n_repeated, low=0, high=n_redundant)
    )
    class_sep = check_real("class_sep", class_sep, low=0)
    flip_y = check_real("flip_y", flip_y, low=0, high=1)
    seed = resolve_seed(random_state)
    n_relevant = n_informative + n_redundant
    if n_vars < n_relevant:
        raise ValueError(f"n_vars must be at least n_informative + n_redundant = {n_relevant}, not {n_vars}")

    # RandomState and not Generator: its streams are frozen, so a seed means the same table in every numpy.
    # For the same reason no BLAS below: only last bits of logarithms may differ, and rounding removes them.
    rng = np.random.RandomState(seed)
    corners, corner_class = _labelled_corners(n_informative, rng)
    # Corners are dealt out in turn, with alternating classes, so that corners and classes have equal sizes.
    order = np.stack([rng.permutation(np.flatnonzero(corner_class == q)) for q in (0, 1)], axis=1).ravel()
    corner_of_sample = rng.permutation(order[np.arange(n_samples) % len(order)])
    y = _flipped(corner_class[corner_of_sample], flip_y, rng)

    coordinates = class_sep * corners[corner_of_sample] + rng.standard_normal((n_samples, n_informative))
    originals = [*coordinates.T, *_combinations(coordinates, n_redundant - n_repeated, rng)]
    source = rng.randint(len(originals), size=n_repeated, dtype=np.int64)
    copies = [_noisy_copy(originals[i], rng) for i in source]
    noise = rng.standard_normal((n_vars - n_relevant, n_samples))
    columns = np.stack([*originals, *copies, *noise])

    place = rng.permutation(n_vars)  # column i moves to place[i]
    X = np.empty((n_samples, n_vars), dtype=np.int16)
    X[:, place] = _as_integers(columns, n_relevant, rng).T
    kinds = ["informative"] * n_informative + ["combined"] * (n_redundant - n_repeated) + ["repeated"] * n_repeated
    return X, y, _truth(place, kinds, source)


def _labelled_corners(n_informative: int, rng: np.random.RandomState) -> tuple[IntArray, Labels]:
    """Return the corners of the cube as rows of ±1, and random classes, equally frequent, that use every coordinate."""
    n_corners = 2**n_informative
    bits = np.arange(n_corners)[:, None] >> np.arange(n_informative) & 1
    if n_informative == 1:
        return 2 * bits - 1, bits[:, 0].astype(np.uint8)
    while True:
        # Both sides of coordinate 0 have the same number of corners of each class: it has no effect of its own.
        corner_class = np.empty(n_corners, dtype=np.uint8)
        for side in (0, 1):
            corner_class[bits[:, 0] == side] = rng.permutation(np.arange(n_corners // 2) % 2)
        # In a small cube a coordinate may have no effect at all: draw again.
        neighbour = np.arange(n_corners)[:, None] ^ (1 << np.arange(n_informative))
        if (corner_class[:, None] != corner_class[neighbour]).any(axis=0).all():
            return 2 * bits - 1, corner_class


def _flipped(y: Labels, share: float, rng: np.random.RandomState) -> Labels:
    """Return labels of which `share` are wrong, the same number in each class."""
    n_wrong = round(share * len(y) / 2)
    wrong = [rng.permutation(np.flatnonzero(y == q))[:n_wrong] for q in (0, 1)]
    flipped = y.copy()
    flipped[np.concatenate(wrong)] ^= 1
    return flipped


def _combinations(coordinates: FloatArray, number: int, rng: np.random.RandomState) -> list[FloatArray]:
    """Return random linear combinations of the coordinates, with weights of length 1."""
    weights = rng.uniform(-1, 1, size=(number, coordinates.shape[1]))
    weights /= np.sqrt((weights**2).sum(axis=1, keepdims=True))
    return [(coordinates * row).sum(axis=1) for row in weights]


def _noisy_copy(column: FloatArray, rng: np.random.RandomState) -> FloatArray:
    noise: FloatArray = rng.standard_normal(len(column))
    return column + 0.08 * float(column.std()) * noise


def _as_integers(columns: FloatArray, n_relevant: int, rng: np.random.RandomState) -> ShortArray:
    """Return rows scaled, shifted and rounded as in the original: around 480, from 0 to 999, some with few values."""
    scale = rng.uniform(1, 45, size=len(columns))
    # Relevant variables keep enough distinct values to stay informative.
    scale[:n_relevant] = np.maximum(scale[:n_relevant], 5)
    shift = rng.uniform(0, 1, size=len(columns))
    return np.clip(np.rint(475 + scale[:, None] * (columns + shift[:, None])), 0, 999).astype(np.int16)


def _truth(place: IntArray, kinds: list[str], source: IntArray) -> MadelonTruth:
    """Return the truth about columns that were made in the order of `kinds`, then noise, and moved to `place`."""
    kind = np.full(len(place), "noise", dtype="<U11")
    kind[place[: len(kinds)]] = kinds
    copy_of = np.full(len(place), -1, dtype=np.int64)
    copy_of[place[len(kinds) - len(source) : len(kinds)]] = place[source]
    return MadelonTruth(
        relevant=np.flatnonzero(kind != "noise"),
        informative=np.flatnonzero(kind == "informative"),
        redundant=np.flatnonzero((kind == "combined") | (kind == "repeated")),
        repeated=np.flatnonzero(kind == "repeated"),
        copy_of=copy_of,
        kind=kind,
    )


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
