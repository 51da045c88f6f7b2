"""Arguments of `select`, described and checked: sizes of tuples, settings of its searches, how gains are judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Self

import numpy as np

from interplay.base.arguments import ARGUMENTS, arguments_in, one_of
from interplay.base.arrays import MAX_CONTRAST, MAX_LEVELS, MAX_PERMUTATIONS
from interplay.base.checks import check_choice, check_int, check_list, check_real, shown
from interplay.data.codes.cuts import number_text
from interplay.data.study.comparisons import MULTICLASS_CHOICES
from interplay.data.study.table import Table
from interplay.infer.arms import arm_of_tuples, arms_of
from interplay.infer.null_fit import FITS
from interplay.infer.p_values import ADJUST_METHODS
from interplay.infer.reference_fit import MIN_REFERENCE_VARIABLES
from interplay.search.settings import SearchSettings, check_search_settings

#: Upper limits of "auto": it searches triples up to this number of them (1818 variables), and quadruples up to this
#: number of variables. Never by the speed of the machine: the same call means the same everywhere.
MAX_TRIPLES = 10**9
MAX_VARS_OF_QUADRUPLES = 40

#: The argument `dimensions`.
Dimensions = int | str | Sequence[int]


def resolve_dimensions(
    dimensions: Any, arms: Any, n_vars: int, *, one_with: str | None = None
) -> tuple[int | tuple[int, ...], tuple[str, ...] | None]:
    """Return one number, or several numbers that are searched in one call, with the arms that are combined.

    `one_with` names another argument that allows one number only, because samples are then not exchangeable one by one,
    which the rank tests of the arms assume. Then "auto" is 2, and several numbers are refused.

    Examples
    --------
    >>> resolve_dimensions("auto", None, n_vars=100)
    ((1, 2, 3), ('alone', 'given', 'pairs', 'triples'))
    >>> resolve_dimensions(2, None, n_vars=100)
    (2, None)
    >>> resolve_dimensions((1, 2), ["alone", "pairs"], n_vars=100)
    ((1, 2), ('alone', 'pairs'))
    """
    if not n_vars:
        raise ValueError("X has no variables: give at least one")
    if isinstance(dimensions, str):
        if dimensions != "auto":
            raise ValueError(f"dimensions must be 'auto', a whole number or several, not {shown(dimensions)}")
        if one_with is not None and arms is None:
            return min(2, n_vars), None
        several = _auto_dimensions(n_vars, arms)
    elif isinstance(dimensions, Iterable) and not isinstance(dimensions, bytes):
        several = _check_several(dimensions)
    else:
        number = check_int("dimensions", dimensions, low=1)
        if arms is not None:
            raise ValueError(
                f"arms are for several dimensions in one call: leave arms out, or dimensions={shown(dimensions)}"
            )
        return number, None
    if one_with is not None:
        raise ValueError(f"{one_with} works with one dimension at a time: give dimensions one number, such as 2")
    known = arms_of(several)
    if arms is None:
        return several, known
    chosen = _check_arms(arms, known, several)
    return several, tuple(arm for arm in known if arm in chosen)


def _auto_dimensions(n_vars: int, arms: Any) -> tuple[int, ...]:
    asked_for = {arm for arm in arms if isinstance(arm, str)} if isinstance(arms, list | tuple | set) else set()
    allowed = {1: True, 2: True, 3: comb(n_vars, 3) <= MAX_TRIPLES, 4: n_vars <= MAX_VARS_OF_QUADRUPLES}
    return tuple(k for k, is_small in allowed.items() if k <= n_vars and (is_small or arm_of_tuples(k) in asked_for))


def _check_several(dimensions: Iterable[Any]) -> tuple[int, ...]:
    entries = check_list("dimensions", dimensions)
    numbers = [check_int("each of several dimensions", number, low=1) for number in entries]
    if not numbers:
        raise ValueError("dimensions must hold at least one number, such as (1, 2, 3); it is empty")
    return tuple(sorted(set(numbers)))


def _check_arms(arms: Any, known: Sequence[str], dimensions: Sequence[int]) -> set[str]:
    if isinstance(arms, str):
        arms = [arms]
    chosen = set()
    for arm in check_list("arms", arms, of="names of arms"):
        if not isinstance(arm, str) or arm not in known:
            listed = ", ".join(known)
            raise ValueError(f"arms names {shown(arm)}: with dimensions={dimensions} there are {listed}")
        chosen.add(arm)
    if not chosen:
        raise ValueError(f"arms must name at least one of {', '.join(known)}; it is empty")
    return chosen


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


SELECTION_ARGUMENTS = ARGUMENTS | arguments_in(
    f"""
    y
        ...

        Times that may be censored are given as ``(time, event)``, two arrays or names, or as a structured array like
        scikit-survival's. Where the event is not True or 1, say which value it is: ``(time, status == 2)``, or
        ``("days", "status=2")`` with names. The search compares martingale residuals, and Cox's model has to confirm
        the variables that are found.
    dimensions : "auto", int or sequence of int
        ...

        Several, such as ``(1, 2, 3)``, are searched in one call and give one p-value. "auto": 1, 2, 3 if there are at
        most 10⁹ triples (1818 variables), and 4 if there are at most 40 variables, unless columns of many labels give
        tuples of more than 65,536 cells, or typically of more than four cells per sample; with groups or permutations,
        whose p-values are those of one size of tuples, 2. A number alone is that search by gains; ``(1,)`` finds more
        than 1, by all tests of single variables.
    n_contrast : int or "auto"
        Number of contrast variables: permuted copies of real variables, whose gains show the chance level. With 0, the
        null distribution is fitted to the variables themselves, most of which must then be irrelevant. "auto": none in
        1D with one discretisation, where p-values come from an exact test; otherwise as many as there are variables,
        but at least 300 and at most 1000.
    p_adjust : str
        How p-values are adjusted for the number of variables: "holm" (default), "hochberg", "hommel", "bonferroni",
        "BH", "BY", "none", or a name that statsmodels uses.
    level : float
        A variable is relevant if its adjusted p-value is below this significance level.
    fit : {one_of(FITS)}
        How the null distribution is fitted; `fit_null` describes the choices. In 1D nothing is fitted with "auto" or
        "union", or with one discretisation: p-values come from a conditional test of the counts, which is exact where
        these are small.
    arms : sequence of str, optional
        With several dimensions, the arms whose p-values are combined: "alone" and "given" (given other variables that
        are strong by themselves) in 1D, "pairs" in 2D, "triples" in 3D, "quadruples" in 4D. By default all of them.
    multiclass : {one_of(MULTICLASS_CHOICES)}
        With more than two classes: one gain about all classes ("joint"), one search for each pair of classes ("ovo"),
        or one search for each class against the rest ("ovr"). With several searches, the p-value of a variable is its
        smallest one times their number.
    strata
        ...

        Contrast variables are permuted within strata.
    permutations : bool, optional
        Whether p-values come from permutations of the outcome instead of contrast variables: Westfall and Young's
        step-down maxT, which adjusts p-values for all variables without fitting anything. By default with `groups`
        only, unless `n_permutations` times the number of tuples exceeds 1e12: then, and with False, whole groups are
        permuted in the contrast variables, and gains are divided by their inflation.
    covariates
        ...

        More than two classes are then compared each with the rest. The column ``p_model`` is the p-value of a relevant
        variable in the full model.
    stability : int, optional
        Number of halves of the samples, even, in which the selection is repeated, for example 100. They are
        complementary pairs: random divisions of the samples, within classes and strata, by whole groups. The column
        stability of the table is the share of halves in which a variable is relevant; ``Selection.stability`` also has
        tuples. A half has less power than all samples: compare variables, not a variable with 1. It takes about half
        as many times as long as the search.
    redundancy : float
        Relevant variables whose association is at least this are redundant: ``.redundant_groups`` has them together,
        and ``.short_list`` chooses from one of each group. The association of two numbers is their absolute rank
        correlation, that of a number and labels the correlation ratio of the ranks, and that of labels Cramér's V.
    reference : dict, optional
        For variables of several levels, the level with which the others are compared in directions and sizes:
        ``{{"arm": "placebo"}}``. By default the first of two levels or of ordered ones, and the most frequent one of
        others. Intervals of several levels cover together.
    holdout : float or int, optional
        Share or number of samples that are kept out of the search, drawn at random within each class, or along the
        numbers, and within strata; whole groups, where there are groups. Relevant variables are then tested in these
        samples, as `Selection.replicate` does: ``.replication``, and columns of ``.table``.
    random_state
        ...

        None draws a new seed, which the result records.
    engine
        ...

        "dask" uses the current Dask client.
    """,
    ARGUMENTS,
)
