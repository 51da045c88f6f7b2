"""Whether a Selection that was read from a file holds together, so that using it cannot fail in odd ways."""

from __future__ import annotations

import numpy as np

from interplay.base.arrays import FloatArray, IntArray
from interplay.codes.tuple_counts import TupleCounts
from interplay.files.types import fits
from interplay.results.loaded_interactions import are_classes_of, are_tests_of, is_cut_of
from interplay.results.run import Run
from interplay.results.selection import Selection
from interplay.statistics.arm_p_values import ArmPValues
from interplay.statistics.null_fit import MODES, NullFit
from interplay.statistics.p_values import CHI2_PER_UNIT

#: What reports and summaries look up.
SETTINGS = {
    "dimensions": int | tuple[int, ...],
    "divisions": int,
    "discretizations": int,
    "n_contrast": int,
    "random_state": int,
    "p_adjust": str,
    "level": float,
}
_PROVENANCE = {"n_samples": int, "n_vars": int, "versions": dict[str, str]}


def check_loaded(selection: Selection) -> None:
    """Raise a ValueError if types, shapes or numbers of variables do not belong together."""
    if not fits(selection, Selection):
        raise ValueError("fields of the wrong type")
    n_vars, n_relevant = len(selection.names), len(selection.ranked)
    per_variable = (selection.log_p, selection.p_value, selection.p_adjusted, selection.is_relevant)
    if not (
        all(fits(selection.settings.get(name), kind) for name, kind in SETTINGS.items())
        and all(fits(selection.provenance.get(name), kind) for name, kind in _PROVENANCE.items())
        and 0 < selection.settings["level"] < 1
        and "interplay" in selection.provenance["versions"]
        and fits(selection.provenance.get("cautions", {}), dict[str, str])
        and len(selection.runs) > 0
        and all(array.shape == (n_vars,) for array in per_variable)
        and sorted(selection.ranked.tolist()) == np.flatnonzero(selection.is_relevant).tolist()
        and selection.correlation.shape in ((n_relevant, n_relevant), (0, 0))
        and all(_is_run_of(run, n_vars) for run in selection.runs)
        and all(_is_test_of(test, selection) for test in selection.tests)
        and _are_of_dimensions(selection)
        and all(_is_count_of(counts, selection) for counts in selection.tuple_counts)
        and all(retest.is_of(n_vars) for retest in selection.retests)
        and all(
            curves.is_consistent() and _are_below(curves.members, n_vars) and 0 <= curves.run < len(selection.runs)
            for curves in selection.survival_curves
        )
    ):
        raise ValueError("fields that do not belong together")


def _are_of_dimensions(selection: Selection) -> bool:
    """Say whether runs and tests are of the dimensions that the settings name."""
    named = selection.settings["dimensions"]
    searched = {run.dimensions for run in selection.runs}
    if isinstance(named, int):
        return searched == {named} and not selection.tests
    return (
        len(selection.tests) > 0
        and searched <= set(named)
        and [run.dimensions for run in selection.runs] == sorted(searched) * len(selection.comparisons)
        and all(test.dimensions in searched for test in selection.tests)
    )


def _is_test_of(test: ArmPValues, selection: Selection) -> bool:
    n_vars = len(selection.names)
    return (
        test.log_p.shape == test.comparison.shape == (n_vars,)
        and not bool((test.log_p > 0).any())
        and test.tuples.ndim == 2
        and len(test.tuples) == n_vars
        and bool((test.tuples >= -1).all())
        and _are_below(np.maximum(test.tuples, 0), n_vars)
        and _are_below(test.comparison, len(selection.comparisons))
        and 0 < test.weight <= 1
        and len(test.null_fits) <= len(selection.comparisons)
        and all(map(_is_null, test.null_fits))
    )


def _is_null(fit: NullFit) -> bool:
    return (
        fit.mode in MODES
        and fit.unit in CHI2_PER_UNIT
        and fit.gamma > 0
        and fit.shapes.ndim == 2
        and len(fit.shapes) == 3
        and (fit.posterior is None or fit.posterior.is_consistent())
    )


def _is_run_of(run: Run, n_vars: int) -> bool:
    gains, null_fit, found = run.gains, run.null_fit, run.explanations
    n_found = 0 if found is None else len(found.gain)
    return (
        gains.is_consistent()
        and gains.n_vars == n_vars
        and run.gain_alone.shape == null_fit.statistic.shape == null_fit.chi2_p.shape == (n_vars,)
        and np.shape(null_fit.df) in ((), (n_vars,))
        and null_fit.reference_p.ndim == 1
        and _is_null(null_fit)
        and null_fit.inflation >= 1
        and null_fit.permuted_max.ndim == 1
        and (not null_fit.is_permuted or null_fit.exact_log_p.size > 0)
        and bool(np.all(np.asarray(null_fit.df) > 0))
        and (not null_fit.exact_log_p.size or are_log_p_of(null_fit.exact_log_p, n_vars, len(gains.gain_by_group)))
        and run.contrast_sources.shape == gains.contrast_gain.shape
        and _are_below(run.contrast_sources, n_vars)
        and run.class_sizes.shape == (len(run.class_labels),)
        and (run.outcome is None or are_classes_of(run.outcome, len(run.class_labels)))
        and all(is_cut_of(cuts, n_vars) for cuts in run.cuts)
        and len(run.tested) in (0, gains.dimensions - 1)
        and all(are_tests_of(tested, size, n_vars) for size, tested in enumerate(run.tested, start=2))
        and all({cuts.variable for cuts in run.cuts} >= set(tested.tuples.ravel().tolist()) for tested in run.tested)
        and (
            found is None
            or (
                found.tuples.shape == (n_found, gains.dimensions)
                and found.variable.shape == found.gain.shape == found.sub_gain.shape == found.df.shape == (n_found,)
                and _are_below(found.tuples, n_vars)
                and _are_below(found.variable, n_vars)
                and bool(np.isfinite(found.gain).all())
                and bool((found.df >= 0).all())
            )
        )
    )


def _is_count_of(counts: TupleCounts, selection: Selection) -> bool:
    if not 0 <= counts.run < len(selection.runs) or counts.counts.ndim != len(counts.level_names) + 1:
        return False
    n_classes = len(selection.runs[counts.run].class_labels)
    n_levels = [len(names) for names in counts.level_names]
    return (
        counts.counts.shape == (*n_levels, n_classes)
        and counts.members.shape == (len(n_levels),)
        and _are_below(counts.members, len(selection.names))
    )


def are_log_p_of(log_p: FloatArray | None, *n_rows: int) -> bool:
    """Say whether these can be logarithms of p-values of so many variables, if they are there."""
    return log_p is None or (log_p.ndim == 1 and len(log_p) in n_rows and bool((log_p <= 0).all()))


def _are_below(numbers: IntArray, limit: int) -> bool:
    return bool(((numbers >= 0) & (numbers < limit)).all())
