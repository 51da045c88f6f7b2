"""A polygenic background as an offset: is a pair of variants found more often, and nothing else?

    python benchmarks/loco_offsets.py [--tables 60]

12 chromosomes of 25 variants, 600 people, a trait of which additive effects of all variants make 70 % and a pair on two
chromosomes 4 % or nothing. Predictions are those of ridge regression in five folds, summed by chromosome, as REGENIE's
first step makes them. All 44 850 pairs are searched, Holm at 0.05: without an offset, beside predictions without the
chromosomes of each pair, and beside the whole prediction. About 6 processor seconds a table.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd

import interplay
from machine import write_result

N, CHROMOSOMES, EACH = 600, 12, 25
ADDITIVE, PAIR = 0.7, (3, 40)


def make_table(rng: np.random.Generator, share: float) -> tuple[Any, Any]:
    """Return genotypes and a trait of variance about 1, of which the pair makes `share`."""
    p = CHROMOSOMES * EACH
    frequency = rng.uniform(0.2, 0.5, p)
    X = rng.binomial(2, frequency, (N, p))
    background = _standardised((X - X.mean(axis=0)) @ rng.normal(size=p))
    a, b = (_standardised(X[:, v]) for v in PAIR)
    noise = rng.normal(size=N) * np.sqrt(1 - ADDITIVE - share)
    return X, np.sqrt(ADDITIVE) * background + np.sqrt(share) * _standardised(a * b) + noise


def _standardised(values: Any) -> Any:
    return (values - values.mean()) / values.std()


def predictions(rng: np.random.Generator, X: Any, y: Any) -> Any:
    """Return what each chromosome predicts, (n_chromosomes, n): ridge regression, each person by the other folds."""
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    fold = rng.integers(0, 5, N)
    penalty = z.shape[1] * (1 - ADDITIVE) / ADDITIVE
    parts = np.empty((CHROMOSOMES, N))
    for out in range(5):
        known, new = fold != out, fold == out
        gram = z[known].T @ z[known] + penalty * np.eye(z.shape[1])
        effects = np.linalg.solve(gram, z[known].T @ (y[known] - y[known].mean()))
        parts[:, new] = (z[new] * effects).reshape(new.sum(), CHROMOSOMES, EACH).sum(axis=2).T
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    positions = [(str(v // EACH + 1), float(v)) for v in range(CHROMOSOMES * EACH)]
    rows: dict[str, dict[str, list[bool]]] = {}
    for share in (0.0, 0.04):
        for table in range(chosen.tables):
            rng = np.random.default_rng([20261118, table])
            X, y = make_table(rng, share)
            parts = predictions(rng, X, y)
            loco = pd.DataFrame({str(c + 1): parts.sum(axis=0) - parts[c] for c in range(CHROMOSOMES)})
            calls: dict[str, dict[str, Any]] = {
                "no offset": {},
                "without the chromosomes of the pair": {"offset": loco, "positions": positions},
                "the whole prediction": {"offset": parts.sum(axis=0)},
            }
            for name, given in calls.items():
                found = interplay.interactions(X, y, n_jobs=1, **given, coding="levels").significant
                true = tuple(f"x{v}" for v in PAIR)
                row = rows.setdefault(f"pair {share:.0%}: {name}", {"found": [], "false": []})
                row["found"].append(true in found)
                row["false"].append(bool(set(found) - ({true} if share else set())))
    result = {name: {what: round(float(np.mean(each)), 3) for what, each in row.items()} for name, row in rows.items()}
    for name, row in result.items():
        print(f"{name:50} {row}")
    command = f"python benchmarks/loco_offsets.py --tables {chosen.tables}"
    write_result("loco_offsets", {"command": command, "tables": chosen.tables, "shares of tables": result})


if __name__ == "__main__":
    main()
