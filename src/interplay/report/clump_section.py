"""Interactions → the section of the page on clumps: tuples with correlated members as one signal each."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from interplay.base.text import printable

if TYPE_CHECKING:
    from interplay.results.interactions import Interactions

#: Largest number of leads in the table.
_MAX_LEADS = 100


def clumps_section(result: Interactions) -> str:
    """Return the section as HTML; nothing where no significant tuple joins another one."""
    leads = result.leads
    if leads is None or leads.sum() == result.is_significant.sum():
        return ""
    table = result.only_significant().clumps(result.clump_r2)
    has_span = "span" in table
    head = ["lead", "p adjusted", "tuples", "variables", *(["span"] if has_span else [])]
    rows = []
    for lead in table.head(_MAX_LEADS).to_dict("records"):
        cells = [
            f'<td class="names">{escape(" × ".join(printable(name) for name in lead["members"]))}</td>',
            f'<td class="number">{lead["p_adjusted"]:.2g}</td>',
            f'<td class="number">{lead["size"]}</td>',
            f'<td class="number">{lead["n_variables"]}</td>',
            *([f'<td class="names">{escape(printable(lead["span"]))}</td>'] if has_span else []),
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    more = len(table) - _MAX_LEADS
    rest = f'<p class="note">There are {more:,} more leads.</p>' if more > 0 else ""
    columns = "".join(
        f'<th scope="col"{"" if name in ("lead", "span") else " class=number"}>{name}</th>' for name in head
    )
    return (
        '<section id="clumps" aria-labelledby="clumps-title">\n  <h2 id="clumps-title">Signals</h2>\n'
        f'  <p class="about">Tuples whose members are correlated (r² ≥ {result.clump_r2:g}) with those of a stronger '
        "tuple are one signal with it. A lead is the strongest tuple of its signal.</p>\n"
        f'<div class="table-frame"><table><thead><tr>{columns}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
        f"{rest}\n</section>\n"
    )
