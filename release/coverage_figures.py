"""What the tests reach, from the reports that `make coverage` leaves → docs/coverage.json, which the README quotes."""

from __future__ import annotations

import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "coverage.json"


def main(python_report: Path, core_report: Path) -> None:
    """Write the figures, and print them."""
    figures = coverage_figures(json.loads(python_report.read_text()), json.loads(core_report.read_text()))
    figures |= {"date": time.strftime("%Y-%m-%d"), "python": platform.python_version(), "machine": platform.machine()}
    FILE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print(FILE.read_text(encoding="utf-8"))


def coverage_figures(python: dict[str, Any], core: dict[str, Any]) -> dict[str, Any]:
    """Return shares in percent: of the package by all Python tests, of core/ by its own tests."""
    files = {name.replace("\\", "/"): file["summary"] for name, file in python["files"].items()}
    # Files that drive a GPU are nearly unreached where there is none; a total with them says more of the machine.
    elsewhere = [summary for name, summary in files.items() if "/engines/cuda/" not in name]
    return {
        "package": _shares(files.values()),
        "package_without_cuda": _shares(elsewhere),
        "core_by_its_own_tests": {"lines": round(core["line_percent"], 1), "n_lines": core["line_total"]},
    }


def _shares(summaries: Any) -> dict[str, float | int]:
    summaries = list(summaries)
    lines, covered, branches, taken = (
        sum(summary[key] for summary in summaries)
        for key in ("num_statements", "covered_lines", "num_branches", "covered_branches")
    )
    return {
        "lines": round(100 * covered / lines, 1),
        "branches": round(100 * taken / branches, 1),
        "n_lines": lines,
        "n_branches": branches,
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
