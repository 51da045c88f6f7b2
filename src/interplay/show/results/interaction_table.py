"""Tested tuples → columns with names, a graph."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import check_choice, check_flag, check_int, needing
from interplay.data.codes.cuts import VariableCuts, number_text
from interplay.data.codes.tuple_counts import TupleCounts
from interplay.infer.interaction.tuple_tests import WAYS, TupleTests

if TYPE_CHECKING:
    import networkx as nx

    from interplay.show.results.interactions import Interactions


def interaction_columns(result: Interactions) -> dict[str, Any]:
    """Return the columns of `Interactions.table`."""
    tested, words = result.tested, result.words
    rows = range(len(tested))
    of_pairs = words.of_pairs if any(np.isfinite(getattr(tested, name)).any() for name in words.of_pairs[:1]) else ()
    columns: dict[str, Any] = {
        "members": [result.members_of(row) for row in rows],
        words.statistic: tested.statistic,
        "df": tested.df,
        **({} if tested.df_residual is None else {"df_residual": tested.df_residual}),
        **({} if tested.way is None else {"found": ways_in_words(result)}),
        "p_value": tested.p_value,
        "p_adjusted": tested.p_adjusted,
        **_smooth_columns(result),
        **_beside_columns(result),
        "significant": result.is_significant,
        "method": tested.method_names(),
        # From permutations, columns that take samples as independent are left out.
        **_named(result, words.beside_permuted if result.is_permuted else words.beside),
        words.effect: tested.estimate,
        "ci_low": tested.ci_low,
        "ci_high": tested.ci_high,
        **_named(result, (*of_pairs, *words.more)),
        "residual": tested.residual,
        "cell": [cell_in_words(result, row) for row in rows],
        **_cell_effects(tested),
        "n_samples": tested.n_samples,
        **_verdicts(result),
    }
    of_members = {"gain": tested.gain, "alone": tested.gain_alone, words.effect: tested.estimate_alone}
    for name, values in of_members.items():
        columns |= {f"{name}_{place + 1}": values[:, place] for place in range(result.dimensions)}
    if result.asked.discretizations > 1:
        columns["discretization"] = tested.discretization
    if result.variants is not None:
        columns |= tested.strengths()
        for place, members in enumerate(tested.tuples.T, start=1):
            columns |= result.variants.columns(members, suffix=f"_{place}", beside=False)
    return columns


def ways_in_words(result: Interactions) -> list[str]:
    """Say how each tuple was found: a name of `WAYS`, or "dosage" of a product of values of few levels."""
    tested = result.tested
    are_cut = [any(result.cuts_of(v).is_cut for v in members) for members in tested.tuples.tolist()]
    ways = ["levels"] * len(tested) if tested.way is None else [WAYS[way] for way in tested.way.tolist()]
    return ["dosage" if way == "product" and not is_cut else way for way, is_cut in zip(ways, are_cut, strict=True)]


def _named(result: Interactions, names: Sequence[str]) -> dict[str, Any]:
    """Return columns that some kinds of outcomes have."""
    tested, level = result.tested, result.asked.level
    made: dict[str, Any] = {"effect_sd": tested.estimate_sd}
    if "holds_robust" in names:
        made["holds_robust"] = tested.holds_robust(level)
    if "scales" in names:
        made["scales"] = tested.scales(level, result.scale)
    return {name: made[name] if name in made else getattr(tested, name) for name in names}


def _cell_effects(tested: TupleTests) -> dict[str, Any]:
    """Return the effects in the cells that depart most, where members or the outcome have more than two levels."""
    if not np.isfinite(tested.residual).any() or not tested.words.has_cell_effects:
        return {}
    return {"cell_effect": tested.cell_effect, "cell_low": tested.cell_low, "cell_high": tested.cell_high}


def _verdicts(result: Interactions) -> dict[str, Any]:
    """Return the verdicts of tagging on tuples, or on the leads that they join; none on tuples without a lead."""
    if result.tagged is None:
        was_tested = not np.isnan(result.tested.beside_log_p).all() or result.is_explained.any()
        return {"explained_by": _explained_by(result)} if was_tested else {}
    found = [result.tagged.verdict_of(row) or (None, []) for row in range(len(result))]
    explained = [tuple(by) or beside for (_, by), beside in zip(found, _explained_by(result), strict=True)]
    return {"verdict": [verdict for verdict, _ in found], "explained_by": explained}


def _explained_by(result: Interactions) -> list[tuple[str, ...]]:
    """Return the columns of the table whose effects explain each tuple."""
    tested = result.tested if result.first is None else result.first
    return [
        result.names_of(by) if is_explained else ()
        for by, is_explained in zip(tested.explained_by, result.is_explained.tolist(), strict=True)
    ]


def _beside_columns(result: Interactions) -> dict[str, Any]:
    """Return the tests beside the effects of other columns, where there are any."""
    tested = result.tested
    if np.isnan(tested.beside_log_p).all():
        return {}
    return {"p_beside": tested.p_beside, "p_beside_adjusted": tested.beside_adjusted}


def _smooth_columns(result: Interactions) -> dict[str, Any]:
    """Return the tests beside smooth effects, where numbers were cut."""
    tested = result.tested
    if not (result.tests_cuts or result.tested.are_products.any()):
        return {}
    return {
        "p_smooth": tested.p_smooth,
        "p_smooth_adjusted": tested.smooth_adjusted,
        "holds_smooth": tested.smooth_adjusted < result.asked.level,
    }


def first_columns(result: Interactions) -> dict[str, Any]:
    """Return the columns of a replication about the samples in which the tuples were found."""
    first, tested = result.first, result.tested
    assert first is not None
    said = {"statistic": first.words.statistic, "estimate": first.words.effect}
    names = ("statistic", "p_value", "p_adjusted", "estimate", "ci_low", "ci_high")
    columns = {f"first_{said.get(name, name)}": getattr(first, name) for name in names}
    return columns | {"same_direction": _same_direction(first, tested)}


def cell_in_words(result: Interactions, row: int) -> str:
    """Name the cell, and the class, of a tuple's largest residual: "a ≤ 0.3, b = 2: ill"; "" if it has no residual."""
    tested = result.tested
    if np.isnan(tested.residual[row]):
        return ""
    parts = levels_in_words(
        result.names,
        [result.cuts_of(v) for v in tested.tuples[row].tolist()],
        tested.residual_cell[row].tolist(),
        int(tested.discretization[row]),
    )
    strata = list(result.record.strata)
    if strata:
        parts.append(f"stratum {strata[tested.residual_stratum[row]]}")
    where = ", ".join(parts)
    if tested.residual_class is None:
        return where
    return f"{where}: {result.outcome.labels[tested.residual_class[row]]}"


def levels_in_words(
    names: Sequence[str], cuts: Sequence[VariableCuts], levels: Sequence[int], discretization: int
) -> list[str]:
    """Name the levels of some variables: "a ≤ 0.3", "b = 2"."""
    parts = []
    for of_variable, level in zip(cuts, levels, strict=True):
        level_name, name = of_variable.level_names(discretization)[level], names[of_variable.variable]
        is_range = of_variable.is_cut and level_name != "missing"
        parts.append(f"{name} {level_name}" if is_range else f"{name} = {level_name}")
    return parts


def interval_in_words(value: float, low: float, high: float) -> str:
    """Return an effect with its interval: "1.21 (0.6 to 1.82)"; "" where it is not known.

    Examples
    --------
    >>> interval_in_words(1.2112, 0.6, 1.8223)
    '1.21 (0.6 to 1.82)'
    """
    if not np.isfinite(value):
        return ""
    return f"{value:.3g} ({low:.3g} to {high:.3g})" if np.isfinite(low) else f"{value:.3g}"


def effects_as_text(result: Interactions, row: int) -> str:
    """Return the effect of a tuple: of the whole, or in the cell that departs most from separate effects."""
    tested = result.tested
    whole = interval_in_words(tested.estimate[row], tested.ci_low[row], tested.ci_high[row])
    return whole or interval_in_words(tested.cell_effect[row], tested.cell_low[row], tested.cell_high[row])


def interaction_graph(result: Interactions, *, only_significant: bool, only_leads: bool = False) -> nx.Graph:
    """See `Interactions.graph`."""
    with needing("networkx", "graph", "the graph needs"):
        import networkx as nx

    check_flag("only_significant", only_significant)
    check_flag("only_leads", only_leads)
    graph = nx.Graph()
    tested = result.tested
    leads = result.leads
    rows = np.flatnonzero(result.is_significant) if only_significant else np.arange(len(tested))
    if only_leads and leads is not None:
        rows = np.flatnonzero(leads)
    for row in rows.tolist():  # smallest p-value first: its edge stays
        members = result.members_of(row)
        about = {
            "members": members,
            "weight": float(tested.statistic[row]),
            "p_value": float(tested.p_value[row]),
            "p_adjusted": float(tested.p_adjusted[row]),
            tested.words.effect: float(tested.estimate[row]),
        } | ({} if leads is None else {"lead": bool(leads[row])})
        for one, other in combinations(members, 2):
            if not graph.has_edge(one, other):
                graph.add_edge(one, other, **about)
    return graph


def _same_direction(first: TupleTests, tested: TupleTests) -> list[bool | None]:
    """Say of each tuple whether its effects, or else its residuals in one cell, have the same sign; or None."""
    by_effect = np.sign(first.estimate) * np.sign(tested.estimate)
    product = np.where(np.isfinite(by_effect), by_effect, np.sign(first.residual) * np.sign(tested.residual))
    return [bool(value > 0) if np.isfinite(value) else None for value in product]


RULE_FORMS = ("text", "sql")

#: Programs whose lists can be written.
TERM_FORMS = ("ebm", "lightgbm", "xgboost", "names")


def interaction_rules(result: Interactions, form: str, *, row: int | None, only_significant: bool) -> list[str]:
    """See `Interactions.rules`."""
    check_choice("form", form, RULE_FORMS)
    check_flag("only_significant", only_significant)
    if row is not None:
        rows = [check_int("row", row, low=0, high=len(result) - 1)]
    else:
        rows = (np.flatnonzero(result.is_significant) if only_significant else np.arange(len(result))).tolist()
    rules: list[str] = []
    for one in rows:
        rules += _in_words(result, one) if form == "text" else [_in_sql(result, one)]
    return rules


def _cells(result: Interactions, row: int) -> list[tuple[tuple[int, ...], int, str, str]]:
    """Return each cell with samples: its levels, its size, its outcome in words, and as a number of SQL."""
    counts = result.counts_of(row)
    found = []
    for cell in np.ndindex(counts.counts.shape[:-1]):
        size = int(counts.counts[cell].sum())
        if size:
            found.append((cell, size, *_outcome(result, counts, cell)))
    return found


def _outcome(result: Interactions, counts: TupleCounts, cell: tuple[int, ...]) -> tuple[str, str]:
    in_cell, labels = counts.counts[cell], result.outcome.labels
    if len(labels) > 2:
        most = int(in_cell.argmax())
        return f"{labels[most]} {in_cell[most] / in_cell.sum():.0%}", _text(labels[most])
    figure = float(np.asarray(counts.figure)[cell])
    if labels:
        return f"{labels[1]} {figure:.0%}", repr(round(figure, 6))
    return f"{result.words.cell} {number_text(figure)}", _number(float(f"{figure:.12g}"))


def _in_words(result: Interactions, row: int) -> list[str]:
    names, counts = result.members_of(row), result.counts_of(row)
    rules = []
    for cell, size, outcome, _ in _cells(result, row):
        parts = []
        for name, levels, level in zip(names, counts.level_names, cell, strict=True):
            word = levels[level]
            joint = " " if word[:1] in "≤>" else " in " if word[:1] == "(" else " is "
            parts.append(f"{name}{joint}{word}")
        rules.append(f"if {' and '.join(parts)}: {outcome} ({size} samples)")
    return rules


def _in_sql(result: Interactions, row: int) -> str:
    """Return a CASE expression whose value is the share of the last class, the likeliest class, or the mean."""
    members = result.tested.tuples[row].tolist()
    d = int(result.tested.discretization[row])
    whens = []
    for cell, _, _, value in _cells(result, row):
        tests = [
            _condition(_quoted(result.names[v]), result.cuts_of(v), d, level)
            for v, level in zip(members, cell, strict=True)
        ]
        whens.append(f"WHEN {' AND '.join(tests)} THEN {value}")
    return f"CASE {' '.join(whens)} END AS {_quoted(':'.join(result.members_of(row)))}"


def _condition(column: str, cuts: VariableCuts, d: int, level: int) -> str:
    """Return the test of one level; a comparison with NULL is never true, so that missing values fall out.

    One text for SQLite, DuckDB and PostgreSQL: SQLite has no bool and no word for infinity, DuckDB reads a number
    without exponent as a decimal, which may miss the float by its last bit.
    """
    if cuts.missing_level and level == cuts.n_levels() - 1:
        return f"{column} IS NULL"
    if cuts.is_cut:
        thresholds = cuts.thresholds[d]
        below = _compared(column, "<=", float(thresholds[level])) if level < len(thresholds) else ""
        above = _compared(column, ">", float(thresholds[level - 1])) if level else ""
        return " AND ".join(part for part in (above, below) if part)
    if cuts.labels and set(cuts.labels) <= _BOOLS.keys():
        return f"CAST({column} AS TEXT) IN ({', '.join(map(_text, _BOOLS[cuts.labels[level]]))})"
    if cuts.labels:
        return f"{column} = {_text(cuts.labels[level])}"
    return _compared(column, "=", float(cuts.values[level])) if len(cuts.values) else f"{column} IS NOT NULL"


#: What databases show a bool as, by the name of its level.
_BOOLS = {"False": ("False", "false", "0", "0.0"), "True": ("True", "true", "1", "1.0")}


def _compared(column: str, how: str, value: float) -> str:
    """Return a comparison with a number; infinity lies beyond the largest one."""
    if np.isfinite(value):
        return f"{column} {how} {_number(value)}"
    if value > 0:
        return f"{column} IS NOT NULL" if how == "<=" else f"{column} > {_number(sys.float_info.max)}"
    return f"{column} {'>=' if how == '>' else '<'} {_number(-sys.float_info.max)}"


def _number(value: float) -> str:
    """Return a number that every database reads as a float; NULL for what is none."""
    text = repr(value)
    return text if "e" in text else f"{text}e0" if np.isfinite(value) else "NULL"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(label: str) -> str:
    return "'" + label.replace("'", "''") + "'"


def interaction_terms(result: Interactions, form: str, *, only_significant: bool) -> list[Any] | str:
    """See `Interactions.terms`."""
    check_choice("form", form, TERM_FORMS)
    found = result.only_significant() if check_flag("only_significant", only_significant) else result
    tuples = [tuple(int(v) for v in members) for members in found.tested.tuples]
    if form == "ebm":
        return tuples
    if form == "names":
        return [tuple(result.names[v] for v in members) for members in tuples]
    # A variable in no list could not be used at all by LightGBM: all others act alone.
    inside = np.unique(found.tested.tuples) if tuples else np.empty(0, dtype=np.int64)
    others = np.setdiff1d(np.arange(len(result.names)), inside)
    constraints = [list(members) for members in tuples] + [[v] for v in others.tolist()]
    # XGBoost reads lists as names, which an array does not have; a text holds column numbers.
    return json.dumps(constraints) if form == "xgboost" else constraints
