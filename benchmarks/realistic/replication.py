"""Variables that were found in one table, and new samples in which nothing is true."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, smallest

_N_CAUSES = 8


def _columns(rng: Rng, n: int, share: float) -> Any:
    return (rng.random((n, 40)) < share).astype(float)


def _outcome(rng: Rng, X: Any, kind: str, effect: float, cases: float) -> Any:
    score = effect * X[:, :_N_CAUSES].sum(axis=1)
    if kind == "classes":
        return (rng.random(len(X)) < np.minimum(cases * np.exp(score), 0.9)).astype(int)
    if kind == "mostly zero":
        return np.where(rng.random(len(X)) < np.minimum(cases * np.exp(score), 0.9), rng.lognormal(1, 1, len(X)), 0.0)
    time, end = rng.exponential(1 / (cases * np.exp(score))), rng.exponential(0.5, len(X))
    return np.minimum(time, end), time <= end


@cache
def _found(kind: str, share: float, cases: float, pairs: bool) -> Any:
    """Return a selection in a large table with strong effects of the first columns."""
    import interplay

    rng = np.random.default_rng(7)
    X = _columns(rng, 6000, max(share, 0.02))
    y = _outcome(rng, X, kind, 2.5, max(cases, 0.05))
    return interplay.select(X, y, dimensions=(1, 2) if pairs else (1,), random_state=0)


def _make(rng: Rng, planted: bool, *, kind: str, n: int, share: float, cases: float, pairs: bool) -> Table:
    X = _columns(rng, n, share)
    for j in np.flatnonzero(X.sum(axis=0) == 0):
        X[rng.integers(n), j] = 1
    y = _outcome(rng, X, kind, 2.5 * planted, cases)
    return Table(X, y, frozenset(range(_N_CAUSES)), {"first": _found(kind, share, cases, pairs)})


def _replicated(table: Table) -> set[int]:
    return {int(name[1:]) for name in table.given["first"].replicate(table.X, table.y).replicated}


def _plain(table: Table) -> set[int]:
    """Fisher's test, Mann–Whitney's, or the log-rank scores of carriers, of the columns that were found."""
    found = table.given["first"].ranked.tolist()
    p = np.ones(len(found))
    for row, v in enumerate(found):
        carriers = table.X[:, v] > 0
        y = table.y
        if isinstance(y, tuple):
            from interplay.data.study.outcomes.times import Survival

            y = Survival(*y).martingale_residuals()
        if len(np.unique(y)) == 2:
            p[row] = stats.fisher_exact([[(y[carriers] == c).sum(), (y[~carriers] == c).sum()] for c in (0, 1)])[1]
            continue
        scores = stats.rankdata(y) if not isinstance(table.y, tuple) else y
        scores = scores - scores.mean()
        drawn = scores[np.random.default_rng(0).integers(0, len(y), (20_000, int(carriers.sum())))].sum(axis=1)
        p[row] = (1 + (np.abs(drawn) >= abs(scores[carriers].sum()) - 1e-9).sum()) / 20_001
    return {found[row] for row in smallest(p)}


_SETTINGS = [
    ("classes", 1000, 0.015, 0.02, False),
    ("classes", 500, 0.015, 0.1, False),
    ("classes", 1000, 0.015, 0.02, True),
    ("mostly zero", 500, 0.015, 0.1, False),
    ("mostly zero", 500, 0.03, 0.1, True),
    ("times", 800, 0.015, 0.05, False),
    ("classes", 500, 0.3, 0.3, False),
]

LINE = Line(
    "Found once, tested again",
    "Columns were found in a large table. In new samples, with few cases and few carriers, nothing is true. "
    "`Selection.replicate` (and `holdout=`) asks each column again by the test of the search.",
    [
        Design(
            f"{kind}, {n} new samples, {share:.1%} carriers, {cases:.0%} {'events' if kind == 'times' else 'cases'}"
            + (", pairs searched too" if pairs else ""),
            partial(_make, kind=kind, n=n, share=share, cases=cases, pairs=pairs),
            _replicated,
            _plain,
            {"classes": "Fisher's exact test", "mostly zero": "ranks, permuted"}.get(kind, "log-rank, permuted"),
        )
        for kind, n, share, cases, pairs in _SETTINGS
    ],
)
