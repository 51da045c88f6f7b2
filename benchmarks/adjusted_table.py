"""Results of adjusted_search.py → the table of docs/covariates.md.

python benchmarks/adjusted_table.py
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "adjusted_table.md"


def cell(values: dict[str, float] | None) -> str:
    """Return found | any false, in hundredths."""
    return "" if values is None else f"{values['found']:.2f} ({values['any false']:.2f})"


def main() -> None:
    found = json.loads((HERE / "results" / "adjusted_search.json").read_text())["settings"]
    lines = [
        "| outcome and effect | tables | `select` | `interactions` | regression | `select` without covariates |",
        "|---|---|---|---|---|---|",
    ]
    for name, values in found.items():
        methods = ("interplay", "interactions", "regression", "interplay, no components")
        cells = " | ".join(cell(values.get(method)) for method in methods)
        lines.append(f"| {name} | {values['tables']} | {cells} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
