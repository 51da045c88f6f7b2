"""Rows in time: outcome and columns follow their last value, and nobody said so."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.realistic.designs import Design, Line, Rng, Table, selected


def _make(rng: Rng, planted: bool, *, outcome: str, n: int, follows: float, given: bool) -> Table:
    X = np.empty((n, 31))
    X[0] = rng.normal(size=31)
    for i in range(1, n):
        X[i] = follows * X[i - 1] + np.sqrt(1 - follows**2) * rng.normal(size=31)
    y, X = X[:, 0], X[:, 1:]
    true = [4, 5] if planted else []
    X[:, true] += 2.0 * y[:, np.newaxis]
    if outcome == "classes":
        y = (y > 0).astype(int)
    return Table(X, y, frozenset(true), {"order": np.arange(n), "random_state": 0} if given else {})


def _not_told(table: Table) -> set[int]:
    """What is found without a word about the order of rows."""
    import interplay

    found = interplay.select(table.X, table.y, dimensions=(1,), n_jobs=1)
    return set() if "rows" in found.provenance else set(found.ranked.tolist())


def _shifted(table: Table) -> set[int]:
    """Correlations of a column with y, beside those with y shifted in a circle by every number of rows."""
    y = table.y - table.y.mean()
    X = table.X - table.X.mean(axis=0)
    n = len(y)
    sums = np.abs(np.fft.irfft(np.conj(np.fft.rfft(X, axis=0)) * np.fft.rfft(y)[:, np.newaxis], n, axis=0))
    largest = sums.max(axis=1)
    return set(np.flatnonzero([(largest >= own).sum() <= 0.05 * n for own in sums[0]]).tolist())


_SETTINGS = [
    ("number", 400, 0.95),
    ("classes", 400, 0.95),
    ("number", 300, 0.8),
    ("classes", 300, 0.5),
    ("number", 300, 0.0),
]

LINE = Line(
    "Rows in time",
    "Each row follows the last one, as in series of days, places or batches, and the call does not say so: what is "
    "found counts as false unless a note says that neighbouring rows resemble each other. With `order=`, the order is "
    "kept where labels are permuted, and effects are planted. The last rows have no order at all.",
    [
        Design(
            f"{outcome}, {n} rows, correlation with the last one {follows:g}, "
            + ("order given" if given else "not told"),
            partial(_make, outcome=outcome, n=n, follows=follows, given=given),
            partial(selected, dimensions=1) if given else _not_told,
            _shifted,
            "circular shifts",
            tables=100 if given else 200,
            planted=25 if given else 0 if follows else 50,
        )
        for outcome, n, follows in _SETTINGS
        for given in (False, True)
    ],
)
