"""The table as a page of the documentation: ``python -m hostile.page``, in the folder tests, writes it anew."""

from __future__ import annotations

from pathlib import Path

from hostile.areas import ALL
from hostile.case import Area, Case, outcome

PAGE = Path(__file__).parents[2] / "docs" / "bad_input.md"

_HEAD = """# Bad and odd input

Whatever is handed to interplay gives the right answer, or an error that says in one line what was wrong and what to
do. This page is the proof: {number} inputs, what comes of each, and the message as it is. The tests run every row. “As”
means that the result is the same, to the last bit, as that of the plain equivalent named there.

*Made by `python -m hostile.page` from the table in `tests/hostile`.*
"""


def row(case: Case, came_of_it: str) -> str:
    return f"| {case.what} | {came_of_it} |"


def section(area: Area) -> str:
    rows = [row(case, outcome(case)) for case in area.cases]
    return "\n".join([f"\n## {area.title}\n", "| input | what happens |", "| --- | --- |", *rows]) + "\n"


def main() -> None:
    number = sum(len(area.cases) for area in ALL)
    PAGE.write_text(_HEAD.format(number=number) + "".join(section(area) for area in ALL), encoding="utf-8")


if __name__ == "__main__":
    main()
