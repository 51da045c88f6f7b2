"""A result in one file: a zip of a JSON and ``*.npy``, which any tool can read. Never a pickle."""

from __future__ import annotations

import os
from typing import Any

from interplay.base.arrays import MaxGains
from interplay.base.checks import check_path
from interplay.data.codes.cuts import OutcomeCuts, VariableCuts
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.files.archive import FileFormat, is_archive_of, read_archive, write_archive
from interplay.files.types import fits
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
from interplay.show.results.loaded import is_combined, is_interactions, is_selection
from interplay.show.results.replicated import Replication
from interplay.show.results.result import Result
from interplay.show.results.run import Explanations, Run
from interplay.show.results.selection import Selection
from interplay.show.results.traits import Traits
from interplay.show.results.variants import Variants

_SELECTION = FileFormat(
    name="selection",
    version=9,
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


_OF_ONE = {Selection: _SELECTION, Interactions: _INTERACTIONS}


def _are_sound(traits: Traits) -> bool:
    """Say whether each result is consistent in itself; sizes of results differ."""
    forms = [_OF_ONE[type(result)] for result in traits.results]
    return all(
        fits(result, form.root) and form.check is not None and form.check(result)
        for result, form in zip(traits.results, forms, strict=True)
    )


_TRAITS = FileFormat(
    name="traits",
    version=1,
    root=Traits,
    types=tuple(dict.fromkeys([Selection, *_SELECTION.types, *_INTERACTIONS.types])),
    in_words="saved result of several traits",
    advice=": save it again",
    check=_are_sound,
)


def save_result(result: Result | Traits, path: str | os.PathLike[str]) -> None:
    """Write a result to `path`, whole or not at all."""
    forms: dict[type, FileFormat] = {Selection: _SELECTION, Combined: _COMBINED, Traits: _TRAITS}
    write_archive(path, forms.get(type(result), _INTERACTIONS), result)


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
