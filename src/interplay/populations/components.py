"""A table of genotypes → principal components of its samples: the directions in which populations differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int, check_real
from interplay.base.seeds import resolve_seed
from interplay.data.study.table import Table, as_table
from interplay.populations.variants import blocks, float32_fits, pruned_variants, sample_index, standardised

if TYPE_CHECKING:
    import pandas as pd

#: Directions beyond those asked for, with which the iteration converges; rounds at most, and the change of a variance,
#: as a share of it, that ends them.
_MORE, _MAX_ROUNDS, _TOLERANCE = 20, 40, 1e-5


def principal_components(
    table: Any, n: int = 10, *, max_r2: float = 0.2, max_variants: int = 20_000, random_state: Any = 0
) -> pd.DataFrame:
    """Return principal components of genotypes: the directions in which populations differ, as covariates.

    They are those of common variants of which no two near each other are correlated, standardised; missing genotypes
    count as the mean. The iteration (randomised subspaces) reads variants in blocks.

    Parameters
    ----------
    table : table-like
        Samples by variants, numbers 0, 1 and 2, as the readers of `genetics` return it.
    n : int
        Number of components.
    max_r2 : float
        Variants that are correlated more, as squared correlation, with one shortly before them are left out.
    max_variants : int
        Number of variants that are looked at, at most.
    random_state
        Seed of the directions with which the iteration begins.

    Returns
    -------
    DataFrame
        One row per sample, columns PC1, PC2, …, each of length 1. ``attrs["variance_shares"]`` has the share of each in
        the variance of the genotypes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> population = np.arange(300) % 2
    >>> frequency = np.clip(rng.uniform(0.2, 0.8, 400) + np.array([[-0.1], [0.1]]) * rng.choice([-1, 1], 400), 0, 1)
    >>> X = rng.binomial(2, frequency[population])
    >>> found = principal_components(X, 2)
    >>> bool(abs(np.corrcoef(found["PC1"], population)[0, 1]) > 0.95)
    True
    """
    import pandas as pd

    known = as_table(table)
    n = check_int("n", n, low=1, high=max(known.n_samples // 3, 1))
    max_r2 = check_real("max_r2", max_r2, low=0, high=1, low_open=True)
    max_variants = check_int("max_variants", max_variants, low=2)
    numbers = pruned_variants(known, most=max_variants, max_r2=max_r2)
    if len(numbers) < n:
        raise ValueError(f"X has {len(numbers)} common variants that are not correlated, too few for n={n} components")
    product = _product(known, numbers)
    rng = np.random.RandomState(resolve_seed(random_state))
    directions, variances = _largest(product, known.n_samples, n, len(numbers), rng)
    # Of each component, the largest entry is positive.
    directions = directions * np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(n)])
    found = pd.DataFrame(directions, index=sample_index(table), columns=[f"PC{i + 1}" for i in range(n)])
    found.attrs["variance_shares"] = (variances / (known.n_samples * len(numbers))).tolist()
    return found


def _product(table: Table, numbers: IntArray) -> Callable[[FloatArray], FloatArray]:
    """Return the function that multiplies columns by ZᵀZ, Z being the standardised variants."""
    held: list[Any] | None = None
    if float32_fits(len(numbers), table.n_samples):
        held = [standardised(values, np.float32) for _, values in blocks(table, numbers)]

    def product(columns: FloatArray) -> FloatArray:
        right = columns.astype(np.float32)
        total = np.zeros(columns.shape)
        scaled = held or (standardised(values, np.float32) for _, values in blocks(table, numbers))
        for z in scaled:
            total += z.T @ (z @ right)
        return total

    return product


def _largest(
    product: Callable[[FloatArray], FloatArray], n_samples: int, n: int, n_variants: int, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray]:
    """Return eigenvectors of the largest eigenvalues, (n_samples, n), and these, by iteration of a subspace."""
    size = min(n + _MORE, n_samples, n_variants)
    basis = np.linalg.qr(rng.normal(size=(n_samples, size)))[0]
    before = np.zeros(n)
    for _ in range(_MAX_ROUNDS):
        image = product(basis)
        values, rotation = np.linalg.eigh(basis.T @ image)
        order = values.argsort()[::-1]
        found = values[order[:n]]
        basis = np.linalg.qr(image @ rotation[:, order])[0]
        if np.abs(found - before).max() <= _TOLERANCE * max(float(found[0]), 1e-300):
            break
        before = found
    return np.asarray(basis[:, :n]), np.asarray(found)
