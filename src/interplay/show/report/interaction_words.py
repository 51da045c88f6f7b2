"""Interactions → the summary of their report: what was searched, what was found, in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.text import printable, tuples_in_words
from interplay.show.report.numbers import p_text

if TYPE_CHECKING:
    from interplay.data.codes.tuple_counts import TupleCounts
    from interplay.show.results.interactions import Interactions

#: Not broken over lines.
_P = "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"

#: So many tuples are named where nothing is significant.
_NEAREST_NAMED = 3


def summary_sentences(result: Interactions) -> list[str]:
    """Return the sentences of the summary, one thought each."""
    found = [_searched(result)]
    if result.is_significant.any():
        found += [_strongest(result), _often(result)]
    else:
        found.append(nearest_words(result))
    return [sentence for sentence in found if sentence]


def nearest_words(result: Interactions) -> str:
    """Name the tuples with the smallest p-values, where nothing is significant."""
    nearest = result.tested if len(result) else result.smallest
    if nearest is None or not len(nearest):
        return "No tuple is significant."
    named = [
        f"{_named(result.names_of(nearest.tuples[row]))} ({_P}{p_text(float(nearest.p_value[row]))}, "
        f"adjusted {p_text(float(nearest.p_adjusted[row]))})"
        for row in range(min(len(nearest), _NEAREST_NAMED))
    ]
    are = "The smallest p-value is that of" if len(named) == 1 else "The smallest p-values are those of"
    level = result.asked.level
    n_below = int(nearest.is_of_cutting(level).sum())
    only = "an effect of cutting numbers into levels"
    if not n_below:
        n_below, only = int(nearest.is_of_spread(level).sum()), "of cells that differ in their spread, or are small"
    if n_below:
        below = (
            f"{n_below} adjusted {'p-value is' if n_below == 1 else 'p-values are'} below the significance level, but"
        )
        return f"No tuple is significant: {below} only {only}. {are} {'; '.join(named)}."
    return f"No tuple is significant. {are} {'; '.join(named)}."


def _searched(result: Interactions) -> str:
    target = printable(result.record.target or "the outcome")
    beyond = "an effect beyond the sum of the effects of its members"
    tuples = tuples_in_words(result.dimensions)
    if result.first is not None:
        return (
            f"The {result.n_tests:,} listed {tuples} were tested again in new samples, for an interaction on {target}."
        )
    what = f"All {result.n_tests:,} {tuples}" if result.is_exhaustive else f"The {tuples} of relevant variables"
    return f"{what} were tested for an interaction on {target}: {beyond}."


def _strongest(result: Interactions) -> str:
    row = int(np.flatnonzero(result.is_significant)[0])
    n = int(result.is_significant.sum())
    which = "It is" if n == 1 else "The strongest is"
    p = p_text(float(result.tested.p_adjusted[row]))
    words = f"{which} {_named(result.members_of(row))} (adjusted {_P}{p})"
    try:
        cells = _extreme_cells(result, result.counts_of(row))
    except ValueError:  # its cells are not kept
        cells = ""
    return f"{words}. {cells}" if cells else f"{words}."


def _extreme_cells(result: Interactions, counts: TupleCounts) -> str:
    """Say where the class, or the mean, is largest and smallest among the cells of a tuple."""
    values, labels = counts.figure, result.outcome.labels
    if values is None:
        return ""
    known = np.where(counts.sizes > 0, values, np.nan)
    if not np.isfinite(known).any():
        return ""
    top, bottom = (np.unravel_index(int(pick(known)), known.shape) for pick in (np.nanargmax, np.nanargmin))
    return result.words.extremes.format(
        name=printable(labels[1]) if labels else printable(result.record.target or "the outcome"),
        high=float(known[top]),
        low=float(known[bottom]),
        where=_cell(result, counts, top),
        there=_cell(result, counts, bottom),
    )


def _cell(result: Interactions, counts: TupleCounts, index: tuple[np.intp, ...]) -> str:
    """Name a cell: "a ≤ 0.3 and b = 2"."""
    parts = []
    for place, v in enumerate(counts.members.tolist()):
        name, level = printable(result.names[v]), counts.level_names[place][int(index[place])]
        parts.append(f"{name} {level}" if result.cuts_of(v).is_cut and level != "missing" else f"{name} = {level}")
    return " and ".join(parts)


def _often(result: Interactions) -> str:
    """Name a variable that is in most of several tuples: one cause may show in many tuples."""
    rows = np.flatnonzero(result.is_significant).tolist()
    if len(rows) < 3:
        return ""
    often, n = Counter(name for row in rows for name in result.members_of(row)).most_common(1)[0]
    if n < 3 or 2 * n < len(rows):
        return ""
    return f"{printable(often)} is in {n:,} of the {len(rows):,} tuples: one cause may show in many of them."


def _named(members: tuple[str, ...]) -> str:
    return " × ".join(printable(name) for name in members)
