"""Interactions → the summary of their report: what was searched, what was found, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.text import printable, tuples_in_words
from interplay.infer.tagging import EFFECT_BELOW, EXPLAINED, HOLDS, LEFT_BELOW
from interplay.show.report.about import p_text

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
    if not n_below:
        n_below, only = int(nearest.is_explained(level).sum()), "what the effects of other columns explain"
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


#: Largest number of leads in a table.
_MAX_LEADS = 100

#: Columns of words; those of numbers stand on the right.
_OF_WORDS = ("lead", "span", "", "by", "reason")


def clumps_section(result: Interactions) -> str:
    """Return the section on clumps as HTML; nothing where no significant tuple joins another one."""
    leads = result.leads
    if leads is None or leads.sum() == result.is_significant.sum():
        return ""
    table = result.only_significant().clumps(result.clump_r2)
    span = ["span"] if "span" in table else []
    rows = [
        [
            _names(lead["members"], " × "),
            _number(f"{lead['p_adjusted']:.2g}"),
            _number(lead["size"]),
            _number(lead["n_variables"]),
            *(_names([lead[name]]) for name in span),
        ]
        for lead in table.head(_MAX_LEADS).to_dict("records")
    ]
    about = (
        f"Tuples whose members are correlated (r² ≥ {result.clump_r2:g}) with those of a stronger tuple are one signal "
        "with it. A lead is the strongest tuple of its signal."
    )
    return _section("clumps", "Signals", about, ["lead", "p adjusted", "tuples", "variables", *span], rows, len(table))


def tagging_section(result: Interactions) -> str:
    """Return the section on columns that explain a lead as HTML; nothing without verdicts."""
    tagged = result.tagged
    if tagged is None or not tagged.verdict:
        return ""
    rows = [
        [
            _names(lead["members"], " × "),
            f'<td><span class="badge{" no" * (lead["verdict"] != HOLDS)}">{lead["verdict"]}</span></td>',
            _names(lead["by"], ", "),
            *(
                _number("–" if np.isnan(p) else f"{p:.2g}")
                for p in (lead["p_interaction"], lead["p_neighbour"], lead["p_given"])
            ),
            _number(lead["n_neighbours"]),
            f'<td class="names">{escape(lead["reason"])}</td>',
        ]
        for lead in tagged.table(result).head(_MAX_LEADS).to_dict("records")
    ]
    about = (
        "Two columns that tag one cause show an interaction that does not exist. Each lead was tested again beside the "
        "columns near its members. A lead that another column explains is not called an interaction. Where the members "
        "are correlated and no column explains the lead, a hidden cause cannot be told from an interaction."
    )
    head = ["lead", "", "by", "p", "p of the column", "p beside it", "neighbours", "reason"]
    return _section("tagging", "Is it real?", about, head, rows, len(tagged.verdict))


def tagging_methods(result: Interactions) -> str:
    """Return the sentences for a methods section; nothing without verdicts."""
    tagged = result.tagged
    if tagged is None:
        return ""
    window, dense = tagged.about.get("window"), tagged.about.get("dense")
    near = "the columns most correlated with a member" if window is None else f"columns within {window:g} of a member"
    more = ", also of a denser table" if dense else ""
    models = result.words.model_of(len(result.class_sizes))
    names = [printable(name) for name in tagged.about.get("covariates", [])]
    given = f"{', '.join(names)} and " if names else ""
    return (
        f" Each lead was tested again in {models} models with {given}the effects of {near}{more}, one at a time and "
        f"the strongest jointly. It was {EXPLAINED} by a column with an effect (p < {EFFECT_BELOW:g}, Bonferroni) "
        f"beside which the interaction was not significant (p ≥ {LEFT_BELOW:g})."
    )


def _section(
    name: str, title: str, about: str, head: Sequence[str], rows: Sequence[Collection[str]], n_leads: int
) -> str:
    columns = "".join(f'<th scope="col"{"" if one in _OF_WORDS else " class=number"}>{one}</th>' for one in head)
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    more = n_leads - _MAX_LEADS
    rest = f'<p class="note">There are {more:,} more leads.</p>' if more > 0 else ""
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">\n  <h2 id="{name}-title">{title}</h2>\n'
        f'  <p class="about">{about}</p>\n'
        f'<div class="table-frame"><table><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>'
        f"{rest}\n</section>\n"
    )


def _names(names: Sequence[str], joint: str = "") -> str:
    return f'<td class="names">{escape(joint.join(printable(name) for name in names))}</td>'


def _number(text: object) -> str:
    return f'<td class="number">{text}</td>'
