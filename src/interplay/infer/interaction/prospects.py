"""Tables → how small a p-value can be at best: who may enter a list, before any exact fit or bootstrap.

A p-value is that of χ² at G², or a larger one of the bootstrap; exact ones are hardly smaller than those of χ². G² of
compiled fits is never too small (`quick_fit`), nor are their p-values too large. Nothing here is shown to anybody.
"""

from __future__ import annotations

from math import exp, inf, log

import numpy as np

from interplay.base.arrays import BoolArray, FloatArray, IntArray
from interplay.infer.interaction.bootstrap import DrawnG2, roughly_drawn_g2
from interplay.infer.interaction.interaction_test import (
    EXACT_SLACK,
    bootstrap_input,
    chi2_log_tail,
    exact_log_p,
    g2_thresholds,
)
from interplay.infer.interaction.null_model import degrees_of_freedom, fewest_df, is_two_level, supported_entries
from interplay.infer.interaction.proportional_fit import fit_null_model, quick_fit, smallest_expected
from interplay.infer.interaction.table_tests import (
    BOOTSTRAP_SPARSE_BELOW,
    FEW_EXPECTED,
    bootstrapped_up_to,
    is_too_sparse,
)

#: Logarithms of p-values are this much in doubt, times 1 and their size: the rounding of compiled fits, and more.
ROUNDING = 1e-7


def largest_g2(by_stratum: IntArray, *, n_threads: int = 1) -> tuple[FloatArray, IntArray]:
    """Return upper bounds of G², and the fewest degrees of freedom that a table may have, of all strata: (n,) each."""
    n, n_strata, *shape = by_stratum.shape
    tables = by_stratum.reshape(n * n_strata, *shape)
    fit = quick_fit(tables, n_threads=n_threads)
    df = fewest_df(tables, fit.is_complete)
    return fit.g2.reshape(n, n_strata).sum(axis=1), df.reshape(n, n_strata).sum(axis=1)


def least_log_p(by_stratum: IntArray, g2: FloatArray, df: IntArray) -> FloatArray:
    """Return lower bounds of log p-values, from upper bounds of G² and lower ones of the degrees of freedom, (n,)."""
    log_p = chi2_log_tail(g2 * (1 + ROUNDING) + ROUNDING, np.maximum(df, 1))
    if is_two_level(by_stratum.shape[2:]):
        return np.asarray(log_p - log(EXACT_SLACK))
    return np.where(is_too_sparse(by_stratum), 0.0, log_p)


def rough_log_p(
    by_stratum: IntArray, g2: FloatArray, *, bar: float, bootstrap_below: float, seed: int, n_threads: int = 1
) -> FloatArray:
    """Return log p-values but for rounding, inf where they are above the logarithm `bar`, (n,).

    `g2` are upper bounds, as `largest_g2` returns them; the rest is as in `tested_tables`.
    """
    n, _, *shape = by_stratum.shape
    log_p = np.full(n, inf)
    rest = np.ones(n, dtype=np.bool_)
    if is_two_level(tuple(shape)):
        exact = np.array([exact_log_p(table) for table in by_stratum])
        rest = np.isnan(exact)
        log_p[~rest] = exact[~rest]
    too_sparse = rest & is_too_sparse(by_stratum)
    log_p[too_sparse] = 0.0
    rows = np.flatnonzero(rest & ~too_sparse)
    if len(rows):
        candidates = _Candidates(by_stratum[rows], g2[rows], bar, bootstrap_below, seed, n_threads)
        log_p[rows] = candidates.log_p()
    return np.where(log_p > bar + ROUNDING * (1 + abs(bar)), inf, log_p)


class _Candidates:
    """Tuples whose p-value is that of χ², or corrected by the bootstrap."""

    def __init__(
        self, tables: IntArray, g2: FloatArray, bar: float, bootstrap_below: float, seed: int, n_threads: int
    ) -> None:
        self._tables, self._g2, self._bar = tables, g2, bar
        self._bootstrap_below, self._seed, self._n_threads = bootstrap_below, seed, n_threads
        n, n_strata, *shape = tables.shape
        self._each = tables.reshape(n * n_strata, *shape)
        self._df = degrees_of_freedom(self._each).reshape(n, n_strata).sum(axis=1)

    def log_p(self) -> FloatArray:
        log_p = np.full(len(self._g2), inf)
        drawn = DrawnG2.of_none(len(log_p))
        # Before the exact fit, where a p-value of χ² that is low enough would be corrected for certain.
        sure = np.flatnonzero(self._is_bootstrapped())
        self._draw(drawn, sure, self._g2[sure])
        left = np.flatnonzero(
            chi2_log_tail(self._g2 / drawn.factor, self._df) <= self._bar + ROUNDING * (1 + abs(self._bar))
        )
        n_strata = self._tables.shape[1]
        each = self._each.reshape(self._tables.shape)[left].reshape(-1, *self._each.shape[1:])
        fit = fit_null_model(each)
        g2 = fit.g2.reshape(-1, n_strata).sum(axis=1)
        min_expected = np.fmin.reduce(smallest_expected(each, fit.mu).reshape(-1, n_strata), axis=1)
        df = self._df[left]
        of_chi2 = chi2_log_tail(g2, df)
        corrected = np.exp(of_chi2) <= bootstrapped_up_to(min_expected, self._bootstrap_below)
        unknown = np.flatnonzero(corrected & ~np.isin(left, sure) & (of_chi2 <= self._bar))
        self._draw(drawn, left[unknown], g2[unknown])
        log_p[left] = np.where(corrected, drawn.of(left).log_tail(g2, df, min_expected), of_chi2)
        return log_p

    def _is_bootstrapped(self) -> BoolArray:
        """Say which tables are corrected if their p-value of χ² is not above the bar."""
        p = exp(self._bar)
        if p <= self._bootstrap_below:
            return np.ones(len(self._g2), dtype=np.bool_)
        if p > BOOTSTRAP_SPARSE_BELOW:
            return np.zeros(len(self._g2), dtype=np.bool_)
        # The smallest expected count is not above the mean one.
        n_entries = supported_entries(self._each).reshape(len(self._g2), -1).sum(axis=1)
        n_samples = self._tables.reshape(len(self._g2), -1).sum(axis=1)
        return np.asarray(n_samples < FEW_EXPECTED * n_entries)

    def _draw(self, drawn: DrawnG2, rows: IntArray, g2: FloatArray) -> None:
        """Draw tables of some tuples, as far as these are of interest."""
        from scipy.special import chdtri

        df = self._df[rows]
        needed = chdtri(np.maximum(df, 1), exp(self._bar)) if self._bar < 0 else np.zeros(len(rows))
        with np.errstate(divide="ignore"):
            highest = np.where(needed > 0, g2 * (1 + ROUNDING) / needed, inf)
        tables, seeds = bootstrap_input(self._tables[rows], self._seed)
        found = roughly_drawn_g2(tables, df, highest, seeds=seeds, n_threads=self._n_threads)
        for values, of_rows in zip(drawn, found, strict=True):
            values[rows] = of_rows


#: Thresholds are those of a p-value larger by this factor, beyond the room for exact p-values that they leave anyway:
#: of many small strata, exact p-values were up to 2.3 times smaller than those of χ² (18,000 tables, p > 1e-12).
SITE_SLACK = 4.0

#: Thresholds are lowered by this share, for rounding.
_ROUNDING = 1e-9

#: Thresholds are computed up to this number of degrees of freedom; beyond it the last one is used, which is lower.
_MAX_DF = 100_000


def site_shares(max_p: float, max_df: int, n_sites: int) -> FloatArray:
    """Return the G² that one of `n_sites` sites needs, by its own degrees of freedom: (max_df + 1,).

    With the site as a stratum, G² and degrees of freedom are sums over sites. Let f(d) be the threshold of the whole
    for d degrees of freedom, which is concave. A site with d has the share f(n_sites·d) / n_sites: by Jensen's
    inequality the shares of all sites add up to f(Σ d) at most. So where the sum of G² reaches f(Σ d), one site reaches
    its share. Where f is not concave (p-values above 0.1 or so), each share is that of one degree of freedom.

    Examples
    --------
    Of four sites, with the p-values of 4950 pairs.

    >>> site_shares(1e-5, 2, 4).round(2).tolist()
    [inf, 6.0, 8.09]
    """
    most = min(max_df * n_sites, _MAX_DF)
    of_whole = np.concatenate([[0.0], g2_thresholds(min(SITE_SLACK * max_p, 1.0), max(most, 2))[1:]])
    is_concave = bool((np.diff(of_whole, n=2) <= 0).all())
    df = np.minimum(np.arange(1, max_df + 1) * n_sites, len(of_whole) - 1) if is_concave else np.ones(max_df, dtype=int)
    return np.concatenate([[np.inf], of_whole[df] / n_sites * (1 - _ROUNDING)])
