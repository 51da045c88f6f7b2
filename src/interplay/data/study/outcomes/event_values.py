"""A column that says whether an event was observed, in whatever values → True and False, or which value to name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from interplay.base.arrays import BoolArray
from interplay.base.checks import shown
from interplay.base.text import name_among
from interplay.data.study.columns import Column, ColumnKind
from interplay.data.study.table import as_table

#: Values that are shown in messages; a column with more values is no event.
_VALUES_SHOWN = 6

#: Labels that say that an event was observed.
_OBSERVED = re.compile(
    r"^(?:dead|died|death|deceased|event|observed|yes|y|true|t|1|relapsed?|recurrence|recurred|progressed|progression"
    r"|failed|failure|case)$",
    re.IGNORECASE,
)


def named_event(event: Any, X: Any) -> tuple[Any, str | None]:
    """Split ``"status=2"`` into the column's name and the value that is the event; a column of that name comes first.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"status": [1, 2], "a=b": [0, 1]})
    >>> named_event("status=2", X), named_event("a=b", X), named_event("status", X)
    (('status', '2'), ('a=b', None), ('status', None))
    """
    if not isinstance(event, str) or "=" not in event:
        return event, None
    table = as_table(X)
    known = [*table.sample_columns, *table.names]
    if name_among(known, event) in known:
        return event, None
    name, _, value = event.partition("=")
    while name_among(known, name.strip()) not in known and "=" in value:  # names may contain the sign too
        more, _, value = value.partition("=")
        name = f"{name}={more}"
    return name.strip(), value.lstrip("=").strip()


def observed_events(column: Column, values: Any, *, name: str | None, wanted: str | None = None) -> BoolArray:
    """Return where the event was observed, (n_samples,).

    - `column`, `values`: the column and its values, none of them missing.
    - `name`: its name, for messages.
    - `wanted`: the value that is the event. Without it, the values must be True and False, or 1 and 0.
    """
    numbers, counts = np.unique(values, return_counts=True)
    texts = [_text(column, number) for number in numbers[: _VALUES_SHOWN + 1].tolist()]
    if wanted is not None:
        return np.asarray(values == _number_of(column, wanted, texts, counts.tolist(), name))
    if column.kind != ColumnKind.LABEL and np.isin(numbers, (0, 1)).all():
        return np.asarray(values, dtype=bool)
    rule = (
        "y's event must be True (or 1) where the event was observed at that time, and False (or 0) where the time is "
        "censored"
    )
    called = "" if name is None else f" of column {shown(name)}"
    if len(numbers) > _VALUES_SHOWN:
        raise ValueError(f"{rule}; the values{called} are too many ({len(numbers)}): y=(time, event), in this order")
    likely = next((i for i, text in enumerate(texts) if _OBSERVED.match(text)), len(texts) - 1)
    is_known = True
    if column.kind != ColumnKind.LABEL:  # 1 and 2, 0, 1 and 2: the event has the highest number; of 1, 2 and 3 any may
        is_known = len(texts) < 3 or numbers[0] == 0
        likely = len(texts) - 1 if is_known else 0
    compared = repr(texts[likely]) if column.kind == ColumnKind.LABEL else texts[likely]
    chosen = "" if name is None else f"{name}={texts[likely]}"
    by_name = f", or {chosen!r} in place of the column's name (--event {chosen})" if chosen else ""
    if_it = f"if {compared} is the event, give" if is_known else f"say which of them is the event. For {compared}, give"
    raise ValueError(
        f"{rule}; the values{called} are {_listed(texts, counts.tolist())}: {if_it} "
        f"y=(time, event == {compared}){by_name}{'; likewise for another value' if len(texts) > 2 else ''}"
    )


def _text(column: Column, number: float) -> str:
    """Return a value as a user would write it."""
    if column.levels is not None:
        return str(column.levels[int(number)])
    return str(int(number)) if float(number).is_integer() else f"{number:.12g}"


def _number_of(column: Column, wanted: str, texts: list[str], counts: list[int], name: str | None) -> float:
    """Return the number that stands for a value, which may be a text or a number."""
    if column.levels is not None:
        levels = [str(level) for level in column.levels]
        if wanted in levels:
            return levels.index(wanted)
        folded = [level.casefold() for level in levels]
        if folded.count(wanted.casefold()) == 1:
            return folded.index(wanted.casefold())
    else:
        try:
            number = float(wanted)
        except ValueError:
            number = np.nan
        if number in column.read():
            return number
    called = "the event's column" if name is None else f"column {shown(name)}"
    raise ValueError(
        f"y's event is {shown(wanted)}, which {called} does not have; its values are {_listed(texts, counts)}"
    )


def _listed(texts: list[str], counts: list[int]) -> str:
    entries = [f"{text} ({count}×)" for text, count in zip(texts, counts, strict=False)][:_VALUES_SHOWN]
    if len(texts) > _VALUES_SHOWN:
        return ", ".join([*entries, "…"])
    return entries[0] if len(entries) == 1 else f"{', '.join(entries[:-1])} and {entries[-1]}"
