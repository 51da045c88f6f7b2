"""Whether Interactions that were read from a file hold together, so that using them cannot fail in odd ways."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from interplay.base.arrays import IntArray
from interplay.codes.cuts import OutcomeCuts, VariableCuts
from interplay.codes.tuple_counts import TupleCounts
from interplay.files.types import fits
from interplay.results.interactions import Interactions
from interplay.statistics.interaction.tested_tuples import METHODS, TestedTuples

#: What tables, summaries and replications look up.
_SETTINGS = {
    "dimensions": int,
    "divisions": int,
    "discretizations": int,
    "random_state": int,
    "missing": str,
    "p_adjust": str,
    "level": float,
}
#: What those of groups say in words.
_GROUPS = {"n_groups": int, "n_permutations": int, "permutations_done": int, "smallest_p": float, "exchanged": str}
_PROVENANCE = {"n_samples": int, "n_vars": int, "versions": dict[str, str], "strata": dict[str, int]}


def check_interactions(result: Interactions) -> None:
    """Raise a ValueError if types, shapes or numbers of variables do not belong together."""
    if not fits(result, Interactions):
        raise ValueError("fields of the wrong type")
    n_vars, n_classes = len(result.names), len(result.outcome.labels)
    if not (
        all(fits(result.settings.get(name), kind) for name, kind in _SETTINGS.items())
        and all(fits(result.provenance.get(name), kind) for name, kind in _PROVENANCE.items())
        and (not result.is_permuted or _says_of_groups(result))
        and 0 < result.settings["level"] < 1
        and result.settings["dimensions"] >= 2
        and result.n_tests >= len(result.tested)
        and len(result.class_sizes) == n_classes >= 2
        and are_classes_of(result.outcome, n_classes)
        and are_tests_of(result.tested, result.settings["dimensions"], n_vars)
        and (result.first is None or are_tests_of(result.first, result.settings["dimensions"], n_vars))
        and (result.with_covariates is None or result.with_covariates.is_of(len(result.tested)))
        and (result.first is None or np.array_equal(result.first.tuples, result.tested.tuples))
        and {cuts.variable for cuts in result.cuts} >= set(result.tested.tuples.ravel().tolist())
        and all(is_cut_of(cuts, n_vars) for cuts in result.cuts)
        and all(_is_count_of(counts, n_vars, n_classes) for counts in result.counts)
        and _are_places(result, n_classes)
    ):
        raise ValueError("fields that do not belong together")


def _says_of_groups(result: Interactions) -> bool:
    about = result.provenance["groups"]
    return all(fits(about.get(name), kind) for name, kind in _GROUPS.items())


def are_tests_of(tested: TestedTuples, dimensions: int, n_vars: int) -> bool:
    """Say whether these can be tests of tuples of so many members of so many variables."""
    n = len(tested.tuples)
    by_member = TestedTuples.none(dimensions)
    shapes = ((n, *getattr(by_member, field.name).shape[1:]) for field in fields(TestedTuples))
    return (
        all(getattr(tested, field.name).shape == shape for field, shape in zip(fields(tested), shapes, strict=True))
        and _are_within(tested.tuples, 0, n_vars)
        and _are_within(tested.method, 0, len(METHODS))
        and _are_within(tested.discretization, 0, 2**31)
        and bool((tested.log_p <= 0).all())
        and bool((tested.df >= 0).all())
    )


def are_classes_of(outcome: OutcomeCuts, n_classes: int) -> bool:
    """Say whether these can be so many classes."""
    return len(outcome.labels) == n_classes and outcome.bounds.shape in ((0,), (n_classes - 1,))


def is_cut_of(cuts: VariableCuts, n_vars: int) -> bool:
    """Say whether these can be the cuts of one of so many variables."""
    return (
        0 <= cuts.variable < n_vars
        and cuts.thresholds.ndim == 2
        and cuts.values.ndim == 1
        and (not cuts.is_cut or cuts.thresholds.shape[1] > 0)
        and sum([cuts.is_cut, len(cuts.values) > 0, len(cuts.labels) > 0]) <= 1
    )


def _are_places(result: Interactions, n_classes: int) -> bool:
    """Say whether cells, classes and strata of residuals are there."""
    tested, cuts = result.tested, {cuts.variable: cuts for cuts in result.cuts}
    cut_ones = [cut for cut in result.cuts if cut.is_cut]
    n_levels = np.array([[cuts[v].n_levels() for v in row] for row in tested.tuples.tolist()], dtype=np.int64)
    return (
        bool((tested.residual_cell < n_levels.reshape(tested.residual_cell.shape)).all())
        and _are_within(tested.residual_class, -1, n_classes)
        and _are_within(tested.residual_stratum, -1, max(len(result.provenance["strata"]), 1))
        and bool((np.isnan(tested.residual) | (tested.residual_class >= 0)).all())
        and _are_within(tested.discretization, 0, min(len(cut.thresholds) for cut in cut_ones) if cut_ones else 2**31)
    )


def _is_count_of(counts: TupleCounts, n_vars: int, n_classes: int) -> bool:
    n_levels = [len(names) for names in counts.level_names]
    return (
        counts.counts.shape == (*n_levels, n_classes)
        and counts.members.shape == (len(n_levels),)
        and _are_within(counts.members, 0, n_vars)
    )


def _are_within(numbers: IntArray, low: int, limit: int) -> bool:
    return bool(((numbers >= low) & (numbers < limit)).all())
