"""python -m benchmarks.realistic [LINE …] [--only TEXT] [--tables N] [--minutes M] [--jobs N]: lines, then the page.

Without lines, all of them. Tables that were run before are kept (`--again` runs them anew), so that a run that is
stopped, or reaches its limit of time, goes on where it was. All designs grow alike: a few tables of each in turn.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from typing import Any

from benchmarks.machine import RESULTS, write_result
from benchmarks.realistic.designs import Line, Task, run_one, shares
from benchmarks.realistic.page import LINES, write_page

#: Tables of a design that are run in a round.
_IN_A_ROUND = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="*", metavar="LINE", help=", ".join(LINES))
    parser.add_argument("--only", default="", help="a part of the name of a design")
    parser.add_argument("--tables", type=int, help="other than the designs say; a quarter as many are planted")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--again", action="store_true", help="forget earlier results of these designs")
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    lines = {name: import_module(f"benchmarks.realistic.{name}").LINE for name in asked.lines or LINES}
    done = {name: _kept(name) for name in lines}
    due: dict[tuple[str, str], list[Task]] = {}
    for name, line in lines.items():
        for number, design in enumerate(line.designs):
            if asked.only not in design.name:
                continue
            if asked.again:
                done[name].pop(design.name, None)
            known = {(bool(each[0]), each[1]) for each in done[name].get(design.name, [])}
            n_noise = design.tables if asked.tables is None else asked.tables
            n_planted = min(design.planted, n_noise if asked.tables is None else max(asked.tables // 4, 1))
            wanted = [(False, t) for t in range(n_noise)] + [(True, t) for t in range(n_planted)]
            # A few of both in each round.
            wanted.sort(key=lambda each: each[1] / (n_planted if each[0] else n_noise))
            due[name, design.name] = [Task(name, number, asked.seed, t, p) for p, t in wanted if (p, t) not in known]
    with ProcessPoolExecutor(asked.jobs) as pool:
        while any(due.values()) and time.monotonic() < end:
            for (name, design_name), tasks in due.items():
                now, tasks[:] = tasks[:_IN_A_ROUND], tasks[_IN_A_ROUND:]
                if not now or time.monotonic() > end:
                    continue
                results = list(pool.map(run_one, now))
                of_design = done[name].setdefault(design_name, [])
                of_design += [[t.is_planted, t.table, *found] for t, found in zip(now, results, strict=True)]
                entry = _write(name, lines[name], done[name])[design_name]
                print(name, {key: value for key, value in entry.items() if key != "results"}, flush=True)
    write_page()


def _kept(name: str) -> dict[str, list[list[float]]]:
    file = RESULTS / f"realistic_{name}.json"
    if not file.exists():
        return {}
    designs = json.loads(file.read_text())["designs"]
    return {each["design"]: [list(map(float, row.split())) for row in each.get("results", [])] for each in designs}


def _write(name: str, line: Line, results: dict[str, list[list[float]]]) -> dict[str, Any]:
    entries = {
        each.name: shares(each.name, each.plain_name, results[each.name])
        for each in line.designs
        if each.name in results
    }
    write_result(f"realistic_{name}", {"title": line.title, "text": line.text, "designs": list(entries.values())})
    return entries


if __name__ == "__main__":
    main()
