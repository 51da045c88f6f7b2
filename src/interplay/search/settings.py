"""Settings of searches and selections, contrast variables, variables asked for: checked before any long work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from math import prod
from typing import Any, Self

import numpy as np

from interplay.base.arrays import BoolArray, IntArray
from interplay.base.checks import check_choice, check_int, check_list, check_real, naming_argument, shown
from interplay.base.seeds import resolve_seed
from interplay.data.codes.coder import MISSING_CHOICES, Discrete
from interplay.data.codes.survey import forced_kinds
from interplay.data.study.outcomes.targets import Target
from interplay.data.study.rank_thresholds import check_discretization
from interplay.data.study.table import Table, as_table

#: Working memory of one thread, which holds the cells of a tuple and of its prefixes.
_MAX_WORKSPACE_BYTES = 1 << 30


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

    def of_columns(self, table: Table, kept: IntArray) -> Self:
        """Return the settings of a search among some columns of a table: `discrete` may list columns."""
        if isinstance(self.discrete, str):
            return self
        return replace(self, discrete=forced_kinds(self.discrete, table).astype(bool)[kept])

    def _is_default(self, field: Field[Any]) -> bool:
        return bool(getattr(self, field.name) == field.default)


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
