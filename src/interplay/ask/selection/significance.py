"""Gains of a selection → null fits → p-values of all tests → one of each variable, adjusted → Selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from interplay.ask.selection.confirmation import Confirmation, has_long_tails
from interplay.ask.selection.explanation import explained
from interplay.ask.selection.runs import SearchedRun, SearchedSelection
from interplay.ask.selection.settings import SelectionSettings
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.jobs import one_blas_thread
from interplay.base.progress import Progress
from interplay.base.tails import log_chi2_tail
from interplay.base.tuples import MaxGains
from interplay.infer.arms import FIT_OF_SYNERGIES, ArmPValues, ArmTest, arm_names, log_p_of_all, weighted_tests
from interplay.infer.null_fit import NullFit, fit_null, guarded
from interplay.infer.p_values import CHI2_PER_UNIT, adjust, relevant_mask, significance_order
from interplay.infer.permutations.permutation_null import permutation_null
from interplay.search.checkpoint import Checkpoint, handing_over
from interplay.show.results.run import Run, smallest_log_p
from interplay.show.results.selection import Selection

#: Of one comparison: ln p of each variable, the tuple with that p-value, and the null it came from, if one was fitted.
_Result = tuple[FloatArray, IntArray, NullFit | None]


def arm_p_values(
    searched: Sequence[SearchedRun], runs: Sequence[Run], settings: SelectionSettings
) -> tuple[ArmPValues, ...]:
    """Return the p-values of every test of a selection over several dimensions.

    - `searched`: comparison by comparison, the dimensions of each in ascending order.
    - `runs`: the same with their null fits.
    """
    assert settings.all_dimensions is not None
    assert settings.arms is not None
    n_dimensions = len(settings.searched)
    comparisons = [
        _Comparison(searched[start : start + n_dimensions], runs[start : start + n_dimensions], settings)
        for start in range(0, len(searched), n_dimensions)
    ]
    first = searched[0]
    per_column = float(first.class_sizes.sum()) / max(first.gains.n_vars, 1)
    tests = weighted_tests(settings.all_dimensions, settings.arms, first.weights, samples_per_column=per_column)
    found = [_over_comparisons(test, [comparison.result_of(test) for comparison in comparisons]) for test in tests]
    return _with_shared_weights(found)


def _with_shared_weights(tests: list[ArmPValues]) -> tuple[ArmPValues, ...]:
    """Leave out tests that apply to no variable; the others of their arm share their weight, and arms all there is."""
    kept = [test for test in tests if not np.isnan(test.log_p).all()] or tests[:1]

    def weight_of(arm: str, some: list[ArmPValues]) -> float:
        return sum(test.weight for test in some if test.arm == arm)

    total = sum(weight_of(arm, tests) for arm in arm_names(kept))
    return tuple(
        replace(test, weight=test.weight * weight_of(test.arm, tests) / weight_of(test.arm, kept) / total)
        for test in kept
    )


def _over_comparisons(test: ArmTest, results: list[_Result]) -> ArmPValues:
    """Take the smallest p of each variable times the number of comparisons."""
    log_p = np.stack([result[0] for result in results])
    best = np.argmin(np.where(np.isnan(log_p), np.inf, log_p), axis=0)
    rows = np.arange(log_p.shape[1])
    return ArmPValues(
        name=test.name,
        arm=test.arm,
        weight=test.weight,
        log_p=np.minimum(log_p[best, rows] + np.log(len(results)), 0.0),
        comparison=best.astype(np.int64),
        tuples=np.stack([result[1] for result in results])[best, rows],
        null_fits=tuple(null_fit for _, _, null_fit in results if null_fit is not None),
    )


class _Comparison:
    """The tests of one comparison of classes."""

    def __init__(self, searched: Sequence[SearchedRun], runs: Sequence[Run], settings: SelectionSettings) -> None:
        self._searched = {run.gains.dimensions: run for run in searched}
        self._runs = {run.gains.dimensions: run for run in runs}
        self._settings = settings
        self._n_vars = searched[0].gains.n_vars
        self._n_classes = searched[0].n_classes

    def result_of(self, test: ArmTest) -> _Result:
        kind, *size = test.name.split()
        results: dict[str, Callable[[int], _Result]] = {
            "gain": self._gain,
            "synergy": self._synergy,
            "product": self._product,
        }
        if kind in results:
            return results[kind](int(size[0]))
        scores = self._searched[1].scores
        assert scores is not None  # of shards, the first has them
        return getattr(scores, kind), np.arange(self._n_vars)[:, np.newaxis], None

    def _gain(self, k: int) -> _Result:
        run = self._runs[k]
        return run.null_fit.log_p_values(), run.gains.tuples, run.null_fit

    def _synergy(self, k: int) -> _Result:
        """Test the gain beyond that alone: the largest by its tail probability, of all degrees of freedom."""
        gains, alone = self._searched[k].gains, self._searched[k].alone
        synergy, df, best = _synergies(gains, alone)
        null_fit = self._fitted(synergy, df, dimensions=k, discretizations=self._settings.discretizations)
        tuples = gains.tuples_by_group[np.arange(len(best)), best][: self._n_vars]
        return null_fit.log_p_values(), tuples, null_fit

    def _product(self, k: int) -> _Result:
        scores = self._searched[1].scores
        nothing = np.full(self._n_vars, np.nan), np.full((self._n_vars, k), -1, dtype=np.int64), None
        if scores is None or scores.product is None:
            return nothing
        product = scores.product
        own = np.arange(self._n_vars)
        tuples = np.sort(np.column_stack([own, product.partner]), axis=1)
        tuples[product.partner < 0] = -1
        if product.log_p is not None:
            return product.log_p, tuples, None
        df = np.full(len(product.statistic), float(product.df))
        null_fit = self._fitted(product.statistic / CHI2_PER_UNIT["bits"], df, dimensions=k)
        return null_fit.log_p_values(), tuples, null_fit

    def _fitted(self, gains: FloatArray, df: FloatArray, *, dimensions: int, discretizations: int = 1) -> NullFit:
        n_vars, settings = self._n_vars, self._settings
        has_contrast = len(gains) > n_vars
        null_fit = fit_null(
            gains[:n_vars],
            dimensions=dimensions,
            discretizations=discretizations,
            contrast_gain=gains[n_vars:] if has_contrast else None,
            contrast_df=df[n_vars:] if has_contrast else None,
            df=df[:n_vars],
            fit=settings.fit,
            auto_fit=FIT_OF_SYNERGIES,
            free_shape=True,
            n_classes=self._n_classes,
        )
        is_guarded = has_contrast and self._searched[1].weights.are_guarded
        return guarded(null_fit, gains[n_vars:], df[n_vars:]) if is_guarded else null_fit


def _synergies(gains: MaxGains, alone: MaxGains) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return the gain beyond that alone of every row, its degrees of freedom, and the group of tuples it is from."""
    rows = np.arange(len(gains.gain_by_group))
    alone_gain, alone_df = (
        np.concatenate([getattr(alone, name), getattr(alone, f"contrast_{name}")]) for name in ("gain", "df")
    )
    synergy = gains.gain_by_group - alone_gain[:, np.newaxis]
    df = np.maximum(gains.df_by_group - alone_df[:, np.newaxis], 0).astype(np.float64)
    log_tail = log_chi2_tail(CHI2_PER_UNIT["bits"] * synergy, np.maximum(df, 1))
    log_tail[gains.discretization_by_group < 0] = np.inf
    best = np.argmin(log_tail, axis=1)
    return synergy[rows, best], df[rows, best], best


@one_blas_thread()  # products here are small: threads that wait for work took three times the seconds
def selection_from(
    searched: Sequence[SearchedRun],
    *,
    names: list[str],
    settings: SelectionSettings,
    provenance: dict[str, Any],
    data: SearchedSelection | None,
    checkpoint: Checkpoint | None = None,
    progress: Progress = False,
) -> Selection:
    """Gains → null fit → p-values → adjustment → relevant variables.

    Without the `data`, the result lacks what explains its variables: correlations, tuples, their tests and counts.
    """
    tests: tuple[ArmPValues, ...] = ()
    confirmation = confirmation_of(data)
    if settings.permutations:
        nulls = [
            permutation_null(run.gains, _permuted(run), run.within, are_swapped=run.are_swapped) for run in searched
        ]
        runs = [Run.of(run, null.null_fit) for run, null in zip(searched, nulls, strict=True)]
        log_p = smallest_log_p(runs)
        p_values, p_adjusted = (
            np.minimum(np.min(each, axis=0) * len(nulls), 1.0)
            for each in ([null.p_value for null in nulls], [null.p_adjusted for null in nulls])
        )
        p_adjusted = p_values if settings.p_adjust == "none" else p_adjusted
        order = significance_order(p_adjusted, np.max([null.evidence for null in nulls], axis=0))
    else:
        runs = [fitted_run(run, settings) for run in searched]
        if settings.all_dimensions is None:
            log_p = smallest_log_p(runs)
            if confirmation is not None:
                log_p = _confirmed(log_p, runs, confirmation, settings)
        else:
            tests = arm_p_values(searched, runs, settings)
            tests = tests if confirmation is None else confirmation.over_arms(tests)
            log_p = log_p_of_all(tests)
            runs = [run for run in runs if run.dimensions in settings.all_dimensions]
        p_values = np.exp(log_p)
        p_adjusted = adjust(p_values, settings.p_adjust, level=settings.level)
        order = significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0))
    relevant = relevant_mask(p_adjusted, level=settings.level)
    if confirmation is not None and settings.permutations:
        found_now = np.flatnonzero(relevant)
        p_values, p_adjusted = (each.copy() for each in (p_values, p_adjusted))
        of_model = np.exp(confirmation.of_runs(runs, found_now))
        p_adjusted[found_now] = np.maximum(p_adjusted[found_now], of_model)
        relevant = relevant_mask(p_adjusted, level=settings.level)
    found = made_selection(
        runs,
        log_p,
        p_values,
        p_adjusted,
        order,
        names=names,
        settings=settings,
        provenance=provenance,
        tests=tests,
    )
    if data is not None and confirmation is not None:
        found = in_model(found, data, confirmation)
    if data is None:
        return found
    with handing_over(lambda: found, checkpoint=checkpoint):
        return explained(found, data, progress)


def made_selection(
    runs: Sequence[Run],
    log_p: FloatArray,
    p_values: FloatArray,
    p_adjusted: FloatArray,
    order: IntArray,
    *,
    names: list[str],
    settings: SelectionSettings,
    provenance: dict[str, Any],
    tests: tuple[ArmPValues, ...] = (),
) -> Selection:
    """Return the selection of the variables whose adjusted p-values are small enough."""
    relevant = relevant_mask(p_adjusted, level=settings.level)
    # "auto" may choose another one in each comparison of classes; with permutations nothing is fitted
    fits = {settings.fit if run.null_fit.is_permuted else run.null_fit.fit for run in runs}
    return Selection(
        names=names,
        runs=tuple(runs),
        log_p=log_p,
        p_value=p_values,
        p_adjusted=p_adjusted,
        is_relevant=relevant,
        ranked=order[relevant[order]],
        correlation=np.empty((0, 0)),
        settings=settings.to_dict() | {"fit": fits.pop() if len(fits) == 1 and not tests else settings.fit},
        provenance=provenance,
        tests=tests,
    )


def confirmation_of(data: SearchedSelection | None) -> Confirmation | None:
    """Return the tests by full models, where there are covariates, an offset or times, and of sparse tuples."""
    if data is None:
        return None
    is_sparse = not data.task.settings.permutations and any(map(has_long_tails, data.task.comparisons))
    if data.task.study.model is None and not is_sparse:
        return None
    return Confirmation(data.coded, data.task.comparisons, data.task.settings)


def _confirmed(
    log_p: FloatArray, runs: Sequence[Run], confirmation: Confirmation, settings: SelectionSettings
) -> FloatArray:
    """Replace the p-values of relevant variables by those of full models, where these are larger."""
    confirmed = log_p.copy()
    p_adjusted = adjust(np.exp(log_p), settings.p_adjust, level=settings.level)
    found = np.flatnonzero(relevant_mask(p_adjusted, level=settings.level))
    confirmed[found] = np.maximum(log_p[found], confirmation.of_runs(runs, found))
    return confirmed


def in_model(found: Selection, data: SearchedSelection, confirmation: Confirmation) -> Selection:
    """Add the tests of the relevant variables by the full model, where there is one."""
    model, covariates = data.task.study.model, data.task.study.design.covariates
    if model is None:
        return found
    about = [] if covariates is None else covariates.names
    tests = confirmation.record(model.outcome.model_kind, about, found.ranked, found.p_adjusted)
    return replace(found, in_model=tests)


def fitted_run(run: SearchedRun, settings: SelectionSettings) -> Run:
    """Return a search with the null fit of its gains, or its exact p-values."""
    gains = run.gains
    inflation = 1.0 if run.inflation is None else run.inflation
    null_fit = fit_null(
        gains.gain / inflation,
        dimensions=gains.dimensions,
        divisions=settings.divisions,
        discretizations=settings.discretizations,
        contrast_gain=gains.contrast_gain / inflation if settings.n_contrast else None,
        contrast_df=gains.contrast_df if settings.n_contrast else None,
        df=gains.df,
        # That of group contrast variables is known to hold once gains are divided; the others are not.
        fit="weibull" if run.inflation is not None and settings.fit == "auto" else settings.fit,
        n_classes=run.n_classes,
    )
    if run.inflation is not None:
        null_fit = replace(null_fit, inflation=inflation)
    if run.weights.are_guarded and settings.n_contrast:
        null_fit = guarded(null_fit, gains.contrast_gain / inflation, gains.contrast_df.astype(np.float64))
    return Run.of(run, null_fit if run.exact_log_p is None else null_fit.with_exact_p(run.exact_log_p))


def _permuted(run: SearchedRun) -> FloatArray:
    assert run.permuted is not None  # where settings ask for permutations
    return run.permuted
