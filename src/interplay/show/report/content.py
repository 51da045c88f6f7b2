"""Selection → content of the tables and pictures of the report, as plain lists and numbers for JSON.

Variables come in order of significance. Rows and names are referred to by their place in ``names``: first come the
names of the table's rows, then the names of partners that have no row.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from interplay.base.arrays import FloatArray
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.infer.p_values import significance_order
from interplay.infer.verdicts import UNTESTED
from interplay.show.plots.gains import (
    contrast_places,
    genome_places,
    minus_log10,
    p_histogram,
    qq_places,
    shown_places,
    tests_per_allele,
)
from interplay.show.plots.pairs import group_spans, order_in_groups, spring_layout, synergy_network
from interplay.show.plots.style import are_ordered
from interplay.show.report.about import numbers, short, target_of
from interplay.show.report.words import verdict_sentence
from interplay.show.results.selection_summary import cell_of, effect_in_words, size_beside, works_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interplay.infer.effects.variable_effects import VariableEffects
    from interplay.infer.null_fit import NullFit
    from interplay.infer.survival.survival_curves import SurvivalCurves
    from interplay.infer.verdicts import Verdict
    from interplay.show.results.selection import Selection


#: The report holds as many of the most significant variables as fit this many bytes (about 30,000 of short names).
MAX_TABLE_BYTES = 3_000_000
#: The report holds cells of tuples up to this many numbers in total.
MAX_CELL_NUMBERS = 150_000

MAX_CORRELATED = 60
MAX_IN_NETWORK = 60
MAX_CURVE_POINTS = 400
#: Variants that are drawn by their places.
MAX_VARIANTS = 6000
#: Null fits are shown for this many comparisons of classes; many fits share a total number of points.
MAX_FITS = 200
MAX_POINTS_OF_ALL_FITS = 20_000
MAX_NAME_LENGTH = 200
#: All effects are listed for this many variables, up to a number each.
MAX_WITH_EFFECTS, MAX_EFFECTS = 2000, 12


class ReportNames:
    """Names of variables by their place in the report; the name of a partner without a row is added on first use."""

    def __init__(self, selection: Selection, rows: list[int]) -> None:
        self._names = selection.names
        self.shown = [_cut(self._names[v]) for v in rows]
        self._place = {v: place for place, v in enumerate(rows)}

    def place_of(self, variable: int) -> int:
        if variable not in self._place:
            self._place[variable] = len(self.shown)
            self.shown.append(_cut(self._names[variable]))
        return self._place[variable]


def report_content(selection: Selection) -> dict[str, Any]:
    """Gather everything that the scripts of the page need."""
    rows = _rows_that_fit(selection)
    names = ReportNames(selection, rows)
    content = {
        "nVariables": len(selection.names),
        "dimensions": selection.dimensions[-1],
        "comparisons": len(selection.comparisons),
        "level": selection.asked.level,
        "redundancy": None if selection.shortened is None else selection.shortened.threshold,
        "meanOf": selection.words.boxes_in_model if selection.record.model else selection.words.boxes,
        "time": target_of(selection) if selection.has_times else "",
        "adjusted": selection.asked.p_adjust != "none",
        "runs": [
            {
                "decision": _cut(selection.label_of(run)),
                "labels": [_cut(label) for label in run.class_labels],
                "ordered": are_ordered(run.class_labels, kind=selection.asked.decision),
            }
            for run in selection.runs
        ],
        "rows": _table(selection, rows, names),
        "pModel": _p_in_model(selection, rows),
        "tuples": _tuples(selection, names),
        "contrast": _contrast(selection),
        "nullFits": [_null_fit(label, fit, _points_per_fit(selection)) for label, fit in _fits(selection)[:MAX_FITS]],
        "correlation": _correlation(selection, names),
        "groups": _groups(selection, names),
        "network": _network(selection, names),
        "variants": _variants(selection, rows),
    }
    return {"names": names.shown, **content}  # names are complete only now


def _rows_that_fit(selection: Selection) -> list[int]:
    order = significance_order(selection.log_p, np.max([run.gains.gain for run in selection.runs], axis=0))
    relevant = selection.is_relevant[order]
    order = np.concatenate([selection.ranked, order[~relevant]])
    # A row is its name, about six numbers and its partners by number; partners without a row need their names too.
    # Relevant variables have a direction and effects in words beside.
    size_of_name = np.array([len(json.dumps(_cut(name))) for name in selection.names])
    n_partners = selection.dimensions[-1] - 1
    sizes = size_of_name[order] + 90 + 6 * n_partners + 200 * selection.is_relevant[order]
    if sizes.sum() > MAX_TABLE_BYTES:
        sizes = sizes + n_partners * int(size_of_name.mean())
    n_rows = int(np.searchsorted(np.cumsum(sizes), MAX_TABLE_BYTES, side="right"))
    rows: list[int] = order[: max(n_rows, 1)].tolist()
    return rows


def _table(selection: Selection, rows: list[int], names: ReportNames) -> dict[str, Any]:
    table = selection.table.iloc[rows]
    best = selection.best_run[rows]
    partners = [[names.place_of(u) for u in selection.best_tuple(v).tolist() if u != v] for v in rows]
    verdicts = [selection.verdicts[v] for v in rows]
    # Verdicts are shown for relevant variables with partners only.
    has_verdict = [selection.is_relevant[v] and len(mates) > 0 for v, mates in zip(rows, partners, strict=True)]
    cautions, labels = selection.cautions, selection.record.labels
    return {
        **({"caution": [cautions.get(selection.names[v], "") for v in rows]} if cautions else {}),
        **({"label": [_cut(labels.get(selection.names[v], "")) for v in rows]} if labels else {}),
        "number": rows,
        "gain": numbers(table["gain"]),
        "log10p": numbers(selection.log_p[rows] / math.log(10)),
        "pAdjusted": numbers(table["p_adjusted"]),
        "relevant": table["relevant"].astype(int).tolist(),
        "partners": partners,
        "worksWith": [works_with(selection, v) if selection.is_relevant[v] else "" for v in rows],
        "alone": numbers(table["gain_alone"]),
        "discretization": table["discretization"].tolist(),
        "run": best.tolist(),
        "verdict": [one.verdict if tells else "" for tells, one in zip(has_verdict, verdicts, strict=True)],
        "among": [
            int(bool(tells and one.members) and v not in one.members)
            for tells, one, v in zip(has_verdict, verdicts, rows, strict=True)
        ],
        "pInteraction": numbers([one.p_adjusted for one in verdicts]),
        "said": [
            verdict_sentence(one, _part(selection, one, len(mates) + 1), cell_of(selection, v)) if tells else ""
            for tells, one, mates, v in zip(has_verdict, verdicts, partners, rows, strict=True)
        ],
        **({"found": table["found"].to_list()} if selection.tests else {}),
        **({"stability": numbers(table["stability"], 3)} if selection.stability is not None else {}),
        **(
            {"listed": table["short_list"].astype(int).tolist()}
            if len(selection.ranked) > 1 and selection.short_list
            else {}
        ),
        **({} if selection.effects is None else _effects(selection, selection.effects, rows)),
    }


def _effects(selection: Selection, effects: VariableEffects, rows: list[int]) -> dict[str, Any]:
    """Return direction and size of the main effect of each row, and all its effects in words."""
    columns = effects.columns(len(selection.names))
    places: dict[int, list[int]] = {}
    for place, v in enumerate(effects.variable.tolist()):
        places.setdefault(v, []).append(place)
    in_words = {
        v: [effect_in_words(effects, place) for place in places[v][:MAX_EFFECTS]]
        for v in rows[:MAX_WITH_EFFECTS]
        if v in places
    }
    return {
        "direction": [columns["direction"][v] for v in rows],
        "size": [size_beside(effects, effects.main_of(v)) for v in rows],
        "effect": numbers(columns["effect"][rows], 5),
        "effectLow": numbers(columns["effect_low"][rows], 5),
        "effectHigh": numbers(columns["effect_high"][rows], 5),
        "effectKind": [columns["effect_kind"][v] for v in rows],
        "effects": [[text for text in in_words.get(v, []) if text] for v in rows],
    }


def _part(selection: Selection, verdict: Verdict, n_members: int) -> list[str]:
    """Name the members that interact, if only some members do."""
    return [selection.names[v] for v in verdict.members] if len(verdict.members) < n_members else []


def _tuples(selection: Selection, names: ReportNames) -> list[dict[str, Any]]:
    found, total = [], 0
    for counts in selection.tuple_counts:
        total += sum(array.size for array in counts.arrays.values())
        if total > MAX_CELL_NUMBERS:
            break
        found.append({
            "members": [names.place_of(v) for v in counts.members.tolist()],
            "run": counts.run,
            "discretization": counts.discretization,
            "levels": [[_cut(level, 40) for level in levels] for levels in counts.level_names],
            **{name: _short(array) for name, array in counts.arrays.items()},
            **_curves(selection, counts),
        })  # fmt: skip
    return found


def _short(array: npt.NDArray[Any]) -> list[Any]:
    """Return whole numbers as they are, and others rounded."""
    return array.ravel().tolist() if array.dtype.kind == "i" else numbers(array, 5)


def _curves(selection: Selection, counts: TupleCounts) -> dict[str, Any]:
    """Return the survival curves of the cells of a tuple, if the result has them."""
    for curves in selection.survival_curves:
        if curves.is_of(counts.members, counts.run, counts.discretization):
            return {"curves": curves_content(curves)}
    return {}


def _p_in_model(selection: Selection, rows: list[int]) -> list[float | None] | None:
    """Return the p-values of the full model, None where a variable was not tested; None without a model."""
    if selection.in_model is None:
        return None
    return numbers(selection.in_model.columns(len(selection.names))["p_model"][rows])


def _contrast(selection: Selection) -> dict[str, Any]:
    # Gains of tuples of different sizes are not comparable: gains of the largest tuples are drawn.
    runs = [run for run in selection.runs if run.dimensions == selection.dimensions[-1]]
    gain = np.sort(np.concatenate([run.gains.contrast_gain for run in runs]))[::-1]
    gain = gain[np.isfinite(gain)]
    chosen = _thinned(len(gain))
    return {"rank": numbers(contrast_places(len(gain), len(selection.names))[chosen], 5), "gain": numbers(gain[chosen])}


def _points_per_fit(selection: Selection) -> int:
    return min(MAX_CURVE_POINTS, MAX_POINTS_OF_ALL_FITS // min(len(_fits(selection)), MAX_FITS))


def _fits(selection: Selection) -> list[tuple[str, NullFit]]:
    """Return the null fits with their labels: a comparison of classes, a test, or both."""
    if not selection.tests:
        return [(run.decision, run.null_fit) for run in selection.runs]
    several = len(selection.comparisons) > 1
    return [
        (f"{test.name}, {decision}" if several else test.name, fit)
        for test in selection.tests
        for decision, fit in zip(selection.comparisons, test.null_fits, strict=False)
    ]


def _null_fit(label: str, fit: NullFit, n_points: int) -> dict[str, Any]:
    expected, observed, low, high = fit.qq_points()
    # Small p-values are few and matter most: all of them are kept, larger ones are thinned out.
    chosen = _thinned(len(expected), n_points)
    return {
        "decision": _cut(label),
        "words": fit.summary(),
        "drawn": not fit.is_exact,
        "reference": "contrast variables" if fit.n_contrast else "irrelevant variables",
        "fit": fit.label,
        "qq": {
            "expected": numbers(expected[chosen], 5),
            "observed": numbers(np.maximum(observed[chosen], 1e-300), 5),
            "low": numbers(low[chosen], 5),
            "high": numbers(high[chosen], 5),
        },
        "histogram": {
            "reference": numbers(p_histogram(fit.reference_p)[1], 5),
            "all": numbers(p_histogram(fit.p_values())[1], 5),
        },
    }


def _correlation(selection: Selection, names: ReportNames) -> dict[str, Any]:
    n = min(len(selection.correlation), MAX_CORRELATED)
    correlation = selection.correlation[:n, :n]
    groups = selection.redundant_groups
    order = order_in_groups(correlation, selection.relevant[:n], groups)
    variables = selection.ranked[:n][order].tolist()
    return {
        "rows": [names.place_of(v) for v in variables],
        "r": numbers(correlation[np.ix_(order, order)], 3),
        "spans": group_spans([selection.names[v] for v in variables], groups),
        "nRelevant": len(selection.ranked),
    }


def _groups(selection: Selection, names: ReportNames) -> list[list[int]]:
    """Return the groups of two or more redundant variables."""
    number_of = dict(zip(selection.relevant, selection.ranked.tolist(), strict=True))
    groups = selection.redundant_groups
    return [[names.place_of(number_of[name]) for name in group] for group in groups if len(group) > 1]


def _network(selection: Selection, names: ReportNames) -> dict[str, Any]:
    nodes, edges, weight, interacts = synergy_network(selection, MAX_IN_NETWORK)
    verdicts = selection.verdicts
    place: FloatArray = spring_layout(len(nodes), edges) if len(edges) else np.empty((0, 2))
    return {
        "nodes": [names.place_of(v) for v in nodes.tolist()] if len(edges) else [],
        "relevant": selection.is_relevant[nodes].astype(int).tolist(),
        "x": numbers(place[:, 0], 4),
        "y": numbers(place[:, 1], 4),
        "edges": edges.tolist(),
        "weight": numbers(weight, 5),
        "interacts": interacts.astype(int).tolist(),
        "tested": int(not len(edges) or any(verdicts[v].verdict != UNTESTED for v in selection.ranked.tolist())),
        "nDrawn": min(len(selection.ranked), MAX_IN_NETWORK),
        "nRelevant": len(selection.ranked),
    }


def _variants(selection: Selection, rows: list[int]) -> dict[str, Any] | None:
    """Return the variants by their places, and the Q–Q plot of their tests per allele; None without variants."""
    variants = selection.variants
    if variants is None:
        return None
    chosen = shown_places(selection.log_p, selection.is_relevant, MAX_VARIANTS)
    genome = genome_places(variants.chromosome, variants.position)
    row_of = {v: row for row, v in enumerate(rows)}
    log_p = np.sort(tests_per_allele(selection))
    kept = _thinned(len(log_p))
    expected, low, high = (minus_log10(np.log(p[kept])) for p in qq_places(len(log_p)))
    inflation = variants.inflation
    told = "" if math.isnan(inflation) else f" λ = {inflation:.3f}: the median χ² over that of tests without effects."
    return {
        "place": numbers(genome.place[chosen], 5),
        "height": numbers(minus_log10(selection.log_p[chosen]), 4),
        "relevant": selection.is_relevant[chosen].astype(int).tolist(),
        "odd": (genome.number[chosen] % 2).tolist(),
        "row": [row_of.get(v, -1) for v in chosen],
        "chromosomes": [[_cut(name, 12), middle] for name, middle in zip(genome.names, genome.middle, strict=True)],
        "threshold": -math.log10(selection.asked.level / len(selection.names)),
        "words": f"Points above the band have smaller p-values than chance gives.{told}",
        "qq": {
            "expected": numbers(expected, 5),
            "observed": numbers(minus_log10(log_p[kept]), 5),
            "low": numbers(low, 5),
            "high": numbers(high, 5),
        },
    }


def _thinned(n: int, n_points: int = MAX_CURVE_POINTS) -> npt.NDArray[np.intp]:
    """Choose places of a long sorted list: all of the first ones, and fewer and fewer of the later ones."""
    if n <= n_points:
        return np.arange(n)
    return np.unique(np.geomspace(1, n, n_points).round().astype(np.intp)) - 1


def _cut(name: str, length: int = MAX_NAME_LENGTH) -> str:
    return name if len(name) <= length else name[: length - 1] + "…"


def curves_content(curves: SurvivalCurves) -> list[dict[str, Any]]:
    """Return one entry for each cell that has samples."""
    return [
        {
            "cell": int(curves.cell[i]),
            "n": int(curves.n_samples[i]),
            "events": int(curves.n_events[i]),
            "time": numbers(curves.time[start:end], 5),
            "survival": numbers(curves.survival[start:end], 5),
            "low": numbers(curves.low[start:end], 3),
            "high": numbers(curves.high[start:end], 3),
        }
        for i, (start, end) in enumerate(pairwise(curves.start.tolist()))
    ]


def named_curves(
    curves: SurvivalCurves, names: Sequence[str], level_names: Sequence[Sequence[str]]
) -> list[dict[str, Any]]:
    """Return the same with the levels of the members in words, for pages that do not have the cells beside."""
    shape = tuple(len(levels) for levels in level_names)

    def where(cell: int) -> str:
        places = zip(names, level_names, np.unravel_index(cell, shape), strict=True)
        return ", ".join(f"{short(name, 24)} {short(levels[int(place)], 16)}" for name, levels, place in places)

    return [one | {"where": where(one["cell"])} for one in curves_content(curves)]
