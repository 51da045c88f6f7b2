"""Number outcomes: what the default call finds beside plain tests, and how often it finds something false.

    python benchmarks/number_outcomes.py [--jobs 16] [--tables 100] [--noise-tables 500] [--slow-tables 0] [--only TEXT]

The lines, with their effects and noise, are in benchmarks/power/number_problems.py, the plain tests in
benchmarks/power/plain_tests.py. The result is written after every line, and the same command goes on where it was
stopped; more tables are added to those that are there. Selected variables are kept for each table as digits: how many
true and how many false ones. `--slow-tables` adds Boruta and k-NN mutual information (about a minute a table).

On one core a table takes about 0.15 s. `--print` shows the tables in Markdown, and `--pages` writes them into docs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import interplay
from machine import RESULTS, stamp
from power.number_problems import NOISE_LINES, POWER_LINES, Line
from power.plain_tests import SLOW, plain_tests
from power.workers import ONE_THREAD

RESULT = RESULTS / "number_outcomes.json"
DOCS = Path(__file__).resolve().parent.parent / "docs"
POWER_PAGE = DOCS / "number_power_table.md"
NOISE_PAGE = DOCS / "number_noise_table.md"
LINES = NOISE_LINES | POWER_LINES
OURS = "default call"
PLAIN = ("Spearman", "Pearson", "x and x²", "products", "Spearman + products")

#: What select() refuses is neither found nor false, and is told.
REFUSED = "-"

Counts = dict[str, tuple[str, str]]  # of a method: digits of true and of false finds


def digits(selected: np.ndarray, n_relevant: int) -> tuple[str, str]:
    return str(int(selected[:n_relevant].sum())), str(min(int(selected[n_relevant:].sum()), 9))


def by_fast_methods(name: str, number: int) -> Counts:
    """The default call and the plain tests of one table."""
    warnings.simplefilter("ignore")
    line = LINES[name]
    table = line.table(number)
    chosen = {method: digits(found, table.n_relevant) for method, found in plain_tests(table.X, table.y).items()}
    try:
        ours = interplay.select(
            table.X, table.y, random_state=number, n_jobs=1, engine="cpu", progress=False, **line.settings
        )
    except ValueError:
        return {OURS: (REFUSED, REFUSED), **chosen}
    return {OURS: digits(ours.is_relevant, table.n_relevant), **chosen}


def by_slow_method(name: str, method: str, number: int) -> Counts:
    warnings.simplefilter("ignore")
    table = LINES[name].table(number)
    _, call = SLOW[method]
    return {method: digits(call(table.X, table.y, number), table.n_relevant)}


def appended(row: dict[str, Any], results: Iterable[Counts]) -> None:
    for result in results:
        for method, (found, false) in result.items():
            kept = row["methods"].setdefault(method, {"found": "", "false": ""})
            kept["found"] += found
            kept["false"] += false


def rate(values: np.ndarray) -> dict[str, float]:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return {"mean": round(float(values.mean()), 4), "error": round(float(error), 4)}


def shares(row: dict[str, Any], method: str) -> tuple[np.ndarray, np.ndarray]:
    """Share of the relevant variables found, and whether any is false, of each table."""
    kept = row["methods"][method]
    found = np.array([0 if digit == REFUSED else int(digit) for digit in kept["found"]])
    false = np.array([digit not in (REFUSED, "0") for digit in kept["false"]])
    return found / max(row["n_relevant"], 1), false.astype(float)


def summarized(row: dict[str, Any]) -> dict[str, Any]:
    """The row with means and standard errors, paired where methods are compared."""
    summary = {}
    for method in row["methods"]:
        found, false = shares(row, method)
        summary[method] = {"tables": len(found), "any false": rate(false)}
        if row["n_relevant"]:
            summary[method]["found"] = rate(found)
    refused = row["methods"].get(OURS, {"found": ""})["found"].count(REFUSED)
    return {**row, "refused": refused, "summary": summary}


def best_plain(row: dict[str, Any]) -> str:
    """The plain test that finds most, chosen after the fact."""
    return max(PLAIN, key=lambda method: shares(row, method)[0].mean())


def percent(value: dict[str, float]) -> str:
    return f"{100 * value['mean']:.0f}"


def power_table(rows: dict[str, dict[str, Any]]) -> str:
    """Share found in percent, of every line and method, with the difference to the best plain test."""
    slow = [method for method in SLOW if any(method in row["methods"] for row in rows.values())]
    header = ["effect", "tables", OURS, *PLAIN, "difference to the best", *slow]
    text = [f"| {' | '.join(header)} |", "|---|" + "---:|" * (len(header) - 1)]
    for name in (name for name in POWER_LINES if name in rows):
        row = summarized(rows[name])
        best = best_plain(row)
        difference = rate(shares(row, OURS)[0] - shares(row, best)[0])
        cells = [str(row["summary"][OURS]["tables"])]
        cells += [percent(row["summary"][method]["found"]) for method in (OURS, *PLAIN)]
        cells.append(f"{100 * difference['mean']:+.0f} ± {100 * difference['error']:.0f}")
        for method in slow:
            of = row["summary"].get(method)
            cells.append("" if of is None else f"{percent(of['found'])} of {of['tables']}")
        text.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def noise_table(rows: dict[str, dict[str, Any]]) -> str:
    """Share of tables with a false find in percent, lines without and with effects."""
    shown = [OURS, "Spearman", "products"]
    text = [f"| tables | number | {' | '.join(shown)} |", "|---|" + "---:|" * (len(shown) + 1)]
    counted = {method: np.zeros(2) for method in shown}
    for name in (name for name in LINES if name in rows):
        row = rows[name]
        cells = []
        for method in shown:
            false = shares(row, method)[1]
            counted[method] += false.sum(), len(false)
            value = rate(false)
            cells.append(f"{100 * value['mean']:.1f} ± {100 * value['error']:.1f}")
        if name in NOISE_LINES:
            text.append(f"| {name} | {len(false)} | " + " | ".join(cells) + " |")
    totals = []
    for n_false, n in counted.values():
        share = n_false / max(n, 1)
        totals.append(f"{100 * share:.1f} ± {100 * np.sqrt(share * (1 - share) / max(n, 1)):.1f}")
    n = int(counted[OURS][1])
    text.append(f"| all, with the tables of the effects | {n} | " + " | ".join(totals) + " |")
    return "\n".join(text) + "\n"


def read_rows(file: Path) -> dict[str, dict[str, Any]]:
    return json.loads(file.read_text())["lines"] if file.exists() else {}


def write_rows(file: Path, rows: dict[str, dict[str, Any]]) -> None:
    """All lines in the order in which they are declared; a file is there or whole."""
    ordered = {name: summarized(rows[name]) for name in LINES if name in rows}
    partial_file = file.with_suffix(".partial")
    partial_file.write_text(json.dumps({"machine": stamp(), "lines": ordered}, indent=1) + "\n")
    partial_file.replace(file)


def row_of(line: Line) -> dict[str, Any]:
    return {"n_samples": line.n_samples, "n_vars": line.n_vars, "n_relevant": line.n_relevant, "methods": {}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    parser.add_argument("--tables", type=int, default=100, help="of each line with effects")
    parser.add_argument("--noise-tables", type=int, help="of each line of noise (default: as --tables)")
    parser.add_argument("--slow-tables", type=int, default=0, help="of Boruta and mutual information, if installed")
    parser.add_argument("--only", default="", help="lines whose names hold this text")
    parser.add_argument("--save", type=Path, default=RESULT)
    parser.add_argument("--print", action="store_true", dest="show", help="print the tables and do nothing else")
    parser.add_argument("--pages", action="store_true", help="write the tables of docs and do nothing else")
    arguments = parser.parse_args()
    rows = read_rows(arguments.save)
    if arguments.show:
        print(power_table(rows), noise_table(rows), sep="\n")
        return
    if arguments.pages:
        POWER_PAGE.write_text(power_table(rows), encoding="utf-8")
        NOISE_PAGE.write_text(noise_table(rows), encoding="utf-8")
        return
    noise_tables = arguments.tables if arguments.noise_tables is None else arguments.noise_tables
    slow = [method for method, (package, _) in SLOW.items() if importlib.util.find_spec(package) is not None]
    os.environ |= ONE_THREAD  # in the processes, which load numpy anew
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        for name, line in LINES.items():
            if arguments.only not in name:
                continue
            row = rows.get(name, row_of(line))
            n_done = len(row["methods"].get(OURS, {"found": ""})["found"])
            wanted = range(n_done, noise_tables if name in NOISE_LINES else arguments.tables)
            appended(row, pool.imap(partial(by_fast_methods, name), wanted, chunksize=5))
            if name in POWER_LINES:
                for method in slow:
                    n_slow = len(row["methods"].get(method, {"found": ""})["found"])
                    left = range(n_slow, arguments.slow_tables)
                    appended(row, pool.imap(partial(by_slow_method, name, method), left))
            if not row["methods"]:
                continue
            rows[name] = row
            write_rows(arguments.save, rows)
            told = summarized(row)["summary"][OURS]
            print(f"{name:55s} {told}", flush=True)


if __name__ == "__main__":
    main()
