"""Counts of variables by level, class and stratum → p-values of their gains, given the margins.

The test is conditional: the numbers of samples of each level and of each class in a stratum (the margins) are taken as
given, and chance distributes the samples. Its statistic is the gain.

- Two levels, two classes, no strata: exact, as the table is hypergeometric.
- Other tables: exact, by listing every table with these margins, where a cell expects few samples or p is small; χ²
  where neither is so. Sparse tables that are too many to list have a matched gamma distribution (`margin_tables`).
- Strata: exact, by convolution (`strata_convolution`).
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray, places_of_each
from interplay.base.tails import log_chi2_tail
from interplay.infer.margin_tables import (
    CellTerms,
    GainNull,
    GammaNull,
    class_pseudocounts,
    listed_null,
    matched_null,
    rounding_of,
    smallest_expected,
    table_gains,
)
from interplay.infer.strata_convolution import StratumNull, grid_step, log_p_of_sums, places_of

#: Tables of more than two levels or classes in which every cell expects this many samples are left to χ², as long as
#: its p-value is not small. In 800 tables of 60 to 1200 samples, 3 to 6 cells a margin, χ² then has 0.94 to 1.06 of its
#: nominal significance level, on average over significance levels from 1e-6 to 0.05.
MIN_EXPECTED_FOR_CHI2 = 10.0

#: Where it is small, the steps of the gain matter: at single significance levels, χ² had up to 1.4 times as many
#: p-values below them as it should.
MIN_P_FOR_CHI2 = 0.01

#: Upper limits of the tables with the same margins that are listed, without strata and in a stratum.
MAX_TABLES, MAX_TABLES_OF_STRATUM = 100_000, 20_000

#: Upper limits of numbers in memory: distributions of the gain in a stratum, and their counts by variable.
MAX_NULLS, MAX_POWERS = 4000, 16_000_000

_CHI2_PER_BIT = 2 * np.log(2)


def conditional_log_p(counts: IntArray, *, pseudocount: float) -> FloatArray:
    """Return natural logarithms of the p-values of the gains of some variables.

    Parameters
    ----------
    counts : (n_vars, n_levels, n_classes, n_strata) int64
        Samples of each variable; the variables have the same classes and strata, level by level summed up. A level, or
        a class in a stratum, may be empty.
    pseudocount : float
        As in the search.

    Examples
    --------
    >>> in_one_stratum = [[[[90], [10]], [[100], [0]]]]
    >>> round(float(np.exp(conditional_log_p(np.array(in_one_stratum), pseudocount=0.25)[0])), 4)
    0.0015
    """
    if not len(counts):
        return np.empty(0)
    added = class_pseudocounts(counts[0].sum(axis=(0, 2)), pseudocount)
    tables = np.moveaxis(counts, 3, 1)  # variable, stratum, level, class
    of_classes = tables[0].sum(axis=1)
    tables = tables[:, (of_classes > 0).sum(axis=1) > 1]  # a stratum of one class carries no information
    if not tables.shape[1]:
        return np.zeros(len(tables))
    if tables.shape[1] == 1 and tables.shape[2:] == (2, 2):
        return _of_two_by_two(tables[:, 0], added)
    log_p, is_sparse = _by_chi2(tables, added, pseudocount)
    left = np.flatnonzero(is_sparse | (log_p < np.log(MIN_P_FOR_CHI2)))
    if len(left):
        test = _of_one_table if tables.shape[1] == 1 else _of_strata
        log_p[left] = test(tables[left], added, log_p[left], is_sparse[left])
    return log_p


def _of_two_by_two(counts: IntArray, added: FloatArray) -> FloatArray:
    """Return ln P(a gain at least as large) of tables (n_tables, 2, 2) that all have the same classes.

    Under chance, given its margins, the table is hypergeometric. Its gains take few values, far apart where samples are
    few. χ², which has no steps, may then give p-values that are several times too small. The probabilities are summed
    up once for each size of a level, so a million variables take no longer than their samples.
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
    for group in places_of_each(smaller):
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


def _by_chi2(tables: IntArray, added: FloatArray, pseudocount: float) -> tuple[FloatArray, BoolArray]:
    """Return ln p by χ², and where samples are too few for it."""
    of_levels, of_classes = tables.sum(axis=3), tables[0].sum(axis=1)
    n_levels = np.count_nonzero(of_levels, axis=2)
    n_classes = np.count_nonzero(of_classes, axis=1)
    df = ((n_levels - 1) * (n_classes - 1)).sum(axis=1)
    expected = smallest_expected(tables).min(axis=1)
    gains = _stratum_gains(tables, added).sum(axis=1)
    log_p = np.where(df > 0, log_chi2_tail(_CHI2_PER_BIT * gains, np.maximum(df, 1)), 0.0)
    # A pseudocount of about 0.25 offsets the bias of the likelihood ratio in small cells, which grows with df.
    required = MIN_EXPECTED_FOR_CHI2 * (1 + df * max(0.0, 1 - 5 * pseudocount))
    is_two_by_two = tables.shape[2:] == (2, 2)
    return log_p, (df > 0) & (is_two_by_two | (expected < required))


def _stratum_gains(tables: IntArray, added: FloatArray) -> FloatArray:
    """Return the gains (n_vars, n_strata) of tables (n_vars, n_strata, n_levels, n_classes).

    A class that a stratum lacks gets no pseudocounts there: as many in each level, whatever its size, they would be a
    gain that no samples are behind.
    """
    has_class = tables[0].sum(axis=1) > 0
    gains = np.empty(tables.shape[:2])
    patterns, pattern_of = _distinct_rows(has_class.astype(np.int64))
    for number, pattern in enumerate(patterns.astype(bool)):
        alike = pattern_of == number
        gains[:, alike] = table_gains(tables[:, alike][..., pattern], added[pattern])
    return gains


def _of_one_table(tables: IntArray, added: FloatArray, log_p: FloatArray, is_sparse: BoolArray) -> FloatArray:
    """Of variables without strata; each null is made once for all variables with the same sizes of levels."""
    gains = _stratum_gains(tables, added)[:, 0]
    tables = tables[:, 0]
    class_sizes = tables[0].sum(axis=0)
    kept = class_sizes > 0
    margins, which = _distinct_rows(np.sort(tables.sum(axis=2), axis=1)[:, ::-1])
    log_p = log_p.copy()
    for group in places_of_each(which):
        sizes = margins[which[group[0]]]
        given = (sizes[sizes > 0], class_sizes[kept], added[kept])
        null: GainNull | GammaNull | None = listed_null(*given, max_tables=MAX_TABLES)
        if null is None and is_sparse[group[0]]:
            null = matched_null(*given)
        if null is not None:  # else χ² stays: the gains of very many tables, none of them sparse, have no visible steps
            log_p[group] = null.log_p(gains[group])
    return log_p


def _of_strata(tables: IntArray, added: FloatArray, log_p: FloatArray, is_sparse: BoolArray) -> FloatArray:
    """Of variables with strata; each null is made once for all strata and variables with the same margins."""
    of_classes = tables[0].sum(axis=1)
    n_strata, n_levels = tables.shape[1], tables.shape[2]
    each_class_a_level = np.stack([np.diag(sizes) for sizes in of_classes])
    largest = _stratum_gains(each_class_a_level[np.newaxis], added).sum()
    df = (n_levels - 1) * float(((of_classes > 0).sum(axis=1) - 1).sum())
    step = grid_step(float(largest), df)
    observed = places_of(_stratum_gains(tables, added), step).sum(axis=1)

    # Strata with the same classes are alike, and so are levels.
    kinds, kind_of = np.unique(of_classes, axis=0, return_inverse=True)
    sizes = np.sort(tables.sum(axis=3), axis=2)[..., ::-1]
    keys = np.concatenate([np.broadcast_to(kind_of.reshape(-1)[:, np.newaxis], (len(tables), n_strata, 1)), sizes], 2)
    margins, which = _distinct_rows(keys.reshape(-1, n_levels + 1))
    if len(tables) > 1 and (len(margins) > MAX_NULLS or len(tables) * len(margins) > MAX_POWERS):
        halves = np.array_split(tables, 2)
        return np.concatenate([_of_strata(half, added, log_p, is_sparse) for half in halves])
    nulls = [_stratum_null(tuple(kinds[kind].tolist()), tuple(rest), added, step) for kind, *rest in margins.tolist()]
    variable = np.repeat(np.arange(len(tables)), n_strata)
    times = np.bincount(variable * len(nulls) + which, minlength=len(tables) * len(nulls))
    return log_p_of_sums(nulls, times.reshape(len(tables), len(nulls)), observed, step=step)


def _stratum_null(
    class_sizes: tuple[int, ...], level_sizes: tuple[int, ...], added: FloatArray, step: float
) -> StratumNull:
    of_classes, of_levels = np.array(class_sizes), np.array([size for size in level_sizes if size])
    kept = of_classes > 0
    null: GainNull | GammaNull
    if len(of_levels) == 1:
        null = GainNull(np.zeros(1), np.zeros(1), rounding=0.0)
    else:
        given = (of_levels, of_classes[kept], added[kept])
        null = listed_null(*given, max_tables=MAX_TABLES_OF_STRATUM) or matched_null(*given)
    return StratumNull.of(null, step)


def _distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of numbers that are not negative, and which one each row is."""
    spans = rows.max(axis=0) + 1
    if np.prod(spans.astype(float)) < 2.0**62:  # one number for a row is much quicker to sort
        code = np.zeros(len(rows), dtype=np.int64)
        for column, span in zip(rows.T, spans.tolist(), strict=True):
            code = code * span + column
        _, first, which = np.unique(code, return_index=True, return_inverse=True)
        return rows[first], which.reshape(-1)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    return distinct, which.reshape(-1)
