"""Strata that are small and lack a class: batches of an experiment."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, selected, smallest

#: Samples of each class in each batch.
_BATCHES = {
    "16 A + 4 B, 16 A + 4 C": [(16, 4, 0), (16, 0, 4)],
    "10 A + 3 B, 8 A + 3 C, 9 B + 3 C": [(10, 3, 0), (8, 0, 3), (0, 9, 3)],
    "5 A, 11 A + 4 B, 4 A + 11 B, 5 B": [(5, 0), (11, 4), (4, 11), (0, 5)],
    "12 A + 12 B, 12 A + 12 B": [(12, 12), (12, 12)],
}


def _make(rng: Rng, planted: bool, *, batches: str, columns: int, values: str) -> Table:
    stratum, y, parts = [], [], []
    true = [5, 6, 7] if planted else []
    for number, sizes in enumerate(_BATCHES[batches]):
        of_batch = np.repeat(np.arange(len(sizes)), sizes)
        X = rng.normal(size=(len(of_batch), columns))
        X[:, true] += 2.5 * (of_batch > 0)[:, np.newaxis]
        parts.append(X + 2 * rng.normal(size=columns))
        y.append(of_batch)
        stratum += [number] * len(of_batch)
    X = np.concatenate(parts)
    if values == "grades":
        X = np.clip(np.round(X), -2, 2)
    return Table(X, np.concatenate(y), frozenset(true), {"strata": np.array(stratum)})


def _of_each_batch(table: Table) -> set[int]:
    """Mann and Whitney's (or Kruskal and Wallis') test in each batch, the smallest p times the number of batches."""
    p = np.ones((0, table.X.shape[1]))
    for batch in np.unique(table.given["strata"]):
        rows = table.given["strata"] == batch
        classes = np.unique(table.y[rows])
        if len(classes) < 2:
            continue
        parts = [table.X[rows & (table.y == one)] for one in classes]
        how = stats.mannwhitneyu(*parts, method="auto") if len(parts) == 2 else stats.kruskal(*parts)
        p = np.vstack([p, how.pvalue])
    return smallest(np.minimum(p.min(axis=0) * len(p), 1.0))


_SETTINGS = [(name, columns, values) for name in _BATCHES for columns, values in ((300, "numbers"), (100, "grades"))]

LINE = Line(
    "Batches that lack a class",
    "Samples come from batches whose values differ, and some batches have no sample of some class. Batches are given "
    "(`strata=`): only samples of a batch are compared with each other.",
    [
        Design(
            f"{name}, {columns} columns of {values}",
            partial(_make, batches=name, columns=columns, values=values),
            partial(selected, dimensions=(1,)),
            _of_each_batch,
            "ranks in each batch",
            tables=200,
            planted=50,
        )
        for name, columns, values in _SETTINGS
    ],
)
