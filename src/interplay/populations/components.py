"""A table of genotypes → variants that are hardly correlated, in blocks; their principal components: populations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, scaled_columns
from interplay.base.checks import check_int, check_real
from interplay.base.seeds import resolve_seed
from interplay.data.study.columns import ColumnKind
from interplay.data.study.subsets import as_slice
from interplay.data.study.table import Table, Values, as_table

if TYPE_CHECKING:
    import pandas as pd

#: A variant that is kept is compared with so many before it, in so many samples.
_WINDOW, _N_ROWS = 100, 2000

#: Variants that are read at a time.
_BLOCK = 256

#: Variants whose rarer allele is rarer than this say little about populations and relatives, and vary most by chance.
_MIN_FREQUENCY = 0.02

#: Numbers beyond this are no genotypes; sums of their squares need not fit into float32.
_LARGEST = 1e12


def genotype_numbers(table: Table) -> IntArray:
    """Return the numbers of the variables that are numbers, as genotypes are."""
    numbers = np.flatnonzero(table.kinds == ColumnKind.NUMBER)
    if len(numbers) < 2:
        raise ValueError("X must have two or more columns of genotypes, as numbers 0, 1 and 2")
    return numbers


def pruned_variants(table: Table, *, most: int, max_r2: float) -> IntArray:
    """Return the numbers of variants of which no two near each other are correlated, in the order of the table.

    - `most`: so many variants at most are looked at, from the first to the last.
    - `max_r2`: largest squared correlation with the kept variants shortly before.
    """
    numbers = genotype_numbers(table)
    if len(numbers) > most:
        numbers = numbers[np.unique(np.linspace(0, len(numbers) - 1, most).astype(np.int64))]
    rows = np.unique(np.linspace(0, table.n_samples - 1, min(_N_ROWS, table.n_samples)).astype(np.int64))
    kept: list[int] = []
    before = np.empty((0, len(rows)), dtype=np.float32)
    for block, values in blocks(table, numbers):
        known_values = ~np.isnan(values)
        copies = np.where(known_values, values, 0).sum(axis=1) / (2 * np.maximum(known_values.sum(axis=1), 1))
        common = (copies >= _MIN_FREQUENCY) & (copies <= 1 - _MIN_FREQUENCY)
        scaled = scaled_columns(values[:, rows], np.float32)
        common &= (scaled != 0).any(axis=1)
        known = np.concatenate([before, scaled])
        is_near = (scaled @ known.T) ** 2 > max_r2
        places = list(range(len(before)))  # of kept variants, among the known ones
        for i in np.flatnonzero(common).tolist():
            if not is_near[i, places[-_WINDOW:]].any():
                places.append(len(before) + i)
                kept.append(int(block[i]))
        before = known[places[-_WINDOW:]]
    if len(kept) < 2:
        raise ValueError("X has fewer than two common variants that are not correlated: nothing can be estimated")
    return np.array(kept, dtype=np.int64)


def blocks(table: Table, numbers: IntArray, size: int = _BLOCK) -> Iterator[tuple[IntArray, Values]]:
    """Yield the numbers of some variants, and their values, (n, n_samples)."""
    for begin in range(0, len(numbers), size):
        some = numbers[begin : begin + size]
        values = table.columns(as_slice(some))
        is_known = ~np.isnan(values)
        if is_known.any() and (largest := float(np.abs(values[is_known]).max())) > _LARGEST:
            raise ValueError(
                f"X has values up to {largest:g}, which are no genotypes: give 0, 1 and 2, and NaN where one is missing"
            )
        yield some, values if values.dtype.kind == "f" else values.astype(np.float32)


def standardised(values: Values, dtype: Any = np.float64) -> FloatArray:
    """Return variants, (n, n_samples), with mean 0 and variance 1; missing values have the mean, constants are 0."""
    scaled = scaled_columns(values, dtype)
    scaled *= np.asarray(np.sqrt(values.shape[1]), dtype=dtype)
    return scaled


def sample_index(X: Any) -> Any:
    """Return the names of the samples as an index of a dataframe; numbers where X has none."""
    import pandas as pd

    for known in (getattr(X, "sample_names", None), getattr(X, "index", None)):
        if known is not None and not callable(known):  # lists have a method of that name
            return pd.Index([str(name) for name in known])
    return None


def float32_fits(n: int, n_samples: int) -> bool:
    """Say whether so many standardised variants may stay in memory: 512 MiB."""
    return n * n_samples <= 2**27


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
