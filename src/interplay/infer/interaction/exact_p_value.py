"""Two levels and two classes: the exact p-value of an interaction, given all margins that H0 keeps (Zelen's test).

Given these margins the table is n + s·t for some whole t (see `two_level_fit`), with probability ∝ Π 1/(n + s·t)! under
H0, whatever the effects of the parts are. The p-value is the probability of a table no likelier than the one observed.
"""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.infer.interaction.two_level_fit import is_two_level, parity_signs, step_range

#: Logarithms of probabilities that are equal but for rounding count as equal.
_ROUNDING = 1e-9

#: Upper limit of the combinations of the strata's tables that are listed.
MAX_COMBINATIONS = 2**20

#: Upper limit of the tables of one stratum that are listed. Of more, only tables that contribute to the p-value are.
MAX_LISTED = 2**12

#: Logarithm of a factor: tables less likely by it than the others in a sum do not count, as a million of them are below
#: the rounding.
_NEGLIGIBLE = 60.0


def exact_log_p(tables: IntArray) -> float:
    """Return the natural logarithm of the exact p-value of one tuple; NaN if its strata have too many tables.

    Parameters
    ----------
    tables : (n_strata, 2, …, 2) int64
        Samples of the tuple, one table per stratum. Strata are independent given their margins, and the interaction is
        absent from all of them under H0.

    Examples
    --------
    Entries are 3 or 1, in turns. Tables with these margins have j or 4 − j, in C(4, j)⁴ of 1810 cases, and in 514 of
    them j is not 2.

    >>> import numpy as np
    >>> round(float(np.exp(exact_log_p(np.array([[[[3, 1], [1, 3]], [[1, 3], [3, 1]]]])))), 4)
    0.284
    """
    shape = tables.shape[1:]
    if not is_two_level(shape):
        raise ValueError(f"tables must be of two levels and two classes, not of shape {shape}")
    signs = parity_signs(shape)
    flat = tables.reshape(len(tables), signs.size)
    low, high = step_range(flat, signs)
    if len(tables) == 1 and high[0] - low[0] > MAX_LISTED:
        return _log_p_of_many(flat[0], signs, int(low[0]), int(high[0]))
    if np.prod((high - low + 1).astype(np.float64)) > MAX_COMBINATIONS and len(tables) > 1:
        return float("nan")
    log_chance, observed = np.zeros(1), 0.0
    for counts, first, last in zip(flat, low, high, strict=True):
        of_stratum = _log_chances(counts, signs, int(first), int(last))
        observed += of_stratum[-first]
        log_chance = np.add.outer(log_chance, of_stratum).ravel()
    as_unlikely = log_chance[log_chance <= observed + _ROUNDING * (1 + abs(observed))]
    return min(float(np.logaddexp.reduce(np.sort(as_unlikely))), 0.0)


def _log_chances(counts: IntArray, signs: IntArray, low: int, high: int) -> FloatArray:
    """Logarithms of the probabilities of n + s·t, t = low … high, from the ratios of neighbours."""
    t = np.arange(low, high)[:, np.newaxis]
    steps = np.log(counts[signs < 0] - t).sum(axis=1) - np.log(counts[signs > 0] + t + 1).sum(axis=1)
    log_ratio = np.concatenate([[0.0], np.cumsum(steps)])
    log_ratio -= log_ratio.max()
    return np.asarray(log_ratio - np.log(np.exp(log_ratio).sum()))


def _log_p_of_many(counts: IntArray, signs: IntArray, low: int, high: int) -> float:
    """Return the logarithm of the p-value where there are very many tables: from the few that matter.

    The logarithm of a table's probability is concave in t. So bisection shows where it falls below a value, and tables
    beyond that point add nothing.
    """
    from scipy.special import gammaln

    def log_weight(t: IntArray) -> FloatArray:
        return np.asarray(-gammaln(counts + signs * t[:, np.newaxis] + 1.0).sum(axis=1))

    def at(t: int) -> float:
        return float(log_weight(np.array([t]))[0])

    def last_above(value: float, inside: int, end: int) -> int:
        """Return the last t from `inside`, where the weight is above the value, towards `end`, where it still is."""
        if at(end) >= value:
            return end
        while abs(end - inside) > 1:
            middle = (inside + end) // 2
            inside, end = (middle, end) if at(middle) >= value else (inside, middle)
        return inside

    mode = _mode(counts, signs, low, high)
    top, observed = at(mode), at(0)
    first, last = (last_above(top - _NEGLIGIBLE, mode, end) for end in (low, high))
    log_total = float(np.logaddexp.reduce(log_weight(np.arange(first, last + 1))))
    # As unlikely as the table at hand, but for rounding; from there outwards, on both sides of the mode.
    limit = observed + _ROUNDING * (1 + abs(observed - log_total))
    if limit >= top:
        return 0.0
    tails = []
    for end, step in ((low, -1), (high, 1)):
        begin = last_above(np.nextafter(limit, np.inf), mode, end) + step
        if low <= begin <= high:
            weight = at(begin)
            stop = last_above(weight - _NEGLIGIBLE, begin, end)
            tails.append(log_weight(np.arange(begin, stop + step, step)))
    return min(float(np.logaddexp.reduce(np.sort(np.concatenate(tails)))) - log_total, 0.0)


def _mode(counts: IntArray, signs: IntArray, low: int, high: int) -> int:
    """Return the likeliest t: probabilities grow while the ratio of neighbours is above 1."""
    while low < high:
        middle = (low + high) // 2
        grows = np.log(counts[signs < 0] - middle).sum() > np.log(counts[signs > 0] + middle + 1).sum()
        low, high = (middle + 1, high) if grows else (low, middle)
    return low
