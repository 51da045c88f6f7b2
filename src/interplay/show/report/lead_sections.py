"""Interactions → sections of the page on leads: clumps of correlated tuples, and columns that explain a lead."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.text import printable
from interplay.infer.tagging import EFFECT_BELOW, EXPLAINED, HOLDS, LEFT_BELOW

if TYPE_CHECKING:
    from interplay.show.results.interactions import Interactions

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
