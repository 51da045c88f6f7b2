"""One size of tuples of a Selection → a Selection of its own, or Interactions."""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.checks import check_int
from interplay.infer.linkage import Linkage
from interplay.infer.p_values import adjust, relevant_mask, significance_order
from interplay.show.results.interactions import Interactions
from interplay.show.results.run import chosen_run, smallest_log_p

if TYPE_CHECKING:
    from interplay.show.results.selection import Selection


def one_size(selection: Selection, dimensions: int) -> Selection:
    """Return p-values and relevant variables of the searches of one size of tuples; see `Selection.of_dimension`."""
    kept = [number for number, run in enumerate(selection.runs) if run.dimensions == dimensions]
    place = {number: i for i, number in enumerate(kept)}
    runs = tuple(selection.runs[number] for number in kept)
    log_p = smallest_log_p(runs)
    p_value = np.exp(log_p)
    p_adjusted = adjust(p_value, selection.asked.p_adjust, level=selection.asked.level)
    is_relevant = relevant_mask(p_adjusted, level=selection.asked.level)
    order = significance_order(log_p, np.max([run.gains.gain for run in runs], axis=0))
    ranked = order[is_relevant[order]]
    settings = {name: value for name, value in selection.settings.items() if name != "arms"}
    fits = {run.null_fit.fit for run in runs}
    column = {v: i for i, v in enumerate(selection.ranked.tolist())}
    known = len(selection.correlation) > 0 and all(v in column for v in ranked.tolist())
    chosen = [column[v] for v in ranked.tolist()] if known else []
    return replace(
        selection,
        runs=runs,
        log_p=log_p,
        p_value=p_value,
        p_adjusted=p_adjusted,
        is_relevant=is_relevant,
        ranked=ranked,
        correlation=selection.correlation[np.ix_(chosen, chosen)],
        settings=settings | {"dimensions": dimensions, "fit": fits.pop() if len(fits) == 1 else settings["fit"]},
        tuple_counts=tuple(
            replace(counts, run=place[counts.run]) for counts in selection.tuple_counts if counts.run in place
        ),
        tests=(),
        linkage=_linkage_of(selection, ranked),
        replication=None,
        shortened=None,  # it is of the variables of all sizes
    )


def _linkage_of(selection: Selection, variables: IntArray) -> Linkage | None:
    """Return the correlations that the selection holds, if it holds them of all these variables."""
    linkage = selection.linkage
    return linkage if linkage is not None and np.isin(variables, linkage.variables).all() else None


def selection_interactions(selection: Selection, dimensions: int | None, run: int | str | None) -> Interactions:
    """See `Selection.interactions`."""
    sizes = [k for k in selection.dimensions if k > 1]
    if not sizes:
        raise ValueError("interactions need tuples: run select with dimensions=2 or more")
    size = sizes[0] if dimensions is None else check_int("dimensions", dimensions, low=2, high=sizes[-1])
    searched = next(k for k in sizes if k >= size)
    numbers = [number for number, one in enumerate(selection.runs) if one.dimensions == searched]
    number = numbers[chosen_run(run, [selection.runs[each].decision for each in numbers])]
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
        class_sizes=dict(zip(chosen.class_labels, chosen.class_sizes.tolist(), strict=bool(chosen.class_labels))),
        cuts=chosen.cuts,
        counts=tuple(
            replace(one, run=0) for one in kept if members.get(tuple(one.members.tolist())) == one.discretization
        ),
        settings={**s, "top": None, "max_p": None},
        provenance=selection.provenance,
        is_exhaustive=False,
        linkage=_linkage_of(selection, tested.tuples),
        survival_curves=tuple(replace(one, run=0) for one in selection.survival_curves if one.run == number),
        clump_r2=selection.clump_r2,
        variants=selection.variants,
    )
