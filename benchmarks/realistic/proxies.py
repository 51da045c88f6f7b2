"""Columns that are correlated with causes in the table: pairs of such stand-ins are no interactions."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.realistic.designs import Design, Line, Rng, Table, interacting, smallest
from interplay.base.arrays import FloatArray

#: Shapes of effects, of a normal variable; each has variance 1, about.
SHAPES = {
    "U": lambda z: (z**2 - 1) / np.sqrt(2),
    "step": lambda z: np.sign(z - 0.7),
    "rise": lambda z: z,
    "hinge": lambda z: 1.7 * np.maximum(z, 0),
    "sine": lambda z: 1.4 * np.sin(2 * z),
}


def make(
    rng: Rng, planted: bool, *, n: int, columns: int, r: float, causes: list[str], kind: str, outcome: str, pair: str
) -> Table:
    """Columns of one factor; effects of the first ones add up. Of planted tables two more interact."""
    factor = rng.normal(size=(n, 1))
    z = np.sqrt(r) * factor + np.sqrt(1 - r) * rng.normal(size=(n, columns))
    if kind == "grades":
        z = np.digitize(z, [-0.7, 0.7]) - 1.0
    effects = sum(SHAPES[shape](z[:, place]) for place, shape in enumerate(causes))
    score = 1.5 * effects / np.sqrt(max(len(causes), 1))
    true = (columns - 2, columns - 1)
    if planted:
        # One of the two stands apart, so that the pair is no shape of one of them.
        z[:, true[1]] = rng.permutation(z[:, true[1]])
        a, b = z[:, true[0]], z[:, true[1]]
        product = a * b if pair == "product" else np.sign(a) * np.sign(b)
        score = score + {"number": 9.0, "classes": 20.0, "times": 13.0}[outcome] / np.sqrt(n) * product
    X: Any = {
        "normal": lambda: z,
        "skewed": lambda: np.exp(z),
        "two values": lambda: np.where(np.arange(columns) < len(causes), z, z > 0.3),
        "grades": lambda: z,
    }[kind]()
    return Table(X, _outcome(rng, score, outcome), frozenset([true]) if planted else frozenset())


def _outcome(rng: Rng, score: FloatArray, outcome: str) -> Any:
    if outcome == "classes":
        return (score - np.median(score) + rng.logistic(size=len(score)) > 0).astype(int)
    if outcome == "times":
        time = rng.exponential(size=len(score)) / np.exp(score - score.mean())
        end = np.quantile(time, 0.6) * rng.uniform(0.5, 2, size=len(score))
        return np.minimum(time, end), (time <= end).astype(int)
    return score + rng.normal(size=len(score))


def additive(table: Table) -> set[tuple[int, ...]]:
    """Least squares of values, classes or martingale residuals: halves of two beside splines of all columns, Holm."""
    from scipy import stats

    from interplay.data.models.linear import independent_columns, spline_columns

    X = np.asarray(table.X)
    y = _martingale(*table.y) if isinstance(table.y, tuple) else np.asarray(table.y, dtype=float)
    halves = np.where(np.median(X, axis=0) < X, 1.0, -1.0)
    splines = [spline_columns(column) for column in X.T]
    basis = np.linalg.qr(independent_columns(np.hstack([np.ones((len(y), 1)), *splines, halves])))[0]
    pairs = list(combinations(range(X.shape[1]), 2))
    products = np.column_stack([halves[:, i] * halves[:, j] for i, j in pairs])
    left, of_y = products - basis @ (basis.T @ products), y - basis @ (basis.T @ y)
    df = len(y) - basis.shape[1] - 1
    squared = (left.T @ of_y) ** 2 / np.maximum((left**2).sum(axis=0) * (of_y**2).sum(), 1e-300)
    p = stats.f.sf(squared / np.maximum(1 - squared, 1e-12) * df, 1, df)
    return {pairs[row] for row in smallest(p)}


def _martingale(time: FloatArray, event: FloatArray) -> FloatArray:
    """Return events less expected ones (Nelson and Aalen)."""
    order = np.argsort(time)
    hazard = np.cumsum(event[order] / np.arange(len(time), 0, -1))
    expected = np.empty(len(time))
    expected[order] = hazard
    return np.asarray(event - expected)


#: Outcome, samples, columns, correlation, causes, kind of columns, kind of the planted pair.
_SETTINGS: list[tuple[str, int, int, float, list[str], str, str]] = [
    ("number", 1500, 12, 0.6, ["U", "rise", "rise"], "skewed", "product"),
    ("number", 500, 12, 0.6, ["U", "rise", "rise"], "skewed", "sign"),
    ("number", 1500, 12, 0.9, ["U"], "normal", "sign"),
    ("number", 800, 20, 0.3, ["U", "step", "hinge"], "normal", "product"),
    ("number", 800, 20, 0.8, ["U", "step", "rise", "hinge", "sine"], "normal", "sign"),
    ("number", 1000, 20, 0.7, ["U", "hinge"], "two values", "sign"),
    ("number", 1000, 20, 0.7, ["U", "hinge"], "grades", "sign"),
    ("classes", 1500, 12, 0.6, ["U", "rise"], "skewed", "sign"),
    ("classes", 1500, 20, 0.8, ["U", "step", "rise", "hinge"], "normal", "product"),
    ("classes", 2000, 20, 0.7, ["U", "sine"], "two values", "sign"),
    ("times", 1000, 12, 0.6, ["U", "rise"], "normal", "sign"),
    ("times", 1000, 12, 0.8, ["U", "hinge", "step"], "skewed", "product"),
    ("number", 500, 60, 0.6, ["U", "rise"], "normal", "sign"),
]

LINE = Line(
    "Stand-ins for causes",
    "Columns are correlated, and the effects of one to five of them add up, some of them U-shaped. Two other columns "
    "that are correlated with such a cause look like an interaction, which the effect of the cause explains. "
    "`interactions` tests what it finds again beside the effects of correlated columns. The plain test has the effects "
    "of all columns in its model from the start, and finds more where these are large: the search of `interactions` "
    "has not.",
    [
        Design(
            f"{outcome}, {n} samples, {columns} columns ({kind}), r = {r:g}, causes: {', '.join(causes)}",
            partial(make, n=n, columns=columns, r=r, causes=causes, kind=kind, outcome=outcome, pair=pair),
            interacting,
            additive,
            "halves beside splines of all columns",
        )
        for outcome, n, columns, r, causes, kind, pair in _SETTINGS
    ],
)
