"""Counts of variables by level, class and stratum → p-values of a shift between classes, and of a difference in spread.

The test of `score_test` for columns of few values, whose levels are in order: from their counts, as many samples as
there may be. With two classes and no strata it is exact: every table with the same sizes of levels and classes is
listed, where these are few enough and p is small enough to matter.
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.margin_tables import GainNull, next_choices
from interplay.infer.score_test import Moments

#: p-values above this stay approximate: no adjusted p-value that they lead to is of interest.
_MAX_P_LISTED = 0.05

#: Upper limit of the tables with the same margins that are listed.
_MAX_TABLES = 50_000


def level_scores(counts: IntArray) -> FloatArray:
    """Return the mid-rank of each level within each stratum, from −1 to 1, (n_vars, n_levels, n_strata).

    Parameters
    ----------
    counts : (n_vars, n_levels, n_classes, n_strata) int64

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

    Parameters
    ----------
    counts : (n_vars, n_levels, n_classes, n_strata) int64
        Samples of each variable; the variables have the same classes and strata. A level, or a class in a stratum, may
        be empty.
    scores : (n_vars, n_levels, n_strata) float64
        As `level_scores` gives them, or a function of these.

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
