"""Numbers that are linear in a covariate with outliers, and columns that follow the covariate."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, selected, smallest

_COVARIATES = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "with outliers on both sides (t, 2 df)": lambda rng, n: rng.standard_t(2, n),
    "normal": lambda rng, n: rng.normal(size=n),
}


def _make(rng: Rng, planted: bool, *, kind: str, n: int, slope: float, outcome: str = "number") -> Table:
    covariate = _COVARIATES[kind](rng, n)
    covariate /= np.subtract(*np.quantile(covariate, [0.84, 0.16])) / 2
    X = rng.normal(size=(n, 40))
    X[:, :15] += covariate[:, np.newaxis]
    # Of the true columns, some follow the covariate.
    true = [12, 13, 14, 37, 38, 39] if planted else []
    mean = slope * covariate + (X[:, true] - np.where(np.array(true) < 15, covariate[:, np.newaxis], 0)).sum(axis=1) * (
        4 / np.sqrt(n)
    )
    y = mean + rng.normal(size=n)
    if outcome == "classes":
        y = (rng.random(n) < 1 / (1 + np.exp(np.median(mean) - mean))).astype(int)
    return Table(X, y, frozenset(true), {"covariates": covariate})


def _plain(table: Table) -> set[int]:
    """Least squares of the values, or logistic regression, with the covariate as it is."""
    import statsmodels.api as sm

    columns = np.column_stack([np.ones(len(table.y)), table.given["covariates"]])
    if len(np.unique(table.y)) == 2:
        fits = [sm.Logit(table.y, np.column_stack([columns, x])).fit(disp=0) for x in table.X.T]
        return smallest(np.array([fit.pvalues[-1] for fit in fits]))
    basis = np.linalg.qr(columns)[0]
    u, left = (each - basis @ (basis.T @ each) for each in (table.y, table.X))
    r = left.T @ u / np.sqrt((left**2).sum(axis=0) * (u @ u))
    df = len(u) - 3
    return smallest(2 * stats.t.sf(np.abs(r) * np.sqrt(df / (1 - r**2)), df))


_SETTINGS = [
    ("exponential", 400, 2.0),
    ("exponential", 800, 0.5),
    ("lognormal", 400, 1.0),
    ("with outliers on both sides (t, 2 df)", 400, 1.0),
    ("exponential", 100, 1.0),
    ("normal", 400, 1.0),
]

LINE = Line(
    "A covariate with outliers",
    "A number depends on a covariate (dose, income, a biomarker) whose values are skewed, and 15 of 40 columns follow "
    "that covariate. `select` compares ranks of the outcome, and these are not linear in such a covariate.",
    [
        Design(
            f"{kind} covariate, {n} samples, slope {slope:g}",
            partial(_make, kind=kind, n=n, slope=slope),
            partial(selected, dimensions=(1,)),
            _plain,
            "least squares of the values",
        )
        for kind, n, slope in _SETTINGS
    ]
    + [
        Design(
            "two classes, lognormal covariate, 800 samples",
            partial(_make, kind="lognormal", n=800, slope=0.5, outcome="classes"),
            partial(selected, dimensions=(1,)),
            _plain,
            "logistic regression",
            tables=60,
            planted=30,
        ),
        Design(
            "exponential covariate, 400 samples, slope 2, the default call (pairs too)",
            partial(_make, kind="exponential", n=400, slope=2.0),
            selected,
            _plain,
            "least squares of the values",
            tables=60,
            planted=30,
        ),
    ],
)
