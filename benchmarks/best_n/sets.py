"""Tables with an outcome: published ones, and made ones with known causes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

#: Folder with `expression` and `madelon.npz`.
SHARED = Path(os.environ.get("BEST_N_DATA") or Path(__file__).parents[3] / "shared" / "data")

Table = tuple[np.ndarray, np.ndarray]


class Set(NamedTuple):
    """A table. `is_development` says whether it was looked at while constants of the method were chosen."""

    name: str
    make: Callable[[int], Table]
    is_development: bool = False
    is_number: bool = False
    dimensions: tuple[int, ...] = (1, 2)
    #: Orders are made in one of so many parts of the samples, and judged in the others; 0: in three of four.
    made_in_one_of: int = 0


def expression(name: str) -> Table:
    """Classes with fewer than five samples are left out."""
    from scipy.io import loadmat

    table = loadmat(SHARED / "expression" / f"{name}.mat")
    X, y = table["X"].astype(float), table["Y"].ravel()
    labels, sizes = np.unique(y, return_counts=True)
    kept = np.isin(y, labels[sizes >= 5])
    return X[kept], y[kept]


def madelon() -> Table:
    """The first 1000 samples of the training part of NIPS 2003."""
    table = np.load(SHARED / "madelon.npz")
    names = table.files
    X, y = (table[next(name for name in names if name.lower().startswith(first))] for first in ("x", "y"))
    return X[:1000].astype(float), y[:1000].ravel()


def digits() -> Table:
    """The half of the samples that was not looked at in development."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[len(y) // 2 :]
    return X[rows], y[rows]


def of_sklearn(name: str) -> Table:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(return_X_y=True)


def parity(seed: int, size: int, n_vars: int = 1000, n_samples: int = 600) -> Table:
    """Two tuples, the first with more weight, among columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_vars))
    first, second = (np.sign(X[:, start : start + size]).prod(axis=1) for start in (0, size))
    return X, (1.5 * first + second + 0.5 * rng.normal(size=n_samples) > 0).astype(int)


def mixed(seed: int, n_samples: int = 600) -> Table:
    """Five linear causes with ten copies each, two XOR pairs, 441 columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 500))
    X[:, 9:59] = np.repeat(X[:, :5], 10, axis=1) + 0.35 * rng.normal(size=(n_samples, 50))
    pairs = np.sign(X[:, 5] * X[:, 6]) + np.sign(X[:, 7] * X[:, 8])
    return X, (0.8 * X[:, :5].sum(axis=1) + 1.6 * pairs + 0.7 * rng.normal(size=n_samples) > 0).astype(int)


def friedman(seed: int, which: int) -> Table:
    """Friedman's tables of 300 samples, with five noisy copies of each variable and 50 columns of noise."""
    from sklearn import datasets

    noise = {1: 1.0, 2: 100.0, 3: 0.15}[which]
    X, y = getattr(datasets, f"make_friedman{which}")(n_samples=300, noise=noise, random_state=seed)
    rng = np.random.default_rng(seed + 1)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    copies = [scaled + 0.4 * rng.normal(size=scaled.shape) for _ in range(5)]
    return np.hstack([X, *copies, rng.normal(size=(300, 50))]), y


#: A made table is drawn anew in each repetition, with its number as seed; those of development had seeds from 1000 on.
SETS = [
    Set("lung_small", lambda seed: expression("lung_small"), is_development=True),
    Set("lymphoma", lambda seed: expression("lymphoma")),
    Set("GLIOMA", lambda seed: expression("GLIOMA")),
    Set("colon", lambda seed: expression("colon"), is_development=True),
    Set("Madelon", lambda seed: madelon()),
    Set("breast cancer", lambda seed: of_sklearn("breast_cancer")),
    Set("digits", lambda seed: digits()),
    Set("XOR pairs", lambda seed: parity(seed, 2)),
    Set("XOR triples", lambda seed: parity(seed, 3, n_vars=300), dimensions=(1, 2, 3)),
    Set("mixed", mixed),
    Set("diabetes", lambda seed: of_sklearn("diabetes"), is_number=True),
    Set("Friedman 1", lambda seed: friedman(seed, 1), is_number=True),
    Set("Friedman 2", lambda seed: friedman(seed, 2), is_number=True),
    Set("Friedman 3", lambda seed: friedman(seed, 3), is_number=True),
]
