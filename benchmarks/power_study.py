"""How much do interplay and other methods find, and how much of it is wrong? Tables with known truth.

    python benchmarks/power_study.py [--problems xor_pairs …] [--methods interplay_2d_holm …] [--repetitions 5]

or `make power` from a clean clone. Results go to benchmarks/results/power.parquet, and what is there is not done again:
stop at any moment and go on later. From all rows are then made the tables and the picture of docs/power.md.

The packages that interplay is compared with are installed into an environment of their own under build/.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

from machine import RESULTS, stamp
from power.methods import METHODS
from power.picture import draw
from power.problems import PROBLEMS
from power.study import read_rows, run_study, write_rows
from power.summary import summarised
from power.table import details_in_markdown, table_in_markdown
from power.workers import Workers

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent

RESULT = RESULTS / "power.parquet"
TABLE = REPOSITORY / "docs" / "power_table.md"
DETAILS = REPOSITORY / "docs" / "power_details.md"
PICTURE = REPOSITORY / "docs" / "images" / "power.png"
REQUIREMENTS = HERE / "power" / "requirements.txt"
RIVAL_ENVIRONMENT = REPOSITORY / "build" / "power-rivals"


def python_of(module: str) -> Path:
    """The interpreter that has what a module of methods needs."""
    if module == "installed_methods":
        return Path(sys.executable)
    python = RIVAL_ENVIRONMENT / "bin" / "python"
    wanted = REQUIREMENTS.read_text()
    ready = RIVAL_ENVIRONMENT / "ready"
    if not ready.exists() or ready.read_text() != wanted:
        print("installing other packages into an environment of their own …", file=sys.stderr)
        venv.create(RIVAL_ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
        ready.write_text(wanted)
    return python


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), metavar="PROBLEM")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    parser.add_argument("--repetitions", type=int, help="at most so many; fewer where a method has fewer")
    parser.add_argument("--limit-seconds", type=float, default=120, help="of processor time, for a call")
    parser.add_argument("--again", action="store_true", help="do these problems and methods again")
    arguments = parser.parse_args()
    if os.name != "posix":
        parser.error("the time limit of a call needs a POSIX system")

    problems, methods = [
        [known[name] for name in names]
        for known, names in ((PROBLEMS, arguments.problems), (METHODS, arguments.methods))
    ]
    if arguments.again:
        rows = read_rows(RESULT)
        asked = rows["problem"].isin(arguments.problems) & rows["method"].isin(arguments.methods)
        write_rows(rows[~asked], RESULT, stamp())
    with Workers(python_of, arguments.limit_seconds) as workers:
        rows = run_study(
            RESULT,
            problems=problems,
            methods=methods,
            workers=workers,
            machine=stamp(),
            repetitions=arguments.repetitions,
            say=lambda line: print(line, flush=True),
        )
    summary = summarised(rows)
    TABLE.write_text(table_in_markdown(summary), encoding="utf-8")
    DETAILS.write_text(details_in_markdown(summary), encoding="utf-8")
    draw(summary, PICTURE)
    print("written:", *(path.relative_to(REPOSITORY) for path in (RESULT, TABLE, DETAILS, PICTURE)))


if __name__ == "__main__":
    main()
