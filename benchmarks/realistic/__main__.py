"""python -m benchmarks.realistic [LINE …] [--only TEXT] [--tables N] [--minutes M] [--jobs N]: lines, then the page.

Without lines, all of them. Tables that were run before are kept (`--again` runs them anew), so that a run that is
stopped, or reaches its limit of time, goes on where it was. Designs with the fewest tables come first, so that all grow
alike; with `--minutes 5 --jobs 16` a machine of 16 cores is busy for five minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from importlib import import_module
from itertools import islice
from typing import Any

from benchmarks.machine import RESULTS, write_result
from benchmarks.realistic.designs import Line, Task, run_one, shares
from benchmarks.realistic.page import LINES, write_page

#: Seconds after which results are written.
_WRITE_AFTER = 20.0


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
    due: list[tuple[float, str, str, Task]] = []
    for name, line in lines.items():
        for number, design in enumerate(line.designs):
            if asked.only not in design.name:
                continue
            if asked.again:
                done[name].pop(design.name, None)
            known = {(bool(each[0]), each[1]) for each in done[name].get(design.name, [])}
            n_noise = design.tables if asked.tables is None else asked.tables
            n_planted = min(design.planted, n_noise if asked.tables is None else max(asked.tables // 4, 1))
            for is_planted, n in ((False, n_noise), (True, n_planted)):
                # Those with the fewest tables first, and planted ones in step with the others.
                step = n_noise / max(n, 1)
                due += [
                    (step * t, name, design.name, Task(name, number, asked.seed, t, is_planted))
                    for t in range(n)
                    if (is_planted, t) not in known
                ]
    due.sort(key=lambda each: each[0])
    written = time.monotonic()
    with ProcessPoolExecutor(asked.jobs) as pool:
        running: dict[Future[tuple[float, float]], tuple[str, str, Task]] = {}
        waiting = iter(due)
        n_failed, changed = 0, set[str]()
        while True:
            # As many wait as run: no process stands still, and the end is near when time is up.
            for _, name, design_name, task in islice(waiting, max(0, 2 * asked.jobs - len(running))):
                if time.monotonic() > end:
                    break
                running[pool.submit(run_one, task)] = name, design_name, task
            if time.monotonic() > end:
                running = {one: about for one, about in running.items() if not one.cancel()}
            if not running:
                break
            for one in wait(running, return_when=FIRST_COMPLETED).done:
                name, design_name, task = running.pop(one)
                if (error := one.exception()) is not None:
                    print(f"{name}: {design_name}: {task}: {error!r}", flush=True)
                    n_failed += 1
                    continue
                found = [task.is_planted, task.table, *one.result()]
                done[name].setdefault(design_name, []).append(found)
                changed.add(name)
            if time.monotonic() - written > _WRITE_AFTER:
                _write_all(changed, lines, done)
                written = time.monotonic()
    _write_all(changed, lines, done)
    for name, line in lines.items():
        for entry in _entries(line, done[name]).values():
            print(name, {key: value for key, value in entry.items() if key != "results"}, flush=True)
    write_page()
    if n_failed:
        raise SystemExit(f"{n_failed} tables failed")


def _kept(name: str) -> dict[str, list[list[float]]]:
    file = RESULTS / f"realistic_{name}.json"
    if not file.exists():
        return {}
    designs = json.loads(file.read_text())["designs"]
    return {each["design"]: [list(map(float, row.split())) for row in each.get("results", [])] for each in designs}


def _entries(line: Line, results: dict[str, list[list[float]]]) -> dict[str, dict[str, Any]]:
    return {
        each.name: shares(each.name, each.plain_name, results[each.name])
        for each in line.designs
        if each.name in results
    }


def _write_all(changed: set[str], lines: dict[str, Line], done: dict[str, dict[str, list[list[float]]]]) -> None:
    for name in sorted(changed):
        line, designs = lines[name], list(_entries(lines[name], done[name]).values())
        write_result(f"realistic_{name}", {"title": line.title, "text": line.text, "designs": designs})


if __name__ == "__main__":
    main()
