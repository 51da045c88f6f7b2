"""Statistics of the data and of relabelings → step-down maxT p-values, and a `NullFit` that has them instead of a
fit.
"""

from __future__ import annotations

import math
from math import ceil
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import chi2_tail, log_chi2_tail
from interplay.base.tuples import MaxGains
from interplay.infer.null_distribution import NullFit
from interplay.infer.p_values import CHI2_PER_UNIT, chi2_statistic, with_df


class PermutationNull(NamedTuple):
    """p-values of variables from permutations."""

    #: With the logarithms of `p_value`.
    null_fit: NullFit
    #: (n_vars,): of single variables.
    p_value: FloatArray
    #: (n_vars,): adjusted for all variables: step-down maxT.
    p_adjusted: FloatArray
    #: (n_vars,): sort key of the variables: larger for smaller p-values; it also orders variables with equal p-values.
    evidence: FloatArray


def permutation_null(
    gains: MaxGains, permuted: FloatArray, within: FloatArray | None = None, *, are_swapped: bool = False
) -> PermutationNull:
    """Compare the maxima of the data with those of relabelings.

    - `gains`: of the variables, without contrast variables.
    - `permuted` (n_permutations, n_vars, n_groups): maxima of each relabeling, by degrees of freedom as `gains` has
      them.
    - `within` (n_labelings, n_vars): correlations within groups, of the data first, then of relabelings; NaN for
      columns that have none. The larger of both counts, each relative to the median of its maxima.
    - `are_swapped`: gains of single variables count where there is no correlation alone.
    """
    labelings = [comparable_gains(one, gains.df_by_group) for one in (gains.gain_by_group, *permuted)]
    if within is not None:
        within = within[: len(labelings)]
        of_gains = np.where(are_swapped and gains.dimensions == 1 and ~np.isnan(within), -np.inf, labelings)
        labelings = list(_larger_of(of_gains, np.where(np.isnan(within), -np.inf, within)))
    evidence = labelings[0]
    counts = StepDown(evidence)
    largest = []
    for one, relabeled in zip(permuted, labelings[1:], strict=True):
        counts.see(relabeled)
        tail = log_chi2_tail(np.maximum(CHI2_PER_UNIT["bits"] * one, 0.0), gains.df_by_group)
        largest.append(-float(np.min(tail)))
    statistic, df = with_df("df", chi2_statistic(gains.gain, unit="bits"), gains.df)
    null_fit = NullFit(
        alpha=1.0,
        alpha_error=math.nan,
        gamma=1.0,
        gamma_error=math.nan,
        delta=1.0,
        delta_error=math.nan,
        mode="raw",
        fit="permutations",
        n_irrelevant=0,
        n_ignored=0,
        min_irrelevant=0,
        max_ignored=0,
        n_reference=0,
        n_contrast=0,
        ks_p=math.nan,
        df=df,
        unit="bits",
        statistic=statistic,
        chi2_p=chi2_tail(statistic, df),
        reference_p=np.empty(0),
        sq_dev=np.empty(0),
        exact_log_p=np.log(counts.p_values()),
        permuted_max=np.array(largest),
    )
    return PermutationNull(null_fit, counts.p_values(), counts.p_adjusted(), evidence)


def _larger_of(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the larger of two statistics, (n_labelings, n_vars), each relative to the median of its maxima.

    All labelings have the same part in the medians, so that the larger one is as good a statistic as either.
    """
    scaled = []
    for each in (a, b):
        middle = float(np.median(each.max(axis=1, initial=0.0)))
        scaled.append(each / (middle if middle > 0 else 1.0))
    return np.maximum(*scaled)


#: Statistics this close, relative to their size, are equal: those of relabelings that only rename the classes are.
_TOLERANCE = 1e-9


class StepDown:
    """Counts how often relabeled data reach the statistics of the observed ones.

    With variables in descending order of their statistics, ``p_v = (1 + #{b: max of the statistics of v and all after
    it ≥ that of v}) / (B + 1)``, and never less than that of the variable before. The probability of any false
    rejection (family-wise error) is at most the significance level, under any dependence between the variables.

    `observed` (n_vars,): comparable between variables, larger where there is more evidence; NaN or −inf where there is
    none.

    Examples
    --------
    >>> import numpy as np
    >>> counts = StepDown(np.array([1.0, 5.0]))
    >>> for relabeled in ([2.0, 1.0], [0.5, 3.0], [0.1, 0.2]):
    ...     counts.see(np.array(relabeled))
    >>> counts.p_adjusted().tolist(), counts.p_values().tolist()
    ([0.5, 0.25], [0.5, 0.25])
    """

    def __init__(self, observed: FloatArray) -> None:
        self._is_tested = np.isfinite(observed)
        self._order: IntArray = np.argsort(np.where(self._is_tested, -observed, np.inf), kind="stable")
        self._order = self._order[: int(self._is_tested.sum())]
        ordered = observed[self._order]
        self._bar = ordered - _TOLERANCE * np.maximum(1.0, np.abs(ordered))
        self._n_reached = np.zeros(len(ordered), dtype=np.int64)
        self._n_reached_alone = np.zeros(len(ordered), dtype=np.int64)
        self._n_vars = len(observed)
        self.n_seen = 0

    @property
    def order(self) -> IntArray:
        """Tested variables, largest statistic first."""
        return self._order

    def see(self, relabeled: FloatArray) -> None:
        """Take the statistics, (n_vars,), of one relabeling."""
        ordered = np.nan_to_num(relabeled[self._order], nan=-np.inf)
        of_rest = np.maximum.accumulate(ordered[::-1])[::-1]
        self._n_reached += of_rest >= self._bar
        self._n_reached_alone += ordered >= self._bar
        self.n_seen += 1

    def p_adjusted(self) -> FloatArray:
        """Return p-values adjusted for all variables, NaN for those without a statistic."""
        return self._by_variable(np.maximum.accumulate((1 + self._n_reached) / (self.n_seen + 1)))

    def p_values(self) -> FloatArray:
        """Return p-values of the single variables, not adjusted."""
        return self._by_variable((1 + self._n_reached_alone) / (self.n_seen + 1))

    def is_decided(self, level: float, n_planned: int) -> bool:
        """Say whether further relabelings are pointless: no adjusted p can be below `level` any more.

        Not before `fewest_relabelings`: a p-value from one or two relabelings says nothing.
        """
        if self.n_seen < fewest_relabelings(level, n_planned):
            return False
        return len(self._order) == 0 or bool((1 + self._n_reached[0]) / (n_planned + 1) >= level)

    def _by_variable(self, in_order: FloatArray) -> FloatArray:
        found = np.full(self._n_vars, np.nan)
        found[self._order] = in_order
        return found


def fewest_relabelings(level: float, n_planned: int) -> int:
    """Return the number of relabelings that are always searched: as many as a p-value of `level` needs.

    Examples
    --------
    >>> fewest_relabelings(0.05, 199), fewest_relabelings(0.05, 9)
    (19, 9)
    """
    return min(n_planned, ceil(1 / level) - 1)


class Seen:
    """What was seen of relabelings, one after the other: their gains, and correlations within groups where asked for.

    If neither of both can be significant any more, the larger of them cannot.
    """

    def __init__(self, gains: MaxGains, within: FloatArray | None) -> None:
        self._df, self._within = gains.df_by_group, within
        self._counts = [StepDown(comparable_gains(gains.gain_by_group, self._df))]
        if within is not None:
            self._counts.append(StepDown(within[0]))

    def see(self, permuted: FloatArray) -> None:
        """Take the maxima, (n_vars, n_groups), of one relabeling."""
        self._counts[0].see(comparable_gains(permuted, self._df))
        if self._within is not None:
            self._counts[1].see(self._within[self._counts[0].n_seen])

    def is_decided(self, level: float, n_planned: int) -> bool:
        """Say whether further relabelings are pointless."""
        return all(each.is_decided(level, n_planned) for each in self._counts)


def decided_after(gains: MaxGains, permuted: FloatArray, within: FloatArray | None, level: float) -> int:
    """Return the relabeling, of all that were planned, after which `search_permuted` would have stopped."""
    seen = Seen(gains, within)
    for number, one in enumerate(permuted):
        if seen.is_decided(level, len(permuted)):
            return number
        seen.see(one)
    return len(permuted)


def comparable_gains(gain_by_group: FloatArray, df_by_group: IntArray) -> FloatArray:
    """Return the maxima of each variable as a statistic that can be compared between variables.

    - `gain_by_group` (…, n_vars, n_groups): bits × samples, as `MaxGains` has them: the maxima of each number of
      degrees of freedom.
    - `df_by_group` (n_vars, n_groups).

    Returns
    -------
    (…, n_vars) float64
        Where all degrees of freedom are the same, the gains themselves. Elsewhere −ln of their smallest χ² tail: gains
        of variables of many levels are larger by chance, and would set the bar for all. −inf without a gain.
    """
    if gain_by_group.shape[-1] == 1 and (df_by_group == df_by_group.flat[0]).all():
        return gain_by_group[..., 0]
    has_gain = np.isfinite(gain_by_group)
    statistic = np.maximum(np.where(has_gain, CHI2_PER_UNIT["bits"] * gain_by_group, 0.0), 0.0)
    evidence = -log_chi2_tail(statistic, np.broadcast_to(df_by_group, statistic.shape))
    return np.asarray(np.where(has_gain, evidence, -np.inf).max(axis=-1))
