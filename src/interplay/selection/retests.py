"""The variables that a search found → a second test of each in its best tuple, with covariates or censored times."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from interplay.base.arrays import FloatArray, IntArray, NumberOutcome
from interplay.base.chi_squared import chi2_tail
from interplay.codes.coded import CodedStudy
from interplay.results.run import Run
from interplay.search.settings import SelectionSettings
from interplay.statistics.covariate_test import covariate_test, linear_test
from interplay.statistics.p_values import CHI2_PER_UNIT, adjust
from interplay.statistics.retest import Retest
from interplay.statistics.survival.cox_test import hazard_test
from interplay.statistics.survival.log_rank import log_rank_beyond
from interplay.study.comparisons import Comparison
from interplay.study.covariates import Covariates
from interplay.study.survival import Survival

#: Cells of a tuple and of its part in a comparison → statistic and degrees of freedom.
Test = Callable[[Comparison, IntArray, IntArray], tuple[float, int]]


def beyond_covariates(covariates: Covariates, survival: Survival | None = None) -> Test:
    """Return the test of what a variable tells, of classes or times, beyond its partners and covariates."""

    def test(comparison: Comparison, cells: IntArray, part_cells: IntArray) -> tuple[float, int]:
        rows = comparison.rows
        here = covariates if rows is None else covariates.of_samples(rows)
        if isinstance(comparison.outcome, NumberOutcome):
            return linear_test(comparison.outcome.scores, cells, [part_cells], here.design)
        if survival is None:
            return covariate_test(comparison.classes.codes, cells, [part_cells], here.design)
        times = survival if rows is None else survival.of_samples(rows)
        return hazard_test(times.time, times.event, cells, part_cells, here.design, entry=times.entry)

    return test


def in_log_rank(survival: Survival) -> Test:
    """Return the test of what a variable tells about times beyond its partners: log-rank, within their cells."""

    def test(comparison: Comparison, cells: IntArray, part_cells: IntArray) -> tuple[float, int]:
        here = survival if comparison.rows is None else survival.of_samples(comparison.rows)
        return log_rank_beyond(here.time, here.event, cells, part_cells, here.entry)

    return test


def retested(
    kind: str,
    about: list[str],
    test: Test,
    *,
    runs: Sequence[Run],
    comparisons: Sequence[Comparison],
    coded: CodedStudy,
    settings: SelectionSettings,
    variables: IntArray,
    p_values: FloatArray,
) -> Retest:
    """Test some variables again, each in the best tuple of the run in which its p-value is smallest.

    What remains of a gain is judged as gains are: by the null distribution of the search, which knows of the choice of
    the best tuple (and of groups), and by the adjustment for all variables.
    """
    best_run = np.argmin([run.null_fit.log_p_values() for run in runs], axis=0)
    chi2, df = np.zeros(len(variables)), np.zeros(len(variables), dtype=np.int64)
    of_search = np.ones(len(variables))
    for number, (run, comparison) in enumerate(zip(runs, comparisons, strict=True)):
        places = np.flatnonzero(best_run[variables] == number)
        if not len(places):
            continue
        tuples = run.gains.tuples[variables[places]]
        here = coded.of(comparison, tuples.reshape(-1))
        for place, members in zip(places.tolist(), tuples, strict=True):
            v = int(variables[place])
            discretization = int(run.gains.discretization[v])
            part = _with_stratum(here.cells(discretization, members[members != v]), comparison)
            cells = _with_stratum(here.cells(discretization, members), comparison)
            chi2[place], df[place] = test(comparison, cells, part)
            if df[place]:
                gain = np.array([chi2[place] / CHI2_PER_UNIT["bits"]])
                of_search[place] = run.null_fit.p_values(gain, df=df[place : place + 1].astype(float))[0]
    of_search = np.minimum(of_search * len(runs), 1.0)
    has_groups = comparisons[0].groups is not None
    plain = np.where(df > 0, chi2_tail(chi2, np.maximum(df, 1)), 1.0)
    return Retest(
        kind=kind,
        about=about,
        variable=variables,
        chi2=chi2,
        df=df,
        p_value=of_search if has_groups else plain,
        p_adjusted=_adjusted(of_search, variables, p_values, settings, is_adjusted=runs[0].null_fit.is_permuted),
    )


def _with_stratum(cells: IntArray, comparison: Comparison) -> IntArray:
    """Cells are divided by the strata, as the search divides them."""
    return cells if comparison.strata is None else cells * comparison.strata.n_strata + comparison.strata.codes


def _adjusted(
    p: FloatArray, variables: IntArray, p_values: FloatArray, settings: SelectionSettings, *, is_adjusted: bool
) -> FloatArray:
    """Adjust as all variables are adjusted, these having their new p-values."""
    if is_adjusted:  # permutations: the chance that any variable has such a gain
        return p
    of_all = p_values.copy()
    of_all[variables] = p
    return adjust(of_all, settings.p_adjust, level=settings.level)[variables]
