"""Columns that change the spread of a number, and no mean: pairs of them are no interactions."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np

from benchmarks.realistic.designs import Design, Line, Rng, Table, interacting, smallest


def _make(rng: Rng, planted: bool, *, n: int, share: float, raise_by: float, levels: int, noise: str) -> Table:
    """Three of 30 columns raise the noise; of planted ones, two that do not interact."""
    X = rng.binomial(levels - 1, share, size=(n, 30)).astype(float)
    spread = np.exp(raise_by * (X[:, :3] > 0).sum(axis=1))
    error = {"normal": rng.normal, "heavy-tailed": partial(rng.standard_t, 4)}[noise](size=n)
    y = spread * error
    pair = (10, 11) if planted else ()
    if planted:
        centred = X[:, pair] - X[:, pair].mean(axis=0)
        product = centred.prod(axis=1)
        y = y + 6.5 * np.sqrt((spread**2).mean()) * product / np.sqrt((product**2).sum())
    return Table(X, y, frozenset([pair]) if planted else frozenset())


def _robust(table: Table) -> set[tuple[int, ...]]:
    """Least squares of the values with both indicators and their product; HC3 variances of the product, Holm."""
    pairs = list(combinations(range(table.X.shape[1]), 2))
    p = np.ones(len(pairs))
    from scipy import stats

    for row, (i, j) in enumerate(pairs):
        columns = np.column_stack([np.ones(len(table.y)), table.X[:, i], table.X[:, j], table.X[:, i] * table.X[:, j]])
        # HC3 knows little about cells of few samples.
        if np.unique(table.X[:, (i, j)], axis=0, return_counts=True)[1].min() < 20:
            continue
        if np.linalg.matrix_rank(columns) < 4:  # a cell without samples
            continue
        inverse = np.linalg.inv(columns.T @ columns)
        leverage = np.einsum("ij,jk,ik->i", columns, inverse, columns)
        left = (table.y - columns @ (inverse @ (columns.T @ table.y))) / np.maximum(1 - leverage, 1e-9)
        weights = inverse[3] @ columns.T
        t = (weights @ table.y) / np.sqrt(((weights * left) ** 2).sum())
        p[row] = 2 * stats.t.sf(abs(t), len(table.y) - 4)
    return {pairs[row] for row in smallest(p)}


_SETTINGS = [
    (500, 0.3, 0.5, 2, "normal", {}),
    (500, 0.3, 0.5, 2, "normal", {"scale": "values"}),
    (500, 0.15, 0.8, 2, "normal", {}),
    (1000, 0.3, 1.0, 2, "normal", {}),
    (500, 0.5, 0.5, 2, "heavy-tailed", {}),
    (600, 0.3, 0.4, 3, "normal", {}),
    (600, 0.3, 0.4, 3, "normal", {"coding": "dosage"}),
    (500, 0.3, 0.0, 2, "normal", {}),
    (500, 0.1, 0.0, 2, "heavy-tailed", {}),
]

LINE = Line(
    "Unequal spread",
    "Three of 30 columns make a number more variable and change no mean. A pair of such columns has four groups of "
    "unequal spread, and the usual F test takes that for an interaction of means. `interactions` asks F and a test "
    "that lets each group have a variance of its own (HC3), and believes the larger p-value.",
    [
        Design(
            f"{n} samples, {levels} levels, share {share:g}, "
            + (f"spread times e^{raise_by:g}" if raise_by else "one spread")
            + ("" if noise == "normal" else f", {noise}")
            + "".join(f", {name}={value}" for name, value in settings.items()),
            partial(_make, n=n, share=share, raise_by=raise_by, levels=levels, noise=noise),
            partial(interacting, **settings),
            _robust,
            "product in least squares, HC3",
        )
        for n, share, raise_by, levels, noise, settings in _SETTINGS
    ],
)
