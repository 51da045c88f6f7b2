"""Tables on which the method was chosen: none of their samples is judged in `sets.py`, but for the sets marked * there.

Made tables have seeds from 1000 on. Those of the judged sets that are made (XOR, mixed, Friedman) are drawn anew.
"""

from __future__ import annotations

import numpy as np

from benchmarks.best_n.sets import Set, Table, expression, friedman, mixed, of_sklearn, parity


def simulated_expression(
    seed: int,
    n_samples: int,
    n_genes: int,
    sizes: tuple[float, ...],
    *,
    strength: float = 1.0,
    has_levels: bool = False,
    n_modules: int = 40,
) -> Table:
    """Genes in modules that rise and fall together; classes shift some modules, and have markers of their own.

    Orders are made in one of six parts and judged in the other five.
    """
    rng = np.random.default_rng(seed)
    sizes_ = np.array(sizes) / sum(sizes)
    y = np.repeat(np.arange(len(sizes)), np.round(sizes_ * n_samples).astype(int))
    shifts = strength * rng.normal(size=(len(sizes), n_modules)) * (rng.random((len(sizes), n_modules)) < 0.3)
    modules = shifts[y] + rng.normal(size=(len(y), n_modules))
    loadings = rng.gamma(1.5, 0.5, (n_modules, n_genes)) * rng.choice([-1, 1], (n_modules, n_genes))
    member = np.zeros((n_modules, n_genes))
    member[rng.choice(n_modules, n_genes, p=rng.dirichlet(np.ones(n_modules))), np.arange(n_genes)] = 1
    member += 0.5 * (rng.random(member.shape) < 0.02)
    X = modules @ (loadings * member) + rng.standard_t(5, (len(y), n_genes))
    markers = (rng.random((len(sizes), n_genes)) < 0.01) * rng.gamma(2, 0.6 * strength, (len(sizes), n_genes))
    X += markers[y] * rng.choice([-1, 1], n_genes)
    if has_levels:
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        X = np.where(scaled > 0.5, 2.0, np.where(scaled < -0.5, -2.0, 0.0))
    return X, y


def colon_genes(seed: int) -> Table:
    """The genes of `colon` with four made classes: which of four random sums of components is largest."""
    X, _ = expression("colon")
    rng = np.random.default_rng(seed)
    scaled = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)
    components = np.linalg.svd(scaled, full_matrices=False)[0][:, :8] * np.sqrt(len(X))
    y = np.argmax(components @ rng.normal(size=(8, 4)) + 0.5 * rng.normal(size=(len(X), 4)), axis=1)
    kept = np.isin(y, np.flatnonzero(np.bincount(y) >= 5))
    return X[kept], y[kept]


def digits_half() -> Table:
    """The half of the samples that `sets.digits` leaves out."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[: len(y) // 2]
    return X[rows], y[rows]


def hypercube(seed: int, n_classes: int = 2) -> Table:
    """What Madelon was made by: clusters at corners of a cube, sums of its axes, and noise."""
    from sklearn.datasets import make_classification

    return make_classification(
        700, 300, n_informative=5, n_redundant=15, n_classes=n_classes, n_clusters_per_class=16 // n_classes,
        flip_y=0.02, class_sep=1.4, random_state=seed,
    )  # fmt: skip


def measurements(seed: int, *, is_number: bool, n_vars: int = 30) -> Table:
    """Columns of a clinical table: skewed, of a few factors, each measured several times."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(420, 6))
    X = factors @ rng.normal(size=(6, n_vars)) * (rng.random(n_vars) + 0.3) + 0.6 * rng.normal(size=(420, n_vars))
    X[:, ::3] = np.exp(0.5 * X[:, ::3])
    signal = factors @ rng.normal(size=6) + 0.6 * factors[:, 0] * factors[:, 1]
    if is_number:
        return X, signal + 2.0 * rng.normal(size=420)
    return X, (signal + 0.7 * rng.normal(size=420) > 0.5).astype(int)


def made_numbers(seed: int) -> Table:
    """Weak and strong causes: each of ten with eight copies of its own precision, in 160 samples."""
    rng = np.random.default_rng(seed)
    causes = rng.normal(size=(160, 10))
    copies = np.repeat(causes, 8, axis=1) + rng.gamma(2, 0.3, 80) * rng.normal(size=(160, 80))
    X = np.hstack([causes, copies, rng.normal(size=(160, 110))])
    return X, causes @ (2.0 * 0.75 ** np.arange(10)) + causes[:, 1] ** 2 + 1.5 * rng.normal(size=160)


DEVELOPMENT = [
    Set("lung_small", lambda seed: expression("lung_small")),
    Set("colon", lambda seed: expression("colon")),
    Set("wine", lambda seed: of_sklearn("wine")),
    Set("digits half", lambda seed: digits_half()),
    Set("colon genes", colon_genes),
    Set("expression 2", lambda seed: simulated_expression(seed, 360, 2000, (40, 22), strength=0.8)),
    Set("expression 3", lambda seed: simulated_expression(seed, 360, 2000, (1, 1, 1), strength=0.7)),
    Set("expression 4", lambda seed: simulated_expression(seed, 300, 3000, (14, 7, 14, 15), strength=0.6)),
    Set("expression 5", lambda seed: simulated_expression(seed, 540, 3000, (46, 11, 10, 9, 9), strength=0.9)),
    Set("expression 6", lambda seed: simulated_expression(seed, 420, 1000, (20, 16, 12, 9, 7, 6), has_levels=True)),
    Set("hypercube", hypercube),
    Set("hypercube 4", lambda seed: hypercube(seed, 4)),
    Set("measurements", lambda seed: measurements(seed, is_number=False)),
    Set("made XOR pairs", lambda seed: parity(seed, 2, n_vars=500, n_samples=400)),
    Set("made XOR triples", lambda seed: parity(seed, 3, n_vars=200), dimensions=(1, 2, 3)),
    Set("made mixed", mixed),
    Set("measured numbers", lambda seed: measurements(seed, is_number=True, n_vars=11), is_number=True),
    Set("made numbers", made_numbers, is_number=True),
    Set("made Friedman 1", lambda seed: friedman(seed, 1), is_number=True),
    Set("made Friedman 2", lambda seed: friedman(seed, 2), is_number=True),
    Set("made Friedman 3", lambda seed: friedman(seed, 3), is_number=True),
]
