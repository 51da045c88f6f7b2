"""Counts of variables by level, class and stratum → p-values of their gains, given the margins.

The test is conditional: the numbers of samples of each level and of each class in a stratum (the margins) are taken as
given, and chance distributes the samples. Its statistic is the gain.

- Two levels, two classes, no strata: exact, as the table is hypergeometric.
- Other tables: exact, by listing every table with these margins, where a cell expects few samples or p is small; χ²
  where neither is so. Sparse tables that are too many to list have a matched gamma distribution (`margin_tables`).
- Strata: exact, by convolution (`strata_convolution`).

Null distributions of the gain within each stratum → the p-value of the sum of gains.

Given the sizes of levels and classes in every stratum, the tables of the strata are independent, and the gain of a
variable is the sum of theirs. The gain of each stratum is rounded to a grid, in the observed table as in all others, so
that sums are whole numbers and their distribution is a product of Fourier transforms. Rounding makes the test one of a
slightly different statistic, not an approximate one: its p-values are exact, however coarse the grid.

The tail of the distribution is summed up without going back from the transform: Σ_d e^(−s·d) P(observed + d) is a sum
over frequencies of the transform times a geometric series. Of sums over many strata few frequencies are left.

Sums over frequencies have an absolute error. So that small p-values keep their digits, chances are tilted by
e^(t·gain) first, with t such that the observed gain is about the mean, and the tilt is taken off the sum in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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

    - `counts` (n_vars, n_levels, n_classes, n_strata): samples of each variable; the variables have the same classes
      and strata, level by level summed up. A level, or a class in a stratum, may be empty.
    - `pseudocount`: as in the search.

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


#: Places of the grid.
N_PLACES = 4096

#: Length of the grid where the largest sum is beyond it: standard deviations of a sum under chance, plus bits.
DEVIATIONS, BITS = 16.0, 64.0

#: Tilts, in nats per bit: χ² has none above ln 2, and the few values of a sparse table need more.
TILTS = np.array([0, .02, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .8, .9, 1, 1.25, 1.5, 2, 3, 4, 8, 16, 64])  # fmt: skip  # noqa: E501

#: Variables that are summed up at once.
_BLOCK = 256

#: Frequencies with less than e to this power are left out.
_LOG_NEGLIGIBLE = -20.0
_NEGLIGIBLE_END = 1e-12

#: Places above the observed gain of a stratum with too many tables to list go on until this is left.
_GAMMA_TAIL = 1e-30


def grid_step(largest_sum: float, df: float) -> float:
    """Return the step of the grid, in bits, for gains with `df` degrees of freedom and of at most `largest_sum`."""
    deviation = np.sqrt(2 * df) / (2 * np.log(2))
    return float(min(largest_sum * (N_PLACES / (N_PLACES - 8)), DEVIATIONS * deviation + BITS)) / N_PLACES


def places_of(gains: FloatArray, step: float) -> IntArray:
    """Round gains to the grid."""
    return np.asarray(np.rint(gains / step), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class StratumNull:
    """Places on the grid that the gain of a stratum can have, and the logarithms of their chances."""

    place: IntArray
    log_chance: FloatArray

    @classmethod
    def of(cls, null: GainNull | GammaNull, step: float) -> StratumNull:
        if isinstance(null, GammaNull):
            return cls._of_gamma(null, step)
        places = places_of(null.gain, step)
        order = np.argsort(places, kind="stable")
        starts = np.flatnonzero(np.diff(places[order], prepend=-1))
        return cls(places[order[starts]], np.logaddexp.reduceat(null.log_chance[order], starts))

    @classmethod
    def _of_gamma(cls, null: GammaNull, step: float) -> StratumNull:
        from scipy.special import gammaincc, gammainccinv

        last = int(np.ceil(gammainccinv(null.shape, _GAMMA_TAIL) * null.scale / step)) + 1
        edges = np.append(0.0, (np.arange(last) + 0.5) * step)
        tail = np.append(gammaincc(null.shape, edges / null.scale), 0.0)
        with np.errstate(divide="ignore"):
            log_chance = np.log(-np.diff(tail))
        possible = np.isfinite(log_chance)
        return cls(np.flatnonzero(possible), log_chance[possible])


def log_p_of_sums(nulls: Sequence[StratumNull], times: IntArray, observed: IntArray, *, step: float) -> FloatArray:
    """Return ln P(sum ≥ observed) of each variable.

    - `times` (n_vars, n_nulls): in how many strata a variable has each of them.
    - `observed` (n_vars,): sums of the places of its strata.
    - `step`: of the grid, in bits.
    """
    log_norm, mean = _moments(nulls, step)
    means = times @ mean
    # The lowest tilt whose mean is not below the observed sum.
    tilt_of = np.argmax(np.append(means, np.full((len(times), 1), np.inf), axis=1) >= observed[:, np.newaxis], axis=1)
    tilt_of = np.minimum(tilt_of, len(TILTS) - 1)
    highest = times @ np.array([null.place[-1] for null in nulls])
    log_p = np.zeros(len(times))
    for number in np.unique(tilt_of):
        chosen = np.flatnonzero(tilt_of == number)
        used = np.flatnonzero(times[chosen].any(axis=0))
        slope = TILTS[number] * step
        transforms = _transforms([nulls[i] for i in used.tolist()], log_norm[used, number], slope)
        with np.errstate(divide="ignore"):
            log_size = np.maximum(np.log(np.abs(transforms)), -700.0)
        turns = np.angle(transforms) / (2 * np.pi)
        for start in range(0, len(chosen), _BLOCK):
            rows = chosen[start : start + _BLOCK]
            powers = times[np.ix_(rows, used)].astype(np.float64)
            log_sizes = powers @ log_size
            kept = np.flatnonzero((log_sizes > _LOG_NEGLIGIBLE).any(axis=0))
            size = np.exp(log_sizes[:, kept], dtype=np.float32, casting="same_kind")
            tail = _tilted_tail(size, powers @ turns[:, kept], kept, observed[rows], highest[rows], slope)
            log_p[rows] = np.log(np.maximum(tail, 1e-16)) + times[rows] @ log_norm[:, number] - slope * observed[rows]
    return np.minimum(log_p, 0.0)


def _moments(nulls: Sequence[StratumNull], step: float) -> tuple[FloatArray, FloatArray]:
    """Of each null under each tilt: the logarithm of Σ chance·e^(tilt·gain), and the mean of the place."""
    log_norm, mean = np.empty((len(nulls), len(TILTS))), np.empty((len(nulls), len(TILTS)))
    for i, null in enumerate(nulls):
        tilted = null.log_chance + (TILTS * step)[:, np.newaxis] * null.place
        top = tilted.max(axis=1)
        weight = np.exp(tilted - top[:, np.newaxis])
        total = weight.sum(axis=1)
        log_norm[i] = top + np.log(total)
        mean[i] = weight @ null.place / total
    return log_norm, mean


def _transforms(nulls: Sequence[StratumNull], log_norm: FloatArray, slope: float) -> npt.NDArray[np.complex128]:
    """Fourier transforms of the tilted chances, (n_nulls, N_PLACES / 2 + 1)."""
    on_grid = np.empty((len(nulls), N_PLACES))
    for i, null in enumerate(nulls):
        chance = np.exp(null.log_chance + slope * null.place - log_norm[i])
        on_grid[i] = np.bincount(null.place % N_PLACES, weights=chance, minlength=N_PLACES)
    return np.asarray(np.fft.rfft(on_grid, axis=1))


def _tilted_tail(
    size: npt.NDArray[np.float32],
    turns: FloatArray,
    number: IntArray,
    observed: IntArray,
    highest: IntArray,
    slope: float,
) -> FloatArray:
    """Return Σ chance·e^(−slope·(place − observed)) over the places from the observed one upwards.

    `size` and `turns`, the angle, are of the transforms, (n_vars, n_frequencies), at the frequencies of these numbers.
    Sums beyond the grid come round to its beginning. Where this happens, half of the grid stands for places above the
    observed sum, and the other half for places below.
    """
    ratio = np.exp(-slope + 2j * np.pi * number / N_PLACES)
    twice = np.where((number == 0) | (number == N_PLACES // 2), 1.0, 2.0) / N_PLACES
    with np.errstate(divide="ignore", invalid="ignore"):
        endless = np.where(ratio == 1, 0.0, twice / (1 - ratio))
    # A geometric series ends after half of the grid, or after what is left of it.
    half = endless * (1 - np.exp(-slope * N_PLACES / 2) * np.where(number % 2, -1.0, 1.0))
    is_within = highest < N_PLACES
    series = np.stack([endless, half], axis=1)
    at_observed = turns + (number / N_PLACES) * observed[:, np.newaxis]
    sums = _real_sums(size, at_observed, series)
    tail: FloatArray = np.where(is_within, sums[:, 0], sums[:, 1])
    left = np.maximum(N_PLACES - observed, 0)  # negative only where sums come round
    end = np.where(is_within, np.exp(-slope * left), 0.0)
    if end.max() > _NEGLIGIBLE_END:
        tail -= end * _real_sums(size, turns, series)[:, 0]
    if slope == 0:  # all terms of the first series are 1
        tail += size[:, 0] / N_PLACES * np.where(is_within, left, N_PLACES // 2)
    return np.asarray(tail)


def _real_sums(size: npt.NDArray[np.float32], turns: FloatArray, factors: npt.NDArray[np.complex128]) -> FloatArray:
    """Real parts of Σ size·e^(2πi·turns)·factor over the frequencies, for each column of factors.

    Sines and cosines of single precision take a thirtieth of the time. A millionth is enough: the sums are of a
    tilted distribution near its middle.
    """
    angle = (2 * np.pi * (turns - np.rint(turns))).astype(np.float32)
    cosine = (size * np.cos(angle)).astype(np.float64)
    sine = (size * np.sin(angle)).astype(np.float64)
    return np.asarray(cosine @ factors.real - sine @ factors.imag)
