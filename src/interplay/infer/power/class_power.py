"""Chances of classes in cells → the power of the test of a tuple: exact for two levels and classes, else G²."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.infer.interaction.bootstrap import drawn_g2
from interplay.infer.interaction.interaction_test import bootstrap_input
from interplay.infer.interaction.null_model import degrees_of_freedom, is_two_level, parity_signs, step_range
from interplay.infer.interaction.proportional_fit import fit_null_model
from interplay.infer.interaction.table_tests import is_never_tested
from interplay.infer.power.number_power import after_second_test, noncentral_tail, root_spread

#: With more samples than this, the exact test and G² have the same power, and tables are too many to list.
_MANY_SAMPLES = 20_000

#: Drawn tables whose Bartlett factor is averaged: of one table it varies by 4 %.
_N_FACTORS = 48

#: Seed of the classes that are drawn.
_SEED = 20_021


def class_power(chances: FloatArray, counts: IntArray, *, log_threshold: float, n_smooth: int = 0) -> float:
    """Return the chance of a p-value below the threshold, over the drawn sizes of cells.

    - `chances` (levels …, n_classes): of each class in each cell.
    - `counts` (n_drawn, levels …): samples of the cells.
    - `log_threshold`: natural logarithm of the p-value.
    - `n_smooth`: columns of smooth effects of a second test, which cut numbers must pass; 0 for none.
    """
    n_samples = int(counts[0].sum())
    if is_never_tested(chances.shape, n_samples=n_samples):
        return 0.0
    from scipy.special import ndtri
    from scipy.stats import chi2

    # G² of the expected counts is the noncentrality, 2 Σ N π ln(π/π₀); scaled up, as counts are whole numbers there.
    tables, fine = _drawn_classes(chances, counts), 10**9 / n_samples
    expected = np.rint(counts[..., np.newaxis] * chances * fine).astype(np.int64)
    fit = fit_null_model(expected)
    far = fit.g2 / fine
    if is_two_level(chances.shape) and n_samples <= _MANY_SAMPLES:
        theta = float((parity_signs(chances.shape) * np.log(chances).ravel()).sum())
        power_of_first = exact_power(tables, theta, log_threshold=log_threshold)
        if not n_smooth or not 0 < power_of_first < 1 or not far.any():
            return power_of_first
        # The second test is one of G²; how much stricter the exact test is follows from its power.
        root = float(np.sqrt(far.mean()))
        gap = max(root - float(ndtri(power_of_first)) - float(np.sqrt(chi2.isf(exp(log_threshold), 1))), 0.0)
        lowered = after_second_test(np.array([root**2]), n_samples=n_samples, n_columns=n_smooth, gap=gap)
        return exact_power(tables, theta * float(np.sqrt(lowered[0])) / root, log_threshold=log_threshold)
    lowered = after_second_test(far, n_samples=n_samples, n_columns=n_smooth) if n_smooth else far
    df = degrees_of_freedom(tables)
    tested = df > 0
    if not tested.any():
        return 0.0
    factor = _bartlett(tables, df)
    g2 = fit_null_model(tables).g2
    excess = float((g2 - _ratio_of_truth(tables, expected, fit.mu))[tested].mean())
    drawn_mean = (far[tested] + excess) / factor
    spread = root_spread(g2[tested] / factor, drawn_mean, df[tested])
    limit = chi2.isf(exp(log_threshold), df[tested])
    power = np.zeros(len(tables))
    power[tested] = noncentral_tail(limit, df[tested], (lowered[tested] + excess) / factor, spread)
    return float(power.mean())


def _ratio_of_truth(tables: IntArray, expected: IntArray, fitted: FloatArray) -> FloatArray:
    """Return twice the log likelihood ratio of the true model in drawn tables, whose mean is known.

    By how much G² exceeds it is df for small effects and many samples only.
    """
    log_ratio = np.log(np.maximum(expected, 1)) - np.log(np.maximum(fitted, 1e-9))
    return np.asarray(2 * (tables * np.where(expected > 0, log_ratio, 0.0)).reshape(len(tables), -1).sum(axis=1))


def _drawn_classes(chances: FloatArray, counts: IntArray) -> IntArray:
    """Draw the classes of the samples in cells, one class after the other."""
    rng = np.random.RandomState(_SEED)
    left, share_left = counts.copy(), np.ones(chances.shape[:-1])
    drawn = np.zeros((*counts.shape, chances.shape[-1]), dtype=np.int64)
    for q in range(chances.shape[-1] - 1):
        share = np.clip(chances[..., q] / share_left, 0.0, 1.0)
        drawn[..., q] = rng.binomial(left, np.broadcast_to(share, left.shape))
        left -= drawn[..., q]
        share_left = share_left - chances[..., q]
    drawn[..., -1] = left
    return drawn


def _bartlett(tables: IntArray, df: IntArray) -> float:
    """Return the mean factor by which the bootstrap of the search divides G²."""
    some = np.flatnonzero(df > 0)[:_N_FACTORS]
    if len(some) == 0:
        return 1.0
    drawn_from, seeds = bootstrap_input(tables[some][:, np.newaxis], 0)
    return float(drawn_g2(drawn_from, df[some], seeds=seeds).factor.mean())


#: Logarithms of probabilities that are equal but for rounding count as equal, as in the test.
_ROUNDING = 1e-9

#: Standard deviations beyond the threshold, within which t is looked at.
_SPREADS = 12.0


def exact_power(tables: IntArray, log_odds_ratio: float, *, log_threshold: float) -> float:
    """Return the chance of a p-value below the threshold, averaged over tables.

    Given its margins, a table is n + s·t with probability ∝ exp(θt)/Π(n + s·t)!, where θ = Σ s ln μ: so the power given
    the margins is a sum over t, and a drawn table serves by its margins alone.

    - `tables` (n_drawn, 2, …, 2): drawn from the model; the last axis is the class.
    - `log_odds_ratio`: θ, with the signs of `parity_signs`.
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


#: Numbers of samples in cells that a power is averaged over. They leave an error of half a point at most.
N_DRAWN = 1024

#: With more samples than this, margins that are fixed and margins that are drawn give the same power.
_MANY_SAMPLES_IN_CELLS = 2000

#: Sizes of cells are drawn with this seed: a power is a function of its arguments.
_SEED_OF_CELLS = 20_011


def drawn_cell_counts(
    shares: Sequence[FloatArray], n_samples: int, *, is_cut: bool, n_drawn: int = N_DRAWN
) -> IntArray:
    """Return samples of the cells of independent members, (n_drawn, levels …).

    - `shares`, list of (n_levels,).
    - `is_cut`: whether levels come from cuts of numbers at quantiles: then each level has its share of the samples
      exactly.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> counts = drawn_cell_counts([half, half], 40, is_cut=True)
    >>> counts.shape, counts.sum(axis=2)[0].tolist()
    ((1024, 2, 2), [20, 20])
    """
    rng = np.random.RandomState(_SEED_OF_CELLS)
    levels = tuple(len(share) for share in shares)
    if not is_cut or n_samples > _MANY_SAMPLES_IN_CELLS:
        chances = np.ones(())
        for share in shares:
            chances = np.multiply.outer(chances, share)
        return rng.multinomial(n_samples, chances.ravel(), size=n_drawn).reshape(n_drawn, *levels).astype(np.int64)
    cells = np.zeros((n_drawn, n_samples), dtype=np.int64)
    for share in shares:
        ends = np.round(np.cumsum(share) * n_samples).astype(np.int64)
        codes = np.searchsorted(ends[:-1], np.arange(n_samples), side="right")
        cells = cells * len(share) + codes[rng.random_sample(cells.shape).argsort(axis=1)]
    n_cells = int(np.prod(levels))
    cells += n_cells * np.arange(n_drawn)[:, np.newaxis]
    return np.bincount(cells.ravel(), minlength=n_drawn * n_cells).reshape(n_drawn, *levels).astype(np.int64)
