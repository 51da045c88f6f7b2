"""Chances of classes in cells → the power of the test of a tuple: exact for two levels and classes, else G²."""

from __future__ import annotations

from math import exp

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.bootstrap import drawn_g2
from interplay.infer.interaction.interaction_test import bootstrap_input
from interplay.infer.interaction.null_model import degrees_of_freedom
from interplay.infer.interaction.null_model_fit import fit_null_model
from interplay.infer.interaction.table_tests import is_never_tested
from interplay.infer.interaction.two_level_fit import is_two_level, parity_signs
from interplay.infer.power.exact_power import exact_power
from interplay.infer.power.second_test import after_second_test

#: With more samples than this, the exact test and G² have the same power, and tables are too many to list.
_MANY_SAMPLES = 20_000

#: Drawn tables whose Bartlett factor is averaged: of one table it varies by 4 %.
_N_FACTORS = 48

#: The spread of G², as a share of that of noncentral χ², at the least.
_MIN_SPREAD = 0.05

#: Seed of the classes that are drawn.
_SEED = 20_021


def class_power(chances: FloatArray, counts: IntArray, *, log_threshold: float, n_smooth: int = 0) -> float:
    """Return the chance of a p-value below the threshold, over the drawn sizes of cells.

    Parameters
    ----------
    chances : (levels …, n_classes) float64
        Of each class in each cell.
    counts : (n_drawn, levels …) int64
        Samples of the cells.
    log_threshold : float
        Natural logarithm of the p-value.
    n_smooth : int
        Columns of smooth effects of a second test, which cut numbers must pass; 0 for none.
    """
    n_samples = int(counts[0].sum())
    if is_never_tested(chances.shape, n_samples=n_samples):
        return 0.0
    from scipy.special import ndtri
    from scipy.stats import chi2, ncx2

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
    spread = _root_spread(g2[tested] / factor, drawn_mean, df[tested])
    limit = chi2.isf(exp(log_threshold), df[tested])
    beyond = np.maximum((lowered[tested] + excess) / factor - df[tested], 1e-12)
    # χ² with the spread that the root of G² has in drawn tables.
    middle = np.sqrt(np.maximum(beyond + df[tested] - 1.0, 0.0))
    scaled = np.maximum(middle + (np.sqrt(limit) - middle) / spread, 0.0)
    power = np.zeros(len(tables))
    power[tested] = ncx2.sf(scaled**2, df[tested], beyond)
    return float(power.mean())


def _root_spread(g2: FloatArray, mean: FloatArray, df: IntArray) -> float:
    """Return the standard deviation of the root of G² in drawn tables, divided by that of noncentral χ².

    It is 1 for small effects, and 0.93 to 1 in tables of log odds so large that 60 % of studies find them, which is up
    to 2 points of power.
    """
    rng = np.random.RandomState(_SEED)
    like = rng.noncentral_chisquare(df, np.maximum(mean - df, 0.0), size=(16, len(df)))
    of_sizes = np.sqrt(np.maximum(mean - 1.0, 0.0))  # sizes of cells differ as well, and are kept apart
    found = float(np.std(np.sqrt(g2) - of_sizes) / np.std(np.sqrt(like) - of_sizes))
    return max(found, _MIN_SPREAD)  # classes that follow from the cells hardly vary


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
