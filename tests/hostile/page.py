"""The tables as pages of the documentation: ``python -m hostile.page``, in the folder tests, writes them anew."""

from __future__ import annotations

from pathlib import Path

from hostile.areas import ALL
from hostile.case import Area, Case, outcome
from hostile.messy_files import MESSY, came_of

PAGE = Path(__file__).parents[2] / "docs" / "bad_input.md"
MESSY_PAGE = PAGE.with_name("messy_files.md")

_HEAD = """# Bad and odd input

Whatever is handed to interplay gives the right answer, or an error that says in one line what was wrong and what to
do. This page is the proof: {number} inputs, what comes of each, and the message as it is. The tests run every row. “As”
means that the result is the same, to the last bit, as that of the plain equivalent named there.

*Made by `python -m hostile.page` from the table in `tests/hostile`.*
"""

_MESSY_HEAD = """# Messy files

One small table, written in {number} ways that files of real life are written in. The dose and the weight decide
together about the outcome; age and site tell nothing. The second column has what `select` finds with its default
settings, the third what interplay says: warnings, then the error if the file is refused. On the command line, messages
name options instead of arguments (`--na-values '?'`). No file is silent: either something is said, or the file holds
the same table as the good one.

*Made by `python -m hostile.page` from `tests/hostile/messy_files.py`; the tests run every row.*
"""


def row(case: Case, came_of_it: str) -> str:
    return f"| {case.what} | {came_of_it} |"


def section(area: Area) -> str:
    rows = [row(case, outcome(case)) for case in area.cases]
    return "\n".join([f"\n## {area.title}\n", "| input | what happens |", "| --- | --- |", *rows]) + "\n"


def messy_page() -> str:
    parts = [_MESSY_HEAD.format(number=sum(map(len, MESSY.values())))]
    for title, files in MESSY.items():
        rows = [came_of(messy).row(messy.what) for messy in files]
        head = [f"\n## {title}\n", "| what is odd | found | what is said |", "| --- | --- | --- |"]
        parts.append("\n".join([*head, *rows]) + "\n")
    return "".join(parts)


def main() -> None:
    MESSY_PAGE.write_text(messy_page(), encoding="utf-8")
    number = sum(len(area.cases) for area in ALL)
    PAGE.write_text(_HEAD.format(number=number) + "".join(section(area) for area in ALL), encoding="utf-8")


if __name__ == "__main__":
    main()
