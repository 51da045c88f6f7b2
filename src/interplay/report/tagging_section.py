"""Interactions → the section of the page on tagging: does another column explain a lead, or can it not be told?"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.text import printable
from interplay.statistics.tagging import EFFECT_BELOW, EXPLAINED, HOLDS, LEFT_BELOW

if TYPE_CHECKING:
    from interplay.results.interactions import Interactions

#: Largest number of leads in the table.
_MAX_LEADS = 100

_HEAD = ("lead", "", "by", "p", "p of the column", "p beside it", "neighbours", "reason")
_ON_LEFT = ("lead", "", "by", "reason")


def tagging_section(result: Interactions) -> str:
    """Return the section as HTML; nothing without verdicts."""
    tagged = result.tagged
    if tagged is None or not tagged.verdict:
        return ""
    rows = []
    for lead in tagged.table(result).head(_MAX_LEADS).to_dict("records"):
        badge = "badge" if lead["verdict"] == HOLDS else "badge no"
        numbers = [lead["p_interaction"], lead["p_neighbour"], lead["p_given"]]
        cells = [
            f'<td class="names">{escape(" × ".join(printable(name) for name in lead["members"]))}</td>',
            f'<td><span class="{badge}">{lead["verdict"]}</span></td>',
            f'<td class="names">{escape(", ".join(printable(name) for name in lead["by"]))}</td>',
            *(f'<td class="number">{"–" if np.isnan(p) else f"{p:.2g}"}</td>' for p in numbers),
            f'<td class="number">{lead["n_neighbours"]}</td>',
            f'<td class="names">{escape(lead["reason"])}</td>',
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    more = len(tagged.verdict) - _MAX_LEADS
    rest = f'<p class="note">There are {more:,} more leads.</p>' if more > 0 else ""
    columns = "".join(f'<th scope="col"{"" if name in _ON_LEFT else " class=number"}>{name}</th>' for name in _HEAD)
    return (
        '<section id="tagging" aria-labelledby="tagging-title">\n  <h2 id="tagging-title">Is it real?</h2>\n'
        '  <p class="about">Two columns that tag one cause show an interaction that does not exist. Each lead was '
        "tested again beside the columns near its members. A lead that another column explains is not called an "
        "interaction. Where the members are correlated and no column explains the lead, a hidden cause cannot be told "
        "from an interaction.</p>\n"
        f'<div class="table-frame"><table><thead><tr>{columns}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        f"{rest}\n</section>\n"
    )


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
