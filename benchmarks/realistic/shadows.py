"""Populations, with their principal components given: which pairs are true, and which are shadows by ancestry?"""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, interacting, smallest

#: The pair that interacts, on two chromosomes, and columns that differ between populations as its members do.
_PAIR, _SHADOWS = (0, 30), (10, 11, 40, 41)


def _make(rng: Rng, planted: bool, *, n: int, apart: float, effect: float, outcome: str) -> Table:
    """Sixty variants of two chromosomes in two populations; the pair interacts in every table."""
    population = rng.integers(0, 2, n)
    shift = apart * rng.choice([-1, 1], 60) * rng.uniform(0.3, 1, 60)
    shift[[*_PAIR, *_SHADOWS]] = apart
    frequency = np.clip(0.4 + np.array([[-0.5], [0.5]]) * shift, 0.05, 0.95)[population]
    X = rng.binomial(2, frequency)
    more = rng.binomial(
        2, np.clip(0.4 + np.array([[-0.5], [0.5]]) * apart * rng.choice([-1, 1], 200), 0.05, 0.95)[population]
    )
    scaled = (more - more.mean(axis=0)) / more.std(axis=0)
    components = np.linalg.svd(scaled, full_matrices=False)[0][:, :2] * np.sqrt(n)
    centred = X - X.mean(axis=0)
    mean = effect * centred[:, _PAIR[0]] * centred[:, _PAIR[1]] + 0.8 * population + 0.3 * centred[:, 20:26].sum(axis=1)
    if outcome == "number":
        y = mean + rng.normal(size=n)
    else:
        y = (rng.random(n) < 1 / (1 + np.exp(-2 * (mean - mean.mean())))).astype(int)
    true = frozenset([_PAIR]) if planted else frozenset()
    return Table(X, y, true, {"covariates": {f"PC{i + 1}": components[:, i] for i in range(2)}})


def _without_the_pair(found: set[tuple[int, ...]], table: Table) -> set[tuple[int, ...]]:
    """In tables without planted pairs, the true pair does not count as false."""
    return found if table.true else found - {_PAIR}


def _holds(table: Table, *, coding: str) -> set[tuple[int, ...]]:
    """Significant pairs of which `tagging` says that they hold."""
    import interplay

    call = {"n_jobs": 1, "coding": coding, **table.given}
    found = interplay.interactions(table.X, table.y, **call)
    if not found.significant:
        return set()
    tagged = found.tagging(table.X, table.y, covariates=table.given["covariates"])
    rows = tagged[tagged["verdict"] == "holds"]["members"]
    return _without_the_pair({tuple(int(name[1:]) for name in pair) for pair in rows}, table)


def _significant(table: Table, *, coding: str) -> set[tuple[int, ...]]:
    return _without_the_pair(interacting(table, coding=coding), table)


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
    return _without_the_pair({pairs[row] for row in smallest(p)}, table)


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
