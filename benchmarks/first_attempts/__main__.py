"""python -m benchmarks.first_attempts [--only TEXT] [--folder FOLDER] [--page]: try the tables, and write the page.

The tables come from packages of Debian, which are downloaded with apt-get and read by rdata (PyPI), and from
statsmodels. Exit code 1 if a table has neither an answer with its known variables nor the one right message.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.first_attempts.attempt import attempt
from benchmarks.first_attempts.sources import NotThereError, read
from benchmarks.first_attempts.tables import TABLES
from benchmarks.machine import RESULTS, write_result

PAGE = Path(__file__).parents[2] / "docs" / "first_attempts.md"
_NAMED, _LONGEST = 5, 240

_HEAD = """# First attempts

{n} real tables that no other page has, each tried once: a csv file, the name of the outcome, and nothing else
(`--target`, or `--time` and `--event`). {answered} gave an answer at once. The others gave one
message that ends with what to add, and an answer with that.

*Made by `python -m benchmarks.first_attempts`, which fails where a known variable is not found or the
message is another.*

:::{{container}} dense
| table | outcome | known | relevant, most significant first | messages |
|---|---|---|---|---|
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a part of the name of package or table")
    parser.add_argument("--folder", type=Path, default=Path("build/debian"), help="where packages are kept")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", action="store_true", help="write the page from the results that there are")
    asked = parser.parse_args()
    file = RESULTS / "first_attempts.json"
    kept = json.loads(file.read_text())["tables"] if file.exists() else []
    done: dict[tuple[str, str], dict[str, Any]] = {(each["package"], each["name"]): each for each in kept}
    for table in () if asked.page else TABLES:
        if asked.only not in f"{table.package} {table.name}":
            continue
        try:
            frame = read(table.package, table.name, asked.folder)
        except NotThereError as problem:
            print(f"{table.package} {table.name}: left out, {problem}", flush=True)
            continue
        result = done[table.package, table.name] = attempt(table, frame, seed=asked.seed)
        said = "; ".join(result["wrong"]) or "as known"
        print(f"{table.name}: {len(result['relevant'])} relevant, {result['seconds']} s: {said}", flush=True)
        write_result("first_attempts", {"made_by": "python -m benchmarks.first_attempts", "tables": _in_order(done)})
    tables = _in_order(done)
    write_page(tables)
    return int(any(each["wrong"] for each in tables))


def _in_order(done: dict[tuple[str, str], dict[str, Any]]) -> list[dict[str, Any]]:
    return [done[table.package, table.name] for table in TABLES if (table.package, table.name) in done]


def write_page(tables: list[dict[str, Any]]) -> None:
    """Write docs/first_attempts.md."""
    answered = sum(not each["code"] for each in tables)
    rows = "".join(_row(each) for each in tables)
    PAGE.write_text(_HEAD.format(n=len(tables), answered=answered) + rows + ":::\n", encoding="utf-8")


def _row(each: dict[str, Any]) -> str:
    outcome = each["target"] if each["event"] is None else f"({each['target']}, {each['event']})"
    relevant = each["relevant"]
    named = ", ".join(f"`{name}`" for name in relevant[:_NAMED])
    more = f" and {len(relevant) - _NAMED} more" if len(relevant) > _NAMED else ""
    said = "<br>".join(_text(line) for line in each["said"]) or "–"
    size = f"{each['n_samples']:,} × {each['n_columns']}"
    return (
        f"| {each['package'].removeprefix('r-cran-')} {each['name']}, {size} | `{outcome}` | {each['known']} | "
        f"{len(relevant)}{': ' if named else ''}{named}{more} | {said} |\n"
    )


def _text(message: str) -> str:
    short = message if len(message) <= _LONGEST else f"{message[: _LONGEST - 1]}…"
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#$~&" else c for c in short).replace("--", "\\-\\-")


if __name__ == "__main__":
    sys.exit(main())
