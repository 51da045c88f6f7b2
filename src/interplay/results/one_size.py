"""A selection from tuples of several sizes → what those of one size say by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from interplay.results.run import smallest_log_p
from interplay.statistics.p_values import adjust, relevant_mask, significance_order

if TYPE_CHECKING:
    from interplay.results.selection import Selection


def one_size(selection: Selection, dimensions: int) -> Selection:
    """Judge the searches of one size of tuples by themselves."""
    kept = [number for number, run in enumerate(selection.runs) if run.dimensions == dimensions]
    place = {number: i for i, number in enumerate(kept)}
    runs = tuple(selection.runs[number] for number in kept)
    log_p = smallest_log_p(runs)
    p_value = np.exp(log_p)
    p_adjusted = adjust(p_value, selection.settings["p_adjust"], level=selection.settings["level"])
    is_relevant = relevant_mask(p_adjusted, level=selection.settings["level"])
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
    )
