"""Scores of samples (ranks, say) and their classes → p-values of a difference between the classes.

A linear permutation test. Of one variable with scores z and a class with indicator u, both centred, the statistic is
T = Σ u·z. Under chance every assignment of the scores to the samples (of a stratum) is equally likely, which gives T
the variance Σu²·Σz²/(n − 1) and the third moment n·Σu³·Σz³/((n − 1)(n − 2)). With mid-ranks as scores this is the test
of Mann, Whitney and Wilcoxon, for several classes that of Kruskal and Wallis, within strata that of van Elteren.

Rare classes and columns with many equal values make T skewed, and p-values of the normal distribution too small in the
longer tail. There, the gamma distribution with the same three moments is used where its p-value is larger. T is reduced
by half of its smallest step (continuity correction).

With scores of a number outcome in the place of u, T is a correlation, whose tail is that of t: `correlation_test` says
with how many degrees of freedom.

Counts of variables by level, class and stratum → p-values of a shift between classes, and of a difference in spread.

The test of `score_test` for columns of few values, whose levels are in order: from their counts, as many samples as
there may be. With two classes and no strata it is exact: every table with the same sizes of levels and classes is
listed, where these are few enough and p is small enough to matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.base.tails import log_beta_cdf, log_chi2_tail
from interplay.infer.margin_tables import GainNull, next_choices

#: A skewness below this makes no difference to a p-value.
_MIN_SKEWNESS = 1e-3

#: With several classes: from this skewness on, that of the most skewed class, the classes are looked at one by one.
_SKEWED = 0.25


def class_targets(codes: IntArray, n_classes: int) -> FloatArray:
    """Return the targets of scores, (n_targets, n_samples): indicators of the second of two classes, or of each."""
    return np.array([codes == q for q in range(n_classes == 2, n_classes)], dtype=np.float64)


def score_log_p(
    scores: FloatArray,
    targets: FloatArray,
    *,
    strata: IntArray | None = None,
    step: FloatArray | float = 0.0,
    n_fitted: int = 0,
) -> FloatArray:
    """Return natural logarithms of two-sided p-values.

    - `scores` (n_vars, n_samples).
    - `targets` (n_targets, n_samples): as `class_targets` gives them, or their residuals after a regression on other
      variables.
    - `strata` (n_samples,): scores are exchangeable within a stratum.
    - `step` (n_vars,) or float: the smallest difference between two scores of a variable: the steps of the statistic.
    - `n_fitted`: other variables that scores and targets are the residuals of.

    Examples
    --------
    >>> import numpy as np
    >>> ranks = np.arange(1.0, 9.0)[np.newaxis]
    >>> targets = class_targets(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2)
    >>> round(float(np.exp(score_log_p(ranks, targets, step=1.0)[0])), 4)  # scipy.stats.mannwhitneyu says the same
    0.0304
    """
    codes = np.zeros(scores.shape[1], dtype=np.int64) if strata is None else strata
    n_strata = int(codes.max(initial=0)) + 1
    moments = Moments.none(len(scores), len(targets))
    for stratum in range(n_strata):
        inside = slice(None) if n_strata == 1 else np.flatnonzero(codes == stratum)
        z, u = (part - part.mean(axis=1, keepdims=True) for part in (scores[:, inside], targets[:, inside]))
        squares = z * z
        moments = moments.with_stratum(
            # Not by BLAS, whose last bits depend on the number of its threads.
            statistic=np.stack([np.einsum("vs,s->v", z, row) for row in u], axis=1),
            squares=squares.sum(axis=1),
            cubes=np.einsum("vs,vs->v", squares, z),
            products=np.einsum("as,bs->ab", u, u),
            target_cubes=(u**3).sum(axis=1),
            n_samples=z.shape[1],
            n_fitted=n_fitted,
        )
    return moments.log_p(step)


@dataclass(frozen=True, eq=False)
class Moments:
    """The statistics of all variables and targets, and their moments under permutation."""

    statistic: FloatArray  #: (n_vars, n_targets)
    covariance: FloatArray  #: (n_vars, n_targets, n_targets)
    #: (n_vars, n_targets): third central moments.
    third: FloatArray
    #: (n_vars,): degrees of freedom ν of the tail of T over its deviation. Positive: that of a correlation, lighter
    #: than normal; infinite: normal; negative: Student's t with −ν degrees of freedom, of variance 1. All normal if not
    #: given.
    freedom: FloatArray | None = None

    @classmethod
    def none(cls, n_vars: int, n_targets: int) -> Moments:
        """Return the moments of no samples."""
        return cls(
            np.zeros((n_vars, n_targets)), np.zeros((n_vars, n_targets, n_targets)), np.zeros((n_vars, n_targets))
        )

    def with_stratum(
        self,
        *,
        statistic: FloatArray,
        squares: FloatArray,
        cubes: FloatArray,
        products: FloatArray,
        target_cubes: FloatArray,
        n_samples: int,
        n_fitted: int = 0,
    ) -> Moments:
        """Add the contribution of a stratum.

        - `statistic` (n_vars, n_targets).
        - `squares`, `cubes` (n_vars,): sums of powers of the centred scores.
        - `products` (n_targets, n_targets): sums of products of the centred targets.
        - `target_cubes` (n_targets,).
        """
        n = n_samples
        if n < 2:
            return self
        variance = squares / max(n - 1 - n_fitted, 1)
        third = self.third if n < 3 else self.third + np.outer(cubes, target_cubes) * (n / ((n - 1) * (n - 2)))
        return Moments(
            self.statistic + statistic, self.covariance + variance[:, np.newaxis, np.newaxis] * products, third
        )

    def log_p(self, step: FloatArray | float = 0.0) -> FloatArray:
        """Return ln p of each variable."""
        n_targets = self.statistic.shape[1]
        one_by_one = np.stack([self._log_p_of_target(t, step) for t in range(n_targets)])
        if n_targets == 1:
            return np.asarray(one_by_one[0])
        together = self._log_p_together()
        bound = np.minimum(one_by_one.min(axis=0) + math.log(n_targets), 0.0)
        return np.where(self._is_skewed(), np.maximum(together, bound), together)

    def _log_p_of_target(self, t: int, step: FloatArray | float) -> FloatArray:
        """Of each variable, against one target."""
        statistic, variance = self.statistic[:, t], self.covariance[:, t, t]
        varies = variance > 0
        deviation = np.sqrt(np.where(varies, variance, 1.0))
        z = np.maximum(np.abs(statistic) - 0.5 * np.asarray(step), 0.0) / deviation
        log_p = log_chi2_tail(z**2, 1) if self.freedom is None else two_sided_log_p(z, self.freedom)
        skewness = np.sign(statistic) * (self.third[:, t] / deviation**2 / deviation)  # of the tail that was observed
        skewed = np.flatnonzero(varies & (skewness > _MIN_SKEWNESS))
        if len(skewed):
            shape = 4.0 / skewness[skewed] ** 2
            deviate = z[skewed] if self.freedom is None else _normal_deviate(log_p[skewed])
            gamma = log_chi2_tail(2 * (shape + deviate * np.sqrt(shape)), 2 * shape)
            log_p[skewed] = np.maximum(log_p[skewed], np.minimum(gamma + math.log(2), 0.0))
        return np.where(varies, log_p, 0.0)

    def _log_p_together(self) -> FloatArray:
        """Of each variable, against all targets: a quadratic form, χ² with one degree of freedom less than classes."""
        statistic, covariance = self.statistic[:, 1:], self.covariance[:, 1:, 1:]  # any one of the classes is redundant
        varies = np.einsum("vaa->v", covariance) > 0
        usable = np.where(varies[:, np.newaxis, np.newaxis], covariance, np.eye(covariance.shape[1]))
        square = np.einsum("va,vab,vb->v", statistic, np.linalg.pinv(usable, hermitian=True), statistic)
        return np.where(varies, log_chi2_tail(np.maximum(square, 0.0), covariance.shape[1]), 0.0)

    def _is_skewed(self) -> BoolArray:
        """Say where χ² is not to be trusted."""
        variance = np.einsum("vaa->va", self.covariance)
        with np.errstate(divide="ignore", invalid="ignore"):
            skewness = np.where(variance > 0, np.abs(self.third) / variance**1.5, 0.0)
        return np.asarray(skewness.max(axis=1) > _SKEWED)


def two_sided_log_p(deviate: FloatArray, freedom: FloatArray) -> FloatArray:
    """Return ln P(|T| ≥ deviate) of a T of variance 1 whose tail has `freedom`: see `Moments`.

    Examples
    --------
    >>> import numpy as np
    >>> r, n = 0.6, 12  # scipy.stats.pearsonr says the same
    >>> round(float(np.exp(two_sided_log_p(np.array([r * np.sqrt(n - 1)]), np.array([n - 2.0])))[0]), 4)
    0.0392
    """
    log_p = np.array(log_chi2_tail(deviate**2, 1))
    light, heavy = np.isfinite(freedom) & (freedom > 0), freedom < 0
    nu = freedom[light]
    log_p[light] = log_beta_cdf(1 - deviate[light] ** 2 / (nu + 1), nu / 2, 0.5)
    df = -freedom[heavy]
    log_p[heavy] = log_beta_cdf((df - 2) / (df - 2 + deviate[heavy] ** 2), df / 2, 0.5)
    return log_p


def _normal_deviate(log_p: FloatArray) -> FloatArray:
    """Return the deviate that has these two-sided p-values in the normal distribution."""
    from scipy.special import ndtri_exp

    return np.asarray(-ndtri_exp(np.maximum(log_p, -1e12) - math.log(2)))


#: p-values above this stay approximate: no adjusted p-value that they lead to is of interest.
_MAX_P_LISTED = 0.05

#: Upper limit of the tables with the same margins that are listed.
_MAX_TABLES = 50_000


def level_scores(counts: IntArray) -> FloatArray:
    """Return the mid-rank of each level within each stratum, from −1 to 1, (n_vars, n_levels, n_strata).

    `counts` (n_vars, n_levels, n_classes, n_strata).

    Examples
    --------
    >>> import numpy as np
    >>> level_scores(np.array([[[[1], [2]], [[0], [3]]]]))[0, :, 0].tolist()
    [-0.5, 0.5]
    """
    of_levels = counts.sum(axis=2)
    size = np.maximum(of_levels.sum(axis=1, keepdims=True), 1)
    return np.asarray(2 * (np.cumsum(of_levels, axis=1) - 0.5 * of_levels) / size - 1)


def level_score_log_p(counts: IntArray, scores: FloatArray) -> FloatArray:
    """Return natural logarithms of two-sided p-values.

    - `counts` (n_vars, n_levels, n_classes, n_strata): samples of each variable; the variables have the same classes
      and strata. A level, or a class in a stratum, may be empty.
    - `scores` (n_vars, n_levels, n_strata): as `level_scores` gives them, or a function of these.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[[[90], [10]], [[100], [0]]]])  # levels by classes
    >>> round(float(np.exp(level_score_log_p(counts, level_scores(counts))[0])), 4)  # as the exact test of the gain
    0.0015
    """
    n_vars, n_levels, n_classes, n_strata = counts.shape
    tested = list(range(n_classes == 2, n_classes))
    moments = Moments.none(n_vars, len(tested))
    for stratum in range(n_strata):
        here, of_levels = counts[..., stratum], counts[..., stratum].sum(axis=2)
        of_classes = here[0].sum(axis=0)[tested] if n_vars else np.zeros(len(tested))
        n = int(here[0].sum()) if n_vars else 0
        share = of_classes / max(n, 1)
        centre = (of_levels * scores[..., stratum]).sum(axis=1, keepdims=True) / max(n, 1)
        z = scores[..., stratum] - centre
        moments = moments.with_stratum(
            statistic=np.einsum("vl,vlq->vq", z, here[..., tested]),
            squares=(of_levels * z**2).sum(axis=1),
            cubes=(of_levels * z**3).sum(axis=1),
            products=np.diag(of_classes) - n * np.outer(share, share),
            target_cubes=n * share * (1 - share) * (1 - 2 * share),
            n_samples=n,
        )
    log_p = moments.log_p(_steps(counts, scores))
    if n_classes == 2 and n_strata == 1 and n_levels > 1:
        for v in np.flatnonzero(log_p < np.log(_MAX_P_LISTED)):
            null = _listed_null(counts[v, :, :, 0].sum(axis=1), int(counts[v, :, 1, 0].sum()), scores[v, :, 0])
            if null is not None:
                log_p[v] = null.log_p(np.abs(moments.statistic[v]))[0]
    return log_p


def _steps(counts: IntArray, scores: FloatArray) -> FloatArray:
    """Return the smallest difference between the scores of two levels that have samples."""
    filled = np.where(counts.sum(axis=2) > 0, scores, np.nan)
    gaps = np.diff(np.sort(filled, axis=1), axis=1)  # NaN come last
    gaps = np.where(gaps > 1e-12, gaps, np.inf)  # which NaN are not
    smallest = gaps.min(axis=(1, 2), initial=np.inf)
    return np.where(np.isfinite(smallest), smallest, 0.0)


def _listed_null(level_sizes: IntArray, class_size: int, scores: FloatArray) -> GainNull | None:
    """Return the distribution of the absolute statistic over all tables of these margins; None if they are too many."""
    from scipy.special import gammaln

    kept = level_sizes > 0
    sizes, scores = level_sizes[kept], scores[kept]
    order = np.argsort(sizes)  # the largest level gets the samples that the others leave
    sizes, scores = sizes[order], scores[order]
    n = int(sizes.sum())
    log_factorial = gammaln(np.arange(n + 1) + 1.0)

    def log_choices(of: IntArray | int, chosen: IntArray | int) -> FloatArray:
        return np.asarray(log_factorial[of] - log_factorial[chosen] - log_factorial[np.asarray(of) - chosen])

    left = np.array([class_size])
    statistic, log_chance = np.zeros(1), -log_choices(n, class_size).reshape(1)
    behind = n
    for size, score in zip(sizes[:-1].tolist(), scores[:-1].tolist(), strict=True):
        behind -= size
        choices = next_choices(left, size, behind, max_tables=_MAX_TABLES)
        if choices is None:
            return None
        parent, chosen = choices
        statistic = statistic[parent] + score * chosen
        log_chance = log_chance[parent] + log_choices(size, chosen)
        left = left[parent] - chosen
    statistic = statistic + scores[-1] * left
    log_chance = log_chance + log_choices(int(sizes[-1]), left)
    centred = np.abs(statistic - class_size * float(sizes @ scores) / n)
    return GainNull(centred, log_chance, rounding=1e-9 * max(float(centred.max()), 1e-300))
