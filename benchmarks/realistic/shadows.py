"""Populations, with their principal components given: which pairs are true, and which are shadows by ancestry?"""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, interacting, smallest

#: Variants stand in blocks of linkage. The blocks of the pair that interacts, on two chromosomes, and blocks that
#: differ between populations as these do.
_SIZE, _BLOCKS, _PAIR, _SHADOWS = 5, 12, (0, 6), (2, 8)


def _genotypes(rng: Rng, frequency: np.ndarray, size: int) -> np.ndarray:
    """Return genotypes, (n, blocks × size), of the frequencies of blocks, (n, blocks); neighbours are linked."""
    X = np.zeros((frequency.shape[0], frequency.shape[1], size), dtype=np.int64)
    for _ in range(2):
        block = rng.random(frequency.shape) < frequency
        own = rng.random(X.shape) < frequency[:, :, np.newaxis]
        X += np.where(rng.random(X.shape) < 0.95, block[:, :, np.newaxis], own)
    return X.reshape(len(X), -1)


def _make(rng: Rng, planted: bool, *, n: int, apart: float, effect: float, outcome: str) -> Table:
    """Sixty variants of two chromosomes in two populations; a pair interacts in every table."""
    population = rng.integers(0, 2, n)
    shift = apart * rng.choice([-1, 1], _BLOCKS) * rng.uniform(0.3, 1, _BLOCKS)
    shift[[*_PAIR, *_SHADOWS]] = apart
    sides = np.array([[-0.5], [0.5]])
    X = _genotypes(rng, np.clip(0.4 + sides * shift, 0.05, 0.95)[population], _SIZE)
    more = np.clip(0.4 + sides * apart * rng.choice([-1, 1], 200), 0.05, 0.95)[population]
    others = _genotypes(rng, more, 1)
    scaled = (others - others.mean(axis=0)) / others.std(axis=0)
    components = np.linalg.svd(scaled, full_matrices=False)[0][:, :2] * np.sqrt(n)
    centred = X - X.mean(axis=0)
    product = centred[:, _SIZE * _PAIR[0] + 2] * centred[:, _SIZE * _PAIR[1] + 2]
    mean = effect * product + 0.8 * population + 0.3 * centred[:, 20:26].sum(axis=1)
    if outcome == "number":
        y = mean + rng.normal(size=n)
    else:
        y = (rng.random(n) < 1 / (1 + np.exp(-2 * (mean - mean.mean())))).astype(int)
    true = frozenset([_PAIR]) if planted else frozenset()
    return Table(X, y, true, {"covariates": {f"PC{i + 1}": components[:, i] for i in range(2)}})


def _of_blocks(found: set[tuple[int, ...]], table: Table) -> set[tuple[int, ...]]:
    """The blocks of pairs. In tables without planted pairs, the true one does not count as false."""
    blocks = {tuple(v // _SIZE for v in pair) for pair in found}
    return blocks if table.true else blocks - {_PAIR}


def _holds(table: Table, *, coding: str) -> set[tuple[int, ...]]:
    """Significant pairs of which `tagging` says that they hold."""
    import interplay

    call = {"n_jobs": 1, "coding": coding, **table.given}
    found = interplay.interactions(table.X, table.y, **call)
    if not found.significant:
        return set()
    positions = [("1" if v < 30 else "2", 1e5 * (v // _SIZE) * 30 + 1e3 * (v % _SIZE)) for v in range(table.X.shape[1])]
    tagged = found.tagging(table.X, table.y, covariates=table.given["covariates"], positions=positions)
    rows = tagged[tagged["verdict"] == "holds"]["members"]
    return _of_blocks({tuple(int(name[1:]) for name in pair) for pair in rows}, table)


def _significant(table: Table, *, coding: str) -> set[tuple[int, ...]]:
    return _of_blocks(interacting(table, coding=coding), table)


def _products(table: Table) -> set[tuple[int, ...]]:
    """Least squares of both dosages, their product, and components with their products with both; Holm."""
    components = np.column_stack(list(table.given["covariates"].values()))
    X, y = table.X - table.X.mean(axis=0), stats.rankdata(table.y)
    pairs = list(combinations(range(X.shape[1]), 2))
    p = np.ones(len(pairs))
    for row, (i, j) in enumerate(pairs):
        a, b = X[:, [i]], X[:, [j]]
        basis = np.linalg.qr(np.hstack([np.ones_like(a), components, a, b, a * components, b * components]))[0]
        u, v = (each - basis @ (basis.T @ each) for each in (y, (a * b)[:, 0]))
        df = len(u) - basis.shape[1] - 1
        r = u @ v / np.sqrt((u @ u) * (v @ v))
        p[row] = 2 * stats.t.sf(abs(r) * np.sqrt(df / (1 - r * r)), df)
    return _of_blocks({pairs[row] for row in smallest(p)}, table)


_SETTINGS = [
    ("number", 1000, 0.5, 0.7, "dosage"),
    ("number", 1000, 0.5, 0.8, "levels"),
    ("number", 600, 0.35, 0.6, "dosage"),
    ("classes", 2000, 0.5, 0.5, "levels"),
    ("number", 1000, 0.0, 0.35, "dosage"),
]

LINE = Line(
    "Shadows of a pair by ancestry",
    "Two populations differ in the frequencies of most variants. Two variants of different chromosomes interact, and "
    "others, which differ between the populations as these do, are correlated with them by ancestry alone. Components "
    "of ancestry are given. *False* is any other pair: that `tagging` says holds, or that is called significant.",
    [
        Design(
            f"{outcome}, {n} samples, frequencies {apart:g} apart, coding={coding}, {name}",
            partial(_make, n=n, apart=apart, effect=effect, outcome=outcome),
            partial(ours, coding=coding),
            _products,
            "least squares with products of components",
            tables=100,
            planted=25,
        )
        for outcome, n, apart, effect, coding in _SETTINGS
        for name, ours in (("tagging says: holds", _holds), ("significant", _significant))
    ],
)
