"""How often does `interactions` find what is not there, and how often what is?

    python benchmarks/interaction_calibration.py [--tables 1000] [--jobs 16] [--only TEXT] [--save FILE.json]
                                                 [--page FILE.md]

Calibration: tables in which no tuple interacts (noise, effects that add up, variables in linkage disequilibrium, few
samples of one class, two and three levels, pairs and triples). Counted are those in which anything is significant at
Holm 0.05: at most 5 % should be. Numbers whose effects add up are cut into levels; what that adds to an interaction of
the levels is too small to matter in so few samples.

Power: the problems of benchmarks/power, in pairs, triples and fours. Counted are the tables in which a tuple of
relevant variables is significant, and in how many some other is. Beside it the test of BOOST (PLINK): χ² of G² at the
nominal degrees of freedom, at 0.05 divided by the number of tuples.
"""

from __future__ import annotations

import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import comb
from pathlib import Path

import numpy as np
from scipy import stats

import interplay
from power.problems import PROBLEMS

LEVEL = 0.05


@dataclass(frozen=True)
class Cell:
    """One kind of table without an interaction."""

    name: str
    n_samples: int = 500
    n_vars: int = 100
    dimensions: int = 2
    kind: str = "numbers"  # "numbers", "genotypes" or "levels"
    divisions: int = 1
    effects: int = 0  # variables with an effect each
    effect: float = 2.0
    intercept: float = 0.0
    correlation: float = 0.0  # between neighbours
    n_classes: int = 2

    def table(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng([seed, sum(map(ord, self.name))])
        latent = rng.normal(size=(self.n_samples, self.n_vars))
        for v in range(1, self.n_vars):
            latent[:, v] = self.correlation * latent[:, v - 1] + np.sqrt(1 - self.correlation**2) * latent[:, v]
        X = latent
        if self.kind == "genotypes":
            share = rng.uniform(0.1, 0.5, self.n_vars)
            other = rng.normal(size=latent.shape) if self.correlation == 0 else np.roll(latent, 1, axis=0)
            X = sum((stats.norm.cdf(one) < share).astype(float) for one in (latent, other))
        elif self.kind == "levels":
            X = (latent > 0).astype(float)
        # Effects of levels, where variables have levels: nothing but sums of effects is then exactly true.
        scaled = X[:, : self.effects] if self.kind == "numbers" else X[:, : self.effects] - X[:, : self.effects].mean(0)
        log_odds = self.intercept + self.effect * scaled.sum(axis=1)
        if self.n_classes == 2:
            return X, (rng.random(self.n_samples) < 1 / (1 + np.exp(-log_odds))).astype(int)
        third = rng.random(self.n_samples) < 0.3
        return X, np.where(third, 2, rng.random(self.n_samples) < 1 / (1 + np.exp(-log_odds)))


CELLS = [
    Cell("pairs, noise"),
    Cell("pairs, noise, 200 samples", n_samples=200),
    Cell("pairs, noise, three levels", divisions=2),
    Cell("pairs, noise, genotypes", kind="genotypes"),
    Cell("pairs, noise, 10 % cases", intercept=-2.2),
    Cell("pairs, noise, three classes", n_classes=3, kind="genotypes"),
    Cell("pairs, additive numbers", effects=2),
    Cell("pairs, additive numbers, rare class", effects=2, intercept=-2.0),
    Cell("pairs, additive numbers, three levels", effects=2, divisions=2),
    Cell("pairs, additive levels", kind="levels", effects=2),
    Cell("pairs, additive levels, 10 effects", kind="levels", effects=10, effect=0.7, n_samples=1000),
    Cell("pairs, additive genotypes", kind="genotypes", effects=5, effect=1.0),
    Cell("pairs, additive genotypes, rare class", kind="genotypes", effects=5, effect=0.8, intercept=-2.0),
    Cell("pairs, additive genotypes, LD", kind="genotypes", effects=5, effect=1.0, correlation=0.8),
    Cell("pairs, additive genotypes, three classes", kind="genotypes", effects=5, effect=1.0, n_classes=3),
    Cell("pairs, additive levels, correlated", kind="levels", effects=5, correlation=0.7),
    Cell("triples, noise", dimensions=3, n_vars=40),
    Cell("triples, noise, genotypes", dimensions=3, n_vars=40, kind="genotypes"),
    Cell("triples, noise, three levels", dimensions=3, n_vars=40, divisions=2, n_samples=400),
    Cell("triples, additive levels", dimensions=3, n_vars=40, kind="levels", effects=3),
    Cell("triples, additive genotypes", dimensions=3, n_vars=40, kind="genotypes", effects=3, effect=1.0),
    Cell("triples, additive genotypes, LD", dimensions=3, n_vars=40, kind="genotypes", effects=3, correlation=0.8),
    Cell("triples, additive genotypes, 10 % cases", dimensions=3, n_vars=40, kind="genotypes", effects=3, effect=0.8,
         intercept=-2.0, n_samples=400),
    Cell("triples, additive genotypes, three classes", dimensions=3, n_vars=40, kind="genotypes", effects=3, effect=1.0,
         n_classes=3),
]  # fmt: skip

#: Members of the tuples that are looked for in the problems of the power study.
POWER_DIMENSIONS = {"xor_triples": 3, "parity_of_4": 4, "snp_threshold_3": 3, "snp_pure_3": 3}


def has_false(cell: Cell, seed: int) -> tuple[bool, bool]:
    """Whether anything is significant; whether anything would be by χ² of G² alone."""
    X, y = cell.table(seed)
    m = comb(cell.n_vars, cell.dimensions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interplay.interactions(
            X,
            y,
            dimensions=cell.dimensions,
            divisions=cell.divisions,
            max_p=min(20 * LEVEL / m, 1),
            random_state=seed,
            coding="levels",
        )
    by_chi2 = stats.chi2.sf(found.tested.statistic, np.maximum(found.tested.df, 1)) < LEVEL / m
    return bool(found.is_significant.any()), bool(by_chi2.any())


def power_of(problem: str, seed: int) -> dict[str, bool]:
    """Whether tuples of relevant variables, and others, are significant: ours, and by BOOST's test."""
    table = PROBLEMS[problem].table(seed)
    k = POWER_DIMENSIONS.get(problem, 2)
    m = comb(table.X.shape[1], k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = interplay.interactions(
            table.X, table.y, dimensions=k, max_p=min(1000 * LEVEL / m, 1), random_state=seed, coding="levels"
        )
    is_true = np.isin(found.tested.tuples, table.truth).all(axis=1)
    n_levels = np.array([len(np.unique(column)) if table.genotypes else 2 for column in table.X.T])
    nominal = np.prod(n_levels[found.tested.tuples] - 1, axis=1) * (len(np.unique(table.y)) - 1)
    boost = stats.chi2.sf(found.tested.statistic, np.maximum(nominal, 1)) < LEVEL / m
    return {
        "found": bool((found.is_significant & is_true).any()),
        "false": bool((found.is_significant & ~is_true).any()),
        "boost found": bool((boost & is_true).any()),
        "boost false": bool((boost & ~is_true).any()),
    }


def page(rows: list[dict]) -> str:
    """The figures as two tables in Markdown."""
    lines = [
        "| tables without an interaction | tables | any significant (Holm, 0.05) | by χ² alone |",
        "|---|---:|---:|---:|",
    ]
    for row in (row for row in rows if "cell" in row):
        shares = [f"{100 * row[name]:.1f} %" for name in ("any significant", "by chi2 alone")]
        lines.append(f"| {row['cell']} | {row['tables']} | {' | '.join(shares)} |")
    lines += ["", "| problem | tables | found | something false | found by BOOST's test | something false |"]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    for row in (row for row in rows if "problem" in row):
        shares = [f"{100 * row[name]:.0f} %" for name in ("found", "false", "boost found", "boost false")]
        title = PROBLEMS[row["problem"]].title.replace("\n", " ")
        lines.append(f"| {title} | {row['tables']} | {' | '.join(shares)} |")
    return "\n".join(lines) + "\n"


def with_earlier(rows: list[dict], file: Path) -> list[dict]:
    """The rows of a file, those that were made anew in their place, and new ones."""
    earlier = json.loads(file.read_text()) if file.exists() else []
    known = {row.get("cell", row.get("problem")): row for row in earlier}
    return list((known | {row.get("cell", row.get("problem")): row for row in rows}).values())


def main() -> None:
    """Run the cells, print a line for each, and perhaps save them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--power-tables", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="cells and problems whose names hold this text")
    parser.add_argument("--save", type=Path, help="add the figures to this file, as JSON")
    parser.add_argument("--page", type=Path, help="write them to this file, as tables in Markdown")
    options = parser.parse_args()
    rows = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for cell in (cell for cell in CELLS if options.only in cell.name and options.tables):
            done = np.array(list(pool.map(partial(has_false, cell), range(options.tables), chunksize=5)))
            rate, by_chi2 = done.mean(axis=0)
            row = {"cell": cell.name, "tables": options.tables, "any significant": rate, "by chi2 alone": by_chi2}
            rows.append(row)
            print(f"{cell.name:50s} {rate:.3f} ± {np.sqrt(rate * (1 - rate) / options.tables):.3f}  χ²: {by_chi2:.3f}")
        for problem in (name for name in PROBLEMS if options.only in name and options.power_tables):
            done = list(pool.map(partial(power_of, problem), range(options.power_tables), chunksize=2))
            row = {"problem": problem, "tables": options.power_tables}
            row |= {name: float(np.mean([one[name] for one in done])) for name in done[0]}
            rows.append(row)
            print(
                f"{problem:50s} " + "  ".join(f"{name} {value:.2f}" for name, value in row.items() if name in done[0])
            )
    if options.save is not None:
        rows = with_earlier(rows, options.save)
        options.save.write_text(json.dumps(rows, indent=1) + "\n")
    if options.page is not None:
        options.page.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
