"""Checks that a result from a file is consistent, beyond types and shapes, so that its methods cannot fail."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from interplay.base.arrays import IntArray
from interplay.codes.coder import MISSING_CHOICES
from interplay.codes.tuple_counts import TupleCounts
from interplay.files.types import Check, fits, have_types
from interplay.results.combined import Combined
from interplay.results.interactions import Interactions
from interplay.results.selection import Selection
from interplay.statistics.arm_p_values import ArmPValues
from interplay.statistics.interaction.tuple_tests import TupleTests
from interplay.statistics.null_fit import FITS
from interplay.statistics.p_values import ADJUST_METHODS
from interplay.statistics.survival.survival_curves import SurvivalCurves
from interplay.study.comparisons import MULTICLASS_CHOICES
from interplay.study.outcomes.classes import DECISION_CHOICES
from interplay.study.outcomes.numbers import SCALE_CHOICES

#: Settings that tables, reports, summaries and replications use.
_SETTINGS: dict[str, Any] = {
    "divisions": Annotated[int, Check(low=1)],
    "discretizations": Annotated[int, Check(low=1)],
    "random_state": int,
    "missing": Annotated[str, Check(among=(*MISSING_CHOICES, "omit"))],
    "decision": Annotated[str, Check(among=DECISION_CHOICES)],
    "p_adjust": Annotated[str, Check(among=ADJUST_METHODS)],
    "level": Annotated[float, Check(above=0, below=1)],
}
_OF_SELECTION = _SETTINGS | {
    "dimensions": int | tuple[int, ...],
    "n_contrast": Annotated[int, Check(low=0)],
    "fit": Annotated[str, Check(among=FITS)],
    "multiclass": Annotated[str, Check(among=MULTICLASS_CHOICES)],
}
_OF_INTERACTIONS = _SETTINGS | {"dimensions": Annotated[int, Check(low=2)]}
PROVENANCE = {
    "n_samples": int,
    "n_vars": int,
    "samples_left_out": int,
    "target": str | None,
    "strata": dict[str, int],
    "groups": dict[str, Any],
    "versions": dict[str, str],
}
#: Entries on an outcome of numbers, which summaries and reports use.
_OUTCOME = {"quartiles": list[float], "note": str}
_NO_OUTCOME: dict[str, Any] = {"quartiles": [0.0] * 5, "note": ""}
#: Entries on permutations of groups that summaries and reports use.
_GROUPS = {"n_groups": int, "n_permutations": int, "permutations_done": int, "smallest_p": float, "exchanged": str}


def is_selection(selection: Selection) -> bool:
    """Say whether all settings exist, and variables, runs and tests are consistent."""
    n_runs, provenance = len(selection.runs), selection.provenance
    return (
        have_types(selection.settings, _OF_SELECTION)
        and have_types(provenance, PROVENANCE)
        and "interplay" in provenance["versions"]
        and fits(provenance.get("cautions", {}), dict[str, str])
        and _are_treated(provenance)
        and have_types(_NO_OUTCOME | provenance.get("outcome", {}), _OUTCOME)
        and (selection.settings["decision"] == "number") == all(not run.class_labels for run in selection.runs)
        and n_runs > 0
        and np.array_equal(np.sort(selection.ranked), np.flatnonzero(selection.is_relevant))
        and _are_of_dimensions(selection)
        and (selection.linkage is None or bool(np.isin(selection.ranked, selection.linkage.variables).all()))
        and all(_is_test_of(test, len(selection.comparisons)) for test in selection.tests)
        and (selection.shortened is None or len(selection.shortened.representative) == len(selection.ranked))
        and all(curves.run < n_runs for curves in selection.survival_curves)
        and all(
            counts.run < n_runs and _has_classes(counts, len(selection.runs[counts.run].class_labels))
            for counts in selection.tuple_counts
        )
    )


def is_interactions(result: Interactions) -> bool:
    """Say whether all settings exist, and tuples, levels and classes are consistent."""
    tested, n_classes = result.tested, len(result.outcome.labels)
    cut = {cuts.variable for cuts in result.cuts}
    return (
        have_types(result.settings, _OF_INTERACTIONS)
        and have_types({"groups": {}} | result.provenance, PROVENANCE)
        and _are_treated(result.provenance)
        and (not result.is_permuted or have_types(result.provenance["groups"], _GROUPS))
        and tested.tuples.shape[1] == result.settings["dimensions"]
        and result.n_tests >= len(tested)
        and len(result.class_sizes) == n_classes
        and (n_classes == 0 if tested.residual_class is None else n_classes >= 2)
        and have_types(_NO_OUTCOME | result.provenance.get("outcome", {}), _OUTCOME)
        and result.settings.get("scale") in (None, *SCALE_CHOICES)
        and _are_sites(result.provenance)
        and (result.first is None or _are_alike(result.first, tested))
        and (result.tagged is None or len(result.tagged.lead_of) == len(tested))
        and cut.issuperset(np.unique(tested.tuples).tolist())
        and (result.linkage is None or bool(np.isin(tested.tuples, result.linkage.variables).all()))
        and all(_has_classes(counts, n_classes) for counts in result.counts)
        and all(_are_curves_of_cells(curves, result.counts) for curves in result.survival_curves)
        and _are_places(result, n_classes)
    )


def _are_curves_of_cells(curves: SurvivalCurves, counts: tuple[TupleCounts, ...]) -> bool:
    """Say whether curves are of cells that the result has, where these are counted."""
    return all(
        bool((curves.cell >= 0).all() and (curves.cell < one.counts[..., 0].size).all())
        for one in counts
        if curves.is_of(one.members, one.run, one.discretization)
    )


def _are_treated(provenance: dict[str, Any]) -> bool:
    """Say whether the entry on missing values, if there is one, names treatments that summaries know."""
    missing = provenance.get("missing", {})
    return fits(missing, dict[str, int]) and set(missing) <= {"level", "impute", "omit"}


def _are_sites(provenance: dict[str, Any]) -> bool:
    """Say whether the entries on sites, if there are any, are those that summaries use."""
    sites = provenance.get("sites", {})
    return (
        fits(sites, dict[str, dict[str, int]])
        and all("n_withheld" in about for about in sites.values())
        and (not sites or fits(provenance.get("tested"), int))
    )


def is_combined(result: Combined) -> bool:
    """Say whether the settings exist, and every study has an entry."""
    studies = result.provenance.get("studies")
    return (
        have_types(result.settings, {name: _SETTINGS[name] for name in ("p_adjust", "level")})
        and fits(studies, list[dict[str, Any]])
        and len(studies or []) == len(result.studies) >= 2
        and all(have_types(one, {"n_samples": int}) for one in studies or [])
        and fits(result.provenance.get("selected_in"), list[str])
        and result.tuples.shape[1] >= 1
        and np.array_equal(np.isnan(result.log_p), ~result.is_combined)
    )


def _are_of_dimensions(selection: Selection) -> bool:
    """Say whether runs and tests have the dimensions that the settings name."""
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


def _is_test_of(test: ArmPValues, n_comparisons: int) -> bool:
    return bool((test.comparison < n_comparisons).all()) and len(test.null_fits) <= n_comparisons


def _has_classes(counts: TupleCounts, n_classes: int) -> bool:
    return counts.counts.shape[-1:] == (n_classes or 1,) and (counts.numbers is None) == (n_classes > 0)


def _are_places(result: Interactions, n_classes: int) -> bool:
    """Say whether the cells, classes and strata of residuals exist."""
    tested = result.tested
    n_levels = np.zeros(len(result.names), dtype=np.int64)
    n_levels[[cuts.variable for cuts in result.cuts]] = [cuts.n_levels() for cuts in result.cuts]
    n_ways = min((len(cuts.thresholds) for cuts in result.cuts if cuts.is_cut), default=2**31)
    return (
        bool((tested.residual_cell < n_levels[tested.tuples]).all())
        and _are_classes(tested, n_classes)
        and _are_within(tested.residual_stratum, -1, max(len(result.provenance["strata"]), 1))
        and bool((np.isnan(tested.residual) | (tested.residual_stratum >= 0)).all())
        and bool((np.isnan(tested.residual)[:, np.newaxis] | (tested.residual_cell >= 0)).all())
        and _are_within(tested.discretization, 0, n_ways)
    )


def _are_classes(tested: TupleTests, n_classes: int) -> bool:
    """Say whether the classes of residuals exist; numbers have none."""
    if tested.residual_class is None:
        return True
    known = np.isnan(tested.residual) | (tested.residual_class >= 0)
    return _are_within(tested.residual_class, -1, n_classes) and bool(known.all())


def _are_alike(first: TupleTests, tested: TupleTests) -> bool:
    """Say whether two tests are of the same tuples, and of one kind of outcome."""
    return first.kind == tested.kind and np.array_equal(first.tuples, tested.tuples)


def _are_within(numbers: IntArray, low: int, limit: int) -> bool:
    return bool(((numbers >= low) & (numbers < limit)).all())
