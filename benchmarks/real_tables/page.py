"""Results → docs/real_tables.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "real_tables.md"

#: So many of the relevant variables are named, and letters of a message shown.
_NAMED, _LONGEST = 6, 420
#: And so many interactions.
_LISTED = 3

_HEAD = """# Real tables

What `select` finds in {n_tables} tables of real studies stands here beside what is known of them. The tables come with
scikit-learn, statsmodels, lifelines, scikit-survival and R (mlbench, MASS, survival, lme4, qtl, qusage). All calls use
the defaults, apart from the arguments that the second table names. Sizes are samples × variables.

Beside each table, copies of its columns were searched, each shuffled on its own. Any of these that is found is false:
**{n_false} of {n_shuffled} shuffled columns**, in {n_false_tables} of {n_tables} tables. At a significance
level of 5 %, up to 5 % of the tables may have one.

*Made by `python -m benchmarks.real_tables`, which fails where a known variable is not found or a message is missing.*

## Found and known

:::{{container}} dense
| table | outcome | known | relevant, most significant first | shuffled found |
|---|---|---|---|---|
"""

_INTERACTIONS = """
## Interactions that `select` reports

These are members of best tuples whose effect goes beyond the sum of their separate effects, with p-values that are
adjusted for all tuples of the search. {none} have none, among them {times} with times. That of
flchain holds in lifelines: a natural spline of creatinine × sex has p = 6e-12 in Cox's model, and 3e-6 given age.

| table | interactions, the clearest first |
|---|---|
"""

_FIRST = """
## The first attempt

A first attempt gives all columns of a table, and nothing else, to `select`. These are its messages, and the arguments
with which the tables above were searched afterwards. Tables without a message need none.

:::{container} dense
| table | messages of the first attempt | arguments |
|---|---|---|
"""


def write_page(tables: list[dict[str, Any]]) -> None:
    n_shuffled = sum(entry["n_shuffled"] for entry in tables)
    text = _HEAD.format(
        n_tables=len(tables),
        n_shuffled=f"{n_shuffled:,}",
        n_false=sum(len(entry["false"]) for entry in tables),
        n_false_tables=sum(bool(entry["false"]) for entry in tables),
    )
    text += "".join(_row(entry) for entry in tables)
    text += ":::\n" + _interactions(tables) + _pairs(tables)
    text += _FIRST + "".join(_first(entry) for entry in tables if entry["first_attempt"] or entry["settings"]["drop"])
    PAGE.write_text(text + ":::\n", encoding="utf-8")


def _row(entry: dict[str, Any]) -> str:
    outcome = entry["target"] if entry["event"] is None else f"({entry['target']}, {entry['event']})"
    named = ", ".join(_code(name) for name in entry["relevant"][:_NAMED])
    more = len(entry["relevant"]) - _NAMED
    found = f"{len(entry['relevant'])}: {named}{f' and {more} more' if more > 0 else ''}" if named else "none"
    false = f"{len(entry['false'])} of {entry['n_shuffled']}"
    size = f"{entry['n_samples']:,} × {entry['n_vars']}"
    return f"| {_name(entry)}, {size} | {_code(outcome)} | {entry['known']} | {found} | {false} |\n"


def _interactions(tables: list[dict[str, Any]]) -> str:
    some = [entry for entry in tables if entry.get("interactions")]
    none = [entry for entry in tables if not entry.get("interactions")]
    rows = ""
    for entry in some:
        listed = [
            f"{' × '.join(map(_code, one['members']))} ({one['p_adjusted']:.1e})" for one in entry["interactions"]
        ]
        more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
        rows += f"| {_name(entry)} | {', '.join(listed[:_LISTED])}{more} |\n"
    of_times = sum(entry["event"] is not None for entry in none)
    return _INTERACTIONS.format(none=f"{len(none)} of {len(tables)} tables", times=of_times) + rows


def _pairs(tables: list[dict[str, Any]]) -> str:
    lines = []
    for entry in tables:
        pair = entry.get("pair")
        if pair and pair["place"]:
            lines.append(
                f"`interactions` of {_name(entry)} tests {pair['n_tests']:,} pairs. The known pair "
                f"({' × '.join(map(_code, pair['members']))}) has place {pair['place']} among the smallest p-values "
                f"(p = {pair['p_value']:.1e}, adjusted {pair['p_adjusted']:.2g})."
            )
        elif pair:
            lines.append(f"`interactions` of {_name(entry)}: the known pair is not among the 200 smallest p-values.")
    return "\n" + "\n\n".join(lines) + "\n" if lines else ""


def _first(entry: dict[str, Any]) -> str:
    said = "<br>".join(_text(message) for message in entry["first_attempt"]) or "–"
    settings = [f"{name}={value!r}" for name, value in entry["settings"].items() if name != "drop"]
    settings += [f"without {', '.join(entry['settings']['drop'])}"] if entry["settings"]["drop"] else []
    return f"| {_name(entry)} | {said} | {'; '.join(map(_code, settings)) or '–'} |\n"


def _name(entry: dict[str, Any]) -> str:
    return f"{entry['package']} {entry['name']}"


def _code(text: str) -> str:
    return f"`{text}`"


def _text(message: str) -> str:
    short = message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…"
    return re.sub(r"([\\`*_\[\]<>|#$~&]|--)", lambda found: "".join(f"\\{c}" for c in found[0]), short)
