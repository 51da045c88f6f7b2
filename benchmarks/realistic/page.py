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
    "clean",
)

#: Lines that do not ask for false finds.
_OTHER = ("clean",)

_HEAD = """# Realistic designs

Noise is easy where columns and outcomes are well-behaved. Here they are not: covariates with outliers, outcomes that
are mostly zero, columns in which one sample of a hundred has a 1. Each kind was a fault once: an earlier version found
something in far more than 5 of 100 tables without any effect.

How to read the tables. Each row is a kind of data, of which many tables were simulated.

- *False* is the share of tables without any effect in which something was selected at 5 %. It should be .05 or less.
- Behind ± is its standard error: by chance alone, shares differ from the true one by up to two of these. A row with .07
  ± .02 is no proof of a fault, and 16 tables without any find may hide a share of .1.
- *Found* is the share of planted effects that were found, in other tables of the same kind.
- The plain test is one that a statistician could take for this design, told in advance what to look for. Where it finds
  more, that is what is lost by not being told.
"""

_LOSSES = """## What is lost

In these designs fewer effects are found than by the plain test, by .15 or more (of at least {fewest} tables):

{rows}

Most have one reason: the plain test knew that one column at a time matters, or which kind of effect to look for, and
the call also looks for others. Rare columns in pairs pay for the many pairs, and are found by `dimensions=(1,)`;
stand-ins for causes are believed only if the effects of correlated columns do not explain them.
"""

#: Planted tables of a design that is listed as a loss, and the difference.
_FEWEST_PLANTED, _LOST = 10, 0.15


def write_page() -> None:
    parts = [_HEAD]
    n_tables = n_false = 0
    means, variances, lost = [], [], []
    for name in LINES:
        file = RESULTS / f"realistic_{name}.json"
        if not file.exists():
            continue
        line = json.loads(file.read_text())
        designs = [each for each in line["designs"] if "ours_false" in each]
        for each in designs if name not in _OTHER else []:
            n, share = each["tables"], each["ours_false"]
            n_tables, n_false = n_tables + n, n_false + round(n * share)
            # Of designs with few tables the variance is that of the share that all are allowed.
            means, variances = [*means, share], [*variances, max(share * (1 - share), 0.05 * 0.95) / n]
            missed = each.get("plain_found", 0.0) - each.get("ours_found", 0.0)
            if each.get("planted", 0) >= _FEWEST_PLANTED and missed >= _LOST:
                about = f"{_share(each['ours_found'])}, {each['plain_name']} {_share(each['plain_found'])}"
                lost.append(f"- {line['title']}: {each['design']}: {about}")
        rows = "\n".join(map(_row, designs))
        head = "| design | tables | false | plain: false | found | plain: found | the plain test |"
        rule = "|---|---:|---:|---:|---:|---:|---|"
        about = f"*`python -m benchmarks.realistic {name}`*"
        parts.append(f"## {line['title']}\n\n{line['text']}\n\n{head}\n{rule}\n{rows}\n\n{about}\n")
    share = n_false / max(n_tables, 1)
    error = np.sqrt(share * (1 - share) / max(n_tables, 1))
    alike, its_error = np.mean(means), np.sqrt(np.sum(variances)) / max(len(variances), 1)
    parts.insert(
        1,
        f"All {n_tables:,} tables without any effect together: {share:.3f} ± {error:.3f} false. Each of the "
        f"{len(means)} designs counted alike: {alike:.3f} ± {its_error:.3f}.\n",
    )
    if lost:
        parts.append(_LOSSES.format(fewest=_FEWEST_PLANTED, rows="\n".join(lost)))
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _row(design: dict[str, Any]) -> str:
    error = np.sqrt(max(design["ours_false"] * (1 - design["ours_false"]), 0.0) / design["tables"])
    cells = [
        design["design"],
        str(design["tables"]),
        f"{_share(design['ours_false'])} ± {_share(error)}",
        _share(design["plain_false"]) if design["plain_name"] else "",
        *(_share(design.get(key)) for key in ("ours_found", "plain_found")),
        design["plain_name"],
    ]
    return f"| {' | '.join(cells)} |"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".lstrip("0") if value < 1 else "1"
