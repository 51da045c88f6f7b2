"""Ordered classes: false finds and power, beside Spearman's test and the likelihood ratio of proportional odds.

    python benchmarks/ordered.py [--tables 100] [--page]

Each table has 30 columns. `select` and `interactions` are the default calls with `decision="ordered"`; the plain tests
are told what to look for: one column at a time by Spearman's rank correlation and by statsmodels' `OrderedModel` (the
model of `polr` in R's MASS), products of columns cut at their medians by `OrderedModel`, each adjusted for all columns
or pairs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import stats

import interplay

sys.path.insert(0, str(Path(__file__).parent))
from machine import RESULTS, write_result

SEED, N_VARS = 78_000, 30
PAGE = Path(__file__).parent.parent / "docs" / "ordered_table.md"


@dataclass(frozen=True)
class Line:
    """Samples, shares of the classes, and an effect: alone (log odds per SD) or of the XOR of two columns' halves."""

    n: int
    shares: tuple[float, ...]
    alone: float = 0.0
    together: float = 0.0
    covariate: float = 0.0


LINES = [
    Line(n, shares, *effect)
    for (n, shares), effect in itertools.product(
        [(150, (0.4, 0.3, 0.2, 0.1)), (400, (0.7, 0.2, 0.1)), (400, (0.2,) * 5)],
        [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.4, 0.0, 0.0), (0.0, 0.5, 0.0)],
    )
]


def table(line: Line, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, classes and a skewed covariate, which ten columns follow."""
    rng = np.random.default_rng([SEED, seed])
    X, age = rng.normal(size=(line.n, N_VARS)), rng.exponential(size=line.n)
    X[:, 20:] += age[:, np.newaxis] * (line.covariate > 0)
    signal = line.alone * X[:, 0] + line.together * np.sign(X[:, 1] * X[:, 2]) + line.covariate * age
    latent = signal + rng.logistic(size=line.n)
    return X, np.searchsorted(np.quantile(latent, np.cumsum(line.shares)[:-1]), latent), age


def ratio_p(codes: np.ndarray, columns: np.ndarray, n_more: int = 1) -> float:
    """Return p of the likelihood ratio of the last columns by statsmodels."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    def largest(some: np.ndarray) -> float:
        if some.shape[1]:
            return float(OrderedModel(codes, some, distr="logit").fit(method="bfgs", disp=False, maxiter=200).llf)
        sizes = np.bincount(codes)
        return float((sizes * np.log(sizes / len(codes))).sum())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chi2 = 2 * (largest(columns) - largest(columns[:, :-n_more]))
    return float(stats.chi2.sf(max(chi2, 0.0), n_more))


def of_table(line: Line, seed: int) -> dict[str, float]:
    """Return what was found in one table: shares of the true and of false finds."""
    X, codes, age = table(line, seed)
    beside = {"covariates": age} if line.covariate else {}
    true = {"x0"} if line.alone else {"x1", "x2"} if line.together else set()
    relevant = set(interplay.select(X, codes, decision="ordered", random_state=seed, **beside).relevant)
    found = interplay.interactions(X, codes, decision="ordered", **beside, coding="levels").table
    pairs = {tuple(members) for members in found["members"][found["significant"]]}
    row = {
        "false": float(bool(relevant - true)),
        "found": float(true <= relevant) if true else np.nan,
        "false_pairs": float(bool(pairs - {("x1", "x2")})) if line.together else float(bool(pairs)),
        "found_pair": float(("x1", "x2") in pairs) if line.together else np.nan,
    }
    if line.alone:
        row["spearman"] = float(stats.spearmanr(X[:, 0], codes).pvalue * N_VARS < 0.05)
        row["polr"] = float(ratio_p(codes, X[:, :1]) * N_VARS < 0.05)
    if line.together:
        u, v = (np.asarray(X[:, j] > np.median(X[:, j]), dtype=float) for j in (1, 2))
        row["polr"] = float(ratio_p(codes, np.column_stack([u, v, u * v])) * N_VARS * (N_VARS - 1) / 2 < 0.05)
    return row


def make_page(rows: list[dict]) -> str:
    """Return the table of the page."""
    lines = [
        "| samples | shares of the classes | effect | false | false pairs | found | Spearman | proportional odds |",
        "|---:|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        line, found = row["line"], row["found_pair"] if row["line"]["together"] else row.get("found")
        effect = "alone" if line["alone"] else "XOR" if line["together"] else "none"
        effect += ", given a skewed covariate" if line["covariate"] else ""
        cells = (found, row.get("spearman"), row.get("polr"))
        shown = ("" if each is None or each != each else f"{each:.2f}" for each in cells)
        shares = " ".join(f"{share:g}" for share in line["shares"])
        both = f"{row['false']:.2f} | {row['false_pairs']:.2f}"
        lines.append(f"| {line['n']} | {shares} | {effect} | {both} | {' | '.join(shown)} |")
    n = rows[0]["tables"]
    lines += [
        "",
        f"{n} tables a line, 30 columns (`benchmarks/ordered.py`). *False* is the share of tables with a variable",
    ]
    lines += [
        "or a pair that is none; the plain tests, adjusted for all columns or pairs, were told where to look.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--page", action="store_true", help="write the page from the stored result")
    asked = parser.parse_args()
    if not asked.page:
        rows = []
        for line in LINES:
            found = [of_table(line, seed) for seed in range(asked.tables)]
            means = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
            means = {name: mean for name, mean in means.items() if mean == mean}
            rows.append({"line": asdict(line), "tables": asked.tables, **means})
            print(rows[-1], flush=True)
        write_result("ordered", {"rows": rows})
    rows = json.loads((RESULTS / "ordered.json").read_text(encoding="utf-8"))["rows"]
    PAGE.write_text(make_page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
