"""Significant tuples → a second test of each, with covariates in the model of the classes, or of the numbers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, NumberOutcome
from interplay.codes.coded import CodedComparison
from interplay.codes.cuts import variable_cuts
from interplay.interaction.p_value_caps import PValueCaps
from interplay.interaction.task import InteractionTask
from interplay.statistics.covariate_test import covariate_test, linear_test, nested_linear_test
from interplay.statistics.interaction.covariate_tests import CovariateTests
from interplay.statistics.interaction.interaction_test import chi2_log_tail
from interplay.statistics.interaction.listed_p_values import adjust_listed
from interplay.statistics.interaction.tested_tuples import TestedTuples
from interplay.statistics.interaction.tuple_tests import TupleTests
from interplay.statistics.number_interaction.f_test import fewest_in_cell

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
    coder, has_gaps = coded.coder, coded.has_missing_level & task.omits_missing
    chi2, df = np.zeros(len(rows)), np.zeros(len(rows), dtype=np.int64)
    for place, members in enumerate(again.tuples.tolist()):
        d = int(again.discretization[place])
        levels = coder.codes_of(d, np.array(members)).codes.astype(np.int64)
        gaps = [(levels[i] == coder.n_levels[v] - 1) & has_gaps[v] for i, v in enumerate(members)]
        known = ~np.any(gaps, axis=0)
        stratum = [] if comparison.strata is None else [comparison.strata.codes[known]]
        outcome, design = comparison.outcome, covariates.design[known]
        if isinstance(outcome, NumberOutcome) and task.coding == "dosage":
            dosages = [
                variable_cuts(coder, v).dosages()[level] for v, level in zip(members, levels[:, known], strict=True)
            ]
            smaller, larger = _products(dosages, stratum)
            columns = np.hstack([smaller, design]), np.hstack([smaller, larger, design])
            chi2[place], df[place] = nested_linear_test(outcome.scores[known], *columns)
            continue
        cells = _cells([*stratum, *levels[:, known]])
        parts = [_cells([*stratum, *part]) for part in combinations(levels[:, known], len(members) - 1)]
        if isinstance(outcome, NumberOutcome):
            # Cells of few samples are no part of the hypothesis, as in the search.
            kept = np.bincount(cells)[cells] >= fewest_in_cell(outcome.values)
            of_kept = cells[kept], [part[kept] for part in parts], design[kept]
            chi2[place], df[place] = linear_test(outcome.scores[known][kept], *of_kept)
        else:
            chi2[place], df[place] = covariate_test(outcome.codes[known], cells, parts, design)
    p_value, p_adjusted = judge(again, chi2, df)
    of_all = {name: np.full(len(tested), np.nan) for name in ("chi2", "p_value", "p_adjusted")}
    of_all["chi2"][rows], of_all["p_value"][rows], of_all["p_adjusted"][rows] = chi2, p_value, p_adjusted
    all_df = np.zeros(len(tested), dtype=np.int64)
    all_df[rows] = df
    return CovariateTests(covariates.names, df=all_df, **of_all)


def as_the_search(caps: PValueCaps, discretizations: int) -> Judge:
    """Judge as the search of independent samples does: G² is corrected as it was there, p adjusted for all tuples."""

    def judge(again: TupleTests, chi2: FloatArray, df: IntArray) -> tuple[FloatArray, FloatArray]:
        factor = _correction(again, discretizations) if isinstance(again, TestedTuples) else np.ones(len(chi2))
        p = np.minimum(np.exp(chi2_log_tail(chi2 * np.minimum(factor, 1.0), df)) * discretizations, 1.0)
        return p, adjust_listed(p, caps.method, n_tests=caps.n_tests)

    return judge


def _correction(again: TestedTuples, discretizations: int) -> FloatArray:
    """Return what exact tests or bootstraps made of each G², as a factor; F needs none."""
    from scipy.special import chdtri

    p_in_one = np.exp(again.log_p) / discretizations
    # What exact test or bootstrap make of G², as a G² of χ²'s distribution; p-values that underflow stay.
    corrected = chdtri(np.maximum(again.df, 1), np.minimum(p_in_one, 1.0))
    return np.where(np.isfinite(corrected) & (again.chi2 > 0), corrected / np.maximum(again.chi2, 1e-300), 1.0)


def _products(dosages: list[FloatArray], stratum: list[IntArray]) -> tuple[FloatArray, FloatArray]:
    """Return the products of dosages of proper subsets, the constant among them, and that of all; in each stratum."""
    centred = [x - x.mean() for x in dosages]
    inside = np.ones((len(dosages[0]), 1)) if not stratum else np.eye(int(stratum[0].max()) + 1)[stratum[0]]
    subsets = [some for size in range(len(dosages) + 1) for some in combinations(centred, size)]
    columns = [inside * np.prod([np.ones(len(inside)), *some], axis=0)[:, np.newaxis] for some in subsets]
    return np.hstack(columns[:-1]), columns[-1]


def _cells(codes: list[IntArray]) -> IntArray:
    """Number the combinations of levels."""
    return np.unique(np.stack(codes), axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
