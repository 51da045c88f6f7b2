"""Is `interplay.power` right? Its figure beside the share of simulated studies in which `interactions` finds the tuple.

    python benchmarks/power_formula.py [--jobs 16] [--tables 4000] [--save FILE] [--add NUMBER …]

Two to four members, two to four levels, numbers, classes and times; columns of labels, and numbers that are
cut, which the search tests a second time beside smooth effects. Each table has one tuple that interacts and noise; the
whole table is searched with Holm's method. A standard error of 4000 tables is 0.8 points. About 0.02 processor seconds
a table: 4000 tables of all settings take about 45 core minutes. `--add` keeps the tables that the file has, adds more
to these settings (numbered from 0; none with `--add` alone), and computes `power` anew. Writes
benchmarks/results/power_formula.json and docs/power_formula_table.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

import interplay
from machine import RESULTS, stamp

PAGE = Path(__file__).resolve().parent.parent / "docs" / "power_formula_table.md"
GENOTYPES = (0.49, 0.42, 0.09)

NUMBERS: list[dict[str, Any]] = [
    {"n_samples": 100, "n_vars": 20, "effect": 0.38},
    {"n_samples": 200, "n_vars": 50, "effect": 0.36},
    {"n_samples": 400, "n_vars": 50, "effect": 0.19},
    {"n_samples": 1000, "n_vars": 100, "effect": 0.15},
    {"n_samples": 300, "n_vars": 30, "effect": 0.24, "scale": "values"},
    {"n_samples": 60, "n_vars": 10, "effect": 0.52},
    {"n_samples": 300, "n_vars": 30, "effect": 0.36, "shares": (0.8, 0.2)},
    {"n_samples": 300, "n_vars": 30, "effect": 0.42, "levels": 3},
    {"n_samples": 500, "n_vars": 40, "effect": 0.52, "levels": 3, "shares": GENOTYPES},
    {"n_samples": 200, "n_vars": 20, "effect": 2.0, "levels": 3, "shares": (0.81, 0.18, 0.01)},
    {"n_samples": 300, "n_vars": 20, "effect": 0.24, "dimensions": 3},
    {"n_samples": 600, "n_vars": 15, "effect": 1.0, "dimensions": 3, "levels": 3, "shares": GENOTYPES},
    {"n_samples": 400, "n_vars": 12, "effect": 0.21, "dimensions": 4},
    {"n_samples": 300, "n_vars": 20, "effect": 0.32, "levels": (2, 4), "shares": ((0.5, 0.5), (0.25,) * 4)},
]
CLASSES: list[dict[str, Any]] = [
    {"n_samples": 100, "n_vars": 20, "effect": 3.2},
    {"n_samples": 200, "n_vars": 50, "effect": 3.0},
    {"n_samples": 400, "n_vars": 50, "effect": 1.8, "class_shares": (0.7, 0.3)},
    {"n_samples": 1000, "n_vars": 60, "effect": 2.0, "class_shares": (0.9, 0.1)},
    {"n_samples": 2000, "n_vars": 40, "effect": 0.72},
    {"n_samples": 60, "n_vars": 8, "effect": 4.0},
    {"n_samples": 400, "n_vars": 30, "effect": 2.6, "shares": (0.8, 0.2)},
    {"n_samples": 400, "n_vars": 16, "effect": 3.5, "dimensions": 3},
    {"n_samples": 500, "n_vars": 10, "effect": 5.8, "dimensions": 4},
    {"n_samples": 400, "n_vars": 25, "effect": 2.9, "levels": 3},
    {"n_samples": 600, "n_vars": 30, "effect": 3.8, "levels": 3, "shares": GENOTYPES},
    {"n_samples": 1500, "n_vars": 25, "effect": 3.2, "levels": 3, "shares": GENOTYPES, "class_shares": (0.8, 0.2)},
    {"n_samples": 400, "n_vars": 20, "effect": 2.1, "class_shares": (0.4, 0.3, 0.3)},
    {"n_samples": 800, "n_vars": 10, "effect": 5.4, "dimensions": 3, "levels": 3},
    {"n_samples": 300, "n_vars": 20, "effect": 2.3, "levels": (2, 3), "shares": ((0.5, 0.5), (0.3, 0.3, 0.4))},
    {"n_samples": 900, "n_vars": 15, "effect": 4.1, "levels": 3, "shares": GENOTYPES, "class_shares": (0.5, 0.3, 0.2)},
]
TIMES: list[dict[str, Any]] = [
    {"n_samples": 300, "n_vars": 20, "effect": 1.4, "event_share": 0.7},
    {"n_samples": 500, "n_vars": 30, "effect": 1.5, "event_share": 0.5, "shares": (0.7, 0.3)},
    {"n_samples": 800, "n_vars": 20, "effect": 3.2, "event_share": 0.15, "shares": (0.85, 0.15)},
    {"n_samples": 800, "n_vars": 20, "effect": -3.2, "event_share": 0.15, "shares": (0.85, 0.15)},
    {"n_samples": 600, "n_vars": 15, "effect": 3.4, "event_share": 0.3, "levels": 3, "shares": GENOTYPES},
]
SETTINGS = [
    {"outcome": outcome, **one}
    for outcome, some in (("number", NUMBERS), ("classes", CLASSES), ("times", TIMES))
    for one in some
]


def columns(setting: dict[str, Any], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table, and the levels of the members of its tuple; plain code, which shares nothing with `power`."""
    n, n_vars, k = setting["n_samples"], setting["n_vars"], setting.get("dimensions", 2)
    levels = setting.get("levels", 2)
    of_members = [levels] * k if isinstance(levels, int) else list(levels)
    shares = setting.get("shares")
    if shares is not None:
        of_each = shares if isinstance(shares[0], tuple) else (shares,) * k
        X = np.stack([rng.choice(len(of_each[v % k]), size=n, p=of_each[v % k]) for v in range(n_vars)], axis=1)
        return X, X[:, :k]
    X = rng.normal(size=(n, n_vars))
    return X, interplay.discretize(X[:, :k], divisions=of_members[0] - 1, discrete="none")[0].astype(int)


def outcome_of(setting: dict[str, Any], members: np.ndarray, rng: np.random.Generator) -> Any:
    n, k = members.shape
    levels = setting.get("levels", 2)
    of_members = np.array([levels] * k if isinstance(levels, int) else levels)
    sign = np.prod(2 * members / (of_members - 1) - 1, axis=1)
    if setting["outcome"] == "number":
        return setting["effect"] * sign + rng.normal(size=n)
    log_odds = setting["effect"] / 2**k * sign
    if setting["outcome"] == "times":
        hazard = np.exp(log_odds)
        wanted = setting["event_share"]
        rate = brentq(lambda a: float(np.mean(hazard / (hazard + np.exp(a)))) - wanted, -20.0, 20.0)
        time, end = rng.exponential(1 / hazard), rng.exponential(np.exp(-rate), n)
        return np.minimum(time, end), time <= end
    shares = np.array(setting.get("class_shares", (0.5, 0.5)))
    if len(shares) == 2:
        low, high = -20.0, 20.0
        at = brentq(lambda a: float(np.mean(1 / (1 + np.exp(-a - log_odds)))) - shares[1], low, high)
        return (rng.random(n) < 1 / (1 + np.exp(-at - log_odds))).astype(int)
    scores = np.linspace(-0.5, 0.5, len(shares))
    intercept = np.log(shares)
    for _ in range(100):
        chances = np.exp(intercept + np.outer(log_odds, scores))
        chances /= chances.sum(axis=1, keepdims=True)
        intercept += np.log(shares / chances.mean(axis=0))
    return (rng.random(n)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)


def is_found(job: tuple[int, int]) -> tuple[int, bool]:
    """Whether the search of one table lists the tuple."""
    number, seed = job
    setting = SETTINGS[number]
    rng = np.random.default_rng([number, seed])
    k = setting.get("dimensions", 2)
    X, members = columns(setting, rng)
    is_cut = X.dtype.kind == "f"
    y = outcome_of(setting, members, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interplay.interactions(
            X,
            y,
            dimensions=k,
            decision={"number": "number", "classes": "classes", "times": "auto"}[setting["outcome"]],
            scale=setting.get("scale", "ranks"),
            divisions=setting.get("levels", 2) - 1 if is_cut else 1,
            discrete="none" if is_cut else "all",
            n_jobs=1,
            progress=False,
            coding="levels",
        )
    return number, tuple(f"x{v}" for v in range(k)) in found.significant


def in_words(setting: dict[str, Any]) -> str:
    parts = [setting["outcome"], f"{setting.get('dimensions', 2)} members", f"levels {setting.get('levels', 2)}"]
    parts += [
        f"{name} {setting[name]}" for name in ("shares", "class_shares", "event_share", "scale") if name in setting
    ]
    is_cut = "shares" not in setting
    return ", ".join([*parts, "cut numbers"] if is_cut else parts)


def page(rows: list[dict[str, Any]], tables: int, about: dict[str, Any]) -> str:
    lines = [
        "| study | samples | variables | effect | `power` | found | difference, points |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        study = f"| {row['setting']} | {row['n_samples']} | {row['n_vars']} | {row['effect']} "
        found = f"| {100 * row['power']:.1f} % | {100 * row['found']:.1f} % ± {100 * row['error']:.1f} "
        lines.append(f"{study}{found}| {100 * (row['power'] - row['found']):+.1f} |")
    more = sorted({row["tables"] for row in rows} - {tables})
    beside = f" ({', '.join(map(str, more))} of some)" if more else ""
    made = f"*{tables} tables of each study{beside}; made by `python benchmarks/power_formula.py`, {about['date']}.*"
    return "\n".join([*lines, "", made, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=4000)
    parser.add_argument("--add", type=int, nargs="*", choices=range(len(SETTINGS)), metavar="NUMBER")
    parser.add_argument("--save", default=str(RESULTS / "power_formula.json"))
    given = parser.parse_args()
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    kept = None if given.add is None else json.loads(Path(given.save).read_text())
    numbers = range(len(SETTINGS)) if given.add is None else given.add
    n_tables, hits = np.zeros((2, len(SETTINGS)))
    if kept is not None:
        # Settings that the file does not know yet stand last.
        n_tables[: len(kept["rows"])] = [row.get("tables", kept["tables"]) for row in kept["rows"]]
        hits[: len(kept["rows"])] = n_tables[: len(kept["rows"])] * [row["found"] for row in kept["rows"]]
    jobs = [(number, int(n_tables[number]) + seed) for seed in range(given.tables) for number in numbers]
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool:
        for number, found in pool.imap_unordered(is_found, jobs, chunksize=32):
            hits[number] += found
            n_tables[number] += 1
    rows = []
    for setting, n_found, n in zip(SETTINGS, hits, n_tables, strict=True):
        if not n:
            continue
        formula, share = float(interplay.power(**setting)), float(n_found / n)
        error = float(np.sqrt(max(share * (1 - share), 1e-9) / n))
        rows.append({"setting": in_words(setting), **setting, "power": formula, "found": share, "error": error})
        rows[-1]["tables"] = int(n)
        print(f"{rows[-1]['setting']:<75} {formula:.3f} {share:.3f} ± {error:.3f} {100 * (formula - share):+.1f}")
    tables = int(n_tables[n_tables > 0].min())
    about = stamp()
    result = {"machine": about, "tables": tables, "command": "python benchmarks/power_formula.py", "rows": rows}
    Path(given.save).write_text(json.dumps(result, indent=1) + "\n")
    PAGE.write_text(page(rows, tables, about))
    worst = max(abs(row["power"] - row["found"]) for row in rows)
    print(f"largest difference of {len(rows)} settings: {100 * worst:.1f} points")


if __name__ == "__main__":
    main()
