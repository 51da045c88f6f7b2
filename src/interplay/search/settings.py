"""What a search is given: its settings, contrast variables and variables asked for, checked before any long work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.arrays import MAX_DISCRETIZATIONS, BoolArray, DecisionClasses, IntArray
from interplay.checks import check_choice, check_int, check_list, check_real, shown
from interplay.steps.column_survey import forced_kinds
from interplay.steps.discrete_codes import resolve_range
from interplay.steps.seeds import resolve_seed
from interplay.steps.table import Table, as_table

#: Working memory of one thread, which holds the cells of a tuple and of its prefixes.
_MAX_WORKSPACE_BYTES = 1 << 30

Discrete = str | Sequence[Any] | BoolArray


@dataclass(frozen=True)
class SearchSettings:
    """What decides the gains, checked, with the seed and the range made definite."""

    dimensions: int
    divisions: int
    discretizations: int
    range_: float
    pseudocount: float
    discrete: Discrete
    missing: str
    seed: int


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
    divisions = check_int("divisions", divisions, low=1, high=255)
    discretizations = check_int("discretizations", discretizations, low=1, high=MAX_DISCRETIZATIONS)
    return SearchSettings(
        dimensions=dimensions,
        divisions=divisions,
        discretizations=discretizations,
        range_=resolve_range(
            range_,
            n_samples=table.n_samples,
            dimensions=dimensions,
            divisions=divisions,
            discretizations=discretizations,
        ),
        pseudocount=check_real("pseudocount", pseudocount, low=0.0, high=1e6),
        discrete=_check_discrete(discrete, table),
        missing=check_choice("missing", missing, ("error", "level", "impute")),
        seed=resolve_seed(random_state),
    )


@contextmanager
def naming_contrast() -> Iterator[None]:
    """Say in errors about contrast variables that it is these which are meant."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise type(error)(f"contrast: {error}") from None


def check_contrast(contrast: Any, sources: IntArray | Sequence[int] | None, table: Table) -> Table:
    """Return contrast variables as a table, once they and their sources are known to fit X."""
    with naming_contrast():
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
    """Return it to be used and recorded, once it is known to fit the table: parts of the table say less."""
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


def check_workspace(n_levels: IntArray, classes: DecisionClasses, dimensions: int, n_strata: int = 1) -> None:
    """Refuse tuples with so many cells that the counts of one would not fit in memory."""
    largest = np.sort(n_levels)[::-1][:dimensions].astype(float)
    n_cells = float(np.prod(largest)) * n_strata
    plane_bytes = len(classes.codes) / 8 + 64 * classes.n_classes
    # Counts of the cells (three buffers of them), and the bit planes of the prefixes.
    workspace = 12 * n_cells * classes.n_classes + 2 * n_cells / largest[-1] * plane_bytes
    if workspace > _MAX_WORKSPACE_BYTES:
        raise ValueError(
            f"dimensions={dimensions} gives tuples of up to {n_cells:.4g} cells (the product of their numbers of "
            f"levels{' and of strata' * (n_strata > 1)}), which need {workspace / 2**30:.3g} GiB a thread: "
            "lower dimensions or divisions, or merge levels"
        )
