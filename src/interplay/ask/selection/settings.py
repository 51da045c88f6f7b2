"""Settings of a selection: those of its searches, and how gains are judged; checked before any long work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Self

import numpy as np

from interplay.ask.selection.dimensions import resolve_dimensions
from interplay.base.arrays import MAX_CONTRAST, MAX_LEVELS, MAX_PERMUTATIONS
from interplay.base.checks import check_choice, check_int, check_real, shown
from interplay.data.codes.cuts import number_text
from interplay.data.study.comparisons import MULTICLASS_CHOICES
from interplay.data.study.table import Table
from interplay.infer.arms import arm_of_tuples
from interplay.infer.null_fit import FITS
from interplay.infer.p_values import ADJUST_METHODS
from interplay.infer.reference_fit import MIN_REFERENCE_VARIABLES
from interplay.search.settings import SearchSettings, check_search_settings

#: "auto" takes as many contrast variables as there are variables, within these bounds: fewer leave the null fit
#: imprecise (γ varies by half with 30, by a fifth with 300: docs/calibration.md), more cost time and gain little.
_AUTO_CONTRAST_BOUNDS = (300, 1000)

#: Groups are judged by permutations unless these would look at more tuples than this in all. A number of tuples and
#: never a time, so that the result does not depend on the machine.
MAX_PERMUTED_TUPLES = 10**12

#: Associations of at least this make variables redundant: 64 % of the variance of one set of ranks is in the other.
REDUNDANCY = 0.8


@dataclass(frozen=True, kw_only=True)
class SelectionSettings(SearchSettings):
    """The settings that decide a selection: those of its searches, and how their gains are judged.

    `decision` is the kind of outcome that was found, and `n_contrast` a definite number. `decision_divisions` says how
    numbers were cut, and `scale` how numbers that were not cut were compared; else they are None. `permutations` says,
    if there are groups or where it was asked for, whether p-values come from permutations; else it is None. Where
    several sizes of tuples are searched in one call, they are `all_dimensions`, the largest is `dimensions`, and `arms`
    are the tests that are combined; with one size both are None. `redundancy` decides groups of relevant variables,
    `reference` the levels with which others are compared.
    """

    n_contrast: int
    p_adjust: str
    level: float
    fit: str
    decision: str
    multiclass: str
    decision_divisions: int | None = None
    scale: str | None = None
    permutations: bool | None = None
    n_permutations: int = 0
    all_dimensions: tuple[int, ...] | None = None
    arms: tuple[str, ...] | None = None
    redundancy: float = REDUNDANCY
    holdout: float | int | None = None
    reference: dict[str, str] | None = None

    @property
    def omits_missing(self) -> bool:
        """Whether tests of interactions leave out samples that lack a member, whose level would seem to interact."""
        return self.missing == "auto"

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Take the settings from the values of `to_dict`, which a file may have kept."""
        if isinstance(values["dimensions"], int):
            return super().of(values)
        several = tuple(values["dimensions"])
        given = {"dimensions": max(several), "all_dimensions": several, "arms": tuple(values["arms"])}
        return super().of({**values, **given})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the arguments, for users and files."""
        values = super().to_dict()
        several = values.pop("all_dimensions", None)
        return values if several is None else values | {"dimensions": several}

    @property
    def searched(self) -> tuple[int, ...]:
        """The sizes of tuples to search; several always include variables alone: synergies are measured beyond them."""
        if self.all_dimensions is None or self.arms is None:
            return (self.dimensions,)
        return (1, *(k for k in self.all_dimensions if k > 1 and arm_of_tuples(k) in self.arms))

    def of_dimension(self, dimensions: int) -> Self:
        """Return the settings of one search among several; of a single search, these settings."""
        if self.all_dimensions is None and dimensions == self.dimensions:
            return self
        return replace(self, dimensions=dimensions, all_dimensions=None, arms=None)


def check_selection_settings(
    table: Table,
    *,
    n_contrast: int | str,
    p_adjust: str,
    level: float,
    fit: str,
    decision: str,
    decision_divisions: int | None,
    scale: str | None,
    multiclass: str,
    permutations: bool | None,
    n_permutations: int,
    has_groups: bool,
    dimensions: Any,
    arms: Any,
    redundancy: float = REDUNDANCY,
    reference: Any = None,
    **of_search: Any,
) -> SelectionSettings:
    """Check the settings of a selection; those `of_search` as `check_search_settings` does."""
    one_with = "groups" if has_groups else "permutations" if permutations is True else None
    sizes, chosen_arms = resolve_dimensions(dimensions, arms, table.n_vars, one_with=one_with)
    largest = sizes if isinstance(sizes, int) else max(sizes)
    search = check_search_settings(table, dimensions=largest, **of_search)
    n_permutations = check_int("n_permutations", n_permutations, low=1, high=MAX_PERMUTATIONS)
    permuted = _check_permutations(permutations, n_permutations, table.n_vars, search, has_groups=has_groups)
    if permuted:
        _refuse_beside_permutations(n_contrast, p_adjust, fit)
        n_contrast = 0
    elif has_groups:
        n_contrast = _check_group_contrast(n_contrast)
    return SelectionSettings(
        **search.to_dict(),
        n_contrast=_check_n_contrast(n_contrast, table.n_vars, search),
        p_adjust=check_choice("p_adjust", p_adjust, ADJUST_METHODS),
        level=check_real("level", level, low=0.0, high=1.0, low_open=True, high_open=True),
        fit=check_choice("fit", fit, FITS),
        decision=decision,
        decision_divisions=decision_divisions,
        scale=scale,
        multiclass=check_choice("multiclass", multiclass, MULTICLASS_CHOICES),
        permutations=permuted if permuted or has_groups else None,
        n_permutations=n_permutations if permuted or has_groups else 0,
        all_dimensions=None if isinstance(sizes, int) else sizes,
        arms=chosen_arms,
        redundancy=check_real("redundancy", redundancy, low=0.0, high=1.0, low_open=True),
        reference=_check_reference(table, reference),
    )


def _check_reference(table: Table, reference: Any) -> dict[str, str] | None:
    """Return the reference level of each variable that has one of its own, as texts."""
    if reference is None:
        return None
    if not isinstance(reference, Mapping) or not reference:
        raise TypeError(f"reference must map variables to levels, such as {{'arm': 'placebo'}}, not {shown(reference)}")
    levels = {}
    for name, level in reference.items():
        (v,) = table.numbers_of([name], "reference")
        known = table.level_names(v)
        if known is None:
            values = np.unique(table.columns(slice(v, v + 1))[0].astype(np.float64))
            known = [number_text(value) for value in values[: MAX_LEVELS + 1] if value == value]
        text = str(level) if table.is_label[v] or isinstance(level, str) else number_text(float(level))
        if text not in known:
            raise ValueError(
                f"reference names the level {shown(text)} of {shown(table.names[v])}, whose values are "
                f"{', '.join(map(shown, known[:6]))}{', …' * (len(known) > 6)}"
            )
        levels[table.names[v]] = text
    return levels


def _check_permutations(
    permutations: bool | None, n_permutations: int, n_vars: int, search: SearchSettings, *, has_groups: bool
) -> bool:
    """Say whether p-values come from permutations: where asked for, and for groups unless the search is huge."""
    if permutations is not None and not isinstance(permutations, bool | np.bool_):
        hint = ": say with n_permutations how many" if isinstance(permutations, int) else ""
        raise TypeError(f"permutations must be True, False or None, not {shown(permutations)}{hint}")
    if permutations is None:
        if not has_groups or search.dimensions == 1:
            return has_groups
        n_tuples = comb(n_vars, search.dimensions) * search.discretizations
        return n_tuples * n_permutations <= MAX_PERMUTED_TUPLES
    if not permutations and has_groups and search.dimensions == 1:
        raise ValueError(
            "permutations=False does not go with groups in 1D, because contrast variables lead to false discoveries if "
            "groups resemble each other more in some variables than in others: leave permutations out"
        )
    return bool(permutations)


def _refuse_beside_permutations(n_contrast: int | str, p_adjust: str, fit: str) -> None:
    if fit != "auto" and fit in FITS:
        raise ValueError(f"fit={shown(fit)} does not go with permutations, which need no fit: leave it out")
    if n_contrast not in ("auto", 0):
        raise ValueError(
            f"n_contrast={shown(n_contrast)} does not go with permutations, which take the place of contrast "
            "variables: leave it out"
        )
    if p_adjust not in ("holm", "none"):
        raise ValueError(
            f"p_adjust={shown(p_adjust)} does not go with permutations, which adjust p-values by themselves (step-down "
            "maxT, family-wise error): leave it out"
        )


def _check_group_contrast(n_contrast: int | str) -> int | str:
    """Groups without permutations need contrast variables, many: they also tell by how much gains are inflated."""
    if n_contrast == "auto":
        return _AUTO_CONTRAST_BOUNDS[1]
    number = n_contrast if isinstance(n_contrast, str) else check_int("n_contrast", n_contrast, low=0)
    if isinstance(number, int) and number < _AUTO_CONTRAST_BOUNDS[0]:
        raise ValueError(
            f"n_contrast must be at least {_AUTO_CONTRAST_BOUNDS[0]} with groups and without permutations, not {number}"
        )
    return number


def _check_n_contrast(n_contrast: int | str, n_vars: int, settings: SearchSettings) -> int:
    if isinstance(n_contrast, str) and n_contrast == "auto":
        if settings.dimensions == 1 and settings.discretizations == 1:
            return 0
        low, high = _AUTO_CONTRAST_BOUNDS
        return min(max(n_vars, low), high)
    if isinstance(n_contrast, str):
        raise ValueError(f"n_contrast must be 'auto' or a whole number, not {shown(n_contrast)}")
    number = check_int("n_contrast", n_contrast, low=0, high=MAX_CONTRAST)
    if 0 < number < MIN_REFERENCE_VARIABLES:
        raise ValueError(
            f"n_contrast must be 0 or at least {MIN_REFERENCE_VARIABLES}, not {number}: "
            "fewer are not enough to estimate the null distribution"
        )
    return number
