"""A selection → the short table of its relevant variables that summaries and notebooks show: words, few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.text import printable
from interplay.infer.verdicts import ADDITIVE, INTERACTION, UNCLEAR, Verdict
from interplay.show.results.interaction_table import levels_in_words

if TYPE_CHECKING:
    import pandas as pd

    from interplay.infer.effects.variable_effects import VariableEffects
    from interplay.show.results.selection import Selection

#: Names of the short list that a line has.
_LISTED = 12

_VERDICTS = {INTERACTION: "interaction", ADDITIVE: "effects add up", UNCLEAR: "no interaction found"}


def shown_variables(selection: Selection, n_rows: int) -> pd.DataFrame:
    """Return the most significant variables, columns that have nothing to say left out."""
    import pandas as pd

    top = selection.ranked[:n_rows].tolist()
    columns: dict[str, Any] = {
        "variable": [printable(selection.names[v]) for v in top],
        "p_adjusted": [f"{selection.p_adjusted[v]:.2g}" for v in top],
    }
    if selection.effects is not None:
        rows = [selection.effects.main_of(v) for v in top]
        columns["direction"] = [selection.effects.direction[row] if row >= 0 else "" for row in rows]
        columns["effect (95 % interval)"] = [effect_in_words(selection.effects, row) for row in rows]
    if selection.tests:
        columns["found"] = [selection.found[v] for v in top]
    if len(top) > 1 and selection.shortened is not None and len(selection.shortened.variable):
        listed = set(selection.shortened.variable.tolist())
        columns["short list"] = ["yes" if v in listed else "" for v in top]
    partners = [_partners_in_words(selection, v) for v in top]
    if any(partners):
        columns["partners"] = partners
    if len(selection.comparisons) > 1:
        columns["comparison"] = [printable(selection.runs[selection.best_run[v]].decision) for v in top]
    return pd.DataFrame(columns)


def short_list_lines(selection: Selection) -> list[str]:
    """Return lines on groups of redundant variables and on the short list; none for fewer than two variables."""
    shortened = selection.shortened
    if shortened is None or len(selection.ranked) < 2:
        return []
    n_groups, n = shortened.n_groups, len(selection.ranked)
    redundant = (
        f"No two of them are redundant (association of {shortened.threshold:g} or more)."
        if n_groups == n
        else f"They form {n_groups} {'group' if n_groups == 1 else 'groups'} of redundant variables (association of "
        f"{shortened.threshold:g} or more)."
    )
    if shortened.note:
        return [redundant, f"There is no short list: {shortened.note}."]
    names = [printable(name) for name in selection.short_list]
    if not names:
        return [redundant]
    listed = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
    return [redundant, f"Short list, each relevant given the others: {listed}."]


def effect_in_words(effects: VariableEffects, row: int) -> str:
    """Return the size of an effect with its interval: "AUC 0.812 (0.77 to 0.849)"; "" where it is not known."""
    if row < 0 or np.isnan(effects.effect[row]):
        return ""
    value, low, high = (_three_digits(float(bound[row])) for bound in (effects.effect, effects.low, effects.high))
    interval = "" if np.isnan(effects.low[row]) else f" ({low} to {high})"
    about = f", {printable(effects.about[row])}" if effects.about[row] else ""
    return f"{effects.kind[row]} {value}{interval}{about}"


def _three_digits(value: float) -> str:
    """Write three digits, and numbers from 1000 to 100,000 without an exponent."""
    return f"{value:.0f}" if 999.5 <= abs(value) < 1e5 else f"{value:.3g}"


def cell_of(selection: Selection, v: int) -> str:
    """Name the cell, and the class, that departs most from separate effects: "a = 1, b = 2: ill"; "" if none does."""
    cell = selection.verdicts[v].cell
    run = selection.runs[selection.best_run[v]]
    cuts_of = {cuts.variable: cuts for cuts in run.cuts}
    if not cell.is_known or not set(cell.members) <= cuts_of.keys():
        return ""
    named = levels_in_words(selection.names, [cuts_of[u] for u in cell.members], list(cell.levels), cell.discretization)
    where = ", ".join(map(printable, named))
    return f"{where}: {printable(run.class_labels[cell.class_])}" if cell.class_ >= 0 else where


def _partners_in_words(selection: Selection, v: int) -> str:
    members = selection.best_tuple(v)
    partners = ", ".join(printable(name) for name in selection.names_of(members[members != v]))
    verdict: Verdict = selection.verdicts[v]
    said = _VERDICTS.get(verdict.verdict, "")
    return f"{partners} ({said})" if partners and said else partners
