"""Tuples of a result → rules that people read, a column of SQL, the lists of interactions that other models take."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.checks import check_choice, check_flag, check_int
from interplay.data.codes.cuts import VariableCuts, number_text
from interplay.data.codes.tuple_counts import TupleCounts

if TYPE_CHECKING:
    from interplay.show.results.interactions import Interactions

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
    if counts.numbers is not None:
        mean = float(counts.numbers[cell][5])
        return f"{result.words.cell} {number_text(mean)}", _number(float(f"{mean:.12g}"))
    in_cell = counts.counts[cell]
    labels = result.outcome.labels
    if len(labels) == 2:
        share = float(in_cell[1] / in_cell.sum())
        return f"{labels[1]} {share:.0%}", repr(round(share, 6))
    most = int(in_cell.argmax())
    return f"{labels[most]} {in_cell[most] / in_cell.sum():.0%}", _text(labels[most])


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
