"""Tables of tuples → G², degrees of freedom, p-values and effect sizes of their interactions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int, check_real
from interplay.base.chi_squared import log_chi2_tail
from interplay.statistics.interaction.bootstrap import N_BOOTSTRAP, bartlett_factor
from interplay.statistics.interaction.effect import (
    LargestResidual,
    LogOddsRatio,
    interaction_log_odds,
    largest_residual,
)
from interplay.statistics.interaction.exact_p_value import exact_log_p
from interplay.statistics.interaction.null_model import as_tables, degrees_of_freedom
from interplay.statistics.interaction.null_model_fit import fit_null_model, smallest_expected
from interplay.statistics.interaction.two_level_fit import is_two_level

#: An exact p-value may be smaller than χ²'s, by a factor of up to 1.32 in 8,000 tables of 60 to 5,000 samples.
_EXACT_SLACK = 2.0


@dataclass(frozen=True)
class InteractionTests:
    """Tests of tuples, one entry per tuple.

    Attributes
    ----------
    g2 : (n_tuples,) float64
        2 Σ n ln(n/μ), the likelihood ratio of H0, on the scale of χ².
    df : (n_tuples,) int64
        Effective degrees of freedom; 0 where the counts carry no information on an interaction (p = 1).
    log_p : (n_tuples,) float64
        Natural logarithms of the p-values, also where these underflow.
    method : (n_tuples,) str
        Where the p-value is from: "exact", "chi2", or "bootstrap" (the larger of χ²'s and the bootstrap's).
    min_expected : (n_tuples,) float64
        Smallest fitted count; below 5 a p-value of method "chi2" is a rough one.
    log_odds : LogOddsRatio or None
        For two levels and two classes.
    residual : LargestResidual or None
        Elsewhere: the entry that departs most from H0.
    """

    g2: FloatArray
    df: IntArray
    log_p: FloatArray
    method: npt.NDArray[np.str_]
    min_expected: FloatArray
    log_odds: LogOddsRatio | None
    residual: LargestResidual | None

    @property
    def p_value(self) -> FloatArray:
        return np.exp(self.log_p)


def interaction_test(
    counts: npt.ArrayLike,
    *,
    strata: bool = False,
    bootstrap_below: float = 1.0,
    n_bootstrap: int = N_BOOTSTRAP,
    random_state: int = 0,
    confidence: float = 0.95,
) -> InteractionTests:
    """Test whether tuples interact: whether their effect on the outcome has a term that no part of them has.

    Parameters
    ----------
    counts : (n_tuples, [n_strata,] levels …, n_classes) array_like of int
        Samples per cell and class of tuples of one shape, without pseudocounts.
    strata : bool
        Whether the second axis is the stratum. All effects may then differ between strata, and the interaction is
        sought in any of them: G² and df are sums.
    bootstrap_below : float
        Where there is no exact test, p-values of χ² up to this one are corrected by a bootstrap, which can only raise
        them. Larger ones stay as they are.
    n_bootstrap : int
        Tables drawn for each.
    random_state : int
        Seed of the bootstrap. A p-value depends on the tuple's counts and the seed, and on no other tuple.
    confidence : float
        Coverage of the intervals of log odds ratios.

    Examples
    --------
    Two members with an effect each, and a pair that matters together only.

    >>> import numpy as np
    >>> additive = [[[90, 10], [70, 30]], [[70, 30], [40, 60]]]
    >>> same = [[[40, 60], [60, 40]], [[60, 40], [40, 60]]]
    >>> tests = interaction_test([additive, same])
    >>> tests.p_value.round(6).tolist(), tests.method.tolist()
    ([1.0, 0.000133], ['exact', 'exact'])
    >>> tests.log_odds.estimate.round(2).tolist()
    [-0.08, 1.61]
    """
    given = as_tables(counts, strata=strata)
    bootstrap_below = check_real("bootstrap_below", bootstrap_below, low=0.0, high=1.0)
    n_bootstrap = check_int("n_bootstrap", n_bootstrap, low=1)
    random_state = check_int("random_state", random_state, low=0, high=2**32 - 1)
    confidence = check_real("confidence", confidence, low=0.0, high=1.0, low_open=True, high_open=True)

    by_stratum = given if strata else given[:, np.newaxis]
    n_tuples, n_strata, *shape = by_stratum.shape
    tables = by_stratum.reshape(n_tuples * n_strata, *shape)
    fit = fit_null_model(tables)
    mu = fit.mu.reshape(by_stratum.shape)
    df_by_stratum = degrees_of_freedom(tables).reshape(n_tuples, n_strata)
    g2, df = fit.g2.reshape(n_tuples, n_strata).sum(axis=1), df_by_stratum.sum(axis=1)
    expected = smallest_expected(tables, fit.mu).reshape(n_tuples, n_strata)
    two_level = is_two_level(tuple(shape))

    log_p = _log_p(g2, df)
    method = np.full(n_tuples, "chi2", dtype="<U9")
    for i in range(n_tuples):
        exact = exact_log_p(by_stratum[i]) if two_level else math.nan
        if not math.isnan(exact):
            log_p[i], method[i] = exact, "exact"
        elif df[i] > 0 and log_p[i] <= math.log(max(bootstrap_below, math.ulp(0.0))):
            table = _in_class_order(by_stratum[i])
            seed = [random_state, *table.ravel().tolist()]
            factor = bartlett_factor(table, int(df[i]), seed=seed, n_bootstrap=n_bootstrap)
            log_p[i], method[i] = _log_p(g2[i : i + 1] / factor, df[i : i + 1])[0], "bootstrap"
    return InteractionTests(
        g2=g2,
        df=df,
        log_p=log_p,
        method=method,
        min_expected=np.fmin.reduce(expected, axis=1),
        log_odds=interaction_log_odds(by_stratum, df_by_stratum, confidence=confidence) if two_level else None,
        residual=None if two_level else largest_residual(by_stratum, mu),
    )


def chi2_log_p(counts: IntArray, *, strata: bool = False) -> FloatArray:
    """Return the logarithms of the p-values of χ² alone, (n_tuples,): no exact test, no bootstrap; 0 where df is 0."""
    if len(counts) == 0 or 1 in counts.shape[1 + strata : -1]:
        return np.zeros(len(counts))
    by_stratum = counts.reshape(-1, *counts.shape[1 + strata :])
    g2 = fit_null_model(by_stratum).g2.reshape(len(counts), -1).sum(axis=1)
    return _log_p(g2, degrees_of_freedom(by_stratum).reshape(len(counts), -1).sum(axis=1))


def g2_thresholds(max_p: float, max_df: int) -> FloatArray:
    """Return the G² from which p ≤ `max_p` is possible, for 0 … `max_df` degrees of freedom: thresholds of a screen.

    They grow with the degrees of freedom; the threshold for none is infinite. They leave room for exact p-values that
    are smaller than those of χ².

    Examples
    --------
    >>> g2_thresholds(1e-6, 4).round(1).tolist()
    [inf, 22.6, 26.2, 29.2, 31.9]
    """
    from scipy.special import chdtri

    check_real("max_p", max_p, low=0.0, high=1.0, low_open=True)
    check_int("max_df", max_df, low=1)
    return np.concatenate([[np.inf], chdtri(np.arange(1, max_df + 1), min(_EXACT_SLACK * max_p, 1.0))])


def _in_class_order(table: IntArray) -> IntArray:
    """Put the classes in an order that follows from the counts: their names must not change the draws."""
    by_class = table.reshape(-1, table.shape[-1])
    return np.ascontiguousarray(table[..., np.lexsort(by_class[::-1])])


def _log_p(g2: FloatArray, df: IntArray) -> FloatArray:
    return np.where(df > 0, log_chi2_tail(g2, np.maximum(df, 1)), 0.0)
