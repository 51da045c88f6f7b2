"""The window search of the original method: which variables are irrelevant, and the α that they imply.

In: χ² tail probabilities V of the reference variables, sorted by ascending gain. Out: how many of the lowest gains
to ignore, how many of the following variables are irrelevant, and α fitted to these by weighted least squares.

Every window start costs O(n): all window lengths share the same cumulative sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray
from interplay.base.checks import check_int

#: With fewer reference variables the search for the ignored ones has no candidates.
MIN_REFERENCE_VARIABLES = 6


@dataclass(frozen=True)
class LsqFit:
    """A fitted window.

    Attributes
    ----------
    alpha, alpha_error : float
        The parameter and its error, 1 and the spread around it in mode "raw".
    n_ignored, n_irrelevant : int
        The window is ``n_ignored : n_ignored + n_irrelevant`` of the sorted variables.
    sq_dev : (n − n_ignored,) float64
        Mean squared deviation if the window held 0, 1, … variables, which the search minimises. One undefined value
        (0/0) of mode "lin" is NaN.
    ignored_at_border, irrelevant_at_border : bool
        The search stopped where it was not allowed to go on.
    """

    alpha: float
    alpha_error: float
    n_ignored: int
    n_irrelevant: int
    sq_dev: FloatArray
    ignored_at_border: bool
    irrelevant_at_border: bool


class Bounds(NamedTuple):
    """Limits of the search, all checked against the number of variables; None means: to be searched."""

    n_irrelevant: int | None
    n_ignored: int | None
    min_irrelevant: int
    max_ignored: int


def check_bounds(
    n: int,
    *,
    n_irrelevant: int | None = None,
    n_ignored: int | None = None,
    min_irrelevant: int | None = None,
    max_ignored: int | None = None,
) -> Bounds:
    """Fill in the defaults for `n` reference variables, and refuse numbers that do not fit."""
    if n_ignored is not None:
        n_ignored = check_int("n_ignored", n_ignored, low=0, high=n - 2)
    if n_irrelevant is not None:
        n_irrelevant = check_int("n_irrelevant", n_irrelevant, low=2, high=n - (n_ignored or 0))
    if min_irrelevant is None:
        min_irrelevant = min(n // 3, 30, n - (n_ignored or 0))
    else:
        min_irrelevant = check_int("min_irrelevant", min_irrelevant, low=2, high=n - (n_ignored or 0))
    needed = n_irrelevant if n_irrelevant is not None and n_ignored is None else min_irrelevant
    if max_ignored is None:
        max_ignored = min(n // 3, n - needed)
    else:
        max_ignored = check_int("max_ignored", max_ignored, low=0, high=n - needed)
    return Bounds(n_irrelevant, n_ignored, min_irrelevant, max_ignored)


def fit_lsq(tail_p: FloatArray, *, mode: str, whole_window: bool, bounds: Bounds, search_points: int) -> LsqFit:
    """Search the window of irrelevant variables and fit α to it.

    Parameters
    ----------
    tail_p : (n,) float64
        V of the reference variables, by ascending gain.
    mode : {"raw", "lin", "exp"}
    whole_window : bool
        Everything that is not ignored is irrelevant: true of contrast variables.
    bounds : Bounds
    search_points : int
        Window starts tried in each pass; each pass refines the best start of the one before.
    """
    windows = _Windows(tail_p, mode=mode, whole_window=whole_window, bounds=bounds)
    last_start = max(0, bounds.max_ignored - 2)  # the original's range for the 1-based start is [1, max_ignored)
    if bounds.n_ignored is not None:
        best = windows.fit(bounds.n_ignored)
    else:
        best = _search_start(windows, max_ignored=bounds.max_ignored, search_points=search_points)
    return LsqFit(
        alpha=best.alpha,
        alpha_error=best.alpha_error,
        n_ignored=best.start,
        n_irrelevant=best.length,
        sq_dev=best.sq_dev,
        ignored_at_border=bounds.n_ignored is None and 0 < last_start == best.start,
        irrelevant_at_border=bounds.n_irrelevant is None and not whole_window and best.length == bounds.min_irrelevant,
    )


class _Window(NamedTuple):
    start: int
    length: int
    deviation: float
    alpha: float
    alpha_error: float
    sq_dev: FloatArray


class _Windows:
    """Fits of all window lengths for one start; the start is 0-based, so it is the number of ignored variables."""

    def __init__(self, tail_p: FloatArray, *, mode: str, whole_window: bool, bounds: Bounds) -> None:
        n = len(tail_p)
        rank = np.arange(1.0, n + 1.0)
        self.tail_p = tail_p
        self.mode = mode
        self.whole_window = whole_window
        self.bounds = bounds
        # Weights are inverse variances of the order statistics, in the scale of the fit.
        self.abscissa = a = np.log(rank) if mode == "exp" else rank
        w = rank / (n - rank + 1.0) if mode == "exp" else 1.0 / (rank * (n - rank + 1.0))
        self.weighted = np.stack([w, w * a, w * a * a, w * tail_p, w * tail_p * a, w * tail_p * tail_p])

    def fit(self, start: int) -> _Window:
        v, weighted = self.tail_p[start:], self.weighted[:, start:]
        n_left = len(v)
        # The end of a window is measured by its length, not by its place among all variables: as in the original.
        end = self.abscissa[:n_left]
        sum_w, sum_wa, sum_waa, sum_wv, sum_wva, sum_wvv = np.cumsum(weighted, axis=1)
        # The model is V = α·z with z = end − a (exp) or 1 − a/end (lin, raw); s_zz = Σ w z², s_vz = Σ w v z.
        if self.mode == "exp":
            s_zz = sum_waa - 2 * end * sum_wa + end**2 * sum_w
            s_vz = end * sum_wv - sum_wva
            alpha = np.cumsum(v) / np.arange(1.0, n_left + 1.0)
        else:
            s_zz = sum_w - 2 * sum_wa / end + sum_waa / end**2
            s_vz = sum_wv - sum_wva / end
            with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 in a window of the first variable alone
                alpha = s_vz / s_zz if self.mode == "lin" else np.ones(n_left)
        residual = sum_wvv - 2 * alpha * s_vz + alpha**2 * s_zz
        # Beyond the window the model says V = 0: all of V there counts as deviation.
        beyond = np.cumsum(weighted[-1, ::-1])[::-1]
        sq_dev = (np.concatenate(([0.0], residual[:-1])) + beyond) / sum_w[-1]

        bounds = self.bounds
        if bounds.n_irrelevant is not None:
            last = bounds.n_irrelevant - 1
        elif self.whole_window:
            last = n_left - 1
        else:
            first = bounds.min_irrelevant - 1
            last = first + int(np.argmin(np.where(np.isnan(sq_dev), np.inf, sq_dev)[first:]))
        with np.errstate(invalid="ignore", divide="ignore"):
            error = float(np.sqrt(np.abs(residual[last] / s_zz[last])))
        return _Window(start, last + 1, float(sq_dev[last]), float(alpha[last]), error, sq_dev)


def _search_start(windows: _Windows, *, max_ignored: int, search_points: int) -> _Window:
    """Coarse to fine over the number of ignored variables; the first of equal deviations wins."""
    best = windows.fit(0)
    low, high = 1, max_ignored
    while True:
        step = max(1, round((high - low) / search_points))
        for start in range(low, high, step):
            candidate = windows.fit(start - 1)
            if candidate.deviation < best.deviation:
                best = candidate
        if step == 1:
            return best
        low, high = max(1, best.start + 1 - step), min(max_ignored, best.start + 1 + step)
