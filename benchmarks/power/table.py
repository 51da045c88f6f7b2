"""The summary of the study as Markdown: one table of all, and all numbers problem by problem."""

from __future__ import annotations

import pandas as pd

from power.methods import METHODS
from power.problems import PROBLEMS


def table_in_markdown(summary: pd.DataFrame) -> str:
    """Methods down, problems across: percent of the truth found, and in brackets the false discovery rate.

    Then percent of the tables, of all problems together, in which anything selected was false: 20 tables of one problem
    tell little of a rate of 5 %.
    """
    problems = [problem for problem in PROBLEMS.values() if problem.name in summary.index.get_level_values("problem")]
    most = {problem.name: _percent(summary.loc[problem.name, "found"].max()) for problem in problems}
    lines = [
        "| method | " + " | ".join(problem.short for problem in problems) + " | any false | seconds |",
        "|---|" + "---:|" * (len(problems) + 2),
    ]
    for method in METHODS.values():
        if method.name in summary.index.get_level_values("method"):
            cells = [_cell(summary, problem.name, method.name, most[problem.name]) for problem in problems]
            own = summary.xs(method.name, level="method")
            any_false = "" if method.oracle else f"{_percent(own['n_with_false'].sum() / own['n_tables'].sum())}"
            cells += [any_false, _time(own["seconds"].median())]
            lines.append(f"| {_escaped(method.title)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def details_in_markdown(summary: pd.DataFrame) -> str:
    parts = []
    for problem in PROBLEMS.values():
        if problem.name not in summary.index.get_level_values("problem"):
            continue
        parts += [
            f"### {' '.join(problem.title.split())}\n",
            "| method | found, % | false discoveries | FDR, % | seconds | tables |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        here = summary.loc[problem.name]
        parts += [
            _detail(method.title, here.loc[method.name]) for method in METHODS.values() if method.name in here.index
        ]
        parts.append("")
    return "\n".join(parts)


def _detail(title: str, row: pd.Series) -> str:
    tables = f"{row.n_tables}" + (f", {row.n_failed} failed: {row.failures}" if row.n_failed else "")
    if row.n_tables == 0:
        return f"| {_escaped(title)} | | | | | {tables} |"
    return (
        f"| {_escaped(title)} | {_percent(row.found)} ({_percent(row.found_low)}–{_percent(row.found_high)}) "
        f"| {row.n_false:.2g}, at most {row.most_false:.0f} "
        f"| {_percent(row.fdr)} ({_percent(row.fdr_low)}–{_percent(row.fdr_high)}) "
        f"| {_time(row.seconds)} ({_time(row.seconds_low)}–{_time(row.seconds_high)}) | {tables} |"
    )


def _cell(summary: pd.DataFrame, problem: str, method: str, most: int) -> str:
    if (problem, method) not in summary.index:
        return ""
    row = summary.loc[(problem, method)]
    if row.n_tables == 0:
        return "failed"
    found = _percent(row.found)
    text = f"**{found}**" if found == most and found > 0 else f"{found}"
    # A ranking that is cut at the right number is wrong as often as it misses.
    return text if METHODS[method].oracle else f"{text}\N{NO-BREAK SPACE}({_percent(row.fdr)})"


def _percent(share: float) -> int:
    return round(100 * share)


def _time(seconds: float) -> str:
    """Two digits, and no more than the clock of the processor tells."""
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}" if seconds >= 0.01 else "< 0.01"


def _escaped(title: str) -> str:
    return title.replace("*", r"\*").replace("_", r"\_")
