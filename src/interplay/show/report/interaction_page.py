"""Interactions → one self-contained HTML page: the table of tuples, their cells, methods and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from interplay.base.arrays import IntArray
from interplay.base.text import printable, tuples_in_words
from interplay.data.study.outcomes.targets import FEWEST_IN_CELL
from interplay.data.study.outcomes.words import tests_in_words
from interplay.infer.interaction.beside_test import OTHER_SCALE_SHARE
from interplay.infer.p_values import ADJUSTMENTS
from interplay.infer.tagging import EXPLAINED
from interplay.show.plots.why import share_around
from interplay.show.report.about import counted, target_of
from interplay.show.report.content import named_curves
from interplay.show.report.interaction_words import clumps_section, summary_sentences, tagging_methods, tagging_section
from interplay.show.report.page import embedded_json, filled_page, joined_scripts
from interplay.show.results.interaction_table import cell_in_words
from interplay.show.results.summary_words import model_in_words

if TYPE_CHECKING:
    from interplay.data.codes.tuple_counts import TupleCounts
    from interplay.infer.interaction.tuple_tests import TupleTests
    from interplay.show.results.interactions import Interactions

#: Largest number of rows of the table, and of tuples that are shown cell by cell.
_MAX_ROWS = 500
_MAX_TUPLES = 12

#: Shades of a cell, from far below the overall share of a class to far above: a class of the style sheet each.
_N_SHADES = 9

_RIGHT = ' class="number"'

#: Columns that phones leave out, beside that of the test statistic. The file that is downloaded has all of them.
_EXTRA = ("df", "p", "method", "p robust", "scales")

#: Columns of words; those of numbers stand on the right.
_OF_WORDS = ("members", "method", "where", "scales")

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
    return f"{_search_words(result)}{_product_words(result)}{_smooth_words(result)}{tagging_methods(result)}"


def _product_words(result: Interactions) -> str:
    if result.tested.way is None:
        return ""
    is_auto = result.asked.coding == "auto"
    also, least, shapes = "", "", ""
    if is_auto:
        also, least = " also", " The p-value of a tuple is the smallest one of all its tests, times their number."
    if is_auto and result.dimensions == 2 and result.has_cuts:
        shapes = (
            " Pairs with a number were tested by their shape as well: the same product, and the products of the "
            "distance of one member from its median (absolute normal scores) and the score of the other, up to three "
            "degrees of freedom."
        )
    scales = f" and {result.words.other_link}" if result.words.other_link else ""
    model = result.words.model_of(len(result.class_sizes))
    return (
        f" Tuples were{also} tested, without cutting, by the product of their members' scores (ranks of "
        "numbers, values of columns with few values) beside splines of the normal scores of each member, or an "
        f"effect of each of few values, by nested {model} models with one degree of freedom.{shapes}{least} It had to "
        f"hold beside longer splines, squares, cubes and the values of the members, too{scales}."
    )


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
    return f"p-values were adjusted for {counted(result.n_tests, 'test')} by {ADJUSTMENTS[method].words}."


def _full_model(result: Interactions) -> str:
    """Describe the tests with covariates, an offset or times."""
    model = result.record.model
    about = model_in_words(result.record).removesuffix(f" ({model} model)")
    ratio = tests_in_words(model)[1]
    method = result.asked.p_adjust
    adjusted = (
        f", adjusted for {counted(result.n_tests, 'test')} by {ADJUSTMENTS[method].words}" if method != "none" else ""
    )
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
    columns, symbol = _columns(result), result.words.symbol
    head = "".join(_th(name, symbol) for name in columns)
    rows = "\n".join(
        f'<tr data-significant="{str(bool(is_one)).lower()}">'
        + "".join(f"<td>{cell}</td>" if name == "verdict" else _td(cell, name, symbol) for name, cell in row)
        + "</tr>"
        for is_one, row in zip(result.is_significant, _rows(columns), strict=False)
    )
    more = len(result) - _MAX_ROWS
    rest = f'<p class="note">The table of the result has {more:,} more tuples.</p>' if more > 0 else ""
    return (
        f'{_CONTROLS}<div class="table-frame"><table id="tuple-table"><thead><tr>{head}</tr></thead><tbody>{rows}'
        f'</tbody></table></div><p class="note" id="no-rows" hidden>No tuple has this name.</p>{rest}'
    )


def _columns(result: Interactions) -> dict[str, list[str]]:
    """Return the columns of the table by their heads: texts, and of verdicts HTML."""
    n, tested, first, said = min(len(result), _MAX_ROWS), result.tested, result.first, result.words
    columns = _tests(result, tested, n)
    columns["verdict"] = [
        '<span class="badge">interaction</span>'
        if result.is_significant[row]
        else f'<span class="badge no">{escape(_why_not(result, row))}</span>'
        for row in range(n)
    ]
    columns["method"] = [_METHODS.get(name, name) for name in tested.method_names()[:n]]
    if said.shown_beside and not result.is_permuted:
        columns["p robust"] = [f"{p:.2g}" for p in tested.p_robust[:n]]
        columns["scales"] = [word or "–" for word in result.table["scales"][:n]]
    columns |= _effects(result, n)
    if first is not None:
        columns["p, first"] = [f"{p:.2g}" for p in first.p_value[:n]]
        if np.isfinite(tested.estimate).any():
            columns[said.effect_first] = [_number(value) for value in first.estimate[:n]]
    return columns


def _tests(result: Interactions, tested: TupleTests, n: int) -> dict[str, list[str]]:
    """Return the columns about the first `n` tests."""
    return {
        "members": [" × ".join(printable(name) for name in result.names_of(members)) for members in tested.tuples[:n]],
        result.words.symbol: [_number(value) for value in tested.statistic[:n]],
        "df": [str(value) for value in tested.df[:n]],
        "p": [f"{p:.2g}" for p in tested.p_value[:n]],
        "p adjusted": [f"{p:.2g}" for p in tested.p_adjusted[:n]],
    }


def _effects(result: Interactions, n: int) -> dict[str, list[str]]:
    """Return the columns about effects: of whole tuples, or in the cells that depart most; "–" where there is none."""
    tested = result.tested
    where = [cell_in_words(result, row) or "–" for row in range(n)]
    of_cells = {"where": where} if np.isfinite(tested.residual).any() else {}
    if not (np.isfinite(tested.estimate).any() or np.isfinite(tested.cell_effect).any()):
        return {"largest residual, in standard errors": [_number(value) for value in tested.residual[:n]], **of_cells}
    is_whole = np.isfinite(tested.estimate)
    value = np.where(is_whole, tested.estimate, tested.cell_effect)[:n]
    low = np.where(is_whole, tested.ci_low, tested.cell_low)[:n]
    high = np.where(is_whole, tested.ci_high, tested.cell_high)[:n]
    return {
        result.words.effect_head or result.effect_in_words: [_number(one) for one in value],
        "95 % interval": [
            f"{_number(one)} … {_number(other)}" if np.isfinite(one) else "–"
            for one, other in zip(low, high, strict=True)
        ],
        **of_cells,
    }


def _rows(columns: dict[str, list[str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield the cells of each row, with the heads of their columns."""
    for cells in zip(*columns.values(), strict=True):
        yield list(zip(columns, cells, strict=True))


def _th(name: str, symbol: str) -> str:
    """Return the head of a column; phones have no room for some of them."""
    kinds = ["number"] if name not in (*_OF_WORDS, "verdict") else []
    kinds += ["extra"] if name in (symbol, *_EXTRA) else []
    return f'<th scope="col" class="{" ".join(kinds)}">{escape(name)}</th>'


def _td(text: str, name: str = "", symbol: str = "") -> str:
    extra = " extra" * (bool(name) and name in (symbol, *_EXTRA))
    return f'<td class="{"names" if name in _OF_WORDS else "number"}{extra}">{escape(text)}</td>'


def _nearest(result: Interactions) -> str:
    """Return a table of the smallest p-values, where nothing is significant and nothing else was asked for."""
    nearest = result.smallest
    if nearest is None or not len(nearest):
        return '<p class="about">No tuple is listed.</p>'
    columns = _tests(result, nearest, len(nearest))
    head = "".join(f'<th scope="col"{_RIGHT * (name != "members")}>{name}</th>' for name in columns)
    rows = "\n".join(
        f"<tr>{''.join(_td(cell, 'members' if name == 'members' else '') for name, cell in row)}</tr>"
        for row in _rows(columns)
    )
    return (
        '<p class="about">No tuple is significant. The smallest p-values are:</p><div class="table-frame"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _why_not(result: Interactions, row: int) -> str:
    """Say why a tuple is not called an interaction."""
    judged = None if result.tagged is None else result.tagged.verdict_of(row)
    if judged is not None and judged[0] == EXPLAINED:
        return f"explained by {', '.join(printable(name) for name in judged[1])}"
    if result.tested.is_of_cutting(result.asked.level)[row]:
        return "effect of cutting"
    if result.is_explained[row]:
        by = result.tested.explained_by[row]
        return f"explained by {', '.join(printable(name) for name in result.names_of(by))}"
    return "of unequal spread" if result.tested.is_of_spread(result.asked.level)[row] else "not significant"


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
    numbers = np.asarray(counts.numbers)
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


def _number(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{value:.3g}"
