"""Significant tuples → a second test of each, with covariates in the model of the classes, or of the numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.codes.coded import CodedComparison
from interplay.interaction.p_value_caps import PValueCaps
from interplay.interaction.task import InteractionTask
from interplay.interaction.tuple_samples import tuple_samples
from interplay.statistics.interaction.beside_test import interaction_beside, nested_models
from interplay.statistics.interaction.corrected_p_values import corrected_p_values
from interplay.statistics.interaction.covariate_tests import CovariateTests
from interplay.statistics.interaction.listed_p_values import adjust_listed
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
        models = nested_models(
            comparison.outcome,
            samples.levels,
            covariates.design[samples.known],
            known=samples.known,
            stratum=samples.stratum,
            dosages=samples.dosages,
        )
        chi2[place], df[place] = interaction_beside(comparison.outcome, models)
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
