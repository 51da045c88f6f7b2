"""Are tests of Cox's model right on noise, in the tail, and as strong as likelihood ratios? How long do they take?

    python benchmarks/cox_score_tests.py [--jobs 8] [--tables 100] [--power-tables 200] [--only TEXT] [--save NAME]

Noise: a table has times that depend on two covariates, and 400 columns of one kind, half of which follow from the first
covariate; nothing depends on them beyond it. Counted are p-values below 0.05, 0.005, 5e-4 and 5e-5 as shares of these,
with the covariates in the model, of plain score tests and of tests refined below 0.05. Censoring depends on the first
covariate. Power: one column of 100 changes the hazard; counted are tables in which it has the smallest p-value and
Holm's adjusted one is below 0.05: by score tests, refined tests, and likelihood ratios of full models. About 0.05
processor seconds a table of noise, 0.6 a table of power.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time as clock
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import chi2

from interplay.infer.survival.cox_score_test import CoxScoreTest
from interplay.infer.survival.hazard_effects import nested_cox_test
from machine import write_result

ALPHAS = (0.05, 5e-3, 5e-4, 5e-5)
N_COLUMNS = 400
TESTS = ("score", "refined")

#: Columns of noise, (n_columns, n_samples).
COLUMNS: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "normal": lambda rng, p, n: rng.normal(size=(p, n)),
    "skewed": lambda rng, p, n: rng.lognormal(0, 1, size=(p, n)),
    "dosage, 30 %": lambda rng, p, n: rng.binomial(2, 0.3, size=(p, n)).astype(float),
    "dosage, 2 %": lambda rng, p, n: rng.binomial(2, 0.02, size=(p, n)).astype(float),
}

#: Samples, censored share, and what else the times have.
TIMES: list[dict[str, Any]] = [
    {"n": 100, "censored": 0.2},
    {"n": 100, "censored": 0.8},
    {"n": 300, "censored": 0.2},
    {"n": 300, "censored": 0.5},
    {"n": 300, "censored": 0.8},
    {"n": 1000, "censored": 0.5},
    {"n": 1000, "censored": 0.8},
    {"n": 300, "censored": 0.5, "ties": True},
    {"n": 300, "censored": 0.5, "entry": True},
    {"n": 300, "censored": 0.5, "strata": 6},
]


def make_times(
    rng: np.random.Generator,
    n: int,
    censored: float,
    *,
    log_hazard: np.ndarray | None = None,
    ties: bool = False,
    entry: bool = False,
    strata: int = 0,
) -> tuple[dict[str, Any], np.ndarray]:
    """Return the arguments of a Cox model, and which of the samples were seen at all."""
    design = rng.normal(size=(n, 2))
    known = design @ [0.6, 0.4] + (0.0 if log_hazard is None else log_hazard)
    stratum = rng.integers(0, strata, n) if strata else None
    event_at = rng.exponential(np.exp(-known - (0.0 if stratum is None else 0.5 * stratum)))
    lost_at = rng.exponential(np.exp(-0.5 * design[:, 0]))
    # The unit of the censoring times that gives the censored share: a quantile of the ratio of both.
    lost_at = lost_at * np.quantile(event_at / lost_at, 1 - censored)
    time, event = np.minimum(event_at, lost_at), event_at <= lost_at
    if ties:
        time = np.ceil(time / np.quantile(time, 0.9) * 12)
    arguments = {"time": time, "event": event, "design": design, "strata": stratum, "entry": None}
    seen = np.ones(n, dtype=bool)
    if entry:
        entered = rng.exponential(np.median(time) / 2, n)
        seen = entered < time
        arguments["entry"] = entered
    return {name: None if each is None else each[seen] for name, each in arguments.items()}, seen


def noise(seed: int, columns: str, times: dict[str, Any]) -> tuple[np.ndarray, int, float]:
    """Return how many p-values of both tests are below each limit, how many there are, and the median of χ² without
    covariates of columns that follow from one.
    """
    rng = np.random.default_rng(seed)
    arguments, seen = make_times(rng, **times)
    scores = COLUMNS[columns](rng, N_COLUMNS, times["n"])[:, seen]
    # Half of the columns follow from the covariate: their values are sorted like it, but for noise.
    wanted = np.argsort(np.argsort(arguments["design"][:, 0] + rng.normal(size=(N_COLUMNS // 2, seen.sum())), axis=1))
    scores[::2] = np.take_along_axis(np.sort(scores[::2], axis=1), wanted, axis=1)
    scores = scores[scores.std(axis=1) > 0]
    test = CoxScoreTest(**arguments)
    p = np.array([chi2.sf(test.of(scores, refine_below=limit).chi2, 1) for limit in (0.0, 0.05)])
    unadjusted = CoxScoreTest(**arguments | {"design": None}).of(scores[::2]).chi2
    return (p[:, np.newaxis] < np.array(ALPHAS)[:, np.newaxis]).sum(axis=2), p.shape[1], float(np.median(unadjusted))


def power(seed: int, effect: float, times: dict[str, Any]) -> list[bool]:
    """Return whether the column with an effect is found by each test, at Holm 0.05 of 100."""
    rng = np.random.default_rng(10**6 + seed)
    scores = rng.normal(size=(100, times["n"]))
    arguments, seen = make_times(rng, **times, log_hazard=effect * scores[0])
    scores = scores[:, seen]
    design = arguments.pop("design")
    test = CoxScoreTest(**arguments, design=design)
    found = [test.of(scores, refine_below=limit).chi2 for limit in (0.0, 0.05)]
    models = [np.column_stack([design, x]) for x in scores]
    found.append(np.array([nested_cox_test(**arguments, smaller=design, larger=model)[0] for model in models]))
    return [bool(each[0] == each.max() and chi2.sf(each[0], 1) < 0.05 / 100) for each in found]


def seconds(n_vars: int, n: int) -> dict[str, float]:
    rng = np.random.default_rng(0)
    arguments, _ = make_times(rng, n, 0.5)
    scores = rng.normal(size=(n_vars, n))
    CoxScoreTest(**arguments).of(scores[:10])
    taken = {"n_vars": n_vars, "n_samples": n}
    for name, limit in (("seconds", 0.0), ("seconds_refined", 0.05)):
        start = clock.perf_counter()
        CoxScoreTest(**arguments).of(scores, refine_below=limit)
        taken[name] = round(clock.perf_counter() - start, 3)
    return taken


def in_words(times: dict[str, Any]) -> str:
    more = [name for name in ("ties", "entry", "strata") if times.get(name)]
    return ", ".join([f"n = {times['n']}", f"{times['censored']:.0%} censored", *more])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--power-tables", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--save", default="cox_score_tests")
    options = parser.parse_args()
    warnings.simplefilter("error")
    rows: list[dict[str, Any]] = []
    with multiprocessing.Pool(options.jobs) as pool:
        for times in TIMES:
            for columns in COLUMNS:
                name = f"{columns}, {in_words(times)}"
                if options.only not in name:
                    continue
                parts = pool.map(partial(noise, columns=columns, times=times), range(options.tables))
                counts, n = sum(part[0] for part in parts), sum(part[1] for part in parts)
                shares = np.round(counts / (n * np.array(ALPHAS)), 3)
                row = {"noise": name, "n_tests": n} | {
                    test: dict(zip(map(str, ALPHAS), shares[i].tolist(), strict=True)) for i, test in enumerate(TESTS)
                }
                row["median_chi2_of_confounded_without_covariates"] = round(float(np.median([p[2] for p in parts])), 2)
                rows.append(row)
                print(name, shares.tolist(), flush=True)
        found: list[dict[str, Any]] = []
        for times in ({"n": 300, "censored": 0.2}, {"n": 300, "censored": 0.8}):
            for effect in (0.2, 0.3, 0.4) if options.power_tables else ():
                hits = np.array(pool.map(partial(power, effect=effect, times=times), range(options.power_tables)))
                row = {"effect": effect, "times": in_words(times), "n_tables": len(hits)}
                found.append(row | dict(zip((*TESTS, "likelihood_ratio"), hits.mean(axis=0).tolist(), strict=True)))
                print(found[-1], flush=True)
    cost = [seconds(10_000, 1000), seconds(2000, 10_000)]
    print(cost)
    command = f"python benchmarks/cox_score_tests.py --tables {options.tables} --power-tables {options.power_tables}"
    write_result(options.save, {"made_by": command, "noise": rows, "power": found, "cost_one_thread": cost})


if __name__ == "__main__":
    main()
