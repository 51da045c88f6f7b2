"""Verdicts on tuples of a selection in words: interaction, additive effects, unclear or untested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interplay.infer.verdicts import ADDITIVE, INTERACTION, UNCLEAR, UNTESTED, Verdict
from interplay.show.report.numbers import p_text, short

if TYPE_CHECKING:
    from interplay.show.results.selection import Selection

#: The meaning of each verdict, for a reader who has not seen the manual.
MEANINGS = {
    INTERACTION: "together these variables have an effect beyond the sum of their separate effects",
    ADDITIVE: "each of these variables has an effect by itself, and no interaction between them was found",
    UNCLEAR: "no interaction was found, and at least one of these variables has no effect by itself: it may be a "
    "partner by chance, or the interaction may be too weak to be detected",
    UNTESTED: "the interaction of these variables was not tested",
}


def verdict_sentence(verdict: Verdict, part: Sequence[str] = (), where: str = "") -> str:
    """Return the verdict with its p-value and effect.

    `part` names the members that interact where not all do, `where` the cell that departs most, with its class.

    Examples
    --------
    >>> verdict_sentence(Verdict("untested"))
    'Untested: the interaction of these variables was not tested.'
    """
    numbers = []
    if not math.isnan(verdict.p_adjusted):
        numbers.append(f"adjusted p {p_text(verdict.p_adjusted)}")
    if verdict.verdict == INTERACTION and not math.isnan(verdict.estimate):
        effect, low, high = (_signed(value) for value in (verdict.estimate, verdict.ci_low, verdict.ci_high))
        numbers.append(f"{verdict.words.effect_short} {effect}, 95 % interval {low} to {high}")
    if verdict.verdict == INTERACTION and verdict.cell.is_known and where:
        numbers.append(f"clearest where {where}: {_cell_in_words(verdict)}")
    meaning = MEANINGS[verdict.verdict]
    if part:
        meaning = (
            f"of these variables, {_joined(list(part))} together have an effect beyond the sum of their separate "
            "effects"
        )
    in_brackets = f" ({'; '.join(numbers)})" if numbers else ""
    name = verdict.verdict[:1].upper() + verdict.verdict[1:]
    return f"{name}: {meaning}{in_brackets}."


def _cell_in_words(verdict: Verdict) -> str:
    """Return how much a cell departs from separate effects."""
    cell = verdict.cell
    if not verdict.words.is_ratio:
        size, low, high = (_signed(value) for value in (cell.effect, cell.low, cell.high))
        return f"mean {size} beside separate effects, 95 % interval {low} to {high}"
    size, low, high = (f"{math.exp(min(value, 700.0)):.3g}" for value in (cell.effect, cell.low, cell.high))
    return f"odds times {size} beside separate effects, 95 % interval {low} to {high}"


def partner_sentence(selection: Selection) -> str:
    """Say how many of the relevant variables interact with their partners, and name the clearest case."""
    of_relevant = selection.table.iloc[selection.ranked].to_dict("records")
    rows = [row for row in of_relevant if row["partners"]]  # variables found alone have no partners
    by_verdict = {word: [row for row in rows if row["verdict"] == word] for word in MEANINGS}
    n = len(of_relevant)
    found = [] if len(rows) == n else [_shown_alone(n - len(rows), n)]
    # In some tuples the partners interact with each other, and the variable has an effect beside them.
    among = [row for row in by_verdict[INTERACTION] if row["variable"] not in row["interacting"]]
    if together := [row for row in by_verdict[INTERACTION] if row["variable"] in row["interacting"]]:
        best = min(together, key=lambda row: (row["p_interaction"], -row["synergy"]))
        names = _joined(list(best["interacting"]))
        found.append(
            f"{_who(len(together), n)} {'interacts' if len(together) == 1 else 'interact'} with "
            f"{'its' if len(together) == 1 else 'their'} partners: together they have an effect beyond the sum "
            f"of their separate effects. The clearest case is {names} (adjusted p {p_text(best['p_interaction'])})."
        )
    if among:
        found.append(f"For {_who(len(among), n).lower()} only the partners interact with each other.")
    if additive := by_verdict[ADDITIVE]:
        found.append(
            f"For {_who(len(additive), n).lower()} the effects add up: each variable matters by itself, and no "
            "interaction with its partners was found."
        )
    if unclear := by_verdict[UNCLEAR]:
        found.append(
            f"For {_who(len(unclear), n).lower()} no interaction was found; the partner may be there by chance."
        )
    if untested := by_verdict[UNTESTED]:
        found.append(f"For {_who(len(untested), n).lower()} the interaction with partners was not tested.")
    return " ".join(found)


def _shown_alone(n: int, of: int) -> str:
    return f"{_who(n, of)} {'shows' if n == 1 else 'show'} most clearly without partners."


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _who(n: int, of: int) -> str:
    if n == of:
        return {1: "It", 2: "Both"}.get(of, f"All {of:,} of them")
    return f"{n:,} of them"


def _joined(names: list[str]) -> str:
    shown = [short(name) for name in names]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
