"""Does the default call of select() lose to anything? All valid methods of the study, on tables that tuned nothing.

    python benchmarks/one_call_power.py [--jobs 16] [--tables 100] [--strengths weak medium strong] [--save FILE]

For each problem and strength of its effects, the share of the relevant variables found by the default call, by the best
method of that column (chosen after the fact) and their difference, paired over the tables, with its standard error; for
Holm and for BH. Methods compared: Welch's t-test, the rank test, interplay in 1D (two and four levels), 2D, 3D and, of
up to 40 variables, 4D. Rows are kept in build/one_call_power, one file for each problem and strength: the same command
goes on where it was stopped. In the end docs/one_call_table.md is written.

About 0.25 processor seconds a table: 100 tables of all problems in three strengths take about 20 core minutes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import interplay
from interplay.infer.p_values import adjust
from machine import RESULTS
from power.problems import MORE_PROBLEMS, PROBLEMS, STRENGTHS, Table
from power.workers import ONE_THREAD

REPOSITORY = Path(__file__).resolve().parent.parent
WORK = REPOSITORY / "build" / "one_call_power"
RESULT = RESULTS / "one_call_power.parquet"
PAGE = REPOSITORY / "docs" / "one_call_table.md"

ALL_PROBLEMS = PROBLEMS | MORE_PROBLEMS

#: Tables from here on were used for no choice of arms and weights.
FIRST_TABLE = 30_000
LEVEL = 0.05
ADJUSTMENTS = ("holm", "BH")
OURS = "auto"
MAX_VARS_4D = 40
TITLES = {
    "welch": "t", "rank": "rank", "1D": "1D", "1D 4 levels": "1D, 4 levels", "2D": "2D", "3D": "3D", "4D": "4D",
}  # fmt: skip


def p_values(table: Table, seed: int) -> dict[str, np.ndarray]:
    """The p-values of every method."""
    X, y = table.X, table.y
    groups = [X[y == label] for label in np.unique(y)]
    two = len(groups) == 2
    ours = interplay.select(X, y, random_state=seed)
    found = {
        OURS: ours.p_value,
        "welch": (stats.ttest_ind(*groups, equal_var=False) if two else stats.f_oneway(*groups)).pvalue,
        "rank": (stats.mannwhitneyu(*groups) if two else stats.kruskal(*groups)).pvalue,
        "1D 4 levels": interplay.select(X, y, dimensions=1, divisions=3, random_state=seed).p_value,
    }
    # What the searches among the arms say by themselves is what they say as calls of their own.
    found |= {f"{k}D": ours.of_dimension(k).p_value for k in ours.dimensions}
    found |= {f"arm {arm}": ours.p_of_arm(arm) for arm in ours.arms}
    return {name: np.nan_to_num(p, nan=1.0) for name, p in found.items()}


def rows_of(table: Table, seed: int) -> Iterable[dict]:
    is_true = np.zeros(table.X.shape[1], dtype=bool)
    is_true[table.truth] = True
    for method, p in p_values(table, seed).items():
        for adjustment in ADJUSTMENTS:
            selected = adjust(p, adjustment) < LEVEL
            yield {
                "repetition": seed,
                "method": method,
                "adjustment": adjustment,
                "n_relevant": int(is_true.sum()),
                "n_found": int((selected & is_true).sum()),
                "n_false": int((selected & ~is_true).sum()),
            }


def path_of(problem: str, strength: str) -> Path:
    return WORK / f"{problem}_{strength}.jsonl"


def run_table(work: tuple[str, str, int]) -> str:
    problem, strength, repetition = work
    warnings.simplefilter("ignore")
    rows = list(rows_of(ALL_PROBLEMS[problem].table(FIRST_TABLE + repetition, strength), repetition))
    line = "".join(json.dumps(row) + "\n" for row in rows).encode()
    descriptor = os.open(path_of(problem, strength), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)  # all of a table's rows, or none
    finally:
        os.close(descriptor)
    return f"{problem}, {strength}"


def read_rows() -> pd.DataFrame:
    frames = []
    for problem in ALL_PROBLEMS:
        for strength in STRENGTHS:
            path = path_of(problem, strength)
            if path.exists():
                lines = [line for line in path.read_text().splitlines() if line.endswith("}")]
                frames.append(pd.DataFrame(map(json.loads, lines)).assign(problem=problem, strength=strength))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def compared(rows: pd.DataFrame) -> pd.DataFrame:
    """One line for each problem, strength and adjustment: the default call against the best of the others."""
    rows = rows.assign(
        found=rows["n_found"] / rows["n_relevant"],
        fdr=rows["n_false"] / np.maximum(rows["n_found"] + rows["n_false"], 1),
        any_false=rows["n_false"] > 0,
    )
    lines = []
    for (problem, strength, adjustment), part in rows.groupby(["problem", "strength", "adjustment"], sort=False):
        found = part.pivot_table(index="repetition", columns="method", values="found")
        others = [name for name in TITLES if name in found.columns]
        best = found[others].mean().idxmax()
        difference = found[OURS] - found[best]
        ours = part[part["method"] == OURS]
        lines.append(
            {
                "problem": problem,
                "strength": strength,
                "adjustment": adjustment,
                "tables": len(found),
                "best": best,
                "best_found": found[best].mean(),
                "found": found[OURS].mean(),
                "difference": difference.mean(),
                "error": difference.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan,
                "fdr": ours["fdr"].mean(),
                "fdr_error": ours["fdr"].std(ddof=1) / np.sqrt(len(ours)) if len(ours) > 1 else np.nan,
                "any_false": ours["any_false"].mean(),
            }
        )
    return pd.DataFrame(lines)


def in_markdown(lines: pd.DataFrame) -> str:
    """Problems down; best method, default call and difference for Holm and for BH."""
    header = "| | strength | Holm: best | default | difference | any false | BH: best | default | difference | FDR |"
    text = [header, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for (problem, strength), part in lines.groupby(["problem", "strength"], sort=False):
        by = part.set_index("adjustment")
        cells = []
        for adjustment in ADJUSTMENTS:
            line = by.loc[adjustment]
            difference = f"{100 * line.difference:+.0f} ± {100 * line.error:.0f}"
            behind = line.difference < -0.05
            cells += [
                f"{TITLES[line.best]} {100 * line.best_found:.0f}",
                f"{100 * line.found:.0f}",
                f"**{difference}**" if behind else difference,
                f"{100 * line.any_false:.0f}"
                if adjustment == "holm"
                else f"{100 * line.fdr:.0f} ± {100 * line.fdr_error:.0f}",
            ]
        text.append(f"| {' '.join(ALL_PROBLEMS[problem].title.split())} | {strength} | " + " | ".join(cells) + " |")
    n = lines["tables"]
    holm = lines[lines["adjustment"] == "holm"]
    any_false = (holm["any_false"] * holm["tables"]).sum() / holm["tables"].sum()
    text += [
        "",
        f"{int(n.min())} to {int(n.max())} tables a line; any false with Holm in {any_false:.1%} of all tables.",
    ]
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--tables", type=int, default=100, help="of each problem and strength")
    parser.add_argument("--problems", nargs="+", choices=ALL_PROBLEMS, default=list(ALL_PROBLEMS), metavar="PROBLEM")
    parser.add_argument("--strengths", nargs="+", choices=STRENGTHS, default=list(STRENGTHS))
    parser.add_argument("--save", type=Path, default=RESULT, help="Parquet file of all rows")
    parser.add_argument("--page", type=Path, default=PAGE, help="Markdown file of the comparison")
    arguments = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    rows = read_rows()
    done = set() if rows.empty else set(zip(rows["problem"], rows["strength"], rows["repetition"], strict=True))
    work = [
        (problem, strength, repetition)
        for repetition in range(arguments.tables)  # all problems early, so that an unfinished study is of use
        for strength in arguments.strengths
        for problem in arguments.problems
        if (problem, strength, repetition) not in done
    ]
    os.environ |= ONE_THREAD  # in the processes, which load numpy anew
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        for number, _ in enumerate(pool.imap_unordered(run_table, work), start=1):
            if number % 100 == 0 or number == len(work):
                print(f"{number} of {len(work)} tables", flush=True)
    rows = read_rows()
    rows.to_parquet(arguments.save, compression="zstd")
    arguments.page.write_text(in_markdown(compared(rows)), encoding="utf-8")
    print("written:", arguments.save, arguments.page)


if __name__ == "__main__":
    main()
