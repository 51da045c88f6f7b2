"""A result in one file: a zip of a JSON and ``*.npy``, which any tool can read. Never a pickle."""

from __future__ import annotations

import os
from typing import Any, get_type_hints

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_path
from interplay.base.tuples import MaxGains
from interplay.data.codes.cuts import OutcomeCuts, VariableCuts
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.files.archive import FileFormat, is_archive_of, read_archive, write_archive
from interplay.files.types import fits, have_types
from interplay.infer.arms import ArmPValues
from interplay.infer.best_curve import BestCurve
from interplay.infer.best_order import BestOrder
from interplay.infer.effects.variable_effects import VariableEffects
from interplay.infer.interaction.tuple_tests import TupleTests
from interplay.infer.linkage import Linkage
from interplay.infer.model_tests import ModelTests
from interplay.infer.null_fit import NullFit
from interplay.infer.short_list import ShortList
from interplay.infer.stability import Stability
from interplay.infer.survival.survival_curves import SurvivalCurves
from interplay.show.results.combined import Combined
from interplay.show.results.interactions import Interactions
from interplay.show.results.leads import Tagging
from interplay.show.results.provenance import Provenance, Settings
from interplay.show.results.replicated import Replication
from interplay.show.results.result import Result, Traits
from interplay.show.results.run import Explanations, Run
from interplay.show.results.selection import Selection
from interplay.show.results.variants import Variants


def is_selection(selection: Selection) -> bool:
    """Say whether all settings exist, and variables, runs and tests are consistent."""
    n_runs = len(selection.runs)
    return (
        _are_typed(selection)
        and have_types(selection.settings, {"n_contrast": int, "fit": str, "multiclass": str})
        and (selection.asked.decision in ("classes", "continuous")) == any(run.class_labels for run in selection.runs)
        and n_runs > 0
        and np.array_equal(np.sort(selection.ranked), np.flatnonzero(selection.is_relevant))
        and _are_of_dimensions(selection)
        and (selection.linkage is None or bool(np.isin(selection.ranked, selection.linkage.variables).all()))
        and all(_is_test_of(test, len(selection.comparisons)) for test in selection.tests)
        and (selection.shortened is None or len(selection.shortened.representative) == len(selection.ranked))
        and (selection.ordered is None or _is_order(selection.ordered))
        and all(curves.run < n_runs for curves in selection.survival_curves)
        and all(
            counts.run < n_runs and _has_classes(counts, len(selection.runs[counts.run].class_labels))
            for counts in selection.tuple_counts
        )
    )


def _is_order(ordered: BestOrder) -> bool:
    """Say whether no variable comes twice, and members of a tuple stand side by side."""
    return len(np.unique(ordered.variable)) == len(ordered.variable) and bool((np.diff(ordered.unit) >= 0).all())


def _are_typed(result: Result) -> bool:
    """Say whether all settings and entries exist that tables, summaries and reports use."""
    return fits(result.asked, Settings) and fits(result.record, Provenance)


def is_interactions(result: Interactions) -> bool:
    """Say whether all settings exist, and tuples, levels and classes are consistent."""
    tested, n_classes = result.tested, len(result.outcome.labels)
    cut = {cuts.variable for cuts in result.cuts}
    return (
        _are_typed(result)
        and tested.tuples.shape[1] == result.asked.dimensions
        and result.n_tests >= len(tested)
        and len(result.class_sizes) == n_classes
        and (n_classes >= 2 if tested.words.counts_classes else n_classes == 0)
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


def is_combined(result: Combined) -> bool:
    """Say whether the settings exist, and every study has an entry."""
    studies, hints = result.provenance.get("studies"), get_type_hints(Settings, include_extras=True)
    return (
        have_types(result.settings, {name: hints[name] for name in ("p_adjust", "level")})
        and fits(studies, list[dict[str, Any]])
        and len(studies or []) == len(result.studies) >= 2
        and all(have_types(one, {"n_samples": int}) for one in studies or [])
        and fits(result.provenance.get("selected_in"), list[str])
        and result.tuples.shape[1] >= 1
        and np.array_equal(np.isnan(result.log_p), ~result.is_combined)
    )


def _are_of_dimensions(selection: Selection) -> bool:
    """Say whether runs and tests have the dimensions that the settings name."""
    named = selection.asked.dimensions
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
    return counts.counts.shape[-1:] == (n_classes or 1,)


def _are_places(result: Interactions, n_classes: int) -> bool:
    """Say whether the cells, classes and strata of residuals exist."""
    tested = result.tested
    n_levels = np.zeros(len(result.names), dtype=np.int64)
    n_levels[[cuts.variable for cuts in result.cuts]] = [cuts.n_levels() for cuts in result.cuts]
    n_ways = min((len(cuts.thresholds) for cuts in result.cuts if cuts.is_cut), default=2**31)
    return (
        bool((tested.residual_cell < n_levels[tested.tuples]).all())
        and _are_classes(tested, n_classes)
        and _are_within(tested.residual_stratum, -1, max(len(result.record.strata), 1))
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


_SELECTION = FileFormat(
    name="selection",
    version=10,
    root=Selection,
    types=(
        Run, MaxGains, NullFit, TupleCounts, Explanations, TupleTests, VariableCuts,
        OutcomeCuts, ModelTests, SurvivalCurves, ArmPValues, Linkage, Stability,
        VariableEffects, ShortList, Replication, Interactions, Tagging, BestOrder,
        BestCurve, Variants,
    ),
    in_words="saved selection",
    advice=": save it again",
    check=is_selection,
)  # fmt: skip
_INTERACTIONS = FileFormat(
    name="interactions",
    version=6,
    root=Interactions,
    types=(
        TupleTests,
        OutcomeCuts,
        VariableCuts,
        TupleCounts,
        Linkage,
        Tagging,
        SurvivalCurves,
        Variants,
    ),
    in_words="saved list of interactions",
    advice=": save it again",
    check=is_interactions,
)
_COMBINED = FileFormat(
    name="combined studies",
    version=1,
    root=Combined,
    types=(),
    in_words="saved combination of studies",
    advice=": save it again",
    check=is_combined,
)


_OF_ONE: dict[type, FileFormat] = {Selection: _SELECTION, Interactions: _INTERACTIONS}


def _are_sound(traits: Traits) -> bool:
    """Say whether each result is consistent in itself; sizes of results differ."""
    forms = [_OF_ONE[type(result)] for result in traits.results]
    return all(
        fits(result, form.root) and form.check is not None and form.check(result)
        for result, form in zip(traits.results, forms, strict=True)
    )


_TRAITS = FileFormat(
    name="traits",
    version=2,
    root=Traits,
    types=tuple(dict.fromkeys([Selection, *_SELECTION.types, *_INTERACTIONS.types])),
    in_words="saved result of several traits",
    advice=": save it again",
    check=_are_sound,
)


def save_result(result: Result | Traits, path: str | os.PathLike[str]) -> None:
    """Write a result to `path`, whole or not at all."""
    forms: dict[type, FileFormat] = {Selection: _SELECTION, Combined: _COMBINED, Traits: _TRAITS}
    write_archive(path, forms.get(type(result), _INTERACTIONS), result.without_samples())


def is_saved_interactions(path: str | os.PathLike[str]) -> bool:
    """Say whether a file declares that it holds Interactions; its content is not checked."""
    return is_archive_of(path, _INTERACTIONS)


def is_saved_traits(path: str | os.PathLike[str]) -> bool:
    """Say whether a file declares that it holds Traits; its content is not checked."""
    return is_archive_of(path, _TRAITS)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a result that ``Selection.save``, ``Interactions.save``, ``Combined.save`` or ``Traits.save`` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Selection, Interactions, Combined or Traits

    Examples
    --------
    >>> import interplay, tempfile, pathlib
    >>> X, y, truth = interplay.datasets.make_madelon(n_samples=200, n_vars=30, random_state=1)
    >>> result = interplay.select(X, y, dimensions=1)
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "run.interplay"
    >>> result.save(file)
    >>> interplay.load(file).relevant == result.relevant
    True
    """
    return read_archive(check_path("path", path), _SELECTION, _INTERACTIONS, _COMBINED, _TRAITS)
