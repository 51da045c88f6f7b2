"""Counts of a variable of two levels in two classes → the exact p-value of its gain.

Under chance, with the sizes of levels and classes as they are, the table is hypergeometric. Its gains take few values,
far apart where samples are few. χ², which has no steps, may then give p-values that are several times too small.
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.statistics.margin_tables import CellTerms, GainNull, rounding_of


def log_p_of_two_by_two(counts: IntArray, added: FloatArray) -> FloatArray:
    """Return ln P(a gain at least as large) of tables (n_tables, 2, 2) that all have the same classes.

    The probabilities are summed up once for each size of a level, so a million variables take no longer than their
    samples.
    """
    class_sizes = counts[0].sum(axis=0)
    log_p = np.zeros(len(counts))
    if class_sizes.min() == 0:
        return log_p
    # Which level is which makes no difference: level 0 is the smaller one.
    sizes = counts.sum(axis=2)
    swapped = sizes[:, 0] > sizes[:, 1]
    smaller = sizes.min(axis=1)
    in_both = np.where(swapped, counts[:, 1, 1], counts[:, 0, 1])
    terms = CellTerms.of(int(class_sizes.sum()), added)
    order = np.argsort(smaller, kind="stable")
    starts = np.flatnonzero(np.diff(smaller[order], prepend=-1))
    for group in np.split(order, starts[1:]):
        size = int(smaller[group[0]])
        if size:
            log_p[group] = _log_p_of_same_margins(in_both[group], size, class_sizes, terms)
    return log_p


def _log_p_of_same_margins(in_both: IntArray, level_size: int, class_sizes: IntArray, terms: CellTerms) -> FloatArray:
    n_samples, second_class = int(class_sizes.sum()), int(class_sizes[1])
    mean = level_size * second_class / n_samples
    deviation = np.sqrt(mean * (1 - second_class / n_samples) * (n_samples - level_size) / max(n_samples - 1, 1))
    # Of the tables farther away than this, all together are less likely than the last digit of a p-value here.
    reach = 2 * np.abs(in_both - mean).max() + 10 * deviation + 50
    lowest = max(0, second_class - (n_samples - level_size), int(mean - reach))
    highest = min(level_size, second_class, int(mean + reach) + 1)
    possible = np.arange(lowest, highest + 1)
    cells = (
        (0, level_size - possible),
        (1, possible),
        (0, n_samples - second_class - level_size + possible),
        (1, second_class - possible),
    )
    # Up to a constant that all tables share, the gain is a sum over the cells.
    gains = np.sum([terms.gain[q][count] for q, count in cells], axis=0)
    log_chance = -np.sum([terms.log_factorial[count] for _, count in cells], axis=0)
    margins = (level_size, n_samples - level_size, second_class, n_samples - second_class)
    log_chance += terms.log_factorial[list(margins)].sum() - terms.log_factorial[n_samples]
    return GainNull(gains, log_chance, rounding_of(n_samples)).log_p(gains[in_both - lowest])
