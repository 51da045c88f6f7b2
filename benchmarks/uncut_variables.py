"""Interactions of numbers by levels, by products and by both: power, and what effects that only add up give.

    python -m benchmarks.uncut_variables power 60      # 60 tables a line
    python -m benchmarks.uncut_variables additive 40   # 40 tables a cell
    python -m benchmarks.uncut_variables speed

Each writes its part of benchmarks/results/uncut_variables.json. Every number is that of `interplay.interactions`.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import interplay

RESULTS = Path(__file__).parent / "results" / "uncut_variables.json"

CODINGS = ("levels", "product", "auto")

Effect = Callable[[np.ndarray, np.ndarray], np.ndarray]

#: Joint effects of two independent normal variables, and their sizes: the table of the issue that asked for products.
JOINT: dict[str, tuple[float, Effect]] = {
    "product": (0.45, lambda u, v: u * v),
    "XOR at medians": (0.45, lambda u, v: np.sign(u * v)),
    "XOR at other quantiles": (0.7, lambda u, v: np.sign((u - 0.8) * (v + 0.4))),
    "slope of v where u > 0": (0.7, lambda u, v: 1.2 * v * (u > 0)),
    "the larger of two": (0.7, lambda u, v: 1.5 * np.maximum(u, v)),
    "v where u is extreme": (0.45, lambda u, v: 0.7 * (u * u - 1) * v),
    "both above .3 SD": (0.7, lambda u, v: 2.0 * ((u > 0.3) & (v > 0.3))),
}

#: Effects that add up, of two variables of which the first is shown to the search as its exponential.
ADDITIVE: dict[str, Effect] = {
    "linear": lambda u, v: 0.5 * u + 0.5 * v,
    "exponential": lambda u, v: np.exp(0.8 * u) + np.exp(0.8 * v),
    "step": lambda u, v: 1.0 * (u > 0.7) + 1.0 * (v > -0.4),
    "square": lambda u, v: u * u + v * v,
    "saturating": lambda u, v: np.tanh(2 * u) + np.tanh(2 * v),
}

NOISES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t₃": lambda rng, n: rng.standard_t(3, size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
}


def power(n_tables: int, n: int = 300, n_vars: int = 100) -> list[dict[str, Any]]:
    """Return, for each effect, the share of tables whose pair is significant among all pairs, by coding."""
    lines = []
    for name, (size, joint) in JOINT.items():
        rng = np.random.default_rng(7)
        found = dict.fromkeys(CODINGS, 0)
        for _ in range(n_tables):
            X = rng.normal(size=(n, n_vars))
            y = size * joint(X[:, 0], X[:, 1]) + 0.3 * X[:, 0] + rng.normal(size=n)
            for coding in CODINGS:
                found[coding] += ("x0", "x1") in interplay.interactions(X, y, coding=coding, n_jobs=1).significant
        lines.append({"effect": name, "size": size, "tables": n_tables, "n_samples": n, "found": found})
        print(lines[-1], flush=True)
        _keep("power", lines)
    return lines


def additive(n_tables: int, n: int = 500, n_vars: int = 8) -> list[dict[str, Any]]:
    """Return, for each additive truth, the tables with a significant pair, by coding."""
    lines = []
    outcomes = [("numbers", noise) for noise in NOISES] + [("classes", "logistic"), ("times", "exponential")]
    for name, effect in ADDITIVE.items():
        for r in (0.0, 0.5, 0.9):
            for outcome, noise in outcomes:
                rng = np.random.default_rng(11)
                false = {"auto": 0}
                for _ in range(n_tables):
                    X = rng.normal(size=(n, n_vars))
                    X[:, 1] = r * X[:, 0] + np.sqrt(1 - r * r) * X[:, 1]
                    mean = effect(X[:, 0], X[:, 1])
                    X[:, 0] = np.exp(X[:, 0])
                    y = _outcome(outcome, noise, mean, rng)
                    for coding in false:
                        false[coding] += bool(interplay.interactions(X, y, coding=coding, n_jobs=1).significant)
                line = {"effect": name, "r": r, "outcome": outcome, "noise": noise}
                lines.append({**line, "tables": n_tables, "n_samples": n, "false": false})
                print(lines[-1], flush=True)
                _keep("additive", lines)
    return lines


def _outcome(outcome: str, noise: str, mean: np.ndarray, rng: np.random.Generator) -> Any:
    n = len(mean)
    if outcome == "numbers":
        return mean + NOISES[noise](rng, n)
    log_odds = mean - np.median(mean)
    if outcome == "classes":
        return rng.random(n) < 1 / (1 + np.exp(-log_odds))
    hazard = np.exp(np.clip(log_odds, -5, 5))
    return rng.exponential(size=n) / hazard, rng.random(n) < 0.8


def speed() -> list[dict[str, Any]]:
    """Return the CPU seconds of calls over 5000 columns and 1000 samples, one thread, the best of three in turns."""
    rng = np.random.default_rng(0)
    X, number = rng.normal(size=(1000, 5000)), rng.normal(size=1000)
    outcomes = {
        "numbers": number,
        "classes": number > 0,
        "times": (rng.exponential(size=1000), rng.random(1000) < 0.7),
    }
    lines = []
    for name, y in outcomes.items():
        seconds: dict[str, list[float]] = {coding: [] for coding in CODINGS}
        for _ in range(3):
            for coding in CODINGS:
                begin = time.process_time()
                interplay.interactions(X, y, coding=coding, n_jobs=1)
                seconds[coding].append(round(time.process_time() - begin, 3))
        lines.append({"outcome": name, "seconds": {coding: min(each) for coding, each in seconds.items()}})
        print(lines[-1], flush=True)
        _keep("speed", lines)
    return lines


def _keep(what: str, lines: list[dict[str, Any]]) -> None:
    """Write the lines that there are: of a run that is stopped, the file says how many tables."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**kept, what: lines}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    what, *numbers = sys.argv[1:]
    parts: dict[str, Callable[..., list[dict[str, Any]]]] = {"power": power, "additive": additive, "speed": speed}
    parts[what](*map(int, numbers))


if __name__ == "__main__":
    main()
