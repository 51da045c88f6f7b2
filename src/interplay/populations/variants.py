"""A table of genotypes → variants that are hardly correlated, and blocks of variants, standardised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, scaled_columns
from interplay.data.study.columns import ColumnKind
from interplay.data.study.subsets import as_slice
from interplay.data.study.table import Table, Values

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
