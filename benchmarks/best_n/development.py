"""Tables on which the method was chosen: none of their samples is judged in `sets.py`, but for the sets marked * there.

Made tables have seeds from 1000 on. Those of the judged sets that are made (XOR, mixed, Friedman) are drawn anew. Real
ones are in wheels of ISLP, scanpy and Orange3, which `pip download --no-deps` gets and `unzip` opens in DOWNLOADED.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.best_n.sets import Set, Table, expression, friedman, mixed, of_sklearn, parity

DOWNLOADED = Path(__file__).parents[2] / "build" / "best-n-development"


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
    """Genes in modules that rise and fall together; classes shift some modules, and have markers of their own."""
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


def khan() -> Table:
    """Four kinds of small round blue cell tumours, 2308 genes."""
    folder = DOWNLOADED / "ISLP" / "data"
    X = [np.genfromtxt(folder / f"Khan_x{part}.csv", delimiter=",", skip_header=1) for part in ("train", "test")]
    y = [np.genfromtxt(folder / f"Khan_y{part}.csv", skip_header=1) for part in ("train", "test")]
    return np.vstack(X), np.concatenate(y)


def blood_cells(labels: str) -> Table:
    """Cells of blood by type or by cluster, classes of 40 and more; 765 genes."""
    import h5py

    with h5py.File(DOWNLOADED / "scanpy" / "datasets" / "10x_pbmc68k_reduced.h5ad") as file:
        X, y = file["X"][:].astype(float), np.asarray(file["obs"][labels])
    values, sizes = np.unique(y, return_counts=True)
    kept = np.isin(y, values[sizes >= 40])
    return X[kept], y[kept]


def of_orange(path: str, outcome: str) -> Table:
    """Numbers of a table of Orange; what is missing is the mean."""
    import pandas as pd

    frame = pd.read_csv(DOWNLOADED / "Orange" / path, sep="\t", low_memory=False).iloc[2:]
    X = frame.drop(columns=outcome).apply(pd.to_numeric, errors="coerce").to_numpy(float)
    X = X[:, (np.isfinite(X).mean(axis=0) > 0.5) & (np.nanstd(X, axis=0) > 0)]
    y = frame[outcome].to_numpy()
    y = y.astype(float) if outcome == "MEDV" else np.unique(y.astype(str), return_inverse=True)[1]
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X), y


REAL = [
    Set("Khan", lambda seed: khan(), made_in_one_of=3),
    Set("blood cells", lambda seed: blood_cells("bulk_labels"), made_in_one_of=8),
    Set("more blood cells", lambda seed: blood_cells("bulk_labels"), made_in_one_of=4),
    Set("clusters of cells", lambda seed: blood_cells("louvain"), made_in_one_of=8),
    Set("few digits", lambda seed: digits_half(), made_in_one_of=8),
    Set("yeast", lambda seed: of_orange("datasets/brown-selected.tab", "function"), made_in_one_of=3),
    Set("ionosphere", lambda seed: of_orange("tests/datasets/ionosphere.tab", "y")),
    Set("housing", lambda seed: of_orange("datasets/housing.tab", "MEDV"), is_number=True),
]

DEVELOPMENT = [
    Set("lung_small", lambda seed: expression("lung_small")),
    Set("colon", lambda seed: expression("colon")),
    Set("wine", lambda seed: of_sklearn("wine")),
    Set("digits half", lambda seed: digits_half()),
    Set("colon genes", colon_genes),
    Set("expression 2", lambda seed: simulated_expression(seed, 360, 2000, (40, 22), strength=0.8), made_in_one_of=6),
    Set("expression 3", lambda seed: simulated_expression(seed, 360, 2000, (1, 1, 1), strength=0.7), made_in_one_of=6),
    Set(
        "expression 4",
        lambda seed: simulated_expression(seed, 300, 3000, (14, 7, 14, 15), strength=0.6),
        made_in_one_of=6,
    ),
    Set(
        "expression 5",
        lambda seed: simulated_expression(seed, 540, 3000, (46, 11, 10, 9, 9), strength=0.9),
        made_in_one_of=6,
    ),
    Set(
        "expression 6",
        lambda seed: simulated_expression(seed, 420, 1000, (20, 16, 12, 9, 7, 6), has_levels=True),
        made_in_one_of=6,
    ),
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
    *(REAL if DOWNLOADED.exists() else []),
]
