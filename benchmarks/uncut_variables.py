"""Interactions of numbers by levels, and in all ways: power, what effects that only add up give, and speed.

    python -m benchmarks.uncut_variables power --tables 400 --jobs 16
    python -m benchmarks.uncut_variables additive --tables 40 --jobs 16
    python -m benchmarks.uncut_variables genotypes --tables 200 --jobs 16
    python -m benchmarks.uncut_variables rule --tables 200 --jobs 16
    python -m benchmarks.uncut_variables speed

Each writes its part of benchmarks/results/uncut_variables.json after every batch of tables, and goes on where it was
stopped. Every number is that of `interplay.interactions`. Table i of a line has the seed (line, i, --seed).
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
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
ADDITIVE: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda t: 0.5 * t,
    "exponential": lambda t: np.exp(0.8 * t),
    "step": lambda t: 1.0 * (t > 0.5),
    "square": lambda t: t * t,
    "saturating": lambda t: np.tanh(2 * t),
    "cubic": lambda t: 0.3 * t**3,
    "absolute": np.abs,
    "wave": lambda t: np.sin(2 * t),
}

NOISES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "t₃": lambda rng, n: rng.standard_t(3, size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "uniform": lambda rng, n: rng.uniform(-2, 2, size=n),
}

OUTCOMES = [*(("numbers", noise) for noise in NOISES), ("classes", "logistic"), ("times", "exponential")]

Line = dict[str, Any]


def _outcome(outcome: str, noise: str, mean: np.ndarray, rng: np.random.Generator) -> Any:
    n = len(mean)
    if outcome == "numbers":
        return mean + NOISES[noise](rng, n)
    log_odds = mean - np.median(mean)
    if outcome == "classes":
        return rng.random(n) < 1 / (1 + np.exp(-log_odds))
    return rng.exponential(size=n) * np.exp(-log_odds), rng.random(n) < 0.8


def _has(X: np.ndarray, y: Any, coding: str, pair: tuple[str, str]) -> int:
    return int(pair in interplay.interactions(X, y, coding=coding, n_jobs=1).significant)


def power_table(line: Line, rng: np.random.Generator) -> dict[str, int]:
    """Return by coding whether the pair of a table is significant among all pairs of 100 variables."""
    size, joint = JOINT[line["effect"]]
    n = line["n_samples"]
    # Classes and times say less of the same effect; with more samples, less of an effect is needed.
    size *= np.sqrt(300 / n) * (1 if line["outcome"] == "numbers" else 2)
    X = rng.normal(size=(n, 100))
    mean = size * joint(X[:, 0], X[:, 1]) + 0.3 * X[:, 0]
    y = _outcome(line["outcome"], line["noise"], mean, rng)
    return {coding: _has(X, y, coding, ("x0", "x1")) for coding in CODINGS}


def power_lines() -> Iterator[Line]:
    for (outcome, noise), n, effect in product(
        [("numbers", "normal"), ("numbers", "t₃"), ("classes", "logistic"), ("times", "exponential")],
        (300, 1000),
        JOINT,
    ):
        yield {"effect": effect, "n_samples": n, "outcome": outcome, "noise": noise}


def additive_table(line: Line, rng: np.random.Generator) -> dict[str, int]:
    """Return whether a table whose effects only add up has any significant pair."""
    effect, r, n = ADDITIVE[line["effect"]], line["r"], line["n_samples"]
    X = rng.normal(size=(n, 8))
    X[:, 1] = r * X[:, 0] + np.sqrt(1 - r * r) * X[:, 1]
    mean = effect(X[:, 0]) + effect(X[:, 1])
    X[:, 0] = np.exp(X[:, 0])
    y = _outcome(line["outcome"], line["noise"], mean, rng)
    return {"auto": int(bool(interplay.interactions(X, y, coding="auto", n_jobs=1).significant))}


def additive_lines() -> Iterator[Line]:
    for n, effect, r, (outcome, noise) in product((500, 5000), ADDITIVE, (0.0, 0.5, 0.9), OUTCOMES):
        yield {"effect": effect, "n_samples": n, "r": r, "outcome": outcome, "noise": noise}


def genotype_table(line: Line, rng: np.random.Generator) -> dict[str, int]:
    """Return by coding whether the pair of a table of 100 genotypes in linkage is significant."""
    n = line["n_samples"]
    haplotypes = [rng.normal(size=(n, 100)) for _ in range(2)]
    for one in haplotypes:  # neighbours are correlated
        for v in range(1, 100):
            one[:, v] = 0.6 * one[:, v - 1] + 0.8 * one[:, v]
    X = sum((one > 0.25).astype(int) for one in haplotypes)
    a, b = X[:, 10], X[:, 70]
    joint = (a - 1) * (b - 1) if line["effect"] == "product" else np.where((a == 1) ^ (b == 1), 1.0, -1.0)
    y = line["size"] * joint + 0.3 * a + rng.normal(size=n)
    return {coding: _has(X, y, coding, ("x10", "x70")) for coding in ("levels", "auto")}


def genotype_lines() -> Iterator[Line]:
    for effect, size in (("product", 0.75), ("product", 0.95), ("XOR", 0.4), ("XOR", 0.5)):
        yield {"effect": effect, "size": size, "n_samples": 300}


def rule_table(line: Line, rng: np.random.Generator) -> dict[str, int]:
    """Return by coding whether a rule is found: who has a plan and many minutes leaves, and a tenth of the others."""
    n = line["n_samples"]
    X = rng.normal(size=(n, 20))
    X[:, 0] = rng.random(n) < 0.1
    X[:, 1] = np.round(np.maximum(10.2 + 2.8 * X[:, 1], 0), 1)
    leaves = (rng.random(n) < 0.1) | ((X[:, 0] == 1) & (X[:, 1] > np.quantile(X[:, 1], 0.8)))
    return {coding: _has(X, leaves, coding, ("x0", "x1")) for coding in CODINGS}


def rule_lines() -> Iterator[Line]:
    for n in (500, 1000, 2000):
        yield {"n_samples": n}


PARTS: dict[str, tuple[Callable[[], Iterator[Line]], Callable[[Line, np.random.Generator], dict[str, int]]]] = {
    "power": (power_lines, power_table),
    "additive": (additive_lines, additive_table),
    "genotypes": (genotype_lines, genotype_table),
    "rule": (rule_lines, rule_table),
}


def batch(part: str, line: Line, tables: range, seed: int) -> dict[str, int]:
    """Return the sums of some tables of a line."""
    key = zlib.crc32(json.dumps(line, sort_keys=True).encode())
    sums: dict[str, int] = {}
    for i in tables:
        for name, found in PARTS[part][1](line, np.random.default_rng([key, i, seed])).items():
            sums[name] = sums.get(name, 0) + found
    return sums


def run(part: str, n_tables: int, n_jobs: int, seed: int, only: list[str], seconds: float, at_once: int) -> None:
    """Make tables until each line has so many, the lines with the fewest first."""
    kept = [one for one in _read().get(part, []) if one.get("seed") == seed]
    counts = {json.dumps(line): {"tables": 0, "found": {}} for line in PARTS[part][0]()}
    for one in kept:
        line = {name: value for name, value in one.items() if name not in ("tables", "found", "seed")}
        if json.dumps(line) in counts:
            counts[json.dumps(line)] = {"tables": one["tables"], "found": one["found"]}
    chosen = [key for key in counts if all(text in key for text in only)]
    todo = sorted(
        (first, place) for place, key in enumerate(chosen) for first in range(counts[key]["tables"], n_tables, at_once)
    )
    stop = time.monotonic() + seconds
    with ProcessPoolExecutor(n_jobs) as pool:
        for begin in range(0, len(todo), 2 * n_jobs):
            if time.monotonic() > stop:
                break
            some = todo[begin : begin + 2 * n_jobs]
            started = [
                pool.submit(batch, part, json.loads(chosen[place]), range(first, first + at_once), seed)
                for first, place in some
            ]
            for (_, place), done in zip(some, started, strict=True):
                count = counts[chosen[place]]
                count["tables"] += at_once
                for name, found in done.result().items():
                    count["found"][name] = count["found"].get(name, 0) + found
            lines = [json.loads(key) | count | {"seed": seed} for key, count in counts.items() if count["tables"]]
            _keep(part, [one for one in _read().get(part, []) if one.get("seed") != seed] + lines)
    for key in chosen:
        shares = {name: round(found / counts[key]["tables"], 3) for name, found in counts[key]["found"].items()}
        print(counts[key]["tables"], shares, key, flush=True)


def numpy_loop(X: np.ndarray, y: np.ndarray) -> int:
    """Return the pairs of which Σ u·z_i·z_j is large, column by column by BLAS: no main effects, no second test."""
    z = np.float32((X - X.mean(axis=0)) / X.std(axis=0))
    u = np.float32((y - y.mean()) / y.std())
    n, found = len(u), 0
    for i in range(z.shape[1] - 1):
        others = z[:, i + 1 :]
        t, r = (z[:, i] * u) @ others, z[:, i] @ others / n
        found += int((t * t * (1 + r * r) > 30 * n * (1 - r * r) ** 2).sum())
    return found


def speed() -> None:
    """Keep the CPU seconds of calls, one thread, the best of three in turns; and of a plain loop."""
    lines = []
    for n_samples, n_vars in ((1000, 5000), (2000, 500)):
        rng = np.random.default_rng(0)
        X, number = rng.normal(size=(n_samples, n_vars)), rng.normal(size=n_samples)
        outcomes = {
            "numbers": number,
            "classes": number > 0,
            "times": (rng.exponential(size=n_samples), rng.random(n_samples) < 0.7),
        }
        for name, y in outcomes.items():
            calls: dict[str, Callable[[], Any]] = {
                coding: partial(interplay.interactions, X, y, coding=coding, n_jobs=1) for coding in CODINGS
            }
            if name == "numbers":
                calls["loop of NumPy"] = partial(numpy_loop, X, number)
            seconds: dict[str, list[float]] = {call: [] for call in calls}
            for _ in range(3):
                for call, made in calls.items():
                    begin = time.process_time()
                    made()
                    seconds[call].append(round(time.process_time() - begin, 3))
            best = {call: min(each) for call, each in seconds.items()}
            lines.append({"n_samples": n_samples, "n_vars": n_vars, "outcome": name, "seconds": best})
            print(lines[-1], flush=True)
            _keep("speed", lines)


def _read() -> dict[str, Any]:
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}


def _keep(what: str, lines: list[Line]) -> None:
    RESULTS.write_text(json.dumps({**_read(), what: lines}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "speed"])
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="lines that contain all these texts")
    parser.add_argument("--batch", type=int, default=10, help="tables that one process makes at a time")
    parser.add_argument("--seconds", type=float, default=1e9, help="start no batch after so many")
    given = parser.parse_args()
    if given.part == "speed":
        speed()
    else:
        run(given.part, given.tables, given.jobs, given.seed, given.only, given.seconds, given.batch)


if __name__ == "__main__":
    main()
