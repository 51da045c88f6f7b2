"""Do strata keep a batch effect from passing for a finding? Tables without signal, with batches that differ in all.

python benchmarks/strata_calibration.py [--runs 200]

Half of the variables, and the shares of the classes, differ between batches; within a batch nothing says anything about
the decision. Counted are the tables in which anything is selected at Holm 0.05, and the p-values below 0.05.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

import interplay
from machine import write_result

#: Of four tables, one is searched without strata as well: there is less doubt about that.
SHARE_IGNORING = 4

SETTINGS: list[dict[str, Any]] = [
    {"n_samples": 300, "n_strata": 4, "dimensions": 1},
    {"n_samples": 100, "n_strata": 5, "dimensions": 1},
    {"n_samples": 60, "n_strata": 8, "dimensions": 1},
    {"n_samples": 400, "n_strata": 4, "dimensions": 1, "shift": 2.0, "imbalance": 0.45},
    {"n_samples": 300, "n_strata": 4, "dimensions": 1, "discretizations": 10},
    {"n_samples": 300, "n_strata": 4, "dimensions": 2},
    {"n_samples": 300, "n_strata": 2, "dimensions": 2},
    {"n_samples": 100, "n_strata": 5, "dimensions": 2},
    {"n_samples": 400, "n_strata": 4, "dimensions": 2, "shift": 2.0, "imbalance": 0.45},
    {"n_samples": 300, "n_strata": 3, "dimensions": 3},
]


def batch_table(
    seed: int, n_samples: int, n_strata: int, shift: float, imbalance: float, n_vars: int = 40
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    batch = rng.integers(0, n_strata, n_samples)
    share = np.linspace(0.5 - imbalance, 0.5 + imbalance, n_strata)[batch]
    X = rng.normal(size=(n_samples, n_vars))
    X[:, : n_vars // 2] += shift * batch[:, np.newaxis] * rng.normal(size=n_vars // 2)
    return X, rng.random(n_samples) < share, batch


def calibrate(
    n_runs: int,
    *,
    n_samples: int,
    n_strata: int,
    dimensions: int,
    shift: float = 1.0,
    imbalance: float = 0.3,
    discretizations: int = 1,
) -> dict[str, float]:
    any_within, any_ignoring, small = 0, 0, []
    for seed in range(n_runs):
        X, y, batch = batch_table(seed, n_samples, n_strata, shift, imbalance)
        settings = {"dimensions": dimensions, "discretizations": discretizations, "random_state": seed}
        settings["n_contrast"] = "auto" if dimensions == 1 else 100
        within = interplay.select(X, y, strata=batch, **settings)
        any_within += len(within.relevant) > 0
        small.append((within.p_value < 0.05).mean())
        if seed % SHARE_IGNORING == 0:
            any_ignoring += len(interplay.select(X, y, **settings).relevant) > 0
    return {
        "any_selected_with_strata": any_within / n_runs,
        "p_below_0.05_with_strata": round(float(np.mean(small)), 4),
        "any_selected_without_strata": any_ignoring / len(range(0, n_runs, SHARE_IGNORING)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # strata of one class, in the smallest tables
    rows = []
    for setting in SETTINGS:
        rows.append({**setting, **calibrate(arguments.runs, **setting)})
        print(rows[-1], flush=True)
    print("written:", write_result("strata_calibration", {"runs": arguments.runs, "settings": rows}).name)


if __name__ == "__main__":
    main()
