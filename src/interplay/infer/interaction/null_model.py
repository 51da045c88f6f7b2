"""The null hypothesis of the interaction test as a log-linear model: its entries, its columns, its degrees of freedom.

H0: ln μ(x, y) = a(x) + Σᵢ bᵢ(x₋ᵢ, y). It keeps the margins n(x, ·) and n(x₋ᵢ, y), i = 1 … k, and nothing else.

Words: a *cell* is one combination x of the members' levels, an *entry* a cell and a class, (x, y). *Tables* are counts
of tuples of one shape, (n_tables, levels of member 1, …, levels of member k, n_classes).

Two levels and two classes, any number of members: all tables with the margins that H0 keeps lie on one line.

They are n + s·t, with s = ±1 by the parity of Σx + y, so the test has one degree of freedom and no nuisance parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import BoolArray, FloatArray, IntArray

#: Numbers that one chunk of tables may hold in its designs: 128 MB.
_MAX_NUMBERS = 2**24

#: Eigenvalues below this share of the largest are 0 but for rounding; the smallest others are some 1e-3 of it.
_ZERO_EIGENVALUE = 1e-9


def as_tables(counts: npt.ArrayLike, *, strata: bool = False) -> IntArray:
    """Return the counts as an array of whole numbers, or say what is wrong with them.

    With `strata` the first axis after the tuples is the stratum.
    """
    wanted = "tuple, " + ("stratum, " if strata else "") + "level of each of two or more members, class"
    given = np.asarray(counts)
    if given.ndim < 4 + strata:
        raise ValueError(f"counts must have the axes ({wanted}), not the shape {given.shape}")
    if given.dtype.kind not in "iu":
        raise TypeError(f"counts must be whole numbers of samples, not of type {given.dtype}")
    if 0 in given.shape[1:]:
        raise ValueError(f"counts must have at least one level and class on every axis, not the shape {given.shape}")
    if given.size and given.min() < 0:
        raise ValueError("counts must not be negative")
    return np.ascontiguousarray(given, dtype=np.int64)


def member_axes(tables: npt.NDArray[Any]) -> range:
    """Return the axes of the members; the axis of the classes follows them."""
    return range(1, tables.ndim - 1)


def per_table(tables: npt.NDArray[Any]) -> tuple[int, int]:
    """Return the shape (n_tables, n_entries), which also fits when there are no tables."""
    return len(tables), prod(tables.shape[1:])


def supported_entries(tables: npt.NDArray[Any]) -> BoolArray:
    """Say in which entries all margins that H0 keeps are positive: elsewhere the fit is 0, whatever the counts."""
    supported = np.broadcast_to(tables.sum(axis=-1, keepdims=True) > 0, tables.shape).copy()
    for axis in member_axes(tables):
        supported &= tables.sum(axis=axis, keepdims=True) > 0
    return supported


@lru_cache(maxsize=32)
def null_design(shape: tuple[int, ...]) -> FloatArray:
    """Return independent columns of Σᵢ bᵢ(x₋ᵢ, y) beside a(x), (cells, classes, columns), for (levels …, classes).

    One column for each proper subset S of the members, each choice of a level other than the first for every member
    of S, and each class other than the first: 1 where x and y are so, else 0.
    """
    *levels, n_classes = shape
    design = kronecker([null_columns(tuple(levels)), np.eye(n_classes)[:, 1:]]).reshape(prod(levels), n_classes, -1)
    design.flags.writeable = False
    return design


@lru_cache(maxsize=32)
def null_columns(levels: tuple[int, ...]) -> FloatArray:
    """Return the columns of Σᵢ bᵢ(x₋ᵢ), (cells, Π levels − Π(levels − 1)): products of indicators, 1 where x is so."""
    columns = []
    for size in range(len(levels)):
        for members in combinations(range(len(levels)), size):
            factors = [np.eye(c)[:, 1:] if i in members else np.ones((c, 1)) for i, c in enumerate(levels)]
            columns.append(kronecker(factors))
    design = np.hstack(columns)
    design.flags.writeable = False
    return design


def kronecker(factors: Sequence[FloatArray]) -> FloatArray:
    """Return the Kronecker product of matrices, the first one's rows outermost."""
    product = np.ones((1, 1))
    for factor in factors:
        product = np.asarray(np.kron(product, factor), dtype=np.float64)
    return product


def n_null_columns(shape: tuple[int, ...]) -> int:
    """Return how many columns `null_design` has."""
    *levels, n_classes = shape
    return (n_classes - 1) * (prod(levels) - prod(c - 1 for c in levels))


def design_size(shape: tuple[int, ...]) -> int:
    """Return how many numbers `null_design` has, without making it."""
    return prod(shape) * n_null_columns(shape)


def is_large(shape: tuple[int, ...]) -> bool:
    """Say whether tables of this shape have too many columns for linear algebra: more than memory should hold."""
    return design_size(shape) > _MAX_NUMBERS


def chunks_of_tables(tables: npt.NDArray[Any]) -> Iterator[slice]:
    """Cut the tables into chunks whose designs fit into memory."""
    size = max(1, _MAX_NUMBERS // max(1, design_size(tables.shape[1:])))
    for start in range(0, len(tables), size):
        yield slice(start, start + size)


def weighted_design(weights: FloatArray) -> FloatArray:
    """Return the columns of H0, cleared of a(x), in the entries' weights: (n_tables, n_entries, n_columns).

    Each column loses its weighted mean over the classes of each cell, which a(x) can fit, and the rest is multiplied by
    the root of the weight. With weights μ its cross product is the information about the bᵢ; with weights 1 in some
    entries and 0 elsewhere its rank is that of H0 in these entries, less their number of cells.
    """
    design = null_design(weights.shape[1:])
    n_cells, n_classes, n_columns = design.shape
    w = weights.reshape(len(weights), n_cells, n_classes)
    in_cell = w.sum(axis=-1, keepdims=True)
    share = np.divide(w, in_cell, out=np.zeros_like(w), where=in_cell > 0)
    rest = design - np.matmul(share[:, :, np.newaxis, :], design)
    return np.asarray((np.sqrt(w)[..., np.newaxis] * rest).reshape(len(w), n_cells * n_classes, n_columns))


def information(weighted: FloatArray) -> FloatArray:
    """Return the cross products of weighted columns, (n_tables, n_columns, n_columns), which can be inverted.

    Columns without samples, and those that are sums of others where cells are empty, must not stop a solution.
    """
    products = np.matmul(weighted.mT, weighted)
    diagonal = np.einsum("ijj->ij", products)
    diagonal += 1e-12 * diagonal.max(axis=1, keepdims=True, initial=0.0) + np.finfo(float).tiny
    return np.asarray(products)


def degrees_of_freedom(tables: IntArray) -> IntArray:
    """Return the effective degrees of freedom of G², (n_tables,).

    They are the entries whose margins are all positive, less the rank of H0's columns in these entries. Where all are,
    that is (classes − 1)·Π(levels − 1). Tables with the same entries share one decomposition.

    Examples
    --------
    A combination of two levels that no sample has takes away one of four degrees of freedom.

    >>> import numpy as np
    >>> tables = np.full((2, 3, 3, 2), 5)
    >>> tables[1, 0, 0] = 0
    >>> degrees_of_freedom(tables).tolist()
    [4, 3]
    """
    *levels, n_classes = tables.shape[1:]
    df = np.full(len(tables), (n_classes - 1) * prod(c - 1 for c in levels), dtype=np.int64)
    supported = supported_entries(tables).reshape(per_table(tables))
    incomplete = np.flatnonzero(~supported.all(axis=1))
    if len(incomplete) == 0:
        return df
    if is_large(tables.shape[1:]):
        raise ValueError(f"counts of shape {tables.shape[1:]} have too many cells and empty ones: use fewer divisions")
    patterns, which = np.unique(np.packbits(supported[incomplete], axis=1), axis=0, return_inverse=True)
    unpacked = np.unpackbits(patterns, axis=1, count=supported.shape[1]).astype(np.bool_)
    entries = unpacked.reshape(-1, *tables.shape[1:])
    of_pattern = np.empty(len(entries), dtype=np.int64)
    for chunk in chunks_of_tables(entries):
        part = entries[chunk]
        of_pattern[chunk] = _entries_beyond_cells(part) - _ranks(weighted_design(part.astype(np.float64)))
    df[incomplete] = of_pattern[which.ravel()]
    return df


def fewest_degrees_of_freedom(tables: IntArray) -> IntArray:
    """Return a lower bound of `degrees_of_freedom` that needs no rank: entries are counted, and columns that they have.

    A search can screen a table at these degrees of freedom: a G² that is significant at more of them is so at fewer.
    """
    entries = supported_entries(tables)
    # A cell with one class left is fitted by a(x) alone and needs no columns.
    entries &= entries.sum(axis=-1, keepdims=True) > 1
    flat = entries.reshape(per_table(tables)).astype(np.float64)
    if is_large(tables.shape[1:]):
        return np.asarray(np.maximum(_entries_beyond_cells(entries) - n_null_columns(tables.shape[1:]), 0))
    design = null_design(tables.shape[1:])
    n_columns = (flat @ design.reshape(flat.shape[1], -1) > 0).sum(axis=1)
    return np.asarray(np.maximum(_entries_beyond_cells(entries) - n_columns, 0))


def fewest_df(tables: IntArray, is_complete: BoolArray) -> IntArray:
    """Return `fewest_degrees_of_freedom`, which are all where no margin is 0."""
    *levels, n_classes = tables.shape[1:]
    df = np.full(len(tables), (n_classes - 1) * prod(c - 1 for c in levels), dtype=np.int64)
    some = np.flatnonzero(~is_complete)
    if len(some):
        df[some] = fewest_degrees_of_freedom(tables[some])
    return df


def _ranks(designs: FloatArray) -> IntArray:
    """Return the ranks of columns of 0 and 1, cleared of their means: their singular values are 0 or far from it.

    So are their squares, the eigenvalues of the cross product, which is much smaller than a design of many cells. That
    of the rows has the same, and is smaller yet where few entries are not 0.
    """
    is_used: BoolArray = np.asarray(designs.any(axis=2))
    n_rows = int(is_used.sum(axis=1).max(initial=0))
    if n_rows < designs.shape[2]:
        places = np.argsort(~is_used, axis=1, kind="stable")[:, :n_rows]
        designs = np.take_along_axis(designs, places[..., np.newaxis], axis=1).mT
    values = np.linalg.eigvalsh(np.matmul(designs.mT, designs))
    return np.asarray((values > _ZERO_EIGENVALUE * values.max(axis=1, keepdims=True, initial=1.0)).sum(axis=1))


def _entries_beyond_cells(entries: BoolArray) -> IntArray:
    """Count the entries, less the cells that have any: the freedom that a(x) leaves."""
    n_cells = entries.any(axis=-1).reshape(len(entries), prod(entries.shape[1:-1])).sum(axis=1)
    return np.asarray(entries.reshape(per_table(entries)).sum(axis=1) - n_cells)


#: Newton's method below needs about ten.
_MAX_STEPS = 100

#: Fitted counts below exp of this would underflow.
_LOWEST_LOG = -700.0


def is_two_level(shape: tuple[int, ...]) -> bool:
    """Say whether all members have two levels, and the outcome two classes, for (levels …, classes)."""
    return set(shape) == {2}


@lru_cache(maxsize=32)
def parity_signs(shape: tuple[int, ...]) -> IntArray:
    """Return s of every entry, (n_entries,): +1 where all members and the class are 1."""
    ones = np.indices(shape).sum(axis=0).ravel()
    signs: IntArray = 1 - 2 * ((len(shape) - ones) % 2)
    signs.flags.writeable = False  # others will be given the same
    return signs


def step_range(flat: IntArray, signs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the lowest and the highest t for which n + s·t has no negative entry."""
    return -flat[:, signs > 0].min(axis=1), flat[:, signs < 0].min(axis=1)


def fit_two_levels(tables: IntArray) -> FloatArray:
    """Return the fit of H0, n + s·t where Σ s·ln(n + s·t) = 0.

    The sum grows from −∞ to ∞ over the range of t, so there is one root. With u the distance of t from the nearer end
    of the range, the sum is a convex function of ln u, and Newton's method from the middle of the range goes straight
    to the root. Entries near 0 keep all their digits, as the end of the range is a whole number.
    """
    shape = tables.shape[1:]
    signs = parity_signs(shape)
    flat = tables.reshape(len(tables), signs.size)
    low, high = step_range(flat, signs)
    fit = flat.astype(np.float64)
    free = np.flatnonzero(high > low)
    if len(free) == 0:
        return fit.reshape(tables.shape)
    half = (high - low)[free, np.newaxis] / 2
    middle = flat[free] + signs * (low[free, np.newaxis] + half)
    from_low = (signs * np.log(middle)).sum(axis=1, keepdims=True) >= 0
    end = flat[free] + signs * np.where(from_low, low[free, np.newaxis], high[free, np.newaxis])
    direction = np.where(from_low, signs, -signs)
    log_u = np.log(half)
    moving = np.ones(log_u.shape, dtype=np.bool_)  # a table that has arrived stays, whatever the others need
    for _ in range(_MAX_STEPS):
        mu = end + direction * np.exp(log_u)
        slope = (np.exp(log_u) / mu).sum(axis=1, keepdims=True)
        step = (direction * np.log(mu)).sum(axis=1, keepdims=True) / slope
        log_u = np.maximum(log_u - np.where(moving, step, 0.0), _LOWEST_LOG)
        moving &= np.abs(step) > 1e-14 * (1 + np.abs(log_u))
        if not moving.any():
            break
    fit[free] = end + direction * np.exp(np.minimum(log_u, np.log(half)))
    return fit.reshape(tables.shape)
