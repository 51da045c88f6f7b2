"""Shares of genotypes and a model → the effect of every cell of a tuple, of a given variance.

A table is a function of k independent genotypes. It has a unique sum of a mean, effects of proper subsets of the
members, and a rest whose average over any one member is zero (Hoeffding's decomposition, under the shares of the
genotypes). A table that consists of mean and rest is pure and strict: each average over a member is flat. So flat
tables are made by a projection, and need no search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.checks import check_choice, shown

#: Models by name; a table of the user's own is one more.
MODELS = ("random", "xor", "dominant", "recessive", "multiplicative")

#: Random tables that are tried before one of the largest possible variance is sought.
_DRAWN = 200

#: Directions in which a table of large variance within the bounds is sought.
_SOUGHT = 60

#: A part with less than this share of a table's variance is rounding.
_NO_VARIANCE = 1e-12


def genotype_shares(minor_allele_frequency: float, ploidy: int) -> FloatArray:
    """Return the shares of 0 … ploidy minor alleles under Hardy and Weinberg's law.

    Examples
    --------
    >>> genotype_shares(0.25, 2).tolist()
    [0.5625, 0.375, 0.0625]
    """
    from math import comb

    q, n = minor_allele_frequency, ploidy
    return np.array([comb(n, a) * q**a * (1 - q) ** (n - a) for a in range(n + 1)])


def pure_part(table: FloatArray, shares: Sequence[FloatArray]) -> FloatArray:
    """Return the part of a table whose average over any one member is zero.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> pure_part(np.array([[0.0, 0.0], [0.0, 4.0]]), [half, half]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    pure = table
    for axis, share in enumerate(shares):
        pure = pure - _average(pure, axis, share)
    return pure


def variance(table: FloatArray, shares: Sequence[FloatArray]) -> float:
    """Return the variance of a table under the shares of its genotypes."""
    weights = cell_shares(shares)
    mean = float((weights * table).sum())
    return float((weights * (table - mean) ** 2).sum())


def cell_shares(shares: Sequence[FloatArray]) -> FloatArray:
    """Return the share of each cell of independent members."""
    weights = np.ones(())
    for share in shares:
        weights = np.multiply.outer(weights, share)
    return weights


def effect_table(
    model: Any,
    shares: Sequence[FloatArray],
    *,
    wanted: float,
    main_share: float | None,
    low: float,
    high: float,
    rng: np.random.RandomState,
) -> FloatArray:
    """Return a table of mean 0 and variance `wanted`, between `low` and `high`.

    - `model`: one of MODELS, or a table whose effects are scaled.
    - `shares`, list of (n_levels,): shares of the genotypes of each member.
    - `main_share`: share of the variance that effects of proper subsets have; None leaves it as the model has it. 0
      gives a pure table, whose margins are flat.
    - `low`, `high`: bounds of the effects, infinite for none.
    """
    if not isinstance(model, str):
        return _within(_parts_joined(_own_table(model, shares), shares, main_share), shares, wanted, low, high)
    check_choice("model", model, MODELS)
    if model != "random":
        return _within(_parts_joined(_named_table(model, shares), shares, main_share), shares, wanted, low, high)
    best, most = np.zeros(()), 0.0
    for drawn in range(_DRAWN):
        table = _random_table(shares, main_share, rng)
        reached = _largest_variance(table, shares, low, high)
        if drawn == 0 or reached > most:
            best, most = table, reached
        if most >= wanted:
            break
    if most < wanted and main_share == 0:
        for _ in range(_SOUGHT):
            table = _extreme_table(shares, low, high, rng)
            reached = _largest_variance(table, shares, low, high)
            if reached > most:
                best, most = table, reached
            if most >= wanted:
                break
    return _within(best, shares, wanted, low, high)


def _average(table: FloatArray, axis: int, share: FloatArray) -> FloatArray:
    """Return the average over a member, kept as an axis of length 1."""
    shape = [1] * table.ndim
    shape[axis] = len(share)
    return np.asarray((table * share.reshape(shape)).sum(axis=axis, keepdims=True))


def _centred(table: FloatArray, shares: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(table - (cell_shares(shares) * table).sum())


def _random_table(shares: Sequence[FloatArray], main_share: float | None, rng: np.random.RandomState) -> FloatArray:
    """Return a random table: its pure part and the rest are drawn independently, and have the shares asked for."""
    shape = tuple(len(share) for share in shares)
    drawn, other = rng.standard_normal(shape), rng.standard_normal(shape)
    if main_share is None:
        return _centred(drawn, shares)
    rest = _centred(other, shares)
    return _mixed(pure_part(drawn, shares), rest - pure_part(rest, shares), shares, main_share)


def _mixed(pure: FloatArray, rest: FloatArray, shares: Sequence[FloatArray], main_share: float) -> FloatArray:
    """Add two parts, which are orthogonal, so that the rest has this share of the variance."""
    joined = np.zeros(pure.shape)
    for part, share, what in ((pure, 1 - main_share, "its pure part"), (rest, main_share, "effects of proper subsets")):
        if share == 0:
            continue
        of_part = variance(part, shares)
        if of_part <= _NO_VARIANCE * max(variance(pure, shares), variance(rest, shares)):
            raise ValueError(f"main_share={main_share:g} does not go with this model, which lacks {what}: change one")
        joined = joined + np.sqrt(share / of_part) * part
    return joined


def _parts_joined(table: FloatArray, shares: Sequence[FloatArray], main_share: float | None) -> FloatArray:
    centred = _centred(table, shares)
    if main_share is None:
        return centred
    pure = pure_part(centred, shares)
    return _mixed(pure, centred - pure, shares, main_share)


def _named_table(model: str, shares: Sequence[FloatArray]) -> FloatArray:
    """Return the effects of the cells in a named model, not scaled."""
    dosages = np.indices([len(share) for share in shares])
    most = np.array([len(share) - 1 for share in shares]).reshape(-1, *[1] * len(shares))
    if model == "xor":
        return np.asarray((dosages > 0).sum(axis=0) % 2, dtype=np.float64)
    if model == "dominant":
        return np.asarray((dosages > 0).all(axis=0), dtype=np.float64)
    if model == "recessive":
        return np.asarray((dosages == most).all(axis=0), dtype=np.float64)
    return np.asarray(dosages.prod(axis=0), dtype=np.float64)


def _own_table(model: Any, shares: Sequence[FloatArray]) -> FloatArray:
    shape = tuple(len(share) for share in shares)
    wanted = f"one of {', '.join(map(repr, MODELS))}, or an array of finite numbers of shape {shape}"
    try:
        table = np.array(model, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"model must be {wanted}, not {shown(model)}") from None
    if table.shape != shape or not np.isfinite(table).all():
        raise ValueError(f"model must be {wanted}, not {shown(model)}")
    if variance(table, shares) <= _NO_VARIANCE * float((table**2).max()):
        raise ValueError("model must have cells that differ: all have the same effect")
    return table


def _largest_variance(table: FloatArray, shares: Sequence[FloatArray], low: float, high: float) -> float:
    """Return the variance that a multiple of a table can have within the bounds."""
    room = [high / table.max() if table.max() > 0 else np.inf, low / table.min() if table.min() < 0 else np.inf]
    return float(min(room) ** 2 * variance(table, shares)) if np.isfinite(min(room)) else float("inf")


def _within(table: FloatArray, shares: Sequence[FloatArray], wanted: float, low: float, high: float) -> FloatArray:
    """Scale a table to the variance that is wanted, or say how much the bounds allow."""
    largest = _largest_variance(table, shares, low, high)
    if largest < wanted * (1 - 1e-12):
        raise HeritabilityError(largest / wanted)
    return np.asarray(np.clip(np.sqrt(wanted / variance(table, shares)) * table, low, high))


class HeritabilityError(ValueError):
    """No probability of a cell may leave 0 … 1: only this share of the variance can be had."""

    def __init__(self, share: float) -> None:
        super().__init__(f"the bounds allow {share:.3g} of the variance")
        self.share = share


def _extreme_table(shares: Sequence[FloatArray], low: float, high: float, rng: np.random.RandomState) -> FloatArray:
    """Return a pure table at a corner of the bounds: variance is convex, so that its maximum is at a corner."""
    from scipy.optimize import linprog

    shape = tuple(len(share) for share in shares)
    # Contrasts of each member with average 0; their products span all pure tables.
    basis: FloatArray = np.ones((1, 1))
    for share in shares:
        contrasts = np.eye(len(share))[1:] - share[1:, np.newaxis]
        basis = np.asarray(np.kron(basis, contrasts), dtype=np.float64)
    direction = (basis * cell_shares(shares).ravel()) @ rng.standard_normal(basis.shape[1])
    limits = np.concatenate([np.full(basis.shape[1], high), np.full(basis.shape[1], -low)])
    found = linprog(-direction, A_ub=np.vstack([basis.T, -basis.T]), b_ub=limits, bounds=(None, None), method="highs")
    corner = np.asarray(found.x, dtype=np.float64)
    return pure_part(np.asarray(corner @ basis).reshape(shape), shares)
