"""The same table written otherwise: the answer must be the same; separated classes: no effect without end."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import combinations

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, smallest


def _make(rng: Rng, planted: bool, *, outcome: str, n: int, levels: int, given: bool) -> Table:
    X = rng.binomial(levels - 1, rng.uniform(0.1, 0.5, 8), size=(n, 8))
    both = (X[:, 0] > 0) ^ (X[:, 1] > 0) if planted else np.zeros(n)
    if outcome == "number":
        y = 1.2 * both + rng.normal(size=n)
    elif outcome == "separated classes":
        y = (both if planted else rng.random(n) < 0.5).astype(int)
        y = np.where(rng.random(n) < (0.02 if planted else 0.5), 1 - y, y)
        y = np.where((X[:, 2] > 0) & (X[:, 3] > 0), 1, y)
    elif outcome == "three classes":
        y = (rng.random(n) < 0.2 + 0.5 * both).astype(int) + (rng.random(n) < 0.3)
    else:
        y = (rng.random(n) < 0.3 + 0.4 * both).astype(int)
    return Table(X, y, frozenset([(0, 1)] if planted else []), {"covariates": rng.normal(size=n)} if given else {})


def _tests(X: np.ndarray, y: np.ndarray, given: dict[str, np.ndarray]) -> dict[tuple[int, ...], float]:
    import interplay

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interplay.interactions(X, y, n_jobs=1, max_p=1, **given)
    return {tuple(members): p for members, p in zip(found.tested.tuples.tolist(), found.tested.log_p, strict=True)}


def _changed(table: Table, *, how: str) -> set[tuple[int, ...]]:
    """Pairs whose p-value is another one where the table is written otherwise, by more than rounding.

    In planted tables, the significant pairs that are the same both times.
    """
    X, y, given, rng = table.X, table.y, table.given, np.random.default_rng(0)
    once = _tests(X, y, given)
    if how == "the other allele":
        other = _tests(X.max(axis=0) - X, y, given)
    elif how == "as numbers":
        other = _tests(X.astype(np.float32), y, given)
    else:
        order = rng.permutation(len(y))
        other = _tests(X[order], y[order], {name: of[order] for name, of in given.items()})
    same = {pair for pair in once if abs(once[pair] - other[pair]) <= 1e-5 * max(1.0, abs(once[pair]))}
    if table.true:
        return {pair for pair in same if once[pair] < np.log(0.05 / len(once))}
    return set(once) - same


def _endless(table: Table) -> set[tuple[int, ...]]:
    """Pairs with an interval that is wide beyond all sense, or finite where there is no estimate."""
    import interplay

    found = interplay.interactions(table.X > 0, table.y, n_jobs=1, max_p=1, **table.given)
    shown = found.tested
    wide = (shown.ci_high - shown.ci_low > 40) | (np.isnan(shown.estimate) & np.isfinite(shown.ci_high))
    if table.true:
        return {tuple(row) for row in shown.tuples[found.is_significant].tolist()}
    return {tuple(row) for row in shown.tuples[wide].tolist()}


def _chi2(table: Table) -> set[tuple[int, ...]]:
    """Homogeneity of odds or means in cells by a test of the product, for power; it has no formats."""
    y = stats.rankdata(table.y)
    pairs = list(combinations(range(8), 2))
    p = np.ones(len(pairs))
    for row, (i, j) in enumerate(pairs):
        a, b = ((table.X[:, v] > 0).astype(float) for v in (i, j))
        basis = np.linalg.qr(np.column_stack([np.ones(len(y)), a, b]))[0]
        u, v = (each - basis @ (basis.T @ each) for each in (y, a * b))
        r = u @ v / np.sqrt(max(float((u @ u) * (v @ v)), 1e-300))
        p[row] = 2 * stats.t.sf(abs(r) * np.sqrt((len(y) - 4) / max(1 - r * r, 1e-12)), len(y) - 4)
    return {pairs[row] for row in smallest(p)} if table.true else set()


_KINDS = [("classes", 3, False), ("three classes", 3, True), ("number", 3, True), ("classes", 2, True)]

LINE = Line(
    "The same table, written otherwise",
    "The other allele is counted, whole numbers are written as decimals, or rows stand in another order: no p-value of "
    "a pair may change. *False* is any that does. In the last rows one cell has samples of one class only: *false* is "
    "an odds ratio with an interval without end.",
    [
        Design(
            f"{outcome}, {levels} levels{', a covariate' * given}: {how}",
            partial(_make, outcome=outcome, n=300, levels=levels, given=given),
            partial(_changed, how=how),
            _chi2,
            "product of indicators",
            tables=40,
            planted=10,
        )
        for outcome, levels, given in _KINDS
        for how in ("the other allele", "as numbers", "rows in another order")
    ]
    + [
        Design(
            f"separated classes{', a covariate' * given}",
            partial(_make, outcome="separated classes", n=200, levels=2, given=given),
            _endless,
            _chi2,
            "product of indicators",
            tables=100,
            planted=25,
        )
        for given in (False, True)
    ],
)
