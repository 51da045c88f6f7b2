"""Two levels, two classes → the power of the exact test, as a sum over all tables that it compares."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.statistics.interaction.two_level_fit import parity_signs, step_range

#: Logarithms of probabilities that are equal but for rounding count as equal, as in the test.
_ROUNDING = 1e-9


def exact_power(tables: IntArray, log_odds_ratio: float, *, log_threshold: float) -> float:
    """Return the chance of a p-value below the threshold, averaged over tables.

    Given its margins, a table is n + s·t with probability ∝ exp(θt)/Π(n + s·t)!, where θ = Σ s ln μ: so the power given
    the margins is a sum over t, and a drawn table serves by its margins alone.

    Parameters
    ----------
    tables : (n_drawn, 2, …, 2) int64
        Drawn from the model; the last axis is the class.
    log_odds_ratio : float
        θ, with the signs of `parity_signs`.
    """
    signs = parity_signs(tables.shape[1:])
    flat = tables.reshape(len(tables), signs.size)
    low, high = step_range(flat, signs)
    powers = [
        _given_margins(counts, signs, int(first), int(last), log_odds_ratio, log_threshold)
        for counts, first, last in zip(flat, low, high, strict=True)
    ]
    return float(np.mean(powers))


def _given_margins(
    counts: IntArray, signs: IntArray, low: int, high: int, log_odds_ratio: float, log_threshold: float
) -> float:
    t = np.arange(low, high)[:, np.newaxis]
    steps = np.log(counts[signs < 0] - t).sum(axis=1) - np.log(counts[signs > 0] + t + 1).sum(axis=1)
    log_null = np.concatenate([[0.0], np.cumsum(steps)])
    rejected = _rejected(log_null, log_threshold)
    if not rejected.any():
        return 0.0
    log_true = log_null + log_odds_ratio * np.arange(len(log_null))
    chances = np.exp(log_true - log_true.max())
    return float(chances[rejected].sum() / chances.sum())


def _rejected(log_null: FloatArray, log_threshold: float) -> BoolArray:
    """Say which tables have a p-value below the threshold: the sum of all that are no likelier."""
    log_chance = log_null - np.logaddexp.reduce(log_null)
    order = np.argsort(log_chance, kind="stable")
    summed = np.logaddexp.accumulate(log_chance[order])
    # Of tables that are equally likely, each has the sum of them all.
    sizes = log_chance[order]
    last = np.searchsorted(sizes, sizes + _ROUNDING * (1 + np.abs(sizes)), side="right") - 1
    rejected = np.zeros(len(log_null), dtype=np.bool_)
    rejected[order] = summed[last] <= log_threshold
    return rejected
