"""Tables of tuples → G², degrees of freedom, p-values and effect sizes of their interactions.

Two levels and two classes: the exact p-value of an interaction, given all margins that H0 keeps (Zelen's test).

Given these margins the table is n + s·t for some whole t (see `two_level_fit`), with probability ∝ Π 1/(n + s·t)! under
H0, whatever the effects of the parts are. The p-value is the probability of a table no likelier than the one observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.checks import check_int, check_real
from interplay.base.tails import log_chi2_tail
from interplay.infer.interaction.bootstrap import N_BOOTSTRAP, drawn_g2
from interplay.infer.interaction.effect import Effect, LargestResidual, interaction_log_odds, largest_residual
from interplay.infer.interaction.null_model import as_tables, degrees_of_freedom, is_two_level, parity_signs, step_range
from interplay.infer.interaction.proportional_fit import fit_null_model, smallest_expected

#: An exact p-value may be smaller than χ²'s, by a factor of up to 1.32 in 8,000 tables of 60 to 5,000 samples.
EXACT_SLACK = 2.0


#: Numbers that stand for what places of a table hold.
Colours = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class InteractionTests:
    """Tests of tuples, one entry per tuple."""

    #: (n_tuples,): 2 Σ n ln(n/μ), the likelihood ratio of H0, on the scale of χ².
    g2: FloatArray
    #: (n_tuples,): effective degrees of freedom; 0 where the counts carry no information on an interaction (p = 1).
    df: IntArray
    #: (n_tuples,): natural logarithms of the p-values, also where these underflow.
    log_p: FloatArray
    #: (n_tuples,) str: where the p-value is from: "exact", "chi2", or "bootstrap" (the larger of χ²'s and the
    #: bootstrap's).
    method: npt.NDArray[np.str_]
    #: (n_tuples,): smallest fitted count; below 5 a p-value of method "chi2" is a rough one.
    min_expected: FloatArray
    #: For two levels and two classes.
    log_odds: Effect | None
    #: Elsewhere: the entry that departs most from H0.
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
    n_threads: int = 1,
) -> InteractionTests:
    """Test whether tuples interact: whether their effect on the outcome has a term that no part of them has.

    - `counts` (n_tuples, [n_strata,] levels …, n_classes) array_like of int: samples per cell and class of tuples of
      one shape, without pseudocounts.
    - `strata`: whether the second axis is the stratum. All effects may then differ between strata, and the interaction
      is sought in any of them: G² and df are sums.
    - `bootstrap_below`: where there is no exact test, p-values of χ² up to this one are corrected by a bootstrap, which
      can only raise them. Larger ones stay as they are.
    - `n_bootstrap`: tables drawn for each.
    - `random_state`: seed of the bootstrap. A p-value depends on the tuple's counts and the seed, and on no other
      tuple.
    - `confidence`: coverage of the intervals of log odds ratios.
    - `n_threads`: of the bootstrap.

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
    df_by_stratum = degrees_of_freedom(tables).reshape(n_tuples, n_strata)
    df = df_by_stratum.sum(axis=1)
    mu, g2 = _fits(by_stratum, df)
    expected = smallest_expected(tables, mu.reshape(tables.shape)).reshape(n_tuples, n_strata)
    two_level = is_two_level(tuple(shape))

    log_p = chi2_log_tail(g2, df)
    method = np.full(n_tuples, "chi2", dtype="<U9")
    if two_level:
        exact = np.array([exact_log_p(table) for table in by_stratum])
        known = ~np.isnan(exact)
        log_p[known], method[known] = exact[known], "exact"
    below = np.log(np.maximum(np.broadcast_to(bootstrap_below, n_tuples), math.ulp(0.0)))
    rows = np.flatnonzero((method == "chi2") & (df > 0) & (log_p <= below))
    tables_drawn_from, seeds = bootstrap_input(by_stratum[rows], random_state)
    min_expected = np.fmin.reduce(expected, axis=1)
    drawn = drawn_g2(tables_drawn_from, df[rows], seeds=seeds, n_bootstrap=n_bootstrap, n_threads=n_threads)
    log_p[rows], method[rows] = drawn.log_tail(g2[rows], df[rows], min_expected[rows]), "bootstrap"
    return InteractionTests(
        g2=g2,
        df=df,
        log_p=log_p,
        method=method,
        min_expected=min_expected,
        log_odds=interaction_log_odds(by_stratum, df_by_stratum, confidence=confidence) if two_level else None,
        residual=None if two_level else largest_residual(by_stratum, mu),
    )


def chi2_log_p(counts: IntArray, *, strata: bool = False) -> FloatArray:
    """Return the logarithms of the p-values of χ² alone, (n_tuples,): no exact test, no bootstrap; 0 where df is 0."""
    if len(counts) == 0 or 1 in counts.shape[1 + strata : -1]:
        return np.zeros(len(counts))
    by_stratum = counts if strata else counts[:, np.newaxis]
    df = degrees_of_freedom(by_stratum.reshape(-1, *by_stratum.shape[2:])).reshape(len(counts), -1).sum(axis=1)
    return chi2_log_tail(_fits(by_stratum, df)[1], df)


def _fits(by_stratum: IntArray, df: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return fitted counts and G² of tuples; without degrees of freedom H0 fits the counts themselves, G² is 0."""
    mu, g2 = by_stratum.astype(np.float64), np.zeros(len(by_stratum))
    free = np.flatnonzero(df > 0)
    fit = fit_null_model(by_stratum[free].reshape(-1, *by_stratum.shape[2:]))
    mu[free], g2[free] = fit.mu.reshape(len(free), *by_stratum.shape[1:]), _by_tuple(fit.g2, len(free)).sum(axis=1)
    return mu, g2


def _by_tuple(values: FloatArray, n_tuples: int) -> FloatArray:
    return values.reshape(n_tuples, -1 if n_tuples else 1)


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
    return np.concatenate([[np.inf], chdtri(np.arange(1, max_df + 1), min(EXACT_SLACK * max_p, 1.0))])


def bootstrap_input(by_stratum: IntArray, random_state: int) -> tuple[IntArray, list[list[int]]]:
    """Return the tables of tuples as the bootstrap takes them, and the seed of each.

    Members, their levels, classes and strata are in an order that follows from the counts: neither their names, nor
    the allele that a file counts, nor the order of columns may change what is drawn.

    Examples
    --------
    >>> table = np.arange(12).reshape(1, 1, 2, 3, 2)
    >>> other = table[:, :, ::-1, [1, 0, 2], ::-1].swapaxes(2, 3)
    >>> bootstrap_input(table, 0)[1] == bootstrap_input(other, 0)[1]
    True
    """
    by_size = np.argsort(by_stratum.shape[2:-1], kind="stable") + 2
    tables = by_stratum.transpose(0, 1, *by_size.tolist(), by_stratum.ndim - 1)
    if not len(tables):
        return tables, []
    tables = _places_by_content(_members_by_content(tables)).copy()
    return tables, [[random_state, *table.ravel().tolist()] for table in tables]


def _mixed(numbers: Colours) -> Colours:
    """Return other numbers, equal ones for equal ones, whose sums tell what was added (SplitMix)."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def _colours(tables: IntArray) -> list[Colours]:
    """Return a number for each place of each axis but the first, (n, size): equal where only the order differs.

    Colours of places are made of those of their cells, and these of the colours of their places (Weisfeiler, Leman).
    """
    of_cells = _mixed(tables.astype(np.uint64) + np.uint64(1))
    axes = range(1, tables.ndim)
    for _ in range(3):
        of_axes = []
        for axis in axes:
            # Strata, members and classes are told apart; members are not.
            kind = np.uint64(1 + (axis > 1) + (axis == tables.ndim - 1))
            of_axes.append(_mixed(of_cells.sum(axis=tuple(other for other in axes if other != axis)) + kind))
        for axis, colours in zip(axes, of_axes, strict=True):
            shape = [len(tables), *(size if other == axis else 1 for other, size in enumerate(tables.shape) if other)]
            of_cells = of_cells + colours.reshape(shape)
        of_cells = _mixed(of_cells)
    return of_axes


def _members_by_content(tables: IntArray) -> IntArray:
    """Order members of as many levels by the colours of their levels; others have the order of their numbers."""
    keys = np.stack([_mixed(colours).sum(axis=1) for colours in _colours(tables)[1:-1]], axis=1)
    order = np.lexsort((keys, np.broadcast_to(np.array(tables.shape[2:-1]), keys.shape)), axis=1)
    ordered = np.empty_like(tables)
    for chosen in np.unique(order, axis=0):
        rows = np.flatnonzero((order == chosen).all(axis=1))
        ordered[rows] = tables[rows].transpose(0, 1, *(chosen + 2).tolist(), tables.ndim - 1)
    return ordered


def _places_by_content(tables: IntArray) -> IntArray:
    """Order strata, levels and classes by colour; those of equal colour by what they hold as others stand now."""
    of_axes = _colours(tables)
    for _ in range(3):
        for axis, colours in enumerate(of_axes, start=1):
            each = np.moveaxis(tables, axis, 1)
            slices = each.reshape(*each.shape[:2], -1).astype(np.uint64)
            held = (_mixed(slices + np.uint64(1)) * _mixed(np.arange(1, slices.shape[2] + 1, dtype=np.uint64))).sum(
                axis=2
            )
            order = np.lexsort((held, colours), axis=1)
            each = np.take_along_axis(each, order.reshape(*order.shape, *(1,) * (each.ndim - 2)), axis=1)
            tables = np.moveaxis(each, 1, axis)
            of_axes[axis - 1] = np.take_along_axis(colours, order, axis=1)
    return tables


def chi2_log_tail(g2: FloatArray, df: IntArray) -> FloatArray:
    """Return the logarithms of χ²'s p-values; 0 without degrees of freedom."""
    return np.where(df > 0, log_chi2_tail(g2, np.maximum(df, 1)), 0.0)


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

    `tables` (n_strata, 2, …, 2): samples of the tuple, one table per stratum. Strata are independent given their
    margins, and the interaction is absent from all of them under H0.

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
