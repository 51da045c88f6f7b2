"""make_madelon: a made-up Madelon, with a known truth.

Madelon is the classic case of variables that matter only together: samples sit on the corners of a five-dimensional
cube, the corners have random labels, and 480 of the 500 variables are not informative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int, check_real
from interplay.base.seeds import resolve_seed
from interplay.datasets.madelon_files import Labels, ShortArray

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
