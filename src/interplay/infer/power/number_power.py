"""Means or log hazards of cells → the power of the test of a tuple, for numbers and for times; what a second test
costs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.data.models.linear import spline_columns
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL
from interplay.infer.number_interaction.f_test import departure
from interplay.infer.smooth_columns import smooth_columns

#: Seed of variances and events that are drawn.
_SEED = 20_021

#: Tables whose variances are drawn, at the least.
_N_VARIANCES = 1000

#: Points at which a normal density is summed, from −8 to 8: the sum of a smooth function is exact to rounding.
_GRID = np.linspace(-8.0, 8.0, 641)


def number_power(
    means: FloatArray,
    counts: IntArray,
    shares: FloatArray,
    *,
    log_threshold: float,
    scale: str,
    n_smooth: int = 0,
    coding: str = "levels",
) -> float:
    """Return the chance of a p-value below the threshold, over the drawn sizes of cells.

    - `means` (levels …): means of the cells in standard deviations of the normal noise around them.
    - `counts` (n_drawn, levels …).
    - `shares` (levels …): of the cells, for the distribution of the outcome, which ranks depend on.
    - `log_threshold`: natural logarithm of the p-value.
    - `scale`: "ranks" or "values", as in `interactions`.
    - `n_smooth`: columns of smooth effects of a second test, which cut numbers must pass; 0 for none.
    - `coding`: "levels" for all cells, "dosage" for the product of the members' levels.

    Examples
    --------
    >>> xor = np.array([[0.35, -0.35], [-0.35, 0.35]])
    >>> even = np.full((1, 2, 2), 100)
    >>> number_power(xor, even, even[0] / 400, log_threshold=float(np.log(0.05)), scale="values")  # doctest: +ELLIPSIS
    0.99999...
    """
    from scipy.stats import f, ncf, ncx2

    if scale == "ranks":
        means = _rank_means(means, shares)
    if coding == "dosage":
        return _product_power(means, counts, log_threshold)
    counts = np.repeat(counts, -(-_N_VARIANCES // len(counts)), axis=0)
    weights = np.where(counts >= FEWEST_IN_CELL, counts, 0).astype(np.float64)
    means = np.broadcast_to(means, counts.shape)
    apart = departure(means, weights)
    df_residual = counts.reshape(len(counts), -1).sum(axis=1) - (counts > 0).reshape(len(counts), -1).sum(axis=1)
    tested = (apart.df > 0) & (df_residual > 0)
    if not tested.any():
        return 0.0
    # The larger p-value counts, of F with one variance, and of HC3 with one of each cell, s²/(n − 1).
    free = np.maximum(weights - 1, 0)
    squares = np.random.RandomState(_SEED).chisquare(np.maximum(free, 1)) * (free > 0)
    precision = np.divide(free**2, squares, out=np.zeros_like(free), where=squares > 0)
    of_one = (_sums(free) / np.maximum(_sums(squares), 1e-300))[tested]
    far, robust = apart.squares[tested], departure(means, precision).squares[tested]
    of_both = np.minimum(of_one, np.divide(robust, far, out=of_one.copy(), where=far > 0))
    if n_smooth:
        far = after_second_test(far, n_samples=int(counts[0].sum()), n_columns=n_smooth)
    df, rest, far = apart.df[tested], df_residual[tested], np.maximum(far, 1e-12)
    limit = f.isf(np.exp(log_threshold), df, rest)
    # Variances are drawn for the share of finds that HC3 leaves; F's are known exactly.
    first, both = (ncx2.sf(df * limit / of, df, far).sum() for of in (of_one, of_both))
    power = ncf.sf(limit, df, rest, far).sum() / len(counts) * (both / first if first > 0 else 1.0)
    return float(np.clip(power, 0.0, 1.0))


def _product_power(means: FloatArray, counts: IntArray, log_threshold: float) -> float:
    """Return the same for the coefficient of the product of two members' levels, beside linear effects.

    What the cells have beyond these effects and the product counts as noise.
    """
    from scipy.stats import f, ncf

    a, b = (values.ravel() for values in np.indices(means.shape).astype(np.float64))
    columns = np.column_stack([np.ones(len(a)), a - a.mean(), b - b.mean(), (a - a.mean()) * (b - b.mean())])
    m, far = means.ravel(), np.zeros(len(counts))
    n_left = int(counts[0].sum()) - columns.shape[1]
    if n_left < 1:
        return 0.0
    for table, weights in enumerate(counts.reshape(len(counts), -1).astype(np.float64)):
        root = np.sqrt(weights)
        basis, triangle = np.linalg.qr(columns * root[:, np.newaxis])
        if abs(triangle[-1, -1]) > 1e-9 * root.max():
            parts = basis.T @ (root * m)
            beyond = float((root * m) @ (root * m) - parts @ parts)
            far[table] = parts[-1] ** 2 / (1 + max(beyond, 0.0) / n_left)
    limit = f.isf(np.exp(log_threshold), 1, n_left)
    return float(np.clip(ncf.sf(limit, 1, n_left, np.maximum(far, 1e-12)), 0.0, 1.0).mean())


def _rank_means(means: FloatArray, shares: FloatArray) -> FloatArray:
    """Return means of cells on the scale of normal scores, in standard deviations within cells.

    A score is Φ⁻¹(F(y)), with F the distribution of the outcome over all cells: a mixture of normal ones.
    """
    from scipy.special import ndtr, ndtri

    flat, weights = means.ravel(), shares.ravel()
    values, cell = np.unique(flat, return_inverse=True)
    of_value = np.bincount(cell, weights=weights)
    density = np.exp(-(_GRID**2) / 2)
    density /= density.sum()
    scores = np.empty((len(values), len(_GRID)))
    for i, mean in enumerate(values):
        y = mean + _GRID
        below = (of_value[:, np.newaxis] * ndtr(y - values[:, np.newaxis])).sum(axis=0)
        above = (of_value[:, np.newaxis] * ndtr(values[:, np.newaxis] - y)).sum(axis=0)
        scores[i] = np.where(below < above, ndtri(below), -ndtri(above))
    score_mean = scores @ density
    within = (scores**2) @ density - score_mean**2
    return np.asarray((score_mean / np.sqrt(of_value @ within))[cell].reshape(means.shape))


def time_power(
    log_hazards: FloatArray, counts: IntArray, *, event_share: float, log_threshold: float, n_smooth: int = 0
) -> float:
    """Return the chance of a p-value below the threshold, over the drawn sizes of cells.

    Times are exponential, and so is the end of observation: events of a cell are then binomial, the sum of its times
    has a gamma distribution, and these say nearly as much as Cox's model. The likelihood ratio of such tables is drawn;
    its mean and spread are those of a noncentral χ², shifted and scaled. It is compared with F, as in the search.

    - `log_hazards` (levels …).
    - `counts` (n_drawn, levels …): samples of the cells.
    - `event_share`: share of samples whose event is seen.
    - `n_smooth`: columns of smooth effects of a second test, which cut numbers must pass; 0 for none.

    Examples
    --------
    >>> xor = np.array([[0.3, -0.3], [-0.3, 0.3]])
    >>> even = np.full((1024, 2, 2), 100)
    >>> round(time_power(xor, even, event_share=0.7, log_threshold=float(np.log(0.05))), 2)
    1.0
    """
    from scipy.stats import f

    counts = np.where(counts >= FEWEST_IN_CELL, counts, 0)
    sizes = counts.astype(np.float64)
    hazards = np.broadcast_to(np.exp(log_hazards - log_hazards.mean()), counts.shape)
    ends = _end_rate(hazards[0], sizes.sum(axis=0), event_share)
    chances = hazards / (hazards + ends)
    expected, exposure = sizes * chances, sizes / (hazards + ends)
    fitted = _without_interaction(expected, exposure)
    rng = np.random.RandomState(_SEED)
    events = rng.binomial(counts, chances).astype(np.float64)
    at_risk = rng.gamma(np.maximum(sizes, 1e-9)) / (hazards + ends) * (sizes > 0)
    drawn = _ratio(events, _without_interaction(events, at_risk))
    of_fitted = np.divide(fitted, exposure, out=np.ones_like(fitted), where=exposure > 0)
    truth = 2 * _sums(events * np.log(hazards / of_fitted) - (hazards - of_fitted) * at_risk)
    far, df = _ratio(expected, fitted), departure(np.zeros(counts.shape), sizes).df
    n_left = _sums(expected) - (counts > 0).reshape(len(counts), -1).sum(axis=1)
    tested = (df > 0) & (n_left > 1)
    if not tested.any():
        return 0.0
    df, mean = df[tested], far[tested] + float((drawn - truth)[tested].mean())
    lowered = mean
    if n_smooth:
        less = far - after_second_test(far, n_samples=max(round(float(_sums(expected).mean())), 1), n_columns=n_smooth)
        lowered = mean - less[tested]
    limit = df * f.isf(np.exp(log_threshold), df, n_left[tested])
    power = np.zeros(len(counts))
    power[tested] = noncentral_tail(limit, df, lowered, root_spread(drawn[tested], mean, df))
    return float(power.mean())


def _sums(cells: FloatArray) -> FloatArray:
    return np.asarray(cells.reshape(len(cells), -1).sum(axis=1))


def _end_rate(hazards: FloatArray, sizes: FloatArray, event_share: float) -> float:
    """Return the rate at which observation ends, with which the share of events is the one that is asked for."""
    from scipy.optimize import brentq

    def beyond(log_rate: float) -> float:
        return float(np.average(hazards / (hazards + np.exp(log_rate)), weights=sizes)) - event_share

    if event_share >= 1 or not sizes.any():
        return 0.0
    return float(np.exp(brentq(beyond, -60.0, 60.0)))


def _without_interaction(events: FloatArray, exposure: FloatArray) -> FloatArray:
    """Return expected events of cells, (n_drawn, levels …), in the model of all proper subsets, fitted by margins."""
    fitted = exposure.copy()
    for _ in range(_MAX_ROUNDS):
        furthest = 0.0
        for axis in range(1, events.ndim):
            have, want = fitted.sum(axis=axis, keepdims=True), events.sum(axis=axis, keepdims=True)
            factor = np.divide(want, have, out=np.zeros_like(have), where=have > 0)
            fitted *= factor
            furthest = max(furthest, float(np.abs(want - have).max(initial=0.0)))
        if furthest < _CLOSE:
            break
    return fitted


#: Rounds of proportional fitting, and the difference of sums of events at which it ends.
_MAX_ROUNDS, _CLOSE = 200, 1e-6


def _ratio(events: FloatArray, fitted: FloatArray) -> FloatArray:
    share = np.divide(events, fitted, out=np.ones_like(events), where=(events > 0) & (fitted > 0))
    return 2 * _sums(events * np.log(share))


def root_spread(drawn: FloatArray, mean: FloatArray, df: IntArray) -> float:
    """Return the standard deviation of the root of a likelihood ratio in drawn tables, divided by noncentral χ²'s.

    It is 1 for small effects, and 0.93 to 1 in tables of log odds so large that 60 % of studies find them, which is up
    to 2 points of power.
    """
    rng = np.random.RandomState(_SEED)
    like = rng.noncentral_chisquare(df, np.maximum(mean - df, 0.0), size=(16, len(df)))
    of_sizes = np.sqrt(np.maximum(mean - 1.0, 0.0))  # sizes of cells differ as well, and are kept apart
    found = float(np.std(np.sqrt(drawn) - of_sizes) / np.std(np.sqrt(like) - of_sizes))
    return max(found, _MIN_SPREAD)  # classes that follow from the cells hardly vary


#: The spread of a likelihood ratio, as a share of that of noncentral χ², at the least.
_MIN_SPREAD = 0.05


def noncentral_tail(limit: npt.ArrayLike, df: IntArray, mean: FloatArray, spread: float) -> FloatArray:
    """Return the chance of exceeding a limit, of a noncentral χ² of this mean, with the spread of its root scaled."""
    from scipy.stats import ncx2

    beyond = np.maximum(mean - df, 1e-12)
    middle = np.sqrt(np.maximum(beyond + df - 1.0, 0.0))
    scaled = np.maximum(middle + (np.sqrt(limit) - middle) / spread, 0.0)
    return np.asarray(ncx2.sf(scaled**2, df, beyond))


def n_smooth_columns(n_levels: tuple[int, ...]) -> int:
    """Return the columns that smooth effects add to the model of a tuple of cut numbers.

    Examples
    --------
    >>> n_smooth_columns((2, 2)), n_smooth_columns((2, 2, 2))
    (8, 15)
    """
    splines = [spline_columns(np.arange(100.0))] * len(n_levels)
    return int(smooth_columns(splines, np.zeros((len(n_levels), 100), dtype=np.int64)).shape[1])


def after_second_test(far: FloatArray, *, n_samples: int, n_columns: int, gap: float = 0.0) -> FloatArray:
    """Return the noncentrality with which one test has the power of both tests.

    In independent samples, m columns that have nothing to do with the interaction take a share m/N of it. So the roots
    of both statistics differ by a normal number, with mean (1 − ρ)√λ and variance 2(1 − ρ), ρ² = 1 − m/N. The smaller
    root is below the first one by the positive part of this number: by its mean the root of the noncentrality is lower.
    Where the first test asks for a root that is larger by a `gap`, as an exact test does of few samples, only what
    exceeds the gap matters.

    Examples
    --------
    >>> after_second_test(np.array([16.0]), n_samples=300, n_columns=8).round(2).tolist()
    [15.24]
    """
    from scipy.special import ndtr

    root = np.sqrt(np.maximum(far, 0.0))
    rho = np.sqrt(max(1.0 - n_columns / n_samples, 0.0))
    mean, spread = (1 - rho) * root, np.sqrt(2 * (1 - rho))
    if spread == 0:
        return np.asarray(far)
    mean = mean - gap
    ratio = mean / spread
    lower = mean * ndtr(ratio) + spread * np.exp(-(ratio**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(np.maximum(root - lower, 0.0) ** 2)
