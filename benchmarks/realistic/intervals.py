"""Intervals of the level, or class, that differs most: do they cover the truth as often as they say?"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table


def _make(rng: Rng, planted: bool, *, outcome: str, n: int, levels: int, shares: str) -> Table:
    """A column of levels without an order, whose effects spread; the truth stands in `given`."""
    p = np.ones(levels) if shares == "equal" else 0.6 ** np.arange(levels)
    codes = rng.permutation(
        np.concatenate([np.repeat(np.arange(levels), 6), rng.choice(levels, n - 6 * levels, p=p / p.sum())])
    )
    effects = np.zeros(levels)
    if planted:
        effects[rng.integers(1, levels)] = 1.5
    if outcome == "number":
        y = effects[codes] + rng.normal(size=n)
    elif outcome == "classes":
        y = (rng.random(n) < 1 / (1 + np.exp(-effects[codes]))).astype(int)
    else:
        time, end = rng.exponential(np.exp(-effects[codes])), rng.exponential(2.0, n)
        y = (np.minimum(time, end), time <= end)
    return Table(codes, y, frozenset([0]) if planted else frozenset())


def _ours(table: Table) -> set[int]:
    """Whether the interval of the clearest level leaves out "no difference"."""
    from interplay.infer.effects.measured import Values, make_target, measure

    names = [f"level {i}" for i in range(int(table.X.max()) + 1)]
    if isinstance(table.y, tuple):
        target = make_target("", time=table.y[0], event=table.y[1])
    elif table.y.dtype.kind == "f":
        target = make_target("", numbers=table.y)
    else:
        target = make_target("", codes=table.y, labels=("a", "b"))
    return {0} if measure(Values(table.X.astype(float), names, table.X, is_ordered=False), target).has_trend else set()


def _bonferroni(table: Table) -> set[int]:
    """Each level against the largest, by means or odds, with an interval of 1 − .05/(levels − 1)."""
    codes = table.X
    base = int(np.bincount(codes).argmax())
    y = np.log(table.y[0]) if isinstance(table.y, tuple) else table.y.astype(float)
    others = [level for level in np.unique(codes) if level != base]
    p = [stats.ttest_ind(y[codes == level], y[codes == base], equal_var=False).pvalue for level in others]
    return {0} if min(p) < 0.05 / len(others) else set()


_SETTINGS = [(kind, 400, 10, "equal") for kind in ("classes", "number", "times")] + [
    ("classes", 300, 6, "falling"),
    ("number", 200, 6, "falling"),
    ("times", 300, 4, "falling"),
    ("times", 200, 6, "falling"),
    ("times", 200, 10, "equal"),
]

LINE = Line(
    "The level that differs most",
    "A column has four to ten levels (regions, treatments, genotypes of a locus). The answer names the level that "
    "differs most from the largest one, with a 95 % interval. *False* is an interval that excludes the truth, that no "
    "level differs; *found* is one that excludes it where a level differs.",
    [
        Design(
            f"{outcome}, {n} samples, {levels} levels, shares {shares}",
            partial(_make, outcome=outcome, n=n, levels=levels, shares=shares),
            _ours,
            _bonferroni,
            "each level by Welch's test, Bonferroni",
            tables=1000,
        )
        for outcome, n, levels, shares in _SETTINGS
    ],
)
