"""A Selection → the tests of its tuples, as Interactions."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from interplay.base.checks import check_choice, check_int
from interplay.codes.tuple_counts import TupleCounts
from interplay.results.interactions import Interactions

if TYPE_CHECKING:
    from interplay.results.selection import Selection


def selection_interactions(selection: Selection, dimensions: int | None, run: int | str | None) -> Interactions:
    """See `Selection.interactions`."""
    sizes = [k for k in selection.dimensions if k > 1]
    if not sizes:
        raise ValueError("interactions need tuples: run select with dimensions=2 or more")
    size = sizes[0] if dimensions is None else check_int("dimensions", dimensions, low=2, high=sizes[-1])
    number = _run_number(selection, next(k for k in sizes if k >= size), run)
    chosen = selection.runs[number]
    if not chosen.tested or chosen.outcome is None:
        raise ValueError(
            "the tuples of this selection were not tested (merged from parts without X, or within groups): give X to "
            "merge_parts, or run select() without groups"
        )
    tested = chosen.tested[size - 2]
    s = {name: value for name, value in selection.settings.items() if name != "arms"} | {"dimensions": size}
    kept = [counts for counts in selection.tuple_counts if counts.run == number]
    members = {tuple(row): int(d) for row, d in zip(tested.tuples.tolist(), tested.discretization, strict=True)}
    return Interactions(
        names=selection.names,
        tested=tested.by_p_value(),
        n_tests=comb(len(selection.names), size) * len(selection.comparisons) * (sizes[-1] - 1),
        outcome=chosen.outcome,
        class_sizes=dict(zip(chosen.outcome.labels, chosen.class_sizes.tolist(), strict=True)),
        cuts=chosen.cuts,
        counts=tuple(
            TupleCounts(one.members, 0, one.discretization, one.level_names, one.counts)
            for one in kept
            if members.get(tuple(one.members.tolist())) == one.discretization
        ),
        settings={**s, "top": None, "max_p": None},
        provenance=selection.provenance,
        is_exhaustive=False,
    )


def _run_number(selection: Selection, dimensions: int, run: int | str | None) -> int:
    """Return the number of the run of these tuples; `run` is the number of a comparison, or what it tells apart."""
    numbers = [number for number, one in enumerate(selection.runs) if one.dimensions == dimensions]
    decisions = [selection.runs[number].decision for number in numbers]
    if run is None and len(decisions) > 1:
        raise ValueError(
            f"run is needed, as there are {len(decisions)} comparisons: give a number, or one of {decisions}"
        )
    if isinstance(run, str):
        return numbers[decisions.index(check_choice("run", run, decisions))]
    return numbers[0 if run is None else check_int("run", run, low=0, high=len(decisions) - 1)]
