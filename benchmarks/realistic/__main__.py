"""python -m benchmarks.realistic [LINE …] [--only TEXT] [--tables N] [--jobs N]: run lines, write the page."""

from __future__ import annotations

import argparse
import json
from importlib import import_module

from benchmarks.machine import RESULTS, write_result
from benchmarks.realistic.designs import measure
from benchmarks.realistic.page import LINES, write_page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="*", metavar="LINE", help=", ".join(LINES))
    parser.add_argument("--only", default="", help="a part of the name of a design")
    parser.add_argument("--tables", type=int, help="other than the designs say")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    for name in asked.lines:
        line = import_module(f"benchmarks.realistic.{name}").LINE
        file = RESULTS / f"realistic_{name}.json"
        kept = {each["design"]: each for each in json.loads(file.read_text())["designs"]} if file.exists() else {}
        for number, design in enumerate(line.designs):
            if asked.only not in design.name:
                continue
            how = {"tables": asked.tables, "seed": asked.seed, "jobs": asked.jobs}
            kept[design.name] = measure(name, number, **how)
            print(name, kept[design.name], flush=True)
            # After each design, so that a run that is stopped leaves its results.
            in_order = [kept[each.name] for each in line.designs if each.name in kept]
            write_result(f"realistic_{name}", {"title": line.title, "text": line.text, "designs": in_order})
    write_page()


if __name__ == "__main__":
    main()
