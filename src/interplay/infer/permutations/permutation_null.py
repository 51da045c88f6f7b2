"""Maxima of the data and of relabelings → p-values, and a `NullFit` that has them instead of a fit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from interplay.base.arrays import FloatArray, MaxGains
from interplay.base.tails import chi2_tail, log_chi2_tail
from interplay.infer.null_distribution import NullFit
from interplay.infer.p_values import CHI2_PER_UNIT, chi2_statistic, with_df
from interplay.infer.permutations.step_down import StepDown, comparable_gains


class PermutationNull(NamedTuple):
    """p-values of variables from permutations.

    Attributes
    ----------
    null_fit : NullFit
        With the logarithms of `p_value`.
    p_value : (n_vars,) float64
        Of single variables.
    p_adjusted : (n_vars,) float64
        Adjusted for all variables: step-down maxT.
    evidence : (n_vars,) float64
        Sort key of the variables: larger for smaller p-values; it also orders variables with equal p-values.
    """

    null_fit: NullFit
    p_value: FloatArray
    p_adjusted: FloatArray
    evidence: FloatArray


def permutation_null(gains: MaxGains, permuted: FloatArray) -> PermutationNull:
    """Compare the maxima of the data with those of relabelings.

    Parameters
    ----------
    gains : MaxGains
        Of the variables, without contrast variables.
    permuted : (n_permutations, n_vars, n_groups) float64
        Maxima of each relabeling, by degrees of freedom as `gains` has them.
    """
    evidence = comparable_gains(gains.gain_by_group, gains.df_by_group)
    counts = StepDown(evidence)
    largest = []
    for one in permuted:
        counts.see(comparable_gains(one, gains.df_by_group))
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
