"""Searches in several dimensions → the p-values of all tests → one p-value of each variable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from interplay.ask.selection.runs import SearchedRun
from interplay.ask.selection.settings import SelectionSettings
from interplay.base.arrays import FloatArray, IntArray
from interplay.base.tails import log_chi2_tail
from interplay.base.tuples import MaxGains
from interplay.infer.arms import FIT_OF_SYNERGIES, ArmPValues, ArmTest, arm_names, weighted_tests
from interplay.infer.null_fit import NullFit, fit_null, guarded
from interplay.infer.p_values import CHI2_PER_UNIT
from interplay.show.results.run import Run

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
