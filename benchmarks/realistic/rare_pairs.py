"""Columns that few samples carry, searched in pairs."""

from __future__ import annotations

from functools import partial

from benchmarks.realistic.designs import Design, Line, selected
from benchmarks.realistic.rare_columns import make, plain_of

_SETTINGS = [
    ("90% zeros", 300, 0.02, 60, {"dimensions": 2}),
    ("90% zeros", 300, 0.02, 60, {"dimensions": 2, "fit": "union"}),
    ("90% zeros", 300, 0.02, 60, {}),
    ("90% zeros", 500, 0.01, 100, {"dimensions": 2}),
    ("97% zeros", 500, 0.05, 60, {"dimensions": 2}),
    ("10% cases", 300, 0.02, 60, {"dimensions": 2}),
    ("10% cases", 300, 0.02, 60, {"dimensions": 2, "fit": "union"}),
    ("10% cases", 300, 0.02, 60, {}),
    ("10% cases", 300, 0.02, 60, {"dimensions": (1,)}),
    ("10% cases", 300, 0.05, 30, {"dimensions": 3}),
    ("times, 15 % events", 300, 0.03, 60, {"dimensions": 2}),
]

LINE = Line(
    "Rare columns in pairs",
    "Outcomes that are mostly zero, or few cases, and columns that few samples carry, searched in pairs: a cell of two "
    "or three samples can look like a discovery. Effects are those of single columns: a search of pairs alone "
    "(`dimensions=2`) pays for 59 partners of each and loses most of what six carriers can show. The default call, or "
    "`dimensions=(1,)`, asks single columns, too.",
    [
        Design(
            f"{outcome}, {n} samples, {columns} columns with {carriers:.0%} carriers"
            + ("".join(f", {name}={value}" for name, value in settings.items()) or ", the default call"),
            partial(make, outcome=outcome, n=n, carriers=carriers, columns=columns, given=outcome.startswith("times")),
            partial(selected, **settings),
            *plain_of(outcome),
        )
        for outcome, n, carriers, columns, settings in _SETTINGS
    ],
)
