"""Two levels, two classes → the power of the exact test, as a sum over all tables that it compares."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.infer.interaction.two_level_fit import parity_signs, step_range

#: Logarithms of probabilities that are equal but for rounding count as equal, as in the test.
_ROUNDING = 1e-9

#: Standard deviations beyond the threshold, within which t is looked at.
_SPREADS = 12.0


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
    low, high = _bulk(flat, signs, log_odds_ratio, log_threshold)
    powers = [
        _given_margins(counts, signs, int(first), int(last), log_odds_ratio, log_threshold)
        for counts, first, last in zip(flat, low, high, strict=True)
    ]
    return float(np.mean(powers))


def _bulk(flat: IntArray, signs: IntArray, log_odds_ratio: float, log_threshold: float) -> tuple[IntArray, IntArray]:
    """Return the first and last t of each table beyond which no chance matters, under independence or the truth.

    Chances are log-concave in t, and their peak is where a step of their logarithm passes 0. All t of 16,384 samples
    would be 4,000 a table.
    """
    lowest, highest = step_range(flat, signs)
    plus, minus = flat[:, signs > 0], flat[:, signs < 0]
    width = np.sqrt(-2.0 * log_threshold) + _SPREADS
    first, last = highest.copy(), lowest.copy()
    for theta in (0.0, log_odds_ratio):
        low, high = lowest.copy(), highest.copy()
        while (low < high).any():
            t = ((low + high) // 2)[:, np.newaxis]  # below `highest`, so that all logarithms exist
            up = np.log(np.maximum(minus - t, 1)).sum(axis=1) - np.log(plus + t + 1).sum(axis=1) + theta > 0
            open_ = low < high
            low, high = np.where(open_ & up, t[:, 0] + 1, low), np.where(open_ & ~up, t[:, 0], high)
        peak = low[:, np.newaxis]
        spread = 1.0 / np.sqrt((1.0 / (minus - peak + 1)).sum(axis=1) + (1.0 / (plus + peak + 1)).sum(axis=1))
        reach = np.ceil(width * (spread + 1.0)).astype(np.int64)
        first, last = np.minimum(first, low - reach), np.maximum(last, low + reach)
    return np.maximum(first, lowest), np.minimum(last, highest)


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
