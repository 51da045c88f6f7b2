"""The tables as pages of the documentation: ``python -m hostile.page``, in the folder tests, writes them anew."""

from pathlib import Path

from hostile.areas import ALL
from hostile.case import outcome
from hostile.messy_files import MESSY, came_of

PAGE = Path(__file__).parents[2] / "docs" / "bad_input.md"
MESSY_PAGE = PAGE.with_name("messy_files.md")

_HEAD = """# Bad and odd input

Every input gives the right answer, or an error that says in one line what is wrong and what to do. This page lists
{number} inputs and what happens with each; messages are shown as they appear. The tests run every row. “As” means that
the result is bit for bit the same as for the plain input that is named.

*Made by `python -m hostile.page` from the table in `tests/hostile`.*
"""

_MESSY_HEAD = """# Messy files

One small table, written in {number} ways that occur in real files. Dose and weight together determine the outcome; age
and site are not informative. The second column gives the variables that `select` finds with its default settings, the
third the messages: warnings, then the error if the file is refused. On the command line, messages name options instead
of arguments (`--na-values '?'`). No problem is silent: either a message appears, or the file contains the same table as
the clean file.

*Made by `python -m hostile.page` from `tests/hostile/messy_files.py`; the tests run every row.*
"""


def row(case, came_of_it):
    return f"| {case.what} | {came_of_it} |"


def section(area):
    rows = [row(case, outcome(case)) for case in area.cases]
    return "\n".join([f"\n## {area.title}\n", "| input | what happens |", "| --- | --- |", *rows]) + "\n"


def messy_page():
    parts = [_MESSY_HEAD.format(number=sum(map(len, MESSY.values())))]
    for title, files in MESSY.items():
        rows = [came_of(messy).row(messy.what) for messy in files]
        head = [f"\n## {title}\n", "| problem | found | messages |", "| --- | --- | --- |"]
        parts.append("\n".join([*head, *rows]) + "\n")
    return "".join(parts)


def main():
    MESSY_PAGE.write_text(messy_page(), encoding="utf-8")
    number = sum(len(area.cases) for area in ALL)
    PAGE.write_text(_HEAD.format(number=number) + "".join(section(area) for area in ALL), encoding="utf-8")


if __name__ == "__main__":
    main()
