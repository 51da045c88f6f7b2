"""Interactions → one self-contained HTML page: the table of tuples, their cells, methods and settings."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.text import printable, tuples_in_words
from interplay.plots.why import share_around
from interplay.report.page import filled_page
from interplay.results.interaction_table import cell_in_words

if TYPE_CHECKING:
    from interplay.codes.tuple_counts import TupleCounts
    from interplay.results.interactions import Interactions

#: Largest number of rows of the table, and of tuples that are shown cell by cell.
_MAX_ROWS = 500
_MAX_TUPLES = 12

#: Shades of a cell, from far below the overall share of a class to far above: a class of the style sheet each.
_N_SHADES = 9

_RIGHT = ' class="number"'

#: Tuples with more cells are not shown cell by cell: nobody would read them.
_MAX_CELLS = 64


def interactions_page(result: Interactions) -> str:
    """Return the whole report as HTML."""
    return filled_page(
        "interactions.html",
        result,
        styles=["report.css", "interactions.css"],
        headline=escape(result.headline()),
        details=escape(result.details()),
        notes="\n".join(f'<p class="note">{escape(note)}</p>' for note in result.notes()),
        table=_table(result),
        tuples="\n".join(_tuple_card(result, row) for row in range(min(len(result), _MAX_TUPLES))),
        methods=escape(methods_words(result)),
    )


def methods_words(result: Interactions) -> str:
    """Return a paragraph for the methods section of a paper."""
    again = result.with_covariates
    if again is None:
        return _search_words(result)
    return (
        f"{_search_words(result)} Significant tuples were tested again with "
        f"{', '.join(printable(name) for name in again.about)} as covariates, by the likelihood ratio of logistic "
        "models with and without the interaction; p-values were adjusted in the same way."
    )


def _search_words(result: Interactions) -> str:
    s = result.settings
    searched = (
        f"The {result.n_tests:,} listed tuples were tested once each in new samples, at the thresholds of the first "
        "samples"
        if result.first is not None
        else f"All {result.n_tests:,} {tuples_in_words(result.dimensions)} of the search were tested"
    )
    model = (
        f"{searched}. Numeric variables were cut at {s['divisions']} threshold{'s' * (s['divisions'] > 1)}. The null "
        "hypothesis of a tuple is the log-linear model that contains all terms of proper subsets of its members; the "
        "test statistic is the likelihood ratio G²"
    )
    if result.is_permuted:
        return (
            f"{model}, ranked by χ² at the effective degrees of freedom. Samples belonged to "
            f"{result.provenance['groups']['n_groups']} groups and are not independent. Therefore p-values come from "
            f"{result.permutations_in_words()}; the search was repeated for each permutation. They were adjusted for "
            f"all {result.n_tests:,} tuples by the single-step minP procedure (Westfall and Young, 1993). The smallest "
            f"possible p-value was {result.provenance['groups']['smallest_p']:.3g}."
        )
    return (
        f"{model}. With two levels and two classes, p-values are exact (Zelen's test). Elsewhere a p-value is the "
        "larger of two: that of χ² at the effective degrees of freedom, and that of a parametric bootstrap (Bartlett's "
        f"correction, 200 tables). p-values were adjusted for {result.n_tests:,} tests ({s['p_adjust']}). Confidence "
        "intervals of log odds ratios are Woolf's, with ½ added to every count."
    )


def _table(result: Interactions) -> str:
    if len(result) == 0:
        return '<p class="about">No tuple is listed.</p>'
    has_odds = bool(np.isfinite(result.tested.log_or).any())
    effect = ["log odds ratio", "95 % interval"] if has_odds else ["largest residual", "where"]
    first = [] if result.first is None else ["p, first", *(["log odds, first"] if has_odds else [])]
    names = ["members", "G²", "df", "p", "p adjusted", "", "method", *effect, *first]
    on_left = ("members", "", "method", "where")
    head = "".join(f'<th scope="col"{_RIGHT * (name not in on_left)}>{escape(name)}</th>' for name in names)
    rows = "\n".join(_row(result, row, has_odds) for row in range(min(len(result), _MAX_ROWS)))
    more = len(result) - _MAX_ROWS
    rest = f'<p class="note">The table of the result has {more:,} more tuples.</p>' if more > 0 else ""
    return f'<div class="table-frame"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{rest}'


def _row(result: Interactions, row: int, has_odds: bool) -> str:
    tested, first = result.tested, result.first
    badge = (
        '<span class="badge">interaction</span>'
        if result.is_significant[row]
        else '<span class="badge no">not significant</span>'
    )
    if has_odds:
        effect = [_number(tested.log_or[row]), f"{_number(tested.ci_low[row])} … {_number(tested.ci_high[row])}"]
    else:
        effect = [_number(tested.residual[row]), cell_in_words(result, row)]
    cells = [
        _td(" × ".join(printable(name) for name in result.members_of(row)), names=True),
        _td(_number(tested.chi2[row])),
        _td(str(tested.df[row])),
        _td(f"{tested.p_value[row]:.2g}"),
        _td(f"{tested.p_adjusted[row]:.2g}"),
        f"<td>{badge}</td>",
        _td(tested.method_names()[row], names=True),
        *(_td(text, names=not has_odds and place > 0) for place, text in enumerate(effect)),
    ]
    if first is not None:
        cells.append(_td(f"{first.p_value[row]:.2g}"))
        if has_odds:
            cells.append(_td(_number(first.log_or[row])))
    return f"<tr>{''.join(cells)}</tr>"


def _tuple_card(result: Interactions, row: int) -> str:
    """Return a figure of the cells of a tuple, with the gains of its members alone and given the others."""
    try:
        counts = result.counts_of(row)
    except ValueError:
        return ""
    if counts.counts[..., 0].size > _MAX_CELLS:
        return ""
    members = [printable(result.names[v]) for v in counts.members.tolist()]
    tested = result.tested
    alone = "; ".join(
        f"{name} {tested.gain_alone[row, place]:.3g} alone, {tested.gain[row, place]:.3g} given the others"
        for place, name in enumerate(members)
    )
    caption = f"<h3>{escape(' × '.join(members))}</h3><p>{escape(f'Gains in bits × samples: {alone}.')}</p>"
    return f'<figure class="card"><figcaption>{caption}</figcaption>{_grid(result, counts, members)}</figure>'


def _grid(result: Interactions, counts: TupleCounts, members: list[str]) -> str:
    """Return the cells as a table: levels of the last member in columns, of all others in rows."""
    labels = result.outcome.labels
    shape = counts.counts.shape[:-1]
    overall = counts.counts.reshape(-1, len(labels)).sum(axis=0)
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in counts.level_names[-1])
    lines = []
    for index in np.ndindex(*shape[:-1]):
        heads = "".join(f'<th scope="row">{escape(counts.level_names[i][level])}</th>' for i, level in enumerate(index))
        cells = "".join(_cell(counts.counts[(*index, last)], overall) for last in range(shape[-1]))
        lines.append(f"<tr>{heads}{cells}</tr>")
    tops = "".join(f'<th scope="col">{escape(name)}</th>' for name in members[:-1])
    what = f"share of {printable(labels[1])}" if len(labels) == 2 else "samples of " + ", ".join(map(printable, labels))
    head = (
        f'<tr>{tops}<th scope="colgroup" colspan="{shape[-1]}">{escape(members[-1])}</th></tr>'
        f"<tr>{'<td></td>' * (len(shape) - 1)}{columns}</tr>"
    )
    return f'<table class="cells"><thead>{head}</thead><tbody>{"".join(lines)}</tbody></table><p>{escape(what)}</p>'


def _cell(counts: IntArray, overall: IntArray) -> str:
    n = int(counts.sum())
    if n == 0:
        return '<td class="none">–</td>'
    if len(counts) == 2:
        share = counts[1] / n
        shade = round((_N_SHADES - 1) * share_around(float(share), float(overall[1] / overall.sum())))
        return f'<td class="shade-{shade}">{share:.0%}<small>n = {n}</small></td>'
    return f"<td>{' / '.join(map(str, counts.tolist()))}<small>n = {n}</small></td>"


def _td(text: str, *, names: bool = False) -> str:
    return f'<td class="{"names" if names else "number"}">{escape(text)}</td>'


def _number(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{value:.3g}"
