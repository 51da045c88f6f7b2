"""The cells of a tuple → contrasts of their means that are 0 wherever parts of the tuple explain all of its effect.

H0: the mean of a cell is a sum of functions of proper subsets of the members. On a full table of cells the contrasts
are the products of one contrast per member. Where cells are left out, contrasts must be 0 there: what is left of their
space is orthogonal to H0 in the other cells, and its dimension is the number of these cells less the rank of H0 there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import prod

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray

#: Singular values of contrasts with orthonormal columns: below this they are 0 but for rounding.
_ZERO = 1e-9


@lru_cache(maxsize=32)
def full_contrasts(levels: tuple[int, ...]) -> FloatArray:
    """Return orthonormal contrasts of a full table, (cells, Π(levels − 1)); two levels each give the parity of a cell.

    Examples
    --------
    >>> (2 * full_contrasts((2, 2))).round(12).ravel().tolist()
    [1.0, -1.0, -1.0, 1.0]
    """
    contrasts = _product([_contrasts_of_levels(c) for c in levels])
    contrasts.flags.writeable = False
    return contrasts


def _contrasts_of_levels(n_levels: int) -> FloatArray:
    """Return orthonormal contrasts of the levels of one member (Helmert's), (n_levels, n_levels − 1)."""
    below = np.tri(n_levels, k=-1)[:, : n_levels - 1]
    contrasts = below - np.diag(np.arange(n_levels - 1, -1, -1.0))[:, : n_levels - 1]
    # The sign is that of the highest level: higher means more.
    return np.asarray(contrasts / np.linalg.norm(contrasts, axis=0))


def contrasts_between(levels: tuple[int, ...], kept: BoolArray) -> FloatArray:
    """Return orthonormal contrasts of the `kept` cells, (cells, degrees of freedom), 0 in the cells that are left out.

    Examples
    --------
    One of nine cells takes one of four degrees of freedom; one of four cells takes the only one.

    >>> kept = np.ones(9, dtype=bool)
    >>> kept[0] = False
    >>> contrasts_between((3, 3), kept).shape, contrasts_between((2, 2), kept[:4]).shape
    ((9, 3), (4, 0))
    """
    full = full_contrasts(levels)
    if kept.all():
        return full
    _, sizes, directions = np.linalg.svd(full[~kept], full_matrices=True)
    return np.asarray(full @ directions[int((sizes > _ZERO).sum()) :].T)


def by_pattern(kept: BoolArray) -> Iterator[tuple[BoolArray, IntArray]]:
    """Yield each pattern of kept cells, and the numbers of the tables that have it; `kept` is (n_tables, cells)."""
    if len(kept) == 0:
        return
    if kept.all():
        yield kept[0], np.arange(len(kept))
        return
    packed = np.packbits(kept, axis=1)
    as_bytes = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, which = np.unique(as_bytes, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    starts = np.flatnonzero(np.diff(which[order], prepend=-1))
    for number, tables in enumerate(np.split(order, starts[1:])):
        yield kept[first[number]], tables


@lru_cache(maxsize=32)
def null_columns(levels: tuple[int, ...]) -> FloatArray:
    """Return the columns of H0, (cells, Π levels − Π(levels − 1)): products of indicators of levels but the first."""
    columns = []
    for size in range(len(levels)):
        for members in combinations(range(len(levels)), size):
            factors = [np.eye(c)[:, 1:] if i in members else np.ones((c, 1)) for i, c in enumerate(levels)]
            columns.append(_product(factors))
    design = np.hstack(columns)
    design.flags.writeable = False
    return design


def _product(factors: list[FloatArray]) -> FloatArray:
    """Return the Kronecker product of matrices, the first one's rows outermost."""
    product = np.ones((1, 1))
    for factor in factors:
        product = np.asarray(np.kron(product, factor), dtype=np.float64)
    return product


def contrast_values(means: FloatArray, contrasts: FloatArray) -> FloatArray:
    """Return the contrasts of each table of means, (n_tables, n_contrasts), each table by itself.

    The product of two matrices would round a table differently among others than alone.
    """
    return np.asarray(np.matmul(means[:, np.newaxis], contrasts)[:, 0])


def n_contrasts(levels: tuple[int, ...]) -> int:
    """Return the degrees of freedom of a full table."""
    return prod(c - 1 for c in levels)
