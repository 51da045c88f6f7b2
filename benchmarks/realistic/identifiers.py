"""A column of texts that are nearly all different, among columns of numbers."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, selected, smallest


def _make(rng: Rng, planted: bool, *, outcome: str, n: int, labels: int) -> Table:
    import pandas as pd

    numbers = rng.normal(size=(n, 10))
    effect = 0.6 * numbers[:, 3] if planted else np.zeros(n)
    names = np.array([f"id {i}" for i in range(labels)])
    texts = rng.permutation(np.concatenate([names, rng.choice(names, n - labels)]) if labels < n else names[:n])
    X = pd.DataFrame(numbers, columns=[f"c{i}" for i in range(10)]).assign(text=texts)
    if outcome == "number":
        y = effect + rng.normal(size=n)
    elif outcome == "classes":
        y = (rng.random(n) < 1 / (1 + np.exp(-effect))).astype(int)
    else:
        time, end = rng.exponential(np.exp(-effect)), rng.exponential(2.0, n)
        y = (np.minimum(time, end), time <= end)
    return Table(X, y, frozenset([3] if planted else []))


def _ranks(table: Table) -> set[int]:
    """Spearman's correlation of each column of numbers, of times with the residuals of Nelson and Aalen."""
    y = table.y
    if isinstance(y, tuple):
        order = np.argsort(y[0])
        hazard = np.empty(len(order))
        hazard[order] = np.cumsum(y[1][order] / np.arange(len(order), 0, -1))
        y = y[1] - hazard
    return smallest(np.array([stats.spearmanr(table.X[f"c{i}"], y).pvalue for i in range(10)]))


_SETTINGS = [(kind, 200, labels) for kind in ("number", "classes", "times") for labels in (20, 80, 190, 200)]

LINE = Line(
    "Names among the columns",
    "A column of texts, nearly every one another: names of samples, invoice numbers, free text. Tests of its levels "
    "have a sample or two for each. The plain test leaves this column out, and the tables ask whether we find it.",
    [
        Design(
            f"{outcome}, {n} samples, {labels} different texts",
            partial(_make, outcome=outcome, n=n, labels=labels),
            partial(selected, dimensions=(1,)),
            _ranks,
            "Spearman, texts left out",
            tables=200,
            planted=50,
        )
        for outcome, n, labels in _SETTINGS
    ],
)
