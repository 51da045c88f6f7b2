"""Scores of samples and of a number outcome → p-values of a correlation.

The test of `score_test` with the outcome's scores u in the place of a class: T = Σ u·z, both centred within strata.
Under chance every assignment of the outcome to the samples of a stratum is equally likely, which gives all moments of
T. Its tail is that of a correlation, with the number of degrees of freedom that has the fourth moment of T (Pitman),
never fewer than the t test has; where the fourth moment is larger than a normal one, that of Student's t. Rare levels
or outliers make T skewed, which the gamma distribution of `score_test` allows for.

No p-value lies below the chance of the observed order itself. Columns of few values have a sharper test: see
`drawn_levels`.

Sums of a number outcome's scores over the levels of single variables → p-values of their gains.

The gain of a variable grows with R² = Σ S²/n over its levels, in shares of the outcome's sum of squares beyond strata.
Two levels without strata have the test of `correlation_test`, exact where samples are few. Otherwise R² has, under
permutation, a mean and a variance that follow from the sizes of levels and the fourth powers of the scores. The p-value
is that of the beta distribution with these, or of the F test, whichever is larger. Where outliers make the variance
larger than that of normal scores, levels are also compared one by one with all others, by the test of two levels.

Levels of one sample have no differences within. Where nearly all levels are such, little is left within, in steps if
scores are tied, which no smooth distribution describes: p is then at least the share of drawn permutations that leave
as little. If all are, nothing can be tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_beta_cdf
from interplay.infer.drawn_levels import DrawnLevels
from interplay.infer.score_test import Moments

#: p-values above this stay approximate: no adjusted p-value that they lead to is of interest.
_MAX_P_DRAWN = 0.05

#: Columns of more levels are as good as continuous.
_MAX_LEVELS_DRAWN = 12


@dataclass(frozen=True, eq=False)
class NumberTarget:
    """Scores of a number outcome, and what the distribution of their permutations depends on."""

    #: (n_samples,): centred within strata.
    scores: FloatArray
    strata: IntArray  #: (n_samples,)
    sizes: IntArray  #: (n_strata,)
    #: (3, n_strata): sums of their squares, cubes and fourth powers.
    powers: FloatArray
    #: The smallest difference between two scores that differ.
    gap: float
    #: Of the observed order: ln of the share of permutations that do not change it.
    log_chance: float

    @classmethod
    def of(cls, scores: FloatArray, strata: IntArray | None = None) -> NumberTarget:
        """Centre scores, (n_samples,), within strata."""
        from scipy.special import gammaln

        codes = np.zeros(len(scores), dtype=np.int64) if strata is None else strata
        sizes = np.bincount(codes)
        centred = scores - (np.bincount(codes, weights=scores) / np.maximum(sizes, 1))[codes]
        powers = np.array([np.bincount(codes, weights=centred**power) for power in (2, 3, 4)])
        used, ties = np.unique(np.stack([codes.astype(np.float64), scores]), axis=1, return_counts=True)
        gaps = np.diff(np.unique(used[1]))
        gap = float(gaps.min(initial=np.inf))
        log_chance = float(gammaln(ties + 1.0).sum() - gammaln(sizes + 1.0).sum())
        return cls(centred, codes, sizes, powers, gap if np.isfinite(gap) else 0.0, log_chance)

    @property
    def n_strata(self) -> int:
        return len(self.sizes)

    def log_p(self, statistic: FloatArray, of_scores: Sequence[FloatArray], *, step: FloatArray) -> FloatArray:
        """Return ln p, (n_vars,), of statistics.

        `of_scores` are sums of squares, cubes and fourth powers of the variables' scores, (n_vars, n_strata).
        """
        squares, cubes, fourths = of_scores
        n_vars = len(statistic)
        moments = Moments.none(n_vars, 1)
        excess = np.zeros(n_vars)  # fourth cumulant
        for stratum, n in enumerate(self.sizes.tolist()):
            if n < 2:
                continue
            of_target = self.powers[:, stratum]
            before = moments.covariance[:, 0, 0]
            moments = moments.with_stratum(
                statistic=np.zeros((n_vars, 1)),
                squares=squares[:, stratum],
                cubes=cubes[:, stratum],
                products=of_target[0].reshape(1, 1),
                target_cubes=of_target[1].reshape(1),
                n_samples=n,
            )
            variance = moments.covariance[:, 0, 0] - before
            fourth = fourth_moment(squares[:, stratum], fourths[:, stratum], of_target[0], of_target[2], n)
            excess += fourth - 3 * variance**2
        variance = moments.covariance[:, 0, 0]
        kurtosis = 3 + np.where(variance > 0, excess / np.where(variance > 0, variance, 1.0) ** 2, 0.0)
        least = float(max(self.sizes.sum() - self.n_strata - 1, 1))
        whole = Moments(statistic[:, np.newaxis], moments.covariance, moments.third, tail_freedom(kurtosis, least))
        return np.maximum(whole.log_p(step), self.log_chance)


def fourth_moment(squares: FloatArray, fourths: FloatArray, of_squares: float, of_fourths: float, n: int) -> FloatArray:
    """Return E T⁴ over all permutations, from sums of powers of centred scores of both sides."""
    # Sums over distinct samples of products such as z_i²·z_j·z_k, which follow from Σz = 0.
    ours = [fourths, -fourths, squares**2 - fourths, 2 * fourths - squares**2, 3 * squares**2 - 6 * fourths]
    square = of_squares**2
    theirs = [of_fourths, -of_fourths, square - of_fourths, 2 * of_fourths - square, 3 * square - 6 * of_fourths]
    n_ways = [n, n * (n - 1), n * (n - 1), n * (n - 1) * (n - 2), n * (n - 1) * (n - 2) * (n - 3)]
    terms = zip((1, 4, 3, 6, 1), ours, theirs, n_ways, strict=True)
    return np.asarray(sum(times * one * other / ways for times, one, other, ways in terms if ways > 0))


def tail_freedom(kurtosis: FloatArray, least: float) -> FloatArray:
    """Return the degrees of freedom of tails with this kurtosis, as `Moments` has them."""
    with np.errstate(divide="ignore"):
        light = np.where(kurtosis < 3, 3 * (kurtosis - 1) / np.maximum(3 - kurtosis, 1e-12), np.inf)
        heavy = -(4 + 6 / np.maximum(kurtosis - 3, 1e-12))
    return np.where(kurtosis < 3, np.maximum(light, least), np.where(kurtosis > 3 + 1e-6, heavy, np.inf))


def correlation_log_p(scores: FloatArray, target: NumberTarget) -> FloatArray:
    """Return natural logarithms of two-sided p-values.

    `scores` (n_vars, n_samples).

    Examples
    --------
    >>> import numpy as np
    >>> ranks = np.array([[1.0, 2, 3, 5, 4, 6, 8, 7, 9, 10]])
    >>> target = NumberTarget.of(np.arange(10.0))
    >>> f"{np.exp(correlation_log_p(ranks, target)[0]):.1e}"  # the t test, too small: 2e-06
    '1.4e-04'
    """
    n_vars = len(scores)
    centred = np.empty(scores.shape)
    sums = np.empty((3, n_vars, target.n_strata))
    for stratum in range(target.n_strata):
        inside = slice(None) if target.n_strata == 1 else np.flatnonzero(target.strata == stratum)
        here = scores[:, inside] - scores[:, inside].mean(axis=1, keepdims=True)
        centred[:, inside] = here
        square = here * here
        # Not by BLAS, whose last bits depend on the number of its threads.
        sums[0, :, stratum] = square.sum(axis=1)
        sums[1, :, stratum] = np.einsum("vs,vs->v", square, here)
        sums[2, :, stratum] = np.einsum("vs,vs->v", square, square)
    statistic = np.einsum("vs,s->v", centred, target.scores)
    return target.log_p(statistic, list(sums), step=np.zeros(n_vars))


def level_correlation_log_p(
    sizes: IntArray, sums: FloatArray, scores: FloatArray, target: NumberTarget, drawn: DrawnLevels | None
) -> FloatArray:
    """Return natural logarithms of two-sided p-values of columns of few values, from sums over their levels.

    - `sizes` (n_vars, n_levels, n_strata): samples of each level.
    - `sums` (n_vars, n_levels, n_strata): of the target's scores.
    - `scores` (n_vars, n_levels, n_strata): of the levels.
    - `drawn`: tails of sums over levels, for a target without strata.
    """
    n_vars, n_levels, _ = sizes.shape
    z = scores - (sizes * scores).sum(axis=1, keepdims=True) / np.maximum(sizes.sum(axis=1, keepdims=True), 1)
    z = np.where(sizes > 0, z, 0.0)
    powers = [(sizes * z**power).sum(axis=1) for power in (2, 3, 4)]
    statistic = (z * sums).sum(axis=(1, 2))
    filled = np.where(sizes > 0, scores, np.nan)
    gaps = np.diff(np.sort(filled, axis=1), axis=1)  # NaN come last
    step = np.where(gaps > 1e-12, gaps, np.inf).min(axis=(1, 2), initial=np.inf)
    step = np.where(np.isfinite(step), step, 0.0) * target.gap
    log_p = target.log_p(statistic, powers, step=step)
    if drawn is not None and target.n_strata == 1 and 1 < n_levels <= _MAX_LEVELS_DRAWN and n_vars:
        small = np.flatnonzero(log_p < np.log(_MAX_P_DRAWN))
        if len(small):
            exact = drawn.log_p(np.abs(statistic[small]), sizes[small, :, 0], z[small, :, 0], step=step[small])
            log_p[small] = np.where(np.isnan(exact), log_p[small], exact)
    return log_p


#: From this kurtosis of the scores on (3 if normal), and this variance of R² in shares of that of normal scores, levels
#: are looked at one by one.
_OUTLIERS, _HEAVY = 4.0, 1.1

#: With at most so many degrees of freedom within levels, half of which have one sample, permutations are drawn: so
#: many.
_FEW_WITHIN, _N_DRAWN = 16, 999

#: p-values above this are not worth it.
_MAX_P_BY_LEVEL = 0.05


def level_gain_log_p(
    sizes: IntArray, sums: FloatArray, target: NumberTarget, drawn: DrawnLevels | None = None
) -> FloatArray:
    """Return natural logarithms of p-values, (n_vars,).

    - `sizes` (n_vars, n_levels, n_strata): samples of each level.
    - `sums` (n_vars, n_levels, n_strata): of the target's scores.

    Examples
    --------
    >>> import numpy as np
    >>> target = NumberTarget.of(np.arange(12.0))
    >>> sizes = np.array([[[4], [4], [4]]])
    >>> sums = target.scores.reshape(1, 3, 4).sum(axis=2)[..., np.newaxis]
    >>> f"{np.exp(level_gain_log_p(sizes, sums, target)[0]):.1e}"
    '9.3e-05'
    """
    n_vars, n_levels, n_strata = sizes.shape
    if n_levels == 2 and n_strata == 1:
        scores = np.broadcast_to(np.array([0.0, 1.0])[:, np.newaxis], (n_vars, 2, 1))
        return level_correlation_log_p(sizes, sums, scores, target, drawn)
    n_filled = np.count_nonzero(sizes, axis=1)
    squares = np.divide(sums**2, sizes, out=np.zeros(sums.shape), where=sizes > 0).sum(axis=(1, 2))
    total = float(target.powers[0].sum())
    if total <= 0:
        return np.zeros(n_vars)
    left = np.clip(1 - squares / total, 0.0, 1.0)
    df = np.maximum(n_filled - 1, 0).sum(axis=1)
    df_within = target.sizes.sum() - n_strata - df
    by_f = log_beta_cdf(left, np.maximum(df_within, 1) / 2, np.maximum(df, 1) / 2)
    mean, variance = _moments(sizes, target)
    mean, variance = mean / total, variance / total**2
    usable = (df > 0) & (variance > 0) & (mean < 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        both = mean * (1 - mean) / variance - 1
    usable &= both > 0
    both, mean = np.where(usable, both, 1.0), np.where(usable, mean, 0.5)
    matched = log_beta_cdf(left, (1 - mean) * both, mean * both)
    log_p = np.where(usable, np.maximum(by_f, matched), by_f)
    if n_strata == 1 and target.sizes[0] * target.powers[2, 0] > _OUTLIERS * total**2:
        usual = 2 * mean * (1 - mean) / (target.sizes.sum() + 1)
        heavy = np.flatnonzero(usable & (variance > _HEAVY * usual) & (log_p < np.log(_MAX_P_BY_LEVEL)))
        log_p[heavy] = np.maximum(log_p[heavy], _by_level(sizes[heavy], sums[heavy], target, drawn))
    mostly_single = 2 * (sizes == 1).sum(axis=(1, 2)) >= n_filled.sum(axis=1)
    for v in np.flatnonzero(mostly_single & (df > 0) & (df_within > 0) & (df_within <= _FEW_WITHIN)).tolist():
        log_p[v] = max(log_p[v], _drawn_log_p(sizes[v], float(total - squares[v]), target))
    return np.asarray(np.where((df > 0) & (df_within > 0), np.maximum(log_p, target.log_chance), 0.0))


#: Eighths of a variable have so many samples at the least, or there is no test of them.
_IN_AN_EIGHTH = 8

#: Rare classes and outliers, with a larger kurtosis of the outcome (3 if normal), make sums of eighths skewed.
_MAX_KURTOSIS = 4.0


def eighths_log_p(scores: FloatArray, target: NumberTarget) -> FloatArray:
    """Return ln p of differences between the eighths of variables, of ranks (n, n_samples) from −1 to 1."""
    n, n_cells = scores.shape[1], 8 * target.n_strata
    squares, _, fourths = target.powers.sum(axis=1)
    if n < 8 * _IN_AN_EIGHTH * target.n_strata or n * fourths > _MAX_KURTOSIS * squares**2:
        return np.full(len(scores), np.nan)
    cells = np.clip((4 * (scores + 1)).astype(np.int64), 0, 7) * target.n_strata + target.strata
    cells += n_cells * np.arange(len(scores))[:, np.newaxis]
    shape, n_all = (-1, 8, target.n_strata), n_cells * len(scores)
    sizes = np.bincount(cells.ravel(), minlength=n_all).reshape(shape).astype(np.int64)
    weights = np.tile(target.scores, len(scores))
    sums = np.bincount(cells.ravel(), weights=weights, minlength=n_all).reshape(shape).astype(np.float64)
    is_whole = (sizes > 0).all(axis=(1, 2))
    return np.where(is_whole, level_gain_log_p(sizes, sums, target), np.nan)


def distances(scores: FloatArray, strata: IntArray | None) -> FloatArray:
    """Return the distance of each score from the median, within strata."""
    codes = np.zeros(len(scores), dtype=np.int64) if strata is None else strata
    medians = np.array([np.median(scores[codes == stratum]) for stratum in range(int(codes.max(initial=0)) + 1)])
    return np.asarray(np.abs(scores - medians[codes]))


def _drawn_log_p(sizes: IntArray, within: float, target: NumberTarget) -> float:
    """Return ln of the share of permutations with sums of squares within levels, (n_levels, n_strata), as small."""
    stream = np.random.RandomState(0)
    drawn = np.zeros(_N_DRAWN)
    for stratum in range(sizes.shape[1]):
        scores = np.sort(target.scores[target.strata == stratum])  # results do not depend on the order of samples
        several = np.sort(sizes[sizes[:, stratum] > 1, stratum])
        ends = np.cumsum(several)
        if len(several):
            chosen = np.stack([scores[stream.permutation(len(scores))[: ends[-1]]] for _ in range(_N_DRAWN)])
            sums = np.add.reduceat(chosen, ends - several, axis=1)
            drawn += (chosen**2).sum(axis=1) - (sums**2 / several).sum(axis=1)
    n_reached = int((drawn <= within + 1e-9 * float(target.powers[0].sum())).sum())
    return float(np.log((1 + n_reached) / (1 + _N_DRAWN)))


def _by_level(sizes: IntArray, sums: FloatArray, target: NumberTarget, drawn: DrawnLevels | None) -> FloatArray:
    """Return ln of the smallest p of any level against all others, times the number of levels."""
    smallest = np.zeros(len(sizes))
    for level in range(sizes.shape[1]):
        two = [np.stack([of.sum(axis=1) - of[:, level], of[:, level]], axis=1) for of in (sizes, sums)]
        smallest = np.minimum(smallest, level_gain_log_p(two[0], two[1], target, drawn))
    n_levels = np.maximum(np.count_nonzero(sizes[..., 0], axis=1), 1)
    return np.asarray(np.minimum(smallest + np.log(n_levels), 0.0))


def _moments(sizes: IntArray, target: NumberTarget) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of Σ S²/n over all permutations within strata, (n_vars,)."""
    mean, variance = np.zeros(len(sizes)), np.zeros(len(sizes))
    for stratum, n in enumerate(target.sizes.tolist()):
        if n < 4:  # too few for a variance; they hardly add to the sum
            mean += np.maximum(np.count_nonzero(sizes[..., stratum], axis=1) - 1, 0) * (
                target.powers[0, stratum] / max(n - 1, 1)
            )
            continue
        square, fourth = float(target.powers[0, stratum]), float(target.powers[2, stratum])
        # Expected products of scores of distinct samples: z², z_i²z_j², z_i³z_j, z_i²z_jz_k, z_iz_jz_kz_l.
        e4, e31, e22 = fourth / n, -fourth / (n * (n - 1)), (square**2 - fourth) / (n * (n - 1))
        e211 = (2 * fourth - square**2) / (n * (n - 1) * (n - 2))
        e1111 = (3 * square**2 - 6 * fourth) / (n * (n - 1) * (n - 2) * (n - 3))
        a = sizes[..., stratum].astype(np.float64)
        a2, a3, a4 = a * (a - 1), a * (a - 1) * (a - 2), a * (a - 1) * (a - 2) * (a - 3)
        own = a * e4 + a2 * (4 * e31 + 3 * e22) + 6 * a3 * e211 + a4 * e1111  # E S⁴
        here = np.maximum(np.count_nonzero(a, axis=1) - 1, 0) * square / (n - 1)
        filled = np.maximum(a, 1.0)
        # E S_a²·S_b²/(ab) = e22 + (a − 1 + b − 1)·e211 + (a − 1)(b − 1)·e1111, summed over pairs of levels.
        less, is_filled = np.where(a > 0, a - 1, 0.0), (a > 0).astype(np.float64)
        n_filled, total, total_2 = is_filled.sum(axis=1), less.sum(axis=1), (less**2).sum(axis=1)
        pairs = (n_filled**2 - n_filled) * e22 + 2 * (n_filled - 1) * total * e211 + (total**2 - total_2) * e1111
        second = (own / filled**2).sum(axis=1) + pairs
        mean += here
        variance += np.maximum(second - here**2, 0.0)
    return mean, variance
