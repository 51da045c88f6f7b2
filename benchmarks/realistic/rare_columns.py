"""Columns that few samples carry, and outcomes that are mostly equal, given covariates."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, Test, selected, smallest


def make(
    rng: Rng,
    planted: bool,
    *,
    outcome: str,
    n: int,
    carriers: float,
    columns: int,
    related: bool = False,
    given: bool = True,
) -> Table:
    """Two covariates, of which the first may decide who is a carrier, and which are given; three true columns."""
    covariates = rng.normal(size=(n, 2))
    share = carriers * np.exp(0.8 * covariates[:, 0] - 0.32) if related else np.full(n, carriers)
    X = (rng.random((n, columns)) < share[:, np.newaxis]).astype(float)
    for j in np.flatnonzero(X.sum(axis=0) < 3):
        X[rng.choice(n, 3, replace=False), j] = 1
    true = [3, 4, 5] if planted else []
    effect = X[:, true].sum(axis=1)
    beside = {"covariates": covariates} if given else {}
    if outcome.endswith("% zeros"):
        zeros = float(outcome.split("%")[0]) / 100
        y = np.where(rng.random(n) < zeros * (1 - 0.8 * np.minimum(effect, 1)), 0, rng.lognormal(1, 1, n))
    elif outcome.endswith("% at a ceiling"):
        free = 1 - float(outcome.split("%")[0]) / 100
        y = np.where(rng.random(n) < np.where(effect > 0, 0.85, free), rng.normal(size=n), 2.5)
        y = np.minimum(y, 2.5)
    elif outcome == "counts, most zero":
        y = rng.poisson(np.where(rng.random(n) < 0.2, 3.0, 0.0) + 2 * effect).astype(float)
    elif outcome == "10% cases":
        y = (rng.random(n) < np.where(effect > 0, 0.8, 0.1)).astype(int)
    else:
        base = 0.2 if outcome.startswith("times, 15") else 1.5
        time, end = rng.exponential(1 / (base * np.exp(2.2 * effect))), rng.exponential(1.0, n)
        return Table(X, (np.minimum(time, end), time <= end), frozenset(true), beside)
    return Table(X, y, frozenset(true), beside)


def _permuted_carriers(table: Table) -> set[int]:
    """Mann and Whitney's test of ranks without the covariates, which have no effect: its exact tail, by draws."""
    scores = stats.rankdata(table.y)
    scores = scores - scores.mean()
    rng = np.random.default_rng(0)
    p = np.ones(table.X.shape[1])
    for k in np.unique(table.X.sum(axis=0)).astype(int):
        drawn = np.abs(scores[rng.integers(0, len(scores), (100_000, k))].sum(axis=1))
        for j in np.flatnonzero(table.X.sum(axis=0) == k):
            p[j] = (1 + (drawn >= abs(table.X[:, j] @ scores) - 1e-9).sum()) / 100_001
    return smallest(p)


def _fisher(table: Table) -> set[int]:
    counts = [[(table.y[x > 0] == c).sum() for c in (0, 1)] + [(table.y[x == 0] == c).sum() for c in (0, 1)]
              for x in table.X.T]  # fmt: skip
    return smallest(np.array([stats.fisher_exact(np.reshape(four, (2, 2)))[1] for four in counts]))


def _log_rank(table: Table) -> set[int]:
    """Martingale residuals without covariates, over carriers: their exact tail, by draws."""
    from interplay.data.study.outcomes.times import Survival

    return _permuted_carriers(Table(table.X, Survival(*table.y).martingale_residuals()))


def plain_of(outcome: str) -> tuple[Test, str]:
    """Return the plain test for this kind of outcome, and its name."""
    return _PLAIN.get(outcome, (_permuted_carriers, "ranks, permuted"))


_PLAIN = {
    "10% cases": (_fisher, "Fisher's exact test"),
    "times, 15 % events": (_log_rank, "log-rank, permuted"),
    "times, 60 % events": (_log_rank, "log-rank, permuted"),
}

#: Outcome, samples, share of carriers, columns, whether carriers follow a covariate.
_SETTINGS = [
    ("90% zeros", 500, 0.01, 400, False),
    ("90% zeros", 500, 0.01, 400, True),
    ("75% zeros", 500, 0.02, 200, False),
    ("84% at a ceiling", 500, 0.01, 400, False),
    ("counts, most zero", 400, 0.03, 200, True),
    ("97% zeros", 1000, 0.01, 200, False),
    ("10% cases", 500, 0.015, 200, True),
    ("times, 15 % events", 500, 0.015, 200, True),
    ("times, 60 % events", 300, 0.015, 200, False),
    ("times, 15 % events", 200, 0.03, 100, False),
]

LINE = Line(
    "Rare columns and outcomes that are mostly equal",
    "Columns in which one to three samples of a hundred have a 1 (rare variants, rare diagnoses), outcomes that are "
    "mostly zero or at a ceiling, few cases or few events, and two covariates without effect, which carriers may "
    "follow.",
    [
        Design(
            f"{outcome}, {n} samples, {columns} columns with {carriers:.1%} carriers"
            + (", who follow a covariate" if related else ""),
            partial(make, outcome=outcome, n=n, carriers=carriers, columns=columns, related=related),
            partial(selected, dimensions=(1,)),
            *plain_of(outcome),
            tables=200,
            planted=50,
        )
        for outcome, n, carriers, columns, related in _SETTINGS
    ],
)
