"""Settings of searches and selections, contrast variables, variables asked for: checked before any long work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from math import comb, prod
from typing import Any, Self

import numpy as np

from interplay.base.arrays import MAX_CONTRAST, BoolArray, IntArray
from interplay.base.checks import check_choice, check_int, check_list, check_real, naming_argument, shown
from interplay.base.seeds import resolve_seed
from interplay.codes.coder import MISSING_CHOICES, Discrete
from interplay.codes.survey import forced_kinds
from interplay.search.dimensions import resolve_dimensions
from interplay.statistics.arms import arm_of_tuples
from interplay.statistics.lsq_fit import MIN_REFERENCE_VARIABLES
from interplay.statistics.null_fit import FITS
from interplay.statistics.p_values import ADJUST_METHODS
from interplay.study.comparisons import MULTICLASS_CHOICES
from interplay.study.outcomes.targets import Target
from interplay.study.rank_thresholds import check_discretization
from interplay.study.table import Table, as_table

#: Working memory of one thread, which holds the cells of a tuple and of its prefixes.
_MAX_WORKSPACE_BYTES = 1 << 30

#: "auto" takes as many contrast variables as there are variables, within these bounds: fewer leave the null fit
#: imprecise (γ varies by half with 30, by a fifth with 300: docs/calibration.md), more cost time and gain little.
_AUTO_CONTRAST_BOUNDS = (300, 1000)

#: Groups are judged by permutations unless these would look at more tuples than this in all. A number of tuples and
#: never a time, so that the result does not depend on the machine.
MAX_PERMUTED_TUPLES = 10**12

#: A larger number is a slip.
MAX_PERMUTATIONS = 10**7


#: Associations of at least this make variables redundant: 64 % of the variance of one set of ranks is in the other.
REDUNDANCY = 0.8


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """The settings that decide the gains, checked, with a definite seed and range."""

    dimensions: int
    divisions: int
    discretizations: int
    range_: float
    pseudocount: float
    discrete: Discrete
    missing: str
    random_state: int

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Take these settings from the values of a file, or from a larger set of settings.

        Settings with a default may be missing: `to_dict` leaves them out where they are not used.
        """
        needed = [field.name for field in fields(cls) if field.name in values or field.default is MISSING]
        return cls(**{name: values[name] for name in needed})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values by the names of the arguments, for users and files.

        Settings that are not used, which have their defaults, are left out.
        """
        unused = {field.name for field in fields(self) if field.default is not MISSING and self._is_default(field)}
        return {name: value for name, value in vars(self).items() if name not in unused}

    def _is_default(self, field: Field[Any]) -> bool:
        return bool(getattr(self, field.name) == field.default)


@dataclass(frozen=True, kw_only=True)
class SelectionSettings(SearchSettings):
    """The settings that decide a selection: those of its searches, and how their gains are judged.

    `decision` is the kind of outcome that was found, and `n_contrast` a definite number. `decision_divisions` says how
    numbers were cut, and `scale` how numbers that were not cut were compared; else they are None. `permutations` says,
    if there are groups or where it was asked for, whether p-values come from permutations; else it is None. Where
    several sizes of tuples are searched in one call, they are `all_dimensions`, the largest is `dimensions`, and `arms`
    are the tests that are combined; with one size both are None. `redundancy` decides groups of relevant variables.
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


def check_search_settings(
    table: Table,
    *,
    dimensions: int,
    divisions: int,
    discretizations: int,
    range_: float | None,
    pseudocount: float,
    discrete: Discrete,
    missing: str,
    random_state: Any,
) -> SearchSettings:
    """Check the settings of a search against each other and the table's shape."""
    dimensions = check_int("dimensions", dimensions, low=1)
    if dimensions > table.n_vars:
        number = shown(dimensions)
        raise ValueError(
            f"dimensions={number} needs at least {number} variables, and X has {table.n_vars}: lower dimensions"
        )
    cuts = check_discretization(
        table.n_samples, dimensions=dimensions, divisions=divisions, discretizations=discretizations, range_=range_
    )
    return SearchSettings(
        dimensions=dimensions,
        **cuts,
        pseudocount=check_real("pseudocount", pseudocount, low=0.0, high=1e6),
        discrete=_check_discrete(discrete, table),
        missing=check_choice("missing", missing, MISSING_CHOICES),
        random_state=resolve_seed(random_state),
    )


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
    )


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


def check_contrast(contrast: Any, sources: IntArray | Sequence[int] | None, table: Table) -> Table:
    """Return contrast variables as a table, once they and their sources are known to fit X."""
    with naming_argument("contrast"):
        contrast_table = as_table(contrast)
    if contrast_table.n_samples != table.n_samples:
        raise ValueError(
            f"contrast has {contrast_table.n_samples} samples and X has {table.n_samples}: they must be the same"
        )
    if sources is not None:
        entries = check_list("contrast_sources", sources)
        numbers = [check_int("each number in contrast_sources", v, low=0, high=table.n_vars - 1) for v in entries]
        if len(numbers) != contrast_table.n_vars:
            raise ValueError(
                f"contrast_sources must have one entry per contrast variable: {len(numbers)} entries, "
                f"{contrast_table.n_vars} contrast variables"
            )
    return contrast_table


def _check_discrete(discrete: Discrete, table: Table) -> Discrete:
    """Return `discrete` to be used and recorded, checked against the whole table: a part of it has fewer columns."""
    listed = discrete if isinstance(discrete, str) else check_list("discrete", discrete)
    forced_kinds(listed, table)
    return listed


def asked_for_mask(table: Table, variables: Iterable[Any] | None, require: str, dimensions: int) -> BoolArray | None:
    """Turn names or numbers of variables into a mask."""
    check_choice("require", require, ("any", "all"))
    if variables is None:
        return None
    mask = np.zeros(table.n_vars, dtype=bool)
    mask[table.numbers_of(check_list("variables", variables), "variables")] = True
    needed = dimensions if require == "all" else 1
    if mask.sum() < needed:
        raise ValueError(
            f"variables must name at least {needed} different variables for dimensions={dimensions} and "
            f"require={require!r}, not {int(mask.sum())}"
        )
    return mask


def check_workspace(
    n_levels: IntArray, outcome: Target, dimensions: int, *, n_vars: int | None = None, n_strata: int = 1
) -> None:
    """Refuse tuples whose cells are too many for the memory of a thread.

    Rows of `n_levels` from `n_vars` on are contrast variables, of which a tuple has one at most.
    """
    real, contrast = n_levels[:n_vars], n_levels[len(n_levels) if n_vars is None else n_vars :]
    last, *others = np.sort(real)[-dimensions:].astype(float).tolist()
    if len(contrast):
        last = max(last, float(contrast.max()))
    n_cells = last * prod(others) * n_strata
    cell_size = outcome.df + 1
    plane_bytes = float(outcome.sizes.sum()) / 8 + 64 * cell_size
    # Counts of the cells (three buffers of them), and the bit planes of the prefixes.
    workspace = 12 * n_cells * cell_size + 2 * n_cells / last * plane_bytes
    if workspace > _MAX_WORKSPACE_BYTES:
        raise ValueError(
            f"dimensions={dimensions} gives tuples of up to {n_cells:.4g} cells (the product of their numbers of "
            f"levels{' and of strata' * (n_strata > 1)}), which need {workspace / 2**30:.3g} GiB per thread: "
            "lower dimensions or divisions, or merge levels"
        )
