"""Clean tables, with effects and without: how often is one refused, doubted or cautioned?"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np

from benchmarks.realistic.designs import Design, Line, Rng, Table


def _numbers(rng: Rng, n: int) -> tuple[object, np.ndarray]:
    """Normal and skewed columns, correlated .3, three of which have effects."""
    z = np.sqrt(0.3) * rng.normal(size=(n, 1)) + np.sqrt(0.7) * rng.normal(size=(n, 30))
    return np.hstack([z[:, :20], np.exp(z[:, 20:])]), 0.4 * z[:, :3].sum(axis=1)


def _mixed(rng: Rng, n: int) -> tuple[object, np.ndarray]:
    """What a spreadsheet has: numbers, counts, flags, grades and labels."""
    import pandas as pd

    X = pd.DataFrame({f"number {i}": rng.normal(50, 10, n) for i in range(8)})
    X = X.assign(**{f"count {i}": rng.poisson(3, n) for i in range(4)})
    X = X.assign(**{f"flag {i}": rng.random(n) < 0.3 for i in range(4)})
    X = X.assign(**{f"region {i}": rng.choice(list("abcde"), n) for i in range(4)})
    return X, 0.05 * (X["number 0"] - 50).to_numpy() + 0.8 * X["flag 0"].to_numpy()


def _polygenic(rng: Rng, n: int) -> tuple[object, np.ndarray]:
    """Genotypes of unrelated people of one population, 300 additive causes, ten chromosomes."""
    from interplay.data.study.table import as_table

    X = rng.binomial(2, rng.uniform(0.1, 0.5, 400), size=(n, 400))
    score = (X[:, :300] - X[:, :300].mean(axis=0)) @ rng.normal(size=300)
    table = as_table(X.astype(np.int8))
    # Tables of arrays have no positions; those of files of genotypes have.
    places = [(str(v // 40 + 1), 1000.0 * v) for v in range(400)]
    table.__class__ = type("Placed", (type(table),), {"positions": places})
    return table, 1.2 * score / score.std()


def _make(rng: Rng, planted: bool, *, kind: str, outcome: str, n: int) -> Table:
    X, score = {"numbers": _numbers, "mixed": _mixed, "genotypes": _polygenic}[kind](rng, n)
    if outcome == "number":
        return Table(X, score + rng.normal(size=n))
    if outcome == "classes":
        return Table(X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int))
    time, end = rng.exponential(np.exp(-score)), rng.exponential(2.0, n)
    return Table(X, (np.minimum(time, end), time <= end))


def _cautioned(table: Table, *, call: str) -> set[int]:
    """Whether there is a refusal, a warning, a doubt, a caution about a column, or a note about the rows."""
    import interplay

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = getattr(interplay, call)(table.X, table.y, n_jobs=1, random_state=0)
        except ValueError:
            return {0}
    said = found.provenance
    return {0} if caught or said.get("cautions") or "doubt" in said or "rows" in said else set()


def _nothing(table: Table) -> set[int]:
    return set()


_SETTINGS = [
    *(("select", kind, outcome, 300) for kind in ("numbers", "mixed") for outcome in ("classes", "number", "times")),
    *(("select", "genotypes", outcome, 500) for outcome in ("classes", "number")),
    *(("interactions", "numbers", outcome, 500) for outcome in ("classes", "number")),
    *(("interactions", "genotypes", outcome, 600) for outcome in ("classes", "number", "times")),
]

LINE = Line(
    "Clean tables",
    "Nothing is wrong with these tables: independent samples, effects that add up, genotypes of one population with "
    "300 small causes. *False* is a refusal, a warning, a caution about a column, or a doubt that populations or "
    "relatives are behind what is found. It should be less than .01.",
    [
        Design(
            f"{call}, {outcome}, {n} samples, {kind}",
            partial(_make, kind=kind, outcome=outcome, n=n),
            partial(_cautioned, call=call),
            _nothing,
            "",
            tables=100 if (call, kind) == ("select", "genotypes") else 300,
            planted=0,
        )
        for call, kind, outcome, n in _SETTINGS
    ],
)
