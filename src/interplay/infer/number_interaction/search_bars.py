"""The p-value that tuples may have → the gain that engines ask of every member, in bits times samples.

For a tuple T and a member i, gain_i = (N/2) log₂(RSS(T − i)/RSS(T)) ≥ (N/2) log₂(RSS(H0)/RSS(T)): what a part of the
members explains, H0 explains, too. So p ≤ `max_p` needs of every member (N/2) log₂(1 + d·F/(N − cells)), F the
quantile at d degrees of freedom.

Engines know the scores z as integers t, z = a + b·t + e, where σ² = 1 − r² of the variance of z is that of e. Rounding
does not know the cells, so that the part of e in d directions is taken to be at most σ(√d + 8): eight standard
deviations more than expected. Within cells, z is taken to have at least a quarter of its variance: to explain more than
three quarters, effects would have to be of another kind than those that a search is for.
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray

#: Share of the variance of scores that is left within cells, at least.
_LEAST_WITHIN = 0.25

#: Standard deviations that rounding of scores may be beyond its expectation.
_SLACK = 8.0

#: What rounding of gains may take, in bits.
_ROUNDING = 1e-6


def number_bars(
    max_p: float,
    *,
    n_samples: int,
    max_df: int,
    n_cells: float,
    lost_share: float,
    pseudocount: float,
    omitted_squares: float = 0.0,
) -> FloatArray:
    """Return the least gain of every member, by degrees of freedom, (max_df + 1,).

    Cells of few samples are no part of a test, so that it may have one degree of freedom only, whatever engines count:
    the bar is that of one degree of freedom for all. More degrees of freedom need more.

    Parameters
    ----------
    max_p : float
        Tuples with p-values up to this must pass.
    n_samples : int
    max_df : int
        The most degrees of freedom that a tuple can have.
    n_cells : float
        The most cells that a tuple can have.
    lost_share : float
        1 − r² of scores and integers.
    pseudocount : float
        Of engines: they add this share of the mean square of scores to RSS.
    omitted_squares : float
        Squares of the scores, at most, of samples that tests leave out and engines do not.

    Examples
    --------
    >>> bars = dict(n_samples=1000, max_df=2, n_cells=4, pseudocount=1e-6)
    >>> number_bars(1e-6, lost_share=0.0, **bars).round(2).tolist()
    [17.29, 17.29, 17.29]
    >>> number_bars(1e-6, lost_share=0.001, **bars).round(2).tolist()
    [12.68, 12.68, 12.68]
    """
    if max_p >= 1:
        return np.full(max_df + 1, -1.0)
    df_residual = n_samples - 1  # of more cells, the bar is higher
    root_f = _t_quantile(max_p, df_residual)
    rounding = np.sqrt(lost_share / _LEAST_WITHIN)
    effect = max(root_f - rounding * (1 + _SLACK), 0.0) ** 2 / df_residual
    # RSS(T) of integers may be larger than that of scores by 2⟨P t, P e⟩, P onto the cells.
    explained = np.sqrt((1 - _LEAST_WITHIN) / _LEAST_WITHIN)
    cells = min(n_cells, n_samples)
    larger = 1 + 2 * explained * rounding * (np.sqrt(cells) + _SLACK) / np.sqrt(n_samples)
    larger += (pseudocount + omitted_squares) / (_LEAST_WITHIN * n_samples)
    return np.full(max_df + 1, n_samples / 2 * np.log2(1 + effect / larger) - _ROUNDING)


def least_ratio(max_p: float, *, n_samples: int) -> float:
    """Return df·F/df_residual that p ≤ `max_p` needs at least, at any degrees of freedom of at most so many samples.

    Examples
    --------
    >>> round(least_ratio(1e-6, n_samples=1000), 5)
    0.02425
    """
    return 0.0 if max_p >= 1 else _t_quantile(max_p, n_samples - 1) ** 2 / (n_samples - 1)


def _t_quantile(max_p: float, df: int) -> float:
    """Return t with P(|T| > t) = `max_p`."""
    from scipy.special import stdtrit

    return float(-stdtrit(df, max_p / 2))
