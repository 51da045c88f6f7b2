"""A Selection → the tests of its tuples, as Interactions."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

from interplay.checks import check_choice, check_int
from interplay.results.interactions import Interactions
from interplay.steps.tuple_counts import TupleCounts

if TYPE_CHECKING:
    from interplay.results.selection import Selection


def selection_interactions(selection: Selection, dimensions: int | None, run: int | str | None) -> Interactions:
    """See `Selection.interactions`."""
    number = run_number(selection, dimensions, run)
    chosen = selection.runs[number]
    most = chosen.gains.dimensions
    if most < 2:
        raise ValueError("interactions need tuples: run select with dimensions=2 or more")
    size = most if dimensions is None else check_int("dimensions", dimensions, low=2, high=most)
    if not chosen.tested or chosen.outcome is None:
        raise ValueError(
            "the tuples of this selection were not tested (merged from parts without X, or saved by an older version): "
            "give X to merge_parts, or run select() again"
        )
    s, tested = selection.settings | {"dimensions": size}, chosen.tested[size - 2]
    kept = [counts for counts in selection.tuple_counts if counts.run == number]
    members = {tuple(row): int(d) for row, d in zip(tested.tuples.tolist(), tested.discretization, strict=True)}
    return Interactions(
        names=selection.names,
        tested=tested.by_p_value(),
        n_tests=comb(len(selection.names), size) * len({one.decision for one in selection.runs}),
        outcome=chosen.outcome,
        class_sizes=dict(zip(chosen.outcome.labels, chosen.class_sizes.tolist(), strict=True)),
        cuts=chosen.cuts,
        counts=tuple(
            TupleCounts(one.members, 0, one.discretization, one.level_names, one.counts)
            for one in kept
            if members.get(tuple(one.members.tolist())) == one.discretization
        ),
        settings={**s, "top": None, "max_p": None},
        provenance={"strata": {}, **selection.provenance},
        is_exhaustive=False,
    )


def run_number(selection: Selection, dimensions: int | None, run: int | str | None) -> int:
    """Return the number of a run, given by what it tells apart or the place of that among the comparisons of classes.

    Of runs that tell the same apart, that of tuples of so many members, or else of the most.
    """
    decisions = list(dict.fromkeys(one.decision for one in selection.runs))
    if run is None and len(decisions) > 1:
        raise ValueError(f"run must say which of the {len(decisions)} is meant: a number, or one of {decisions}")
    if isinstance(run, str):
        decision = check_choice("run", run, decisions)
    else:
        decision = decisions[0 if run is None else check_int("run", run, low=0, high=len(decisions) - 1)]
    size_of = {i: one.gains.dimensions for i, one in enumerate(selection.runs) if one.decision == decision}
    return max(size_of, key=lambda i: (size_of[i] == dimensions, size_of[i]))
