"""Interactions of times on noise: how often does a table without an interaction have a significant pair?

    python benchmarks/interaction_times.py [--tables 500] [--only TEXT]

60 columns (1770 pairs), Holm at 0.05. A covariate that is given drives the hazard; censoring is at random or follows
the covariate; columns are numbers that are cut at the median, or genotypes; two columns may have effects that add up.
About 0.05 processor seconds a table.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

import interplay
from machine import write_result

N_COLUMNS = 60
CENSORED = (0.2, 0.5, 0.8)

#: What a line of the study has; `follows` is the effect of the covariate on censoring.
LINES: dict[str, dict[str, Any]] = {
    **{
        f"{kind}, {n} samples, {censored:.0%} censored": {"n": n, "censored": censored, **setting}
        for kind, setting in (
            ("noise", {}),
            ("a covariate drives the hazard", {"age": 1.0}),
            ("a covariate drives the hazard and censoring", {"age": 1.0, "follows": 1.0}),
            ("genotypes", {"genotypes": True}),
        )
        for n in (200, 300, 600)
        for censored in CENSORED
    },
    **{
        f"two columns with effects that add up, {n} samples, 50% censored": {"n": n, "censored": 0.5, "effect": 0.7}
        for n in (200, 300, 600)
    },
}


def make_table(rng: np.random.Generator, setting: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return columns, (time, event), and the covariate or None."""
    n = setting["n"]
    columns = rng.binomial(2, 0.4, (n, N_COLUMNS)) if setting.get("genotypes") else rng.normal(size=(n, N_COLUMNS))
    age = rng.normal(size=n)
    log_hazard = setting.get("age", 0.0) * age + setting.get("effect", 0.0) * columns[:, :2].sum(axis=1)
    time = rng.exponential(size=n) * np.exp(-log_hazard)
    end = rng.exponential(size=n) * np.exp(-setting.get("follows", 0.0) * age)
    # The unit of the times of censoring that censors the share asked for.
    units = np.exp(np.linspace(-6, 6, 241))
    shares = (end[:, np.newaxis] * units < time[:, np.newaxis]).mean(axis=0)
    end = end * units[np.argmin(np.abs(shares - setting["censored"]))]
    return columns, (np.minimum(time, end), time <= end), age if "age" in setting else None


def share_of_false(setting: dict[str, Any], line: int, n_tables: int) -> float:
    """Return the share of tables with a significant pair."""
    n_false = 0
    for table in range(n_tables):
        rng = np.random.default_rng([20261118, line, table])
        columns, times, age = make_table(rng, setting)
        n_false += bool(interplay.interactions(columns, times, covariates=age, n_jobs=1, coding="levels").significant)
    return n_false / n_tables


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--only", default="", help="lines with this text in their names")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found = {}
    for line, (name, setting) in enumerate(LINES.items()):
        if chosen.only in name:
            found[name] = share_of_false(setting, line, chosen.tables)
            print(f"{name:75} {found[name]:.3f}", flush=True)
    error = round(float(np.sqrt(0.05 * 0.95 / chosen.tables)), 4)
    command = f"python benchmarks/interaction_times.py --tables {chosen.tables}"
    write_result("interaction_times", {"command": command, "tables": chosen.tables, "error": error, "any false": found})


if __name__ == "__main__":
    main()
