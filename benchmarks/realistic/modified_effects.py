"""Effects that depend on a covariate which another column goes with: they look like interactions of columns."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
from scipy import stats

from benchmarks.realistic.designs import Design, Line, Rng, Table, interacting, smallest


def _make(rng: Rng, planted: bool, *, outcome: str, n: int, columns: str, covariate: str, r: float) -> Table:
    """Columns 0, 1, 2 have effects that grow with the covariate, 3 to 8 go with it; 10 and 11 interact if planted."""
    c = {
        "normal": lambda: rng.normal(size=n),
        "skewed": lambda: rng.gamma(2.0, size=n) / np.sqrt(2) - np.sqrt(2),
        "three labels": lambda: rng.integers(0, 3, n) - 1.0,
    }[covariate]()
    own = rng.normal(size=(n, 20))
    own[:, 3:9] = r * (c / c.std())[:, np.newaxis] + np.sqrt(1 - r * r) * own[:, 3:9]
    if columns == "genotypes":
        shares = rng.uniform(0.25, 0.5, 20)
        cuts = [np.quantile(x, [(1 - f) ** 2, 1 - f * f]) for x, f in zip(own.T, shares, strict=True)]
        X = np.stack([np.searchsorted(cut, x) for cut, x in zip(cuts, own.T, strict=True)], axis=1)
    elif columns == "two values":
        X = (own > 0).astype(np.int64)
    else:
        X = own
    scale = 1.0 if outcome == "number" else 2.0
    standard = (X[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    mean = scale * 0.5 * (standard * c[:, np.newaxis]).sum(axis=1) + 0.5 * c
    if planted:
        product = (X[:, 10] - X[:, 10].mean()) * (X[:, 11] - X[:, 11].mean())
        mean = mean + scale * 7.5 / np.sqrt(n) * product / product.std() * np.sqrt(1 + 0.25 * 3)
    if outcome == "number":
        y = mean + rng.normal(size=n)
    elif outcome == "classes":
        y = (rng.random(n) < 1 / (1 + np.exp(-mean))).astype(int)
    else:
        time, end = rng.exponential(np.exp(-mean)), rng.exponential(2.0, n)
        y = (np.minimum(time, end), time <= end)
    given = c if covariate != "three labels" else np.array(["a", "b", "c"])[c.astype(int) + 1]
    return Table(X, y, frozenset([(10, 11)]) if planted else frozenset(), {"covariates": {"c": given}})


def _plain(table: Table) -> set[tuple[int, ...]]:
    """Every product in a regression with both columns, the covariate, and its products with both; Holm."""
    import statsmodels.api as sm

    c = table.given["covariates"]["c"]
    known = c[:, np.newaxis] if c.dtype.kind == "f" else (c[:, np.newaxis] == np.array(["b", "c"])).astype(float)
    pairs = list(combinations(range(table.X.shape[1]), 2))
    X = table.X - table.X.mean(axis=0)
    p = np.ones(len(pairs))
    for row, (i, j) in enumerate(pairs):
        columns = [known, X[:, [i]], X[:, [j]], known * X[:, [i]], known * X[:, [j]], (X[:, i] * X[:, j])[:, None]]
        design = np.column_stack(columns)
        if isinstance(table.y, tuple):
            fit = sm.PHReg(table.y[0], design, status=table.y[1]).fit()
        elif len(np.unique(table.y)) == 2:
            fit = sm.Logit(table.y, sm.add_constant(design)).fit(disp=0)
        else:
            fit = sm.OLS(stats.rankdata(table.y), sm.add_constant(design)).fit()
        p[row] = fit.pvalues[-1]
    return {pairs[row] for row in smallest(p)}


_SETTINGS = [
    ("number", 600, "genotypes", "normal", 0.5, {}),
    ("number", 600, "genotypes", "normal", 0.5, {"coding": "dosage"}),
    ("number", 1000, "two values", "skewed", 0.6, {}),
    ("number", 600, "numbers", "normal", 0.6, {}),
    ("number", 600, "numbers", "skewed", 0.6, {"coding": "product"}),
    ("classes", 1000, "genotypes", "normal", 0.6, {}),
    ("classes", 1500, "two values", "three labels", 0.6, {}),
    ("times", 1000, "genotypes", "normal", 0.6, {}),
    ("number", 150, "genotypes", "normal", 0.6, {}),
]

LINE = Line(
    "Effects that depend on a covariate",
    "The effects of three columns grow with a covariate (ancestry, age), and six other columns go with that covariate: "
    "a column of each kind together look like an interaction. The covariate is given. `interactions` has its products "
    "with the members of each tuple in the model, and so has the plain test.",
    [
        Design(
            f"{outcome}, {n} samples, {columns}, covariate: {covariate}, r = {r:g}"
            + "".join(f", {name}={value}" for name, value in settings.items()),
            partial(_make, outcome=outcome, n=n, columns=columns, covariate=covariate, r=r),
            partial(interacting, **settings),
            _plain,
            "regression with products of covariate and columns",
            tables=200,
            planted=50,
        )
        for outcome, n, columns, covariate, r, settings in _SETTINGS
    ],
)
