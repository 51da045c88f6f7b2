"""benchmarks/results/realistic_*.json → docs/realistic_designs.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import RESULTS

PAGE = Path(__file__).parents[2] / "docs" / "realistic_designs.md"

#: Modules with a LINE, in the order of the page.
LINES = (
    "skewed_covariates",
    "rare_columns",
    "visits",
    "batches",
    "identifiers",
    "unequal_spread",
    "replication",
    "rare_pairs",
    "modified_effects",
    "shadows",
    "rows_in_time",
    "intervals",
    "recoding",
    "proxies",
    "kinds_of_effects",
)

_HEAD = """# Realistic designs

Noise is easy where columns and outcomes are well-behaved. Here they are not: covariates with outliers, outcomes that
are mostly zero, columns in which one sample of a hundred has a 1. Each kind was a fault once: an earlier version found
something in far more than 5 of 100 tables without any effect.

How to read the tables: *false* is the share of tables without any effect in which something was selected at 5 %. It
should be .05 or less; behind ± is its standard error, which says how exactly so many tables can tell. *Found* is the
share of planted effects that were found, in other tables of the same kind. The plain test
is one that a statistician could take for this design, told in advance what to look for. Where it finds more, that is
what is lost by not being told. Rows with few tables say little: 16 tables without any find may hide a share of .1.
"""


def write_page() -> None:
    parts = [_HEAD]
    n_tables = n_false = 0
    for name in LINES:
        file = RESULTS / f"realistic_{name}.json"
        if not file.exists():
            continue
        line = json.loads(file.read_text())
        designs = [each for each in line["designs"] if "ours_false" in each]
        n_tables += sum(each["tables"] for each in designs)
        n_false += sum(round(each["tables"] * each["ours_false"]) for each in designs)
        rows = "\n".join(map(_row, designs))
        head = "| design | tables | false | plain: false | found | plain: found | the plain test |"
        rule = "|---|---:|---:|---:|---:|---:|---|"
        about = f"*`python -m benchmarks.realistic {name}`*"
        parts.append(f"## {line['title']}\n\n{line['text']}\n\n{head}\n{rule}\n{rows}\n\n{about}\n")
    share = n_false / max(n_tables, 1)
    error = np.sqrt(share * (1 - share) / max(n_tables, 1))
    parts.insert(1, f"All {n_tables:,} tables without any effect together: {_share(share)} ± {_share(error)} false.\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _row(design: dict[str, Any]) -> str:
    error = np.sqrt(max(design["ours_false"] * (1 - design["ours_false"]), 0.0) / design["tables"])
    cells = [
        design["design"],
        str(design["tables"]),
        f"{_share(design['ours_false'])} ± {_share(error)}",
        *(_share(design.get(key)) for key in ("plain_false", "ours_found", "plain_found")),
        design["plain_name"],
    ]
    return f"| {' | '.join(cells)} |"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".lstrip("0") if value < 1 else "1"
