"""Significant tuples → a second test of each, with covariates in the model of the classes, or of the numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.codes.coded import CodedComparison
from interplay.interaction.p_value_caps import PValueCaps
from interplay.interaction.task import InteractionTask
from interplay.interaction.tuple_samples import tuple_samples
from interplay.statistics.interaction.beside_test import interaction_beside
from interplay.statistics.interaction.covariate_tests import CovariateTests
from interplay.statistics.interaction.interaction_test import chi2_log_tail
from interplay.statistics.interaction.listed_p_values import adjust_listed
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.interaction.tuple_tests import TupleTests

#: Tests of the search, likelihood ratios beside covariates and their degrees of freedom → p-values, adjusted ones.
Judge = Callable[[TupleTests, FloatArray, IntArray], tuple[FloatArray, FloatArray]]


def beside_covariates(
    task: InteractionTask,
    coded: CodedComparison,
    tested: TupleTests,
    judge: Judge,
) -> CovariateTests | None:
    """Test the significant ones of `tested`, whose numbers are those of searched variables; None without covariates.

    `judge` gives p-values and adjusted p-values for these tests, their statistics and degrees of freedom.
    """
    comparison, covariates = task.comparison, task.study.covariates
    if covariates is None:
        return None
    rows = np.flatnonzero(tested.is_significant(task.caps.level))
    again = tested.chosen(rows)
    chi2, df = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
    for place, members in enumerate(again.tuples):
        d = int(again.discretization[place])
        samples = tuple_samples(coded, members, d, omit_missing=task.omits_missing, coding=task.coding)
        chi2[place], df[place] = interaction_beside(
            comparison.outcome,
            samples.levels,
            covariates.design[samples.known],
            known=samples.known,
            stratum=samples.stratum,
            dosages=samples.dosages,
        )
    p_value, p_adjusted = judge(again, chi2, df)
    of_all = {name: np.full(len(tested), np.nan) for name in ("chi2", "p_value", "p_adjusted")}
    of_all["chi2"][rows], of_all["p_value"][rows], of_all["p_adjusted"][rows] = chi2, p_value, p_adjusted
    all_df = np.zeros(len(tested), dtype=np.int64)
    all_df[rows] = df
    return CovariateTests(covariates.names, df=all_df, **of_all)


def as_the_search(caps: PValueCaps, discretizations: int) -> Judge:
    """Judge as the search of independent samples does: G² is corrected as it was there, p adjusted for all tuples."""

    def judge(again: TupleTests, chi2: FloatArray, df: IntArray) -> tuple[FloatArray, FloatArray]:
        p = corrected_p_values(again, chi2, df, discretizations)
        return p, adjust_listed(p, caps.method, n_tests=caps.n_tests)

    return judge


def corrected_p_values(again: TupleTests, chi2: FloatArray, df: IntArray, discretizations: int) -> FloatArray:
    """Return p-values of second tests, where each G² is corrected as that of the search was."""
    factor = _correction(again, discretizations) if isinstance(again, TestedTuples) else np.ones(len(chi2))
    return np.asarray(np.minimum(np.exp(chi2_log_tail(chi2 * np.minimum(factor, 1.0), df)) * discretizations, 1.0))


def _correction(again: TestedTuples, discretizations: int) -> FloatArray:
    """Return what exact tests or bootstraps made of each G², as a factor; F needs none."""
    from scipy.special import chdtri

    p_in_one = np.exp(again.log_p) / discretizations
    # What exact test or bootstrap make of G², as a G² of χ²'s distribution; p-values that underflow stay.
    corrected = chdtri(np.maximum(again.df, 1), np.minimum(p_in_one, 1.0))
    return np.where(np.isfinite(corrected) & (again.chi2 > 0), corrected / np.maximum(again.chi2, 1e-300), 1.0)
