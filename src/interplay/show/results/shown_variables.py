"""A selection → the four columns of its first answer: name, direction and size, how sure, works with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.base.text import printable
from interplay.infer.arms import ALONE, GIVEN, found_in_words
from interplay.infer.effects.direction import DEPENDS_ON, PERHAPS
from interplay.infer.effects.estimate import NO_EFFECT
from interplay.infer.verdicts import ADDITIVE, INTERACTION, UNCLEAR, Verdict
from interplay.show.results.interaction_table import levels_in_words

if TYPE_CHECKING:
    import pandas as pd

    from interplay.infer.effects.variable_effects import VariableEffects
    from interplay.show.results.selection import Selection

#: Names of the short list that a line has.
_LISTED = 12

#: Names of the order for models that a line begins with.
_FIRST_OF_BEST = 5

#: Columns of the first answer, beside the name.
SIZE, SURE, PARTNERS = "direction and size", "how sure", "works with"

_DOUBTS = {UNCLEAR: "unclear"}


def shown_variables(selection: Selection, n_rows: int) -> pd.DataFrame:
    """Return the first answer about the most significant variables: which way and how much, how sure, with which."""
    import pandas as pd

    top = selection.ranked[:n_rows].tolist()
    columns: dict[str, Any] = {"variable": [name_with_label(selection, v) for v in top]}
    if selection.effects is not None:
        columns[SIZE] = [_direction_and_size(selection, v) for v in top]
    columns[SURE] = [_how_sure(selection, v) for v in top]
    partners = [works_with(selection, v) for v in top]
    if any(partners):
        columns[PARTNERS] = partners
    return pd.DataFrame(columns)


def _direction_and_size(selection: Selection, v: int) -> str:
    """Return the main effect of a variable: "higher with ill, AUC 0.812 (0.77 to 0.849)"."""
    effects = selection.effects
    row = -1 if effects is None else effects.main_of(v)
    if effects is None or row < 0:
        return ""
    said = ", ".join(filter(None, [effects.direction[row], size_beside(effects, row)]))
    if len(selection.comparisons) > 1:
        return f"{said} [{printable(selection.runs[selection.best_run[v]].decision)}]"
    return said


#: Of a label, the beginning is shown.
_LONGEST_LABEL = 40


def name_with_label(selection: Selection, v: int) -> str:
    """Return the name of a variable with what people call it, where its file says so: "1007_s_at (DDR1)"."""
    name = printable(selection.names[v])
    label = selection.record.labels.get(selection.names[v], "")
    return f"{name} ({printable(label, _LONGEST_LABEL)})" if label else name


def size_beside(effects: VariableEffects, row: int) -> str:
    """Return the size of an effect beside its direction, without what the direction says.

    "" where the interval includes no effect: then what was found is in the words, such as levels that differ.
    """
    if row < 0:
        return ""
    direction, about = effects.direction[row], effects.about[row]
    none = NO_EFFECT.get(effects.kind[row], math.nan)
    if effects.low[row] <= none <= effects.high[row] and not direction.startswith(PERHAPS):
        return ""
    is_said = (
        (direction.startswith(DEPENDS_ON) and about.startswith("with "))
        or (", given " in direction and about.startswith("given "))
        or direction.endswith(f" with {about.removesuffix(' against the rest')}")
    )
    size = size_in_words(effects, row)
    return f"{size}, {printable(about)}" if size and about and not is_said else size


def _how_sure(selection: Selection, v: int) -> str:
    """Return the p-value that decides, and how often a variable is found again in halves of the samples."""
    again = "" if selection.stability is None else f", again in {selection.stability.frequency[v]:.0%} of halves"
    return f"p {selection.p_adjusted[v]:.2g}{again}"


def works_with(selection: Selection, v: int) -> str:
    """Name the partners with which a variable has an effect beyond the sum of their separate effects.

    Partners of a variable that is not found by itself are named with what is not known of them. Where effects add up,
    a variable needs no partner.
    """
    members = selection.best_tuple(v)
    verdict: Verdict = selection.verdicts[v]
    if verdict.verdict == INTERACTION and v in verdict.members:
        members = np.array(verdict.members, dtype=np.int64)
    partners = ", ".join(printable(name) for name in selection.names_of(members[members != v]))
    if not partners or verdict.verdict == ADDITIVE:
        return ""
    if verdict.verdict == INTERACTION:
        return partners if v in verdict.members else ""
    is_alone = bool(selection.tests) and selection.found[v] in (found_in_words(ALONE), found_in_words(GIVEN))
    effects = selection.effects
    # A variable with a size of its own needs no partner of which nothing is known.
    has_size = effects is not None and bool(size_beside(effects, effects.main_of(v)))
    return "" if is_alone or has_size else f"{partners} ({_DOUBTS.get(verdict.verdict, 'not tested')})"


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
    return [redundant, f"Short list, each relevant given the others: {listed}.{_for_a_model(selection)}"]


def _for_a_model(selection: Selection) -> str:
    """Say what a model may use beside the short list, where no number of variables was asked for."""
    if selection.n_best or selection.ordered is None:
        return ""
    first = ", ".join(printable(name) for name in selection.best(min(_FIRST_OF_BEST, len(selection.names))))
    return f" That is what can be proved; a model may use more: best(n) begins with {first}."


def best_lines(selection: Selection) -> list[str]:
    """Return a line on the best variables for a model, where a number of them was asked for."""
    if not selection.n_best:
        return []
    best = selection.best(selection.n_best)
    curve = ""
    if selection.curve is not None and selection.n_best in selection.curve.n:
        explained = float(selection.curve.explained[selection.curve.n == selection.n_best][0])
        curve = f" So many explain {max(explained, 0.0):.0%} of the outcome in samples that had no part in the choice."
    names = ", ".join(map(printable, best))
    return [f"Best {len(best)} for a model, {best.n_relevant} of them relevant: {names}.{curve}"]


def effect_in_words(effects: VariableEffects, row: int) -> str:
    """Return the size of an effect, and what it is about: "AUC 0.812 (0.77 to 0.849), b against a"."""
    size = size_in_words(effects, row)
    return f"{size}, {printable(effects.about[row])}" if size and effects.about[row] else size


def size_in_words(effects: VariableEffects, row: int) -> str:
    """Return the size of an effect with its interval: "AUC 0.812 (0.77 to 0.849)"; "" where it is not known."""
    if row < 0 or np.isnan(effects.effect[row]):
        return ""
    value, low, high = (_three_digits(float(bound[row])) for bound in (effects.effect, effects.low, effects.high))
    interval = "" if np.isnan(effects.low[row]) else f" ({low} to {high})"
    return f"{effects.kind[row]} {value}{interval}"


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
