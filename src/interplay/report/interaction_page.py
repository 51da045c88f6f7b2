"""Interactions → one self-contained HTML page: the table of tuples, their cells, methods and settings."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.text import printable, tuples_in_words
from interplay.plots.why import share_around
from interplay.report.about import target_of
from interplay.report.clump_section import clumps_section
from interplay.report.interaction_words import summary_sentences
from interplay.report.numbers import counted
from interplay.report.page import embedded_json, filled_page, joined_scripts
from interplay.report.search_words import ADJUSTMENTS
from interplay.report.survival_content import named_curves
from interplay.report.tagging_section import tagging_methods, tagging_section
from interplay.results.interaction_table import cell_in_words
from interplay.results.summary_words import model_in_words
from interplay.statistics.interaction.smooth_test import OTHER_SCALE_SHARE
from interplay.statistics.tagging import EXPLAINED
from interplay.study.outcomes.targets import FEWEST_IN_CELL

if TYPE_CHECKING:
    from interplay.codes.tuple_counts import TupleCounts
    from interplay.results.interactions import Interactions

#: Largest number of rows of the table, and of tuples that are shown cell by cell.
_MAX_ROWS = 500
_MAX_TUPLES = 12

#: Shades of a cell, from far below the overall share of a class to far above: a class of the style sheet each.
_N_SHADES = 9

_RIGHT = ' class="number"'

#: Columns that phones leave out, beside that of the test statistic. The file that is downloaded has all of them.
_EXTRA = ("df", "p", "method", "p robust", "scales")

#: Names of methods in the table, where those of results are short forms.
_METHODS = {"chi2": "χ²", "f": "F", "model": "full model"}

_CONTROLS = (
    '<div class="controls" id="tuple-controls" hidden><label class="search">Search <input type="search" id="search" '
    'autocomplete="off" spellcheck="false" placeholder="name of a member"></label><label class="check"><input '
    'type="checkbox" id="only-significant"> significant only</label><button type="button" id="download-tuples">'
    'Download CSV</button><span id="row-status" role="status" aria-live="polite"></span></div>'
)

#: In this order: a script may use the scripts before it.
_SCRIPTS = ("theme.js", "interactions.js")
_SCRIPTS_OF_TIMES = ("elements.js", "chart.js", "survival.js", "tuple_curves.js")

_ABOUT_CURVES = (
    " Curves are Kaplan and Meier's estimates, not adjusted for covariates, with events and samples of each cell."
)

#: Tuples with more cells are not shown cell by cell: nobody would read them.
_MAX_CELLS = 64

_RESIDUAL = "largest residual, in standard errors"


def interactions_page(result: Interactions) -> str:
    """Return the whole report as HTML."""
    return filled_page(
        "interactions.html",
        result,
        styles=["report.css", "interactions.css"],
        script=joined_scripts([*_SCRIPTS, *(_SCRIPTS_OF_TIMES if result.survival_curves else ())]),
        curves=_curves(result),
        summary="\n".join(f"<p>{escape(sentence)}</p>" for sentence in summary_sentences(result)),
        headline=escape(result.headline()),
        details=escape(result.details()),
        notes="\n".join(f'<p class="note">{escape(note)}</p>' for note in result.notes()),
        clumps=clumps_section(result) + tagging_section(result),
        table=_table(result),
        cells=_cells_section(result),
        cells_link='      <a href="#cells">Cells</a>\n' if len(result) else "",
        methods=escape(methods_words(result)),
        statistic=result.words.symbol,
    )


def _cells_section(result: Interactions) -> str:
    """Return the figures of the first tuples; nothing where no tuple is listed."""
    if len(result) == 0:
        return ""
    about = f"Orange cells have a larger {result.words.cell} than all samples together, blue cells a smaller one."
    if len(result.class_sizes) > 2:
        about = "Cells list the samples of each class, and all samples (n)."
    curves = _ABOUT_CURVES if result.survival_curves else ""
    cards = "\n".join(_tuple_card(result, row) for row in range(min(len(result), _MAX_TUPLES)))
    return (
        '<section id="cells" aria-labelledby="cells-title">\n  <h2 id="cells-title">Cell by cell</h2>\n  '
        f'<p class="about">{about} If '
        f"effects only add up, the {result.words.cell_change} by the same amount in every row.{curves}</p>\n"
        f'  <div class="figures">\n{cards}\n  </div>\n</section>\n'
    )


def methods_words(result: Interactions) -> str:
    """Return a paragraph for the methods section of a paper."""
    return f"{_search_words(result)}{_smooth_words(result)}{tagging_methods(result)}"


def _smooth_words(result: Interactions) -> str:
    if not result.tests_cuts:
        return ""
    n_classes, level = len(result.class_sizes), OTHER_SCALE_SHARE * result.asked.level
    has_other = n_classes == 2 or result.scale == "ranks"
    other = f", and p < {level:g} {result.words.other_link}" if has_other else ""
    return (
        " Significant tuples with numbers that were cut were tested again beside natural cubic splines of these "
        f"numbers (four degrees of freedom each), by nested {result.words.model_of(n_classes)} models; an interaction "
        f"had to be significant there as well{other}."
    )


def _search_words(result: Interactions) -> str:
    s = result.asked
    searched = (
        f"The {result.n_tests:,} listed tuples were tested once each in new samples, at the thresholds of the first "
        "samples"
        if result.first is not None
        else f"All {result.n_tests:,} {tuples_in_words(result.dimensions)} of the search were tested"
    )
    levels = f"Numeric variables were cut at {counted(s.divisions, 'threshold')}. " if result.has_cuts else ""
    cut = f"{searched}. {levels}"
    if result.record.model:
        return f"{cut}{_full_model(result)}"
    said = result.words
    null = said.hypothesis_of_products if result.asked.coding == "dosage" else ""
    scores = said.scale_names.get(result.scale or "")
    model = cut + (null or said.hypothesis).format(scores=scores, fewest=FEWEST_IN_CELL)
    if result.is_permuted:
        return (
            f"{model}, ranked by {said.ranked}. Samples belonged to "
            f"{result.record.groups.n_groups} groups and are not independent. Therefore p-values come from "
            f"{result.permutations_in_words()}; the search was repeated for each permutation. They were adjusted for "
            f"all {result.n_tests:,} tuples by the single-step minP procedure (Westfall and Young, 1993). The smallest "
            f"possible p-value was {result.record.groups.smallest_p:.3g}."
        )
    return f"{model}. {said.p_values.format(adjustment=_adjustment(result))}"


def _adjustment(result: Interactions) -> str:
    method = result.asked.p_adjust
    if method == "none":
        return "p-values were not adjusted."
    return f"p-values were adjusted for {counted(result.n_tests, 'test')} by {ADJUSTMENTS[method]}."


def _full_model(result: Interactions) -> str:
    """Describe the tests with covariates, an offset or times."""
    model = result.record.model
    about = model_in_words(result.record).removesuffix(f" ({model} model)")
    ratio = "F tests of linear models" if model == "linear" else f"likelihood ratios of {model} models"
    method = result.asked.p_adjust
    adjusted = f", adjusted for {counted(result.n_tests, 'test')} by {ADJUSTMENTS[method]}" if method != "none" else ""
    if result.is_permuted:
        ratio = f"{result.permutations_in_words()}, confirmed by {ratio}"
        adjusted = f", adjusted for {counted(result.n_tests, 'test')}"
    return (
        f"Residuals of a {model} model{f' of {about}' if about else ''} were searched, and all tuples whose residuals "
        "might interact were tested by the full model, with and without the interaction, beside effects of all proper "
        f"subsets of the members. p-values are those of {ratio}{adjusted}."
    )


def _table(result: Interactions) -> str:
    if len(result) == 0:
        return _nearest(result)
    has_effect = bool(np.isfinite(result.tested.estimate).any())
    statistic = result.words.symbol
    effect = _effect_names(result, result.words.effect_head or result.effect_in_words)
    first = [] if result.first is None else ["p, first", *([result.words.effect_first] if has_effect else [])]
    beside = ["p robust", "scales"] if _has_tests_beside(result) else []
    names = ["members", statistic, "df", "p", "p adjusted", "verdict", "method", *beside, *effect, *first]
    head = "".join(_th(name, statistic) for name in names)
    rows = "\n".join(_row(result, row, has_effect) for row in range(min(len(result), _MAX_ROWS)))
    more = len(result) - _MAX_ROWS
    rest = f'<p class="note">The table of the result has {more:,} more tuples.</p>' if more > 0 else ""
    return (
        f'{_CONTROLS}<div class="table-frame"><table id="tuple-table"><thead><tr>{head}</tr></thead><tbody>{rows}'
        f'</tbody></table></div><p class="note" id="no-rows" hidden>No tuple has this name.</p>{rest}'
    )


def _th(name: str, statistic: str) -> str:
    """Return the head of a column; phones have no room for some of them."""
    kinds = ["number"] if name not in ("members", "verdict", "method", "where", "scales") else []
    kinds += ["extra"] if name in (statistic, *_EXTRA) else []
    return f'<th scope="col" class="{" ".join(kinds)}">{escape(name)}</th>'


def _nearest(result: Interactions) -> str:
    """Return a table of the smallest p-values, where nothing is significant and nothing else was asked for."""
    nearest = result.smallest
    if nearest is None or not len(nearest):
        return '<p class="about">No tuple is listed.</p>'
    head = "".join(f'<th scope="col"{_RIGHT * (place > 0)}>{name}</th>'
                   for place, name in enumerate(["members", result.words.symbol, "df", "p", "p adjusted"]))  # fmt: skip
    rows = "\n".join(
        "<tr>"
        + _td(" × ".join(printable(name) for name in result.names_of(nearest.tuples[row])), names=True)
        + _td(_number(nearest.statistic[row]))
        + _td(str(nearest.df[row]))
        + _td(f"{nearest.p_value[row]:.2g}")
        + _td(f"{nearest.p_adjusted[row]:.2g}")
        + "</tr>"
        for row in range(len(nearest))
    )
    return (
        '<p class="about">No tuple is significant. The smallest p-values are:</p><div class="table-frame"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _effect_names(result: Interactions, named: str) -> list[str]:
    """Return the names of columns about effects: of whole tuples, or in the cells that depart most."""
    tested = result.tested
    where = ["where"] if np.isfinite(tested.residual).any() else []
    if np.isfinite(tested.estimate).any() or np.isfinite(tested.cell_effect).any():
        return [named, "95 % interval", *where]
    return [_RESIDUAL, *where]


def _effect_of(result: Interactions, row: int) -> list[str]:
    """Return the cells about the effect of a tuple; "–" where there is none."""
    tested, names = result.tested, _effect_names(result, "")
    where = [cell_in_words(result, row) or "–"] if names[-1] == "where" else []
    if names[0] == _RESIDUAL:
        return [_number(tested.residual[row]), *where]
    whole = (tested.estimate[row], tested.ci_low[row], tested.ci_high[row])
    value, low, high = (
        whole
        if np.isfinite(whole[0])
        else (
            tested.cell_effect[row],
            tested.cell_low[row],
            tested.cell_high[row],
        )
    )
    interval = f"{_number(low)} … {_number(high)}" if np.isfinite(low) else "–"
    return [_number(value), interval, *where]


def _has_tests_beside(result: Interactions) -> bool:
    return bool(result.words.shown_beside) and not result.is_permuted


def _beside(result: Interactions, row: int) -> list[str]:
    """Return the cells about other tests of an outcome of numbers."""
    tested = result.tested
    if not _has_tests_beside(result):
        return []
    scales = result.table["scales"][row]
    return [_td(f"{tested.p_robust[row]:.2g}", extra=True), _td(scales or "–", names=True, extra=True)]


def _row(result: Interactions, row: int, has_effect: bool) -> str:
    tested, first = result.tested, result.first
    badge = (
        '<span class="badge">interaction</span>'
        if result.is_significant[row]
        else f'<span class="badge no">{escape(_why_not(result, row))}</span>'
    )
    effect, method = _effect_of(result, row), tested.method_names()[row]
    cells = [
        _td(" × ".join(printable(name) for name in result.members_of(row)), names=True),
        _td(_number(tested.statistic[row]), extra=True),
        _td(str(tested.df[row]), extra=True),
        _td(f"{tested.p_value[row]:.2g}", extra=True),
        _td(f"{tested.p_adjusted[row]:.2g}"),
        f"<td>{badge}</td>",
        _td(_METHODS.get(method, method), names=True, extra=True),
        *_beside(result, row),
        *(_td(text, names=name == "where") for name, text in zip(_effect_names(result, ""), effect, strict=True)),
    ]
    if first is not None:
        cells.append(_td(f"{first.p_value[row]:.2g}"))
        if has_effect:
            cells.append(_td(_number(first.estimate[row])))
    return f'<tr data-significant="{str(bool(result.is_significant[row])).lower()}">{"".join(cells)}</tr>'


def _why_not(result: Interactions, row: int) -> str:
    """Say why a tuple is not called an interaction."""
    judged = None if result.tagged is None else result.tagged.verdict_of(row)
    if judged is not None and judged[0] == EXPLAINED:
        return f"explained by {', '.join(printable(name) for name in judged[1])}"
    of_cutting = result.tested.is_of_cutting(result.asked.level)[row]
    return "effect of cutting" if of_cutting else "not significant"


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
    chart = ""
    if _has_curves(result, row):
        about = f'data-tuple="{row}" data-time="{escape(target_of(result))}"'
        chart = f'<h4>Survival in its cells</h4><div class="chart" {about}></div>'
    return f'<figure class="card"><figcaption>{caption}</figcaption>{_grid(result, counts, members)}{chart}</figure>'


def _has_curves(result: Interactions, row: int) -> bool:
    """Say whether the result holds the survival curves of the tuple in a row."""
    members, d = result.tested.tuples[row], int(result.tested.discretization[row])
    return any(curves.is_of(members, 0, d) for curves in result.survival_curves)


def _curves(result: Interactions) -> str:
    """Return the survival curves of the tuples that are shown, as data of the page; nothing without times."""
    if not result.survival_curves:
        return ""
    found = []
    for row in range(min(len(result), _MAX_TUPLES)):
        has_curves = _has_curves(result, row)
        levels = result.counts_of(row).level_names if has_curves else []
        found.append(named_curves(result.curves_of(row), result.members_of(row), levels) if has_curves else None)
    return f'<script type="application/json" id="curves">{embedded_json(found)}</script>\n'


def _grid(result: Interactions, counts: TupleCounts, members: list[str]) -> str:
    """Return the cells as a table: levels of the last member in columns, of all others in rows."""
    labels = result.outcome.labels
    shape = counts.counts.shape[:-1]
    cell_of = _class_cells(counts, len(labels)) if labels else _mean_cells(counts)
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in counts.level_names[-1])
    lines = []
    for index in np.ndindex(*shape[:-1]):
        heads = "".join(f'<th scope="row">{escape(counts.level_names[i][level])}</th>' for i, level in enumerate(index))
        cells = "".join(cell_of((*index, last)) for last in range(shape[-1]))
        lines.append(f"<tr>{heads}{cells}</tr>")
    tops = "".join(f'<th scope="col">{escape(name)}</th>' for name in members[:-1])
    name = labels[1] if labels else result.record.target or "the outcome"
    what = result.words.cell_caption.format(name=printable(name))
    if len(labels) > 2:
        what = "samples of " + ", ".join(map(printable, labels))
    head = (
        f'<tr>{tops}<th scope="colgroup" colspan="{shape[-1]}">{escape(members[-1])}</th></tr>'
        f"<tr>{'<td></td>' * (len(shape) - 1)}{columns}</tr>"
    )
    grid = f'<table class="cells"><thead>{head}</thead><tbody>{"".join(lines)}</tbody></table>'
    return f'<div class="cells-frame">{grid}</div><p>{escape(what)}</p>'


def _class_cells(counts: TupleCounts, n_classes: int) -> Callable[[tuple[int, ...]], str]:
    overall = counts.counts.reshape(-1, n_classes).sum(axis=0)
    return lambda cell: _cell(counts.counts[cell], overall)


def _mean_cells(counts: TupleCounts) -> Callable[[tuple[int, ...]], str]:
    """Return a function from a cell to its mean and quartiles, shaded by how far the mean is from that of all."""
    numbers = counts.numbers
    assert numbers is not None
    sizes, means = counts.counts[..., 0], numbers[..., 5]
    overall = float(np.nansum(sizes * means) / max(int(sizes.sum()), 1))
    furthest = float(np.nanmax(np.abs(means - overall), initial=0.0)) or 1.0

    def cell_of(cell: tuple[int, ...]) -> str:
        if not sizes[cell]:
            return '<td class="none">–</td>'
        share = 0.5 + 0.5 * (float(means[cell]) - overall) / furthest
        shade = round((_N_SHADES - 1) * share) if np.isfinite(share) else _N_SHADES // 2
        low, high = numbers[cell][1], numbers[cell][3]
        about = f"{_number(low)} to\u00a0{_number(high)}, n\u00a0=\u00a0{int(sizes[cell])}"
        return f'<td class="shade-{shade}">{_number(means[cell])}<small>{about}</small></td>'

    return cell_of


def _cell(counts: IntArray, overall: IntArray) -> str:
    n = int(counts.sum())
    if n == 0:
        return '<td class="none">–</td>'
    if len(counts) == 2:
        share = counts[1] / n
        shade = round((_N_SHADES - 1) * share_around(float(share), float(overall[1] / overall.sum())))
        return f'<td class="shade-{shade}">{share:.0%}<small>n = {n}</small></td>'
    return f"<td>{' / '.join(map(str, counts.tolist()))}<small>n = {n}</small></td>"


def _td(text: str, *, names: bool = False, extra: bool = False) -> str:
    return f'<td class="{"names" if names else "number"}{" extra" * extra}">{escape(text)}</td>'


def _number(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{value:.3g}"
